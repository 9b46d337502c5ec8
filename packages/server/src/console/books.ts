import {
  type AccountCode,
  type EndpointInput,
  type EntryOperation,
  type endpoints,
  type getReconciliation,
  limits,
  type listEntries,
} from '@pixgate/spec'
import type { Static } from 'typebox'
import { accountId } from '../engine/rows.ts'
import { cursorAfter, cursorVersion, journalMeaning } from '../ledger/index.ts'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { instantText } from '../platform/http/page.ts'
import { invalidField } from '../platform/http/request.ts'
import { boundsOf, isDay } from '../platform/sao-paulo.ts'
import { type ListNeeds, readSummaries } from './operations.ts'

/** The accounts of the ledger entry by entry, and the bank's statement beside the books. */

type Entry = Static<(typeof listEntries)['responses'][200]['schema']>['data'][number]
type Reconciliation = Static<(typeof getReconciliation)['responses'][200]['schema']>

export interface BooksNeeds extends ListNeeds {
  /** Optional capabilities of the bank. */
  readonly capabilities: ReadonlySet<string>
}

/** @source rules#console.18, rules#console.19 */
export function createBooksHandlers(
  needs: BooksNeeds,
): Pick<Handlers<typeof endpoints>, 'listEntries' | 'getReconciliation'> {
  return {
    listEntries: async ({ query }) => {
      const limit = query.limit ?? limits.pageLimitDefault
      const rows = await entriesOf(needs.database, query, limit + 1)
      const page = rows.slice(0, limit)
      const last = rows.length > limit ? page.at(-1) : undefined
      const pagination = { limit, hasMore: last !== undefined, nextCursor: last ? cursorAfter(last.version) : null }
      return { status: 200, body: { data: await entryViews(needs, page), pagination } }
    },
    getReconciliation: async () => ({ status: 200, body: await reconciliationOf(needs) }),
  }
}

interface EntryRow {
  readonly version: bigint
  readonly at: number
  readonly amountCents: bigint
  readonly balanceAfterCents: bigint
  readonly operationId: string
  readonly shown: EntryOperation | null
  readonly journal: string
  readonly reference: string
}

type PageParameters = [account: number, after: string, upTo: string, from: string, to: string, limit: number]

const pageFrom = (source: string) =>
  `SELECT version, at, amount_cents AS "amountCents", balance_after_cents AS "balanceAfterCents", operation_id AS "operationId",
          shown, journal, reference
     FROM ${source}
    WHERE account_id = $1 AND version > $2 AND version <= $3 AND at >= $4 AND at < $5
    ORDER BY version DESC LIMIT $6`

const selectPage = statement<PageParameters, EntryRow>('console.entries', pageFrom('entry'))

const selectPageOfOperation = statement<[...PageParameters, operationId: string], EntryRow>(
  'console.entries_of_operation',
  `WITH one AS MATERIALIZED (SELECT * FROM entry WHERE operation_id = $7) ${pageFrom('one')}`,
)

/** An entry has the time at which its batch began: versions and times agree but for a batch. */
const BATCH_MS = 60_000

const [ALWAYS_FROM, ALWAYS_TO] = ['-infinity', 'infinity']

async function entriesOf(
  queries: Queries,
  query: EndpointInput<typeof endpoints.listEntries>['query'],
  limit: number,
): Promise<EntryRow[]> {
  const { account = 'available', operation_id: operationId, cursor } = query
  const before = cursor === undefined ? null : cursorVersion(cursor)
  if (before === undefined) throw invalidField('cursor', 'invalid', 'cursor must be nextCursor of a page before')
  const { from, to } = daysOf(query)
  const id = accountId(account)
  const end = await endOf(queries, id)
  const after = from === undefined ? 0n : await versionBefore(queries, id, end, from - BATCH_MS)
  const last = to === undefined ? end : await versionBefore(queries, id, end, to + BATCH_MS)
  const upTo = before !== null && before - 1n < last ? before - 1n : last
  const instants = [
    from === undefined ? ALWAYS_FROM : instantParameter(from),
    to === undefined ? ALWAYS_TO : instantParameter(to),
  ] as [string, string]
  const page = [id, String(after), String(upTo), ...instants, limit] as const
  return operationId === undefined
    ? queries.rows(selectPage, [...page])
    : queries.rows(selectPageOfOperation, [...page, operationId])
}

