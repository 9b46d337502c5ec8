import assert from 'node:assert/strict'
import test from 'node:test'
import { type CashInStatus, cashIn, type JournalKind, limits, Refusal } from '@pixgate/spec'
import type { CashIn, CashInEvent, CashInFacts } from '../../src/cash-in/cash-in.ts'
import { decideCreate } from '../../src/cash-in/commands.ts'
import {
  reportedCents,
  reportedFailureFact,
  reportedPayments,
  reportedPaymentsFact,
} from '../../src/cash-in/reported.ts'
import { refundedCents } from '../../src/cash-in/returns.ts'
import { decideCashIn } from '../../src/cash-in/rules.ts'
import { reasonFact } from '../../src/engine/follow.ts'
import type { OpenCase } from '../../src/engine/operation.ts'
import { cashInRequest, TERMS } from '../support/engine.ts'
import { MADE_BY } from '../support/limits.ts'
import { withOpenCases } from '../support/open-cases.ts'
import {
  assertEffects,
  inShort,
  operationAfter,
  pairsWithoutRow,
  placeAfter,
  type Row,
  statusIn,
  testRows,
  whyOf,
} from '../support/rows.ts'
import {
  CHARGED,
  CREATED_AT,
  cashInAs,
  confirmed,
  EXPIRES_AT,
  IN_DOUBT,
  INPUTS,
  NOW,
  PAID,
  wentBack,
} from './situations.ts'

/** Where a charge stands. */
type Place = Exclude<CashInStatus, 'RECONCILIATION_REQUIRED'> | typeof NO_ANSWER | typeof CONFLICT

const NO_ANSWER = 'RECONCILIATION_REQUIRED:no_answer'
const CONFLICT = 'RECONCILIATION_REQUIRED:conflict'
const OPEN = ['PENDING', 'PROVIDER_RESULT_UNKNOWN', NO_ANSWER] as const
const UNANSWERED = ['PROVIDER_RESULT_UNKNOWN', NO_ANSWER] as const
const PAYABLE = ['PENDING', 'PROVIDER_RESULT_UNKNOWN', 'EXPIRED'] as const
const DOUBT = [NO_ANSWER, CONFLICT] as const
const CREDITED = ['PAID', ...DOUBT] as const
const ANY = [...PAYABLE, 'PAID', 'FAILED', ...DOUBT] as const

/** When a charge that nobody works on is looked at next: never, where nothing is said here. */
const RESTING = EXPIRES_AT + 2_000
const RESTS: Partial<Readonly<Record<Place, number>>> = {
  PENDING: RESTING,
  PROVIDER_RESULT_UNKNOWN: NOW + 60_000,
  [NO_ANSWER]: NOW + 60_000,
}

/** The bank’s answer came. */
const SETTLED = { unknownSince: null }
const REFUSED = { failureCode: 'limit', failureReason: 'too much', ...SETTLED }
const REMOVED = { failureCode: 'removed', failureReason: 'removed by the bank', ...SETTLED }
const LONG_UNKNOWN = { unknownSince: NOW - 900_000, questions: 17 }
const OVER = { expiresAt: NOW - 60_000 }
const DUE = { dueAt: NOW }
const LEASED = { dueAt: NOW + 30_000 }
const OTHER_REFERENCE = { ...INPUTS['charge.accepted'], transactionId: 'tx-9' } as const
const { pixCode: _code, ...WITHOUT_CODE } = INPUTS['charge.accepted']
/** The bank did not know the charge a minute ago, and its last attempt is long over. */
const ABSENT = { ...CHARGED, notFoundSince: NOW - 61_000, notFoundAt: NOW - 61_000, lastAttemptAt: NOW - 1_000_000 }
const { pixCode: _absent, ...UNKNOWN_AT_BANK } = ABSENT
const NOT_FOUND = INPUTS['charge.not_found']

/** The merchant wants a charge cancelled, and the bank says that it is. */
const CANCEL = INPUTS['cancel.requested']
const REQUESTED = { cancelRequested: { ...MADE_BY, at: NOW } }
const CANCELLED = { ...INPUTS['partner.failed'], errorCode: 'charge_cancelled' } as const
const BY_MERCHANT = { failureCode: 'cancelled_by_merchant', failureReason: null, ...SETTLED }

/** An event asks for a status query, which is due at once. */
const ASKED = { isQuestionWanted: true, eventQueries: 0 } as const
const EVENT_FAILURE = { ...INPUTS['partner.failed'], isVerified: false } as const
const REPORTED_FAILURE = reportedFailureFact({
  errorCode: 'removed',
  errorMessage: 'removed by the bank',
  occurredAt: NOW - 1_000,
})
const EVENT_PAYMENT = { ...confirmed({ endToEndId: 'E2' }), unverified: 'query' } as const
const BELIEVED = { ...confirmed(), unverified: 'book' } as const
const REPORTED_E2 = { E2: { valueCents: 100_00, occurredAt: NOW - 1_000, since: NOW } }
/** An event told a payment a quarter of an hour ago, which the bank has not confirmed. */
const UNCONFIRMED = reportedPaymentsFact({
  E9: { valueCents: 100_00, occurredAt: NOW - 900_000, since: NOW - 900_000 },
})
const UNCONFIRMED_EVIDENCE = { bankAnswer: { kind: 'NOT_FOUND' }, ...UNCONFIRMED, valueCents: 100_00 }
/** Payments that only events reported, as many as are kept but for one. */
const NINETEEN = Object.fromEntries(
  Array.from({ length: 19 }, (_, index) => [`R${index}`, { valueCents: 100_00, occurredAt: NOW, since: NOW }]),
)

/** A payment is credited. */
const E1 = { transactionId: 'tx', endToEndId: 'E1' }
const CREDIT = {
  payments: { E1: 100_00 },
  paidAt: NOW - 1_000,
  payerName: 'Maria da Silva',
  payerDocument: '52998224725',
  payerIspb: '99999010',
  ...SETTLED,
}
/** A payment goes to suspense. */
function suspended(cents = 100_00, id = 'E1', occurredAt = NOW - 1_000) {
  const evidence = { endToEndId: id, valueCents: cents, occurredAt }
  return {
    posts: 'arrived_unattributed',
    ids: { transactionId: 'tx' },
    learns: { payments: { [id]: cents } },
    reference: id,
    evidence,
  } as const
}
/** Another operation has it: nothing is booked. */
const { posts: _booked, ...NOT_BOOKED } = suspended()
const ELSEWHERE = { ...NOT_BOOKED, learns: { elsewhere: { E1: 100_00 } } }
const BOTH = { payments: { E1: 100_00, E2: 100_00 } }
const E2 = confirmed({ endToEndId: 'E2' })
const SECOND = { ...suspended(100_00, 'E2'), learns: BOTH }
const { posts: _second, ...SECOND_NOT_BOOKED } = SECOND
const SECOND_ELSEWHERE = { ...SECOND_NOT_BOOKED, learns: { elsewhere: { E2: 100_00 } } }
const OTHER_AMOUNT = confirmed({ valueCents: 99_00n })
const EARLY_AT = CREATED_AT - 300_001

/** Of R$ 100,00 that were paid R$ 30,00 are about to go back, and R$ 60,00 went. */
const REFUND = { valueCents: 30_00, transactionId: null }
const REFUNDED = {
  ...PAID,
  refundsOpenCents: 30_00,
  openRefunds: { 'refund-1': REFUND },
  returns: wentBack({ D0: 60_00 }),
}
const RETURNED = { ...PAID, returns: wentBack({ D0: 60_00 }) }
const BACK = wentBack({ D0: 60_00, D1: 30_00 })
const D1 = { returnId: 'D1', valueCents: 30_00 }
const ENDED = { refundsOpenCents: 0, openRefunds: {} }
const MUCH_WENT = { facts: { ...REFUNDED, returns: wentBack({ D0: 71_00 }) } }
const TOO_MUCH = { opens: 'bank_contradicts', reference: 'D1', evidence: D1 }
/** A return waits to be known, since just now; and what is there of it may be held. */
const TOLD = INPUTS['return.told']
const DOUBTED = { ...REFUNDED, returns: { ...REFUNDED.returns, D1: IN_DOUBT } }
const HELD_BEFORE = { ...REFUNDED, returns: { ...REFUNDED.returns, D1: { ...IN_DOUBT, wasHeld: true } } }
const HELD = { ...REFUNDED, returns: { ...REFUNDED.returns, D1: { ...IN_DOUBT, heldCents: 20_00 } } }
/** A return is of E1, or is told without its id; some are in suspense. */
const OF_E1 = { ...TOLD, endToEndId: 'E1' } as const
const UNNAMED = { ...OF_E1, isUnnamed: true } as const
const E1_BACK = { ...D1, endToEndId: 'E1' }
const ASIDE = { state: 'in_suspense', cents: 30_00 } as const
const ASIDE_UNNAMED = { ...ASIDE, unnamedOf: 'E1' }
const PAID_TWICE = { endToEndId: 'E1', facts: { ...PAID, payments: { E1: 100_00, E2: 30_00 } } }
/** E2 is in suspense, and an operator has a part of it returned to its payer. */
const E2_RETURNING = { ...REFUND, payment: 'E2' }
const TO_PAYER: CashInFacts = {
  ...PAID,
  payments: { E1: 100_00, E2: 60_00 },
  openRefunds: { 'refund-1': E2_RETURNING },
}
const ONLY_E2: CashInFacts = { ...TO_PAYER, payments: { E2: 60_00 } }
const FROM_E2 = { state: 'from_suspense', cents: 30_00, endToEndId: 'E2', refundId: 'refund-1' } as const
const OF_E2 = { ...TOLD, endToEndId: 'E2' } as const
/** Of E2, R$ 60,00, R$ 20,00 were accepted as the payment and the rest was written off. */
const ACCEPTED_IN_PART = {
  endToEndId: 'E2',
  facts: { payments: { E2: 60_00 }, acceptedCents: 20_00, decidedPayments: { E2: 40_00 } },
} as const
const DECIDED = { payments: { E1: 30_00 }, decidedPayments: { E1: 30_00 } }

