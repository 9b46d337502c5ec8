import type { CashInFacts } from '../../src/cash-in/cash-in.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'

/** What stands in the tables beside the operations: what operators, merchants and auditors go by. */

/** Reads every row of a query, as it is or as `made`. */
function all<Row extends object, Made = Row>(name: string, text: string, made?: (row: Row) => Made) {
  const query = statement<[], Row>(name, text)
  return async (database: Database): Promise<Made[]> => {
    const rows = await database.rows(query, [])
    return made ? rows.map(made) : (rows as unknown as Made[])
  }
}

/** Reads the only row of a query. */
function only<Row extends object>(name: string, text: string) {
  const read = all<Row>(name, text)
  return async (database: Database): Promise<Row> => {
    const [row] = await read(database)
    if (!row) throw new Error(`${name} finds no row`)
    return row
  }
}

/** Every case, oldest first: its kind, with `(closed)` behind it where it is. */
export const cases = all(
  'test.cases',
  'SELECT kind, closed_at IS NULL AS open FROM "case" ORDER BY opened_at, id',
  ({ kind, open }: { kind: string; open: boolean }) => (open ? kind : `${kind} (closed)`),
)

/** The kinds of the cases that are open, oldest first. */
export async function openCases(database: Database): Promise<string[]> {
  return (await cases(database)).filter((kind) => !kind.endsWith('(closed)'))
}

const CASES_OF_KIND = statement<[kind: string], { id: string; facts: object; open: boolean }>(
  'test.cases_of_kind',
  'SELECT id, facts, closed_at IS NULL AS open FROM "case" WHERE kind = $1 ORDER BY opened_at, id',
)

/** What the cases of a kind tell their operator, oldest first. */
export async function caseFacts(database: Database, kind: string): Promise<object[]> {
  return (await database.rows(CASES_OF_KIND, [kind])).map(({ facts }) => facts)
}

/** The ids of the open cases of a kind, oldest first. */
export async function openCaseIdsOf(database: Database, kind: string): Promise<string[]> {
  return (await database.rows(CASES_OF_KIND, [kind])).flatMap(({ id, open }) => (open ? [id] : []))
}

/** Every cash-in as it is stored, oldest first. */
export const cashIns = all<{ id: string; status: string; facts: CashInFacts }>(
  'test.cash_ins',
  'SELECT id, status, facts FROM cash_in ORDER BY id',
)

const MOVES = statement<[trigger: string], { moves: bigint; batches: bigint }>(
  'test.moves',
  'SELECT count(*) AS moves, count(DISTINCT batch_id) AS batches FROM move WHERE trigger = $1',
)

/** How many moves a trigger made, and in how many statements. */
export async function movesBy(database: Database, trigger: string) {
  return (await database.rows(MOVES, [trigger]))[0]
}

/** The status in every notification that was made, oldest first. */
export const notifiedStatuses = all(
  'test.notified_statuses',
  'SELECT status FROM notification ORDER BY created_at, id',
  ({ status }: { status: string }) => status,
)

/** An event in the inbox, as far as tests care. */
interface InboxEvidence {
  readonly state: string
  readonly outcome: string | null
  readonly attempts: number
  readonly failures: number
  readonly operation_id: string | null
  readonly isDone: boolean
}

/** Every event that was stored, in the order of arrival. */
export const inbox = all<InboxEvidence>(
  'test.inbox',
  `SELECT e.state, e.outcome, e.attempts, e.failures, e.operation_id, e.processed_at IS NOT NULL AS "isDone"
     FROM inbox_event e JOIN inbox i ON i.id = e.inbox_id ORDER BY i.received_at, i.id, e.ordinal`,
)

/** Every callback as it is kept, in the order of arrival, and the hash of one that was erased. */
export const callbacks = all<{ id: string; body: Buffer; hash: Buffer | null }>(
  'test.callbacks',
  'SELECT id, body, body_sha256 AS hash FROM inbox ORDER BY received_at, id',
)

/** The state of every delivery, oldest first. */
export const deliveryStates = all(
  'test.delivery_states',
  'SELECT state FROM delivery ORDER BY id',
  ({ state }: { state: string }) => state,
)

const HOLD = statement<[]>('test.hold', 'SELECT 1 FROM inbox_event ORDER BY inbox_id, ordinal LIMIT 1 FOR UPDATE')

/** Does something while another session holds the event that was stored first. */
export function whileFirstIsHeld(database: Database, work: () => Promise<void>): Promise<void> {
  return database.transaction(async (queries) => {
    await queries.rows(HOLD, [])
    await work()
  })
}

