import { limits } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import { openGate, publicAddressGate, type Resolve } from '../platform/http-client/address-gate.ts'
import { createGuardedAgent } from '../platform/http-client/guarded-agent.ts'
import type { Ids } from '../platform/ids.ts'
import type { StartWorker, Worker } from '../platform/jobs/worker.ts'
import type { Logger } from '../platform/log.ts'
import { createSealer, type EncryptionKeys, type Sealer } from '../platform/sealing.ts'
import { createDeliver, type DeliveryObserver } from './deliver.ts'
import { createEndpointHandlers, createHousekeeping, type EndpointHandlers } from './endpoints.ts'
import { createFanOut } from './feed.ts'
import { createHistoryHandlers, type HistoryHandlers } from './history.ts'
import { createResendHandlers, type ResendHandlers } from './resend.ts'
import { adviseOn, type ReadSealed } from './sealed.ts'
import { readSealedSecrets } from './secrets.ts'
import {
  createSigningKeyHandlers,
  type Keyring,
  openKeyring,
  readingPublishedKeys,
  readSealedKeys,
  type SigningKeyHandlers,
} from './signing.ts'

export { createFeedModule } from './feed.ts'
export { adviseOn, type Rewrapped, rewrap, Unreadable } from './sealed.ts'

/** Reads all sealed values, the signing keys first. */
export const readSealed: ReadSealed = async (queries) => [
  ...(await readSealedKeys(queries)),
  ...(await readSealedSecrets(queries)),
]

/** Dependencies of {@link openSigning}. */
export interface SigningOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly logger: Logger
  /** `PIXGATE_ENCRYPTION_KEY` and `PIXGATE_ENCRYPTION_KEY_PREVIOUS`. */
  readonly keys: EncryptionKeys
}

/** The key that signs, the keys that receivers verify with, and the sealer of all secrets. */
export interface Signing {
  readonly keyring: Keyring
  readonly sealer: Sealer
  readonly handlers: SigningKeyHandlers
}

/**
 * Opens the signing keys; the first start makes one.
 * @throws Unreadable where no configured encryption key opens the signing key or a secret of an endpoint
 */
export async function openSigning({ keys, ...options }: SigningOptions): Promise<Signing> {
  const needs = { ...options, sealer: createSealer(keys) }
  const keyring = await openKeyring(needs)
  for (const advice of await adviseOn(readSealed, needs.database, keys)) {
    needs.logger.warn({ event: 'encryption_key.advice' }, advice)
  }
  const handlers = createSigningKeyHandlers(needs, await readingPublishedKeys(needs))
  return { keyring, sealer: needs.sealer, handlers }
}

/** Dependencies of the module. */
export interface WebhooksDependencies {
  /** Of the housekeeping. */
  readonly database: Database
  /** Of the fan-out, the claims and the finishes. */
  readonly deliveryDatabase: Database
  /** Of requests: a large one holds up no delivery. */
  readonly apiDatabase: Database
  readonly clock: Clock
  readonly ids: Ids
  /** Uniform in [0, 1). */
  readonly random: () => number
  readonly logger: Logger
  readonly keyring: Keyring
  readonly sealer: Sealer
  /** `PIXGATE_WEBHOOK_ALLOW_PRIVATE`. */
  readonly allowPrivate: boolean
  /** Resolves names in place of the DNS, in tests. */
  readonly resolve?: Resolve
  readonly observer?: DeliveryObserver
}

/** The handlers of endpoints, their deliveries and sending again. */
export type WebhookHandlers = EndpointHandlers & HistoryHandlers & ResendHandlers

/** Endpoints, and the delivery of notifications. */
export interface WebhooksModule {
  readonly handlers: WebhookHandlers
  /** Starts the workers; an API-only process does not. */
  start(startWorker: StartWorker): void
  /** Notifications were committed. */
  wake(): void
  /** Takes nothing new and waits for the attempts under way, at most their time limit. */
  stop(): Promise<void>
}

/** Polling finds retries that have become due, and what other processes committed. */
const POLL_MS = 250

const HOUSEKEEPING_MS = 10_000

/** Makes the module. */
export function createWebhooksModule(dependencies: WebhooksDependencies): WebhooksModule {
  const { allowPrivate, resolve, deliveryDatabase, apiDatabase } = dependencies
  const gate = allowPrivate ? openGate() : publicAddressGate(resolve)
  const dispatcher = createGuardedAgent(gate, limits.webhookConnectTimeoutMs)
  let workers: { readonly fanOut: Worker; readonly delivery: Worker; readonly housekeeping: Worker } | undefined
  const wakeDelivery = () => workers?.delivery.wake()

  const delivering = { ...dependencies, database: deliveryDatabase, dispatcher }
  const deliver = createDeliver({ ...delivering, onFree: wakeDelivery })
  const fanOut = createFanOut({ ...delivering, onDeliveries: wakeDelivery })
  const housekeeping = createHousekeeping(dependencies)
  const answering = { ...dependencies, database: apiDatabase, gate, dispatcher, onDue: wakeDelivery }
  return {
    handlers: {
      ...createEndpointHandlers(answering),
      ...createHistoryHandlers(apiDatabase),
      ...createResendHandlers(answering),
    },
    start: (startWorker) => {
      workers = {
        fanOut: startWorker({ name: 'fan-out', idleMs: POLL_MS, processNext: fanOut.processNext }),
        delivery: startWorker({ name: 'delivery', idleMs: POLL_MS, processNext: () => deliver.processNext() }),
        housekeeping: startWorker({
          name: 'endpoints',
          idleMs: HOUSEKEEPING_MS,
          processNext: housekeeping.processNext,
        }),
      }
    },
    wake: () => workers?.fanOut.wake(),
    stop: async () => {
      await Promise.all(Object.values(workers ?? {}).map((worker) => worker.stop()))
      await deliver.settled()
      await dispatcher.destroy()
    },
  }
}
