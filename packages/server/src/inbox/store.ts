import type { BankEvent } from '../banks/inbound.ts'
import { type Database, instantParameter, statement, untilReplicated } from '../platform/db/database.ts'

/** The bank's request, verbatim. */
export interface Callback {
  readonly id: string
  readonly endpoint: string
  readonly body: Buffer
  readonly isProven: boolean
}

export interface NewEvent {
  readonly callback: Callback
  readonly ordinal: number
  readonly dedupeKey: string
  /** Tells two events with one key apart. @source rules#partner-inbox.7 */
  readonly contentHash: Buffer
}

export interface StoredEvent extends NewEvent {
  readonly state: 'NEW' | 'PARKED' | 'CONFLICT'
  /** Number of failures, without parking. */
  readonly failures: number
  readonly parkings: number
  /** The operation an operator attributed it to, if any. */
  readonly attributedTo: string | null
}

export type InboxEvent = StoredEvent & { readonly event: BankEvent }

export interface InboxResult {
  readonly inboxId: string
  readonly ordinal: number
  readonly state: 'NEW' | 'DONE' | 'PARKED' | 'QUARANTINED' | 'CONFLICT'
  readonly outcome: string
  readonly operationId: string | null
  readonly failures: number
  readonly parkings: number
  readonly dueAt: number | null
}

type InsertParameters = [
  inboxIds: readonly string[],
  ordinals: readonly number[],
  dedupeKeys: readonly string[],
  contentHashes: readonly Buffer[],
  dueAt: string,
  ids: readonly string[],
  endpoints: readonly string[],
  bodies: readonly Buffer[],
  areProven: readonly boolean[],
  receivedAt: string,
]

/** Inserts events, and callbacks that contain new ones. @param again conflict clause for callbacks that exist */
function insertion(state: 'NEW' | 'CONFLICT', once: string, again = ''): string {
  return `WITH fresh AS (
     INSERT INTO inbox_event (inbox_id, ordinal, dedupe_key, content_hash, state, due_at)
     SELECT e.inbox_id, e.ordinal, e.dedupe_key, e.content_hash, '${state}', $5::timestamptz
       FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::bytea[])
         AS e (inbox_id, ordinal, dedupe_key, content_hash)
     ON CONFLICT ${once} DO NOTHING
     RETURNING inbox_id, ordinal
   ), kept AS (
     INSERT INTO inbox (id, endpoint, body, is_proven, received_at)
     SELECT c.id, c.endpoint, c.body, c.is_proven, $10::timestamptz
       FROM unnest($6::uuid[], $7::text[], $8::bytea[], $9::boolean[]) AS c (id, endpoint, body, is_proven)
      WHERE c.id IN (SELECT inbox_id FROM fresh) ${again}
   )
   SELECT inbox_id, ordinal FROM fresh`
}

const insert = statement<InsertParameters, { inbox_id: string; ordinal: number }>(
  'inbox.insert',
  insertion('NEW', `(dedupe_key) WHERE state <> 'CONFLICT'`),
)

const insertConflicts = statement<InsertParameters>(
  'inbox.insert_conflicts',
  insertion('CONFLICT', `(dedupe_key, content_hash) WHERE state = 'CONFLICT'`, 'ON CONFLICT (id) DO NOTHING'),
)

/** A process that lost the answer to its insert never applies the event, so a repetition shortens its lease. */
const selectHashes = statement<
  [dedupeKeys: readonly string[], now: string, until: string],
  { dedupe_key: string; content_hash: Buffer }
>(
  'inbox.hashes',
  `WITH hurried AS (
     UPDATE inbox_event SET due_at = $2
      WHERE (inbox_id, ordinal) IN (
              SELECT inbox_id, ordinal FROM inbox_event
               WHERE dedupe_key = ANY ($1::text[]) AND state = 'NEW' AND due_at > $2 AND due_at <= $3
                 FOR UPDATE SKIP LOCKED))
   SELECT dedupe_key, content_hash FROM inbox_event WHERE dedupe_key = ANY ($1::text[]) AND state <> 'CONFLICT'`,
)

