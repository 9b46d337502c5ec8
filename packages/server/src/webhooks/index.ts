import { limits } from '@pixgate/spec'
import type { Database } from '../platform/db/database.ts'
import { createGuardedAgent } from '../platform/http-client/agent.ts'
import type { Job } from '../platform/jobs/job.ts'
import type { StartWorker, Worker } from '../platform/jobs/worker.ts'
import type { Logger } from '../platform/log.ts'
import { createSealer, type EncryptionKeys, type Sealer } from '../platform/sealing.ts'
import type { ChangeNeeds } from './change.ts'
import { Deliver, type DeliveryObserver } from './deliver.ts'
import { type BoundsNeeds, boundsOf } from './endpoint-url.ts'
import { createEndpointHandlers, createHousekeeping } from './endpoints.ts'
import { createFanOut } from './feed.ts'
import { createHistoryHandlers } from './history.ts'
import { createResendHandlers } from './resend.ts'
import { adviseOn } from './rewrap.ts'
import { createSigningKeyHandlers, type Keyring, openKeyring, readingPublishedKeys } from './signing.ts'

/**
 * Opens the signing keys; the first start creates one.
 * @param keys `PIXGATE_ENCRYPTION_KEY` and `PIXGATE_ENCRYPTION_KEY_PREVIOUS`
 * @throws Unreadable when no configured encryption key opens the signing key or a secret of an endpoint
 */
export async function openSigning({
  keys,
  ...options
}: ChangeNeeds & { readonly logger: Logger; readonly keys: EncryptionKeys }) {
  const needs = { ...options, sealer: createSealer(keys) }
  const keyring = await openKeyring(needs)
  for (const advice of await adviseOn(needs.database, keys)) {
    needs.logger.warn({ event: 'encryption_key.advice' }, advice)
  }
  const handlers = createSigningKeyHandlers(needs, await readingPublishedKeys(needs))
  return { keyring, sealer: needs.sealer, handlers }
}

/** Dependencies of the module. `database` is used by the housekeeping. */
export interface WebhooksNeeds extends ChangeNeeds, BoundsNeeds {
  /** Used by fan-out, claims and finishes. */
  readonly deliveryDatabase: Database
  /** Used by requests: a large one does not delay deliveries. */
  readonly apiDatabase: Database
  readonly random: () => number
  readonly logger: Logger
  readonly keyring: Keyring
  readonly sealer: Sealer
  readonly observer?: DeliveryObserver
}

/** Polling finds due retries, and commits of other processes. */
const POLL_MS = 250

const HOUSEKEEPING_MS = 10_000

export type WebhooksModule = ReturnType<typeof createWebhooksModule>

export type WebhookHandlers = WebhooksModule['handlers']

export function createWebhooksModule(needs: WebhooksNeeds) {
  const { deliveryDatabase, apiDatabase } = needs
  const bounds = boundsOf(needs)
  const dispatchers = {
    public: createGuardedAgent(bounds.public.gate, limits.webhookConnectTimeoutMs),
    inside: createGuardedAgent(bounds.inside.gate, limits.webhookConnectTimeoutMs),
  }
  let workers: { readonly fanOut: Worker; readonly delivery: Worker; readonly housekeeping: Worker } | undefined
  const wakeDelivery = () => workers?.delivery.wake()

  const delivering = { ...needs, database: deliveryDatabase, dispatchers }
  const deliver = new Deliver({ ...delivering, onSlotFree: wakeDelivery })
  const fanOut = createFanOut({ ...delivering, onDeliveries: wakeDelivery })
  const answering = { ...needs, database: apiDatabase, bounds, dispatchers, onDue: wakeDelivery }
  return {
    handlers: {
      ...createEndpointHandlers(answering),
      ...createHistoryHandlers(apiDatabase),
      ...createResendHandlers(answering),
    },
    /** Starts the workers; an API-only process does not call it. */
    start: (startWorker: StartWorker) => {
      const start = (name: string, idleMs: number, { processNext }: Job) => startWorker({ name, idleMs, processNext })
      workers = {
        fanOut: start('fan-out', POLL_MS, fanOut),
        delivery: start('delivery', POLL_MS, deliver),
        housekeeping: start('endpoints', HOUSEKEEPING_MS, createHousekeeping(needs)),
      }
    },
    wake: () => workers?.fanOut.wake(),
    /** Stops claiming and waits for running attempts, at most their time limit. */
    stop: async () => {
      await Promise.all(Object.values(workers ?? {}).map((worker) => worker.stop()))
      await deliver.settled()
      await Promise.all(Object.values(dispatchers).map((dispatcher) => dispatcher.destroy()))
    },
  }
}
