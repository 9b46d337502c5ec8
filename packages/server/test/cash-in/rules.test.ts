import assert from 'node:assert/strict'
import test from 'node:test'
import { type CashInStatus, cashIn, type JournalKind, limits, Refusal, type TriggerOf } from '@pixgate/spec'
import type { CashIn, CashInEvent, CashInFacts, CashInOutcome } from '../../src/cash-in/cash-in.ts'
import { decideCreate } from '../../src/cash-in/create.ts'
import {
  reportedCents,
  reportedFailureFact,
  reportedPayments,
  reportedPaymentsFact,
} from '../../src/cash-in/reported.ts'
import type { ReportedReturn } from '../../src/cash-in/returns.ts'
import { decideCashIn } from '../../src/cash-in/rules.ts'
import type { Decision } from '../../src/engine/operation.ts'
import { reasonFact, reasonOf } from '../../src/engine/reason.ts'
import { cashInRequest, TERMS } from '../support/engine.ts'
import { MADE_BY } from '../support/limits.ts'
import { withOpenCases } from '../support/open-cases.ts'
import { journalsOf, type Outcome, outcomesOf, type SituationOf, withoutOutcome } from '../support/outcomes.ts'
import { OUTCOMES } from './outcomes.ts'
import { CHARGED, CREATED_AT, cashInAs, confirmed, EXPIRES_AT, INPUTS, NOW, PAID } from './situations.ts'

interface Situation extends SituationOf<CashIn, CashInEvent> {
  /** The end-to-end id that its journal and case are known by. */
  readonly reference?: string
  /** Of what it books nothing was held. */
  readonly isUnheld?: boolean
}

/** The bank's answer came. */
const SETTLED = { unknownSince: null }
/** Of the R$ 100,00 that were paid R$ 30,00 are about to go back, and R$ 60,00 went. */
const OPEN_REFUND = { 'refund-1': { valueCents: 30_00, transactionId: null } }
const REFUNDED = {
  facts: { ...PAID, refundsOpenCents: 30_00, openRefunds: OPEN_REFUND, returns: { D0: 60_00 } },
}
const LATER_RETURN = { returnId: 'D1', valueCents: 30_00 }
const TOO_MUCH = {
  before: { facts: { ...REFUNDED.facts, returns: { D0: 71_00 } } },
  reference: 'D1',
  evidence: LATER_RETURN,
}
const CONFIRMED_REFUND = { before: REFUNDED, learns: ended({ D0: 60_00, D1: 30_00 }), reference: 'D1' }
const RELEASED_REFUND = { before: REFUNDED, learns: ended({ D0: 60_00 }) }
const NAMED_REFUND = {
  before: REFUNDED,
  learns: { facts: { openRefunds: { 'refund-1': { valueCents: 30_00, transactionId: 'tx-r' } } } },
}
/** What another operation has counts no more. */
const UNDONE = {
  input: { on: 'refund.undone', refundId: 'refund-1', returnId: 'D0' },
  before: REFUNDED,
  learns: { facts: { returns: {} } },
} as const
const TAKEN = { before: REFUNDED, learns: refunded(30_00, { D0: 60_00, D1: 30_00 }), reference: 'D1' }
const CONFIRMED_TOO_MUCH = { ...TOO_MUCH, learns: ended({ D0: 71_00, D1: 30_00 }) }
const TAKEN_TOO_MUCH = { ...TOO_MUCH, learns: refunded(30_00, { D0: 71_00, D1: 30_00 }) }
const RETURN_RESTATED = {
  before: { facts: { ...PAID, returns: { D1: 29_99 } } },
  learns: { facts: { returns: { D1: 29_99 } } },
  reference: 'D1',
  evidence: LATER_RETURN,
}

/** A return that waits to be known, since just now. */
const AWAITED = { valueCents: 30_00, occurredAt: NOW - 1_000, transactionId: 'tx-b', since: NOW, answered: [] }
const AWAITING = { facts: { ...REFUNDED.facts, awaitedReturns: { D1: AWAITED } } }
const HELD = { facts: { ...REFUNDED.facts, awaitedReturns: { D1: { ...AWAITED, heldCents: 20_00 } } } }
const NO_REFUND = { facts: { ...PAID, returns: { D0: 60_00 } } }
const RETURN_BOOKED = { before: NO_REFUND, learns: { facts: { returns: { D0: 60_00, D1: 30_00 } } }, reference: 'D1' }
const RETURNED_TOO_MUCH = {
  before: { facts: { ...PAID, returns: { D0: 71_00 } } },
  learns: { facts: { returns: { D0: 71_00, D1: 30_00 } } },
  reference: 'D1',
  evidence: LATER_RETURN,
}
const RETURN_AWAITED = {
  before: REFUNDED,
  learns: AWAITING,
  dueAt: NOW + 900_000,
  reference: 'D1',
}
const ANSWERED = {
  before: AWAITING,
  learns: { facts: { awaitedReturns: { D1: { ...AWAITED, answered: ['refund-1'] } } } },
  dueAt: NOW,
}
const UNEXPLAINED = {
  before: AWAITING,
  learns: HELD,
  reference: 'D1',
  evidence: { ...LATER_RETURN, heldCents: 20_00, refundIds: ['refund-1'] },
}
const NOTHING_AWAITED = { facts: { awaitedReturns: {} } }
const KNOWN = { before: AWAITING, learns: NOTHING_AWAITED, reference: 'D1' }
const KNOWN_AND_FREED = { before: HELD, learns: NOTHING_AWAITED, reference: 'D1' }

/** All that was under way has ended. */
function ended(returns: Readonly<Record<string, number>>) {
  return { facts: { refundsOpenCents: 0, openRefunds: {}, returns } }
}

/** The bank gave something back that is not debited from the merchant: of E2, which is in suspense, or of who knows what. */
function takenAside(state: 'PAID' | 'RECONCILIATION_REQUIRED'): Record<string, Situation> {
  const facts = { ...PAID, payments: { E1: 100_00, E2: 30_00 } }
  const aside = (
    given: Omit<Partial<ReportedReturn>, 'on' | 'returnId' | 'valueCents'> & { readonly endToEndId: string | null },
    payment: string | null,
  ): Situation => ({
    before: { facts, endToEndId: 'E1' },
    input: { ...INPUTS['return.told'], ...given },
    learns: { facts: { suspendedReturns: { D1: { endToEndId: payment, cents: 30_00 } } } },
    reference: 'D1',
    evidence: { ...LATER_RETURN, endToEndId: given.endToEndId },
  })
  const unnamed = {
    ...aside({ endToEndId: 'E1', isUnnamed: true }, null),
    learns: { facts: { suspendedReturns: { D1: { endToEndId: null, cents: 30_00, unnamedOf: 'E1' } } } },
  }
  return {
    [`${state} return.told movement belongs to another operation`]: aside(
      { endToEndId: 'E1', isBookedElsewhere: true },
      null,
    ),
    [`${state} return.told return has no id and may be known`]: {
      ...unnamed,
      before: { facts: { ...facts, returns: { D0: 30_00 } }, endToEndId: 'E1' },
      learns: {},
    },
    [`${state} return.told return has no id`]: unnamed,
    [`${state} return.told payment is in suspense`]: aside({ endToEndId: 'E2' }, 'E2'),
    [`${state} return.told payment cannot be identified`]: aside({ endToEndId: null }, null),
  }
}

/** Of a charge that is not paid the bank took E1 back, which an operator had decided. */
function takenAfterDecision(state: string): Record<string, Situation> {
  const facts = { payments: { E1: 30_00 }, decidedPayments: { E1: 30_00 } }
  const told = { ...INPUTS['return.told'], endToEndId: 'E1' }
  const aside = (learned: object = {}): Situation => ({
    before: { facts, endToEndId: null },
    input: told,
    learns: { facts: { suspendedReturns: { D1: { endToEndId: null, cents: 30_00, ...learned } } } },
    reference: 'D1',
    evidence: { ...LATER_RETURN, endToEndId: 'E1' },
  })
  const unnamed: Situation = { ...aside({ unnamedOf: 'E1' }), input: { ...told, isUnnamed: true } }
  const suspended = (id: string, cents: number) => ({
    facts: { ...facts, suspendedReturns: { [id]: { endToEndId: null, cents, unnamedOf: 'E1' } } },
  })
  return {
    [`${state} return.told return restated`]: { ...aside(), before: suspended('D1', 29_99), learns: {} },
    [`${state} return.told movement belongs to another operation`]: {
      ...aside(),
      input: { ...told, isBookedElsewhere: true },
    },
    [`${state} return.told return has no id and may be known`]: {
      ...unnamed,
      before: suspended('D0', 30_00),
      learns: {},
    },
    [`${state} return.told return has no id`]: unnamed,
    [`${state} return.told payment cannot be identified`]: aside(),
    [`${state} return.known money of it is held`]: {
      before: suspended('D1', 30_00),
      learns: { facts: { awaitedReturns: {}, suspendedReturns: {}, namedReturns: { D1: 30_00 } } },
      reference: 'D1',
      isUnheld: true,
    },
  }
}

