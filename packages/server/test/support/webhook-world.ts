import type { TestContext } from 'node:test'
import { createWebhook, type EventType, eventTypes, limits } from '@pixgate/spec'
import { pino } from 'pino'
import type { Dispatcher } from 'undici'
import type { Clock } from '../../src/platform/clock.ts'
import { type Database, instantParameter, type Queries, statement } from '../../src/platform/db/database.ts'
import type { RequestContext } from '../../src/platform/http/handler.ts'
import {
  type AddressGate,
  openGate,
  publicAddressGate,
  type Resolve,
} from '../../src/platform/http-client/address-gate.ts'
import { createGuardedAgent } from '../../src/platform/http-client/guarded-agent.ts'
import { createIds, type Ids } from '../../src/platform/ids.ts'
import type { Job } from '../../src/platform/jobs/job.ts'
import type { Logger } from '../../src/platform/log.ts'
import type { EncryptionKeys } from '../../src/platform/sealing.ts'
import {
  createSigningKeysModule,
  type Keyring,
  type ReceiverSecrets,
  type SigningKeyHandlers,
} from '../../src/signing-keys/index.ts'
import type { ClaimBounds } from '../../src/webhooks/deliveries/claims/store.ts'
import { createDelivery, startingNew } from '../../src/webhooks/deliveries/delivery.ts'
import { createFanOut } from '../../src/webhooks/deliveries/fresh/fan-out.ts'
import { createHousekeeping } from '../../src/webhooks/housekeeping.ts'
import { Lanes } from '../../src/webhooks/lanes/lanes.ts'
import { createMissedReplays } from '../../src/webhooks/replays/missed/jobs.ts'
import { createReplaySender } from '../../src/webhooks/replays/sending/sender.ts'
import { createWebhookHandlers, type WebhookHandlers } from '../../src/webhooks/routes.ts'
import { openTestDatabase, testDatabase } from './database.ts'
import { ALIVE } from './live-request.ts'

/** The webhooks module on a real database, with a clock that only the test moves and jobs that the test steps. */
export interface WebhookWorld extends WebhookProcess {
  readonly url: string
  readonly database: Database
  readonly clock: { now(): number; advance(ms: number): void }
  readonly ids: Ids
  /** Another process on the same database, at the same time. */
  anotherProcess(options?: ProcessOptions): Promise<WebhookProcess>
  /** Handlers as in production: public receivers only, with names resolved by this. */
  productionHandlers(resolve: Resolve): WebhookHandlers
  /** Commits a notification as the engine would. @returns its id */
  notify(eventType?: EventType, body?: string): Promise<string>
  /** Commits so many. */
  notifyMany(count: number): Promise<void>
  deliveries(): Promise<DeliveryRow[]>
  attempts(): Promise<AttemptRow[]>
  lanes(): Promise<LaneRow[]>
  /** The secrets of all receivers, the oldest first. */
  secretRows(): Promise<SecretRow[]>
  /** What the audit trail tells of it, in order. */
  actionsOf(subject: string): Promise<string[]>
}

/** In what a process differs. */
export interface ProcessOptions {
  /** Which addresses it may send to; any, unless told otherwise. */
  readonly gate?: AddressGate
  /** Its statements that fail, by name. */
  readonly failing?: string
  /** Its attempts are recorded only then. */
  readonly recordsAfter?: Promise<void>
  readonly logger?: Logger
  readonly encryptionKeys?: EncryptionKeys
  /** By so much its clock is behind that of the world, in milliseconds. */
  readonly clockBehindMs?: number
}

/** One process of the service. */
export interface WebhookProcess {
  readonly keyring: Keyring
  readonly secrets: ReceiverSecrets
  readonly handlers: WebhookHandlers & SigningKeyHandlers
  /** Fans out and starts nothing: what is to be sent waits to be claimed. */
  readonly fanOut: Job
  /** Fans out as the service does: what can be sent at once is. */
  readonly sendNew: Job
  /** Bounds by which nothing is claimed. */
  boundsOfNothing(): ClaimBounds
  readonly delivery: ReturnType<typeof createDelivery>
  readonly replays: ReturnType<typeof createReplaySender>
  readonly missed: Job
  readonly housekeeping: Job
  /** Registers a receiver. @returns its id */
  subscribe(url: string, events?: readonly EventType[]): Promise<string>
  /** Fans out, sends what is due and waits until the attempts have ended. */
  deliverDue(): Promise<void>
}

