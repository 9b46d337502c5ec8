import { EventEmitter, once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '@pixgate/spec'
import { entryId } from '../ledger/index.ts'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import { workAsApplication } from '../platform/db/login.ts'
import { withSnapshot } from '../platform/db/snapshot.ts'
import { boundsOf, type DayBounds, localTime } from '../platform/sao-paulo.ts'
import type { Close } from './closes.ts'
import { type AccountOfPeriod, accountsOf } from './figures.ts'

/** Files for a finance department: a close as CSV, the ledger of a period as CSV, the merchant's statement of a day as OFX. */

/** Begins a CSV file: without it Excel does not read UTF-8. */
const BYTE_ORDER_MARK = '\ufeff'

/** A value of a cell. Only text can be taken for a formula. */
export type Cell = string | number | { readonly cents: bigint | number } | null

/** Text that a spreadsheet takes for a formula, full-width characters included. */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])/

const NEEDS_QUOTES = /[;"\r\n\t]/

/**
 * A line with its end, as spreadsheets in Brazil expect it. An apostrophe before a formula keeps it text; amounts are `-1234,56`.
 * @source rules#export.1, rules#export.2
 */
export function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(cellText).join(';')}\r\n`
}

function cellText(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  if (typeof cell === 'object') return decimalText(cell.cents, ',')
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Centavos as reais, with two digits after the mark. */
export function decimalText(cents: bigint | number, mark: ',' | '.'): string {
  const digits = String(cents).replace('-', '').padStart(3, '0')
  return `${cents < 0 ? '-' : ''}${digits.slice(0, -2)}${mark}${digits.slice(-2)}`
}

const CLOSE_COLUMNS = ['day', 'line', 'name', 'account', 'count', 'amount', 'text']

type CloseLine = { readonly [Column in 'name' | 'account' | 'count' | 'cents' | 'text']?: Cell }

/** A close, a line for each figure. @source rules#export.1 */
export function closeCsv({ day, content, hash }: Close): string {
  const line = (kind: string, { name = null, account = null, count = null, cents, text = null }: CloseLine) => {
    const amount = typeof cents === 'number' ? { cents } : null
    return csvLine([day, kind, name, account, count, amount, text])
  }
  const { accounts, journals, bank, timing, kept, explained } = content
  return [
    BYTE_ORDER_MARK + csvLine(CLOSE_COLUMNS),
    ...accounts.map(({ account, openingCents: cents }) => line('OPENING', { account, cents })),
    ...journals.flatMap(({ journal: name, count, accounts: sums }) =>
      sums.map((sum) => line('MOVEMENT', { name, count, ...sum })),
    ),
    ...accounts.map(({ account, closingCents: cents }) => line('CLOSING', { account, cents })),
    line('BOOKS', { cents: content.booksCents }),
    line('BANK', { cents: bank?.closingCents ?? null, text: bank === null ? 'unknown' : null }),
    line('DIFFERENCE', { cents: content.differenceCents }),
    line('TIMING', timing),
    line('KEPT', kept),
    line('EXPLAINED', { count: explained.count, cents: explained.cents }),
    ...explained.cases.map(({ kind: name, reference, cents, caseId }) =>
      line('CASE', { name, cents, text: caseId === null ? reference : `${reference} (${caseId})` }),
    ),
    line('UNEXPLAINED', { cents: content.unexplainedCents }),
    line('STATUS', { text: content.status }),
    line('HASH', { text: hash }),
  ].join('')
}

/** An entry with what identifies its operation. */
interface PeriodEntry {
  readonly version: string
  /** When we booked it, epoch milliseconds. */
  readonly at: number
  readonly journal: string
  /** The merchant's name for it; only entries of `available` have one. */
  readonly shown: string | null
  /** Centavos, as text: a snapshot has no parser for wide numbers. */
  readonly cents: string
  readonly balance: string
  readonly operationId: string
  readonly operationKind: string | null
  readonly externalId: string | null
  /** The end-to-end id or return id that it is booked by, else the operation's. */
  readonly movementId: string | null
}

/** By the primary key: later pages are not slower. */
const selectEntries = statement<
  [accountId: number, after: string, upTo: string, from: string, to: string, limit: number],
  PeriodEntry
>(
  'closes.export_entries',
  `SELECT e.version::text AS version, floor(extract(epoch FROM e.at) * 1000)::float8 AS at, e.journal,
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

