import assert from 'node:assert/strict'
import type { EventType } from '@pixgate/spec'
import { verify } from '../../src/ledger/verify/verifier.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'
import { notifiedStatuses } from './evidence.ts'
import { assertPublished } from './published-events.ts'
import type { World } from './world.ts'

const beginSnapshot = statement<[]>('test.begin_snapshot', 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')

const NOTIFICATIONS = statement<[], { event_type: EventType; body: Buffer }>(
  'test.notifications',
  // Those that tests of the engine make by themselves have nothing in them.
  `SELECT event_type, body FROM notification WHERE body <> '{}' AND erased_at IS NULL`,
)

/** Fails with everything that is wrong with the books, and where a notification is not what its published schema says. */
export async function assertBooks(database: Database): Promise<void> {
  const { drifts } = await database.transaction(async (queries) => {
    await queries.rows(beginSnapshot, [])
    return verify(queries)
  })
  assert.deepEqual(drifts, [])
  for (const { event_type, body } of await database.rows(NOTIFICATIONS, [])) assertPublished(event_type, body)
}

const BALANCES = statement<[], { code: string; balance_cents: bigint }>(
  'test.balances',
  'SELECT code, balance_cents FROM account WHERE balance_cents <> 0 ORDER BY id',
)

/** Every account that is not empty. */
export async function balances(database: Database): Promise<Record<string, bigint>> {
  const rows = await database.rows(BALANCES, [])
  return Object.fromEntries(rows.map(({ code, balance_cents }) => [code, balance_cents]))
}

const COPIES = statement<[copies: number]>(
  'test.copies',
  `INSERT INTO operation (id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash,
                          expires_at, detail, facts, created_at, updated_at)
   SELECT gen_random_uuid(), kind, 'copy-' || n, md5(kind || 'copy-' || n), status, version, value_cents, fee_cents, correlation_id, body_hash,
          expires_at, detail, facts, created_at - n * interval '1 minute', updated_at
     FROM operation, generate_series(1, $1) n`,
)

const selectOldest = statement<[], { id: string }>(
  'books.oldest',
  'SELECT id FROM cash_in ORDER BY created_at, id LIMIT 1',
)

/** The id of the cash-in that the last page ends with. */
export async function oldestCashIn(database: Database): Promise<string | undefined> {
  return (await database.rows(selectOldest, []))[0]?.id
}

/** Adds copies of every operation, each a minute older than the one before: rows to list, not to work on. */
export async function copyOperations(database: Database, copies: number): Promise<void> {
  await database.rows(COPIES, [copies])
}

/** Everything of ours that could have moved: charges and payouts, balances, notifications. */
export async function everythingMoved({ database, get }: Pick<World, 'database' | 'get'>) {
  const [charges, payouts] = [await get('/api/pix/cash-in'), await get('/api/pix/cash-out')]
  return {
    operations: [...charges.data, ...payouts.data].map(({ id, status }) => `${id} ${status}`),
    balances: await balances(database),
    notified: await notifiedStatuses(database),
  }
}