/** What came of every attempt to deliver a notification. */
export const attempts = all(
  'test.attempts',
  'SELECT outcome FROM delivery_attempt ORDER BY started_at, attempt',
  ({ outcome }: { outcome: string }) => outcome,
)

/** How many transactions are open and how many locks are held on this database, by anybody but the one who asks. */
export const openTransactions = only<{ transactions: bigint; locks: bigint }>(
  'test.open',
  `SELECT count(*) FILTER (WHERE xact_start IS NOT NULL) AS transactions,
          (SELECT count(*) FROM pg_locks JOIN pg_stat_activity a USING (pid)
            WHERE a.datname = current_database() AND pid <> pg_backend_pid()) AS locks
     FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`,
)

/** A row of the audit trail. */
interface AuditRow {
  readonly at: number
  readonly actor: string
  readonly actorName: string | null
  readonly action: string
  readonly subject: string
  readonly address: string
  readonly facts: Readonly<Record<string, unknown>>
}

/** The audit trail, oldest first. */
export const audit = all<AuditRow>(
  'test.audit',
  `SELECT at, actor, actor_name AS "actorName", action, subject, address, facts FROM audit ORDER BY at, id`,
)

/** The kill switch as it stands. */
export const payoutSwitch = only<{ isSuspended: boolean; version: bigint }>(
  'test.switch',
  `SELECT value ->> 'enabled' = 'false' AS "isSuspended", version FROM control WHERE name = 'cash_out_switch'`,
)

/** Whether payouts are suspended, every case, and every notified status. */
export async function stands({ database }: { readonly database: Database }) {
  const { isSuspended } = await payoutSwitch(database)
  return { isSuspended, cases: await cases(database), notified: await notifiedStatuses(database) }
}

const MARK = all<{ matchedUntil: number | null; readAt: number | null }>(
  'test.statement_mark',
  'SELECT matched_until AS "matchedUntil", read_at AS "readAt" FROM statement_mark',
)

/** How far the bank's statement is matched, and when a window of it was last read whole; epoch milliseconds. */
export async function statementMark(database: Database) {
  const [mark = { matchedUntil: null, readAt: null }] = await MARK(database)
  return mark
}

/** Every entry of the bank's statement that was kept: its kind, its id and what became of it. */
export const statementEntries = all(
  'test.statement_entries',
  'SELECT kind, id, outcome FROM statement_entry ORDER BY kind, id',
  ({ kind, id, outcome }: { kind: string; id: string; outcome: string | null }) => `${kind} ${id} ${outcome ?? 'OPEN'}`,
)

/** The end-to-end or return id of everything that moved at the bank by our books, in their order. */
export const bookedMovements = all(
  'test.settlements',
  `SELECT reference FROM entry WHERE account_id = (SELECT id FROM account WHERE code = 'settlement') ORDER BY reference`,
  ({ reference }: { reference: string }) => reference,
)

/** Counts what clients and operators wrote, in whatever state it is. */
export const written = only<Record<'operations' | 'keys' | 'endpoints' | 'audits', bigint>>(
  'test.written',
  `SELECT (SELECT count(*) FROM operation) AS operations, (SELECT count(*) FROM credential WHERE kind = $$api_key$$) AS keys,
          (SELECT count(*) FROM endpoint) AS endpoints, (SELECT count(*) FROM audit) AS audits`,
)

const MADE_BY = statement<[id: string], { operation: unknown; move: unknown }>(
  'test.made_by',
  `SELECT o.facts -> 'madeBy' AS operation, m.facts -> 'madeBy' AS move
     FROM operation o JOIN move m ON m.operation_id = o.id AND m.version = 1 WHERE o.id = $1`,
)

/** Who made an operation, as it says itself, and as the move says that made it. */
export async function madeBy(database: Database, id: string) {
  return (await database.rows(MADE_BY, [id]))[0]
}

/** What is kept as used, of every bucket of every allowance. */
export const usedBuckets = all<{ scope: string; span: string; bucket: number; used_cents: bigint }>(
  'test.allowances',
  'SELECT scope, span, bucket, used_cents FROM allowance',
)

/** The same, only how much, centavos. */
export async function allowancesUsed(database: Database): Promise<bigint[]> {
  return (await usedBuckets(database)).map(({ used_cents }) => used_cents)
}

/** The audit trail in the order in which its rows were committed. */
export const auditInOrder = all<{ action: string; actor: string; subject: string }>(
  'test.audit_in_order',
  'SELECT a.action, a.actor, a.subject FROM audit a JOIN audit_chain c ON c.audit_id = a.id ORDER BY c.seq',
)