/** @throws validation_error (400) not days, or in the wrong order */
function daysOf({ from, to }: { readonly from?: string | undefined; readonly to?: string | undefined }) {
  for (const [field, text] of Object.entries({ from, to })) {
    if (text !== undefined && !isDay(text)) {
      throw invalidField(field, 'invalid', `${field} must be a day as 2026-11-22`)
    }
  }
  if (from !== undefined && to !== undefined && to < from) {
    throw invalidField('to', 'invalid', 'to must not be before from')
  }
  return {
    from: from === undefined ? undefined : boundsOf(from).from,
    to: to === undefined ? undefined : boundsOf(to).to,
  }
}

interface SideRow extends Pick<EntryRow, 'operationId' | 'journal' | 'reference'> {
  readonly account: AccountCode
  readonly amountCents: bigint
  readonly balanceAfterCents: bigint
}

/** By `entry_journal_key`: an operation has few entries. */
const selectSides = statement<[operationIds: readonly string[]], SideRow>(
  'console.journal_sides',
  `SELECT e.operation_id AS "operationId", e.journal, e.reference, a.code AS account, e.amount_cents AS "amountCents",
          e.balance_after_cents AS "balanceAfterCents"
     FROM entry e JOIN account a ON a.id = e.account_id
    WHERE e.operation_id = ANY ($1::uuid[]) ORDER BY e.account_id, e.version`,
)

const journalKey = ({ operationId, journal, reference }: Pick<EntryRow, 'operationId' | 'journal' | 'reference'>) =>
  `${operationId} ${journal} ${reference}`

/** Payouts and refunds share journals. @see entry_shown in schema/02-money.sql */
function shownOf(shown: EntryOperation | null, kind: string | undefined): EntryOperation | null {
  if (kind === 'refund_in' && shown === 'CASH_OUT_RESERVE') return 'REFUND_IN_RESERVE'
  return kind === 'refund_in' && shown === 'CASH_OUT_RELEASE' ? 'REFUND_IN_RELEASE' : shown
}

/** Entries with both sides of their journals, and their operations. */
async function entryViews(needs: ListNeeds, rows: readonly EntryRow[]): Promise<Entry[]> {
  if (rows.length === 0) return []
  const ids = [...new Set(rows.map(({ operationId }) => operationId))]
  const sides = Map.groupBy(await needs.database.rows(selectSides, [ids]), journalKey)
  const operations = new Map((await readSummaries(needs, ids)).map((summary) => [summary.id, summary]))
  return rows.map((row) => {
    const { version, at, amountCents, balanceAfterCents, operationId, shown, journal, reference } = row
    const operation = operations.get(operationId)
    return {
      version: Number(version),
      at: new Date(at).toISOString(),
      amountCents: Number(amountCents),
      balanceAfterCents: Number(balanceAfterCents),
      ...{ shown: shownOf(shown, operation?.kind), journal, meaning: journalMeaning(journal), reference, operationId },
      operation: operation ? { kind: operation.kind, externalId: operation.externalId, name: operation.name } : null,
      entries: (sides.get(journalKey(row)) ?? []).map((side) => ({
        account: side.account,
        amountCents: Number(side.amountCents),
        balanceAfterCents: Number(side.balanceAfterCents),
      })),
    }
  })
}

const selectEnd = statement<[account: number], { readonly version: bigint }>(
  'console.account_end',
  'SELECT version FROM account WHERE id = $1',
)

const selectVersionBefore = statement<[account: number, end: string, time: string], { readonly version: bigint }>(
  'console.version_before',
  `WITH RECURSIVE half (low, high) AS (
     SELECT 0::bigint, $2::bigint
     UNION ALL
     SELECT CASE WHEN is_before THEN middle ELSE low END, CASE WHEN is_before THEN high ELSE middle - 1 END
       FROM (SELECT low, high, middle,
                    coalesce((SELECT at < $3 FROM entry WHERE account_id = $1 AND version = middle), false) AS is_before
               FROM (SELECT low, high, (low + high + 1) / 2 AS middle FROM half WHERE low < high) h) looked)
   SELECT low AS version FROM half WHERE low = high`,
)

/** Number of the entries of an account. Their versions have no gap. */
export async function endOf(queries: Queries, account: number): Promise<bigint> {
  return (await queries.rows(selectEnd, [account]))[0]?.version ?? 0n
}

/** The last version of an account before a time, by halves: times grow with versions. */
export async function versionBefore(queries: Queries, account: number, end: bigint, timeMs: number): Promise<bigint> {
  const [row] = await queries.rows(selectVersionBefore, [account, String(end), instantParameter(timeMs)])
  return row?.version ?? 0n
}