function refunded(refundsOpenCents: number, returns: Readonly<Record<string, number>>) {
  return { facts: { refundsOpenCents, returns } }
}

const MISSING = { facts: { ...reasonFact('no_answer'), unknownSince: NOW - 1_000_000, questions: 9 } } as const
const DOUBTED = { facts: reasonFact('conflict') } as const
const REFUSED = { facts: { failureCode: 'limit', failureReason: 'too much', ...SETTLED } }
const REMOVED = {
  transactionId: 'tx',
  facts: { failureCode: 'removed', failureReason: 'removed by the bank', ...SETTLED },
}
const CHARGE = { transactionId: 'tx', facts: CHARGED }
const RESTING = EXPIRES_AT + 2_000
/** An event asks for a status query, which is due at once. */
const ASKED = { isQuestionWanted: true, eventQueries: 0 } as const
const ENDED_QUERY = { learns: { facts: { leaseUntil: null } } }
/** An event told a payment that the bank has not confirmed for a quarter of an hour. */
const EVENT_PAYMENT = { E1: { valueCents: 100_00, occurredAt: NOW - 900_000, since: NOW - 900_000 } }
const UNCONFIRMED = {
  before: { facts: { ...reportedPaymentsFact(EVENT_PAYMENT), inconclusive: 2 } },
  learns: { facts: { leaseUntil: null, inconclusive: 3, isPaymentCaseOpen: true } },
  dueAt: NOW + 300_000,
  evidence: { bankAnswer: { kind: 'NOT_FOUND' }, ...reportedPaymentsFact(EVENT_PAYMENT), valueCents: 100_00 },
}
const VERIFIED_FIRST = {
  input: { ...confirmed({ endToEndId: 'E2' }), unverified: 'first' },
  learns: {
    facts: { ...ASKED, ...reportedPaymentsFact({ E2: { valueCents: 100_00, occurredAt: NOW - 1_000, since: NOW } }) },
  },
  dueAt: NOW,
} as const
/** Payments that only events reported, as many as are kept but for one. */
const REPORTED = Object.fromEntries(
  Array.from({ length: 19 }, (_, index) => [`R${index}`, { valueCents: 100_00, occurredAt: NOW, since: NOW }]),
)
const TWENTIETH = {
  input: VERIFIED_FIRST.input,
  before: { facts: reportedPaymentsFact(REPORTED) },
  learns: {
    facts: {
      ...ASKED,
      ...reportedPaymentsFact({ ...REPORTED, E2: { valueCents: 100_00, occurredAt: NOW - 1_000, since: NOW } }),
    },
  },
  dueAt: NOW,
  reference: 'E2',
  evidence: { endToEndId: 'E2', valueCents: 20 * 100_00, occurredAt: NOW - 1_000 },
}
const ONLY_BY_EVENT = {
  input: { ...INPUTS['partner.failed'], isVerified: false },
  learns: {
    facts: {
      ...ASKED,
      ...reportedFailureFact({ errorCode: 'removed', errorMessage: 'removed by the bank', occurredAt: NOW - 1_000 }),
    },
  },
  dueAt: NOW,
} as const
/** The bank does not know the charge for the second time, in ten minutes. */
const ABSENT = { notFoundSince: NOW - 61_000, notFoundAt: NOW - 61_000, lastAttemptAt: NOW - 1_000_000 }
const ABSENT_AGAIN = { notFoundAt: NOW - 1_000 }

/** The merchant is credited: what the bank told of the payment is known. */
const CREDITED = {
  transactionId: 'tx',
  endToEndId: 'E1',
  facts: {
    payments: { E1: 100_00 },
    paidAt: NOW - 1_000,
    payerName: 'Maria da Silva',
    payerDocument: '52998224725',
    payerIspb: '99999010',
    ...SETTLED,
  },
}

/** A payment goes to suspense. */
function suspended(cents: number, reference = 'E1', already = {}, occurredAt = NOW - 1_000) {
  return {
    learns: {
      transactionId: 'tx',
      facts: { payments: { ...already, [reference]: cents }, ...reasonFact('conflict') } as const,
    },
    reference,
    evidence: { endToEndId: reference, valueCents: cents, occurredAt },
  }
}

const OTHER_AMOUNT = { input: confirmed({ valueCents: 99_00n }), ...suspended(99_00) }
const LATE_AT = EXPIRES_AT + 60_001
const LATE = {
  before: { expiresAt: NOW - 60_002 },
  input: confirmed({ occurredAt: NOW - 1 }),
  ...suspended(100_00, 'E1', {}, NOW - 1),
}
/** The payment fits the charge, but what else the bank tells does not. */
const IN_CONTRADICTION = { input: { ...confirmed(), isContradicted: true }, ...suspended(100_00) } as const
/** The payment was booked on another operation. */
const ELSEWHERE = { input: { ...confirmed(), isBookedElsewhere: true }, ...suspended(100_00) } as const
const RESTATED = {
  input: confirmed({ valueCents: 99_00n }),
  reference: 'E1',
  evidence: { endToEndId: 'E1', valueCents: 99_00, occurredAt: NOW - 1_000 },
}

const EARLY_AT = CREATED_AT - 300_001
/** Paid before the charge was made. */
const EARLY = { input: confirmed({ occurredAt: EARLY_AT }), ...suspended(100_00, 'E1', {}, EARLY_AT) }