/** What must come of each input, written by hand: nothing here is read from the table of the machine. */
// biome-ignore format: one expectation a row
const ROWS: readonly Row<CashIn, CashInEvent, Place>[] = [
  // Work.
  { rule: 'cash-in.work.1', from: ANY, input: INPUTS['work.requested'], to: 'same', learns: ASKED, dueAt: NOW },
  { rule: 'cash-in.work.7', from: [...PAYABLE, 'FAILED', ...DOUBT], before: DUE, input: INPUTS['work.claimed'], to: 'same', learns: { leaseUntil: NOW + 30_000, isQuestionWanted: false, lastAttemptAt: NOW }, dueAt: NOW + 30_000 },
  { rule: 'cash-in.work.7', from: ['PAID'], before: DUE, input: INPUTS['work.claimed'], to: 'same', learns: { leaseUntil: NOW + 30_000, isQuestionWanted: false }, dueAt: NOW + 30_000 },
  { rule: 'cash-in.work.2', from: ANY, input: INPUTS['work.claimed'], before: { dueAt: NOW + 1 }, to: 'ignored' },
  { rule: 'cash-in.create.7', from: ['PENDING'], before: { ...DUE, facts: { unsent: 'proven' } }, input: INPUTS['work.claimed'], to: 'same', learns: { leaseUntil: NOW + 30_000, isQuestionWanted: false, lastAttemptAt: NOW, unsent: 'claimed' }, dueAt: NOW + 30_000 },
  { rule: 'cash-in.create.7', from: ['PENDING'], before: { ...DUE, facts: { unsent: 'claimed' } }, input: INPUTS['work.claimed'], to: 'same', learns: { leaseUntil: NOW + 30_000, isQuestionWanted: false, lastAttemptAt: NOW, unsent: null }, dueAt: NOW + 30_000 },
  { rule: 'cash-in.work.3', from: [...PAYABLE, 'PAID', 'FAILED', NO_ANSWER], before: LEASED, input: INPUTS['work.done'], to: 'same', learns: { leaseUntil: null } },
  { rule: 'cash-in.paid.5', from: [CONFLICT], before: LEASED, input: INPUTS['work.done'], to: 'same', learns: { leaseUntil: null, bankAnswer: { kind: 'NOT_FOUND' } } },
  { rule: 'cash-in.work.3', from: ['PENDING'], before: { ...LEASED, expiresAt: NOW - 1_999 }, input: INPUTS['work.done'], to: 'same', learns: { leaseUntil: null, inconclusive: 1 }, dueAt: NOW + 1 },
  { rule: 'cash-in.work.3', from: ['PENDING'], before: { ...LEASED, expiresAt: NOW - 2_000 }, input: INPUTS['work.done'], to: 'same', learns: { leaseUntil: null, inconclusive: 1 }, dueAt: NOW + 60_000 },
  { rule: 'cash-in.expired.5', from: ['PENDING'], before: { expiresAt: NOW - 3_600_000, facts: { inconclusive: 4 } }, input: INPUTS['work.done'], to: 'same', opens: 'charge_unclear', learns: { leaseUntil: null, inconclusive: 5, isEndCaseOpen: true }, dueAt: NOW + 3_600_000, evidence: { bankAnswer: { kind: 'NOT_FOUND' } } },
  { rule: 'cash-in.credits.4', from: ['PENDING', 'PAID', 'EXPIRED', 'FAILED'], before: { facts: { ...UNCONFIRMED, inconclusive: 2 } }, input: INPUTS['work.done'], to: 'same', opens: 'payment_unconfirmed', learns: { leaseUntil: null, inconclusive: 3, isPaymentCaseOpen: true }, dueAt: NOW + 300_000, evidence: UNCONFIRMED_EVIDENCE },
  { rule: 'cash-in.credits.4', from: UNANSWERED, before: { facts: { ...UNCONFIRMED, inconclusive: 2 } }, input: INPUTS['work.done'], to: 'same', opens: 'payment_unconfirmed', learns: { leaseUntil: null, inconclusive: 3, isPaymentCaseOpen: true }, evidence: UNCONFIRMED_EVIDENCE },

  // The bank’s answer to the charge.
  { rule: 'cash-in.states.2', from: ['PENDING'], input: INPUTS['charge.accepted'], to: 'same', ids: { transactionId: 'tx' }, learns: { ...CHARGED, ...SETTLED } },
  { rule: 'cash-in.states.2', from: ['PENDING'], input: WITHOUT_CODE, to: 'same', ids: { transactionId: 'tx' }, learns: SETTLED },
  { rule: 'cash-in.states.2', from: ['PENDING'], before: { transactionId: 'tx' }, input: WITHOUT_CODE, to: 'ignored' },
  { rule: 'cash-in.states.15', from: ['PENDING'], before: { transactionId: 'tx', facts: ABSENT }, input: INPUTS['charge.accepted'], to: 'same', learns: { notFoundSince: null, notFoundAt: null, ...SETTLED } },
  { rule: 'cash-in.unknown.1', from: UNANSWERED, input: INPUTS['charge.accepted'], to: 'PENDING', ids: { transactionId: 'tx' }, learns: { ...CHARGED, ...SETTLED } },
  { rule: 'cash-in.expired.1', from: ['EXPIRED'], input: INPUTS['charge.accepted'], to: 'same', ids: { transactionId: 'tx' }, learns: CHARGED },
  { rule: 'cash-in.expired.1', from: ['PAID'], before: { transactionId: null, facts: { notFoundSince: NOW - 61_000 } }, input: INPUTS['charge.accepted'], to: 'same', ids: { transactionId: 'tx' }, learns: { notFoundSince: null, notFoundAt: null } },
  { rule: 'cash-in.failed.1', from: ['FAILED'], input: INPUTS['charge.accepted'], to: 'same', opens: 'charge_unclear', ids: { transactionId: 'tx' }, learns: CHARGED, dueAt: NOW, evidence: { transactionId: 'tx' } },
  { rule: 'cash-in.failed.1', from: ['FAILED'], before: { dueAt: NOW + 50_000 }, input: INPUTS['charge.accepted'], to: 'same', opens: 'charge_unclear', ids: { transactionId: 'tx' }, learns: CHARGED, dueAt: NOW + 50_000, evidence: { transactionId: 'tx' } },
  { rule: 'cash-in.states.2', from: ['PENDING', 'EXPIRED', 'FAILED', CONFLICT], before: { transactionId: 'tx', facts: CHARGED }, input: INPUTS['charge.accepted'], to: 'ignored' },
  { rule: 'cash-in.states.6', from: ['PENDING', 'PROVIDER_RESULT_UNKNOWN'], before: { transactionId: 'tx', facts: CHARGED }, input: OTHER_REFERENCE, to: CONFLICT, opens: 'charge_unclear', evidence: { reason: 'another transactionId for the same charge' } },
  { rule: 'cash-in.states.16', from: ['EXPIRED', 'PAID', 'FAILED', NO_ANSWER, CONFLICT], before: { transactionId: 'tx' }, input: OTHER_REFERENCE, to: 'ignored' },
  { rule: 'cash-in.states.3', from: ['PENDING'], input: INPUTS['charge.rejected'], to: 'FAILED', emits: 'pix_cash_in', learns: REFUSED },
  { rule: 'cash-in.unknown.2', from: UNANSWERED, input: INPUTS['charge.rejected'], to: 'FAILED', emits: 'pix_cash_in', learns: REFUSED },
  { rule: 'cash-in.paid.2', from: ['PAID'], input: INPUTS['charge.rejected'], to: 'same', opens: 'charge_unclear', evidence: { errorCode: 'limit', errorMessage: 'too much' } },
  { rule: 'cash-in.states.4', from: ['PENDING'], input: INPUTS['charge.not_sent'], to: 'same', learns: { questions: 1 }, dueAt: NOW + 5_000 },
  { rule: 'cash-in.create.7', from: ['PENDING'], input: { ...INPUTS['charge.not_sent'], isUnsent: true }, to: 'same', learns: { questions: 1, unsent: 'proven' }, dueAt: NOW + 5_000 },
  { rule: 'cash-in.states.5', from: ['PENDING'], input: INPUTS['charge.unknown'], to: 'PROVIDER_RESULT_UNKNOWN', learns: { questions: 1, unknownSince: NOW }, dueAt: NOW + 5_000 },
  { rule: 'cash-in.unknown.3', from: ['PROVIDER_RESULT_UNKNOWN'], input: INPUTS['charge.not_sent'], to: 'same', learns: { questions: 4 }, dueAt: NOW + 30_000 },
  { rule: 'cash-in.unknown.3', from: ['PROVIDER_RESULT_UNKNOWN'], input: INPUTS['charge.unknown'], to: 'same', learns: { questions: 4 }, dueAt: NOW + 30_000 },
  { rule: 'cash-in.unknown.7', from: ['PROVIDER_RESULT_UNKNOWN'], before: { facts: LONG_UNKNOWN }, input: INPUTS['charge.not_sent'], to: NO_ANSWER, opens: 'charge_unclear' },
  { rule: 'cash-in.unknown.7', from: ['PROVIDER_RESULT_UNKNOWN'], before: { facts: LONG_UNKNOWN }, input: INPUTS['charge.unknown'], to: NO_ANSWER, opens: 'charge_unclear' },
  { rule: 'cash-in.states.6', from: ['PENDING', 'PROVIDER_RESULT_UNKNOWN'], input: INPUTS['charge.contradicted'], to: CONFLICT, opens: 'charge_unclear', evidence: { reason: 'other valueCents' } },

  // The merchant’s cancellation.
  { rule: 'cash-in.cancel.2', from: ['PENDING'], before: { facts: { unsent: 'proven' } }, input: CANCEL, to: 'FAILED', emits: 'pix_cash_in', learns: { ...REQUESTED, ...BY_MERCHANT } },
  { rule: 'cash-in.cancel.1', from: OPEN, before: { facts: CHARGED }, input: CANCEL, to: 'same', learns: { ...REQUESTED, ...ASKED }, dueAt: NOW },
  { rule: 'cash-in.cancel.1', from: ['PENDING'], before: { facts: { unsent: 'claimed' } }, input: CANCEL, to: 'same', learns: { ...REQUESTED, ...ASKED }, dueAt: NOW },
  { rule: 'cash-in.cancel.1', from: ['PROVIDER_RESULT_UNKNOWN'], before: { facts: { unsent: 'proven' } }, input: CANCEL, to: 'same', learns: { ...REQUESTED, ...ASKED }, dueAt: NOW },
  { rule: 'cash-in.cancel.5', from: OPEN, before: OVER, input: CANCEL, to: 'ignored' },
  { rule: 'cash-in.cancel.5', from: ['PENDING'], before: { ...OVER, facts: { unsent: 'proven' } }, input: CANCEL, to: 'ignored' },
  { rule: 'cash-in.cancel.3', from: OPEN, before: { facts: REQUESTED }, input: CANCEL, to: 'ignored' },
  { rule: 'cash-in.cancel.4', from: OPEN, before: { facts: REQUESTED }, input: CANCELLED, to: 'FAILED', emits: 'pix_cash_in', ids: { transactionId: 'tx' }, learns: BY_MERCHANT },
  { rule: 'cash-in.cancel.4', from: ['PENDING'], before: { facts: { ...REQUESTED, ...REPORTED_FAILURE } }, input: CANCELLED, to: 'FAILED', emits: 'pix_cash_in', ids: { transactionId: 'tx' }, learns: { ...BY_MERCHANT, ...reportedFailureFact(null) } },
  { rule: 'cash-in.cancel.4', from: ['PENDING'], input: CANCELLED, to: 'FAILED', emits: 'pix_cash_in', ids: { transactionId: 'tx' }, learns: { ...REMOVED, failureCode: 'charge_cancelled' } },
  { rule: 'cash-in.cancel.4', from: ['PENDING'], before: { facts: REQUESTED }, input: INPUTS['partner.failed'], to: 'FAILED', emits: 'pix_cash_in', ids: { transactionId: 'tx' }, learns: REMOVED },
  { rule: 'cash-in.cancel.6', from: OPEN, before: { facts: { ...REQUESTED, ...UNKNOWN_AT_BANK } }, input: NOT_FOUND, to: 'FAILED', emits: 'pix_cash_in', learns: { notFoundAt: NOW - 1_000, ...BY_MERCHANT } },
  { rule: 'cash-in.cancel.6', from: OPEN, before: { ...OVER, facts: { ...REQUESTED, ...UNKNOWN_AT_BANK } }, input: NOT_FOUND, to: 'EXPIRED', learns: SETTLED },
  { rule: 'cash-in.cancel.6', from: UNANSWERED, before: { facts: { ...REQUESTED, ...ABSENT } }, input: NOT_FOUND, to: 'same', learns: { notFoundAt: NOW - 1_000 }, dueAt: NOW + 60_000 },
  { rule: 'cash-in.states.15', from: ['PENDING'], before: { facts: { ...REQUESTED, ...ABSENT } }, input: NOT_FOUND, to: CONFLICT, opens: 'charge_unclear', learns: { notFoundAt: NOW - 1_000 }, evidence: { askedAt: NOW - 1_000, notFoundSince: NOW - 61_000 } },
  { rule: 'cash-in.cancel.6', from: OPEN, before: { facts: { ...REQUESTED, lastAttemptAt: NOW - 1_000_000 } }, input: NOT_FOUND, to: 'same', learns: { notFoundSince: NOW - 1_000, notFoundAt: NOW - 1_000 }, dueAt: NOW + 60_000 },
  { rule: 'cash-in.cancel.6', from: ['PENDING'], before: { ...DUE, facts: REQUESTED }, input: INPUTS['work.claimed'], to: 'same', learns: { leaseUntil: NOW + 30_000, isQuestionWanted: false }, dueAt: NOW + 30_000 },

  // The end without a payment. What reads as EXPIRED changes by money alone.
  { rule: 'cash-in.states.11', from: OPEN, input: INPUTS['clock.expired'], to: 'EXPIRED', learns: SETTLED },
  { rule: 'cash-in.states.11', from: OPEN, before: OVER, input: NOT_FOUND, to: 'EXPIRED', learns: SETTLED },
  { rule: 'cash-in.states.11', from: OPEN, before: { ...OVER, facts: ABSENT }, input: NOT_FOUND, to: 'EXPIRED', learns: SETTLED },
  { rule: 'cash-in.states.15', from: ['PENDING'], before: { facts: ABSENT }, input: NOT_FOUND, to: CONFLICT, opens: 'charge_unclear', learns: { notFoundAt: NOW - 1_000 }, evidence: { askedAt: NOW - 1_000, notFoundSince: NOW - 61_000 } },
  { rule: 'cash-in.states.15', from: OPEN, before: { facts: CHARGED }, input: NOT_FOUND, to: 'same', learns: { notFoundSince: NOW - 1_000, notFoundAt: NOW - 1_000 }, dueAt: NOW + 60_000 },
  { rule: 'cash-in.states.15', from: ['PENDING'], before: { facts: { lastAttemptAt: NOW } }, input: NOT_FOUND, to: 'same', learns: {} },
  { rule: 'cash-in.states.10', from: ['PENDING', 'PROVIDER_RESULT_UNKNOWN', 'PAID', ...DOUBT], input: EVENT_FAILURE, to: 'same', learns: { ...ASKED, ...REPORTED_FAILURE }, dueAt: NOW },
  { rule: 'cash-in.states.10', from: ['PENDING'], input: INPUTS['partner.failed'], to: 'FAILED', emits: 'pix_cash_in', ids: { transactionId: 'tx' }, learns: REMOVED },
  { rule: 'cash-in.states.10', from: ['PENDING'], before: { transactionId: 'the first' }, input: INPUTS['partner.failed'], to: 'FAILED', emits: 'pix_cash_in', learns: REMOVED },
  { rule: 'cash-in.states.10', from: ['PENDING'], before: { facts: REPORTED_FAILURE }, input: { ...INPUTS['partner.failed'], errorCode: 'charge_failed', errorMessage: null, occurredAt: null }, to: 'FAILED', emits: 'pix_cash_in', ids: { transactionId: 'tx' }, learns: { ...REMOVED, ...reportedFailureFact(null) } },
  { rule: 'cash-in.unknown.5', from: UNANSWERED, input: INPUTS['partner.failed'], to: 'FAILED', emits: 'pix_cash_in', ids: { transactionId: 'tx' }, learns: REMOVED },
  { rule: 'cash-in.paid.5', from: ['PAID'], before: { facts: { receivedFrom: 'another' } }, input: INPUTS['partner.failed'], to: 'ignored' },
  { rule: 'cash-in.paid.5', from: ['PAID'], input: INPUTS['partner.failed'], to: CONFLICT, opens: 'bank_contradicts', dueAt: NOW, evidence: { errorCode: 'removed', errorMessage: 'removed by the bank' } },
  { rule: 'cash-in.paid.5', from: ['PAID'], before: { dueAt: NOW + 50_000 }, input: INPUTS['partner.failed'], to: CONFLICT, opens: 'bank_contradicts', dueAt: NOW + 50_000, evidence: { errorCode: 'removed', errorMessage: 'removed by the bank' } },
  { rule: 'cash-in.expired.3', from: ['PENDING'], before: { expiresAt: NOW - 1 }, input: INPUTS['charge.rejected'], to: 'ignored' },
  { rule: 'cash-in.expired.3', from: ['PENDING'], before: { expiresAt: NOW - 1 }, input: INPUTS['charge.unknown'], to: 'ignored' },
  { rule: 'cash-in.expired.3', from: ['PENDING'], before: { expiresAt: NOW - 1 }, input: INPUTS['charge.contradicted'], to: 'ignored' },
  { rule: 'cash-in.expired.3', from: ['PENDING'], before: { expiresAt: NOW - 1 }, input: INPUTS['partner.failed'], to: 'ignored' },
  { rule: 'cash-in.expired.3', from: ['PENDING'], before: { expiresAt: NOW - 1, transactionId: 'tx' }, input: OTHER_REFERENCE, to: 'ignored' },

  // Money that arrives.
  { rule: 'partner-inbox.3', from: ANY, before: { facts: { payments: { E1: 100_00 } } }, input: confirmed(), to: 'ignored' },
  { rule: 'cash-in.paid.3', from: [...PAYABLE, 'PAID', 'FAILED', CONFLICT], before: { facts: { payments: { E1: 100_00 } } }, input: OTHER_AMOUNT, to: 'same', opens: 'bank_contradicts', ids: { transactionId: 'tx' }, reference: 'E1', evidence: suspended(99_00).evidence },
  { rule: 'cash-in.paid.3', from: [NO_ANSWER], before: { facts: { payments: { E1: 100_00 } } }, input: OTHER_AMOUNT, to: CONFLICT, opens: 'bank_contradicts', ids: { transactionId: 'tx' }, reference: 'E1', evidence: suspended(99_00).evidence },
  { rule: 'cash-in.credits.5', from: ANY, before: { facts: reportedPaymentsFact(NINETEEN) }, input: EVENT_PAYMENT, to: 'same', opens: 'payment_unconfirmed', learns: { ...ASKED, ...reportedPaymentsFact({ ...NINETEEN, ...REPORTED_E2 }), isPaymentCaseOpen: true }, dueAt: NOW, reference: 'E2', evidence: { endToEndId: 'E2', valueCents: 20 * 100_00, occurredAt: NOW - 1_000 } },
  { rule: 'cash-in.credits.1', from: ANY, input: EVENT_PAYMENT, to: 'same', learns: { ...ASKED, ...reportedPaymentsFact(REPORTED_E2) }, dueAt: NOW },
  { rule: 'cash-in.states.13', from: [...PAYABLE, 'FAILED', ...DOUBT], input: { ...confirmed(), isBookedElsewhere: true }, to: CONFLICT, opens: 'movement_elsewhere', ...ELSEWHERE },
  { rule: 'cash-in.states.13', from: ['PAID'], input: { ...E2, isBookedElsewhere: true }, to: 'same', opens: 'movement_elsewhere', ...SECOND_ELSEWHERE },
  { rule: 'cash-in.reconciliation.2', from: DOUBT, before: { facts: { payments: { E1: 100_00 } } }, input: E2, to: CONFLICT, opens: 'payment_in_suspense', ...SECOND },
  { rule: 'cash-in.states.8', from: [...PAYABLE, ...DOUBT], input: OTHER_AMOUNT, to: CONFLICT, opens: 'payment_in_suspense', ...suspended(99_00) },
  { rule: 'cash-in.states.9', from: ['PENDING', 'EXPIRED'], before: { expiresAt: NOW - 60_002 }, input: confirmed({ occurredAt: NOW - 1 }), to: CONFLICT, opens: 'payment_in_suspense', ...suspended(100_00, 'E1', NOW - 1) },
  { rule: 'cash-in.states.14', from: [...PAYABLE, ...DOUBT], input: confirmed({ occurredAt: EARLY_AT }), to: CONFLICT, opens: 'payment_in_suspense', ...suspended(100_00, 'E1', EARLY_AT) },
  { rule: 'cash-in.states.12', from: [...PAYABLE, ...DOUBT], input: { ...confirmed(), isContradicted: true }, to: CONFLICT, opens: 'payment_in_suspense', ...suspended() },
  { rule: 'cash-in.states.7', from: ['PENDING'], input: confirmed(), to: 'PAID', posts: 'cash_in_paid', emits: 'pix_cash_in', ids: E1, learns: CREDIT, reference: 'E1' },
  { rule: 'cash-in.states.7', from: ['PENDING'], before: { transactionId: 'the first' }, input: confirmed(), to: 'PAID', posts: 'cash_in_paid', emits: 'pix_cash_in', ids: E1, learns: CREDIT, reference: 'E1' },
  { rule: 'cash-in.credits.1', from: ['PENDING'], input: BELIEVED, to: 'PAID', posts: 'cash_in_paid', emits: 'pix_cash_in', ids: E1, learns: CREDIT, reference: 'E1' },
  { rule: 'cash-in.unknown.4', from: UNANSWERED, input: confirmed(), to: 'PAID', posts: 'cash_in_paid', emits: 'pix_cash_in', ids: E1, learns: CREDIT, reference: 'E1' },
  { rule: 'cash-in.expired.2', from: ['EXPIRED'], input: confirmed(), to: 'PAID', posts: 'cash_in_paid', emits: 'pix_cash_in', ids: E1, learns: CREDIT, reference: 'E1' },
  { rule: 'cash-in.paid.4', from: ['PAID'], input: E2, to: 'same', opens: 'payment_in_suspense', ...SECOND },
  { rule: 'cash-in.failed.2', from: ['FAILED'], input: confirmed(), to: CONFLICT, opens: 'payment_in_suspense', ...suspended() },
  { rule: 'cash-in.reconciliation.3', from: [CONFLICT], input: confirmed(), to: CONFLICT, opens: 'payment_in_suspense', ...suspended() },

  // Its refunds.
  { rule: 'cash-in.refunds.1', from: ['PAID'], input: INPUTS['refund.reserved'], to: 'same', learns: { refundsOpenCents: 30_00, openRefunds: { 'refund-1': REFUND } } },
  { rule: 'cash-in.refunds.2', from: ANY, before: { facts: REFUNDED }, input: INPUTS['refund.confirmed'], to: 'same', learns: { ...ENDED, returns: BACK } },
  { rule: 'cash-in.refunds.5', from: ANY, before: MUCH_WENT, input: INPUTS['refund.confirmed'], to: 'same', learns: { ...ENDED, returns: wentBack({ D0: 71_00, D1: 30_00 }) }, ...TOO_MUCH },
  { rule: 'cash-in.refunds.3', from: ANY, before: { facts: REFUNDED }, input: INPUTS['refund.released'], to: 'same', learns: ENDED },
  { rule: 'cash-in.refunds.4', from: ANY, before: { facts: REFUNDED }, input: INPUTS['refund.taken'], to: 'same', learns: { returns: BACK } },
  { rule: 'cash-in.refunds.4', from: ['PAID'], before: { facts: { returns: wentBack({ D1: 30_00 }) } }, input: INPUTS['refund.taken'], to: 'ignored' },
  { rule: 'cash-in.refunds.5', from: ANY, before: MUCH_WENT, input: INPUTS['refund.taken'], to: 'same', learns: { returns: wentBack({ D0: 71_00, D1: 30_00 }) }, ...TOO_MUCH },
  { rule: 'cash-in.refunds.6', from: ANY, before: { facts: { returns: wentBack({ D1: 29_99 }) } }, input: INPUTS['refund.taken'], to: 'same', opens: 'bank_contradicts', reference: 'D1', evidence: D1 },
  { rule: 'cash-in.refunds.8', from: ANY, before: { facts: REFUNDED }, input: INPUTS['refund.named'], to: 'same', learns: { openRefunds: { 'refund-1': { valueCents: 30_00, transactionId: 'tx-r' } } } },
  { rule: 'cash-in.returns.3', from: ANY, before: { facts: DOUBTED }, input: INPUTS['refund.answered'], to: 'same', learns: { returns: { ...REFUNDED.returns, D1: { ...IN_DOUBT, answered: ['refund-1'] } } }, dueAt: NOW },

  // Refunds of money in suspense, which is not the merchant’s: nothing of it counts as gone back.
  { rule: 'cash-in.refunds.2', from: ANY, before: { facts: TO_PAYER }, input: { ...INPUTS['refund.confirmed'], payment: 'E2' }, to: 'same', learns: { openRefunds: {}, returns: { D1: FROM_E2 } } },
  { rule: 'cash-in.refunds.2', from: ['PAID'], before: { facts: { ...TO_PAYER, returns: wentBack({ D0: 71_00 }) } }, input: { ...INPUTS['refund.confirmed'], payment: 'E2' }, to: 'same', learns: { openRefunds: {}, returns: { ...wentBack({ D0: 71_00 }), D1: FROM_E2 } } },
  { rule: 'cash-in.refunds.3', from: ANY, before: { facts: TO_PAYER }, input: { ...INPUTS['refund.released'], payment: 'E2' }, to: 'same', learns: { openRefunds: {} } },
  { rule: 'cash-in.refunds.4', from: ANY, before: { facts: TO_PAYER }, input: { ...INPUTS['refund.taken'], payment: 'E2' }, to: 'same', learns: { returns: { D1: { state: 'at_refund', cents: 30_00 } } } },
  { rule: 'cash-in.refunds.4', from: ['PAID'], before: { facts: { ...TO_PAYER, returns: wentBack({ D0: 71_00 }) } }, input: { ...INPUTS['refund.taken'], payment: 'E2' }, to: 'same', learns: { returns: { ...wentBack({ D0: 71_00 }), D1: { state: 'at_refund', cents: 30_00 } } } },
  { rule: 'cash-in.refunds.8', from: ANY, before: { facts: TO_PAYER }, input: { ...INPUTS['refund.named'], payment: 'E2' }, to: 'same', learns: { openRefunds: { 'refund-1': { ...E2_RETURNING, transactionId: 'tx-r' } } } },
  { rule: 'cash-in.returns.10', from: CREDITED, before: { facts: TO_PAYER }, input: OF_E2, to: 'same', learns: { returns: { D1: { ...IN_DOUBT, payment: 'E2' } } }, dueAt: NOW + 900_000 },
  { rule: 'cash-in.returns.10', from: CREDITED, before: { facts: ONLY_E2 }, input: { ...TOLD, endToEndId: null }, to: 'same', learns: { returns: { D1: { ...IN_DOUBT, payment: 'E2' } } }, dueAt: NOW + 900_000 },
  { rule: 'cash-in.returns.10', from: ['PAID'], before: { facts: { ...TO_PAYER, returns: { D1: { ...IN_DOUBT, payment: 'E2' } } } }, input: OF_E2, to: 'ignored' },
  { rule: 'cash-in.refunds.12', from: CREDITED, before: { facts: { ...TO_PAYER, openRefunds: { 'refund-1': { ...E2_RETURNING, transactionId: 'tx-r' } } } }, input: OF_E2, to: 'same', posts: 'arrival_returned', learns: { returns: { D1: { state: 'from_suspense', cents: 30_00, endToEndId: 'E2' } } }, reference: 'D1' },

  // Returns that name no refund.
  { rule: 'cash-in.refunds.6', from: CREDITED, before: { facts: { returns: wentBack({ D1: 29_99 }) } }, input: TOLD, to: 'same', opens: 'bank_contradicts', reference: 'D1', evidence: D1 },
  { rule: 'cash-in.refunds.6', from: [...PAYABLE, 'FAILED'], before: { facts: { returns: { D1: { ...ASIDE, cents: 29_99 } } } }, input: TOLD, to: 'same', opens: 'bank_contradicts', reference: 'D1', evidence: D1 },
  { rule: 'cash-in.refunds.11', from: ANY, input: { ...OF_E1, isBookedElsewhere: true }, to: 'same', opens: 'movement_elsewhere', learns: { returns: { D1: { state: 'elsewhere', cents: 30_00 } } }, reference: 'D1', evidence: E1_BACK },
  { rule: 'cash-in.refunds.10', from: ANY, before: { facts: { returns: wentBack({ D0: 30_00 }) } }, input: UNNAMED, to: 'same', opens: 'bank_contradicts', reference: 'D1', evidence: E1_BACK },
  { rule: 'cash-in.refunds.10', from: ['EXPIRED'], before: { facts: { returns: { D0: ASIDE } } }, input: UNNAMED, to: 'same', opens: 'bank_contradicts', reference: 'D1', evidence: E1_BACK },
  { rule: 'cash-in.refunds.10', from: ANY, before: { facts: { payments: { E1: 100_00 } } }, input: UNNAMED, to: 'same', posts: 'left_unattributed', opens: 'debit_in_suspense', learns: { returns: { D1: ASIDE_UNNAMED } }, reference: 'D1', evidence: E1_BACK },
  { rule: 'cash-in.refunds.12', from: CREDITED, before: PAID_TWICE, input: { ...TOLD, endToEndId: 'E2' }, to: 'same', posts: 'arrival_returned', learns: { returns: { D1: { state: 'from_suspense', cents: 30_00, endToEndId: 'E2' } } }, reference: 'D1' },
  { rule: 'cash-in.refunds.9', from: CREDITED, before: PAID_TWICE, input: { ...TOLD, endToEndId: null }, to: 'same', posts: 'left_unattributed', opens: 'debit_in_suspense', learns: { returns: { D1: ASIDE } }, reference: 'D1', evidence: { ...D1, endToEndId: null } },
  { rule: 'cash-in.refunds.9', from: [...PAYABLE, 'FAILED'], before: { facts: DECIDED }, input: OF_E1, to: 'same', posts: 'left_unattributed', opens: 'debit_in_suspense', learns: { returns: { D1: ASIDE } }, reference: 'D1', evidence: E1_BACK },
  { rule: 'cash-in.returns.1', from: CREDITED, before: { facts: REFUNDED }, input: TOLD, to: 'same', learns: { returns: DOUBTED.returns }, dueAt: NOW + 900_000 },
  { rule: 'cash-in.refunds.5', from: CREDITED, before: { facts: { ...RETURNED, returns: wentBack({ D0: 71_00 }) } }, input: TOLD, to: 'same', learns: { returns: wentBack({ D0: 71_00, D1: 30_00 }) }, ...TOO_MUCH },
  { rule: 'cash-in.returns.2', from: CREDITED, before: { facts: RETURNED }, input: TOLD, to: 'same', learns: { returns: BACK } },
  { rule: 'cash-in.returns.2', from: [...PAYABLE, 'FAILED'], input: TOLD, to: 'ignored' },
  { rule: 'cash-in.returns.4', from: ANY, before: { facts: DOUBTED }, input: INPUTS['return.unexplained'], to: 'same', posts: 'return_held', opens: 'return_unexplained', learns: { returns: HELD.returns }, reference: 'D1', evidence: { ...D1, heldCents: 20_00, refundIds: ['refund-1'] } },
  { rule: 'cash-in.returns.4', from: ANY, before: { facts: HELD_BEFORE }, input: INPUTS['return.unexplained'], to: 'same', opens: 'return_unexplained', learns: { returns: { ...REFUNDED.returns, D1: { ...IN_DOUBT, wasHeld: true, isInCase: true } } }, reference: 'D1', evidence: { ...D1, heldCents: 20_00, refundIds: ['refund-1'] } },
  { rule: 'cash-in.returns.5', from: ANY, before: { facts: HELD }, input: INPUTS['return.known'], to: 'same', posts: 'return_known', learns: { returns: { ...REFUNDED.returns, D1: { state: 'released' } } }, reference: 'D1' },
  { rule: 'cash-in.returns.5', from: ANY, before: { facts: DOUBTED }, input: INPUTS['return.known'], to: 'same', learns: { returns: REFUNDED.returns } },
  { rule: 'cash-in.returns.5', from: [...PAYABLE, 'FAILED'], before: { facts: { returns: { D1: ASIDE_UNNAMED } } }, input: INPUTS['return.known'], to: 'same', posts: 'return_known', learns: { returns: { D1: { state: 'alias', cents: 30_00 } } }, reference: 'D1' },
]

