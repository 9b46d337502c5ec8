import type { NewInboxRow } from '../../src/inbox/store.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'

/** What a process of the version before, which knows no key that is given up, says to the inbox. */

const BEFORE_INSERT = statement<[id: string, key: string, body: Buffer, hash: Buffer], { id: string }>(
  'test.insert_of_the_version_before',
  `INSERT INTO inbox (id, endpoint, dedupe_key, body, body_hash, state, outcome, received_at, due_at)
   SELECT n.id, n.endpoint, n.dedupe_key, n.body, n.body_hash,
          CASE WHEN n.fault IS NULL THEN 'NEW' ELSE 'QUARANTINED' END, n.fault, now(), now()
     FROM unnest(ARRAY[$1::uuid], ARRAY['cash-in'], ARRAY[$2], ARRAY[$3::bytea], ARRAY[$4::bytea], ARRAY[NULL::text])
            AS n (id, endpoint, dedupe_key, body, body_hash, fault)
   ON CONFLICT (dedupe_key) WHERE state <> 'CONFLICT' DO NOTHING
   RETURNING id`,
)

const BEFORE_QUARANTINE = statement<[id: string]>(
  'test.quarantine_of_the_version_before',
  `UPDATE inbox SET state = 'QUARANTINED', outcome = 'over', due_at = NULL, processed_at = now() WHERE id = $1`,
)

/** Stores an event as the version before does. @returns how many rows that were */
export async function insertAsBefore(
  database: Database,
  { id, dedupeKey, body, bodyHash }: NewInboxRow,
): Promise<number> {
  return (await database.rows(BEFORE_INSERT, [id, dedupeKey, body, bodyHash])).length
}

/** Puts an event in quarantine as the version before does. */
export async function quarantineAsBefore(database: Database, id: string): Promise<void> {
  await database.rows(BEFORE_QUARANTINE, [id])
}

const KEYS = statement<[], { key: string }>('test.keys', 'SELECT dedupe_key AS key FROM inbox ORDER BY id')

/** The key of every event, in the order of their ids. */
export async function inboxKeys(database: Database): Promise<string[]> {
  return (await database.rows(KEYS, [])).map(({ key }) => key)
}
