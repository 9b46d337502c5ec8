import type { TestContext } from 'node:test'
import { createWebhook, type EventType, eventTypes, limits } from '@pixgate/spec'
import { pino } from 'pino'
import { type Database, instantParameter, type Queries, statement } from '../../src/platform/db/database.ts'
import type { RequestContext } from '../../src/platform/http/handler.ts'
import { type AddressGate, createGuardedAgent, openGate, type Resolve } from '../../src/platform/http-client/agent.ts'
import type { AllowedNetwork } from '../../src/platform/http-client/allowed-networks.ts'
import { createIds, type Ids } from '../../src/platform/ids.ts'
import type { Job } from '../../src/platform/jobs/job.ts'
import type { Logger } from '../../src/platform/log.ts'
import type { EncryptionKeys, Sealer } from '../../src/platform/sealing.ts'
import { Deliver } from '../../src/webhooks/deliver.ts'
import type { BoundsNeeds } from '../../src/webhooks/endpoint-url.ts'
import { createHousekeeping } from '../../src/webhooks/endpoints.ts'
import { createFanOut } from '../../src/webhooks/feed.ts'
import {
  createWebhooksModule,
  openSigning,
  type WebhookHandlers,
  type WebhooksNeeds,
} from '../../src/webhooks/index.ts'
import type { Dispatchers } from '../../src/webhooks/send.ts'
import type { Keyring, SigningKeyHandlers } from '../../src/webhooks/signing.ts'
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
  /** Handlers as in production, with names resolved by this. */
  productionHandlers(resolve: Resolve, allowedNetworks?: readonly AllowedNetwork[]): WebhookHandlers
  /** Commits a notification as the engine would. @returns its id */
  notify(eventType?: EventType, body?: string): Promise<string>
  /** Commits so many. */
  notifyMany(count: number): Promise<void>
  /** Commits another notification of an operation. @returns its id */
  notifyOf(operationId: string, eventType?: EventType): Promise<string>
  deliveries(): Promise<DeliveryRow[]>
  attempts(): Promise<AttemptRow[]>
  /** The endpoints that were not removed, the oldest first. */
  endpoints(): Promise<EndpointRow[]>
  /** The secrets of all endpoints, the oldest first. */
  secretRows(): Promise<SecretRow[]>
  /** Actions on it in the audit trail, in order. */
  actionsOf(subject: string): Promise<string[]>
}

/** Differences of a process. */
export interface ProcessOptions {
  /** Addresses that it may send to; any, where left out. */
  readonly gate?: AddressGate
  /** Those that endpoints of an admin may have; the same, where left out. */
  readonly insideGate?: AddressGate
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
  readonly sealer: Sealer
  readonly handlers: WebhookHandlers & SigningKeyHandlers
  readonly fanOut: Job
  readonly delivery: Deliver
  readonly housekeeping: Job
  /** Registers an endpoint. @returns its id */
  register(url: string, events?: readonly EventType[]): Promise<string>
  /** Fans out, sends what is due and waits until the attempts have ended. */
  deliverDue(): Promise<void>
}

/** A row of `delivery`. */
export interface DeliveryRow {
  readonly id: string
  readonly endpointId: string
  readonly notificationId: string
  readonly state: string
  readonly attempts: number
  readonly dueAt: number | null
  readonly leasedUntil: number | null
  readonly scheduleLeft: number
  readonly resendLeft: number
  readonly lastOutcome: string | null
  readonly finishedAt: number | null
}

/** A row of `delivery_attempt`. */
export interface AttemptRow {
  readonly attempt: number
  readonly outcome: string
  readonly statusCode: number | null
}

/** A row of `endpoint`. */
export interface EndpointRow {
  readonly state: string
  readonly reason: string | null
  readonly since: number
  readonly failures: number
  readonly failingSince: number | null
  readonly failedProbes: number
  readonly probeAt: number | null
  readonly heldUntil: number | null
}

/** A row of `webhook_secret`. */
export interface SecretRow {
  readonly secret: Buffer | null
}

/** Context of a request. */
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

/** A request about an endpoint. */
export const ofEndpoint = (id: string) => ({
  params: { webhook_id: id },
  query: undefined,
  body: undefined,
  context: requestContext,
})

/** Makes a signing key and lets it sign, by the endpoints of a process. @returns its id */
export async function exchangeKey({ handlers }: Pick<WebhookProcess, 'handlers'>): Promise<string> {
  const order = {
    params: undefined,
    query: undefined,
    context: requestContext,
    body: { reason: 'the tests', force: true },
  }
  const { body } = await handlers.createSigningKey(order)
  await handlers.promoteSigningKey({ ...order, params: { key_id: body.id } })
  return body.id
}

const SILENT = pino({ level: 'silent' })