/** The third item of the deduplication key is the bank's reference, if any. */
const expedite = statement<[transactionIds: readonly string[], now: string]>(
  'inbox.expedite',
  `UPDATE inbox_event SET due_at = $2
    WHERE (inbox_id, ordinal) IN (
            SELECT inbox_id, ordinal FROM inbox_event
             WHERE due_at > $2
               AND CASE WHEN state IN ('PARKED', 'CONFLICT') THEN dedupe_key::json ->> 2 END = ANY ($1::text[])
               FOR UPDATE SKIP LOCKED)`,
)

interface ClaimedRow extends Pick<StoredEvent, 'ordinal' | 'state' | 'failures' | 'parkings'> {
  readonly inbox_id: string
  readonly endpoint: string
  readonly body: Buffer
  readonly is_proven: boolean
  readonly dedupe_key: string
  readonly content_hash: Buffer
  readonly attributed_to: string | null
}

const claim = statement<[now: string, until: string, limit: number], ClaimedRow>(
  'inbox.claim',
  `WITH due AS (
     SELECT inbox_id, ordinal FROM inbox_event WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
   )
   UPDATE inbox_event e SET due_at = $2, attempts = e.attempts + 1
     FROM due d JOIN inbox i ON i.id = d.inbox_id
    WHERE e.inbox_id = d.inbox_id AND e.ordinal = d.ordinal
   RETURNING e.inbox_id, e.ordinal, i.endpoint, i.body, i.is_proven, e.dedupe_key, e.content_hash, e.state, e.failures,
             e.parkings, e.attributed_to`,
)

const mark = statement<
  [
    inboxIds: readonly string[],
    ordinals: readonly number[],
    states: readonly string[],
    outcomes: readonly string[],
    operationIds: readonly (string | null)[],
    failures: readonly number[],
    parkings: readonly number[],
    dueAts: readonly (number | null)[],
    now: string,
  ]
>(
  'inbox.mark',
  `WITH marked AS (
   UPDATE inbox_event e
      SET state = r.state, outcome = r.outcome, operation_id = r.operation_id, failures = r.failures,
          parkings = r.parkings, due_at = r.due_at,
          processed_at = CASE WHEN r.due_at IS NULL THEN $9::timestamptz END
     FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::text[], $5::uuid[], $6::integer[], $7::integer[],
                 $8::timestamptz[])
       AS r (inbox_id, ordinal, state, outcome, operation_id, failures, parkings, due_at)
    WHERE e.inbox_id = r.inbox_id AND e.ordinal = r.ordinal AND (e.processed_at IS NULL OR r.due_at IS NULL)
   RETURNING e.content_hash, e.outcome)
   UPDATE "case" c SET closed_at = $9
     FROM marked m
    WHERE m.outcome IN ('APPLIED', 'KNOWN', 'IGNORED', 'ASKED') AND c.operation_id IS NULL AND c.closed_at IS NULL
      AND c.kind = 'event_set_aside'
      AND c.reference = encode(m.content_hash, 'hex')`,
)

const selectOriginal = statement<[dedupeKey: string], { done: boolean }>(
  'inbox.original',
  `SELECT processed_at IS NOT NULL AS done FROM inbox_event WHERE dedupe_key = $1 AND state <> 'CONFLICT'`,
)

const selectOpenCase = statement<[reference: string], { id: string }>(
  'inbox.open_case',
  `SELECT id FROM "case"
    WHERE operation_id IS NULL AND closed_at IS NULL AND reference = $1
      AND kind = 'event_set_aside' LIMIT 1`,
)

export type InboxStore = ReturnType<typeof createInboxStore>

/**
 * Reads hashes of stored events by key. A repeated event whose lease ends by `leasedUntil` becomes due at once.
 * @source rules#partner-inbox.17
 */
function hashesIn(database: Database) {
  /** Times in epoch milliseconds. */
  return async (keys: readonly string[], nowMs: number, leasedUntil: number): Promise<Map<string, Buffer>> => {
    const rows = await database.rows(selectHashes, [keys, instantParameter(nowMs), instantParameter(leasedUntil)])
    return new Map(rows.map(({ dedupe_key, content_hash }) => [dedupe_key, content_hash]))
  }
}

