import type { CashInStatus } from '@pixgate/spec'
import type { Payment } from '../../src/banks/port.ts'
import type { CashIn, CashInEvent, CashInFacts, CashInInput } from '../../src/cash-in/cash-in.ts'
import type { KnownReturn, ReturnInDoubt } from '../../src/cash-in/returns.ts'
import { reasonFact } from '../../src/engine/follow.ts'
import { orderId } from '../../src/platform/ids.ts'
import { cashInRequest, payment, TERMS } from '../support/engine.ts'
import { MADE_BY } from '../support/limits.ts'

/** Cash-ins in every state, and everything that may happen to them, for tests of the rules alone. */

/** When the tests take place: half an hour after the charge was made, half an hour before it ends. */
export const NOW = Date.parse('2026-11-21T13:30:00.000Z')
export const CREATED_AT = NOW - 1_800_000
export const EXPIRES_AT = NOW + 1_800_000

/** A charge that the bank knows. */
export const CHARGED = { pixCode: 'the code' }

/** A charge whose exact value was paid by E1. */
export const PAID = {
  ...CHARGED,
  payments: { E1: 100_00 },
  paidAt: NOW - 60_000,
  payerName: 'Maria da Silva',
  payerDocument: '52998224725',
  payerIspb: '99999010',
}

/** What is known in each state, at the least. */
const FACTS: Readonly<Record<CashInStatus, CashInFacts>> = {
  PENDING: {},
  PAID,
  EXPIRED: {},
  FAILED: { failureCode: 'refused', failureReason: null },
  PROVIDER_RESULT_UNKNOWN: { unknownSince: NOW - 60_000, questions: 3 },
  RECONCILIATION_REQUIRED: reasonFact('conflict'),
}

/** A charge of R$ 100,00 with a fee of R$ 1,00. */
export function cashInAs(status: CashInStatus, given: Partial<CashIn> = {}): CashIn {
  const { id, externalId, valueCents, correlationId, bodyHash, idempotencyKey } = cashInRequest({
    id: '0198c0de-7a11-7000-8000-5f1d3c2b1a09',
    externalId: 'order-1',
  })
  return {
    id,
    kind: 'cash_in',
    externalId,
    orderId: orderId(TERMS.installation, { kind: 'cash_in', externalId }),
    status,
    version: 3,
    valueCents,
    feeCents: 1_00n,
    correlationId,
    bodyHash,
    idempotencyKey,
    exclusiveKey: null,
    expiresAt: EXPIRES_AT,
    dueAt: null,
    transactionId: status === 'PAID' ? 'tx' : null,
    endToEndId: status === 'PAID' ? 'E1' : null,
    detail: { description: null, generateQrCode: true, payer: null, merchant: TERMS.merchant },
    facts: FACTS[status],
    createdAt: CREATED_AT,
    updatedAt: CREATED_AT,
    openCases: [],
    ...given,
  }
}

/** Returns that count as gone back, by return id. */
export function wentBack(cents: Readonly<Record<string, number>>): Record<string, KnownReturn> {
  return Object.fromEntries(Object.entries(cents).map(([id, cents]) => [id, { state: 'booked', cents }]))
}

/** A return of R$ 30,00, reported just now, that may be a refund. */
export const IN_DOUBT: ReturnInDoubt = {
  state: 'in_doubt',
  cents: 30_00,
  occurredAt: NOW - 1_000,
  transactionId: 'tx-b',
  since: NOW,
  answered: [],
}

/** The bank reports a payment, of the exact value and just now unless told otherwise. */
export function confirmed(given: Partial<Payment> = {}): Extract<CashInInput, { on: 'partner.confirmed' }> {
  return {
    on: 'partner.confirmed',
    payment: payment({ endToEndId: 'E1', occurredAt: NOW - 1_000, ...given }),
    transactionId: 'tx',
  }
}

/** One input of each kind that a cash-in can be given. */
export const INPUTS = {
  'cancel.requested': { on: 'cancel.requested', by: MADE_BY },
  'work.requested': { on: 'work.requested' },
  'work.claimed': { on: 'work.claimed', leaseMs: 30_000 },
  'work.done': { on: 'work.done', bankAnswer: { kind: 'NOT_FOUND' }, isAnswered: true, hasOutcome: true },
  'charge.accepted': { on: 'charge.accepted', transactionId: 'tx', pixCode: 'the code' },
  'charge.rejected': { on: 'charge.rejected', errorCode: 'limit', errorMessage: 'too much' },
  'charge.not_sent': { on: 'charge.not_sent', reason: 'ECONNREFUSED' },
  'charge.unknown': { on: 'charge.unknown', reason: 'timeout' },
  'charge.contradicted': { on: 'charge.contradicted', reason: 'other valueCents' },
  'charge.not_found': { on: 'charge.not_found', askedAt: NOW - 1_000, isSwept: true },
  'partner.confirmed': confirmed(),
  'partner.failed': {
    on: 'partner.failed',
    errorCode: 'removed',
    errorMessage: 'removed by the bank',
    transactionId: 'tx',
    occurredAt: NOW - 1_000,
    isVerified: true,
  },
  'clock.expired': { on: 'clock.expired', isSwept: true },
  'refund.reserved': { on: 'refund.reserved', refundId: 'refund-1', valueCents: 30_00n },
  'refund.confirmed': { on: 'refund.confirmed', refundId: 'refund-1', returnId: 'D1', valueCents: 30_00n },
  'refund.released': { on: 'refund.released', refundId: 'refund-1', valueCents: 30_00n },
  'refund.taken': { on: 'refund.taken', refundId: 'refund-1', returnId: 'D1', valueCents: 30_00n },
  'refund.named': { on: 'refund.named', refundId: 'refund-1', transactionId: 'tx-r', valueCents: 30_00n },
  'refund.answered': { on: 'refund.answered', refundId: 'refund-1', returnIds: ['D1'], hasEnded: false },
  'return.told': {
    on: 'return.told',
    returnId: 'D1',
    valueCents: 30_00n,
    occurredAt: NOW - 1_000,
    transactionId: 'tx-b',
    at: NOW,
    alsoOpen: {},
  },
  'return.unexplained': {
    on: 'return.unexplained',
    returnId: 'D1',
    heldCents: 20_00n,
    refundIds: ['refund-1'],
  },
  'return.known': { on: 'return.known', returnId: 'D1' },
} as const satisfies Readonly<Record<CashInEvent['on'], CashInEvent>>