testRows(ROWS, (row, place) => {
  const { input, posts } = row
  const before = withOpenCases(at(place, row.before), 'charge_unclear', 'payment_in_suspense')
  const decision = decideCashIn(before, input, NOW)
  if (row.to === 'ignored') {
    assert.deepEqual(decision, { outcome: { result: 'IGNORED', cashIn: before } })
    return
  }
  const after = placeAfter(row, place)
  // What refunds and returns teach disturbs no work.
  const isOfRefund = input.on.startsWith('refund.') || input.on.startsWith('return.')
  const resting = isOfRefund ? before.dueAt : (RESTS[after] ?? null)
  const cashIn = { ...operationAfter(row, before, place, NOW), dueAt: row.dueAt ?? resting }
  assert.deepEqual(decision.outcome, { result: 'APPLIED', cashIn })
  assert.deepEqual(
    decision.moves?.map(({ trigger }) => trigger),
    [input.on],
  )
  const notification = {
    status: statusIn(after),
    reference: '',
    body: bodyOf(before, input, after, decision.outcome.cashIn),
  }
  assertEffects(row, place, decision, posts && entriesOf(posts, before, input), notification)
})

/** A charge in a place. */
function at(place: Place, given: Partial<CashIn> = {}): CashIn {
  const { facts, ...standing } = cashInAs(statusIn(place))
  const missing = { ...reasonFact('no_answer'), unknownSince: NOW - 1_000_000, questions: 9 }
  return { ...standing, ...given, facts: { ...facts, ...(place === NO_ANSWER ? missing : {}), ...given.facts } }
}

