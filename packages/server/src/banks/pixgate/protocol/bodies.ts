import {
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
import { bodyTest } from '../../body-test.ts'

/** Which JSON is a body of the partner protocol. */

/** Whether a bank tells a charge. */
export const isCharge = bodyTest<PartnerCharge>(partnerCharge)

/** Whether a bank tells a payout. */
export const isPayout = bodyTest<PartnerPayout>(partnerPayout)

/** Whether a bank tells a refund. */
export const isRefund = bodyTest<PartnerRefund>(partnerRefund)

/** Whether a bank tells what a QR code asks for. */
export const isQrCode = bodyTest<PartnerQrCode>(partnerQrCode)

/** Whether a bank tells a page of its statement. */
export const isStatement = bodyTest<PartnerStatement>(partnerStatement)

/** Whether a bank tells a balance. */
export const isBalance = bodyTest<PartnerBalance>(partnerBalance)

/** Whether a bank tells why not. */
export const isError = bodyTest<PartnerError>(partnerError)

/** Whether a bank says that a charge is cancelled. */
export const isCancellation = bodyTest({
  type: 'object',
  properties: { status: { const: 'CANCELLED' } },
  required: ['status'],
})