/** What happens in each row, by «from on when». */
const SITUATIONS: Readonly<Record<string, Situation>> = {
  'PENDING work.done': { ...ENDED_QUERY, dueAt: RESTING },
  'PROVIDER_RESULT_UNKNOWN work.done': { ...ENDED_QUERY, dueAt: NOW + 60_000 },
  'RECONCILIATION_REQUIRED work.done': { before: MISSING, ...ENDED_QUERY, dueAt: NOW + 60_000 },
  'PENDING work.done end is unknown for too long': {
    before: { expiresAt: NOW - 3_600_000, facts: { inconclusive: 4 } },
    learns: { facts: { leaseUntil: null, inconclusive: 5, isEndCaseOpen: true } },
    dueAt: NOW + 3_600_000,
    evidence: { bankAnswer: { kind: 'NOT_FOUND' } },
  },
  'PENDING charge.not_found absence settles it': {
    before: { expiresAt: NOW - 60_000, facts: { ...CHARGED, ...ABSENT } },
    learns: { facts: SETTLED },
  },
  'PENDING charge.not_found absence contradicts': {
    before: { facts: { ...CHARGED, ...ABSENT } },
    learns: { facts: { ...ABSENT_AGAIN, ...reasonFact('conflict') } },
    evidence: { askedAt: NOW - 1_000, notFoundSince: NOW - 61_000 },
  },
  'PENDING charge.not_found': {
    before: { facts: CHARGED },
    learns: { facts: { notFoundSince: NOW - 1_000, notFoundAt: NOW - 1_000 } },
    dueAt: NOW + 60_000,
  },
  'PROVIDER_RESULT_UNKNOWN charge.not_found absence settles it': {
    before: { expiresAt: NOW - 60_000 },
    learns: { facts: SETTLED },
  },
  'PROVIDER_RESULT_UNKNOWN charge.not_found': {
    learns: { facts: { notFoundSince: NOW - 1_000, notFoundAt: NOW - 1_000 } },
    dueAt: NOW + 60_000,
  },
  'RECONCILIATION_REQUIRED charge.not_found absence settles what was missing': {
    before: { ...MISSING, expiresAt: NOW - 60_000 },
    learns: { facts: SETTLED },
  },
  'RECONCILIATION_REQUIRED charge.not_found evidence was missing': {
    before: MISSING,
    learns: { facts: { notFoundSince: NOW - 1_000, notFoundAt: NOW - 1_000 } },
    dueAt: NOW + 60_000,
  },
  'PENDING partner.confirmed payment is older than the charge': EARLY,
  'PROVIDER_RESULT_UNKNOWN partner.confirmed payment is older than the charge': EARLY,
  'EXPIRED partner.confirmed payment is older than the charge': EARLY,
  'RECONCILIATION_REQUIRED partner.confirmed payment is older than the charge': EARLY,

  'PENDING charge.accepted': { learns: { transactionId: 'tx', facts: { ...CHARGED, ...SETTLED } }, dueAt: RESTING },
  'PENDING charge.rejected': { learns: REFUSED },
  'PENDING charge.not_sent': { learns: { facts: { questions: 1 } }, dueAt: NOW + 5_000 },
  'PENDING charge.unknown': { learns: { facts: { questions: 1, unknownSince: NOW } }, dueAt: NOW + 5_000 },
  'PENDING charge.contradicted': { learns: DOUBTED, evidence: { reason: 'other valueCents' } },
  'PENDING partner.confirmed movement belongs to another operation': ELSEWHERE,
  'PENDING partner.confirmed amount differs': OTHER_AMOUNT,
  'PENDING partner.confirmed settled late': LATE,
  'PENDING partner.confirmed answer contradicts': IN_CONTRADICTION,
  'PENDING partner.confirmed': { learns: CREDITED },
  'PENDING partner.failed': { learns: REMOVED },
  'PENDING clock.expired': { learns: { facts: SETTLED } },

  'PROVIDER_RESULT_UNKNOWN charge.accepted': {
    learns: { transactionId: 'tx', facts: { ...CHARGED, ...SETTLED } },
    dueAt: RESTING,
  },
  'PROVIDER_RESULT_UNKNOWN charge.rejected': { learns: REFUSED },
  'PROVIDER_RESULT_UNKNOWN charge.not_sent': {
    learns: { facts: { questions: 4, unknownSince: NOW - 60_000 } },
    dueAt: NOW + 30_000,
  },
  'PROVIDER_RESULT_UNKNOWN charge.unknown': {
    learns: { facts: { questions: 4, unknownSince: NOW - 60_000 } },
    dueAt: NOW + 30_000,
  },
  'PROVIDER_RESULT_UNKNOWN charge.contradicted': { learns: DOUBTED, evidence: { reason: 'other valueCents' } },
  'PROVIDER_RESULT_UNKNOWN partner.confirmed movement belongs to another operation': ELSEWHERE,
  'PROVIDER_RESULT_UNKNOWN partner.confirmed amount differs': OTHER_AMOUNT,
  'PROVIDER_RESULT_UNKNOWN partner.confirmed answer contradicts': IN_CONTRADICTION,
  'PROVIDER_RESULT_UNKNOWN partner.confirmed': { learns: CREDITED },
  'PROVIDER_RESULT_UNKNOWN partner.failed': { learns: REMOVED },
  'PROVIDER_RESULT_UNKNOWN clock.expired': { learns: { facts: SETTLED } },
  'PROVIDER_RESULT_UNKNOWN charge.not_sent for 15 minutes': {
    before: { facts: { unknownSince: NOW - 900_000, questions: 17 } },
    learns: { facts: reasonFact('no_answer') },
    dueAt: NOW + 60_000,
  },
  'PENDING charge.accepted by another reference': {
    before: { transactionId: 'tx-0' },
    learns: DOUBTED,
    evidence: { reason: 'another transactionId for the same charge' },
  },
  'PROVIDER_RESULT_UNKNOWN charge.accepted by another reference': {
    before: { transactionId: 'tx-0' },
    learns: DOUBTED,
    evidence: { reason: 'another transactionId for the same charge' },
  },
  'PROVIDER_RESULT_UNKNOWN charge.unknown for 15 minutes': {
    before: { facts: { unknownSince: NOW - 900_000, questions: 17 } },
    learns: { facts: reasonFact('no_answer') },
    dueAt: NOW + 60_000,
  },

  'EXPIRED charge.accepted': { learns: CHARGE },
  'EXPIRED partner.confirmed movement belongs to another operation': ELSEWHERE,
  'EXPIRED partner.confirmed amount differs': OTHER_AMOUNT,
  'EXPIRED partner.confirmed settled late': LATE,
  'EXPIRED partner.confirmed answer contradicts': IN_CONTRADICTION,
  'EXPIRED partner.confirmed': { learns: CREDITED },

  'PAID charge.accepted': {
    before: { transactionId: null, facts: { payments: { E1: 100_00 } } },
    learns: CHARGE,
  },
  'PAID charge.rejected': { evidence: { errorCode: 'limit', errorMessage: 'too much' } },
  'PAID partner.confirmed movement belongs to another operation': {
    input: { ...confirmed({ endToEndId: 'E2' }), isBookedElsewhere: true },
    learns: { facts: { payments: { E1: 100_00, E2: 100_00 } } },
    reference: 'E2',
    evidence: { endToEndId: 'E2', valueCents: 100_00, occurredAt: NOW - 1_000 },
  },
  'PAID partner.confirmed payment restated': RESTATED,
  'PAID partner.confirmed payment is a second one': {
    input: confirmed({ endToEndId: 'E2' }),
    learns: { facts: { payments: { E1: 100_00, E2: 100_00 } } },
    reference: 'E2',
    evidence: { endToEndId: 'E2', valueCents: 100_00, occurredAt: NOW - 1_000 },
  },
  'PAID partner.failed': {
    learns: DOUBTED,
    dueAt: NOW,
    evidence: { errorCode: 'removed', errorMessage: 'removed by the bank' },
  },

  'PAID refund.reserved': { learns: { facts: { refundsOpenCents: 30_00, openRefunds: OPEN_REFUND } } },
  'PAID refund.confirmed returns exceed the payment': CONFIRMED_TOO_MUCH,
  'PAID refund.confirmed': CONFIRMED_REFUND,
  'PAID refund.released': RELEASED_REFUND,
  ...takenAfterDecision('PENDING'),
  ...takenAfterDecision('PROVIDER_RESULT_UNKNOWN'),
  ...takenAfterDecision('EXPIRED'),
  ...takenAfterDecision('FAILED'),
  ...takenAside('PAID'),
  ...takenAside('RECONCILIATION_REQUIRED'),
  'PAID refund.taken return restated': RETURN_RESTATED,
  'PAID refund.taken returns exceed the payment': TAKEN_TOO_MUCH,
  'PAID refund.taken': TAKEN,
  'PAID refund.undone': UNDONE,
  'PAID refund.named': NAMED_REFUND,
  'PAID refund.answered': ANSWERED,
  'PAID return.told return restated': { ...RETURN_RESTATED, learns: {} },
  'PAID return.told a refund may explain it': RETURN_AWAITED,
  'PAID return.told returns exceed the payment': RETURNED_TOO_MUCH,
  'PAID return.told': RETURN_BOOKED,
  'PAID return.unexplained': UNEXPLAINED,
  'PAID return.known money of it is held': KNOWN_AND_FREED,
  'PAID return.known': KNOWN,
  'RECONCILIATION_REQUIRED refund.confirmed returns exceed the payment': CONFIRMED_TOO_MUCH,
  'RECONCILIATION_REQUIRED refund.confirmed': CONFIRMED_REFUND,
  'RECONCILIATION_REQUIRED refund.released': RELEASED_REFUND,
  'RECONCILIATION_REQUIRED refund.taken return restated': RETURN_RESTATED,
  'RECONCILIATION_REQUIRED refund.taken returns exceed the payment': TAKEN_TOO_MUCH,
  'RECONCILIATION_REQUIRED refund.taken': TAKEN,
  'RECONCILIATION_REQUIRED refund.undone': UNDONE,
  'RECONCILIATION_REQUIRED refund.named': NAMED_REFUND,
  'RECONCILIATION_REQUIRED refund.answered': ANSWERED,
  'RECONCILIATION_REQUIRED return.told return restated': { ...RETURN_RESTATED, learns: {} },
  'RECONCILIATION_REQUIRED return.told a refund may explain it': RETURN_AWAITED,
  'RECONCILIATION_REQUIRED return.told returns exceed the payment': RETURNED_TOO_MUCH,
  'RECONCILIATION_REQUIRED return.told': RETURN_BOOKED,
  'RECONCILIATION_REQUIRED return.unexplained': UNEXPLAINED,
  'RECONCILIATION_REQUIRED return.known money of it is held': KNOWN_AND_FREED,
  'RECONCILIATION_REQUIRED return.known': KNOWN,

  'FAILED charge.accepted': { learns: CHARGE, dueAt: NOW, evidence: { transactionId: 'tx' } },
  'FAILED partner.confirmed movement belongs to another operation': ELSEWHERE,
  'FAILED partner.confirmed': suspended(100_00),

  'RECONCILIATION_REQUIRED partner.confirmed movement belongs to another operation': ELSEWHERE,

  'RECONCILIATION_REQUIRED partner.confirmed payment restated': {
    ...RESTATED,
    before: { facts: { ...reasonFact('conflict'), payments: { E1: 98_00 } } },
    learns: { transactionId: 'tx', facts: reasonFact('conflict') },
  },
  'RECONCILIATION_REQUIRED partner.confirmed payment is a second one': {
    before: { facts: { ...reasonFact('conflict'), payments: { E1: 98_00 } } },
    input: confirmed({ endToEndId: 'E2' }),
    ...suspended(100_00, 'E2', { E1: 98_00 }),
  },
  'RECONCILIATION_REQUIRED partner.confirmed amount differs': OTHER_AMOUNT,
  'RECONCILIATION_REQUIRED partner.confirmed answer contradicts': { before: MISSING, ...IN_CONTRADICTION },
  'RECONCILIATION_REQUIRED partner.confirmed evidence was missing': { before: MISSING, learns: CREDITED },
  'RECONCILIATION_REQUIRED partner.confirmed': suspended(100_00),
  'RECONCILIATION_REQUIRED partner.failed evidence was missing': { before: MISSING, learns: REMOVED },
  'RECONCILIATION_REQUIRED charge.accepted evidence was missing': {
    before: MISSING,
    learns: { transactionId: 'tx', facts: { ...CHARGED, ...SETTLED } },
    dueAt: RESTING,
  },
  'RECONCILIATION_REQUIRED clock.expired evidence was missing': { before: MISSING, learns: { facts: SETTLED } },
  'RECONCILIATION_REQUIRED charge.rejected evidence was missing': { before: MISSING, learns: REFUSED },
}

