import type { StatementEntry } from '../../src/banks/port.ts'
import type { Chance } from '../fuzz/chance.ts'
import {
  exactly,
  idShape,
  instantShape,
  movedShape,
  noise,
  perhaps,
  plainAmount,
  plainInstant,
  type Reading,
  type Shape,
} from './shape-values.ts'

/** Payments and what went back of them, in every shape, and what a merchant's books must make of each. */

/** A movement, or nothing. */
export interface Unit {
  /** As {@link entryText} has it: one of these, once or as often as it stands there. */
  readonly anyOf: readonly string[]
  /** To report it as unreadable is right. */
  readonly mayBeUnread: boolean
  /** To say nothing of it is right: it is no movement, or what holds it is reported. */
  readonly mayBeSilent: boolean
}

/** An item of a list. */
export interface Item {
  readonly json: unknown
  readonly units: readonly Unit[]
}

/** Content of an entry. */
export function entryText(entry: Omit<StatementEntry, 'direction'> & { readonly direction: string }): string {
  const { kind, direction, movementId, endToEndId, reference, valueCents, occurredAt } = entry
  return JSON.stringify([kind, direction, movementId, endToEndId, reference, String(valueCents), occurredAt])
}

/** Every way to choose one of each. */
function choices<T>(readings: readonly (readonly T[])[]): T[][] {
  return readings.reduce<T[][]>((made, means) => made.flatMap((before) => means.map((one) => [...before, one])), [[]])
}

const BASE_36 = 36
/** Eleven letters and digits, of which no two numbers have the same. */
const tail = (number: number) => number.toString(BASE_36).padStart(11, '0')

const ISPBS = ['12345678', '00000000', 'A1B2C3D4', 'ZZZZZZZZ', '0000000A']

/** An end-to-end id or a return id that nothing else has. */
export function movementId(chance: Chance, letter: 'E' | 'D', number: number): string {
  return `${letter}${chance.pick(ISPBS)}202611221210${tail(number)}`
}

/** Parts that every item is generated with. */
export interface Drawing {
  readonly chance: Chance
  /** Of which each member may be odd; otherwise all are as the standard has them. */
  readonly isOdd: boolean
  /** Numbers that nothing else has. */
  readonly next: () => number
}

const ODDS = 0.35

/** A member in some shape, or as the standard has it. */
export function drawn<T, From>(
  { chance, isOdd }: Pick<Drawing, 'chance' | 'isOdd'>,
  shape: (chance: Chance, from: From) => Shape<T>,
  plain: (from: From) => Shape<T>,
  from: From,
): Shape<T> {
  return isOdd && chance.bool(ODDS) ? shape(chance, from) : plain(from)
}

export const plainId = (id: string): Shape<string> => ({ json: id, reading: exactly(id) })

/** A return, as a list reports it: its outcome depends on whose it was. */
export interface ReturnShape {
  readonly json: Record<string, unknown>
  readonly id: Reading<string>
  readonly valueCents: Reading<bigint>
  readonly occurredAt: Reading<number>
  /** True if money moved; `undefined` if only an unknown word says so. */
  readonly moved: boolean | 'perhaps' | undefined
  /** The side that returned it. */
  readonly by: Reading<'MERCHANT' | 'BANK'>
  readonly ourId: string | undefined
}

const RETURN_STATUSES: readonly (readonly [json: unknown, moved: ReturnShape['moved']])[] = [
  ...Array.from({ length: 10 }, () => ['DEVOLVIDO', true] as const),
  ['EM_PROCESSAMENTO', false],
  ['NAO_REALIZADO', false],
  ...['devolvido', 'Devolvido', ' DEVOLVIDO', 'DEVOLVIDO\n', 'DEVOLVIDA'].map((json) => [json, 'perhaps'] as const),
  ...['PAGO', '', 'constructor', 'toString', '__proto__', null, 0, true, {}, ['EM_PROCESSAMENTO']].map(
    (json) => [json, undefined] as const,
  ),
]

/** A word for why it goes back, and who had it given back. */
type Nature = readonly [json: unknown, by: Reading<'MERCHANT' | 'BANK'>]

const ORIGINAL: Nature = [undefined, exactly('MERCHANT')]

const NATURES: readonly Nature[] = [
  ORIGINAL,
  [null, exactly('MERCHANT')],
  ['ORIGINAL', exactly('MERCHANT')],
  ['RETIRADA', exactly('MERCHANT')],
  ['MED_FRAUDE', exactly('BANK')],
  ['MED_OPERACIONAL', exactly('BANK')],
  ['MED_PIX_AUTOMATICO', exactly('BANK')],
  ['constructor', perhaps('BANK')],
  ['', perhaps('MERCHANT', 'BANK')],
  ['original', perhaps('MERCHANT', 'BANK')],
  [7, perhaps('MERCHANT', 'BANK')],
  [{}, perhaps('MERCHANT', 'BANK')],
]

