import assert from 'node:assert/strict'
import { type Database, statement } from '../../src/platform/db/database.ts'

/** Everything that must hold of the books whatever happened. */
const FAULTS = statement<[], { fault: string; what: string }>(
  'test.faults',
  `SELECT 'journal does not balance' AS fault, operation_id || ' ' || journal AS what
     FROM entry GROUP BY operation_id, journal, reference HAVING sum(amount_cents) <> 0
   UNION ALL
   SELECT 'balance is not the sum of entries', a.code
     FROM account a LEFT JOIN entry e ON e.account_id = a.id
    GROUP BY a.id HAVING a.balance_cents <> coalesce(sum(e.amount_cents), 0) OR a.version <> count(e.*)
   UNION ALL
   SELECT 'entry does not continue its account', account_id || ' ' || version
     FROM (SELECT *, lag(balance_after_cents, 1, 0) OVER w AS before, lag(version, 1, 0) OVER w AS last
             FROM entry WINDOW w AS (PARTITION BY account_id ORDER BY version)) e
    WHERE e.balance_after_cents <> e.before + e.amount_cents OR e.version <> e.last + 1
   UNION ALL
   SELECT 'move does not continue its operation', operation_id || ' ' || version
     FROM (SELECT *, lag(to_status) OVER w AS before, lag(version, 1, 0) OVER w AS last
             FROM move WINDOW w AS (PARTITION BY operation_id ORDER BY version)) m
    WHERE m.from_status IS DISTINCT FROM m.before OR m.version <> m.last + 1
   UNION ALL
   SELECT 'operation is not where its moves ended', o.id::text
     FROM operation o LEFT JOIN LATERAL
          (SELECT version, to_status FROM move WHERE operation_id = o.id ORDER BY version DESC LIMIT 1) m ON true
    WHERE o.version IS DISTINCT FROM m.version OR o.status IS DISTINCT FROM m.to_status
   UNION ALL
   SELECT 'orphan', 'move of no operation ' || m.operation_id
     FROM move m LEFT JOIN operation o ON o.id = m.operation_id WHERE o.id IS NULL
   UNION ALL
   SELECT 'notification missing or too many', o.id::text
     FROM operation o LEFT JOIN notification n ON n.operation_id = o.id
    WHERE o.kind = 'cash_in'
    GROUP BY o.id
   HAVING (o.status = 'PAID' AND count(n.*) FILTER (WHERE n.status = 'PAID') <> 1)
       OR (o.status = 'FAILED' AND count(n.*) FILTER (WHERE n.status = 'FAILED') <> 1)
       OR (o.status IN ('PENDING', 'EXPIRED', 'PROVIDER_RESULT_UNKNOWN') AND count(n.*) > 0)
   UNION ALL
   SELECT 'PAID without its journal', o.id::text
     FROM operation o
    WHERE o.kind = 'cash_in' AND (o.status = 'PAID') <> EXISTS
          (SELECT FROM entry e WHERE e.operation_id = o.id AND e.journal = 'cash_in_paid')
      AND o.status <> 'RECONCILIATION_REQUIRED'`,
)

/** Fails with every invariant that the database breaks. */
export async function assertBooks(database: Database): Promise<void> {
  assert.deepEqual(await database.rows(FAULTS, []), [])
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
  `INSERT INTO operation (id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash,
                          expires_at, detail, facts, created_at, updated_at)
   SELECT gen_random_uuid(), kind, 'copy-' || n, status, version, value_cents, fee_cents, correlation_id, body_hash,
          expires_at, detail, facts, created_at - n * interval '1 minute', updated_at
     FROM operation, generate_series(1, $1) n`,
)

/** Adds copies of every operation, each a minute older than the one before: rows to list, not to work on. */
export async function copyOperations(database: Database, copies: number): Promise<void> {
  await database.rows(COPIES, [copies])
}
