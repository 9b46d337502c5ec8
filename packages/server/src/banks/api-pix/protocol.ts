import { type Static, Type } from 'typebox'
import { type Answered, answerOf, type Protocol, UNREADABLE, unknown } from '../exchange.ts'
import type { Outcome } from '../link.ts'
import type { CancelAnswer, ChargeStatus, RefundStatus, Rejected } from '../port.ts'
import { AMOUNT, AMOUNT_MOVED, bodyTest, itemsOf, printable, textIn, withoutNulls } from '../values.ts'

/**
 * Bodies of the Central Bank's API Pix 2.9.0: the members that are read, of JSON without nulls. Lengths are not
 * checked: no text may hide money. Items of lists are checked one by one.
 */

export const amount = Type.Union([
  Type.String({ pattern: AMOUNT }),
  Type.Number({ format: 'bank-reais', minimum: 0, maximum: 9_999_999_999.99 }),
])
export const amountMoved = Type.Union([
  Type.String({ pattern: AMOUNT_MOVED }),
  Type.Number({ format: 'bank-reais', exclusiveMinimum: 0, maximum: 9_999_999_999.99 }),
])
export const instant = Type.String({ format: 'bank-instant' })
const endToEndId = Type.String({ pattern: '^[a-zA-Z0-9]{32}$' })
const text = Type.Optional(Type.String())

/** A list whose items are checked one by one. */
export const items = Type.Optional(Type.Unknown())
/** A member of any type that does not affect money. See `textIn`. */
export const information = Type.Optional(Type.Unknown())

/** A return. Without an `rtrId` it was not executed yet; without an `id` it was ordered elsewhere. */
const devolucao = Type.Object({
  id: Type.Optional(Type.String({ pattern: '^[a-zA-Z0-9]{1,35}$' })),
  rtrId: text,
  valor: amountMoved,
  natureza: text,
  horario: Type.Optional(Type.Object({ solicitacao: Type.Optional(instant), liquidacao: Type.Optional(instant) })),
  status: Type.Enum(['EM_PROCESSAMENTO', 'DEVOLVIDO', 'NAO_REALIZADO']),
  motivo: information,
})

const pix = Type.Object({
  endToEndId,
  txid: text,
  valor: amountMoved,
  horario: instant,
  devolucoes: items,
  gnExtras: information,
})

const cob = Type.Object({
  txid: Type.String({ pattern: '^[a-zA-Z0-9]{26,35}$' }),
  calendario: Type.Object({
    criacao: instant,
    expiracao: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647 })),
  }),
  status: Type.Enum(['ATIVA', 'CONCLUIDA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR', 'REMOVIDA_PELO_PSP']),
  valor: Type.Object({ original: amount }),
  chave: text,
  location: text,
  pixCopiaECola: text,
  pix: items,
})

/** A page of a list. Its position is read separately, since banks omit it or write it as text. */
const page = Type.Object({ parametros: information, pix: items })

/** A refusal by RFC 7807, which requires no member. */
const problem = Type.Object({ type: text, title: information, detail: information, violacoes: items })
const violation = Type.Object({ razao: text, propriedade: text })

export type Cob = Static<typeof cob>
export type Pix = Static<typeof pix>
export type Devolucao = Static<typeof devolucao>
export type Page = Static<typeof page>

export const isCob = bodyTest(cob)
export const isPix = bodyTest(pix)
export const isDevolucao = bodyTest(devolucao)
export const isPage = bodyTest(page)
const isProblem = bodyTest(problem)
const isViolation = bodyTest(violation)

/** Statuses of charges, also in QR codes. */
export const CHARGE_STATUSES: Readonly<Record<Cob['status'], ChargeStatus>> = {
  ATIVA: 'ACTIVE',
  CONCLUIDA: 'PAID',
  REMOVIDA_PELO_USUARIO_RECEBEDOR: 'CANCELLED',
  REMOVIDA_PELO_PSP: 'FAILED',
}

export const RETURN_STATUSES: Readonly<Record<Devolucao['status'], RefundStatus>> = {
  EM_PROCESSAMENTO: 'PROCESSING',
  DEVOLVIDO: 'CONFIRMED',
  NAO_REALIZADO: 'FAILED',
}

/** Statuses with which banks of the standard refuse a PUT. */
const REFUSAL_STATUSES: ReadonlySet<number> = new Set([400, 404, 409, 412, 422])

/** Endings of problem types that mean an unknown id. */
const ABSENT = /\/(?:Cob|Pix|PixDevolucao|PixEnviado)?NaoEncontrad[oa]$/

/** Reads a refusal; `undefined` for anything else. */
export type RefusalReader = (json: unknown) => Rejected | undefined

/**
 * Answers of banks of the standard. A 4xx alone refuses nothing: it counts only after the query of the id.
 * @source rules#api-pix.3, rules#api-pix.4
 */
export function protocolOf(refusalOf: RefusalReader = problemOf): Protocol {
  return {
    readJson: withoutNulls,
    ofOrder: ({ httpStatus, json }) => {
      const rejected = REFUSAL_STATUSES.has(httpStatus) ? refusalOf(json) : undefined
      return rejected && { rejected, isDefinite: false, isDuplicate: httpStatus === 409 }
    },
    isAbsence,
  }
}

/** A 404 of a proxy or of a wrong path has no such type. */
export function isAbsence({ httpStatus, json }: Answered): boolean {
  return httpStatus === 404 && isProblem(json) && ABSENT.test(json.type ?? '')
}

export function cancelAnswer(outcome: Outcome): CancelAnswer {
  return answerOf<CancelAnswer, CancelAnswer>(
    outcome,
    (answered) => {
      const isRemoved = isCob(answered.json) && answered.json.status.startsWith('REMOVIDA_')
      return isRemoved ? { kind: 'CANCELLED' } : unknown(answered, UNREADABLE)
    },
    (answered) => {
      if (isAbsence(answered)) return { kind: 'NOT_FOUND' }
      return REFUSAL_STATUSES.has(answered.httpStatus) ? problemOf(answered.json) : undefined
    },
  )
}

/** A refusal has one of these or a violation, unlike other JSON. */
const PROBLEM_TEXTS = ['type', 'title', 'detail'] as const

/** Reads a refusal of the standard: the end of its type, and all violations. */
export function problemOf(json: unknown): Rejected | undefined {
  if (!isProblem(json)) return undefined
  if (json.violacoes === undefined && PROBLEM_TEXTS.every((name) => textIn(json, name) === undefined)) return undefined
  const word = json.type?.split('/').at(-1) || 'refused'
  const violations = itemsOf(json.violacoes)
    .filter(isViolation)
    .map(({ propriedade, razao }) => [propriedade, razao].filter(Boolean).join(': '))
  const reason = violations.length > 0 ? violations.join('; ') : (textIn(json, 'detail') ?? textIn(json, 'title'))
  return { kind: 'REJECTED', errorCode: printable(word), errorMessage: printable(reason) }
}
