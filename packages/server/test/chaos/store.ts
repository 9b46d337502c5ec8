import pg from 'pg'
import { type Verification, verify } from '../../src/ledger/verify/verifier.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'
import { withSnapshot } from '../../src/platform/db/snapshot.ts'

/** What the judge reads of our books. */
export interface Books {
  readonly operations: readonly OperationRow[]
  readonly movements: readonly MovementRow[]
  readonly cases: readonly CaseRow[]
  readonly balances: Readonly<Record<string, number>>
  readonly notifications: readonly NotificationRow[]
  readonly isSwitchedOn: boolean
  readonly trips: readonly TripRow[]
  readonly verification: Verification
}

/** A suspension by the trip wire, and the cases that it names: kind, then reference. */
export interface TripRow {
  readonly cases: readonly string[]
}

/** An operation. */
export interface OperationRow {
  readonly id: string
  readonly kind: string
  readonly external_id: string
  readonly status: string
  readonly value_cents: bigint
  readonly detail: { readonly reason?: string | null; readonly cashInId?: string; readonly origin?: string }
  readonly held_cents: bigint
}

/** What an operation's journal says that the bank's account did: positive came in. */
export interface MovementRow {
  readonly operation_id: string
  readonly journal: string
  readonly reference: string
  readonly cents: bigint
}

/** A case, with all that it names. */
export interface CaseRow {
  readonly operation_id: string | null
  readonly kind: string
  readonly isOpen: boolean
  readonly text: string
}

/** A notification and its deliveries. */
export interface NotificationRow {
  readonly id: string
  readonly operation_id: string
  readonly body: Buffer
  readonly undelivered: bigint
}

const selectOperations = statement<[], OperationRow>(
  'chaos.operations',
  `SELECT o.id, kind, external_id, status, value_cents, detail,
          (SELECT coalesce(sum(amount_cents), 0)::bigint FROM entry e JOIN account a ON a.id = e.account_id
            WHERE e.operation_id = o.id AND a.code = 'reserved') AS held_cents
     FROM operation o ORDER BY o.id`,
)

const selectMovements = statement<[], MovementRow>(
  'chaos.movements',
  `SELECT operation_id, journal, reference, (-sum(amount_cents))::bigint AS cents
     FROM entry JOIN account a ON a.id = account_id
    WHERE a.code = 'settlement' GROUP BY operation_id, journal, reference`,
)

const selectCases = statement<[], CaseRow>(
  'chaos.cases',
  `SELECT c.operation_id, c.kind, c.closed_at IS NULL AS "isOpen",
          concat_ws(' ', c.reference, c.facts::text, convert_from(i.body, 'UTF8')) AS text
     FROM "case" c LEFT JOIN inbox i ON i.id::text = c.reference ORDER BY c.opened_at`,
)

const selectBalances = statement<[], { code: string; balance_cents: bigint }>(
  'chaos.balances',
  'SELECT code, balance_cents FROM account ORDER BY id',
)

const selectNotifications = statement<[], NotificationRow>(
  'chaos.notifications',
  `SELECT n.id, n.operation_id, n.body, count(*) FILTER (WHERE d.state IS DISTINCT FROM 'DELIVERED') AS undelivered
     FROM notification n LEFT JOIN delivery d ON d.notification_id = n.id GROUP BY n.id`,
)

const selectSwitch = statement<[], { value: { enabled?: boolean } }>(
  'chaos.switch',
  `SELECT value FROM control WHERE name = 'cash_out_switch'`,
)

const selectTrips = statement<[], TripRow>(
  'chaos.trips',
  `SELECT facts -> 'cases' AS cases FROM audit WHERE actor = 'trip-wire' ORDER BY at, id`,
)

const beginSnapshot = statement<[]>('chaos.begin', 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY')

/** Reads all of it, once nobody writes any more. */
export async function readBooks(database: Database, url: string): Promise<Books> {
  const verification = await withSnapshot({ url, name: 'chaos' }, verify)
  return database.transaction(async (queries) => {
    await queries.rows(beginSnapshot, [])
    const balances = await queries.rows(selectBalances, [])
    const [control] = await queries.rows(selectSwitch, [])
    return {
      operations: await queries.rows(selectOperations, []),
      movements: await queries.rows(selectMovements, []),
      cases: await queries.rows(selectCases, []),
      balances: Object.fromEntries(balances.map(({ code, balance_cents }) => [code, Number(balance_cents)])),
      notifications: await queries.rows(selectNotifications, []),
      isSwitchedOn: control?.value.enabled ?? true,
      trips: await queries.rows(selectTrips, []),
      verification,
    }
  })
}

/** What is still to be done. */
export interface Waiting {
  /** Payouts and refunds under way that no person has been called for. */
  readonly orders: bigint
  readonly charges: bigint
  readonly events: bigint
  readonly deliveries: bigint
  /** When something is due next, by the database's time, milliseconds from now; `null` where nothing is. */
  readonly nextMs: number | null
}

const selectWaiting = statement<[], Waiting>(
  'chaos.waiting',
  `SELECT (SELECT count(*) FROM operation o WHERE kind IN ('cash_out', 'refund_in') AND due_at IS NOT NULL
              AND NOT EXISTS (SELECT FROM "case" c WHERE c.operation_id = o.id AND c.closed_at IS NULL)) AS orders,
          (SELECT count(*) FROM operation o WHERE kind = 'cash_in' AND due_at IS NOT NULL
              AND NOT EXISTS (SELECT FROM "case" c WHERE c.operation_id = o.id AND c.closed_at IS NULL)) AS charges,
          (SELECT count(*) FROM inbox_event WHERE due_at IS NOT NULL) AS events,
          (SELECT count(*) FROM delivery WHERE state = 'PENDING')
            + (SELECT count(*) FROM notification WHERE fanned_out_at IS NULL) AS deliveries,
          (SELECT extract(epoch FROM min(at) - clock_timestamp())::float8 * 1000
             FROM (SELECT due_at AS at FROM operation UNION ALL SELECT due_at FROM inbox_event
                   UNION ALL SELECT due_at FROM delivery WHERE state = 'PENDING') due) AS "nextMs"`,
)

/** See {@link Waiting}. */
export async function readWaiting(database: Database): Promise<Waiting> {
  const [waiting] = await database.rows(selectWaiting, [])
  if (!waiting) throw new Error('a count has a row')
  return waiting
}

const SESSIONS = `
  SELECT pid FROM pg_stat_activity
   WHERE datname = current_database() AND application_name LIKE 'pixgate %' AND application_name <> 'pixgate test'
   ORDER BY pid`

/** The processes in which the database works for the service; none where it does not answer in time. */
export async function sessionsAt(url: string): Promise<readonly number[]> {
  return (await ownerRows<{ pid: number }>(url, SESSIONS, [])).map(({ pid }) => pid)
}

/** Ends one of them. */
export async function terminate(url: string, pid: number): Promise<void> {
  await ownerRows(url, 'SELECT pg_terminate_backend($1)', [pid])
}

async function ownerRows<Row extends object>(url: string, sql: string, values: readonly unknown[]): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<Row>(sql, [...values])).rows
  } catch {
    return []
  } finally {
    await client.end().catch(() => undefined)
  }
}
