import type { AccountCode, RefundInStatus } from '@pixgate/spec'
import type { CashIn, CashInFacts } from '../../src/cash-in/cash-in.ts'
import type { Operation, State } from '../../src/engine/operation.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { orderId } from '../../src/platform/ids.ts'
import type { RefundIn, RefundInFacts, RefundInInput, Return } from '../../src/refund-in/refund-in.ts'
import { PAID as CREDITED, cashInAs, NOW, wentBack } from '../cash-in/situations.ts'
import { INSTALLATION, NOTHING_USED } from '../support/limits.ts'
import { ORDER_INPUTS } from '../support/order-inputs.ts'

/** Refunds in every state, and everything that may happen to them, for tests of the rules alone. */

export const REFUND_ID = '0198c0e4-51d7-7000-8000-3b4c5d6e7f80'

/** A refund of which one attempt is open. */
export const SENT = { attempts: 1, firstAttemptAt: NOW - 10_000, lastAttemptAt: NOW - 10_000 }

/** What is known in each state, at the least. */
const FACTS: Readonly<Record<RefundInStatus, RefundInFacts>> = {
  PENDING: SENT,
  CONFIRMED: { ...SENT, returns: { D1: 30_00 }, returnId: 'D1', confirmedAt: NOW - 5_000 },
  FAILED: { ...SENT, failureCode: 'refused', failureReason: null },
}

/** What its cash-in counts of it. */
const COUNTED: Readonly<Record<RefundInStatus, CashInFacts>> = {
  PENDING: { refundsOpenCents: 30_00, openRefunds: { [REFUND_ID]: { valueCents: 30_00, transactionId: null } } },
  CONFIRMED: { refundsOpenCents: 0, returns: wentBack({ D1: 30_00 }) },
  FAILED: { refundsOpenCents: 0 },
}

/** A refund of R$ 30,00. */
export function refundAs(status: RefundInStatus, given: Partial<RefundIn> = {}): RefundIn {
  return {
    id: REFUND_ID,
    kind: 'refund_in',
    externalId: 'refund-1',
    orderId: orderId(INSTALLATION, { kind: 'refund_in', endToEndId: 'E1', externalId: 'refund-1' }),
    status,
    version: 3,
    valueCents: 30_00n,
    feeCents: 0n,
    correlationId: 'test',
    bodyHash: sha256('refund-1'),
    idempotencyKey: null,
    exclusiveKey: null,
    expiresAt: null,
    dueAt: null,
    transactionId: null,
    endToEndId: 'E1',
    detail: { cashInId: paidCashIn().id, reason: null, origin: 'MERCHANT' },
    facts: FACTS[status],
    createdAt: NOW - 20_000,
    updatedAt: NOW - 20_000,
    openCases: [],
    ...given,
  }
}

/** A cash-in of R$ 100,00 that was paid, with what it knows besides. */
export function paidCashIn(facts: CashInFacts = {}): CashIn {
  return cashInAs('PAID', { facts: { ...CREDITED, ...facts } })
}

/** The cash-in of {@link refundAs}. */
export function cashInOf(status: RefundInStatus, facts: CashInFacts = {}): CashIn {
  return paidCashIn({ ...COUNTED[status], ...facts })
}

/** What decisions look at: these operations, and this much of available money. */
export function stateOf(availableCents = 1_000_00n, ...operations: readonly Operation[]): State {
  const balances: Partial<Record<AccountCode, bigint>> = { available: availableCents }
  return {
    operation: (id) => operations.find((operation) => operation.id === id),
    openCase: () => undefined,
    balance: (code) => balances[code] ?? 0n,
    control: () => ({ enabled: true }),
    movement: () => undefined,
    versionOf: () => 1n,
    ...NOTHING_USED,
  }
}

/** The same where another operation has every movement. */
export const TAKEN: State = { ...stateOf(), movement: () => ({ operationId: 'another', valueCents: 30_00n }) }

/** The bank says that money went back, all of it and just now unless told otherwise. */
export function confirmed(given: Partial<Return> = {}, isVerified = true) {
  const returned = { returnId: 'D1', valueCents: 30_00n, occurredAt: NOW - 1_000, ...given }
  return { on: 'partner.confirmed', returned, transactionId: 'tx-r', isVerified } as const
}

/** One input of each kind that a refund can be given. */
export const INPUTS = {
  ...ORDER_INPUTS,
  'send.accepted': { on: 'send.accepted', transactionId: 'tx-r' },
  'send.rejected': { on: 'send.rejected', attempt: 1, errorCode: 'AC07', errorMessage: 'account closed' },
  'send.contradicted': { on: 'send.contradicted', reason: 'other id', transactionId: null },
  'partner.confirmed': confirmed(),
  'partner.failed': {
    on: 'partner.failed',
    errorCode: 'AC07',
    errorMessage: 'account closed',
    transactionId: 'tx-r',
    occurredAt: NOW - 1_000,
    isVerified: true,
  },
  'send.postponed': { on: 'send.postponed' },
  'partner.not_found': { on: 'partner.not_found', windowMs: 0, askedAt: NOW },
  'operator.refused': {
    on: 'operator.refused',
    approver: { actor: '0198c0d1-3f00-7000-8000-5e6f1a2b3c4d', actorName: 'Bia', address: '203.0.113.8' },
    reason: 'nobody knows it',
  },
} as const satisfies Readonly<Record<RefundInInput['on'], RefundInInput>>