/** Work is the same in every state but for when it is due again. */
function situationOf(situation: string, { from, on }: Outcome): Situation | undefined {
  const known = SITUATIONS[situation]
  if (situation.endsWith('payment is to be verified')) return VERIFIED_FIRST
  if (situation.endsWith('too many payments are reported')) {
    return from === 'RECONCILIATION_REQUIRED'
      ? { ...TWENTIETH, before: { facts: { ...TWENTIETH.before.facts, ...reasonFact('conflict') } } }
      : TWENTIETH
  }
  if (situation.endsWith('only an event reports it')) return ONLY_BY_EVENT
  if (situation.endsWith('reported payment is unconfirmed for too long')) {
    return from === 'PROVIDER_RESULT_UNKNOWN' ? { ...UNCONFIRMED, dueAt: NOW + 60_000 } : UNCONFIRMED
  }
  if (on === 'work.requested') return { learns: { facts: ASKED }, dueAt: NOW }
  if (on === 'work.claimed') {
    const attempt = from === 'PAID' ? {} : { lastAttemptAt: NOW }
    return {
      before: { dueAt: NOW },
      learns: { facts: { leaseUntil: NOW + 30_000, isQuestionWanted: false, ...attempt } },
      dueAt: NOW + 30_000,
    }
  }
  return on === 'work.done' ? { ...ENDED_QUERY, ...known, before: { dueAt: NOW + 30_000, ...known?.before } } : known
}

for (const [name, outcome] of outcomesOf(OUTCOMES)) {
  const { from, on, rule, to, posts, emits, opens } = outcome
  test(`[${rule}] ${name} → ${to}`, () => {
    const situation = situationOf(name, outcome)
    assert.ok(situation, 'every outcome has its situation here')
    const before = withOpenCases(cashInAs(from as CashInStatus, situation.before), 'result_missing', 'amount_differs')
    const input = situation.input ?? INPUTS[on as CashInEvent['on']]
    const decision = decideCashIn(before, input, NOW)
    const endsDoubt = from === 'RECONCILIATION_REQUIRED' && to !== 'RECONCILIATION_REQUIRED'

    assert.deepEqual(decision.outcome, {
      result: 'APPLIED',
      cashIn: {
        ...before,
        ...situation.learns,
        facts: { ...before.facts, ...situation.learns?.facts, ...(endsDoubt ? { ...reasonFact(null) } : {}) },
        status: to,
        version: before.version + 1,
        dueAt: situation.dueAt ?? null,
        updatedAt: NOW,
      },
    })
    const [move, ...others] = decision.moves ?? []
    assert.deepEqual(others, [])
    assert.equal(move?.trigger, on)
    assert.deepEqual(decision.closes, endsDoubt ? ['result_missing'] : [])
    assert.deepEqual(journalsOf(decision), posts ? [journalOf(posts, situation, input)] : [])
    assert.deepEqual(notificationsOf(decision), emits ? [{ status: to, body: bodyOf(before, input, to) }] : [])
    const written = { reference: situation.reference ?? '', facts: situation.evidence ?? {} }
    assert.deepEqual(decision.cases, opens ? [{ operationId: before.id, kind: opens, ...written }] : [])
  })
}

const ANOTHER_REFERENCE = { ...INPUTS['charge.accepted'], transactionId: 'tx-9' } as const
const NOT_FOUND = INPUTS['charge.not_found']

/** What a single condition more or less decides: the state and the reason afterwards. */
const CONDITIONS: readonly (readonly [name: string, CashIn, CashInEvent, becomes: string])[] = [
  [
    '[cash-in.states.2] what the bank took is stored also when its time is over',
    cashInAs('PENDING', { expiresAt: NOW - 1 }),
    INPUTS['charge.accepted'],
    'PENDING',
  ],
  ...(['EXPIRED', 'PAID', 'FAILED', 'RECONCILIATION_REQUIRED'] as const).map((status) => {
    const name = `[cash-in.states.16] another reference of a charge that is ${status} is nothing`
    const known = { transactionId: 'tx', ...(status === 'RECONCILIATION_REQUIRED' ? MISSING : {}) }
    return [name, cashInAs(status, known), ANOTHER_REFERENCE, 'IGNORED'] as const
  }),
  [
    '[cash-in.states.11] an unknown result whose charge the bank took once expires by proof',
    cashInAs('PROVIDER_RESULT_UNKNOWN', { expiresAt: NOW - 60_000, facts: { ...CHARGED, ...ABSENT } }),
    NOT_FOUND,
    'EXPIRED',
  ],
  [
    '[cash-in.states.11] so does a missing answer',
    cashInAs('RECONCILIATION_REQUIRED', {
      expiresAt: NOW - 60_000,
      facts: { ...MISSING.facts, ...CHARGED, ...ABSENT },
    }),
    NOT_FOUND,
    'EXPIRED',
  ],
  [
    '[cash-in.states.15] that the bank does not know what it never took contradicts nothing',
    cashInAs('PENDING', { facts: ABSENT }),
    NOT_FOUND,
    'PENDING',
  ],
]

for (const [name, before, input, becomes] of CONDITIONS) {
  test(name, () => {
    const { result, cashIn } = decideCashIn(before, input, NOW).outcome
    const words = [cashIn.status, ...[reasonOf(cashIn)].filter((reason) => reason !== null)]
    assert.equal(result === 'APPLIED' ? words.join(' ') : result, becomes)
  })
}

test('[cash-in.states] every situation has its outcome', () => {
  assert.deepEqual(withoutOutcome(SITUATIONS, OUTCOMES), [])
})

/** The entries as the ledger's documentation has them: J1, J10, J11r, J9a, J12h and J12k. */
function journalOf(posts: JournalKind, { reference = 'E1', isUnheld = false }: Situation, input: CashInEvent) {
  const moved = input.on === 'partner.confirmed' ? input.payment.valueCents : 30_00n
  const entries: Partial<Record<JournalKind, unknown[][]>> = {
    return_held: [
      ['available', -20_00n, 'REFUND_IN_RESERVE'],
      ['reserved', 20_00n, null],
      ['settlement', 30_00n, null],
      ['suspense_out', -30_00n, null],
    ],
    return_known: [
      ['available', 20_00n, 'REFUND_IN_RELEASE'],
      ['reserved', -20_00n, null],
      ['settlement', -30_00n, null],
      ['suspense_out', 30_00n, null],
    ],
    cash_in_paid: [
      ['available', 100_00n, 'CASH_IN'],
      ['available', -1_00n, 'FEE'],
      ['settlement', -100_00n, null],
      ['fees', 1_00n, null],
    ],
    arrived_unattributed: [
      ['settlement', -moved, null],
      ['suspense_in', moved, null],
    ],
    arrival_returned: [
      ['suspense_in', -moved, null],
      ['settlement', moved, null],
    ],
    left_unattributed: [
      ['settlement', moved, null],
      ['suspense_out', -moved, null],
    ],
  }
  const held = new Set<unknown>(isUnheld ? ['available', 'reserved'] : [])
  return { kind: posts, reference, entries: entries[posts]?.filter(([account]) => !held.has(account)) }
}

