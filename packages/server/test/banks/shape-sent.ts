import type { Chance } from '../fuzz/chance.ts'
import {
  drawn,
  entryText,
  type Item,
  type ItemDrawing,
  movementId,
  noItem,
  plainId,
  settled,
  type Unit,
} from './shape-items.ts'
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
  UNREADABLE,
} from './shape-values.ts'

/** Payments that went out by Efí, in every shape, and what came back of them. */

/** A sent payment, as Efí reports it. */
export interface SentShape {
  readonly json: Record<string, unknown>
  readonly id: Reading<string>
  readonly valueCents: Reading<bigint>
  readonly occurredAt: Reading<number>
  readonly status: Reading<'REALIZADO' | 'EM_PROCESSAMENTO' | 'NAO_REALIZADO'>
  /** Possible readings of our id in it; none: it has no id. */
  readonly ours: Reading<string | undefined>
  readonly returns: readonly BackShape[]
  /** The value in place of returns is no list of them. */
  readonly hasOddReturns: boolean
}

/** Money that came back. */
export interface BackShape {
  readonly json: Record<string, unknown>
  readonly id: Reading<string>
  readonly valueCents: Reading<bigint>
  readonly occurredAt: Reading<number>
  readonly moved: Reading<boolean>
}

type Status = readonly [json: unknown, reading: SentShape['status']]

const DONE: Status = ['REALIZADO', exactly('REALIZADO')]

const STATUSES: readonly Status[] = [
  DONE,
  ['REALIZADO', exactly('REALIZADO')],
  ['REALIZADO', exactly('REALIZADO')],
  ['EM_PROCESSAMENTO', exactly('EM_PROCESSAMENTO')],
  ['NAO_REALIZADO', exactly('NAO_REALIZADO')],
  ['realizado', perhaps('REALIZADO')],
  ['REALIZADO ', perhaps('REALIZADO')],
  ['NÃO_REALIZADO', perhaps('NAO_REALIZADO')],
  ...['AGENDADO', 'DEVOLVIDO', '', 'constructor', '__proto__', null, undefined, 1, true, {}, ['REALIZADO']].map(
    (json) => [json, UNREADABLE] as const,
  ),
]

const BACK_STATUSES: readonly (readonly [json: unknown, moved: Reading<boolean>])[] = [
  ['DEVOLVIDO', exactly(true)],
  ['DEVOLVIDO', exactly(true)],
  ['EM_PROCESSAMENTO', exactly(false)],
  ['NAO_REALIZADO', exactly(false)],
  ['devolvido', perhaps(true)],
  ...['PAGO', '', 'toString', 1, true, {}, []].map((json) => [json, UNREADABLE] as const),
]

const idEnvios = (ours: string): readonly (readonly [json: unknown, reading: Reading<string | undefined>])[] => [
  [ours, exactly(ours)],
  [ours, exactly(ours)],
  [undefined, exactly(undefined)],
  [null, exactly(undefined)],
  ['', perhaps(undefined)],
  ['outro1', exactly('outro1', undefined)],
  [7, perhaps(undefined)],
  [{}, perhaps(undefined)],
  [[ours], perhaps(undefined)],
  ['x'.repeat(4_000), perhaps(undefined)],
  [`${ours}\u0000`, perhaps(undefined)],
]

/** When it settled: its own time, or none. What was only asked for has not settled then. */
function settlement(drawing: Pick<ItemDrawing, 'chance' | 'isOdd'>, instantMs: number): Shape<number> {
  const when = drawn(drawing, instantShape, plainInstant, instantMs)
  const solicitacao = plainInstant(instantMs - 2_000).json
  return { json: { solicitacao, liquidacao: when.json }, reading: settled(when, instantMs - 2_000) }
}

/** Something that came back, in either of the forms that Efí has. */
function backShape(drawing: ItemDrawing, instantMs: number, half: bigint): BackShape {
  const { chance, isOdd, next } = drawing
  const id = drawn(drawing, idShape, plainId, movementId(chance, 'D', next()))
  const value = drawn(drawing, movedShape, plainAmount, chance.pick([half, half, 1n]))
  const isTyped = isOdd && chance.bool(0.3)
  const when = isTyped ? drawn(drawing, instantShape, plainInstant, instantMs) : settlement(drawing, instantMs)
  const [status, moved] = isOdd ? chance.pick(BACK_STATUSES) : (['DEVOLVIDO', exactly(true)] as const)
  const more = isTyped ? {} : { status }
  return {
    json: { ...(isOdd && noise(chance)), rtrId: id.json, valor: value.json, horario: when.json, ...more },
    id: id.reading,
    valueCents: value.reading,
    occurredAt: when.reading,
    moved: isTyped ? exactly(true) : moved,
  }
}

