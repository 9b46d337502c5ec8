import { type Static, type TSchema, Type } from 'typebox'
import { bodyTest as testOf } from '../body-test.ts'
import { AMOUNT } from './money.ts'

/**
 * Which JSON is a body of the Central Bank's API Pix 2.9.0: of what a bank tells, the part that is read. What it tells besides
 * is left alone, and lengths are not judged, as money moved whatever a text is like.
 */

/** Makes the test for a shape. */
export function bodyTest<Shape extends TSchema>(shape: Shape): (json: unknown) => json is Static<Shape> {
  return testOf<Static<Shape>>(shape)
}

/** An amount, as text. */
export const amount = Type.String({ pattern: AMOUNT })
/** An instant with its offset. */
export const instant = Type.String({ format: 'date-time' })
const endToEndId = Type.String({ pattern: '^[a-zA-Z0-9]{32}$' })
const absentOrText = Type.Optional(Type.Union([Type.String(), Type.Null()]))

/** Money that goes back. What has no `rtrId` yet has moved nothing. */
export const devolucao = Type.Object({
  id: Type.String({ pattern: '^[a-zA-Z0-9]{1,35}$' }),
  rtrId: absentOrText,
  valor: amount,
  natureza: absentOrText,
  horario: Type.Optional(
    Type.Union([Type.Object({ solicitacao: Type.Optional(instant), liquidacao: Type.Optional(instant) }), Type.Null()]),
  ),
  status: Type.Enum(['EM_PROCESSAMENTO', 'DEVOLVIDO', 'NAO_REALIZADO']),
  motivo: absentOrText,
})

/** Money that came in. */
export const pix = Type.Object({
  endToEndId,
  txid: absentOrText,
  valor: amount,
  chave: absentOrText,
  horario: instant,
  devolucoes: Type.Optional(Type.Array(devolucao)),
  /** Of Efí, besides the standard. */
  gnExtras: Type.Optional(
    Type.Object({
      pagador: Type.Optional(Type.Object({ nome: absentOrText, cpf: absentOrText, cnpj: absentOrText })),
    }),
  ),
})

/** A charge. */
export const cob = Type.Object({
  txid: Type.String({ pattern: '^[a-zA-Z0-9]{26,35}$' }),
  calendario: Type.Object({ criacao: instant, expiracao: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }) }),
  status: Type.Enum(['ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'REMOVIDA_PELO_PSP']),
  valor: Type.Object({ original: amount }),
  chave: Type.String(),
  location: absentOrText,
  pixCopiaECola: absentOrText,
  pix: Type.Optional(Type.Array(pix)),
})

const pagination = Type.Object({
  paginaAtual: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
  quantidadeDePaginas: Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
})

/** Which page of a list this is. */
export const parametros = Type.Object({ paginacao: pagination })

/** A page of what came in. */
const pixPage = Type.Object({ parametros, pix: Type.Optional(Type.Array(pix)) })

/** Why a bank did not do something, by RFC 7807. */
const problem = Type.Object({
  type: Type.String(),
  title: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
  violacoes: Type.Optional(
    Type.Array(Type.Object({ razao: Type.Optional(Type.String()), propriedade: Type.Optional(Type.String()) })),
  ),
})

/** A charge as the bank tells it. */
export type Cob = Static<typeof cob>
/** A payment as the bank tells it. */
export type Pix = Static<typeof pix>
/** A return as the bank tells it. */
export type Devolucao = Static<typeof devolucao>
/** A page of payments as the bank tells it. */
export type PixPage = Static<typeof pixPage>
/** A refusal as the bank tells it. */
export type Problem = Static<typeof problem>

/** Whether a bank tells a charge. */
export const isCob = bodyTest(cob)
/** Whether a bank tells a return. */
export const isDevolucao = bodyTest(devolucao)
/** Whether a bank tells a page of payments. */
export const isPixPage = bodyTest(pixPage)
/** Whether a bank tells why not. */
export const isProblem = bodyTest(problem)
