import { isUtf8 } from 'node:buffer'
import type { FieldError } from '@pixgate/spec'
import type { StatementEntry } from '../../banks/port.ts'

/** A statement of the bank as CSV: what its rows say, or all that is wrong with them. Pure. */

/** A file that can be used. */
export interface StatementFile {
  readonly firstDay: string
  readonly lastDay: string
  readonly openingCents: bigint
  readonly closingCents: bigint
  readonly entries: readonly StatementEntry[]
}

/** What reading needs to know, and whom it lets pass. */
export interface ReadingTools {
  /** How local time becomes an instant: a day and a time of São Paulo, to epoch milliseconds. */
  readonly instantOf: (day: string, time: string) => number
  readonly isDay: (text: string) => boolean
  /** Lets others have their turn, now and then: a file may have 70,000 rows. */
  readonly pause: () => Promise<void>
}

/** The columns, which the first line names. */
export const COLUMNS = ['day', 'time', 'kind', 'direction', 'value', 'end_to_end_id', 'return_id', 'reference'] as const

const HEADER = COLUMNS.join(';')

/** The direction that each kind has, and whether a return id tells it from others. */
const KINDS: Readonly<Record<StatementEntry['kind'], { direction: 'in' | 'out'; isReturn: boolean }>> = {
  PAYMENT_RECEIVED: { direction: 'in', isReturn: false },
  PAYMENT_TAKEN_BACK: { direction: 'out', isReturn: true },
  REFUND_SENT: { direction: 'out', isReturn: true },
  PAYOUT_SENT: { direction: 'out', isReturn: false },
  PAYOUT_RETURNED: { direction: 'in', isReturn: true },
  TARIFF: { direction: 'out', isReturn: false },
}

/** So many are told of a file; reading ends with them. */
export const FAULTS_MAX = 100

/** More than a file of the most bytes can have of movements: what has more is none. */
const LINES_MAX = 100_000

/** Ids of 128 characters, in quotes: no movement needs more. */
const LINE_MAX = 2_000

/** So many lines are read in one turn. */
const LINES_AT_ONCE = 2_000

/** As many days as are exported at once. */
const DAYS_MAX = 366

/** Amounts are exact numbers wherever they are shown. */
const CENTS_MAX = BigInt(Number.MAX_SAFE_INTEGER)

interface Line {
  readonly number: number
  readonly cells: Readonly<Record<(typeof COLUMNS)[number], string>>
}

/** What is collected while the lines are read. */
class Reading {
  readonly faults: FieldError[] = []
  readonly entries: StatementEntry[] = []
  readonly keys = new Map<string, number>()
  /** Whether a movement is of a day that the file is not of. */
  isAstray = false
  readonly #starts = new Map<string, number>()
  readonly #instantOf: ReadingTools['instantOf']

  constructor(instantOf: ReadingTools['instantOf']) {
    this.#instantOf = instantOf
  }

  /** An instant of a day that the file is of: the zone is asked once about each. */
  instantOf(day: string, time: string): number {
    const start = this.#starts.get(day) ?? this.#instantOf(day, '00:00:00')
    this.#starts.set(day, start)
    return start + Date.parse(`1970-01-01T${time}Z`)
  }

  fault(line: number, column: string, code: string, message: string): undefined {
    const field = `lines[${line}].${column}`
    this.faults.push({ field, code, message: `line ${line}: ${message}` })
  }
}

/**
 * Reads a file: the header, the balance before, the movements, the balance after.
 * @returns the file, or its faults with their lines
 * @source rules#import.1, rules#import.2
 */
export async function readStatementFile(
  bytes: Buffer,
  { instantOf, isDay, pause }: ReadingTools,
): Promise<StatementFile | { readonly faults: readonly FieldError[] }> {
  const reading = new Reading(instantOf)
  const texts = linesOf(bytes, reading)
  if (texts === undefined) return reading
  const opening = openingOf(texts, reading, isDay)
  const closing = closingOf(texts, reading, isDay)
  if (opening && closing) judgeDays(reading, opening, closing)
  const days = reading.faults.length === 0 && opening && closing ? { first: opening.day, last: closing.day } : undefined
  for (let index = 2; index < texts.length - 1 && reading.faults.length < FAULTS_MAX; index += 1) {
    if (index % LINES_AT_ONCE === 0) await pause()
    const line = lineOf(texts[index] ?? '', index + 1, reading)
    if (line) readMovement(line, reading, days, isDay)
  }
  if (opening && closing && reading.faults.length === 0) judgeWhole(reading, opening, closing)
  if (reading.faults.length > 0 || !opening || !closing) return { faults: reading.faults.slice(0, FAULTS_MAX) }
  return {
    firstDay: opening.day,
    lastDay: closing.day,
    openingCents: opening.cents,
    closingCents: closing.cents,
    entries: reading.entries,
  }
}

