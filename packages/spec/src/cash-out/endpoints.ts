import { Type } from 'typebox'
import { endpoint } from '../endpoint.ts'
import { CREATED_HEADERS, idempotencyKey, idOf, onlyPage, operationQuery, pageList } from '../shapes.ts'
import {
  cashOutCreated,
  cashOutDetail,
  cashOutFromQrCodeCreated,
  cashOutStatus,
  createCashOutBody,
  createCashOutFromQrCodeBody,
} from './shapes.ts'

const createdExample = {
  id: '0198c0e1-22b4-7000-8000-6a7b8c9d0e1f',
  externalId: 'payout-2001',
  status: 'RESERVED',
  valueCents: 3000,
  description: 'Invoice 77',
  recipient: { name: 'João Souza', pixKey: 'joao@example.com' },
  createdAt: '2026-11-21T13:20:00.114Z',
}

const CREATE_ERRORS = [
  'not_supported_by_bank',
  'idempotency_key_reused',
  'duplicate_external_id',
  'cash_out_suspended',
  'value_not_positive',
  'value_too_large',
  'invalid_document',
  'limit_exceeded',
  'receivable_outstanding',
  'insufficient_balance',
] as const

const RETRYING =
  'Retry a lost answer with the **same** `externalId`: the 409 has the id of the existing payout. Never send a payout again under another one because its outcome is unknown.'

/** @source rules#cash-out.create.1 */
export const createCashOut = endpoint({
  id: 'createCashOut',
  method: 'POST',
  path: '/api/pix/cash-out',
  auth: 'api-key',
  scope: 'payout',
  tag: 'Cash-out',
  summary: 'Send money to a Pix key',
  description: `Sets value and fee aside at once and answers; the bank is called afterwards. ${RETRYING}`,
  headers: { 'Idempotency-Key': idempotencyKey },
  body: createCashOutBody,
  example: {
    transaction: { value: 30, externalId: 'payout-2001', description: 'Invoice 77' },
    recipient: { pixKey: 'joao@example.com', pixKeyType: 'email', name: 'João Souza' },
  },
  responses: {
    201: { description: 'Accepted', headers: CREATED_HEADERS, schema: cashOutCreated, example: createdExample },
  },
  errors: [...CREATE_ERRORS, 'pix_key_type_mismatch'],
})

/** @source rules#cash-out.qrcode.1 */
export const createCashOutFromQrCode = endpoint({
  id: 'createCashOutFromQrCode',
  method: 'POST',
  path: '/api/pix/cash-out-qrcode',
  auth: 'api-key',
  scope: 'payout',
  tag: 'Cash-out',
  summary: 'Pay a Pix QR code',
  description: `Reads the code’s terms at the bank, reserves amount and fee, and answers. ${RETRYING}`,
  headers: { 'Idempotency-Key': idempotencyKey },
  body: createCashOutFromQrCodeBody,
  example: {
    transaction: {
      pixCode:
        '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D',
      value: 30,
      externalId: 'payout-2002',
    },
  },
  responses: {
    201: {
      description: 'Accepted',
      headers: CREATED_HEADERS,
      schema: cashOutFromQrCodeCreated,
      example: {
        id: createdExample.id,
        externalId: 'payout-2002',
        status: 'RESERVED',
        valueCents: 3000,
        recipient: { name: 'Fulano de Tal', pixKey: '123e4567-e12b-12d1-a456-426655440000' },
        paymentType: 'qrcode',
        createdAt: createdExample.createdAt,
      },
    },
  },
  errors: [
    ...CREATE_ERRORS,
    'invalid_pix_code',
    'pix_code_in_use',
    'pix_code_not_payable',
    'pix_code_value_mismatch',
    'partner_unavailable',
  ],
})

const detailExample = {
  ...createdExample,
  correlationId: 'payroll-12',
  paymentType: 'key',
  status: 'CONFIRMED',
  recipient: {
    ...createdExample.recipient,
    pixKeyType: 'email',
    document: '***.444.777-**',
    ispb: '99999010',
  },
  max_fee_cents: 0,
  reserved_total_cents: 3000,
  endToEndId: 'E9999901020261121132000bC4eF6gH8',
  transactionId: '7c2d4e6f8a0b4c1d9e3f5a7b9c1d3e5f',
  feeAmountCents: 0,
  reversedCents: 0,
  failureCode: null,
  failureReason: null,
  dispatchedAt: '2026-11-21T13:20:00.131Z',
  confirmedAt: '2026-11-21T13:20:00.902Z',
  updatedAt: '2026-11-21T13:20:00.951Z',
}

/** @source rules#cash-out.detail.1 */
export const getCashOut = endpoint({
  id: 'getCashOut',
  method: 'GET',
  path: '/api/pix/cash-out/{id}',
  auth: 'api-key',
  scope: 'read',
  tag: 'Cash-out',
  summary: 'Read a payout',
  description: 'The authoritative view: where it and a notification differ, it is right.',
  params: idOf('cash-out'),
  responses: { 200: { description: 'The payout as it stands now', schema: cashOutDetail, example: detailExample } },
  errors: ['not_found'],
})

/** @source rules#cash-out.list.1 */
export const listCashOuts = endpoint({
  id: 'listCashOuts',
  method: 'GET',
  path: '/api/pix/cash-out',
  auth: 'api-key',
  scope: 'read',
  tag: 'Cash-out',
  summary: 'List payouts, newest first',
  description: 'By status, days of creation (UTC, both inclusive), `external_id` or `end_to_end_id`, page by page.',
  query: Type.Object(operationQuery(cashOutStatus), { additionalProperties: false }),
  responses: {
    200: {
      description: 'A page of payouts as they stand now',
      schema: pageList(cashOutDetail, 'CashOutPage'),
      example: onlyPage(detailExample),
    },
  },
  errors: [],
})
