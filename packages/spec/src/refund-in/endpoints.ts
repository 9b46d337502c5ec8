import { Type } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { CREATED_HEADERS, idempotencyKey, idOf, onlyPage, operationQuery, pageList, uuid } from '../shapes.ts'
import { createRefundInBody, refundInCreated, refundInDetail, refundInStatus } from './shapes.ts'

const createdExample = {
  id: '0198c0e4-51d7-7000-8000-3b4c5d6e7f80',
  cashInId: '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
  externalId: 'refund-3001',
  status: 'PENDING',
  valueCents: 5000,
  reason: 'One item returned',
  createdAt: '2026-11-21T13:25:00.310Z',
}

/** Errors of a refund whose charge is paid. */
export const paidRefundErrors = [
  'duplicate_external_id',
  'refund_deadline_exceeded',
  'refund_exceeds_available',
  'limit_exceeded',
  'insufficient_balance',
  'cash_out_suspended',
  'not_supported_by_bank',
] as const

/** Errors of creating a refund, also by an operator. */
export const refundErrors = ['cash_in_not_found', 'cash_in_not_paid', ...paidRefundErrors] as const

/** @source rules#refund-in.create.1 */
export const createRefundIn = endpoint({
  id: 'createRefundIn',
  method: 'POST',
  path: '/api/pix/refund-in/{id}',
  auth: 'api-key',
  scope: 'refund',
  tag: 'Refund-in',
  summary: 'Give a payment back',
  description:
    'Sets the amount aside at once and answers; the bank is called afterwards. Several partial refunds are possible. Give an `externalId`: with it, a retry of a lost answer gets the id of the existing refund; without one, look for it with `GET /api/pix/refund?cash_in_id=…` first.',
  params: idOf('cash-in'),
  headers: { 'Idempotency-Key': idempotencyKey },
  body: createRefundInBody,
  example: { refundValue: 50, reason: 'One item returned', externalId: 'refund-3001' },
  responses: {
    201: { description: 'Accepted', headers: CREATED_HEADERS, schema: refundInCreated, example: createdExample },
  },
  errors: ['idempotency_key_reused', 'refund_value_not_positive', ...refundErrors],
})

const detailExample = {
  ...createdExample,
  status: 'CONFIRMED',
  transactionId: '9a1b3c5d7e9f4a2b8c6d0e1f2a3b4c5d',
  endToEndId: 'E9999901020261121131500aB3dE5fG7',
  returnId: 'D9999901020261121132500dE5fG7hI9',
  confirmedAt: '2026-11-21T13:25:01.120Z',
  failureCode: null,
  failureReason: null,
  origin: 'MERCHANT',
  updatedAt: '2026-11-21T13:25:01.164Z',
}

/** @source rules#refund-in.detail.1 */
export const getRefundIn = endpoint({
  id: 'getRefundIn',
  method: 'GET',
  path: '/api/pix/refund/{id}',
  auth: 'api-key',
  scope: 'read',
  tag: 'Refund-in',
  summary: 'Read a refund',
  description: 'By the id of the refund, not of the cash-in. The authoritative view.',
  params: idOf('refund-in'),
  responses: { 200: { description: 'The refund as it stands now', schema: refundInDetail, example: detailExample } },
  errors: ['not_found'],
})

/** @source rules#refund-in.list.1 */
export const listRefundIns = endpoint({
  id: 'listRefundIns',
  method: 'GET',
  path: '/api/pix/refund',
  auth: 'api-key',
  scope: 'read',
  tag: 'Refund-in',
  summary: 'List refunds, newest first',
  description:
    'By the payment (`cash_in_id`), status, days of creation (UTC, both inclusive) or reference, page by page.',
  query: Type.Object(
    {
      ...operationQuery(refundInStatus),
      cash_in_id: Type.Optional({
        ...uuid,
        description: 'Only refunds of this cash-in',
        examples: [createdExample.cashInId],
      }),
    },
    { additionalProperties: false },
  ),
  responses: {
    200: {
      description: 'A page of refunds as they stand now',
      schema: pageList(refundInDetail, 'RefundInPage'),
      example: onlyPage(detailExample),
    },
  },
  errors: [],
})
