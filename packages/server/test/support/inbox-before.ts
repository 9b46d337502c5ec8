import type { NewEvent } from '../../src/inbox/store.ts'
import { type Database, instantParameter, statement } from '../../src/platform/db/database.ts'

/** What a process of the version before, which knows one event in each callback, says to the inbox. */

const COLUMNS = 'id, endpoint, dedupe_key, body, body_hash, state, received_at, due_at'
const GIVEN = 'unnest(ARRAY[$1::uuid], ARRAY[$2::text], ARRAY[$3::text], ARRAY[$4::bytea], ARRAY[$5::bytea])'

type InsertParameters = [id: string, endpoint: string, key: string, body: Buffer, hash: Buffer, at: string, due: string]

const INSERT = statement<InsertParameters, { id: string }>(
  'test.insert_of_the_version_before',
  `INSERT INTO inbox (${COLUMNS})
   SELECT n.id, n.endpoint, n.dedupe_key, n.body, n.body_hash, 'NEW', $6::timestamptz, $7::timestamptz
     FROM ${GIVEN} AS n (id, endpoint, dedupe_key, body, body_hash)
   ON CONFLICT (dedupe_key) WHERE state <> 'CONFLICT' DO NOTHING
   RETURNING id`,
)

const INSERT_CONFLICT = statement<InsertParameters, { id: string }>(
  'test.insert_conflict_of_the_version_before',
  `INSERT INTO inbox (${COLUMNS})
   SELECT n.id, n.endpoint, n.dedupe_key, n.body, n.body_hash, 'CONFLICT', $6::timestamptz, $7::timestamptz
     FROM ${GIVEN} AS n (id, endpoint, dedupe_key, body, body_hash)
   ON CONFLICT (dedupe_key, body_hash) WHERE state = 'CONFLICT' DO NOTHING
   RETURNING id`,
)

/** Stores an event as the version before does. @returns how many rows that were */
export async function insertAsBefore(
  database: Database,
  { callback: { id, endpoint, body }, dedupeKey, contentHash }: NewEvent,
  { state = 'NEW', dueAt = 0 }: { readonly state?: 'NEW' | 'CONFLICT'; readonly dueAt?: number } = {},
): Promise<number> {
  const insert = state === 'NEW' ? INSERT : INSERT_CONFLICT
  const at = instantParameter(0)
  const rows = await database.rows(insert, [id, endpoint, dedupeKey, body, contentHash, at, instantParameter(dueAt)])
  return rows.length
}

const CLAIM = statement<[at: string, until: string], { id: string; state: string }>(
  'test.claim_of_the_version_before',
  `UPDATE inbox SET due_at = $2, attempts = attempts + 1
    WHERE id IN (SELECT id FROM inbox WHERE due_at <= $1 ORDER BY due_at LIMIT 256 FOR UPDATE SKIP LOCKED)
   RETURNING id, endpoint, dedupe_key, body, body_hash, state, attempts, failures, parkings`,
)

/** Claims what is due as the version before does: twice, as that may be told of what is due by the first look only. */
export async function claimAsBefore(database: Database, nowMs: number, until: number): Promise<string[]> {
  const looks = [1, 2].map(() => [instantParameter(nowMs), instantParameter(until)] as const)
  const claimed: string[] = []
  for (const [now, end] of looks) claimed.push(...(await database.rows(CLAIM, [now, end])).map(({ id }) => id))
  return claimed
}

const MARK = statement<[id: string, state: string, outcome: string, due: string | null, at: string]>(
  'test.mark_of_the_version_before',
  `UPDATE inbox i
      SET state = r.state, outcome = r.outcome, operation_id = r.operation_id, failures = r.failures,
          parkings = r.parkings, due_at = r.due_at,
          processed_at = CASE WHEN r.due_at IS NULL THEN $5::timestamptz END
     FROM unnest(ARRAY[$1::uuid], ARRAY[$2::text], ARRAY[$3::text], ARRAY[NULL::uuid], ARRAY[1], ARRAY[2],
                 ARRAY[$4::timestamptz])
       AS r (id, state, outcome, operation_id, failures, parkings, due_at)
    WHERE i.id = r.id`,
)