/** Entries read at a time; twice as many are in memory. */
const PAGE = 2_000

/** Pages of an account's entries: one is read while the one before is sent. @source rules#export.3 */
async function* entriesOf(
  queries: Queries,
  { id, versions }: AccountOfPeriod,
  { from, to }: DayBounds,
): AsyncGenerator<readonly PeriodEntry[]> {
  const bounds = [instantParameter(from), instantParameter(to)] as const
  const pageAfter = (after: string) => {
    const page = queries.rows(selectEntries, [id, after, String(versions.upTo), ...bounds, PAGE])
    // A failure is thrown where the page is awaited.
    page.catch(() => undefined)
    return page
  }
  let page: Promise<PeriodEntry[]> | undefined = pageAfter(String(versions.after))
  while (page !== undefined) {
    const rows: readonly PeriodEntry[] = await page
    const last = rows.at(-1)
    page = rows.length < PAGE || last === undefined ? undefined : pageAfter(last.version)
    if (rows.length > 0) yield rows
  }
}

const LEDGER_COLUMNS = [
  ...['line', 'account', 'day', 'time', 'journal', 'debit', 'credit', 'balance'],
  ...['operation_kind', 'operation_id', 'external_id', 'movement_id', 'merchant_entry', 'entry_id'],
]

/**
 * The ledger of a period, account by account: the balance before, every entry in its order, the balance after.
 * @source rules#export.1, rules#export.3
 */
