import type { Book } from '../book.ts'
import { instant } from '../events.ts'
import type { ReturnNature } from '../facts.ts'
import type { Receipt, Refund, TakenBack } from '../operations.ts'
import { maskedPerson, motivoOf, type Person, personOf, valorOf } from './values.ts'

/** A received payment. @source BCB, API Pix (Pix) */
export interface Pix {
  readonly endToEndId: string
  readonly txid?: string
  readonly valor: string
  readonly componentesValor: { readonly original: { readonly valor: string } }
  readonly chave: string
  readonly horario: string
  readonly infoPagador?: string
  /** Not in the standard; Inter and Sicredi return it. */
  readonly pagador?: Person
  /** Not in the standard; Efí returns the payer here. */
  readonly gnExtras?: { readonly pagador: Person }
  readonly devolucoes?: readonly Devolucao[]
}

/** A return of a received payment, in any status. @source BCB, API Pix (Devolucao) */
export interface Devolucao {
  readonly id: string
  readonly rtrId: string
  readonly valor: string
  readonly natureza: 'ORIGINAL' | ReturnNature
  readonly descricao?: string
  readonly horario: { readonly solicitacao: string; readonly liquidacao?: string }
  readonly status: 'EM_PROCESSAMENTO' | 'DEVOLVIDO' | 'NAO_REALIZADO'
  readonly motivo?: string
}

const RETURN_STATUSES = { PROCESSING: 'EM_PROCESSAMENTO', CONFIRMED: 'DEVOLVIDO', FAILED: 'NAO_REALIZADO' } as const

/** A payment as API Pix returns it. The payer is in it only if a control set it. */
export function pixOf(book: Book, receipt: Receipt): Pix {
  const { payment, txid, pixKey: chave, disclosure } = receipt
  const { infoPagador, pagador } = disclosure
  const valor = valorOf(payment.valueCents)
  const devolucoes = devolucoesOf(book, receipt)
  return {
    endToEndId: payment.endToEndId,
    ...(txid !== undefined && { txid }),
    valor,
    componentesValor: { original: { valor } },
    chave,
    horario: payment.occurredAt,
    ...(infoPagador !== undefined && { infoPagador }),
    ...(pagador && { pagador: personOf(pagador), gnExtras: { pagador: maskedPerson(pagador) } }),
    ...(devolucoes.length > 0 && { devolucoes }),
  }
}

/** Returns of a payment in order of request, ordered by the account's owner or made by the bank (MED). */
export function devolucoesOf(book: Book, { refundIds, takenBack }: Receipt): Devolucao[] {
  return [
    ...refundIds.flatMap((id) => book.refunds.get(id) ?? []).map(devolucaoOf),
    ...takenBack.map(devolucaoByBank),
  ].sort((a, b) => Date.parse(a.horario.solicitacao) - Date.parse(b.horario.solicitacao))
}

/** A refund as API Pix returns it. */
export function devolucaoOf({ answer, order, returnId = '', acceptedAt }: Refund): Devolucao {
  const { id, status, valueCents, occurredAt, errorCode } = answer
  return {
    id,
    rtrId: returnId,
    valor: valorOf(valueCents),
    natureza: 'ORIGINAL',
    ...(order.reason !== undefined && { descricao: order.reason }),
    horario: { solicitacao: instant(acceptedAt), ...(occurredAt !== undefined && { liquidacao: occurredAt }) },
    status: RETURN_STATUSES[status],
    ...(errorCode !== undefined && { motivo: motivoOf(errorCode) }),
  }
}

function devolucaoByBank({
  transactionId: id,
  returnId: rtrId,
  valueCents,
  nature: natureza,
  at,
}: TakenBack): Devolucao {
  const horario = { solicitacao: instant(at), liquidacao: instant(at) }
  return { id, rtrId, valor: valorOf(valueCents), natureza, horario, status: 'DEVOLVIDO' }
}
