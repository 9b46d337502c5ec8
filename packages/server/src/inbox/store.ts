import type { BankEvent } from '../banks/inbound.ts'
import { type Database, instantParameter, statement, untilReplicated } from '../platform/db/database.ts'

/** All SQL of the inbox. What the partner said is only ever added; what became of it is noted beside it. */
export interface InboxStore {
  /** Stores new events in one statement, held for this process until `dueAt`. Returns the ids of those that are new. */
  insert(rows: readonly NewInboxRow[], receivedAt: number, dueAt: number): Promise<Set<string>>
  /** The stored hash for each of these keys. */
  hashes(dedupeKeys: readonly string[]): Promise<Map<string, Buffer>>
  /** Stores events that contradict one stored before under the same key. */
  insertConflicts(rows: readonly NewInboxRow[], receivedAt: number, dueAt: number): Promise<void>
  /** Resolves when a fail-over would lose nothing of what could be read before. @source rules#database.7 */
  untilReplicated(): Promise<void>
  /** Makes due what waits for one of these references of the partner. */
  expedite(transactionIds: readonly string[], at: number): Promise<void>
  /** Takes up what is due and nobody holds. */
  claim(at: number, until: number, most: number): Promise<StoredEvent[]>
  /** Notes what became of events. */
  mark(results: readonly InboxResult[], at: number): Promise<void>
  /** Whether the event that this one contradicts has been dealt with, or set aside. */
  isOriginalDone(dedupeKey: string): Promise<boolean>
}

/** An event to store. */
export interface NewInboxRow {
  readonly id: string
  /** The name of the route that took it. */
  readonly endpoint: string
  readonly dedupeKey: string
  readonly body: Buffer
  /** Of what it asserts, or of all of it where it cannot be read. */
  readonly bodyHash: Buffer
}

/** An event to deal with, as it is stored. */
export interface StoredEvent {
  readonly id: string
  /** The name of the route that took it. */
  readonly endpoint: string
  readonly dedupeKey: string
  readonly body: Buffer
  readonly bodyHash: Buffer
  readonly state: 'NEW' | 'PARKED' | 'CONFLICT'
  /** How often it was taken up, storing it included. */
  readonly attempts: number
  /** How often applying it failed: waits are not among them. */
  readonly failures: number
  /** How often it was parked. */
  readonly parkings: number
}

/** The same with what it says. */
export type InboxEvent = StoredEvent & { readonly event: BankEvent }

/** What became of an event. */
export interface InboxResult {
  readonly id: string
  readonly state: 'NEW' | 'DONE' | 'PARKED' | 'QUARANTINED' | 'CONFLICT'
  readonly outcome: string
  readonly operationId: string | null
  readonly failures: number
  readonly parkings: number
  /** When it is taken up again; `null`: never. */
  readonly dueAt: number | null
}

const COLUMNS = 'id, endpoint, dedupe_key, body, body_hash, state, received_at, due_at'

const NEW_ROWS = 'unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[], $5::bytea[])'

type InsertParameters = [
  ids: readonly string[],
  endpoints: readonly string[],
  dedupeKeys: readonly string[],
  bodies: readonly Buffer[],
  hashes: readonly Buffer[],
  receivedAt: string,
  dueAt: string,
]

const insert = statement<InsertParameters, { id: string }>(
  'inbox.insert',
  `INSERT INTO inbox (${COLUMNS})
   SELECT n.id, n.endpoint, n.dedupe_key, n.body, n.body_hash, 'NEW', $6::timestamptz, $7::timestamptz
     FROM ${NEW_ROWS} AS n (id, endpoint, dedupe_key, body, body_hash)
   ON CONFLICT (dedupe_key) WHERE state <> 'CONFLICT' DO NOTHING
   RETURNING id`,
)

const insertConflicts = statement<InsertParameters>(
  'inbox.insert_conflicts',
  `INSERT INTO inbox (${COLUMNS})
   SELECT n.id, n.endpoint, n.dedupe_key, n.body, n.body_hash, 'CONFLICT', $6::timestamptz, $7::timestamptz
     FROM ${NEW_ROWS} AS n (id, endpoint, dedupe_key, body, body_hash)
   ON CONFLICT (dedupe_key, body_hash) WHERE state = 'CONFLICT' DO NOTHING`,
)

const selectHashes = statement<[dedupeKeys: readonly string[]], { dedupe_key: string; body_hash: Buffer }>(
  'inbox.hashes',
  `SELECT dedupe_key, body_hash FROM inbox WHERE dedupe_key = ANY ($1::text[]) AND state <> 'CONFLICT'`,
)

