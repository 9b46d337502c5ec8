import { Type } from 'typebox'
import type { CashInStatus } from './cash-in/machine.ts'
import type { CashOutStatus } from './cash-out/machine.ts'
import { endpoint } from './endpoint.ts'
import type { RefundInStatus } from './refund-in/machine.ts'
import { idOf } from './shapes.ts'

/** Receipts of money that moved («comprovantes»), made on demand. */

export type ReceiptKind = 'cash_in' | 'cash_out' | 'refund_in'

/** Statuses with a receipt. @source rules#receipt.2 */
export const receiptStatuses: Readonly<Record<ReceiptKind, readonly string[]>> = {
  cash_in: ['PAID'] satisfies CashInStatus[],
  cash_out: ['CONFIRMED', 'REVERSED'] satisfies CashOutStatus[],
  refund_in: ['CONFIRMED'] satisfies RefundInStatus[],
}

const receipt = {
  method: 'GET',
  auth: 'api-key',
  scope: 'read',
  query: Type.Object(
    {
      format: Type.Optional(
        Type.Enum(['pdf', 'html'], { description: 'Default: the first of both that `Accept` names, else `pdf`' }),
      ),
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'The receipt, in Portuguese',
      contentType: 'application/pdf',
      otherContentTypes: ['text/html'],
      headers: ['Vary', 'Content-Disposition', 'Content-Security-Policy'],
      schema: Type.String({ title: 'Receipt', format: 'binary' }),
      example: '%PDF-1.7',
    },
  },
  errors: ['not_found', 'not_possible_in_state'],
} as const

/** Common part of the descriptions of all receipts. */
const COMMON =
  'A PDF of one page, or the same as a page to print: by `format`, else by `Accept`. It has amount, time, end-to-end id, institutions by name, both parties with CPFs masked, and'

const STATE = 'Else 409; `existing` has the status. Receipts are made two at a time: 503 asks to come again.'

/** @source rules#receipt.1 */
export const getCashInReceipt = endpoint({
  ...receipt,
  id: 'getCashInReceipt',
  path: '/api/pix/cash-in/{id}/receipt',
  tag: 'Cash-in',
  summary: 'Get the receipt of a paid charge',
  description: `${COMMON} the amount refunded since. For a \`PAID\` charge. ${STATE}`,
  params: idOf('cash-in'),
})

/** @source rules#receipt.1 */
export const getCashOutReceipt = endpoint({
  ...receipt,
  id: 'getCashOutReceipt',
  path: '/api/pix/cash-out/{id}/receipt',
  tag: 'Cash-out',
  summary: 'Get the receipt of a payout',
  description: `${COMMON} the amount returned since. For a \`CONFIRMED\` or \`REVERSED\` payout. ${STATE}`,
  params: idOf('cash-out'),
})

/** @source rules#receipt.1 */
export const getRefundInReceipt = endpoint({
  ...receipt,
  id: 'getRefundInReceipt',
  path: '/api/pix/refund/{id}/receipt',
  tag: 'Refund-in',
  summary: 'Get the receipt of a refund',
  description: `${COMMON} the return id. For a \`CONFIRMED\` refund. ${STATE}`,
  params: idOf('refund-in'),
})