/** The entries as the ledger’s documentation has them: J1, J10, J11r, J9a, J12h and J12k. */
function entriesOf(posts: JournalKind, { facts }: CashIn, input: CashInEvent): readonly string[] | undefined {
  const moved = input.on === 'partner.confirmed' ? input.payment.valueCents : 30_00n
  const isHeld = facts.returns?.D1?.state === 'in_doubt'
  const entries: Partial<Record<JournalKind, readonly string[]>> = {
    cash_in_paid: ['available 10000 CASH_IN', 'available -100 FEE', 'settlement -10000', 'fees 100'],
    arrived_unattributed: [`settlement -${moved}`, `suspense_in ${moved}`],
    arrival_returned: [`suspense_in -${moved}`, `settlement ${moved}`],
    left_unattributed: [`settlement ${moved}`, `suspense_out -${moved}`],
    return_held: ['available -2000 REFUND_IN_RESERVE', 'reserved 2000', 'settlement 3000', 'suspense_out -3000'],
    return_known: [
      ...(isHeld ? ['available 2000 REFUND_IN_RELEASE', 'reserved -2000'] : []),
      'settlement -3000',
      'suspense_out 3000',
    ],
  }
  return entries[posts]
}

/** The bytes of a notification, written out: what is signed once is sent for ever. */
function bodyOf({ transactionId }: CashIn, input: CashInEvent, status: string, { facts }: CashIn): string {
  const isPaid = status === 'PAID'
  const isReported = input.on === 'partner.confirmed' || input.on === 'partner.failed'
  const [seconds, reference] = isReported ? ['29:59', `"${transactionId ?? 'tx'}"`] : ['30:00', 'null']
  return (
    `{"event_type":"pix_cash_in","event":{"id":"${cashInAs('PENDING').id}","correlation_id":"test","external_id":"order-1",` +
    `"transaction_id":${reference},"status":"${status}","value_cents":10000,"end_to_end_id":${isPaid ? '"E1"' : 'null'},` +
    `"payer_name":${isPaid ? '"Maria da Silva"' : 'null'},"fee_amount_cents":${isPaid ? 100 : 0},` +
    `"confirmed_at":"2026-11-21T13:${seconds}.000000000Z","created_at":"2026-11-21T13:00:00.000000000Z"${whyOf(status, facts)}}}`
  )
}

