import { limits } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import { openGate, publicAddressGate, type Resolve } from '../platform/http-client/address-gate.ts'
import { createGuardedAgent } from '../platform/http-client/guarded-agent.ts'
import type { Ids } from '../platform/ids.ts'
import type { StartWorker, Worker } from '../platform/jobs/worker.ts'
import type { Logger } from '../platform/log.ts'
import type { Keyring, ReceiverSecrets } from '../signing-keys/index.ts'
import { createDelivery, startingNew } from './deliveries/delivery.ts'
import { createFanOut } from './deliveries/fresh/fan-out.ts'
import type { DeliveryObserver } from './deliveries/reporting.ts'
import { createHousekeeping } from './housekeeping.ts'
import { Lanes } from './lanes/lanes.ts'
import { createMissedReplays } from './replays/missed/jobs.ts'
import { createReplaySender } from './replays/sending/sender.ts'
import { createWebhookHandlers, type WebhookHandlers } from './routes.ts'

export { createFeedModule } from './feed/routes.ts'

/** What the module works with. */
export interface WebhooksDependencies {
  /** The workers'. */
  readonly database: Database
  /** That of the ordinary way of a notification: fanned out, claimed, recorded. */
  readonly deliveryDatabase: Database
  /** The requests': whoever asks for much holds up no delivery. */
  readonly apiDatabase: Database
  readonly clock: Clock
  readonly ids: Ids
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly logger: Logger
  /** What notifications are signed with. */
  readonly keyring: Keyring
  readonly secrets: ReceiverSecrets
  /** `PIXGATE_WEBHOOK_ALLOW_PRIVATE`. */
  readonly allowPrivate: boolean
  /** Where names are looked up; the DNS unless a test says otherwise. */
  readonly resolve?: Resolve
  readonly observer?: DeliveryObserver
}

/** Receivers, and the delivery of notifications. */
export interface WebhooksModule {
  readonly handlers: WebhookHandlers
  /** Starts the workers; an API-only process does not. */
  start(startWorker: StartWorker): void
  /** Notifications were committed. */
  wake(): void
  /** Takes nothing new and waits for the attempts under way, at most their time limit. */
  stop(): Promise<void>
}

/** What a worker that nobody woke looks after: retries that have become due, and what other processes committed. */
const POLL_MS = 250

/** What somebody orders may begin a second later. */
const MISSED_POLL_MS = 1_000

const HOUSEKEEPING_MS = 10_000

/** Makes the module. */
export function createWebhooksModule(dependencies: WebhooksDependencies): WebhooksModule {
  const { allowPrivate, resolve } = dependencies
  const gate = allowPrivate ? openGate() : publicAddressGate(resolve)
  const dispatcher = createGuardedAgent(gate, limits.webhookConnectTimeoutMs)

  const lanes = new Lanes()
  const onTheWay = { ...dependencies, database: dependencies.deliveryDatabase }
  const sending = { ...onTheWay, dispatcher, lanes, onAttemptEnded: () => deliveryWorker?.wake() }
  const delivery = createDelivery(sending)
  const replays = createReplaySender({
    ...dependencies,
    ...{ dispatcher, lanes },
    // The slot may be what a live one waits for.
    onAttemptEnded: () => {
      deliveryWorker?.wake()
      replayWorker?.wake()
    },
  })
  const missed = createMissedReplays({ ...dependencies, onDeliveries: () => replayWorker?.wake() })
  const fanOut = createFanOut({
    ...onTheWay,
    startNew: startingNew(sending, delivery),
    onDeliveries: () => deliveryWorker?.wake(),
  })
  const housekeeping = createHousekeeping(dependencies)
  let deliveryWorker: Worker | undefined
  let replayWorker: Worker | undefined
  let missedWorker: Worker | undefined
  let fanOutWorker: Worker | undefined
  let housekeeper: Worker | undefined

  return {
    handlers: createWebhookHandlers({ ...dependencies, database: dependencies.apiDatabase, gate, dispatcher }),
    start: (startWorker) => {
      deliveryWorker = startWorker({ name: 'delivery', idleMs: POLL_MS, processNext: () => delivery.processNext() })
      replayWorker = startWorker({ name: 'replays', idleMs: POLL_MS, processNext: () => replays.processNext() })
      missedWorker = startWorker({ name: 'missed', idleMs: MISSED_POLL_MS, processNext: missed.processNext })
      fanOutWorker = startWorker({ name: 'fan-out', idleMs: POLL_MS, processNext: fanOut.processNext })
      const { processNext } = housekeeping
      housekeeper = startWorker({ name: 'receivers', idleMs: HOUSEKEEPING_MS, processNext })
    },
    wake: () => fanOutWorker?.wake(),
    stop: async () => {
      await Promise.all(
        [fanOutWorker, deliveryWorker, missedWorker, replayWorker, housekeeper].map((worker) => worker?.stop()),
      )
      await Promise.all([delivery.settled(), replays.settled()])
      await dispatcher.destroy()
    },
  }
}
