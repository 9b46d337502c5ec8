import { randomBytes, randomInt } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { buildDynamicBrCode, formatEndToEndId } from '@pixgate/brcode'
import type { PartnerCharge, PartnerChargeRequest, PartnerEvent, PartnerPayment } from '@pixgate/spec'
import type { Charge, Entry } from './book.ts'

/** What the bank does with charges. Pure but for chance: the book is written by whoever calls. */

/** The simulated bank among the participants of the Pix. */
const ISPB = '99999010'

/** Makes a charge out of what was asked for. */
export function newCharge(id: string, request: PartnerChargeRequest): Extract<Entry, { type: 'charge created' }> {
  const transactionId = randomBytes(16).toString('hex')
  const pixCode = buildDynamicBrCode({
    url: `bank.example/qr/v2/${transactionId}`,
    merchantName: request.merchant.name,
    merchantCity: request.merchant.city,
  })
  return { type: 'charge created', charge: { id, transactionId, request, pixCode } }
}

/** Whether a repeated request asks for the same charge. */
export function isSameRequest(charge: Charge, request: PartnerChargeRequest): boolean {
  return isDeepStrictEqual(charge.request, request)
}

/** A charge as the bank tells it. */
export function chargeView({ id, transactionId, request, pixCode, status }: Charge, at: number): PartnerCharge {
  const isExpired = status === 'ACTIVE' && at > Date.parse(request.expiresAt)
  const { valueCents, expiresAt } = request
  return { id, transactionId, status: isExpired ? 'EXPIRED' : status, valueCents, pixCode, expiresAt }
}

/** The same with its payments, as a query tells it. */
export function chargeDetail(charge: Charge, at: number): PartnerCharge {
  return { ...chargeView(charge, at), payments: charge.payments }
}

/** A payment of a charge by somebody. */
export function newPayment(
  { request }: Charge,
  order: { readonly valueCents?: number; readonly payerName?: string; readonly occurredAt?: string },
  at: number,
): PartnerPayment {
  return {
    endToEndId: formatEndToEndId({ ispb: ISPB, at: new Date(at), suffix: randomSuffix() }),
    valueCents: order.valueCents ?? request.valueCents,
    occurredAt: order.occurredAt ?? new Date(at).toISOString(),
    payer: {
      name: order.payerName ?? request.payer?.name ?? 'Cliente Exemplo',
      document: request.payer?.document ?? '52998224725',
      ispb: ISPB,
    },
  }
}

const SUFFIX_ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function randomSuffix(): string {
  return Array.from({ length: 11 }, () => SUFFIX_ALPHABET[randomInt(SUFFIX_ALPHABET.length)]).join('')
}

/** What the service is told of a payment. */
export function paidEvent(charge: Charge, payment: PartnerPayment, eventId: string): PartnerEvent {
  const { endToEndId, valueCents, occurredAt, payer } = payment
  return { ...common(charge, eventId), status: 'CONFIRMED', endToEndId, valueCents, payer: payer ?? null, occurredAt }
}

/** What the service is told of a failure. */
export function failedEvent(charge: Charge, eventId: string, at: number): PartnerEvent {
  return {
    ...common(charge, eventId),
    status: 'FAILED',
    endToEndId: null,
    valueCents: charge.request.valueCents,
    errorCode: 'charge_failed',
    errorMessage: 'The charge failed at the bank',
    occurredAt: new Date(at).toISOString(),
  }
}

function common({ id, transactionId }: Charge, eventId: string) {
  return { event: 'CashIn', eventId, transactionId, externalId: id } as const
}