test('[cash-in.states] [engine.1] what no row above is about changes nothing', () => {
  for (const [place, input] of pairsWithoutRow(ANY, INPUTS, ROWS)) assertIgnored(at(place), input)
})

function assertIgnored(before: CashIn, input: CashInEvent): void {
  assert.deepEqual(decideCashIn(before, input, NOW), { outcome: { result: 'IGNORED', cashIn: before } })
}

/** The charge after some inputs, each at the same time. */
function after(before: CashIn, ...inputs: readonly CashInEvent[]): CashIn {
  return inputs.reduce((cashIn, input) => decideCashIn(cashIn, input, NOW).outcome.cashIn, before)
}

const PAID_20_TIMES = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`P${index}`, 1]))
const { P0: _, ...PAID_19_TIMES } = PAID_20_TIMES
const TOLD_BEFORE = reportedPaymentsFact({ E1: { valueCents: 100_00, occurredAt: NOW, since: NOW } })
const SAID_BEFORE = { notFoundSince: NOW - 60_000, notFoundAt: NOW - 60_000 }
const SAID = { ...SAID_BEFORE, lastAttemptAt: NOW - 1_000_000 }
const SAID_NOW = { ...NOT_FOUND, askedAt: NOW }
const GAVE_UP_AT = NOW - 300_000 - limits.abandonedIntentMs
const E2_PARTLY_BACK: CashInFacts = {
  ...PAID,
  payments: { E1: 100_00, E2: 40_00 },
  returns: { D0: { state: 'from_suspense', cents: 10_01, endToEndId: 'E2' } },
}
/** A charge of which the bank says that it does not know it, asked after its time. */
const taken = (facts: CashInFacts, given: Partial<CashIn> = {}) =>
  at('PENDING', { ...OVER, ...given, facts: { ...CHARGED, ...facts } })

