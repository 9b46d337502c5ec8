import { EventEmitter, once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { type AccountCode, Refusal } from '@pixgate/spec'
import { entryId } from '../ledger/index.ts'
import { instantParameter, type Queries, statement } from '../platform/db/database.ts'
import { workAsApplication } from '../platform/db/login.ts'
import { withSnapshot } from '../platform/db/snapshot.ts'
import { type DayBounds, localTime } from '../platform/sao-paulo.ts'
import type { CloseContent } from './content.ts'
import type { Close } from './store.ts'

/** CSV as spreadsheets of Brazil take it: `;`, a comma before the centavos, CRLF, and UTF-8 that says so. Pure. */

/** Begins a file: by it Excel knows that UTF-8 follows. */
const BYTE_ORDER_MARK = '\ufeff'

/** A value of a cell. What is a number is no text: nothing has to be kept from being reckoned. */
export type Cell = string | number | { readonly cents: bigint } | null

/** What a spreadsheet would take for a formula, in wide letters too, or for what leads to one. */
const FORMULA = /^(?:[\t\r\n]|\s*[=+\-@\uff1d\uff0b\uff0d\uff20])/

const NEEDS_QUOTES = /[;"\r\n\t]/

/**
 * A line with its end. Text that begins as a formula does gets an apostrophe before it, by which a spreadsheet shows it as it
 * is; amounts are `-1234,56`.
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

/** Centavos as reais, with the two digits after the mark. */
export function decimalText(cents: bigint, mark: ',' | '.'): string {
  const digits = String(cents < 0n ? -cents : cents).padStart(3, '0')
  return `${cents < 0n ? '-' : ''}${digits.slice(0, -2)}${mark}${digits.slice(-2)}`
}

/** A statement of the merchant's account as OFX 1.0.2, which programs of Brazil read. Pure. */

/** The period of a statement, epoch milliseconds; `to` is not in it. */
interface Period {
  readonly from: number
  readonly to: number
}

/** What stands before the first transaction. @param madeAt epoch milliseconds @source rules#export.4 */
function ofxHead({ publicId }: AccountOfPeriod, { from, to }: Period, madeAt: number): string {
  return [
    ...HEADERS,
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
  ].join(END)
}

/** One transaction: an entry of the available account, under its id of the ledger. @source rules#export.4 */
function ofxTransaction({ publicId }: AccountOfPeriod, entry: PeriodEntry): string {
  const { amountCents, shown, at, version, externalId, movementId } = entry
  const type = amountCents > 0n ? 'CREDIT' : 'DEBIT'
  return [
    '<STMTTRN>',
    element('TRNTYPE', shown === 'FEE' ? 'FEE' : type),
    element('DTPOSTED', ofxTime(at)),
    element('TRNAMT', decimalText(amountCents, '.')),
    element('FITID', entryId(publicId, version)),
    ...(movementId && movementId.length <= 32 ? [element('REFNUM', movementId)] : []),
    element('NAME', (shown ?? 'ENTRY').slice(0, 32)),
    ...(externalId ? [element('MEMO', externalId.slice(0, 255))] : []),
    '</STMTTRN>',
    '',
  ].join(END)
}

/** What stands behind the last one: the balance. @source rules#export.4 */
function ofxEnd({ closingCents }: AccountOfPeriod, { to }: Period): string {
  return [
    '</BANKTRANLIST>',
    '<LEDGERBAL>',
    element('BALAMT', decimalText(closingCents, '.')),
    element('DTASOF', ofxTime(to - 1)),
    '</LEDGERBAL>',
    '</STMTRS></STMTTRNRS></BANKMSGSRSV1>',
    '</OFX>',
    '',
  ].join(END)
}

const END = '\r\n'

const HEADERS = [
  'OFXHEADER:100',
  'DATA:OFXSGML',
  'VERSION:102',
  'SECURITY:NONE',
  'ENCODING:USASCII',
  'CHARSET:1252',
  'COMPRESSION:NONE',
  'OLDFILEUID:NONE',
  'NEWFILEUID:NONE',
]

const STATUS = '<STATUS><CODE>0</CODE><SEVERITY>INFO</SEVERITY></STATUS>'

/** Letters of other alphabets have no place in it, and markup none as text. */
function element(name: string, text: string): string {
  const plain = text.replaceAll(/[^\u0020-\u007e]/gu, '?')
  return `<${name}>${plain.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</${name}>`
}

/** `20261122235959[-3:BRT]`: what clocks in São Paulo show, and how far they are from UTC. */
function ofxTime(instantMs: number): string {
  const { day, time } = localTime(instantMs)
  const shown = Date.parse(`${day}T${time}Z`)
  const hours = Math.round((shown - Math.floor(instantMs / 1_000) * 1_000) / 3_600_000)
  return `${day.replaceAll('-', '')}${time.replaceAll(':', '')}[${hours}:BRT]`
}

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
async function accountsOf(queries: Queries, { from, to }: DayBounds): Promise<AccountOfPeriod[]> {
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
async function* entriesOf(
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

/** Sends what is read in one snapshot as it is read: in bounded memory, however much it is. */
export interface Exporter {
  /**
   * Begins an export.
   * @returns its bytes, once the first of them are there; it breaks off where the rest cannot be read
   * @throws overloaded (503) two are under way, and none of them has ended within five seconds · DatabaseUnavailable (503) where
   *   nothing could be read
   * @source rules#export.3
   */
  stream(pieces: (queries: Queries) => AsyncIterable<string>): Promise<Readable>
  /** Breaks off what is under way. */
  stop(): void
}

/** Each has a connection of its own, and holds a snapshot. */
const AT_ONCE = 2

/** Whoever reads slower than this is cut off: a snapshot that is held keeps the database from being cleaned. */
const MOST_MS = 600_000

/** So long a third one waits for its turn. */
const WAIT_MS = 5_000

/** Makes it. */
export function createExporter(databaseUrl: string, waitMs: number = WAIT_MS): Exporter {
  const underWay = new Set<AbortController>()
  const ends = new EventEmitter()

  async function turn(): Promise<void> {
    const signal = AbortSignal.timeout(waitMs)
    while (underWay.size >= AT_ONCE) {
      await once(ends, 'end', { signal }).catch(() => {
        throw new Refusal('overloaded', { retryAfterSeconds: 10 })
      })
    }
  }

  async function write(stream: PassThrough, pieces: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
    for await (const piece of pieces) {
      if (piece !== '' && !stream.write(piece)) await once(stream, 'drain', { signal })
      signal.throwIfAborted()
    }
    stream.end()
  }

  return {
    stream: async (pieces) => {
      await turn()
      const ending = new AbortController()
      underWay.add(ending)
      const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(MOST_MS)])
      const stream = new PassThrough()
      // Also where the client has gone.
      stream.on('close', () => ending.abort())
      const done = withSnapshot({ url: databaseUrl, name: 'pixgate export', signal }, async (queries) => {
        await workAsApplication(queries)
        await write(stream, pieces(queries), signal)
      })
        .catch((error: unknown) => {
          // Nobody listens where it failed before the first byte.
          stream.on('error', () => undefined)
          stream.destroy(error as Error)
          throw error
        })
        .finally(() => {
          underWay.delete(ending)
          ends.emit('end')
        })
      const begun = once(stream, 'readable', { signal })
      begun.catch(() => undefined)
      await Promise.race([begun, done])
      // What goes wrong from now on the stream tells.
      done.catch(() => undefined)
      return stream
    },
    stop: () => {
      for (const ending of underWay) ending.abort()
    },
  }
}

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