function notificationsOf({ notifications = [] }: Decision<CashInOutcome>) {
  return notifications.map(({ status, eventType, reference, body }) => {
    assert.deepEqual([eventType, reference], ['pix_cash_in', ''])
    return { status, body: body.toString() }
  })
}

/** The bytes, written out: what is signed once is sent for ever. */
function bodyOf(before: CashIn, input: CashInEvent, status: string): string {
  const isPaid = status === 'PAID'
  const isReported = input.on === 'partner.confirmed' || input.on === 'partner.failed'
  const fields = [
    `"id":"${before.id}"`,
    '"correlation_id":"test"',
    '"external_id":"order-1"',
    `"transaction_id":${isReported ? '"tx"' : 'null'}`,
    `"status":"${status}"`,
    '"value_cents":10000',
    `"end_to_end_id":${isPaid ? '"E1"' : 'null'}`,
    `"payer_name":${isPaid ? '"Maria da Silva"' : 'null'}`,
    `"fee_amount_cents":${isPaid ? 100 : 0}`,
    `"confirmed_at":"${isReported ? '2026-11-21T13:29:59' : '2026-11-21T13:30:00'}.000000000Z"`,
    '"created_at":"2026-11-21T13:00:00.000000000Z"',
  ]
  return `{"event_type":"pix_cash_in","event":{${fields.join(',')}}}`
}

const pairs = cashIn.states.flatMap((from) =>
  (Object.keys(INPUTS) as (keyof typeof INPUTS)[])
    .filter((on) => OUTCOMES[`${from} ${on}`] === undefined)
    .map((on) => [from, on] as const),
)

/** What must hold so that none of a pair's rows with a condition applies. */
const UNCONDITIONAL: Readonly<Record<string, [CashInEvent, Partial<CashIn>?]>> = {
  // Of a payment that was booked nothing but the very same remains.
  'PAID partner.confirmed': [confirmed()],
}

for (const [from, on] of pairs) {
  test(`[engine.1] ${from} ignores ${on} where the table has no row for it`, () => {
    const [input, given] = UNCONDITIONAL[`${from} ${on}`] ?? [INPUTS[on]]
    assertIgnored(cashInAs(from, given), input)
  })
}

function assertIgnored(before: CashIn, input: CashInEvent): void {
  assert.deepEqual(decideCashIn(before, input, NOW), { outcome: { result: 'IGNORED', cashIn: before } })
}

test('[cash-in.refunds.4] a return that was counted is nothing new', () => {
  const before = cashInAs('PAID', { facts: { ...PAID, returns: { D1: 30_00 } } })
  assertIgnored(before, INPUTS['refund.taken'])
})

test('[cash-in.refunds.1] a refund disturbs no work that is due', () => {
  for (const on of ['refund.reserved', 'refund.confirmed', 'refund.released', 'refund.taken'] as const) {
    const due = cashInAs('PAID', { dueAt: NOW + 50_000 })
    assert.equal(decideCashIn(due, INPUTS[on], NOW).outcome.cashIn.dueAt, NOW + 50_000)
  }
})

test('[partner-inbox.3] a payment that was booked is nothing new, in whatever state', () => {
  for (const status of cashIn.states) {
    assertIgnored(cashInAs(status, { facts: { payments: { E1: 100_00 } } }), confirmed())
  }
})

test('[cash-in.states.9] a payment has 60 seconds after the expiry, to the millisecond', () => {
  const late = (ms: number) => decideCashIn(cashInAs('EXPIRED'), confirmed({ occurredAt: EXPIRES_AT + ms }), LATE_AT)
  assert.equal(late(60_000).outcome.cashIn.status, 'PAID')
  assert.equal(late(60_001).outcome.cashIn.status, 'RECONCILIATION_REQUIRED')
})

test('[cash-in.detail.4] a time of the bank more than 300 s ahead of ours is not believed', () => {
  const before = cashInAs('PENDING')
  const ahead = (ms: number) => decideCashIn(before, confirmed({ occurredAt: NOW + ms }), NOW)
  assert.deepEqual(ahead(300_001), { outcome: { result: 'IMPLAUSIBLE', cashIn: before } })
  assert.equal(ahead(300_000).outcome.cashIn.facts.paidAt, NOW + 300_000)
})

test('[cash-in.states.2] a charge accepted again changes nothing; under another transaction id it contradicts', () => {
  const charged = { transactionId: 'tx', facts: CHARGED }
  for (const status of ['PENDING', 'EXPIRED', 'FAILED', 'RECONCILIATION_REQUIRED'] as const) {
    assertIgnored(cashInAs(status, charged), INPUTS['charge.accepted'])
  }
  const { pixCode: _, ...ended } = INPUTS['charge.accepted']
  for (const facts of [CHARGED, {}]) assertIgnored(cashInAs('PENDING', { transactionId: 'tx', facts }), ended)
  assert.equal(decideCashIn(cashInAs('PENDING', {}), ended, NOW).outcome.cashIn.transactionId, 'tx')
  const other = { ...INPUTS['charge.accepted'], transactionId: 'another' }
  const decided = decideCashIn(cashInAs('PENDING', charged), other, NOW)
  assert.equal(decided.outcome.cashIn.status, 'RECONCILIATION_REQUIRED')
  assert.equal(decided.cases?.[0]?.kind, 'charge_contradicted')
  assertIgnored(cashInAs('PAID', { facts: PAID }), other)
})

test('[cash-in.states.2] what is known already is not overwritten by what an event says', () => {
  const before = cashInAs('PENDING', { transactionId: 'the first' })
  for (const input of [confirmed(), INPUTS['partner.failed']]) {
    const { cashIn: after } = decideCashIn(before, input, NOW).outcome
    assert.equal(after.transactionId, 'the first')
  }
})

test('[cash-in.expired.3] [EV-18] a charge that reads as EXPIRED reaches no other end, and no notification is sent', () => {
  const before = (expiresAt: number) => cashInAs('PENDING', { expiresAt, transactionId: 'tx' })
  const another = { ...INPUTS['charge.accepted'], transactionId: 'another' }
  for (const on of ['partner.failed', 'charge.rejected', 'charge.unknown', 'charge.contradicted'] as const) {
    assertIgnored(before(NOW - 1), INPUTS[on])
    assert.notEqual(decideCashIn(before(NOW), INPUTS[on], NOW).outcome.cashIn.status, 'PENDING', 'not yet over')
  }
  assertIgnored(before(NOW - 1), another)
})

test('[cash-in.work.5] of the requests that come while the bank is being asked one is kept, and asked at once afterwards', () => {
  const asking = cashInAs('PAID', { facts: { ...PAID, leaseUntil: NOW + 50_000 }, dueAt: NOW + 50_000 })
  const { cashIn: wanted } = decideCashIn(asking, INPUTS['work.requested'], NOW).outcome
  assert.equal(wanted.dueAt, NOW + 50_000, 'its lease reminds should the process die')
  assertIgnored(wanted, INPUTS['work.requested'])
  const { cashIn: answered } = decideCashIn(wanted, INPUTS['work.done'], NOW + 1_000).outcome
  assert.equal(answered.dueAt, NOW + 1_000)
  const { cashIn: claimed } = decideCashIn(answered, INPUTS['work.claimed'], NOW + 1_000).outcome
  assert.equal(decideCashIn(claimed, INPUTS['work.done'], NOW + 2_000).outcome.cashIn.dueAt, null)
})

/** The waits after each of so many status queries about an event's news, in seconds, until nothing is due any more. */
function waitsAfter(first: CashIn, ended: CashInEvent): number[] {
  const waits: number[] = []
  let now = first
  let at = NOW
  while (now.dueAt !== null && waits.length < 12) {
    at = Math.max(at, now.dueAt)
    now = decideCashIn(now, { on: 'work.claimed', leaseMs: 60_000 }, at).outcome.cashIn
    now = decideCashIn(now, ended, at).outcome.cashIn
    waits.push(((now.dueAt ?? at) - at) / 1_000)
  }
  return waits
}

const NO_OUTCOME = { ...INPUTS['work.done'], hasOutcome: false } as const
const NO_ANSWER = { ...NO_OUTCOME, isAnswered: false } as const