/** What a single condition more or less decides, in short. */
// biome-ignore format: one condition a line
const CONDITIONS: readonly (readonly [name: string, before: CashIn, input: CashInEvent, becomes: string])[] = [
  ['[cash-in.states.2] what the bank took is stored also when its time is over', at('PENDING', { expiresAt: NOW - 1 }), INPUTS['charge.accepted'], 'PENDING'],
  ['[cash-in.expired.3] at its very last millisecond a charge still fails', at('PENDING', { expiresAt: NOW }), INPUTS['partner.failed'], 'FAILED'],
  ['[cash-in.states.9] a payment has 60 seconds after the expiry, to the millisecond', at('EXPIRED', OVER), confirmed({ occurredAt: NOW }), 'PAID cash_in_paid'],
  ['[cash-in.detail.4] a time of the bank 300 s ahead of ours is believed', at('PENDING'), confirmed({ occurredAt: NOW + 300_000 }), 'PAID cash_in_paid'],
  ['[cash-in.detail.4] one that is further ahead is not', at('PENDING'), confirmed({ occurredAt: NOW + 300_001 }), 'IMPLAUSIBLE'],
  ['[cash-in.unknown.7] [partner.5] before 15 minutes are over silence makes no case', at('PROVIDER_RESULT_UNKNOWN', { facts: { unknownSince: NOW - 899_999 } }), INPUTS['charge.unknown'], 'PROVIDER_RESULT_UNKNOWN'],
  ['[cash-in.work.3] work that left its state at rest is no move', at('PENDING', { dueAt: RESTING }), INPUTS['work.done'], 'IGNORED'],

  ['[cash-in.states.15] that the bank does not know what it never took contradicts nothing', at('PENDING', { facts: SAID }), SAID_NOW, 'PENDING'],
  ['[cash-in.states.15] [P6] said twice, a minute apart and five minutes after the attempt, absence is proven', taken(SAID), SAID_NOW, 'EXPIRED'],
  ['[cash-in.states.15] [EX-7] said once it is not', taken({ lastAttemptAt: NOW - 1_000_000 }), SAID_NOW, 'PENDING'],
  ['[cash-in.states.15] nor said less than a minute apart', taken(SAID), { ...SAID_NOW, askedAt: NOW - 1 }, 'PENDING'],
  ['[cash-in.states.15] nor less than five minutes after the attempt', taken({ ...SAID, lastAttemptAt: NOW - 299_999 }), SAID_NOW, 'PENDING'],
  ['[cash-in.states.15] an attempt of unknown time began, at the latest, when the create timed out', taken(SAID_BEFORE, { createdAt: GAVE_UP_AT }), SAID_NOW, 'EXPIRED'],
  ['[cash-in.states.15] so that less than five minutes after that nothing is proven', taken(SAID_BEFORE, { createdAt: GAVE_UP_AT + 1 }), SAID_NOW, 'PENDING'],
  ['[cash-in.states.15] [EX-7] a charge with a bank reference was accepted, also where its code is not known here', at('PENDING', { ...OVER, transactionId: 'tx' }), NOT_FOUND, 'PENDING'],

  ['[cash-in.credits.1] [EV-31] a payment that the bank has not confirmed is not credited by another event about it', at('PENDING', { facts: TOLD_BEFORE }), BELIEVED, 'PENDING asks'],
  ['[cash-in.credits.1] it is by the bank’s answer', at('PENDING', { facts: TOLD_BEFORE }), confirmed(), 'PAID cash_in_paid'],
  ['[cash-in.credits.1] one that is dated before its charge is verified before it is a contradiction', at('PENDING'), { ...confirmed({ occurredAt: EARLY_AT }), unverified: 'book' }, 'PENDING asks'],
  ['[cash-in.credits.1] one of 300 s before is not', at('PENDING'), { ...confirmed({ occurredAt: EARLY_AT + 1 }), unverified: 'book' }, 'PAID cash_in_paid'],
  ['[cash-in.credits.5] after 19 payments an event’s word books another one', at('PAID', { facts: { payments: PAID_19_TIMES } }), BELIEVED, 'PAID arrived_unattributed payment_in_suspense'],
  ['[cash-in.credits.1] [cash-in.credits.5] after 20 it books none', at('PAID', { facts: { payments: PAID_20_TIMES } }), BELIEVED, 'PAID asks'],

  ['[cash-in.refunds.12] from suspense goes back what is there of the payment', at('PAID', { facts: E2_PARTLY_BACK }), { ...OF_E2, valueCents: 29_99n }, 'PAID arrival_returned'],
  ['[cash-in.refunds.9] and no more', at('PAID', { facts: E2_PARTLY_BACK }), OF_E2, 'PAID left_unattributed debit_in_suspense'],
  ['[cash-in.refunds.12] while a part of it is being returned, another amount goes back of what is left', at('PAID', { facts: TO_PAYER }), { ...OF_E2, valueCents: 29_99n }, 'PAID arrival_returned'],
  ['[cash-in.refunds.12] also of what is being returned, which is not sent then', at('PAID', { facts: TO_PAYER }), { ...OF_E2, valueCents: 30_01n }, 'PAID arrival_returned'],
  ['[cash-in.returns.1] what the bank answers of a refund of that amount ends that: it is the bank’s own', at('PAID', { facts: { ...TO_PAYER, returns: { D1: { ...IN_DOUBT, payment: 'E2', answered: ['refund-1'] } } } }), OF_E2, 'PAID arrival_returned'],
  ['[cash-in.returns.1] a refund that failed and may have arrived may be it, too', at('PAID', { facts: { ...TO_PAYER, openRefunds: {} } }), { ...OF_E2, alsoOpen: { 'refund-1': E2_RETURNING } }, 'PAID'],
  ['[cash-in.returns.1] of another payment it is none of them', at('PAID', { facts: { ...TO_PAYER, payments: { ...TO_PAYER.payments, E3: 30_00 } } }), { ...TOLD, endToEndId: 'E3' }, 'PAID arrival_returned'],
  ['[cash-in.refunds.9] of a payment that was accepted in part and written off else it is not known which part went back', at('PAID', ACCEPTED_IN_PART), { ...TOLD, endToEndId: 'E2', valueCents: 20_00n }, 'PAID left_unattributed debit_in_suspense'],
  ['[cash-in.refunds.12] what is still in suspense of it goes back first', at('PAID', { ...ACCEPTED_IN_PART, facts: { ...ACCEPTED_IN_PART.facts, decidedPayments: {} } }), { ...TOLD, endToEndId: 'E2', valueCents: 40_00n }, 'PAID arrival_returned'],
  ['[cash-in.refunds.9] of two payments, none of them credited, it is not guessed which went back', at(CONFLICT, { facts: { payments: { E1: 60_00, E2: 40_00 } } }), { ...TOLD, endToEndId: null }, 'RECONCILIATION_REQUIRED conflict left_unattributed debit_in_suspense'],
]

for (const [name, before, input, becomes] of CONDITIONS) {
  test(name, () => {
    const decision = decideCashIn(before, input, NOW)
    assert.equal(inShort(decision, decision.outcome.result, decision.outcome.cashIn), becomes)
  })
}

test('[cash-in.refunds.1] a refund disturbs no work that is due', () => {
  for (const on of ['refund.reserved', 'refund.confirmed', 'refund.released', 'refund.taken'] as const) {
    assert.equal(after(at('PAID', { dueAt: NOW + 50_000 }), INPUTS[on]).dueAt, NOW + 50_000)
  }
})

test('[cash-in.paid.3] an amount that an event told before the bank confirmed another one is a case', () => {
  const reported = reportedPaymentsFact({ E1: { valueCents: 99_00, occurredAt: NOW, since: NOW } })
  const { outcome, cases, notifications } = decideCashIn(at('PENDING', { facts: reported }), confirmed(), NOW)
  assert.deepEqual([outcome.cashIn.status, notifications?.length], ['PAID', 1])
  const evidence = { endToEndId: 'E1', valueCents: 99_00, occurredAt: NOW, rule: 'cash-in.paid.3' }
  assert.deepEqual(
    cases?.map(({ kind, facts }) => [kind, facts]),
    [['bank_contradicts', evidence]],
  )
})

