import { instant } from '../events.ts'
import type { Payout } from '../operations.ts'
import { maskedPerson, motivoOf, type Person, valorOf } from './values.ts'

/** An accepted Pix payment: the response of Efí's «Requisitar envio de Pix». */
export interface AcceptedPix {
  readonly idEnvio: string
  /** The name in Efí's documentation; the types of its client have `endToEndId`. */
  readonly e2eId: string
  readonly endToEndId: string
  readonly valor: string
  readonly horario: { readonly solicitacao: string }
  readonly status: 'EM_PROCESSAMENTO'
}

/** A sent Pix: the response of Efí's «Consultar Pix enviado». */
export interface SentPix {
  readonly endToEndId: string
  readonly idEnvio: string
  readonly valor: string
  readonly chave: string
  readonly status: SentStatus
  readonly infoPagador?: string
  readonly horario: { readonly solicitacao: string; readonly liquidacao?: string }
  readonly favorecido: { readonly chave: string; readonly identificacao: Person }
  readonly devolucoes?: readonly SentReturn[]
}

/** A sent Pix in a callback, as in Efí's «Recebendo Callbacks». */
export interface SentItem {
  readonly endToEndId: string
  readonly chave: string
  readonly tipo: 'SOLICITACAO'
  readonly status: SentStatus
  readonly valor: string
  /** `null` if no money moved. */
  readonly horario: string | null
  readonly gnExtras: {
    readonly idEnvio?: string
    readonly erro?: { readonly codigo: string; readonly origem: string; readonly motivo: string }
  }
  readonly devolucoes?: readonly SentReturn[]
}

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

/** A payout as Efí returns it for an order, even if it has already settled. */
export function acceptedPixOf({ answer, order, endToEndId = '', acceptedAt }: Payout): AcceptedPix {
  const horario = { solicitacao: instant(acceptedAt) }
  const valor = valorOf(order.valueCents)
  return { idEnvio: answer.id, e2eId: endToEndId, endToEndId, valor, horario, status: 'EM_PROCESSAMENTO' }
}

/** A payout as Efí returns it for a query. @param key debited key of an order that names none */
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

/** A payout as a callback reports it. */
export function sentItemOf(payout: Payout): SentItem {
  const { answer, endToEndId = '', debitedKey: chave = '' } = payout
  const { id: idEnvio, status, valueCents, occurredAt = null, errorCode: codigo } = answer
  const erro = codigo !== undefined && { codigo, origem: 'PSP do usuário recebedor', motivo: motivoOf(codigo) }
  const named = { endToEndId, chave, tipo: 'SOLICITACAO', status: STATUSES[status] } as const
  const gnExtras = { idEnvio, ...(erro && { erro }) }
  return { ...named, valor: valorOf(valueCents), horario: occurredAt, gnExtras, ...returnsOf(payout) }
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