/** The lines of a text whose first one names the columns; `undefined`: it is none, or has too many. */
function linesOf(bytes: Buffer, reading: Reading): string[] | undefined {
  if (!isUtf8(bytes)) return reading.fault(1, 'header', 'invalid', 'the file is not UTF-8')
  if (linesIn(bytes) > LINES_MAX) {
    const message = `the file has more than ${LINES_MAX} lines`
    reading.faults.push({ field: 'lines', code: 'too_many', message })
    return undefined
  }
  const texts = bytes
    .toString()
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
  while (texts.at(-1) === '') texts.pop()
  if (texts[0] !== HEADER) return reading.fault(1, 'header', 'invalid', `the first line must be ${HEADER}`)
  return texts
}

function openingOf(texts: readonly string[], reading: Reading, isDay: ReadingTools['isDay']): Balance | undefined {
  const [, text] = texts
  if (text === undefined) return reading.fault(2, 'kind', 'invalid', 'the second line must be OPENING_BALANCE')
  const line = lineOf(text, 2, reading)
  return line && balanceOf(line, 'OPENING_BALANCE', 'the second line', reading, isDay)
}

function closingOf(texts: readonly string[], reading: Reading, isDay: ReadingTools['isDay']): Balance | undefined {
  const number = texts.length
  if (number < 3) return reading.fault(number, 'kind', 'missing', 'the last line must be CLOSING_BALANCE')
  const line = lineOf(texts.at(-1) ?? '', number, reading)
  return line && balanceOf(line, 'CLOSING_BALANCE', 'the last line', reading, isDay)
}

/** Counted before anything is made of them. */
function linesIn(bytes: Buffer): number {
  let lines = 1
  for (let place = bytes.indexOf(10); place >= 0; place = bytes.indexOf(10, place + 1)) lines += 1
  return lines
}

/** Cells may stand in quotes, and a quote in them be doubled; none has a break. */
const CELL = /(?:^|;)(?:"((?:[^"]|"")*)"|([^";]*))(?=;|$)/gy

function lineOf(text: string, number: number, reading: Reading): Line | undefined {
  const cells = text.length > LINE_MAX ? [] : cellsOf(text)
  if (cells.length !== COLUMNS.length) {
    return reading.fault(number, 'row', 'invalid', `it must have ${COLUMNS.length} cells, separated by ;`)
  }
  return { number, cells: Object.fromEntries(COLUMNS.map((name, at) => [name, cells[at]])) as Line['cells'] }
}

function cellsOf(text: string): string[] {
  CELL.lastIndex = 0
  return [...text.matchAll(CELL)].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain)
}

interface Balance {
  readonly number: number
  readonly day: string
  readonly cents: bigint
}

function balanceOf(
  line: Line,
  kind: string,
  place: string,
  reading: Reading,
  isDay: ReadingTools['isDay'],
): Balance | undefined {
  const { number } = line
  if (line.cells.kind !== kind) return reading.fault(number, 'kind', 'invalid', `${place} must be ${kind}`)
  const { day, value } = line.cells
  if (!isDay(day)) reading.fault(number, 'day', 'invalid', 'day must be one as 2026-11-22')
  const cents = centsOf(value)
  if (cents === undefined) return reading.fault(number, 'value', 'invalid', VALUE)
  return isDay(day) ? { number, day, cents } : undefined
}

const VALUE = `value must be an amount as 1234,56, of ${CENTS_MAX} centavos at most`

/** Thousands may be parted by points. */
const AMOUNT = /^-?(?:\d{1,15}|\d{1,3}(?:\.\d{3}){1,4}),\d{2}$/

