import type { CashInFacts } from '../../src/cash-in/cash-in.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'

/** What stands in the tables beside the operations: what operators, merchants and auditors go by. */

const CASES = statement<[], { kind: string; open: boolean }>(
  'test.cases',
  'SELECT kind, closed_at IS NULL AS open FROM "case" ORDER BY opened_at, id',
)

/** Every case, oldest first: its kind, with `(closed)` behind it where it is. */
export async function cases(database: Database): Promise<string[]> {
  return (await database.rows(CASES, [])).map(({ kind, open }) => (open ? kind : `${kind} (closed)`))
}

/** The kinds of the cases that are open, oldest first. */
export async function openCases(database: Database): Promise<string[]> {
  return (await cases(database)).filter((kind) => !kind.endsWith('(closed)'))
}

const CASE_FACTS = statement<[kind: string], { facts: object }>(
  'test.case_facts',
  'SELECT facts FROM "case" WHERE kind = $1 ORDER BY opened_at, id',
)

/** What the cases of a kind tell their operator, oldest first. */
export async function caseFacts(database: Database, kind: string): Promise<object[]> {
  return (await database.rows(CASE_FACTS, [kind])).map(({ facts }) => facts)
}

const OPEN_OF_KIND = statement<[kind: string], { id: string }>(
  'test.open_cases_of_kind',
  'SELECT id FROM "case" WHERE kind = $1 AND closed_at IS NULL ORDER BY opened_at, id',
)

/** The ids of the open cases of a kind, oldest first. */
export async function openCaseIdsOf(database: Database, kind: string): Promise<string[]> {
  return (await database.rows(OPEN_OF_KIND, [kind])).map(({ id }) => id)
}

const CASH_INS = statement<[], { id: string; status: string; facts: CashInFacts }>(
  'test.cash_ins',
  'SELECT id, status, facts FROM cash_in ORDER BY id',
)

/** Every cash-in as it is stored, oldest first. */
export function cashIns(database: Database) {
  return database.rows(CASH_INS, [])
}

const MOVES = statement<[trigger: string], { moves: bigint; batches: bigint }>(
  'test.moves',
  'SELECT count(*) AS moves, count(DISTINCT batch_id) AS batches FROM move WHERE trigger = $1',
)

/** How many moves a trigger made, and in how many statements. */
export async function movesBy(
  database: Database,
  trigger: string,
): Promise<{ moves: bigint; batches: bigint } | undefined> {
  return (await database.rows(MOVES, [trigger]))[0]
}

const STATUSES = statement<[], { status: string }>(
  'test.notified_statuses',
  'SELECT status FROM notification ORDER BY created_at, id',
)

/** The status in every notification that was made, oldest first. */
export async function notifiedStatuses(database: Database): Promise<string[]> {
  return (await database.rows(STATUSES, [])).map(({ status }) => status)
}

/** An event in the inbox, as far as tests care. */
export interface InboxEvidence {
  readonly state: string
  readonly outcome: string | null
  readonly attempts: number
  readonly failures: number
  readonly operation_id: string | null
  readonly isDone: boolean
}

const INBOX = statement<[], InboxEvidence>(
  'test.inbox',
  `SELECT e.state, e.outcome, e.attempts, e.failures, e.operation_id, e.processed_at IS NOT NULL AS "isDone"
     FROM inbox_event e JOIN inbox i ON i.id = e.inbox_id ORDER BY i.received_at, i.id, e.ordinal`,
)

/** Every event that was stored, in the order of arrival. */
export function inbox(database: Database): Promise<InboxEvidence[]> {
  return database.rows(INBOX, [])
}

const CALLBACKS = statement<[], { id: string; body: Buffer; hash: Buffer | null }>(
  'test.callbacks',
  'SELECT id, body, body_sha256 AS hash FROM inbox ORDER BY received_at, id',
)

/** Every callback as it is kept, in the order of arrival, and the hash of one that was erased. */
export function callbacks(database: Database): Promise<{ id: string; body: Buffer; hash: Buffer | null }[]> {
  return database.rows(CALLBACKS, [])
}

const DELIVERIES = statement<[], { state: string }>('test.delivery_states', 'SELECT state FROM delivery ORDER BY id')

/** The state of every delivery, oldest first. */
export async function deliveryStates(database: Database): Promise<string[]> {
  return (await database.rows(DELIVERIES, [])).map(({ state }) => state)
}

const HOLD = statement<[]>('test.hold', 'SELECT 1 FROM inbox_event ORDER BY inbox_id, ordinal LIMIT 1 FOR UPDATE')

/** Does something while another session holds the event that was stored first. */
export function whileFirstIsHeld(database: Database, work: () => Promise<void>): Promise<void> {
  return database.transaction(async (queries) => {
    await queries.rows(HOLD, [])
    await work()
  })
}

const ATTEMPTS = statement<[], { outcome: string }>(
  'test.attempts',
  'SELECT outcome FROM delivery_attempt ORDER BY started_at, attempt',
)

/** What came of every attempt to deliver a notification. */
export async function attempts(database: Database): Promise<string[]> {
  return (await database.rows(ATTEMPTS, [])).map(({ outcome }) => outcome)
}

