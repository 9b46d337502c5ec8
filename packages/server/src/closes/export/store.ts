import type { AccountCode } from '@pixgate/spec'
import { instantParameter, type Queries, statement } from '../../platform/db/database.ts'
import type { DayBounds } from '../../platform/sao-paulo.ts'

/** The ledger of a period, a page at a time, in one snapshot: wide numbers come as text. */

/** An account over a period. */
export interface AccountOfPeriod {
  readonly id: number
  readonly account: AccountCode
  readonly publicId: string
  readonly openingCents: bigint
  readonly closingCents: bigint
  /** Its entries of the period have versions above the one and up to the other. */
  readonly versions: { readonly after: bigint; readonly upTo: bigint }
}

/** An entry, with what its operation is known by. */
export interface PeriodEntry {
  readonly version: bigint
  /** Epoch milliseconds: when we booked it. */
  readonly at: number
  readonly journal: string
  /** The merchant's name for it; only entries of `available` have one. */
  readonly shown: string | null
  readonly amountCents: bigint
  readonly balanceAfterCents: bigint
  readonly operationId: string
  readonly operationKind: string | null
  readonly externalId: string | null
  /** The end-to-end id or return id that it is booked by, else the operation's. */
  readonly movementId: string | null
}

const selectAccounts = statement<
  [from: string, to: string],
  {
    id: number
    account: AccountCode
    publicId: string
    opening: string
    closing: string
    after: string
    upTo: string
  }
>(
  'closes.export_accounts',
  `SELECT a.id, a.code AS account, a.public_id::text AS "publicId",
          (a.balance_cents - coalesce(s.since, 0) - coalesce(s.during, 0))::text AS opening,
          (a.balance_cents - coalesce(s.since, 0))::text AS closing,
          (coalesce(s.first, 1) - 1)::text AS after, coalesce(s.last, 0)::text AS "upTo"
     FROM account a
     LEFT JOIN (SELECT account_id, sum(amount_cents) FILTER (WHERE at >= $2) AS since,
                       sum(amount_cents) FILTER (WHERE at < $2) AS during,
                       min(version) FILTER (WHERE at < $2) AS first, max(version) FILTER (WHERE at < $2) AS last
                  FROM entry WHERE at >= $1 GROUP BY account_id) s ON s.account_id = a.id
    ORDER BY a.id`,
)

interface EntryRow {
  readonly version: string
  readonly atMs: string
  readonly journal: string
  readonly shown: string | null
  readonly cents: string
  readonly balance: string
  readonly operationId: string
  readonly operationKind: string | null
  readonly externalId: string | null
  readonly movementId: string | null
}

/** By the primary key: how many there are makes no page slower. */
const selectEntries = statement<
  [accountId: number, after: string, upTo: string, from: string, to: string, limit: number],
  EntryRow
>(
  'closes.export_entries',
  `SELECT e.version::text AS version, ((extract(epoch FROM e.at) * 1000)::bigint)::text AS "atMs", e.journal,
          -- The function is not inlined, and costs more than the rest of a row.
          CASE WHEN o.kind = 'refund_in' THEN entry_shown(o.kind, e.shown) ELSE e.shown END AS shown,
          e.amount_cents::text AS cents, e.balance_after_cents::text AS balance, e.operation_id::text AS "operationId",
          o.kind AS "operationKind", o.external_id AS "externalId",
          coalesce(nullif(e.reference, ''), o.end_to_end_id) AS "movementId"
     FROM (SELECT * FROM entry
            WHERE account_id = $1 AND version > $2 AND version <= $3 AND at >= $4 AND at < $5
            ORDER BY version LIMIT $6) e
     LEFT JOIN operation o ON o.id = e.operation_id
    ORDER BY e.version`,
)

/** The accounts in their order. */
export async function accountsOf(queries: Queries, { from, to }: DayBounds): Promise<AccountOfPeriod[]> {
  const rows = await queries.rows(selectAccounts, [instantParameter(from), instantParameter(to)])
  return rows.map(({ id, account, publicId, opening, closing, after, upTo }) => ({
    id,
    account,
    publicId,
    openingCents: BigInt(opening),
    closingCents: BigInt(closing),
    versions: { after: BigInt(after), upTo: BigInt(upTo) },
  }))
}

/** So many entries are read at a time; twice as many are in memory. */
const PAGE = 2_000

/** The entries of an account, in their order, page by page: one is read while the one before is sent. @source rules#export.3 */
export async function* entriesOf(
  queries: Queries,
  { id, versions }: AccountOfPeriod,
  { from, to }: DayBounds,
): AsyncGenerator<readonly PeriodEntry[]> {
  const bounds = [instantParameter(from), instantParameter(to)] as const
  const pageAfter = (after: bigint) => {
    const page = queries.rows(selectEntries, [id, String(after), String(versions.upTo), ...bounds, PAGE])
    // Whoever waits for it is told.
    page.catch(() => undefined)
    return page
  }
  for (let page: ReturnType<typeof pageAfter> | undefined = pageAfter(versions.after); page; ) {
    const rows: readonly EntryRow[] = await page
    const last = rows.at(-1)
    page = rows.length < PAGE || last === undefined ? undefined : pageAfter(BigInt(last.version))
    if (rows.length > 0) yield rows.map(entryOf)
  }
}

function entryOf({ version, atMs, cents, balance, ...row }: EntryRow): PeriodEntry {
  return {
    ...row,
    version: BigInt(version),
    at: Number(atMs),
    amountCents: BigInt(cents),
    balanceAfterCents: BigInt(balance),
  }
}
