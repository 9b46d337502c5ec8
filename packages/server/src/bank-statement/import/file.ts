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

/** How local time becomes an instant: a day and a time of São Paulo, to epoch milliseconds. */
export type InstantOf = (day: string, time: string) => number

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

/** Told of one file at most; how many there are is said besides. */
export const FAULTS_MAX = 100

interface Line {
  readonly number: number
  readonly cells: Readonly<Record<(typeof COLUMNS)[number], string>>
}

/** What is collected while the lines are read. */
class Reading {
  readonly faults: FieldError[] = []
  readonly entries: StatementEntry[] = []
  readonly keys = new Map<string, number>()

  fault(line: number, column: string, code: string, message: string): undefined {
    const field = `lines[${line}].${column}`
    this.faults.push({ field, code, message: `line ${line}: ${message}` })
  }
}

/**
 * Reads a file: the header, the balance before, the movements, the balance after.
 * @returns the file, or every fault with its line
 * @source rules#import.1, rules#import.2
 */
export function readStatementFile(
  bytes: Buffer,
  instantOf: InstantOf,
  isDay: (text: string) => boolean,
): StatementFile | { readonly faults: readonly FieldError[] } {
  const reading = new Reading()
  if (!isUtf8(bytes)) {
    reading.fault(1, 'header', 'invalid', 'the file is not UTF-8')
    return { faults: reading.faults }
  }
  const texts = bytes
    .toString()
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
  while (texts.at(-1) === '') texts.pop()
  if (texts[0] !== HEADER) {
    reading.fault(1, 'header', 'invalid', `the first line must be ${HEADER}`)
    return { faults: reading.faults }
  }
  const lines = texts.slice(1).flatMap((text, index) => lineOf(text, index + 2, reading) ?? [])
  const [first, last] = [lines[0], lines.at(-1)]
  const opening = balanceOf(first, 'OPENING_BALANCE', 'the second line', reading, isDay)
  const closing = last === first ? undefined : balanceOf(last, 'CLOSING_BALANCE', 'the last line', reading, isDay)
  if (last === first) reading.fault(texts.length, 'kind', 'missing', 'the last line must be CLOSING_BALANCE')
  for (const line of lines.slice(1, -1)) readMovement(line, reading, instantOf, isDay)
  if (opening && closing) judgeWhole(reading, opening, closing, instantOf)
  if (reading.faults.length > 0 || !opening || !closing) return { faults: reading.faults }
  return {
    firstDay: opening.day,
    lastDay: closing.day,
    openingCents: opening.cents,
    closingCents: closing.cents,
    entries: reading.entries,
  }
}

/** Cells may stand in quotes, and a quote in them be doubled; none has a break. */
const CELL = /(?:^|;)(?:"((?:[^"]|"")*)"|([^";]*))(?=;|$)/gy

function lineOf(text: string, number: number, reading: Reading): Line | undefined {
  CELL.lastIndex = 0
  const cells = [...text.matchAll(CELL)].map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain)
  if (cells.length !== COLUMNS.length) {
    return reading.fault(number, 'row', 'invalid', `it must have ${COLUMNS.length} cells, separated by ;`)
  }
  return { number, cells: Object.fromEntries(COLUMNS.map((name, at) => [name, cells[at]])) as Line['cells'] }
}

interface Balance {
  readonly number: number
  readonly day: string
  readonly cents: bigint
}

function balanceOf(
  line: Line | undefined,
  kind: string,
  place: string,
  reading: Reading,
  isDay: (text: string) => boolean,
): Balance | undefined {
  const number = line?.number ?? 2
  if (line?.cells.kind !== kind) return reading.fault(number, 'kind', 'invalid', `${place} must be ${kind}`)
  const { day, value } = line.cells
  if (!isDay(day)) reading.fault(number, 'day', 'invalid', 'day must be one as 2026-11-22')
  const cents = centsOf(value)
  if (cents === undefined) return reading.fault(number, 'value', 'invalid', VALUE)
  return isDay(day) ? { number, day, cents } : undefined
}

const VALUE = 'value must be an amount as 1234,56'

/** Thousands may be parted by points. */
const AMOUNT = /^-?(?:\d{1,15}|\d{1,3}(?:\.\d{3}){1,4}),\d{2}$/

function centsOf(text: string): bigint | undefined {
  return AMOUNT.test(text) ? BigInt(text.replaceAll(/[.,]/g, '')) : undefined
}

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/

/** An id of the network, or a name of the bank: printable, in one word. */
const ID = /^[!-~]{1,128}$/

function readMovement(line: Line, reading: Reading, instantOf: InstantOf, isDay: (text: string) => boolean): void {
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
  if (cents === undefined || cents <= 0n) reading.fault(number, 'value', 'invalid', `${VALUE}, above zero`)
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
  reading.entries.push({ ...named, valueCents: cents, occurredAt: instantOf(day, time) })
}

function kindOf(text: string): StatementEntry['kind'] | undefined {
  return Object.hasOwn(KINDS, text) ? (text as StatementEntry['kind']) : undefined
}

/** Only of a file whose movements account for its balances is it known that none was left out. @source rules#import.2 */
function judgeWhole(reading: Reading, opening: Balance, closing: Balance, instantOf: InstantOf): void {
  if (opening.day > closing.day) {
    reading.fault(closing.number, 'day', 'invalid', 'the closing balance is of a day before the opening balance')
    return
  }
  if (reading.faults.length > 0) return
  const [from, last] = [instantOf(opening.day, '00:00:00'), instantOf(closing.day, '23:59:59')]
  if (reading.entries.some(({ occurredAt }) => occurredAt < from || occurredAt > last))
    reading.fault(closing.number, 'day', 'invalid', 'a movement is of another day than those of the two balances')
  const moved = reading.entries.reduce((sum, { direction, valueCents }) => {
    return direction === 'in' ? sum + valueCents : sum - valueCents
  }, 0n)
  if (opening.cents + moved !== closing.cents)
    reading.fault(closing.number, 'value', 'invalid', 'the movements do not account for the two balances')
}