function centsOf(text: string): bigint | undefined {
  const cents = AMOUNT.test(text) ? BigInt(text.replaceAll(/[.,]/g, '')) : undefined
  return cents === undefined || cents > CENTS_MAX || -cents > CENTS_MAX ? undefined : cents
}

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

/** An id of the network, or a name of the bank: printable, in one word. */
const ID = /^[!-~]{1,128}$/

/** @param days that the file is of; `undefined`: it has faults, and its movements are only looked at */
function readMovement(
  line: Line,
  reading: Reading,
  days: { readonly first: string; readonly last: string } | undefined,
  isDay: ReadingTools['isDay'],
): void {
  const { number, cells } = line
  const { day, time, direction, value, end_to_end_id: endToEndId, return_id: returnId, reference } = cells
  const before = reading.faults.length
  const kind = kindOf(cells.kind)
  if (kind === undefined)
    reading.fault(number, 'kind', 'invalid', `kind must be one of ${Object.keys(KINDS).join(', ')}`)
  else if (KINDS[kind].direction !== direction)
    reading.fault(number, 'direction', 'invalid', `direction of ${kind} must be ${KINDS[kind].direction}`)
  if (!isDay(day)) reading.fault(number, 'day', 'invalid', 'day must be one as 2026-11-22')
  if (!TIME.test(time)) reading.fault(number, 'time', 'invalid', 'time must be one as 23:59:59')
  const cents = centsOf(value)
  if (cents === undefined || cents <= 0n) reading.fault(number, 'value', 'invalid', `${VALUE}, and above zero`)
  if (!ID.test(endToEndId)) reading.fault(number, 'end_to_end_id', 'invalid', 'end_to_end_id is missing or no id')
  const isReturn = kind !== undefined && KINDS[kind].isReturn
  if (isReturn ? !ID.test(returnId) : returnId !== '')
    reading.fault(
      number,
      'return_id',
      'invalid',
      isReturn ? 'return_id is missing or no id' : 'return_id must be empty',
    )
  if (kind === 'TARIFF' ? !ID.test(reference) : reference !== '' && !ID.test(reference))
    reading.fault(number, 'reference', 'invalid', 'reference is missing or no id')
  if (reading.faults.length > before || kind === undefined || cents === undefined) return
  const movementId = kind === 'TARIFF' ? reference : isReturn ? returnId : endToEndId
  const named = { kind, direction: KINDS[kind].direction, movementId, endToEndId, reference }
  const twice = reading.keys.get(`${kind} ${movementId}`)
  if (kind !== 'TARIFF' && twice !== undefined) {
    reading.fault(number, 'row', 'duplicate', `line ${twice} has the same movement`)
    return
  }
  reading.keys.set(`${kind} ${movementId}`, number)
  if (days === undefined) return
  if (day < days.first || day > days.last) reading.isAstray = true
  else reading.entries.push({ ...named, valueCents: cents, occurredAt: reading.instantOf(day, time) })
}

function kindOf(text: string): StatementEntry['kind'] | undefined {
  return Object.hasOwn(KINDS, text) ? (text as StatementEntry['kind']) : undefined
}

function judgeDays(reading: Reading, opening: Balance, closing: Balance): void {
  if (opening.day > closing.day)
    reading.fault(closing.number, 'day', 'invalid', 'the closing balance is of a day before the opening balance')
  else if (Date.parse(closing.day) - Date.parse(opening.day) >= DAYS_MAX * 86_400_000)
    reading.fault(closing.number, 'day', 'invalid', `a file has ${DAYS_MAX} days at most`)
}

/** Only of a file whose movements account for its balances is it known that none was left out. @source rules#import.2 */
function judgeWhole(reading: Reading, opening: Balance, closing: Balance): void {
  if (reading.isAstray) {
    reading.fault(closing.number, 'day', 'invalid', 'a movement is of another day than those of the two balances')
    return
  }
  const moved = reading.entries.reduce((sum, { direction, valueCents }) => {
    return direction === 'in' ? sum + valueCents : sum - valueCents
  }, 0n)
  if (opening.cents + moved !== closing.cents)
    reading.fault(closing.number, 'value', 'invalid', 'the movements do not account for the two balances')
}