/** Kinds of case about a difference between statement and books. */
const DIFFERENCES = [
  'unexplained_credit',
  'unexplained_debit',
  'line_missing',
  'line_differs',
  'statement_unreadable',
  'close_differs',
] as const

/** Counts end here; the oldest is exact. */
const COUNTED_MAX = 10_000

const LISTED_MAX = 100

/** Days among which the last known balance of the bank is looked for. */
const BALANCE_DAYS = 31

interface Tally {
  readonly count: number
  readonly oldestAt: string | null
}

interface ReconciliationRow {
  readonly readAt: number | null
  readonly readFrom: number | null
  readonly matchedUntil: number | null
  readonly dueAt: number | null
  readonly isReading: boolean
  readonly unbooked: Tally
  readonly missing: Tally
  readonly booksCents: bigint
  readonly lastBalance: Reconciliation['lastBalance']
  readonly differenceCount: bigint
}

const tally = (at: string, rows: string) =>
  `(SELECT json_build_object('count', count(*), 'oldestAt', min(${at})) FROM (SELECT ${at} FROM ${rows} ORDER BY ${at} LIMIT ${COUNTED_MAX}) t)`

const OPEN_DIFFERENCES = `"case" WHERE closed_at IS NULL AND kind IN (${DIFFERENCES.map((kind) => `'${kind}'`).join(', ')})`

const selectReconciliation = statement<[now: string], ReconciliationRow>(
  'console.reconciliation',
  `SELECT m.read_at AS "readAt", m.read_from AS "readFrom", m.matched_until AS "matchedUntil",
          nullif(m.due_at, '-infinity') AS "dueAt", coalesce(m.lease_until > $1, false) AS "isReading",
          ${tally('seen_at', 'statement_entry WHERE settled_at IS NULL')} AS unbooked,
          ${tally('missed_at', 'statement_gap WHERE filled_at IS NULL')} AS missing,
          (SELECT -balance_cents FROM account WHERE code = 'settlement') AS "booksCents",
          (SELECT json_build_object('day', content ->> 'id', 'bankCents', content #> '{bank,closingCents}',
                    'booksCents', content -> 'booksCents', 'differenceCents', content -> 'differenceCents',
                    'unexplainedCents', content -> 'unexplainedCents')
             FROM (SELECT day, content::jsonb AS content FROM daily_close ORDER BY day DESC LIMIT ${BALANCE_DAYS}) d
            WHERE content -> 'bank' <> 'null' ORDER BY day DESC LIMIT 1) AS "lastBalance",
          (SELECT count(*) FROM (SELECT FROM ${OPEN_DIFFERENCES} LIMIT ${COUNTED_MAX}) c) AS "differenceCount"
     FROM statement_mark m`,
)

interface DifferenceRow {
  readonly id: string
  readonly kind: (typeof DIFFERENCES)[number]
  readonly reference: string
  readonly amountCents: bigint | null
  readonly openedAt: number
}

const selectDifferences = statement<[], DifferenceRow>(
  'console.differences',
  `SELECT id, kind, reference, amount_cents AS "amountCents", opened_at AS "openedAt"
     FROM ${OPEN_DIFFERENCES} ORDER BY opened_at, id LIMIT ${LISTED_MAX}`,
)

/** @source rules#console.19 */
async function reconciliationOf({ database, clock, capabilities }: BooksNeeds): Promise<Reconciliation> {
  const [row] = await database.rows(selectReconciliation, [instantParameter(clock.now())])
  if (!row) throw new Error('the mark of the statement is missing')
  const differences = await database.rows(selectDifferences, [])
  const { unbooked, missing } = row
  return {
    hasStatement: capabilities.has('statement'),
    readAt: instantText(row.readAt),
    readFrom: instantText(row.readFrom),
    readUntil: instantText(row.matchedUntil),
    nextAt: instantText(row.dueAt),
    isReading: row.isReading,
    unbooked: tallyView(unbooked),
    missing: tallyView(missing),
    booksCents: Number(row.booksCents),
    lastBalance: row.lastBalance,
    differences: {
      count: Number(row.differenceCount),
      cases: differences.map(({ amountCents, openedAt, ...one }) => ({
        ...one,
        amountCents: amountCents === null ? null : Number(amountCents),
        openedAt: new Date(openedAt).toISOString(),
      })),
    },
  }
}

function tallyView({ count, oldestAt }: Tally) {
  return { count, oldestAt: oldestAt === null ? null : new Date(oldestAt).toISOString() }
}
