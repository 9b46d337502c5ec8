import { type Judge, judgeReported } from '../answers.ts'
import type { Refund, RefundRequest, RefundStatus, RefundTerms, ReportedRefund } from '../port.ts'
import { amountOf, centsOf, isId, textIn } from '../values.ts'
import { visibleText } from '../visible-text.ts'
import { type Devolucao, isDevolucao } from './bodies.ts'
import { settledAt } from './movements.ts'

/** Refunds: a `devolucao` of a payment, under our id. */

/** Where a refund is kept: under the payment that it gives back. */
export function devolucaoPath(id: string, { endToEndId }: Pick<RefundTerms, 'endToEndId'>): string {
  return `/pix/${encodeURIComponent(endToEndId)}/devolucao/${id}`
}

/** What it is told. */
export function devolucaoRequest({ valueCents, reason }: RefundRequest): object {
  return { valor: amountOf(valueCents), ...(reason !== undefined && { descricao: reason }) }
}

/**
 * Judges what the bank tells of a refund.
 * @param offsetMs of the bank's stamps, see `stampOffset`
 * @source rules#api-pix.7
 */
export function judgeDevolucao(id: string, terms: RefundTerms, offsetMs: number): Judge<ReportedRefund> {
  const readRefund = (told: Devolucao) => ({ refund: refundOf(id, told, offsetMs) })
  return judgeReported({ isBody: isDevolucao, read: readRefund, echo, stand }, id, terms)
}

const STATUSES: Readonly<Record<Devolucao['status'], RefundStatus>> = {
  EM_PROCESSAMENTO: 'PROCESSING',
  DEVOLVIDO: 'CONFIRMED',
  NAO_REALIZADO: 'FAILED',
}

/** An answer that leaves the id out is about the one that was asked for. */
function refundOf(id: string, told: Devolucao, offsetMs: number): Refund {
  const status = STATUSES[told.status]
  const isFailed = status === 'FAILED'
  return {
    id: told.id ?? id,
    transactionId: told.id ?? id,
    status,
    valueCents: centsOf(told.valor),
    // Every answer has one, also of what came to nothing: only of what moved it means something.
    returnId: status === 'CONFIRMED' && isId(told.rtrId) ? told.rtrId : undefined,
    errorCode: isFailed ? 'NAO_REALIZADO' : undefined,
    errorMessage: isFailed ? visibleText(textIn(told, 'motivo')) : undefined,
    occurredAt: status === 'PROCESSING' ? undefined : settledAt(told, offsetMs),
  }
}

function echo({ refund: { id, valueCents } }: { readonly refund: Refund }) {
  return { id, valueCents }
}

function stand({ refund }: { readonly refund: Refund }): ReportedRefund | string {
  const { status, returnId, occurredAt } = refund
  if (status === 'PROCESSING') return { kind: 'ACCEPTED', refund: { ...refund, status } }
  if (status === 'FAILED') return { kind: 'FINAL', refund: { ...refund, status } }
  if (returnId === undefined) return 'DEVOLVIDO without an rtrId'
  if (occurredAt === undefined) return 'DEVOLVIDO without a time'
  return { kind: 'FINAL', refund: { ...refund, status, returnId, occurredAt } }
}