/** Of an event that was read, the dedupe key is a list whose third item is the `transactionId`. */
const expedite = statement<[transactionIds: readonly string[], at: string]>(
  'inbox.expedite',
  `UPDATE inbox SET due_at = $2
    WHERE id IN (SELECT id FROM inbox
                  WHERE due_at > $2
                    AND CASE WHEN state IN ('PARKED', 'CONFLICT') THEN dedupe_key::json ->> 2 END = ANY ($1::text[])
                    FOR UPDATE SKIP LOCKED)`,
)

const claim = statement<
  [at: string, until: string, most: number],
  Omit<StoredEvent, 'dedupeKey' | 'bodyHash'> & { readonly dedupe_key: string; readonly body_hash: Buffer }
>(
  'inbox.claim',
  `UPDATE inbox SET due_at = $2, attempts = attempts + 1
    WHERE id IN (SELECT id FROM inbox WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED)
   RETURNING id, endpoint, dedupe_key, body, body_hash, state, attempts, failures, parkings`,
)

const mark = statement<
  [
    ids: readonly string[],
    states: readonly string[],
    outcomes: readonly string[],
    operationIds: readonly (string | null)[],
    failures: readonly number[],
    parkings: readonly number[],
    dueAts: readonly (string | null)[],
    at: string,
  ]
>(
  'inbox.mark',
  `UPDATE inbox i
      SET state = r.state, outcome = r.outcome, operation_id = r.operation_id, failures = r.failures,
          parkings = r.parkings, due_at = r.due_at,
          processed_at = CASE WHEN r.due_at IS NULL THEN $8::timestamptz END
     FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::integer[], $6::integer[], $7::timestamptz[])
       AS r (id, state, outcome, operation_id, failures, parkings, due_at)
    WHERE i.id = r.id`,
)

const selectOriginal = statement<[dedupeKey: string], { done: boolean }>(
  'inbox.original',
  `SELECT processed_at IS NOT NULL AS done FROM inbox WHERE dedupe_key = $1 AND state <> 'CONFLICT'`,
)

/** Makes the store of a database. */
export function createInboxStore(database: Database): InboxStore {
  return {
    insert: async (rows, receivedAt, dueAt) =>
      new Set((await database.rows(insert, insertParameters(rows, receivedAt, dueAt))).map(({ id }) => id)),
    hashes: async (dedupeKeys) => {
      const rows = await database.rows(selectHashes, [dedupeKeys])
      return new Map(rows.map(({ dedupe_key, body_hash }) => [dedupe_key, body_hash]))
    },
    insertConflicts: async (rows, receivedAt, dueAt) => {
      await database.rows(insertConflicts, insertParameters(rows, receivedAt, dueAt))
    },
    untilReplicated: () => untilReplicated(database),
    expedite: async (transactionIds, at) => {
      if (transactionIds.length > 0) await database.rows(expedite, [transactionIds, instantParameter(at)])
    },
    claim: async (at, until, most) => {
      const rows = await database.rows(claim, [instantParameter(at), instantParameter(until), most])
      return rows.map(({ dedupe_key, body_hash, ...row }) => ({ ...row, dedupeKey: dedupe_key, bodyHash: body_hash }))
    },
    mark: async (results, at) => {
      await database.rows(mark, [
        results.map(({ id }) => id),
        results.map(({ state }) => state),
        results.map(({ outcome }) => outcome),
        results.map(({ operationId }) => operationId),
        results.map(({ failures }) => failures),
        results.map(({ parkings }) => parkings),
        results.map(({ dueAt }) => (dueAt === null ? null : instantParameter(dueAt))),
        instantParameter(at),
      ])
    },
    // One that was set aside gave up its key: nothing is to be waited for.
    isOriginalDone: async (dedupeKey) => (await database.rows(selectOriginal, [dedupeKey]))[0]?.done ?? true,
  }
}

/** Sorted by key, so that two processes taking the same events never wait for each other in a circle. */
function insertParameters(unsorted: readonly NewInboxRow[], receivedAt: number, dueAt: number): InsertParameters {
  const rows = [...unsorted].sort((one, other) => (one.dedupeKey < other.dedupeKey ? -1 : 1))
  return [
    rows.map(({ id }) => id),
    rows.map(({ endpoint }) => endpoint),
    rows.map(({ dedupeKey }) => dedupeKey),
    rows.map(({ body }) => body),
    rows.map(({ bodyHash }) => bodyHash),
    instantParameter(receivedAt),
    instantParameter(dueAt),
  ]
}