/** A charge in doubt for E2, which was not what it asked for, with the case of that. */
function forE2(facts: CashInFacts, given: Partial<CashIn> = {}, others: readonly OpenCase[] = []): CashIn {
  const suspense = { id: 'of E2', kind: 'payment_in_suspense', rule: 'cash-in.states.8', reference: 'E2', version: 1 }
  return at(CONFLICT, { ...given, facts: { ...ONLY_E2, ...facts }, openCases: [suspense, ...others] })
}

const CONFIRMED_TO_PAYER = { ...INPUTS['refund.confirmed'], payment: 'E2' } as const
/** The other half of E2 went back before. */
const HALF_BACK: CashInFacts = { returns: { D0: { state: 'from_suspense', cents: 30_00, endToEndId: 'E2' } } }
const BY_THE_BANK: CashInFacts = { ...HALF_BACK, openRefunds: {} }

/** What comes of an input: moves, notifications, closed cases, and the code of the failure. */
function endOf(before: CashIn, input: CashInEvent) {
  const { moves = [], notifications = [], closes, outcome } = decideCashIn(before, input, NOW)
  const moved = moves.map(({ trigger, to }) => `${trigger} ${to}`)
  return [...moved, ...notifications.map(({ status }) => `told ${status}`), closes, outcome.cashIn.facts.failureCode]
}

for (const [how, facts, input] of [
  ['by a refund', HALF_BACK, CONFIRMED_TO_PAYER],
  ['by the bank itself', BY_THE_BANK, OF_E2],
] as const) {
  const doubt = 'RECONCILIATION_REQUIRED'
  test(`[cash-in.cases.15] [cash-in.refunds.12] where the last money in suspense went back ${how} the charge is FAILED, and the merchant notified`, () => {
    const ended = [`${input.on} ${doubt}`, 'doubt.decided FAILED', 'told FAILED', ['of E2'], 'returned_to_payer']
    assert.deepEqual(endOf(forE2(facts), input), ended)
    assert.deepEqual(endOf(forE2(facts, OVER), input), ended, 'also when its time is over')
    assert.equal(decideCashIn(forE2(facts), input, NOW).outcome.cashIn.dueAt, null)
  })
  test(`[cash-in.cases.15] it is FAILED again where it had failed, of which the merchant was notified: ${how}`, () => {
    const failed = { ...facts, failureCode: 'refused', failureReason: null }
    assert.deepEqual(endOf(forE2(failed), input), [
      `${input.on} ${doubt}`,
      'doubt.decided FAILED',
      ['of E2'],
      'refused',
    ])
  })
  test(`[cash-in.refunds.12] while something is left in suspense nothing ends: ${how}`, () => {
    const more = { ...facts, payments: { E2: 60_01 } }
    assert.deepEqual(endOf(forE2(more), input), [`${input.on} ${doubt}`, [], undefined])
  })
  test(`[cash-in.cases.15] its case closes, and while another one casts one it stays so: ${how}`, () => {
    const keeping = { id: 'other', kind: 'charge_unclear', rule: 'cash-in.states.6', reference: '', version: 1 }
    assert.deepEqual(endOf(forE2(facts, {}, [keeping]), input), [`${input.on} ${doubt}`, ['of E2'], undefined])
    const beside = { ...keeping, kind: 'payment_in_suspense', rule: 'cash-in.reconciliation.2', reference: 'E3' }
    const two = { ...facts, payments: { E2: 60_00, E3: 1_00 } }
    assert.deepEqual(endOf(forE2(two, {}, [beside]), input), [`${input.on} ${doubt}`, ['of E2'], undefined])
  })
  test(`[cash-in.cases.15] a charge that keeps a payment is PAID, and nobody is told again: ${how}`, () => {
    const credited = { ...facts, payments: { E1: 100_00, E2: 60_00 } }
    const paid = { endToEndId: 'E1' }
    const ended = [`${input.on} ${doubt}`, 'doubt.decided PAID', ['of E2'], undefined]
    assert.deepEqual(endOf(forE2(credited, paid), input), ended)
    const standing = forE2({ ...credited, ...reasonFact(null) }, { ...paid, status: 'PAID' })
    assert.deepEqual(endOf(standing, input), [`${input.on} PAID`, ['of E2'], undefined])
  })
  test(`[cash-in.cases.15] what an operator kept of it did not go back: ${how}`, () => {
    const kept = { ...facts, payments: { E2: 60_00, E3: 1_00 }, decidedPayments: { E3: 1_00 } }
    const ended = [`${input.on} ${doubt}`, 'doubt.decided FAILED', 'told FAILED', ['of E2'], 'decided_by_operator']
    assert.deepEqual(endOf(forE2(kept), input), ended)
  })
}

test('[cash-in.returns.1] [cash-in.returns.5] of a return in doubt that was the refund the doubt ends as it is confirmed', () => {
  const inDoubt = { ...HALF_BACK, returns: { ...HALF_BACK.returns, D1: { ...IN_DOUBT, payment: 'E2' } } }
  const { moves = [], outcome } = decideCashIn(forE2(inDoubt), CONFIRMED_TO_PAYER, NOW)
  assert.deepEqual(
    moves.map(({ trigger }) => trigger),
    ['refund.confirmed', 'doubt.decided', 'return.known'],
  )
  assert.deepEqual(outcome.cashIn.facts.returns, { ...HALF_BACK.returns, D1: FROM_E2 })
  assert.equal(outcome.cashIn.status, 'FAILED')
})

test('[cash-in.states.13] [cash-in.refunds.11] what another operation has is nothing new when it is told again, unless with another amount', () => {
  const payment = { ...confirmed(), isBookedElsewhere: true }
  const told = after(at('PENDING'), payment)
  assertIgnored(told, payment)
  assert.equal(decideCashIn(told, { ...OTHER_AMOUNT, isBookedElsewhere: true }, NOW).cases?.length, 1)
  const returned = { ...OF_E1, isBookedElsewhere: true }
  const known = after(at('PAID'), returned)
  assertIgnored(known, returned)
  assert.equal(refundedCents(known), 0n, 'nothing of it went back here')
  assert.equal(decideCashIn(known, { ...returned, valueCents: 29_99n }, NOW).cases?.[0]?.kind, 'bank_contradicts')
})

test('[api-pix.17] the offset measured at the creation of a charge is kept with it, zero too', () => {
  for (const stampOffsetMs of [0, -10_800_000]) {
    const accepted = after(at('PENDING'), { ...INPUTS['charge.accepted'], stampOffsetMs })
    assert.equal(accepted.facts.stampOffsetMs, stampOffsetMs)
  }
})

test('[cash-in.states.15] what the bank says while its answer is missing counts: said again, absence is proven', () => {
  const before = at(NO_ANSWER, { expiresAt: NOW - 120_000, facts: { ...CHARGED, lastAttemptAt: NOW - 1_000_000 } })
  const once = decideCashIn(before, { ...NOT_FOUND, askedAt: NOW - 60_000 }, NOW - 60_000).outcome.cashIn
  assert.equal(after(once, SAID_NOW).status, 'EXPIRED')
})

test('[cash-in.expired.5] [EX-8] the case of an end that was unknown closes when it is known', () => {
  const facts = { ...CHARGED, isEndCaseOpen: true }
  const ended = at('PENDING', { ...DUE, expiresAt: NOW - 3_600_000, facts })
  const before = withOpenCases(ended, 'charge_unclear', 'bank_contradicts')
  for (const input of [INPUTS['clock.expired'], confirmed({ occurredAt: NOW - 3_600_000 })]) {
    const { closes, outcome } = decideCashIn(before, input, NOW)
    assert.deepEqual([closes, outcome.cashIn.facts.isEndCaseOpen], [['charge_unclear'], false])
  }
  assert.deepEqual(decideCashIn(before, NO_OUTCOME, NOW).cases, [], 'one case is enough')
})

test('[cases.48] a payment that an event reports again with more counts with that, and stays as it was told first', () => {
  const report = (cashIn: CashIn, valueCents: bigint, open = 'payment_unconfirmed') => {
    const before = withOpenCases(cashIn, open, 'payment_in_suspense')
    return decideCashIn(before, { ...confirmed({ valueCents }), unverified: 'query' }, NOW)
  }
  const first = report(at('PENDING'), 10_00n, 'payment_in_suspense').outcome.cashIn
  for (const rule of ['cash-in.credits.4', 'cash-in.credits.5']) {
    const open = `payment_unconfirmed ${rule}`
    const counted = report(first, 50_00n, open).cases?.map(
      ({ kind, facts }) => `${kind} ${facts.rule} ${facts.valueCents}`,
    )
    assert.deepEqual(counted, [`${open} 5000`])
  }
  const more = report(first, 50_00n).outcome.cashIn
  assert.equal(reportedPayments(more.facts).E1?.valueCents, 10_00)
  const less = report(more, 20_00n)
  assert.deepEqual([less.cases, reportedCents(less.outcome.cashIn.facts)], [[], 50_00])
})

test('[cash-in.credits.5] beyond twenty payments that only events report nothing is kept, and the bank is asked all the same', () => {
  const reportedBy = (endToEndId: string) => ({ ...confirmed({ endToEndId }), unverified: 'query' }) as const
  const full = after(at('PENDING', { facts: reportedPaymentsFact(NINETEEN) }), reportedBy('E1'))
  assertIgnored(full, reportedBy('E2'))
  const asking = after(full, INPUTS['work.claimed'])
  const beyond = decideCashIn(asking, reportedBy('E2'), NOW)
  assert.deepEqual(
    beyond.moves?.map(({ trigger, facts }) => [trigger, facts]),
    [['work.requested', ASKED]],
  )
  assert.deepEqual(beyond.cases, [])
  const again = decideCashIn(asking, reportedBy('E1'), NOW)
  assert.deepEqual(reportedPayments(again.outcome.cashIn.facts), reportedPayments(full.facts))
  assert.deepEqual(again.cases, [], 'one that is kept is no other one')
  assert.equal(after(asking, E2).status, 'PAID', 'what the bank answers is booked')
})

