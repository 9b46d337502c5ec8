import {
  limits,
  type PartnerBalance,
  type PartnerCharge,
  type PartnerError,
  type PartnerPayout,
  type PartnerQrCode,
  type PartnerRefund,
  type PartnerStatement,
  partnerBalance,
  partnerCharge,
  partnerError,
  partnerPayout,
  partnerQrCode,
  partnerRefund,
  partnerStatement,
} from '@pixgate/spec'
import { Ajv } from 'ajv'
import { formats } from '../../../platform/http/formats.ts'

/** Which JSON is a body of the partner protocol. */

const ajv = new Ajv({ formats })

/** Whether a bank tells a charge. */
export const isCharge = ajv.compile<PartnerCharge>(partnerCharge)

/** A payout as a bank tells it, which may name the key that it paid. */
export type PayoutBody = PartnerPayout & { readonly recipient?: { readonly pixKey?: string } }

/** Whether a bank tells a payout. */
export const isPayout = ajv.compile<PayoutBody>({
  allOf: [
    partnerPayout,
    object({ recipient: object({ pixKey: { type: 'string', maxLength: limits.pixKeyMaxLength } }) }),
  ],
})

/** Whether a bank tells a refund. */
export const isRefund = ajv.compile<PartnerRefund>(partnerRefund)

/** Whether a bank tells what a QR code asks for. */
export const isQrCode = ajv.compile<PartnerQrCode>(partnerQrCode)

/** Whether a bank tells a page of its statement. */
export const isStatement = ajv.compile<PartnerStatement>(partnerStatement)

/** Whether a bank tells a balance. */
export const isBalance = ajv.compile<PartnerBalance>(partnerBalance)

/** Whether a bank tells why not. */
export const isError = ajv.compile<PartnerError>(partnerError)

/** Whether a bank says that a charge is cancelled. */
export const isCancellation = ajv.compile({
  type: 'object',
  properties: { status: { const: 'CANCELLED' } },
  required: ['status'],
})

function object(properties: Readonly<Record<string, object>>) {
  return { type: 'object', properties }
}