/** SQL of the inbox. Callbacks are append-only; outcomes are stored beside them. */
export function createInboxStore(database: Database) {
  return {
    /**
     * Stores new events with their callbacks in one statement, leased to this process until `dueAt`.
     * @returns the new ones
     */
    insert: async <Event extends NewEvent>(
      events: readonly Event[],
      receivedAt: number,
      dueAt: number,
    ): Promise<Event[]> => {
      const rows = await database.rows(insert, insertParameters(events, receivedAt, dueAt))
      const fresh = new Set(rows.map(({ inbox_id, ordinal }) => `${inbox_id} ${ordinal}`))
      return events.filter(({ callback, ordinal }) => fresh.has(`${callback.id} ${ordinal}`))
    },
    hashes: hashesIn(database),
    insertConflicts: async (events: readonly NewEvent[], receivedAt: number, dueAt: number): Promise<void> => {
      await database.rows(insertConflicts, insertParameters(events, receivedAt, dueAt))
    },
    /** Resolves when everything read so far would survive a fail-over. @source rules#database.7 */
    untilReplicated: (): Promise<void> => untilReplicated(database),
    expedite: async (transactionIds: readonly string[], nowMs: number): Promise<void> => {
      if (transactionIds.length > 0) await database.rows(expedite, [transactionIds, instantParameter(nowMs)])
    },
    claim: async (nowMs: number, until: number, limit: number): Promise<StoredEvent[]> => {
      const rows = await database.rows(claim, [instantParameter(nowMs), instantParameter(until), limit])
      return rows.map(storedEvent)
    },
    /**
     * Stores outcomes and closes the cases of finished events. An event finished by another process is not retried,
     * whatever a process with an expired lease reports.
     * @source rules#cases.59, failure-modes#EV-3
     */
    mark: async (results: readonly InboxResult[], nowMs: number): Promise<void> => {
      await database.rows(mark, [
        results.map(({ inboxId }) => inboxId),
        results.map(({ ordinal }) => ordinal),
        results.map(({ state }) => state),
        results.map(({ outcome }) => outcome),
        results.map(({ operationId }) => operationId),
        results.map(({ failures }) => failures),
        results.map(({ parkings }) => parkings),
        results.map(({ dueAt }) => dueAt),
        instantParameter(nowMs),
      ])
    },
    hasOpenCase: async (reference: string): Promise<boolean> =>
      (await database.rows(selectOpenCase, [reference])).length > 0,
    /** Whether the event that this one contradicts has been processed; true if it gave up its key in quarantine. */
    isOriginalDone: async (dedupeKey: string): Promise<boolean> =>
      (await database.rows(selectOriginal, [dedupeKey]))[0]?.done ?? true,
  }
}

function storedEvent({
  inbox_id,
  endpoint,
  body,
  is_proven,
  dedupe_key,
  content_hash,
  attributed_to,
  ...row
}: ClaimedRow): StoredEvent {
  const callback = { id: inbox_id, endpoint, body, isProven: is_proven }
  return { callback, dedupeKey: dedupe_key, contentHash: content_hash, attributedTo: attributed_to, ...row }
}

/** Sorted by key, so that processes storing the same events cannot deadlock. */
function insertParameters(unsorted: readonly NewEvent[], receivedAt: number, dueAt: number): InsertParameters {
  const events = [...unsorted].sort((one, other) => (one.dedupeKey < other.dedupeKey ? -1 : 1))
  const callbacks = [...new Set(events.map(({ callback }) => callback))]
  return [
    events.map(({ callback }) => callback.id),
    events.map(({ ordinal }) => ordinal),
    events.map(({ dedupeKey }) => dedupeKey),
    events.map(({ contentHash }) => contentHash),
    instantParameter(dueAt),
    callbacks.map(({ id }) => id),
    callbacks.map(({ endpoint }) => endpoint),
    callbacks.map(({ body }) => body),
    callbacks.map(({ isProven }) => isProven),
    instantParameter(receivedAt),
  ]
}