const OPEN = statement<[], { transactions: bigint; locks: bigint }>(
  'test.open',
  `SELECT count(*) FILTER (WHERE xact_start IS NOT NULL) AS transactions,
          (SELECT count(*) FROM pg_locks JOIN pg_stat_activity a USING (pid)
            WHERE a.datname = current_database() AND pid <> pg_backend_pid()) AS locks
     FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
)

/** How many transactions are open and how many locks are held on this database, by anybody but the one who asks. */
export async function openTransactions(
  database: Database,
): Promise<{ transactions: bigint; locks: bigint } | undefined> {
  return (await database.rows(OPEN, []))[0]
}

const AUDIT = statement<[], AuditRow>(
  'test.audit',
  `SELECT at, actor, actor_name AS "actorName", action, subject, address, facts FROM audit ORDER BY at, id`,
)

/** A row of the audit trail. */
export interface AuditRow {
  readonly at: number
  readonly actor: string
  readonly actorName: string | null
  readonly action: string
  readonly subject: string
  readonly address: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** The audit trail, oldest first. */
export function audit(database: Database): Promise<AuditRow[]> {
  return database.rows(AUDIT, [])
}

const SWITCH = statement<[], { value: { enabled: boolean }; version: bigint }>(
  'test.switch',
  `SELECT value, version FROM control WHERE name = 'cash_out_switch'`,
)

/** The switch of payouts as it stands. */
export async function payoutSwitch(
  database: Database,
): Promise<{ readonly isSuspended: boolean; readonly version: bigint }> {
  const [row] = await database.rows(SWITCH, [])
  if (!row) throw new Error('the switch is missing')
  return { isSuspended: !row.value.enabled, version: row.version }
}

/** Whether payouts are suspended, every case, and every notified status. */
export async function stands({ database }: { readonly database: Database }) {
  const { isSuspended } = await payoutSwitch(database)
  return { isSuspended, cases: await cases(database), notified: await notifiedStatuses(database) }
}

const MARK = statement<[], { matched_until: number | null; read_at: number | null }>(
  'test.statement_mark',
  'SELECT matched_until, read_at FROM statement_mark',
)

/** How far the bank's statement is matched, and when a window of it was last read whole; epoch milliseconds. */
export async function statementMark(
  database: Database,
): Promise<{ readonly matchedUntil: number | null; readonly readAt: number | null }> {
  const [row] = await database.rows(MARK, [])
  return { matchedUntil: row?.matched_until ?? null, readAt: row?.read_at ?? null }
}

const STATEMENT_ENTRIES = statement<[], { kind: string; id: string; outcome: string | null }>(
  'test.statement_entries',
  'SELECT kind, id, outcome FROM statement_entry ORDER BY kind, id',
)

/** Every entry of the bank's statement that was kept: its kind, its id and what became of it. */
export async function statementEntries(database: Database): Promise<string[]> {
  const rows = await database.rows(STATEMENT_ENTRIES, [])
  return rows.map(({ kind, id, outcome }) => `${kind} ${id} ${outcome ?? 'OPEN'}`)
}

const SETTLEMENTS = statement<[], { reference: string }>(
  'test.settlements',
  `SELECT reference FROM entry WHERE account_id = (SELECT id FROM account WHERE code = 'settlement') ORDER BY reference`,
)

/** The end-to-end or return id of everything that moved at the bank by our books, in their order. */
export async function bookedMovements(database: Database): Promise<string[]> {
  return (await database.rows(SETTLEMENTS, [])).map(({ reference }) => reference)
}

/** How much there is of what clients and operators can write. */
export interface Written {
  readonly operations: bigint
  readonly keys: bigint
  readonly endpoints: bigint
  readonly audits: bigint
}

const WRITTEN = statement<[], Written>(
  'test.written',
  `SELECT (SELECT count(*) FROM operation) AS operations, (SELECT count(*) FROM api_key) AS keys,
          (SELECT count(*) FROM endpoint) AS endpoints, (SELECT count(*) FROM audit) AS audits`,
)

/** Counts what clients and operators wrote, in whatever state it is. */
export async function written(database: Database): Promise<Written> {
  const [counted] = await database.rows(WRITTEN, [])
  if (!counted) throw new Error('nothing was counted')
  return counted
}

const MADE_BY = statement<[id: string], { operation: unknown; move: unknown }>(
  'test.made_by',
  `SELECT o.facts -> 'madeBy' AS operation, m.facts -> 'madeBy' AS move
     FROM operation o JOIN move m ON m.operation_id = o.id AND m.version = 1 WHERE o.id = $1`,
)

/** Who made an operation, as it says itself, and as the move says that made it. */
export async function madeBy(database: Database, id: string) {
  return (await database.rows(MADE_BY, [id]))[0]
}

/** What is kept as used of a bucket of an allowance. */
export interface UsedBucket {
  readonly scope: string
  readonly span: string
  readonly bucket: number
  readonly used_cents: bigint
}

const ALLOWANCES = statement<[], UsedBucket>('test.allowances', 'SELECT scope, span, bucket, used_cents FROM allowance')

/** What is kept as used, of every bucket of every allowance. */
export function usedBuckets(database: Database): Promise<UsedBucket[]> {
  return database.rows(ALLOWANCES, [])
}

/** The same, only how much, centavos. */
export async function allowancesUsed(database: Database): Promise<bigint[]> {
  return (await usedBuckets(database)).map(({ used_cents }) => used_cents)
}

const AUDIT_IN_ORDER = statement<[], { action: string; actor: string; subject: string }>(
  'test.audit_in_order',
  'SELECT a.action, a.actor, a.subject FROM audit a JOIN audit_chain c ON c.audit_id = a.id ORDER BY c.seq',
)

/** The audit trail in the order in which its rows were committed. */
export function auditInOrder(database: Database) {
  return database.rows(AUDIT_IN_ORDER, [])
}