test('[cash-in.work.5] [EV-41] the news of an event are asked about at once, and after 1, 5 and 15 s where no outcome is reported', () => {
  const reported = decideCashIn(cashInAs('PAID'), ONLY_BY_EVENT.input, NOW).outcome.cashIn
  assert.deepEqual(waitsAfter(reported, NO_OUTCOME), [1, 5, 15, 0])
  assert.deepEqual(waitsAfter(reported, INPUTS['work.done']), [0], 'an outcome is enough')
})

test('[cash-in.work.5] [EV-41] an answer without an outcome never delays the next event’s status query', () => {
  let now = decideCashIn(cashInAs('PAID'), ONLY_BY_EVENT.input, NOW).outcome.cashIn
  for (let query = 0; query < 3; query++) {
    now = decideCashIn({ ...now, dueAt: NOW }, { on: 'work.claimed', leaseMs: 60_000 }, NOW).outcome.cashIn
    now = decideCashIn(now, NO_ANSWER, NOW).outcome.cashIn
  }
  assert.ok((now.dueAt ?? 0) > NOW)
  now = decideCashIn(now, INPUTS['work.requested'], NOW + 1).outcome.cashIn
  assert.equal(now.dueAt, NOW + 1)
  assert.equal(waitsAfter(now, NO_OUTCOME)[0], 1, 'and its repeats begin anew')
})

test('[cash-in.work.6] [EX-8] what is left open is asked about after 1, 2, 5 and 15 minutes, then each hour', () => {
  const minutes = (waits: number[]) => waits.slice(0, 7).map((wait) => wait / 60)
  const over = cashInAs('PENDING', { expiresAt: NOW - 2_000, dueAt: NOW, facts: CHARGED })
  for (const ended of [NO_ANSWER, NO_OUTCOME]) {
    assert.deepEqual(minutes(waitsAfter(over, ended)), [1, 2, 5, 15, 60, 60, 60])
  }
  const paid = cashInAs('PAID', { dueAt: NOW })
  assert.deepEqual(minutes(waitsAfter(paid, NO_ANSWER)), [1, 2, 5, 15, 60, 60, 60])
})

test('[cash-in.expired.4] [EX-9] where no statement is swept an expired charge is asked about after 5 minutes, 1 hour, 24 hours', () => {
  const open = cashInAs('PENDING', { expiresAt: NOW - 2_000, facts: CHARGED })
  const swept = decideCashIn(open, { on: 'clock.expired', isSwept: true }, NOW).outcome.cashIn
  assert.equal(swept.dueAt, null)
  const unswept = decideCashIn(open, { on: 'clock.expired', isSwept: false }, NOW).outcome.cashIn
  assert.equal(unswept.dueAt, NOW + 300_000)
  assert.deepEqual(waitsAfter(unswept, NO_OUTCOME), [3_300, 82_800, 0])
})

test('[cash-in.credits.4] [EV-43] a payment that the bank does not confirm is asked about for a day, then operator action is required', () => {
  const reported = decideCashIn(cashInAs('PENDING', { expiresAt: NOW + 10 * 86_400_000 }), VERIFIED_FIRST.input, NOW)
  const waits: number[] = []
  let now = reported.outcome.cashIn
  let at = NOW
  const opened: string[] = []
  while (now.dueAt !== null && now.dueAt < NOW + 9 * 86_400_000) {
    at = Math.max(at, now.dueAt)
    now = decideCashIn(now, { on: 'work.claimed', leaseMs: 60_000 }, at).outcome.cashIn
    const decision = decideCashIn(now, NO_OUTCOME, at)
    opened.push(...(decision.cases ?? []).map(({ kind }) => `${kind} after ${Math.floor((at - NOW) / 60_000)} min`))
    now = decision.outcome.cashIn
    waits.push(((now.dueAt ?? at) - at) / 1_000)
  }
  assert.deepEqual(waits.slice(0, 8), [1, 5, 15, 900, 3_600, 3_600, 3_600, 3_600])
  assert.deepEqual(opened, ['payment_unconfirmed after 15 min'])
  assert.ok(at - NOW < 90_000_000)
  const answered = decideCashIn(
    withOpenCases(now, ...opened.map((what) => what.split(' ', 1).join())),
    confirmed({ endToEndId: 'E2' }),
    at,
  )
  assert.equal(answered.outcome.cashIn.status, 'PAID')
  assert.deepEqual(answered.closes, ['payment_unconfirmed'])
  assert.deepEqual(reportedPayments(answered.outcome.cashIn.facts), {})
})

test('[desk.48] a payment that an event reports again with more counts with that, and stays as it was told first', () => {
  const report = (cashIn: CashIn, valueCents: bigint) =>
    decideCashIn(cashIn, { ...confirmed({ endToEndId: 'E1', valueCents }), unverified: 'first' }, NOW)
  const first = report(cashInAs('PENDING'), 10_00n).outcome.cashIn
  const open = withOpenCases(first, 'payment_unconfirmed')
  const more = report(open, 50_00n)
  assert.deepEqual(
    more.cases?.map(({ kind, facts }) => [kind, facts.valueCents]),
    [['payment_unconfirmed', 50_00]],
  )
  assert.equal(reportedPayments(more.outcome.cashIn.facts).E1?.valueCents, 10_00)
  const less = report(withOpenCases(more.outcome.cashIn, 'payment_unconfirmed'), 20_00n)
  assert.deepEqual([less.cases, reportedCents(less.outcome.cashIn.facts)], [[], 50_00])
})

test('[cash-in.credits.5] beyond twenty payments that only events report nothing is kept, and the bank is asked all the same', () => {
  const reportedBy = (endToEndId: string) => ({ ...confirmed({ endToEndId }), unverified: 'first' }) as const
  const full = decideCashIn(cashInAs('PENDING', { facts: reportedPaymentsFact(REPORTED) }), reportedBy('E1'), NOW)
  const { cashIn } = full.outcome
  assert.equal(decideCashIn(cashIn, reportedBy('E2'), NOW).outcome.result, 'IGNORED', 'it is about to be asked')
  const asking = decideCashIn(cashIn, { on: 'work.claimed', leaseMs: 60_000 }, NOW).outcome.cashIn
  const beyond = decideCashIn(asking, reportedBy('E2'), NOW)
  assert.deepEqual(
    beyond.moves?.map(({ trigger, facts }) => [trigger, facts]),
    [['work.requested', { ...ASKED }]],
  )
  assert.deepEqual(beyond.cases, [])
  const again = decideCashIn(asking, reportedBy('E1'), NOW)
  assert.deepEqual(reportedPayments(again.outcome.cashIn.facts), reportedPayments(cashIn.facts))
  assert.deepEqual(again.cases, [], 'one that is kept is no other one')
  const answered = decideCashIn(asking, confirmed({ endToEndId: 'E2' }), NOW).outcome.cashIn
  assert.deepEqual([answered.status, answered.endToEndId], ['PAID', 'E2'])
})

test('[cash-in.credits.1] [cash-in.credits.5] a charge with twenty payments has no more on the word of an event', () => {
  const payments = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`P${index}`, 1]))
  const second = { ...confirmed({ endToEndId: 'E2' }), unverified: 'counted' } as const
  const { P0: _, ...fewer } = payments
  const journals = (booked: Record<string, number>) =>
    decideCashIn(cashInAs('PAID', { facts: { ...PAID, payments: booked } }), second, NOW).journals ?? []
  assert.equal(journals(fewer).length, 1)
  assert.equal(journals(payments).length, 0)
})

test('[cash-in.states.15] [EX-7] one «not found» proves nothing of a charge that the bank took', () => {
  const known = { ...CHARGED, lastAttemptAt: NOW - 1_000_000 }
  const asked = (facts: CashInFacts, askedAt: number) =>
    decideCashIn(
      cashInAs('PENDING', { expiresAt: NOW - 60_000, facts }),
      { ...INPUTS['charge.not_found'], askedAt },
      NOW,
    ).outcome.cashIn.status
  assert.equal(asked(known, NOW), 'PENDING', 'once')
  const since = { ...known, notFoundSince: NOW - 60_000, notFoundAt: NOW - 60_000 }
  assert.equal(asked(since, NOW - 1), 'PENDING', 'less than 60 s apart')
  assert.equal(
    asked({ ...since, lastAttemptAt: NOW - 299_999 }, NOW),
    'PENDING',
    'less than 5 minutes after the attempt',
  )
  assert.equal(asked({ ...since, lastAttemptAt: NOW + 1 }, NOW), 'PENDING', 'before the attempt')
  assert.equal(asked(since, NOW), 'EXPIRED')
  assert.equal(asked({}, NOW), 'EXPIRED', 'nobody can have paid what it never took')
})

