import { type Static, type TSchema, Type } from 'typebox'
import { type BodyTest, bodyTest as testOf } from '../body-test.ts'
import { AMOUNT, AMOUNT_MOVED } from '../values.ts'

/**
 * Bodies of the Central Bank's API Pix 2.9.0: the members that are read, of JSON without nulls. Others are left alone, and
 * lengths are not judged, as money moved whatever a text is like. Items of lists are judged one by one.
 */

/** Makes the test for a shape. */
export function bodyTest<Shape extends TSchema>(shape: Shape): BodyTest<Static<Shape>> {
  return testOf<Static<Shape>>(shape)
}

/** Reais, as text or as a number. */
export const amount = Type.Union([
  Type.String({ pattern: AMOUNT }),
  Type.Number({ format: 'bank-reais', minimum: 0, maximum: 9_999_999_999.99 }),
])
/** The same of money that moved. */
export const amountMoved = Type.Union([
  Type.String({ pattern: AMOUNT_MOVED }),
  Type.Number({ format: 'bank-reais', exclusiveMinimum: 0, maximum: 9_999_999_999.99 }),
])
/** An instant with its offset. */
export const instant = Type.String({ format: 'bank-instant' })
const endToEndId = Type.String({ pattern: '^[a-zA-Z0-9]{32}$' })
const text = Type.Optional(Type.String())

/** A list whose items are judged one by one. */
export const items = Type.Optional(Type.Unknown())
/** A member without meaning for money: its form is not checked. See `textIn`. */
export const information = Type.Optional(Type.Unknown())

/** Money that goes back. Without an `rtrId` it has moved nothing yet; without an `id` it was asked for elsewhere. */
const devolucao = Type.Object({
  id: Type.Optional(Type.String({ pattern: '^[a-zA-Z0-9]{1,35}$' })),
  rtrId: text,
  valor: amountMoved,
  natureza: text,
  horario: Type.Optional(Type.Object({ solicitacao: Type.Optional(instant), liquidacao: Type.Optional(instant) })),
  status: Type.Enum(['EM_PROCESSAMENTO', 'DEVOLVIDO', 'NAO_REALIZADO']),
  motivo: information,
})

/** Money that came in. */
const pix = Type.Object({
  endToEndId,
  txid: text,
  valor: amountMoved,
  horario: instant,
  devolucoes: items,
  /** Of Efí, besides the standard. */
  gnExtras: information,
})

/** A charge. */
const cob = Type.Object({
  txid: Type.String({ pattern: '^[a-zA-Z0-9]{26,35}$' }),
  calendario: Type.Object({
    criacao: instant,
    /** Seconds. */
    expiracao: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  }),
  status: Type.Enum(['ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'REMOVIDA_PELO_PSP']),
  valor: Type.Object({ original: amount }),
  chave: text,
  location: text,
  pixCopiaECola: text,
  pix: items,
})

/** A page of a list. What it says of its place is read by itself, as banks leave it out or spell it as text. */
const page = Type.Object({ parametros: information, pix: items })

/** Why a bank did not do something, by RFC 7807, all of whose members are optional. */
const problem = Type.Object({ type: text, title: information, detail: information, violacoes: items })

/** A violation that a problem names. */
const violation = Type.Object({ razao: text, propriedade: text })

/** A charge as the bank tells it. */
export type Cob = Static<typeof cob>
/** A payment as the bank tells it. */
export type Pix = Static<typeof pix>
/** A return as the bank tells it. */
export type Devolucao = Static<typeof devolucao>
/** A page of a list as the bank tells it. */
export type Page = Static<typeof page>
/** A refusal as the bank tells it. */
export type Problem = Static<typeof problem>

/** Tells whether a body is a charge. */
export const isCob = bodyTest(cob)
/** Tells whether an item is a payment. */
export const isPix = bodyTest(pix)
/** Tells whether a body or an item is a return. */
export const isDevolucao = bodyTest(devolucao)
/** Tells whether a body is a page of a list. */
export const isPage = bodyTest(page)
/** Tells whether a body could be a refusal. */
export const isProblem = bodyTest(problem)
/** Tells whether a refusal names a violation. */
export const isViolation = bodyTest(violation)