/** A row of `delivery`. */
export interface DeliveryRow {
  readonly subscriptionId: string
  readonly notificationId: string
  readonly state: string
  readonly attempts: number
  readonly nextAttemptAt: number | null
  readonly lastOutcome: string | null
  readonly finishedAt: number | null
}

/** A row of `delivery_attempt`. */
export interface AttemptRow {
  readonly attempt: number
  readonly outcome: string
  readonly statusCode: number | null
}

/** A row of `lane`. */
export interface LaneRow {
  readonly state: string
  readonly reason: string | null
  readonly since: number
  readonly failures: number
  readonly failingSince: number | null
  readonly probeAt: number | null
  readonly heldUntil: number | null
  readonly drainSince: number | null
}

/** A row of `webhook_secret`. */
export interface SecretRow {
  readonly secret: Buffer | null
}

/** What a handler gets besides the endpoint's input. */
export const requestContext: RequestContext = {
  endpoint: createWebhook,
  correlationId: 'test',
  headers: {},
  remoteAddress: '127.0.0.1',
  caller: { credential: 'api-key', id: 'test' },
  live: ALIVE,
  ageMs: () => 0,
  rawBody: Buffer.alloc(0),
}

const SILENT = pino({ level: 'silent' })

function startsNothing({
  clock,
  ids,
  secrets,
  signingKeyId,
}: Pick<WebhookWorld, 'ids' | 'secrets'> & { clock: Clock; signingKeyId: string }): ClaimBounds {
  const now = clock.now()
  const nothing = { room: [], maxFirsts: 0, maxRetries: 0, leaseEndsAt: now }
  return { claimId: ids.uuid(), signingKeyId, openedHeaders: secrets.openedHeaders, now, ...nothing }
}

/** What the keys of a world are sealed with. */
export const ENCRYPTION_KEYS: EncryptionKeys = { current: 'test encryption key', previous: undefined }

/** A world of its own for one test. */
export async function webhookWorld(t: TestContext): Promise<WebhookWorld> {
  const { url, database } = await testDatabase(t)
  let now = Date.parse('2026-11-21T13:00:00Z')
  const worldClock = {
    now: () => now,
    advance: (ms: number) => {
      now += ms
    },
  }
  const ids = createIds(worldClock)

  async function createProcess(database: Database, options: ProcessOptions = {}): Promise<WebhookProcess> {
    const { gate = openGate(), logger = SILENT, encryptionKeys: keys = ENCRYPTION_KEYS, clockBehindMs = 0 } = options
    const clock = { now: () => now - clockBehindMs }
    const { keyring, secrets, handlers: ofKeys } = await createSigningKeysModule({ database, clock, ids, logger, keys })
    const dispatcher = dispatcherOf(t, gate)
    const lanes = new Lanes()
    const parts = { database, clock, ids, logger, keyring, secrets, dispatcher, lanes, random: () => 0 }
    const ofReceivers = createWebhookHandlers({ ...parts, gate, allowPrivate: true })
    const sending = { ...parts, onAttemptEnded: () => undefined }
    const delivery = createDelivery(sending)
    const boundsOfNothing = () => startsNothing({ ...parts, signingKeyId: keyring.signer().keyId })
    const fanningOut = { database, clock, ids, onDeliveries: () => undefined }
    const fanOut = createFanOut({ ...fanningOut, startNew: (make) => make(boundsOfNothing()) })
    const sendNew = createFanOut({ ...fanningOut, startNew: startingNew(sending, delivery) })
    const replays = createReplaySender({ ...parts, onAttemptEnded: () => undefined })
    return {
      keyring,
      secrets,
      handlers: { ...ofReceivers, ...ofKeys },
      fanOut,
      sendNew,
      boundsOfNothing,
      delivery,
      replays,
      missed: createMissedReplays({ database, clock, ids, onDeliveries: () => undefined }),
      housekeeping: createHousekeeping({ database, clock, logger, secrets }),
      subscribe: subscribing(ofReceivers),
      deliverDue: async () => {
        await fanOut.processNext()
        await delivery.processNext()
        await delivery.settled()
      },
    }
  }

  const process = await createProcess(database)
  return {
    ...process,
    url,
    database,
    clock: worldClock,
    ids,
    anotherProcess: async ({ failing, recordsAfter, ...options } = {}) => {
      const pool = openTestDatabase(url)
      t.after(() => pool.close())
      return createProcess(withSlowRecords(recordsAfter, withFailing(failing, pool)), options)
    },
    productionHandlers: (resolve) => {
      const gate = publicAddressGate(resolve)
      const { keyring, secrets } = process
      const parts = { database, clock: worldClock, ids, logger: SILENT, keyring, secrets, gate }
      return createWebhookHandlers({ ...parts, dispatcher: dispatcherOf(t, gate), allowPrivate: false })
    },
    notify: async (eventType = 'pix_cash_in', body = `{"event_type":"${eventType}","event":{}}`) => {
      const id = ids.uuid()
      await database.rows(insertNotification, [id, ids.uuid(), eventType, Buffer.from(body), instantParameter(now)])
      return id
    },
    notifyMany: async (count) => {
      await database.rows(insertNotifications, [count, instantParameter(now)])
    },
    deliveries: () => database.rows(selectDeliveries, []),
    attempts: () => database.rows(selectAttempts, []),
    lanes: () => database.rows(selectLanes, []),
    secretRows: () => database.rows(selectSecrets, []),
    actionsOf: async (subject) => (await database.rows(selectActions, [subject])).map(({ action }) => action),
  }
}