test('[cash-in.states.15] what the bank says while its answer is missing counts: said again, absence is proven', () => {
  const facts = { ...MISSING.facts, ...CHARGED, lastAttemptAt: NOW - 1_000_000 }
  const before = cashInAs('RECONCILIATION_REQUIRED', { expiresAt: NOW - 120_000, facts })
  const once = decideCashIn(before, { ...NOT_FOUND, askedAt: NOW - 60_000 }, NOW - 60_000).outcome.cashIn
  assert.deepEqual([once.status, reasonOf(once)], ['RECONCILIATION_REQUIRED', 'no_answer'])
  assert.equal(decideCashIn(once, { ...NOT_FOUND, askedAt: NOW }, NOW).outcome.cashIn.status, 'EXPIRED')
})

test('[cash-in.states.15] that the bank has the charge after all disproves what it said before', () => {
  const before = cashInAs('PENDING', { transactionId: 'tx', facts: { ...CHARGED, ...ABSENT } })
  const { facts } = decideCashIn(before, INPUTS['charge.accepted'], NOW).outcome.cashIn
  assert.deepEqual([facts.notFoundSince, facts.notFoundAt], [null, null])
})

test('[cash-in.work.2] only due work can be claimed, so that of two claims one is nothing', () => {
  const { cashIn: claimed } = decideCashIn(cashInAs('PENDING', { dueAt: NOW }), INPUTS['work.claimed'], NOW).outcome
  assertIgnored(claimed, INPUTS['work.claimed'])
  assertIgnored(cashInAs('PENDING', { dueAt: NOW + 1 }), INPUTS['work.claimed'])
  assertIgnored(cashInAs('PAID'), INPUTS['work.claimed'])
})

test('[cash-in.states.10] the bank agrees with what an event reported of a failure: its words are kept', () => {
  const reported = decideCashIn(cashInAs('PENDING'), ONLY_BY_EVENT.input, NOW).outcome.cashIn
  const agreed = { ...INPUTS['partner.failed'], errorCode: 'charge_failed', errorMessage: null, occurredAt: null }
  const { outcome, notifications } = decideCashIn(reported, agreed, NOW)
  assert.deepEqual(
    [outcome.cashIn.facts.failureCode, outcome.cashIn.facts.failureReason],
    ['removed', 'removed by the bank'],
  )
  assert.match(String(notifications?.[0]?.body), /"confirmed_at":"2026-11-21T13:29:59.000000000Z"/)
})

test('[cash-in.expired.5] [EX-8] the case of an end that was unknown closes when it is known', () => {
  const facts = { ...CHARGED, isEndCaseOpen: true }
  const ended = cashInAs('PENDING', { expiresAt: NOW - 3_600_000, facts, dueAt: NOW })
  const before = withOpenCases(ended, 'end_unknown', 'payment_restated')
  for (const input of [INPUTS['clock.expired'], confirmed({ occurredAt: NOW - 3_600_000 })]) {
    const { closes, outcome } = decideCashIn(before, input, NOW)
    assert.deepEqual(closes, ['end_unknown'])
    assert.equal(outcome.cashIn.facts.isEndCaseOpen, false)
  }
  assert.equal(decideCashIn(before, NO_OUTCOME, NOW).cases?.length, 0, 'one case is enough')
})

test('[cash-in.credits.1] an older payment that only an event reports is verified before it is a contradiction', () => {
  const older = { ...confirmed({ occurredAt: EARLY_AT }), unverified: 'counted' } as const
  const { outcome, journals } = decideCashIn(cashInAs('PENDING'), older, NOW)
  assert.deepEqual([outcome.cashIn.status, outcome.cashIn.dueAt, journals], ['PENDING', NOW, []])
  const inTime = { ...confirmed({ occurredAt: EARLY_AT + 1 }), unverified: 'counted' } as const
  const credited = decideCashIn(cashInAs('PENDING'), inTime, NOW).outcome.cashIn
  assert.deepEqual([credited.status, credited.facts.isUnverified], ['PAID', true])
})

test('[cash-in.work.3] work that left its state at rest is no move', () => {
  for (const status of ['PAID', 'EXPIRED', 'FAILED', 'RECONCILIATION_REQUIRED'] as const) {
    assertIgnored(cashInAs(status), INPUTS['work.done'])
  }
  assertIgnored(cashInAs('PENDING', { dueAt: RESTING }), INPUTS['work.done'])
})

test('[cash-in.work.3] a charge that is over and still PENDING is due again in a minute, never in the past', () => {
  const overdue = (ms: number) => {
    const asked = cashInAs('PENDING', { expiresAt: NOW - ms, dueAt: NOW + 30_000 })
    return decideCashIn(asked, INPUTS['work.done'], NOW).outcome.cashIn.dueAt
  }
  assert.equal(overdue(1_999), NOW + 1)
  assert.equal(overdue(2_000), NOW + 60_000)
  assert.equal(overdue(3_600_000), NOW + 60_000)
})

test('[cash-in.paid.5] what the bank answers about a contradiction is kept, about anything else it is not', () => {
  const factsOf = (facts: CashInFacts) => {
    const asked = cashInAs('RECONCILIATION_REQUIRED', { dueAt: NOW + 60_000, facts })
    const [move] = decideCashIn(asked, INPUTS['work.done'], NOW).moves ?? []
    return move?.facts
  }
  assert.deepEqual(factsOf(reasonFact('conflict')), { bankAnswer: { kind: 'NOT_FOUND' }, leaseUntil: null })
  assert.deepEqual(factsOf({ ...MISSING.facts, leaseUntil: NOW + 60_000 }), { leaseUntil: null })
})

test('[cash-in.failed.1] [cash-in.paid.5] a question under way is question enough', () => {
  const dueAt = NOW + 50_000
  for (const [status, on] of [
    ['FAILED', 'charge.accepted'],
    ['PAID', 'partner.failed'],
  ] as const) {
    assert.equal(decideCashIn(cashInAs(status, { dueAt }), INPUTS[on], NOW).outcome.cashIn.dueAt, dueAt)
  }
})

test('[partner.4] questions about an unknown result come after 5, 10, 15 and 30 s, then each minute', () => {
  let cashInNow = cashInAs('PENDING')
  let at = NOW
  const waits = Array.from({ length: 7 }, () => {
    const { dueAt, ...after } = decideCashIn(cashInNow, INPUTS['charge.unknown'], at).outcome.cashIn
    const wait = (dueAt ?? 0) - at
    cashInNow = { ...after, dueAt }
    at += wait
    return wait / 1_000
  })
  assert.deepEqual(waits, [5, 10, 15, 30, 60, 60, 60])
})

for (const on of ['charge.unknown', 'charge.not_sent'] as const) {
  test(`[cash-in.unknown.7] [partner.5] 15 minutes without an outcome make a case, also by ${on}`, () => {
    const since = (unknownSince: number) => cashInAs('PROVIDER_RESULT_UNKNOWN', { facts: { unknownSince } })
    const early = decideCashIn(since(NOW - 899_999), INPUTS[on], NOW)
    assert.equal(early.outcome.cashIn.status, 'PROVIDER_RESULT_UNKNOWN')
    const { outcome, cases } = decideCashIn(since(NOW - 900_000), INPUTS[on], NOW)
    assert.equal(outcome.cashIn.status, 'RECONCILIATION_REQUIRED')
    assert.equal(reasonOf(outcome.cashIn), 'no_answer')
    assert.deepEqual(
      cases?.map(({ kind }) => kind),
      ['result_missing'],
    )
  })
}

test('[cash-in.states.1] an accepted request is a PENDING cash-in with its first work due', () => {
  const request = cashInRequest({ id: cashInAs('PENDING').id, externalId: 'order-1', expirationSeconds: 3_600 })
  const decision = decideCreate(request, TERMS, CREATED_AT)
  assert.deepEqual(
    decision.outcome,
    cashInAs('PENDING', {
      version: 1,
      dueAt: CREATED_AT + 15_000,
      facts: { madeBy: MADE_BY },
      createdAt: CREATED_AT,
      updatedAt: CREATED_AT,
    }),
  )
  assert.deepEqual(Object.keys(decision).sort(), ['creates', 'outcome'], 'no money moves and nobody is told')
})

function refusalOf(given: Partial<Parameters<typeof cashInRequest>[0]>, terms = TERMS): string | undefined {
  try {
    decideCreate(cashInRequest({ id: 'id', externalId: 'a', ...given }), terms, NOW)
    return undefined
  } catch (error) {
    assert.ok(error instanceof Refusal)
    return error.code
  }
}

