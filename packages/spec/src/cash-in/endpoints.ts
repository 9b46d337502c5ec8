import { Type } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { CREATED_HEADERS, idempotencyKey, idOf, onlyPage, operationQuery, pageList, paidBetween } from '../shapes.ts'
import { cashInCreated, cashInDetail, cashInStatus, createCashInBody } from './shapes.ts'

const createdExample = {
  id: '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
  correlationId: 'checkout-77',
  externalId: 'order-1001',
  status: 'PENDING',
  valueCents: 15000,
  pixCode:
    '00020101021226730014br.gov.bcb.pix2551bank.example/qr/v2/5e3f9f0c8a7b4c6d9e0f1a2b3c4d5e6f5204000053039865802BR5912Loja Exemplo6009Sao Paulo62070503***6304B04F',
  generateTime: '2026-11-21T13:14:31.902Z',
  expirationDate: '2026-11-21T14:14:31.902Z',
  providerTransactionId: '5e3f9f0c8a7b4c6d9e0f1a2b3c4d5e6f',
}

/** @source rules#cash-in.create.1 */
export const createCashIn = endpoint({
  id: 'createCashIn',
  method: 'POST',
  path: '/api/pix/cash-in',
  auth: 'api-key',
  scope: 'charge',
  tag: 'Cash-in',
  summary: 'Create a charge',
  description:
    'Asks the bank for a charge and answers with its BR Code. When the bank is slow the answer has no `pixCode` yet: read the cash-in again. Retry a lost answer with the **same** `externalId`: the 409 has the id of the existing charge.',
  headers: { 'Idempotency-Key': idempotencyKey },
  body: createCashInBody,
  example: {
    transaction: { value: 150, externalId: 'order-1001', description: 'Order 1001', expirationTime: 3600 },
    payer: { fullName: 'Maria da Silva', document: '529.982.247-25' },
  },
  responses: {
    201: {
      description: 'Created',
      headers: CREATED_HEADERS,
      schema: cashInCreated,
      example: { ...createdExample, paymentUrl: 'https://pagar.loja.example/pay/x0Vt3mZ2q9YkQbJ7rLw1sA' },
    },
  },
  errors: [
    'idempotency_key_reused',
    'request_in_progress',
    'duplicate_external_id',
    'value_not_positive',
    'value_too_large',
    'invalid_document',
    'not_supported_by_bank',
    'partner_refused',
  ],
})

const detailExample = {
  ...createdExample,
  status: 'PAID',
  description: 'Order 1001',
  payer: { fullName: 'Maria da Silva', document: '52998224725' },
  endToEndId: 'E9999901020261121131500aB3dE5fG7',
  paidAt: '2026-11-21T13:15:00.000Z',
  payerName: 'Maria da Silva',
  payerDocument: '***.982.247-**',
  payerIspb: '99999010',
  feeAmountCents: 0,
  receivedCents: 15000,
  refundedCents: 0,
  refundableCents: 15000,
  refundDeadline: '2027-02-18T13:15:00.000Z',
  failureCode: null,
  failureReason: null,
  cancelRequestedAt: null,
  createdAt: '2026-11-21T13:14:31.902Z',
  updatedAt: '2026-11-21T13:15:02.417Z',
}

/** @source rules#cash-in.detail.1 */
export const getCashIn = endpoint({
  id: 'getCashIn',
  method: 'GET',
  path: '/api/pix/cash-in/{id}',
  auth: 'api-key',
  scope: 'read',
  tag: 'Cash-in',
  summary: 'Read a charge',
  description:
    'The authoritative view: where it and a notification differ, it is right. Poll it every 60 seconds while the status is `PROVIDER_RESULT_UNKNOWN`.',
  params: idOf('cash-in'),
  responses: {
    200: {
      description: 'The charge as it stands now',
      schema: cashInDetail,
      example: detailExample,
    },
  },
  errors: ['not_found'],
})

const cancellingExample = {
  ...detailExample,
  status: 'PENDING',
  endToEndId: null,
  paidAt: null,
  payerName: null,
  payerDocument: null,
  payerIspb: null,
  receivedCents: 0,
  refundableCents: 0,
  refundDeadline: null,
  cancelRequestedAt: '2026-11-21T13:20:00.000Z',
  updatedAt: '2026-11-21T13:20:00.000Z',
}