function dispatcherOf(t: TestContext, gate: AddressGate): Dispatcher {
  const dispatcher = createGuardedAgent(gate, limits.webhookConnectTimeoutMs)
  t.after(() => dispatcher.destroy())
  return dispatcher
}

function subscribing(handlers: WebhookHandlers): WebhookProcess['subscribe'] {
  return async (url, events = eventTypes) => {
    const body = { url, events: [...events] }
    const input = { params: undefined, query: undefined, body, context: requestContext }
    return (await handlers.createWebhook(input)).body.webhook_id
  }
}

function withSlowRecords(mayRecord: Promise<void> | undefined, database: Database): Database {
  return {
    ...database,
    rows: async (query, parameters) => {
      if (query.name === 'webhooks.recordAttempts') await mayRecord
      return database.rows(query, parameters)
    },
  }
}

function withFailing(name: string | undefined, database: Database): Database {
  const failing = ({ rows }: Queries): Queries['rows'] => {
    return (query, parameters) =>
      query.name === name ? Promise.reject(new Error(`${name} fails`)) : rows(query, parameters)
  }
  return {
    ...database,
    rows: failing(database),
    transaction: (work) => database.transaction((queries) => work({ rows: failing(queries) })),
  }
}

const insertNotification = statement<[string, string, EventType, Buffer, string]>(
  'test.insertNotification',
  `INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at)
   VALUES ($1, $2, $3, 'PAID', '', $4, $5)`,
)

const insertNotifications = statement<[number, string]>(
  'test.insertNotifications',
  `INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at)
   SELECT gen_random_uuid(), gen_random_uuid(), 'pix_cash_in', 'PAID', '', '', $2::timestamptz FROM generate_series(1, $1)`,
)

const selectDeliveries = statement<[], DeliveryRow>(
  'test.selectDeliveries',
  `SELECT subscription_id AS "subscriptionId", notification_id AS "notificationId", state, attempts,
          next_attempt_at AS "nextAttemptAt", last_outcome AS "lastOutcome", finished_at AS "finishedAt"
     FROM delivery
    ORDER BY created_at, id`,
)

const selectAttempts = statement<[], AttemptRow>(
  'test.selectAttempts',
  `SELECT attempt, outcome, status_code AS "statusCode" FROM delivery_attempt ORDER BY started_at, attempt`,
)

const selectLanes = statement<[], LaneRow>(
  'test.selectLanes',
  `SELECT l.state, l.reason, l.since, l.failures, l.failing_since AS "failingSince", l.probe_at AS "probeAt",
          l.held_until AS "heldUntil", l.drain_since AS "drainSince"
     FROM lane l
     JOIN subscription s ON s.id = l.subscription_id
    WHERE NOT l.is_over
    ORDER BY s.created_at, s.id`,
)

const selectSecrets = statement<[], SecretRow>(
  'test.selectSecrets',
  'SELECT secret FROM webhook_secret ORDER BY created_at, id',
)

const selectActions = statement<[string], { action: string }>(
  'test.selectActions',
  'SELECT action FROM audit WHERE subject = $1 ORDER BY at, id',
)
