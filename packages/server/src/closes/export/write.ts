import { entryId } from '../../ledger/index.ts'
import type { Queries } from '../../platform/db/database.ts'
import { type DayBounds, localTime } from '../../platform/sao-paulo.ts'
import type { CloseContent } from '../content.ts'
import type { Close } from '../store.ts'
import { BYTE_ORDER_MARK, type Cell, csvLine } from './csv.ts'
import { ofxEnd, ofxHead, ofxTransaction } from './ofx.ts'
import { type AccountOfPeriod, accountsOf, entriesOf, type PeriodEntry } from './store.ts'

/** What is exported, piece by piece. */

/** The columns of the ledger. */
const LEDGER_COLUMNS = [
  ...['line', 'account', 'day', 'time', 'journal', 'debit', 'credit', 'balance'],
  ...['operation_kind', 'operation_id', 'external_id', 'movement_id', 'merchant_entry', 'entry_id'],
]

/**
 * The ledger of a period, account by account: the balance before, every entry in its order, the balance after.
 * @source rules#export.1, rules#export.3
 */
export async function* ledgerCsv(queries: Queries, period: DayBounds): AsyncGenerator<string> {
  yield BYTE_ORDER_MARK + csvLine(LEDGER_COLUMNS)
  for (const account of await accountsOf(queries, period)) {
    yield balanceLine('OPENING', account, period.from, account.openingCents)
    for await (const entries of entriesOf(queries, account, period)) {
      yield entries.map((entry) => entryLine(account, entry)).join('')
    }
    yield balanceLine('CLOSING', account, period.to - 1, account.closingCents)
  }
}

function balanceLine(line: string, { account }: AccountOfPeriod, atMs: number, cents: bigint): string {
  const { day, time } = localTime(atMs)
  return csvLine([line, account, day, time, null, null, null, { cents }, ...Array<Cell>(6).fill(null)])
}

function entryLine({ account, publicId }: AccountOfPeriod, entry: PeriodEntry): string {
  const { day, time } = localTime(entry.at)
  const { amountCents: cents, balanceAfterCents, version } = entry
  const amounts: Cell[] = cents < 0n ? [{ cents: -cents }, null] : [null, { cents }]
  const { journal, operationKind, operationId, externalId, movementId, shown } = entry
  return csvLine([
    ...['ENTRY', account, day, time, journal],
    ...amounts,
    { cents: balanceAfterCents },
    ...[operationKind, operationId, externalId, movementId, shown, entryId(publicId, version)],
  ])
}

/** A period of the merchant's account. @param madeAt epoch milliseconds @source rules#export.3, rules#export.4 */
export async function* statementOfx(queries: Queries, period: DayBounds, madeAt: number): AsyncGenerator<string> {
  const account = (await accountsOf(queries, period)).find(({ account: code }) => code === 'available')
  if (account === undefined) throw new Error('the available account is missing')
  yield ofxHead(account, period, madeAt)
  for await (const entries of entriesOf(queries, account, period)) {
    yield entries.map((entry) => ofxTransaction(account, entry)).join('')
  }
  yield ofxEnd(account, period)
}

const CLOSE_COLUMNS = ['day', 'version', 'line', 'name', 'account', 'count', 'amount', 'text']

/** A close, a line for each figure. @source rules#export.1 */
export function closeCsv(
  { day, version, hash }: Pick<Close, 'day' | 'version' | 'hash'>,
  content: CloseContent,
): string {
  const line = (
    name: string,
    cells: { readonly [Column in 'name' | 'account' | 'count' | 'cents' | 'text']?: Cell },
  ) => {
    const { name: what = null, account = null, count = null, cents, text = null } = cells
    const amount = typeof cents === 'number' ? { cents: BigInt(cents) } : null
    return csvLine([day, version, name, what, account, count, amount, text])
  }
  const { accounts, journals, bank, timing, kept, explained } = content
  return [
    BYTE_ORDER_MARK + csvLine(CLOSE_COLUMNS),
    ...accounts.map(({ account, openingCents }) => line('OPENING', { account, cents: openingCents })),
    ...journals.flatMap(({ journal, count, accounts: sums }) =>
      sums.map(({ account, cents }) => line('MOVEMENT', { name: journal, account, count, cents })),
    ),
    ...accounts.map(({ account, closingCents }) => line('CLOSING', { account, cents: closingCents })),
    line('BOOKS', { cents: content.booksCents }),
    line('BANK', { cents: bank?.closingCents ?? null, text: bank === null ? 'unknown' : null }),
    line('DIFFERENCE', { cents: content.differenceCents }),
    line('TIMING', { count: timing.count, cents: timing.cents }),
    line('KEPT', { count: kept.count, cents: kept.cents }),
    line('EXPLAINED', { count: explained.count, cents: explained.cents }),
    ...explained.cases.map(({ kind, reference, cents, caseId }) =>
      line('CASE', { name: kind, cents, text: `${reference}${caseId === null ? '' : ` (${caseId})`}` }),
    ),
    line('UNEXPLAINED', { cents: content.unexplainedCents }),
    line('STATUS', { text: content.status }),
    line('HASH', { text: hash.toString('hex') }),
  ].join('')
}