const NO_OUTCOME = { ...INPUTS['work.done'], hasOutcome: false } as const
const SILENCE = { ...NO_OUTCOME, isAnswered: false } as const

/** A charge that is asked about whenever it is due: the waits after each answer in seconds, up to twelve, and the cases. */
function askedAbout(first: CashIn, answer: CashInEvent) {
  const waits: number[] = []
  const opened: string[] = []
  let [now, at] = [first, NOW]
  while (now.dueAt !== null && waits.length < 12) {
    at = Math.max(at, now.dueAt)
    now = decideCashIn(now, INPUTS['work.claimed'], at).outcome.cashIn
    const { outcome, cases = [] } = decideCashIn(now, answer, at)
    opened.push(...cases.map(({ kind }) => `${kind} after ${Math.floor((at - NOW) / 60_000)} min`))
    now = outcome.cashIn
    waits.push(((now.dueAt ?? at) - at) / 1_000)
  }
  return { waits, opened, now, at }
}

test('[cash-in.work.5] [EV-41] the news of an event are asked about at once, and after 1, 5 and 15 s where no outcome is reported', () => {
  const reported = after(at('PAID'), EVENT_FAILURE)
  assert.deepEqual(askedAbout(reported, NO_OUTCOME).waits, [1, 5, 15, 0])
  assert.deepEqual(askedAbout(reported, INPUTS['work.done']).waits, [0], 'an outcome is enough')
})

test('[cash-in.work.5] [EV-41] an answer without an outcome never delays the next event’s status query', () => {
  let now = after(at('PAID'), EVENT_FAILURE)
  for (let query = 0; query < 3; query++) now = after({ ...now, dueAt: NOW }, INPUTS['work.claimed'], SILENCE)
  assert.ok((now.dueAt ?? 0) > NOW)
  now = decideCashIn(now, INPUTS['work.requested'], NOW + 1).outcome.cashIn
  assert.equal(now.dueAt, NOW + 1)
  assert.equal(askedAbout(now, NO_OUTCOME).waits[0], 1, 'and its repeats begin anew')
})

test('[cash-in.work.5] of the requests that come while the bank is being asked one is kept, and asked at once afterwards', () => {
  const leaseUntil = NOW + 50_000
  const wanted = after(at('PAID', { facts: { leaseUntil }, dueAt: leaseUntil }), INPUTS['work.requested'])
  assert.equal(wanted.dueAt, leaseUntil, 'its lease reminds should the process die')
  assertIgnored(wanted, INPUTS['work.requested'])
  const answered = after(wanted, INPUTS['work.done'])
  assert.equal(answered.dueAt, NOW)
  assert.equal(after(answered, INPUTS['work.claimed'], INPUTS['work.done']).dueAt, null)
})

test('[cash-in.work.6] [EX-8] what is left open is asked about after 1, 2, 5 and 15 minutes, then each hour', () => {
  const over = at('PENDING', { ...DUE, expiresAt: NOW - 2_000, facts: CHARGED })
  const asked = [askedAbout(over, SILENCE), askedAbout(over, NO_OUTCOME), askedAbout(at('PAID', DUE), SILENCE)]
  for (const { waits } of asked) assert.deepEqual(waits.slice(0, 7), [60, 120, 300, 900, 3_600, 3_600, 3_600])
})

test('[cash-in.cancel.4] a cancellation that the bank does not confirm is repeated after 1, 5 and 15 s, each minute for an hour, then hourly', () => {
  const requested = after(at('PENDING', { expiresAt: NOW + 86_400_000, facts: CHARGED }), CANCEL)
  for (const answer of [SILENCE, NO_OUTCOME]) {
    assert.deepEqual(askedAbout(requested, answer).waits.slice(0, 6), [1, 5, 15, 60, 60, 60])
  }
  const early = { facts: { ...CHARGED, ...REQUESTED, inconclusive: 60 }, expiresAt: NOW + 86_400_000, dueAt: NOW }
  const anHourAgo = { cancelRequested: { ...MADE_BY, at: NOW - 3_600_000 } }
  const late = { ...early, facts: { ...early.facts, ...anHourAgo } }
  assert.deepEqual(askedAbout(at('PENDING', late), SILENCE).waits.slice(0, 2), [3_600, 3_600])
})

test('[cash-in.expired.4] [EX-9] where no statement is swept an expired charge is asked about after 5 minutes, 1 hour, 24 hours', () => {
  const unswept = after(at('PENDING', { expiresAt: NOW - 2_000 }), { on: 'clock.expired', isSwept: false })
  assert.equal(unswept.dueAt, NOW + 300_000)
  assert.deepEqual(askedAbout(unswept, NO_OUTCOME).waits, [3_300, 82_800, 0])
})

test('[cash-in.credits.4] [cash-in.returns.4] an overdue late query without an answer postpones the case of no payment or return', () => {
  const since = NOW - 300_000
  const unanswered = (facts: CashInFacts) =>
    after(at('EXPIRED', { ...LEASED, facts: { expiredAt: since, inconclusive: 9, ...facts } }), SILENCE)
  assert.equal(unanswered({}).dueAt, NOW + 3_600_000)
  const payment = reportedPaymentsFact({ E9: { valueCents: 100_00, occurredAt: since, since } })
  assert.equal(unanswered(payment).dueAt, NOW + 600_000)
  assert.equal(unanswered({ ...REFUNDED, returns: { D1: { ...IN_DOUBT, since } } }).dueAt, NOW + 600_000)
})

test('[cash-in.credits.4] [EV-43] a payment that the bank does not confirm is asked about for a day, then operator action is required', () => {
  const reported = after(at('PENDING', { expiresAt: NOW + 3 * 86_400_000 }), EVENT_PAYMENT)
  const { waits, opened } = askedAbout(reported, NO_OUTCOME)
  assert.deepEqual(waits.slice(0, 8), [1, 5, 15, 30, 60, 789, 3_600, 3_600])
  assert.deepEqual(opened, ['payment_unconfirmed after 15 min'])
  const dayOld = reportedPaymentsFact({ E9: { valueCents: 100_00, occurredAt: NOW, since: NOW - 86_400_000 } })
  const open = { ...dayOld, isPaymentCaseOpen: true }
  assert.equal(after(at('PAID', { ...LEASED, facts: open }), NO_OUTCOME).dueAt, null)
  const answered = decideCashIn(
    withOpenCases(at('PENDING', { facts: open }), 'payment_unconfirmed', 'payment_in_suspense'),
    confirmed({ endToEndId: 'E9' }),
    NOW,
  )
  assert.deepEqual(answered.closes, ['payment_unconfirmed'])
  assert.deepEqual(reportedPayments(answered.outcome.cashIn.facts), {})
})

test('[partner.4] questions about an unknown result come after 5, 10, 15 and 30 s, then each minute', () => {
  let [now, at_] = [at('PENDING'), NOW]
  const waits = Array.from({ length: 6 }, () => {
    now = decideCashIn(now, INPUTS['charge.unknown'], at_).outcome.cashIn
    const wait = (now.dueAt ?? 0) - at_
    at_ += wait
    return wait / 1_000
  })
  assert.deepEqual(waits, [5, 10, 15, 30, 60, 60])
})

test('[cash-in.states.1] an accepted request is a PENDING cash-in with its first work due', () => {
  const request = cashInRequest({ id: cashInAs('PENDING').id, externalId: 'order-1', expirationSeconds: 3_600 })
  const decision = decideCreate(request, TERMS, CREATED_AT)
  const made = { version: 1, dueAt: CREATED_AT + 15_000, facts: { madeBy: MADE_BY } }
  assert.deepEqual(decision.outcome, cashInAs('PENDING', made))
  assert.deepEqual(Object.keys(decision).sort(), ['creates', 'outcome'], 'no money moves and nobody is told')
})

type Request = Partial<Parameters<typeof cashInRequest>[0]>

/** What is made of a request, or the code of its refusal. */
function created(given: Request, terms = TERMS): CashIn | string {
  try {
    return decideCreate(cashInRequest({ id: 'id', externalId: 'a', ...given }), terms, NOW).outcome
  } catch (error) {
    assert.ok(error instanceof Refusal)
    return error.code
  }
}

test('[fees.1] [fees.2] the fee is a fixed part and basis points, rounded half up once, and never more than the value', () => {
  const feeOf = (valueCents: bigint, cents: bigint, basisPoints: bigint) => {
    const made = created({ valueCents }, { ...TERMS, fee: { cents, basisPoints } })
    return typeof made === 'string' ? made : made.feeCents
  }
  assert.deepEqual([feeOf(100_00n, 10n, 99n), feeOf(50n, 0n, 100n), feeOf(49n, 0n, 100n)], [109n, 1n, 0n])
  assert.deepEqual(
    [1n, 99n, 100n].map((value) => feeOf(value, 100n, 10_000n)),
    [1n, 99n, 100n],
  )
})

test('[engine.1] the inputs of this file are those of the table', () => {
  const own = (on: string) => on !== 'create' && on !== 'doubt.decided' && !on.startsWith('operator.')
  assert.deepEqual(Object.keys(INPUTS).sort(), cashIn.triggers.filter(own).sort())
})
