import { isOrderId } from '../../platform/ids.ts'
import { type Judge, judgeRefund } from '../exchange.ts'
import type {
  Payment,
  PaymentReturn,
  PayoutReturn,
  Refund,
  RefundRequest,
  RefundTerms,
  ReportedRefund,
} from '../port.ts'
import { amountOf, centsOf, instantOf, isId, itemsOf, textIn, visibleParty, visibleText } from '../values.ts'
import { type Devolucao, isDevolucao, type Pix, RETURN_STATUSES } from './protocol.ts'

/** Payments, their returns, and refunds, which are returns under our id. Pure. */

/** An ISPB may contain letters, like the CNPJ that starts with it. */
const ISPB = /^[ED]([0-9A-Z]{8})/

/**
 * A payment with its returns. Unreadable returns are skipped: the statement has them.
 * @param offsetMs offset of the bank's timestamps, see `stampOffset`
 * @param chargedAt creation of its charge by the bank
 */
export function paymentOf(pix: Pix, offsetMs: number, chargedAt?: number): Payment {
  const { endToEndId, valor, horario, devolucoes, gnExtras } = pix
  // The end-to-end id contains the payer's bank; only some banks name the payer.
  const text = (name: string) => textIn(gnExtras, 'pagador', name)
  const ispb = ISPB.exec(endToEndId)?.[1]
  return {
    endToEndId,
    valueCents: centsOf(valor),
    occurredAt: instantOf(horario) - offsetMs,
    payer: visibleParty({ name: text('nome'), document: text('cpf') ?? text('cnpj'), ispb }),
    ...(chargedAt !== undefined && { chargedAt }),
    returns: itemsOf(devolucoes)
      .filter(isDevolucao)
      .flatMap((devolucao) => paymentReturnOf(devolucao, offsetMs) ?? []),
  }
}

function paymentReturnOf(devolucao: Devolucao, offsetMs: number): PaymentReturn | undefined {
  const returned = returnOf(devolucao, offsetMs)
  if (!returned) return undefined
  const origin = isOurs(devolucao) ? 'MERCHANT' : 'BANK'
  return { ...returned, transactionId: devolucao.id ?? returned.returnId, origin }
}

/**
 * A return in the form of the standard or of Efí's own client. One without a status is listed because it was executed.
 */
export interface AnyReturn {
  readonly status?: string | undefined
  readonly rtrId?: string | undefined
  readonly valor: string | number
  readonly horario?: string | { readonly solicitacao?: string; readonly liquidacao?: string } | undefined
}

/** A return; `undefined` if it was not executed, or its time or id is missing. */
export function returnOf(sent: AnyReturn, offsetMs: number): PayoutReturn | undefined {
  const { status = 'DEVOLVIDO', rtrId, valor } = sent
  const occurredAt = settledAt(sent, offsetMs)
  if (status !== 'DEVOLVIDO' || !isId(rtrId) || occurredAt === undefined) return undefined
  return { returnId: rtrId, valueCents: centsOf(valor), occurredAt }
}

/**
 * Whether a return may be our refund, judged by its id. The bank's own returns (fraud, its mistakes) and those ordered
 * elsewhere are not.
 * @source rules#api-pix.8
 */
export function isOurs({ id, natureza }: Pick<Devolucao, 'id' | 'natureza'>): boolean {
  return id !== undefined && isOrderId(id) && [undefined, 'ORIGINAL', 'RETIRADA'].includes(natureza)
}

/** Epoch milliseconds; `undefined` if unknown. */
export function settledAt({ horario }: Pick<AnyReturn, 'horario'>, offsetMs: number): number | undefined {
  const at = typeof horario === 'string' ? horario : (horario?.liquidacao ?? horario?.solicitacao)
  return at === undefined ? undefined : instantOf(at) - offsetMs
}

/** The id of a payment's charge; without one, the payment's own id. */
export function referenceOf({ txid, endToEndId }: Pick<Pix, 'txid' | 'endToEndId'>): string {
  return isId(txid) ? txid : endToEndId
}

export function devolucaoPath(id: string, { endToEndId }: Pick<RefundTerms, 'endToEndId'>): string {
  return `/pix/${encodeURIComponent(endToEndId)}/devolucao/${id}`
}

export function devolucaoRequest({ valueCents, reason }: RefundRequest): object {
  return { valor: amountOf(valueCents), ...(reason !== undefined && { descricao: reason }) }
}

/**
 * Evaluates a refund.
 * @param offsetMs offset of the bank's timestamps, see `stampOffset`
 * @source rules#api-pix.7
 */
export function judgeDevolucao(id: string, terms: RefundTerms, offsetMs: number): Judge<ReportedRefund> {
  return judgeRefund(id, terms, (json) => (isDevolucao(json) ? refundOf(id, json, offsetMs) : undefined))
}

/** An answer without an id is about the queried one. */
function refundOf(asked: string, devolucao: Devolucao, offsetMs: number): Refund {
  const { id = asked, valor, rtrId } = devolucao
  const status = RETURN_STATUSES[devolucao.status]
  const isFailed = status === 'FAILED'
  return {
    id,
    transactionId: id,
    status,
    valueCents: centsOf(valor),
    // Failed refunds have a meaningless `rtrId` too.
    returnId: status === 'CONFIRMED' && isId(rtrId) ? rtrId : undefined,
    errorCode: isFailed ? 'NAO_REALIZADO' : undefined,
    errorMessage: isFailed ? visibleText(textIn(devolucao, 'motivo')) : undefined,
    occurredAt: status === 'PROCESSING' ? undefined : settledAt(devolucao, offsetMs),
  }
}