/** Ids of returns that are none of ours: the bank's own, and of whoever else may give back. */
const FOREIGN_IDS: readonly unknown[] = [undefined, null, '', '000AAA111', 'a', 7, {}, 'devolucao']

/** Something that goes back, of this account. @param ours an id as we give them */
export function returnShape(drawing: Drawing, instantMs: number, ours: string): ReturnShape {
  const { chance, isOdd, next } = drawing
  const id = drawn(drawing, idShape, plainId, movementId(chance, 'D', next()))
  const value = drawn(drawing, movedShape, plainAmount, BigInt(1 + chance.below(500)))
  const when = drawn(drawing, instantShape, plainInstant, instantMs + chance.below(60_000))
  const [status, moved] = isOdd ? chance.pick(RETURN_STATUSES) : (['DEVOLVIDO', true] as const)
  const [natureza, by] = isOdd ? chance.pick(NATURES) : ORIGINAL
  const isOurs = !isOdd || chance.bool(0.6)
  const foreign = chance.pick(FOREIGN_IDS)
  const asked = plainInstant(instantMs - 1_000)
  const horario = { solicitacao: asked.json, liquidacao: when.json }
  const isStrangeId = typeof foreign === 'number' || typeof foreign === 'object' || foreign === ''
  return {
    json: {
      ...(isOdd && noise(chance)),
      id: isOurs ? ours : foreign,
      rtrId: id.json,
      valor: value.json,
      horario,
      status,
      natureza,
    },
    id: id.reading,
    valueCents: value.reading,
    occurredAt: settled(when, instantMs - 1_000),
    moved,
    by: isOurs ? by : { means: ['BANK'], mayBeUnread: by.mayBeUnread || (isStrangeId && foreign !== null) },
    ourId: isOurs ? ours : undefined,
  }
}

/** The standard has `liquidacao` optional: of what has moved, the time at which it was asked for is then the only one. */
export function settled({ json, reading }: Shape<number>, askedAt: number): Reading<number> {
  return json === null || json === undefined ? perhaps(askedAt) : reading
}

/** Of a return, what a reader may make; with something that holds it and is not read itself, it may go with that. */
function returnUnit(
  made: ReturnShape,
  entries: (id: string, valueCents: bigint, occurredAt: number, by: 'MERCHANT' | 'BANK') => readonly string[],
  holder: { readonly mayBeUnread: boolean },
): Unit {
  const { id, valueCents, occurredAt, by, moved } = made
  const parts: readonly Reading<unknown>[] = [id, valueCents, occurredAt, by]
  const isFirm = parts.every(({ mayBeUnread }) => !mayBeUnread)
  const means = moved
    ? choices<unknown>(parts.map(({ means }) => means)).flatMap(([rtr, cents, instantMs, whose]) =>
        entries(rtr as string, cents as bigint, instantMs as number, whose as 'MERCHANT' | 'BANK'),
      )
    : []
  return {
    anyOf: means,
    mayBeUnread: moved === undefined || moved === 'perhaps' || !isFirm,
    mayBeSilent: moved === false || holder.mayBeUnread,
  }
}

/** Values in place of a list of returns, with true if they hold any. */
const NO_RETURNS: readonly (readonly [json: unknown, mayBeUnread: boolean])[] = [
  [undefined, false],
  [null, false],
  [[], false],
  [{}, true],
  ['', true],
  ['x', true],
  [0, true],
  [false, true],
  [[null], true],
  [['x'], true],
  [[[]], true],
]

/** Txids, and what a payment with one is of; ours is the first. */
const txids = (ours: string): readonly (readonly [json: unknown, references: readonly string[], isFirm: boolean])[] => [
  [ours, [ours], true],
  [ours, [ours], true],
  [undefined, [''], true],
  [null, [''], true],
  ['', [''], true],
  ['pedido123', ['', 'pedido123'], true],
  ['a'.repeat(35), ['', 'a'.repeat(35)], true],
  ['***', ['', '***'], false],
  ['x'.repeat(4_000), [''], false],
  [`${ours}\u0000`, [''], false],
  [` ${ours}`, ['', ours, ` ${ours}`], false],
  [ours.toUpperCase(), ['', ours, ours.toUpperCase()], true],
  [7, [''], false],
  [{}, [''], false],
  [[ours], [''], false],
  [false, [''], false],
]

/** Our id of a refund. */
export const OUR_REFUND = '0198c0de7a1170008000000000000001'

/** And what a payment needs. */
export interface ItemDrawing extends Drawing {
  readonly instantMs: number
  readonly ours: string
}