/** Encryption keys of a world. */
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
    const { keyring, sealer, handlers: ofKeys } = await openSigning({ database, clock, ids, logger, keys })
    const dispatchers = dispatchersOf(t, gate, options.insideGate)
    const parts = { database, clock, ids, logger, keyring, sealer, dispatchers, random: () => 0 }
    const delivery = new Deliver({ ...parts, onSlotFree: () => undefined })
    const fanOut = createFanOut({ ...parts, onDeliveries: () => undefined })
    const module = moduleOf(t, parts)
    return {
      keyring,
      sealer,
      handlers: { ...module.handlers, ...ofKeys },
      fanOut,
      delivery,
      housekeeping: createHousekeeping(parts),
      register: registering(module.handlers),
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
    productionHandlers: (resolve, allowedNetworks) => {
      const { keyring, sealer } = process
      const parts = { database, clock: worldClock, ids, logger: SILENT, keyring, sealer }
      return moduleOf(t, parts, { allowPrivate: false, resolve, ...(allowedNetworks && { allowedNetworks }) }).handlers
    },
    notify: async (eventType = 'pix_cash_in', body = `{"event_type":"${eventType}","event":{}}`) => {
      const id = ids.uuid()
      await database.rows(insertNotification, [id, ids.uuid(), eventType, Buffer.from(body), instantParameter(now)])
      return id
    },
    notifyOf: async (operationId, eventType = 'pix_cash_in') => {
      const [id, body] = [ids.uuid(), Buffer.from(`{"event_type":"${eventType}","event":{}}`)]
      await database.rows(insertNotification, [id, operationId, eventType, body, instantParameter(now)])
      return id
    },
    notifyMany: async (count) => {
      await database.rows(insertNotifications, [count, instantParameter(now)])
    },
    deliveries: () => database.rows(selectDeliveries, []),
    attempts: () => database.rows(selectAttempts, []),
    endpoints: () => database.rows(selectEndpoints, []),
    secretRows: () => database.rows(selectSecrets, []),
    actionsOf: async (subject) => (await database.rows(selectActions, [subject])).map(({ action }) => action),
  }
}

/** Agents of these gates, which go with the test. */
export function dispatchersOf(t: TestContext, gate: AddressGate, insideGate: AddressGate = gate): Dispatchers {
  const agentOf = (one: AddressGate) => {
    const agent = createGuardedAgent(one, limits.webhookConnectTimeoutMs)
    t.after(() => agent.destroy())
    return agent
  }
  return { public: agentOf(gate), inside: agentOf(insideGate) }
}

/** The module, whose workers are not started. */
function moduleOf(
  t: TestContext,
  { database, ...parts }: Pick<WebhooksNeeds, 'database' | 'clock' | 'ids' | 'keyring' | 'sealer' | 'logger'>,
  { allowPrivate = true, allowedNetworks = [], resolve }: Partial<BoundsNeeds> = {},
) {
  const module = createWebhooksModule({
    ...parts,
    database,
    deliveryDatabase: database,
    apiDatabase: database,
    random: () => 0,
    allowPrivate,
    allowedNetworks,
    ...(resolve && { resolve }),
  })
  t.after(() => module.stop())
  return module
}

function registering(handlers: WebhookHandlers): WebhookProcess['register'] {
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
      if (query.name === 'webhooks.finish') await mayRecord
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
   VALUES ($1, $2, $3, 'PAID', $1::uuid::text, $4, $5)`,
)

const insertNotifications = statement<[number, string]>(
  'test.insertNotifications',
  `INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at)
   SELECT gen_random_uuid(), gen_random_uuid(), 'pix_cash_in', 'PAID', '', '', $2::timestamptz FROM generate_series(1, $1)`,
)

const selectDeliveries = statement<[], DeliveryRow>(
  'test.selectDeliveries',
  `SELECT id, endpoint_id AS "endpointId", notification_id AS "notificationId", state, attempts, due_at AS "dueAt",
          leased_until AS "leasedUntil", schedule_left AS "scheduleLeft", resend_left AS "resendLeft",
          last_outcome AS "lastOutcome", finished_at AS "finishedAt"
     FROM delivery
    ORDER BY created_at, id`,
)

const selectAttempts = statement<[], AttemptRow>(
  'test.selectAttempts',
  `SELECT attempt, outcome, status_code AS "statusCode" FROM delivery_attempt ORDER BY started_at, attempt`,
)

const selectEndpoints = statement<[], EndpointRow>(
  'test.selectEndpoints',
  `SELECT state, reason, since, failures, failing_since AS "failingSince", failed_probes AS "failedProbes",
          probe_at AS "probeAt", held_until AS "heldUntil"
     FROM endpoint
    WHERE deleted_at IS NULL
    ORDER BY created_at, id`,
)

const selectSecrets = statement<[], SecretRow>(
  'test.selectSecrets',
  'SELECT secret FROM webhook_secret ORDER BY created_at, id',
)

const selectActions = statement<[string], { action: string }>(
  'test.selectActions',
  'SELECT action FROM audit WHERE subject = $1 ORDER BY at, id',
)
