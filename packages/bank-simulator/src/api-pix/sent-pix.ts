import { instant } from '../events.ts'
import type { Payout } from '../operations.ts'
import { valorOf } from './amounts.ts'

/** A sent Pix as it was taken on: the answer of Efí's «Requisitar envio de Pix». */
export interface AcceptedPix {
  readonly idEnvio: string
  /** Efí's documents call it so; the types of its own client call it `endToEndId`. */
  readonly e2eId: string
  readonly endToEndId: string
  readonly valor: string
  readonly horario: { readonly solicitacao: string }
  readonly status: 'EM_PROCESSAMENTO'
}

/** A sent Pix: the answer of Efí's «Consultar Pix enviado». */
export interface SentPix {
  readonly endToEndId: string
  readonly idEnvio: string
  readonly valor: string
  readonly chave: string
  readonly status: SentStatus
  readonly infoPagador?: string
  readonly horario: { readonly solicitacao: string; readonly liquidacao?: string }
  readonly favorecido: { readonly chave: string; readonly identificacao: MaskedPerson }
  readonly devolucoes?: readonly SentReturn[]
}

/** What a callback says of a sent Pix, in Efí's «Recebendo Callbacks». */
export interface SentItem {
  readonly endToEndId: string
  readonly chave: string
  readonly tipo: 'SOLICITACAO'
  readonly status: SentStatus
  readonly valor: string
  /** `null` where no money moved. */
  readonly horario: string | null
  readonly gnExtras: {
    readonly idEnvio?: string
    readonly erro?: { readonly codigo: string; readonly origem: string; readonly motivo: string }
  }
  readonly devolucoes?: readonly SentReturn[]
}

/** Somebody by name, and by a document of which a CPF is half hidden. */
export type MaskedPerson =
  | { readonly nome: string; readonly cpf: string }
  | { readonly nome: string; readonly cnpj: string }

type SentStatus = (typeof STATUSES)[Payout['answer']['status']]

interface SentReturn {
  readonly rtrId: string
  readonly valor: string
  readonly horario: string
}

const STATUSES = {
  PROCESSING: 'EM_PROCESSAMENTO',
  CONFIRMED: 'REALIZADO',
  RETURNED: 'REALIZADO',
  FAILED: 'NAO_REALIZADO',
} as const

/** A payout as Efí answers the order of it, also where it is over already. */
export function acceptedPixOf({ answer, order, endToEndId = '', acceptedAt }: Payout): AcceptedPix {
  const horario = { solicitacao: instant(acceptedAt) }
  const valor = valorOf(order.valueCents)
  return { idEnvio: answer.id, e2eId: endToEndId, endToEndId, valor, horario, status: 'EM_PROCESSAMENTO' }
}

/** A payout as Efí tells it. @param key stands where its order named no key of the account */
export function sentPixOf(payout: Payout, key: string): SentPix {
  const { answer, order, endToEndId = '', acceptedAt, debitedKey: chave = key, pixKey = '' } = payout
  const { id: idEnvio, status, valueCents, occurredAt, recipient } = answer
  return {
    endToEndId,
    idEnvio,
    valor: valorOf(valueCents),
    chave,
    status: STATUSES[status],
    ...(order.description !== undefined && { infoPagador: order.description }),
    horario: { solicitacao: instant(acceptedAt), ...(occurredAt !== undefined && { liquidacao: occurredAt }) },
    favorecido: { chave: pixKey, identificacao: maskedPerson(recipient) },
    ...returnsOf(payout),
  }
}

/** A payout as a callback tells it. */
export function sentItemOf(payout: Payout): SentItem {
  const { answer, endToEndId = '', debitedKey: chave = '' } = payout
  const { id: idEnvio, status, valueCents, occurredAt = null, errorCode: codigo, errorMessage: motivo = '' } = answer
  const erro = codigo !== undefined && { codigo, origem: 'PSP do usuário recebedor', motivo }
  const named = { endToEndId, chave, tipo: 'SOLICITACAO', status: STATUSES[status] } as const
  const gnExtras = { idEnvio, ...(erro && { erro }) }
  return { ...named, valor: valorOf(valueCents), horario: occurredAt, gnExtras, ...returnsOf(payout) }
}

/** Somebody as Efí shows whom money goes to. */
export function maskedPerson({
  name: nome,
  document,
}: {
  readonly name: string
  readonly document: string
}): MaskedPerson {
  const [, first, second] = /^\d{3}(\d{3})(\d{3})\d{2}$/.exec(document) ?? []
  return first === undefined ? { nome, cnpj: document } : { nome, cpf: `***.${first}.${second}-**` }
}

function returnsOf({ answer: { returns } }: Payout): { readonly devolucoes?: readonly SentReturn[] } {
  if (returns.length === 0) return {}
  return {
    devolucoes: returns.map(({ returnId, valueCents, occurredAt }) => ({
      rtrId: returnId,
      valor: valorOf(valueCents),
      horario: occurredAt,
    })),
  }
}