const PAYEES: readonly unknown[] = [
  undefined,
  null,
  {},
  [],
  'x',
  { chave: null, identificacao: null },
  { identificacao: { nome: 'Maria da Silva', cpf: '***.982.247-**' } },
  { identificacao: { nome: 7, cpf: 52998224725 } },
  { identificacao: [] },
  { contaBanco: { codigoBanco: 'A1B2C3D4' } },
]

/** A payment of this account, of so much. */
function sentShape(drawing: ItemDrawing, cents: bigint): SentShape {
  const { chance, isOdd, next, instantMs, ours } = drawing
  const id = drawn(drawing, idShape, plainId, movementId(chance, 'E', next()))
  const value = drawn(drawing, movedShape, plainAmount, cents)
  const when = settlement(drawing, instantMs + chance.below(60_000))
  const [status, reading] = isOdd ? chance.pick(STATUSES) : DONE
  const [idEnvio, named] = isOdd ? chance.pick(idEnvios(ours)) : [ours, exactly(ours)]
  const different = isOdd
    ? Array.from({ length: chance.below(3) }, () =>
        backShape({ ...drawing, isOdd: chance.bool(0.5) }, instantMs + 120_000, cents / 2n),
      )
    : []
  // Some banks list a return twice.
  const back = chance.bool(0.3) ? [...different, ...different] : different
  const hasOddReturns = isOdd && chance.bool(0.1)
  const devolucoes = hasOddReturns ? chance.pick([{}, '', 'x', 0, [null], ['x']]) : chance.pick([undefined, null, []])
  return {
    json: {
      ...(isOdd && noise(chance)),
      ...(isOdd && { favorecido: chance.pick(PAYEES) }),
      endToEndId: id.json,
      idEnvio,
      valor: value.json,
      status,
      horario: when.json,
      devolucoes: back.length > 0 && !hasOddReturns ? back.map(({ json }) => json) : devolucoes,
    },
    id: id.reading,
    valueCents: value.reading,
    occurredAt: when.reading,
    status: reading,
    ours: named,
    returns: hasOddReturns ? [] : back,
    hasOddReturns,
  }
}

const isOpen = (readings: readonly Reading<unknown>[]) => readings.some(({ mayBeUnread }) => mayBeUnread)

/** An item of the list of what was sent. */
export function sentItem(drawing: ItemDrawing): Item {
  const { chance, isOdd } = drawing
  if (isOdd && chance.bool(0.1)) return noItem(chance)
  const sent = sentShape(drawing, BigInt(1 + chance.below(10_000_000)))
  const unit = sentUnit(sent)
  const odd: Unit[] = sent.hasOddReturns ? [{ anyOf: [], mayBeUnread: true, mayBeSilent: true }] : []
  return { json: sent.json, units: [unit, ...sent.returns.map((back) => backUnit(back, sent, unit)), ...odd] }
}

const namesOf = (sent: SentShape, endToEndId: string) => sent.ours.means.map((name) => name ?? endToEndId)

function sentUnit(sent: SentShape): Unit {
  const { id, valueCents, occurredAt, status, ours } = sent
  const moved = status.means.includes('REALIZADO')
  const anyOf = (moved ? id.means : []).flatMap((endToEndId) =>
    valueCents.means.flatMap((value) =>
      occurredAt.means.flatMap((instantMs) =>
        namesOf(sent, endToEndId).map((reference) =>
          entryText({
            kind: 'PAYOUT_SENT',
            direction: 'out',
            movementId: endToEndId,
            endToEndId,
            reference,
            valueCents: value,
            occurredAt: instantMs,
          }),
        ),
      ),
    ),
  )
  const mayBeUnread = isOpen([id, valueCents, occurredAt, status, ours])
  return { anyOf, mayBeUnread, mayBeSilent: status.means.length > 0 && !moved }
}

function backUnit(back: BackShape, sent: SentShape, holder: Unit): Unit {
  const { id, valueCents, occurredAt, moved } = back
  const anyOf = (moved.means.includes(true) ? id.means : []).flatMap((movementId) =>
    valueCents.means.flatMap((value) =>
      occurredAt.means.flatMap((instantMs) =>
        sent.id.means.flatMap((endToEndId) =>
          namesOf(sent, endToEndId).map((reference) =>
            entryText({
              kind: 'PAYOUT_RETURNED',
              direction: 'in',
              movementId,
              endToEndId,
              reference,
              valueCents: value,
              occurredAt: instantMs,
            }),
          ),
        ),
      ),
    ),
  )
  const isQuiet = moved.means.length > 0 && !moved.means.includes(true)
  return {
    anyOf,
    mayBeUnread: isOpen([id, valueCents, occurredAt, moved]),
    mayBeSilent: isQuiet || holder.mayBeUnread || holder.mayBeSilent,
  }
}

/** A payout alone, as Efí answers a question about it. */
export function sentAlone(chance: Chance, instantMs: number, ours: string, cents: bigint): SentShape {
  let number = 1
  return sentShape({ chance, isOdd: true, next: () => number++, instantMs, ours }, cents)
}