test('[money.3] a value is above zero and at most what was configured', () => {
  assert.equal(refusalOf({ valueCents: 0n }), 'value_not_positive')
  assert.equal(refusalOf({ valueCents: -1n }), 'value_not_positive')
  assert.equal(refusalOf({ valueCents: 1n }), undefined)
  assert.equal(refusalOf({ valueCents: TERMS.maxValueCents }), undefined)
  assert.equal(refusalOf({ valueCents: TERMS.maxValueCents + 1n }), 'value_too_large')
})

test('[cash-in.create.2] [documents.1] a payer has a CPF or CNPJ, kept as bare text', () => {
  const documentOf = (document: string) => {
    const request = cashInRequest({ id: 'id', externalId: 'a', payer: { fullName: 'Maria', document } })
    return decideCreate(request, TERMS, NOW).outcome.detail.payer?.document
  }
  assert.equal(documentOf('529.982.247-25'), '52998224725')
  assert.equal(documentOf('12.abc.345/01de-35'), '12ABC34501DE35')
  for (const document of ['', '52998224724', '111.111.111-11', '12ABC34501DE36', 'Maria']) {
    assert.equal(refusalOf({ payer: { fullName: 'Maria', document } }), 'invalid_document')
  }
})

test('[fees.1] the fee is set at the creation: a fixed part and basis points, rounded half up once', () => {
  const feeOf = (valueCents: bigint, cents: bigint, basisPoints: bigint) =>
    decideCreate(
      cashInRequest({ id: 'id', externalId: 'a', valueCents }),
      { ...TERMS, fee: { cents, basisPoints } },
      NOW,
    ).outcome.feeCents
  assert.equal(feeOf(100_00n, 10n, 99n), 109n)
  assert.equal(feeOf(50n, 0n, 100n), 1n)
  assert.equal(feeOf(49n, 0n, 100n), 0n)
})

test('[fees.2] the fee is never more than the value', () => {
  const fee = { cents: 100n, basisPoints: 10_000n }
  for (const valueCents of [1n, 99n, 100n]) {
    const request = cashInRequest({ id: 'id', externalId: 'a', valueCents })
    assert.equal(decideCreate(request, { ...TERMS, fee }, NOW).outcome.feeCents, valueCents)
  }
})

test('[cash-in.states.15] [P6] that the bank does not know it proves nothing of a later attempt, nor once, nor too soon', () => {
  const lastAttemptAt = NOW - 400_000
  const afterNotFound = (facts: CashInFacts, given: Partial<CashIn> = {}, askedAt = NOW) => {
    const before = cashInAs('PENDING', { expiresAt: NOW - 60_000, ...given, facts: { ...CHARGED, ...facts } })
    return decideCashIn(before, { on: 'charge.not_found', askedAt, isSwept: true }, NOW).outcome.cashIn
  }
  const before = { lastAttemptAt, notFoundSince: NOW - 60_000, notFoundAt: NOW - 60_000 }
  assert.equal(afterNotFound(before).status, 'EXPIRED')
  assert.equal(afterNotFound({ lastAttemptAt }).status, 'PENDING')
  assert.equal(afterNotFound({ ...before, notFoundSince: NOW - 59_999 }).status, 'PENDING')
  assert.equal(afterNotFound({ ...before, lastAttemptAt: NOW - 299_999 }).status, 'PENDING')
  const stale = afterNotFound({ lastAttemptAt }, {}, lastAttemptAt - 1)
  assert.deepEqual([stale.status, stale.facts.notFoundSince], ['PENDING', undefined])
})

test('[cash-in.states.15] an attempt of unknown time counts from when the create timed out', () => {
  const facts = { ...CHARGED, notFoundSince: NOW - 60_000, notFoundAt: NOW - 60_000 }
  const gaveUpAt = NOW - 300_000 - limits.abandonedIntentMs
  const statusOf = (createdAt: number) => {
    const before = cashInAs('PENDING', { createdAt, expiresAt: NOW - 60_000, facts })
    return decideCashIn(before, { on: 'charge.not_found', askedAt: NOW, isSwept: true }, NOW).outcome.cashIn.status
  }
  assert.deepEqual([statusOf(gaveUpAt), statusOf(gaveUpAt + 1)], ['EXPIRED', 'PENDING'])
})

test('[cash-in.states.15] [EX-7] a charge with a bank reference was accepted, also where its code is not known here', () => {
  const before = cashInAs('PENDING', { transactionId: 'tx', expiresAt: NOW - 60_000 })
  const { outcome } = decideCashIn(before, INPUTS['charge.not_found'], NOW)
  assert.equal(outcome.cashIn.status, 'PENDING')
})

test('[cash-in.refunds.12] [cash-in.refunds.9] from suspense goes back at most what is there of the payment', () => {
  const before = cashInAs('PAID', {
    facts: {
      ...PAID,
      payments: { E1: 100_00, E2: 40_00 },
      suspendedReturns: { D0: { endToEndId: 'E2', cents: 10_01 } },
    },
  })
  const posts = (valueCents: bigint) =>
    decideCashIn(before, { ...INPUTS['return.told'], endToEndId: 'E2', valueCents }, NOW).journals?.map(
      ({ kind }) => kind,
    )
  assert.deepEqual([posts(29_99n), posts(30_00n)], [['arrival_returned'], ['left_unattributed']])
})

test('[cash-in.refunds.9] of two payments, none of them credited, it is not guessed which went back, nor taken from the merchant', () => {
  const facts = { ...reasonFact('conflict'), payments: { E1: 60_00, E2: 40_00 } }
  const before = cashInAs('RECONCILIATION_REQUIRED', { facts })
  const { journals, cases } = decideCashIn(before, { ...INPUTS['return.told'], endToEndId: null }, NOW)
  assert.deepEqual([journals?.[0]?.kind, cases?.[0]?.kind], ['left_unattributed', 'return_unattributed'])
})

test('[cash-in.credits.1] [EV-31] a payment that the bank has not confirmed is not credited by another event about it', () => {
  const reported = reportedPaymentsFact({ E1: { valueCents: 100_00, occurredAt: NOW, since: NOW } })
  const statusOf = (facts: CashInFacts, unverified?: 'counted') => {
    const input = { ...confirmed(), ...(unverified && { unverified }) }
    return decideCashIn(cashInAs('PENDING', { facts }), input, NOW).outcome.cashIn.status
  }
  assert.equal(statusOf(reported, 'counted'), 'PENDING')
  assert.equal(statusOf({}, 'counted'), 'PAID')
  assert.equal(statusOf(reported), 'PAID', 'the bank said it when asked')
})

test('[cash-in.create.7] from its claim on an attempt may leave; a second claim knows of no proof any more', () => {
  const claimed = (unsent: 'proven' | 'claimed') => {
    const before = cashInAs('PENDING', { dueAt: NOW, facts: { unsent } })
    return decideCashIn(before, INPUTS['work.claimed'], NOW).outcome.cashIn.facts.unsent
  }
  assert.deepEqual([claimed('proven'), claimed('claimed')], ['claimed', null])
})

/** Every trigger that a cash-in can be given has an input here, or is an operator's decision: see desk.test.ts. */
type EventTrigger = Exclude<TriggerOf<typeof cashIn>, 'create' | `operator.${string}` | 'doubt.decided'>
const TRIGGERS: Readonly<Record<EventTrigger, unknown>> = INPUTS
/** Every state has a situation. */
const STATES: readonly CashInStatus[] = cashIn.states

test('[engine.1] the tests of this file know every trigger and every state', () => {
  const others = cashIn.triggers.filter((on) => on === 'create' || on === 'doubt.decided' || on.startsWith('operator.'))
  assert.equal(Object.keys(TRIGGERS).length, cashIn.triggers.length - others.length)
  assert.deepEqual(
    STATES.map((status) => cashInAs(status).status),
    STATES,
  )
})

for (const status of cashIn.states) {
  test(`[cash-in.paid.3] another amount of a payment in the books is a case of a charge that is ${status}`, () => {
    const payments = { payments: { E2: 60_00 }, decidedPayments: { E2: 60_00 } }
    const before = cashInAs(status, { facts: { ...cashInAs(status).facts, ...payments } })
    const { journals, cases, outcome } = decideCashIn(before, confirmed({ endToEndId: 'E2', valueCents: 61_00n }), NOW)
    assert.deepEqual([journals, cases?.map(({ kind }) => kind)], [[], ['payment_restated']])
    assert.equal(outcome.cashIn.status, status)
  })
}
