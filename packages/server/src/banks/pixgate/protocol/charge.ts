import type { PartnerCharge, PartnerChargeRequest, PartnerPayment, PartnerPaymentReturn } from '@pixgate/spec'
import { judgeReported } from '../../answers.ts'
import type { Charge, ChargeRequest, ChargeTerms, Payment, PaymentReturn, ReportedCharge } from '../../port.ts'
import { visibleParty } from '../../visible-text.ts'
import { isCharge } from './bodies.ts'
import type { Resource } from './resource.ts'

/** Charges, at `/charges/{id}`. */
export const charges: Resource<ChargeRequest, ChargeTerms, ReportedCharge> = {
  path: '/charges',
  holdsMoney: false,
  bodyOf,
  termsOf: (request) => request,
  judge: (id, terms) => judgeReported({ isBody: isCharge, read, echo, stand }, id, terms),
}

function bodyOf({ valueCents, expiresAt, description, payer, merchant }: ChargeRequest): PartnerChargeRequest {
  return {
    valueCents: Number(valueCents),
    expiresAt: new Date(expiresAt).toISOString(),
    merchant,
    ...(description !== undefined && { description }),
    ...(payer && { payer }),
  }
}

function stand({ charge }: { charge: Charge }): ReportedCharge | string {
  const { status } = charge
  if (status === 'ACTIVE') return { kind: 'ACCEPTED', charge: { ...charge, status } }
  // A status word books no money: PUT does not tell payments, so GET has to.
  if (status === 'PAID' && charge.payments.length === 0) return 'PAID without a payment'
  return { kind: 'FINAL', charge: { ...charge, status } }
}

/** Not its end: a charge that the bank had before ends there as it was ordered then. */
function echo({ charge: { id, valueCents } }: { charge: Charge }) {
  return { id, valueCents }
}

function read(body: PartnerCharge): { charge: Charge } {
  return {
    charge: {
      id: body.id,
      transactionId: body.transactionId,
      status: body.status,
      valueCents: BigInt(body.valueCents),
      pixCode: body.pixCode,
      expiresAt: Date.parse(body.expiresAt),
      payments: (body.payments ?? []).map((payment) => paymentOf(payment, body.createdAt)),
    },
  }
}

function paymentOf(
  { endToEndId, valueCents, occurredAt, payer, returns }: PartnerPayment,
  chargedAt: string | undefined,
): Payment {
  return {
    endToEndId,
    valueCents: BigInt(valueCents),
    occurredAt: Date.parse(occurredAt),
    payer: visibleParty(payer),
    ...(chargedAt !== undefined && { chargedAt: Date.parse(chargedAt) }),
    ...(returns && { returns: returns.map(returnOf) }),
  }
}

function returnOf({ valueCents, occurredAt, ...told }: PartnerPaymentReturn): PaymentReturn {
  const { returnId, transactionId, origin } = told
  return { returnId, transactionId, origin, valueCents: BigInt(valueCents), occurredAt: Date.parse(occurredAt) }
}