export async function* ledgerCsv(queries: Queries, period: DayBounds): AsyncGenerator<string> {
  // Read before the first byte: until then a failure is an answer of its own.
  const accounts = await accountsOf(queries, period)
  yield BYTE_ORDER_MARK + csvLine(LEDGER_COLUMNS)
  for (const account of accounts) {
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
  const cents = BigInt(entry.cents)
  const amounts: Cell[] = cents < 0n ? [{ cents: -cents }, null] : [null, { cents }]
  const { journal, operationKind, operationId, externalId, movementId, shown } = entry
  return csvLine([
    ...['ENTRY', account, day, time, journal],
    ...amounts,
    { cents: BigInt(entry.balance) },
    ...[operationKind, operationId, externalId, movementId, shown, entryId(publicId, BigInt(entry.version))],
  ])
}

/**
 * The merchant's account on the day of a close, as OFX 1.0.2. The balance is the one of the close.
 * @source rules#export.3, rules#export.4
 */
export async function* statementOfx(
  queries: Queries,
  { day, madeAt, content }: Pick<Close, 'day' | 'madeAt'> & { readonly content: Pick<Close['content'], 'accounts'> },
): AsyncGenerator<string> {
  const period = boundsOf(day)
  const account = (await accountsOf(queries, period)).find(({ account: code }) => code === 'available')
  const closing = content.accounts.find(({ account: code }) => code === 'available')
  if (account === undefined || closing === undefined) throw new Error('the available account is missing')
  yield ofxHead(account, period, madeAt)
  for await (const entries of entriesOf(queries, account, period)) {
    yield entries.map((entry) => ofxTransaction(account, entry)).join('')
  }
  yield [
    '</BANKTRANLIST>',
    '<LEDGERBAL>',
    element('BALAMT', decimalText(closing.closingCents, '.')),
    element('DTASOF', ofxTime(period.to - 1)),
    '</LEDGERBAL>',
    '</STMTRS></STMTTRNRS></BANKMSGSRSV1>',
    '</OFX>',
    '',
  ].join(CRLF)
}

const CRLF = '\r\n'

const STATUS = '<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>'

function ofxHead({ publicId }: AccountOfPeriod, { from, to }: DayBounds, madeAt: number): string {
  return [
    ...['OFXHEADER:100', 'DATA:OFXSGML', 'VERSION:102', 'SECURITY:NONE', 'ENCODING:USASCII', 'CHARSET:1252'],
    ...['COMPRESSION:NONE', 'OLDFILEUID:NONE', 'NEWFILEUID:NONE'],
    '',
    '<OFX>',
    '<SIGNONMSGSRSV1><SONRS>',
    STATUS,
    element('DTSERVER', ofxTime(madeAt)),
    element('LANGUAGE', 'POR'),
    '</SONRS></SIGNONMSGSRSV1>',
    '<BANKMSGSRSV1><STMTTRNRS>',
    element('TRNUID', '0'),
    STATUS,
    '<STMTRS>',
    element('CURDEF', 'BRL'),
    '<BANKACCTFROM>',
    element('BANKID', 'PIXGATE'),
    // The format has room for 22 characters.
    element('ACCTID', publicId.replaceAll('-', '').slice(0, 22)),
    element('ACCTTYPE', 'CHECKING'),
    '</BANKACCTFROM>',
    '<BANKTRANLIST>',
    element('DTSTART', ofxTime(from)),
    element('DTEND', ofxTime(to - 1)),
    '',
  ].join(CRLF)
}

/** A transaction: an entry of the available account, under its id in the ledger. */
function ofxTransaction({ publicId }: AccountOfPeriod, entry: PeriodEntry): string {
  const { shown, externalId, movementId } = entry
  const cents = BigInt(entry.cents)
  const type = cents > 0n ? 'CREDIT' : 'DEBIT'
  return [
    '<STMTTRN>',
    element('TRNTYPE', shown === 'FEE' ? 'FEE' : type),
    element('DTPOSTED', ofxTime(entry.at)),
    element('TRNAMT', decimalText(cents, '.')),
    element('FITID', entryId(publicId, BigInt(entry.version))),
    ...(movementId && movementId.length <= 32 ? [element('REFNUM', movementId)] : []),
    element('NAME', (shown ?? 'ENTRY').slice(0, 32)),
    ...(externalId ? [element('MEMO', externalId.slice(0, 255))] : []),
    '</STMTTRN>',
    '',
  ].join(CRLF)
}

/** The format allows ASCII only, and no markup in text. */
function element(name: string, text: string): string {
  const plain = text.replaceAll(/[^\u0020-\u007e]/gu, '?')
  return `<${name}>${plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</${name}>`
}

/** `20261122235959[-3:BRT]`: local time in São Paulo and its offset from UTC. */
function ofxTime(instantMs: number): string {
  const { day, time } = localTime(instantMs)
  const shown = Date.parse(`${day}T${time}Z`)
  const hours = Math.round((shown - Math.floor(instantMs / 1_000) * 1_000) / 3_600_000)
  return `${day.replaceAll('-', '')}${time.replaceAll(':', '')}[${hours}:BRT]`
}

/** Streams a snapshot of the database as it is read: in bounded memory, however large it is. */
export interface Exporter {
  /**
   * Begins an export.
   * @returns its bytes, once the first of them are there; it breaks off where the rest cannot be read
   * @throws overloaded (503) two are under way, and neither ends within five seconds · DatabaseUnavailable (503) nothing could be read
   * @source rules#export.3
   */
  stream(pieces: (queries: Queries) => AsyncIterable<string>): Promise<Readable>
  /** Breaks off all exports under way. */
  stop(): void
}

/** Each holds a connection of its own, and a snapshot. */
const AT_ONCE = 2

/** A snapshot that is held keeps the database from being cleaned, so a slow reader is cut off. */
const MAX_MS = 600_000

/** A third export waits this long for its turn. */
const WAIT_MS = 5_000

/** Makes it. */
export function createExporter(databaseUrl: string, waitMs: number = WAIT_MS): Exporter {
  const underWay = new Set<AbortController>()
  const ends = new EventEmitter()

  async function turn(): Promise<AbortController> {
    const waiting = AbortSignal.timeout(waitMs)
    while (underWay.size >= AT_ONCE) {
      await once(ends, 'end', { signal: waiting }).catch(() => {
        throw new Refusal('overloaded', { retryAfterSeconds: 10 })
      })
    }
    const ending = new AbortController()
    underWay.add(ending)
    return ending
  }

  return {
    stream: async (pieces) => {
      const ending = await turn()
      const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(MAX_MS)])
      const stream = new PassThrough()
      // Also where the client is gone.
      stream.on('close', () => ending.abort())
      // An error before the first byte is thrown below, a later one breaks the stream off: neither ends the process.
      stream.on('error', () => undefined)
      const done = withSnapshot({ url: databaseUrl, name: 'pixgate export', signal }, async (queries) => {
        await workAsApplication(queries)
        await pipeline(pieces(queries), stream, { signal })
      }).finally(() => {
        underWay.delete(ending)
        ends.emit('end')
      })
      done.catch((error: unknown) => stream.destroy(error as Error))
      const begun = once(stream, 'readable', { signal })
      begun.catch(() => undefined)
      await Promise.race([begun, done])
      return stream
    },
    stop: () => {
      for (const ending of underWay) ending.abort()
    },
  }
}