/** A payment that came in, with what went back of it. */
export function paymentItem(drawing: ItemDrawing): Item {
  const { chance, isOdd, next, instantMs, ours } = drawing
  if (isOdd && chance.bool(0.1)) return noItem(chance)
  const id = drawn(drawing, idShape, plainId, movementId(chance, 'E', next()))
  const value = drawn(drawing, movedShape, plainAmount, BigInt(1 + chance.below(10_000_000)))
  const when = drawn(drawing, instantShape, plainInstant, instantMs + chance.below(60_000))
  const [txid, named, isNameFirm] = isOdd ? chance.pick(txids(ours)) : ([ours, [ours], true] as const)
  const payment = paymentUnit(id, value, when, named, isNameFirm)
  const [devolucoes, returns] = isOdd ? returnsOf(drawing, id.reading, named, payment) : ([undefined, []] as const)
  return {
    json: { ...(isOdd && noise(chance)), endToEndId: id.json, txid, valor: value.json, horario: when.json, devolucoes },
    units: [payment, ...returns],
  }
}

const referencesOf = (named: readonly string[], endToEndId: string) => named.map((name) => name || endToEndId)

function paymentUnit(
  id: Shape<string>,
  value: Shape<bigint>,
  when: Shape<number>,
  named: readonly string[],
  isNameFirm: boolean,
): Unit {
  const anyOf = id.reading.means.flatMap((endToEndId) =>
    value.reading.means.flatMap((valueCents) =>
      when.reading.means.flatMap((occurredAt) =>
        referencesOf(named, endToEndId).map((reference) =>
          entryText({
            kind: 'PAYMENT_RECEIVED',
            direction: 'in',
            movementId: endToEndId,
            endToEndId,
            reference,
            valueCents,
            occurredAt,
          }),
        ),
      ),
    ),
  )
  const isFirm = isNameFirm && ![id, value, when].some(({ reading }) => reading.mayBeUnread)
  return { anyOf, mayBeUnread: !isFirm, mayBeSilent: false }
}

/** A value of `devolucoes`, and its outcome. */
function returnsOf(
  drawing: ItemDrawing,
  payment: Reading<string>,
  named: readonly string[],
  holder: Unit,
): readonly [json: unknown, units: readonly Unit[]] {
  const { chance, instantMs } = drawing
  if (chance.bool(0.5)) {
    const [json, mayBeUnread] = chance.pick(NO_RETURNS)
    return [json, mayBeUnread ? [{ anyOf: [], mayBeUnread, mayBeSilent: true }] : []]
  }
  const made = Array.from({ length: 1 + chance.below(3) }, () =>
    returnShape({ ...drawing, isOdd: chance.bool(0.7) }, instantMs + 120_000, OUR_REFUND),
  )
  const units = made.map((one) =>
    returnUnit(
      one,
      (movementId, valueCents, occurredAt, by) =>
        payment.means.flatMap((endToEndId) =>
          (by === 'MERCHANT' ? [OUR_REFUND] : referencesOf(named, endToEndId)).map((reference) =>
            entryText({
              kind: by === 'MERCHANT' ? 'REFUND_SENT' : 'PAYMENT_TAKEN_BACK',
              direction: 'out',
              movementId,
              endToEndId,
              reference,
              valueCents,
              occurredAt,
            }),
          ),
        ),
      holder,
    ),
  )
  const [first] = made
  if (chance.bool(0.15)) return [[...made, ...made].map(({ json }) => json), [...units, ...units]]
  const isBare = made.length === 1 && chance.bool(0.15)
  if (!isBare) return [made.map(({ json }) => json), units]
  return [first?.json, units.map((unit) => ({ ...unit, mayBeUnread: true }))]
}

/** Values that are no item at all. */
export function noItem(chance: Chance): Item {
  const json = chance.pick([null, 1, '', 'x', true, [], {}, [[]], { pix: [] }, { endToEndId: null }, '{}'])
  return { json, units: [{ anyOf: [], mayBeUnread: true, mayBeSilent: json === null }] }
}

/** Items read from a list, beside the expected ones. */
export interface ReadList {
  readonly entries: readonly StatementEntry[]
  readonly unreadable: number
}

/** Faults in the reading of these items; none: it is right. */
export function listProblems(items: readonly Item[], { entries, unreadable }: ReadList): string[] {
  const read = new Set(entries.map(entryText))
  const units = items.flatMap((item) => item.units)
  const problems: string[] = []
  const known = new Set<string>()
  let unreadMin = 0
  for (const { anyOf, mayBeUnread, mayBeSilent } of units) {
    const found = anyOf.filter((text) => read.has(text))
    for (const text of found) known.add(text)
    if (found.length > 0) continue
    if (!mayBeUnread && !mayBeSilent) problems.push(`lost: ${anyOf[0]}`)
    if (!mayBeSilent) unreadMin++
  }
  for (const text of read) if (!known.has(text)) problems.push(`nothing says this: ${text}`)
  const unreadMax = units.filter(({ mayBeUnread }) => mayBeUnread).length
  if (unreadable < unreadMin) problems.push(`${unreadMin} are not read, and ${unreadable} reported`)
  if (unreadable > unreadMax) problems.push(`${unreadable} are reported, and ${unreadMax} may be`)
  return problems
}