/** Notes what became of an event as the version before does. */
export async function markAsBefore(
  database: Database,
  id: string,
  state: string,
  { outcome = 'over', dueAt = null }: { readonly outcome?: string; readonly dueAt?: number | null } = {},
): Promise<void> {
  const due = dueAt === null ? null : instantParameter(dueAt)
  await database.rows(MARK, [id, state, outcome, due, instantParameter(0)])
}

const ORIGINAL = statement<[key: string], { done: boolean }>(
  'test.original_of_the_version_before',
  `SELECT processed_at IS NOT NULL AS done FROM inbox WHERE dedupe_key = $1 AND state <> 'CONFLICT'`,
)

/** Whether the version before finds the event that one contradicts dealt with. */
export async function isOriginalDoneAsBefore(database: Database, dedupeKey: string): Promise<boolean> {
  return (await database.rows(ORIGINAL, [dedupeKey]))[0]?.done ?? true
}

const KEYS = statement<[], { key: string }>(
  'test.keys',
  'SELECT dedupe_key AS key FROM inbox_event ORDER BY inbox_id, ordinal',
)

/** The key of every event, in the order of their callbacks' ids. */
export async function inboxKeys(database: Database): Promise<string[]> {
  return (await database.rows(KEYS, [])).map(({ key }) => key)
}

/** What an event and the columns for the version before say became of it. */
export interface BothSides {
  readonly event: SideOfInbox
  readonly before: SideOfInbox
}

/** One side of {@link BothSides}. */
export interface SideOfInbox {
  readonly key: string | null
  readonly state: string | null
  readonly outcome: string | null
  readonly failures: number | null
  readonly parkings: number | null
  readonly isDue: boolean
  readonly isDone: boolean
}

const SIDES = statement<[id: string], BothSides>(
  'test.sides_of_the_inbox',
  `SELECT jsonb_build_object('key', e.dedupe_key, 'state', e.state, 'outcome', e.outcome, 'failures', e.failures,
                             'parkings', e.parkings, 'isDue', e.due_at IS NOT NULL, 'isDone', e.processed_at IS NOT NULL)
            AS event,
          jsonb_build_object('key', i.dedupe_key, 'state', i.state, 'outcome', i.outcome, 'failures', i.failures,
                             'parkings', i.parkings, 'isDue', i.due_at IS NOT NULL, 'isDone', i.processed_at IS NOT NULL)
            AS before
     FROM inbox i JOIN inbox_event e ON e.inbox_id = i.id AND e.ordinal = 0 WHERE i.id = $1`,
)

/** Both sides of the first event of a callback. */
export async function bothSides(database: Database, id: string): Promise<BothSides | undefined> {
  return (await database.rows(SIDES, [id]))[0]
}

const ROWS = statement<[], { row: string }>(
  'test.rows_of_the_inbox',
  `SELECT concat_ws('|', id, endpoint, dedupe_key, encode(body, 'hex'), encode(body_hash, 'hex'), state, outcome, operation_id,
                    attempts, failures, parkings, received_at, due_at, processed_at) AS row FROM inbox ORDER BY id`,
)

/** Every byte of the inbox that the version before knows, a line for each event. */
export async function inboxAsBefore(database: Database): Promise<string[]> {
  return (await database.rows(ROWS, [])).map(({ row }) => row)
}

const EVENTS = statement<[], { row: string }>(
  'test.rows_of_the_events',
  `SELECT concat_ws('|', i.id, i.endpoint, e.dedupe_key, encode(i.body, 'hex'), encode(e.content_hash, 'hex'), e.state,
                    e.outcome, e.operation_id, e.attempts, e.failures, e.parkings, i.received_at, e.due_at, e.processed_at)
            AS row
     FROM inbox_event e JOIN inbox i ON i.id = e.inbox_id WHERE e.ordinal = 0 AND i.is_proven ORDER BY i.id`,
)

/** The same of the first event of each callback, as this version has it. */
export async function firstEvents(database: Database): Promise<string[]> {
  return (await database.rows(EVENTS, [])).map(({ row }) => row)
}