/** @source rules#cash-in.cancel.3 */
export const cancelCashIn = endpoint({
  id: 'cancelCashIn',
  method: 'POST',
  path: '/api/pix/cash-in/{id}/cancel',
  auth: 'api-key',
  scope: 'charge',
  tag: 'Cash-in',
  summary: 'Cancel an unpaid charge',
  description:
    'Cancels the charge at the bank, so that it can no longer be paid. 200: it is `FAILED` with the `failureCode` `cancelled_by_merchant`. 202: the bank has not confirmed yet; it is asked again, and a notification follows. A payment that is faster wins: the answer is 409, and `existing` has the status `PAID`. Repeat it freely.',
  params: idOf('cash-in'),
  responses: {
    200: {
      description: 'Cancelled',
      schema: cashInDetail,
      example: {
        ...cancellingExample,
        status: 'FAILED',
        pixCode: null,
        failureCode: 'cancelled_by_merchant',
      },
    },
    202: { description: 'Requested; the bank has not confirmed it', schema: cashInDetail, example: cancellingExample },
  },
  errors: ['not_found', 'not_possible_in_state', 'not_supported_by_bank'],
})

/** @source rules#cash-in.qrcode.1 */
export const getCashInQrCode = endpoint({
  id: 'getCashInQrCode',
  method: 'GET',
  path: '/api/pix/cash-in/{id}/qrcode',
  auth: 'api-key',
  scope: 'read',
  tag: 'Cash-in',
  summary: 'Draw the QR code of a charge',
  description:
    'An SVG, or a PNG: by `format`, else by `Accept`. A charge without a code that can be paid is 409; `existing` has its status.',
  params: idOf('cash-in'),
  query: Type.Object(
    {
      format: Type.Optional(
        Type.Enum(['svg', 'png'], { description: 'Default: the first of both that `Accept` names, else `svg`' }),
      ),
      size: Type.Optional(
        Type.Integer({
          minimum: limits.qrCodeMinPixels,
          maximum: limits.qrCodeMaxPixels,
          description: `Width and height in pixels; ${limits.qrCodeDefaultPixels} by default`,
          examples: [limits.qrCodeDefaultPixels],
        }),
      ),
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'The image. It may be kept for a minute, but not by shared caches.',
      contentType: 'image/svg+xml',
      otherContentTypes: ['image/png'],
      headers: ['Vary'],
      schema: Type.String({ title: 'CashInQrCode' }),
      example: '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300" viewBox="0 0 61 61"></svg>',
    },
  },
  errors: ['not_found', 'not_possible_in_state'],
})

const listQuery = Type.Object({ ...operationQuery(cashInStatus), ...paidBetween() }, { additionalProperties: false })

/** @source rules#cash-in.list.1 */
export const listCashIns = endpoint({
  id: 'listCashIns',
  method: 'GET',
  path: '/api/pix/cash-in',
  auth: 'api-key',
  scope: 'read',
  tag: 'Cash-in',
  summary: 'List charges, newest first',
  description: 'By status, times of creation and payment, `external_id` or `end_to_end_id`, page by page.',
  query: listQuery,
  responses: {
    200: {
      description: 'A page of charges as they stand now',
      schema: pageList(cashInDetail, 'CashInPage'),
      example: onlyPage(detailExample),
    },
  },
  errors: [],
})

const incoming = Type.Object(
  { operation: Type.Literal('cash_in'), ...cashInDetail.properties },
  { title: 'IncomingTransaction' },
)

const incomingList = {
  method: 'GET',
  auth: 'api-key',
  scope: 'read',
  tag: 'Transactions',
  summary: 'List incoming transactions, newest first',
  description: 'The cash-in list under the path that aggregates transactions; each item names its operation.',
  query: listQuery,
  responses: {
    200: {
      description: 'A page of incoming transactions',
      schema: pageList(incoming, 'IncomingTransactionPage'),
      example: onlyPage({ operation: 'cash_in', ...detailExample }),
    },
  },
  errors: [],
} as const

/** @source rules#cash-in.list.5 */
export const listIncomingTransactions = endpoint({
  ...incomingList,
  id: 'listIncomingTransactions',
  path: '/api/transactions/cash-in',
})

/** The same list under its short path. @source rules#cash-in.list.5 */
export const listIncomingTransactionsShort = endpoint({
  ...incomingList,
  id: 'listIncomingTransactionsShort',
  path: '/transactions/cash-in',
})
