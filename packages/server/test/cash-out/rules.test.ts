import assert from 'node:assert/strict'
import test from 'node:test'
import { type CashOutStatus, cashOut, type JournalKind } from '@pixgate/spec'
import type { CashOut, CashOutFacts, CashOutInput, CashOutOutcome } from '../../src/cash-out/cash-out.ts'
import { nextStep, planOf } from '../../src/cash-out/schedule.ts'
import type { Decision, State } from '../../src/engine/operation.ts'
import { reasonFact, reasonOf } from '../../src/engine/reason.ts'
import { statusQueryFact, statusQueryOf } from '../../src/operations/status-query.ts'
import { withOpenCases } from '../support/open-cases.ts'
import { journalsOf, outcomesOf, type SituationOf, withoutOutcome } from '../support/outcomes.ts'
import { OUTCOMES } from './outcomes.ts'
import {
  APPROVER,
  CREATED_AT,
  cashOutAs,
  confirmed,
  decide,
  INPUTS,
  LEFT,
  NOW,
  returned,
  SENT,
  SENT_AT,
  stateOf,
} from './situations.ts'

interface Situation extends SituationOf<CashOut, CashOutInput> {
  /** The end-to-end or return id that its journal and case are known by. */
  readonly reference?: string
  readonly state?: State
  /** What the caller is told: `APPLIED` unless something is said here. */
  readonly result?: 'DISPUTED'
}

/** Another operation has every movement. */
const TAKEN = stateOf({}, {}, () => ({ operationId: 'another', valueCents: 30_00n }))

/** The bank's answer came. */
const ANSWERED = { unknownSince: null }
const CONTRADICTION = { facts: reasonFact('conflict') } as const
const MISSING = {
  facts: { ...SENT, ...reasonFact('no_answer'), unknownSince: NOW - 1_000_000, questions: 20 },
} as const
/** A status query is requested. */
const WANTED = statusQueryFact('requested')
const UNRECORDED = { facts: reasonFact('not_dispatched') } as const
const RELEASED = { facts: { ...SENT, isReleased: true, ...reasonFact('conflict') } } as const
/** The bank did not know it five minutes after the attempt, and more than a minute ago. */
const LONG_SENT = { attempts: 1, firstAttemptAt: NOW - 400_000, lastAttemptAt: NOW - 400_000 }
const NOT_FOUND_BEFORE = { ...LONG_SENT, notFoundSince: NOW - 60_000, notFoundAt: NOW - 30_000 }
const FOR_GOOD = { on: 'partner.not_found', windowMs: 0, askedAt: NOW } as const

function ended(failureCode: string, failureReason: string | null = null) {
  return { failureCode, failureReason, isReleased: true, ...ANSWERED }
}

const REFUSED = { facts: ended('limit', 'too much'), exclusiveKey: null }
const CLOSED = { transactionId: 'tx', facts: ended('closed_account', 'the account is closed'), exclusiveKey: null }
const NEVER_ARRIVED = {
  facts: { notFoundSince: NOW - 60_000, notFoundAt: NOW, ...ended('not_found') },
  exclusiveKey: null,
}

/** The money left: what the bank told of the movement is known. */
const CONFIRMED = {
  transactionId: 'tx',
  endToEndId: 'E1',
  facts: {
    movements: { E1: 30_00 },
    confirmedAt: NOW - 1_000,
    partnerFeeCents: null,
    recipientName: 'João Souza',
    recipientDocument: '11144477735',
    recipientIspb: '99999010',
    ...ANSWERED,
  },
}

function movementEvidence(valueCents = 30_00, endToEndId = 'E1', isVerified = true) {
  return { endToEndId, valueCents, occurredAt: NOW - 1_000, isElsewhere: false, isVerified }
}

/** What left is in suspense. */
function left(cents: number, facts: CashOutFacts = {}): Situation {
  return {
    learns: { transactionId: 'tx', facts: { movements: { E1: cents }, ...reasonFact('conflict'), ...facts } },
    reference: 'E1',
    evidence: movementEvidence(cents),
  }
}

/** What another operation has is in suspense here too. */
const LEFT_ELSEWHERE: Situation = { ...left(30_00), state: TAKEN }
const LEFT_AGAIN_ELSEWHERE: Situation = {
  input: confirmed({ endToEndId: 'E2' }),
  learns: { facts: { movements: { E1: 30_00, E2: 30_00 }, ...reasonFact('conflict') } },
  reference: 'E2',
  evidence: movementEvidence(30_00, 'E2'),
  state: TAKEN,
}
const OTHER_AMOUNT: Situation = { input: confirmed({ valueCents: 29_00n }), ...left(29_00) }
const HELD_AGAIN = left(30_00, { heldAgainCents: 31_00, isReleased: false })
const FAILURE_EVIDENCE = { errorCode: 'closed_account', errorMessage: 'the account is closed', isVerified: true }
const CONTRADICTION_EVIDENCE = { reason: 'other valueCents', transactionId: 'tx' }
/** The bank was asked just now, and is one that does once what it is told twice. */
const SENDING_AGAIN = { ...INPUTS['send.claimed'], again: { askedAt: NOW, windowMs: 86_400_000 } } as const
/** One more attempt, whose proof begins anew. */
const CLAIMED_AGAIN = {
  attempts: 2,
  lastAttemptAt: NOW,
  leaseEndsAt: NOW + 60_000,
  notFoundSince: null,
  notFoundAt: null,
}
const REFUSAL_EVIDENCE = { errorCode: 'limit', errorMessage: 'too much' }
const returnEvidence = (valueCents: number) => ({
  reference: 'D1',
  evidence: { returnId: 'D1', valueCents, occurredAt: NOW - 1_000, isVerified: true },
})
const RETURNED_ELSEWHERE: Situation = {
  learns: { facts: { suspendedReturns: { D1: 10_00 }, ...reasonFact('conflict') } },
  ...returnEvidence(10_00),
  state: TAKEN,
}

/** The bank's answers do the same before and after a doubt. */
function underWay(state: 'DISPATCHED' | 'PROVIDER_RESULT_UNKNOWN'): Record<string, Situation> {
  const isDoubted = state === 'PROVIDER_RESULT_UNKNOWN'
  const questions = isDoubted ? 4 : 1
  const unknownSince = isDoubted ? NOW - 60_000 : NOW
  const unknown = { facts: { questions, unknownSince } }
  return {
    [`${state} work.done`]: { dueAt: NOW + (isDoubted ? 15_000 : 120_000) },
    [`${state} send.accepted`]: {
      learns: { transactionId: 'tx', facts: { isAccepted: true, ...ANSWERED } },
      dueAt: NOW + 120_000,
    },
    [`${state} send.claimed nothing of it left`]: {
      before: { dueAt: NOW, facts: { ...SENT, unsentAttempts: 1 } },
      learns: { facts: CLAIMED_AGAIN },
      dueAt: NOW + 60_000,
    },
    [`${state} send.claimed asked in vain and safe to repeat`]: {
      input: SENDING_AGAIN,
      learns: { facts: CLAIMED_AGAIN },
      dueAt: NOW + 60_000,
    },
    [`${state} send.rejected another attempt may arrive`]: {
      before: { facts: { ...SENT, attempts: 2 } },
      input: { ...INPUTS['send.rejected'], attempt: 2 },
      learns: { facts: { refusal: REFUSAL_EVIDENCE, ...WANTED } },
      dueAt: NOW,
    },
    [`${state} send.rejected`]: { learns: REFUSED },
    [`${state} send.not_sent`]: { learns: { facts: { unsentAttempts: 1 } }, dueAt: NOW + 1_000 },
    [`${state} send.unknown`]: { learns: unknown, dueAt: NOW + (isDoubted ? 30_000 : 5_000) },
    [`${state} send.contradicted`]: {
      learns: { transactionId: 'tx', facts: { ...CONTRADICTION.facts, ...WANTED } },
      dueAt: NOW,
      evidence: CONTRADICTION_EVIDENCE,
    },
    [`${state} partner.confirmed movement belongs to another operation`]: LEFT_ELSEWHERE,
    [`${state} partner.confirmed amount differs`]: OTHER_AMOUNT,
    [`${state} partner.confirmed`]: { learns: CONFIRMED },
    [`${state} partner.failed partner agrees when asked`]: { learns: CLOSED },
    [`${state} partner.failed`]: {
      input: { ...INPUTS['partner.failed'], isVerified: false },
      learns: { transactionId: 'tx', facts: WANTED },
      dueAt: NOW,
    },
    [`${state} partner.not_found never arrived and must not be sent again`]: {
      before: { facts: { ...NOT_FOUND_BEFORE, unknownSince: NOW - 60_000, questions: 3 } },
      input: FOR_GOOD,
      learns: { ...NEVER_ARRIVED, facts: { ...NEVER_ARRIVED.facts, questions: 4 } },
    },
    [`${state} partner.not_found`]: {
      learns: { facts: { ...unknown.facts, notFoundSince: NOW, notFoundAt: NOW } },
      dueAt: NOW + (isDoubted ? 30_000 : 120_000),
    },
    [`${state} send.unknown for 15 minutes`]: {
      before: { facts: { ...SENT, unknownSince: NOW - 900_000 } },
      learns: { facts: { ...reasonFact('no_answer'), questions: 1 } },
      dueAt: NOW + 60_000,
    },
    [`${state} partner.not_found for 15 minutes`]: {
      before: { facts: { ...SENT, unknownSince: NOW - 900_000 } },
      learns: { facts: { ...reasonFact('no_answer'), questions: 1, notFoundSince: NOW, notFoundAt: NOW } },
      dueAt: NOW + 60_000,
    },
    [`${state} send.rejected of an attempt that another one followed`]: {
      before: { facts: { ...SENT, attempts: 2 } },
      learns: { facts: { refusal: REFUSAL_EVIDENCE, ...WANTED } },
      dueAt: NOW,
    },
    [`${state} send.rejected of what the bank has`]: {
      before: { facts: { ...SENT, isAccepted: true } },
      learns: { facts: WANTED },
      dueAt: NOW,
    },
  }
}

/** What was given back leaves, or returns, or is accepted all the same. */
function over(state: 'FAILED' | 'RELEASED'): Record<string, Situation> {
  return {
    [`${state} send.accepted`]: {
      learns: { transactionId: 'tx', facts: { isAccepted: true, ...reasonFact('conflict'), ...WANTED } },
      dueAt: NOW,
      evidence: { transactionId: 'tx' },
    },
    [`${state} send.contradicted`]: {
      learns: { transactionId: 'tx', facts: { ...reasonFact('conflict'), ...WANTED } },
      dueAt: NOW,
      evidence: CONTRADICTION_EVIDENCE,
    },
    [`${state} partner.confirmed movement belongs to another operation`]: LEFT_ELSEWHERE,
    [`${state} partner.returned movement belongs to another operation`]: RETURNED_ELSEWHERE,
    [`${state} partner.confirmed amount differs`]: OTHER_AMOUNT,
    [`${state} partner.confirmed`]: HELD_AGAIN,
    [`${state} partner.returned`]: {
      learns: { facts: { ...reasonFact('conflict'), ...WANTED } },
      dueAt: NOW,
      ...returnEvidence(10_00),
    },
  }
}

/** Money comes back. */
function returning(state: 'CONFIRMED' | 'REVERSED', already: Record<string, number>): Record<string, Situation> {
  return {
    [`${state} send.contradicted`]: { evidence: CONTRADICTION_EVIDENCE },
    [`${state} partner.confirmed movement belongs to another operation`]: LEFT_AGAIN_ELSEWHERE,
    [`${state} partner.returned movement belongs to another operation`]: RETURNED_ELSEWHERE,
    [`${state} partner.confirmed movement restated`]: {
      input: confirmed({ valueCents: 29_00n }),
      learns: CONTRADICTION,
      reference: 'E1',
      evidence: movementEvidence(29_00),
    },
    [`${state} partner.confirmed movement is a second one`]: {
      input: confirmed({ endToEndId: 'E2' }),
      learns: { facts: { movements: { E1: 30_00, E2: 30_00 }, ...reasonFact('conflict') } },
      reference: 'E2',
      evidence: movementEvidence(30_00, 'E2'),
    },
    [`${state} partner.returned return is of another payment`]: {
      input: { ...returned({}, false), endToEndId: 'E9' },
      result: 'DISPUTED',
      learns: { facts: WANTED },
      dueAt: NOW,
    },
    [`${state} partner.returned return has no id`]: {
      input: { ...returned(), isUnnamed: true },
      learns: { facts: { suspendedReturns: { D1: 10_00 }, unnamedReturns: { D1: 10_00 }, ...reasonFact('conflict') } },
      ...returnEvidence(10_00),
    },
    [`${state} partner.returned returns exceed the payout`]: {
      input: returned({ valueCents: 30_01n }),
      learns: { facts: { suspendedReturns: { D1: 30_01 }, ...reasonFact('conflict') } },
      ...returnEvidence(30_01),
    },
    [`${state} partner.returned`]: { learns: { facts: { returns: { ...already, D1: 10_00 } } }, reference: 'D1' },
  }
}

/** It takes one approval, of somebody else than who made the key. */
const AWAITING = { approval: { wanted: 1, keyMadeBy: 'somebody else', by: [] } } as const

/** What happens in each row, by «from on when». */
const SITUATIONS: Readonly<Record<string, Situation>> = {
  'RESERVED operator.approved an approval is missing': {
    before: { facts: AWAITING },
    learns: { facts: { approval: { ...AWAITING.approval, by: [APPROVER.actor] }, approvedAt: NOW } },
    dueAt: NOW,
  },
  'RESERVED operator.approved an approval is missing, the code asks for something else': {
    before: { facts: AWAITING },
    input: { ...INPUTS['operator.approved'], code: null },
    learns: { facts: ended('pix_code_changed'), exclusiveKey: null },
  },
  'RESERVED operator.refused': {
    learns: { facts: ended('refused_by_operator'), exclusiveKey: null },
  },
  'RESERVED work.done': { dueAt: NOW },
  'RECONCILIATION_REQUIRED work.done': { before: MISSING, dueAt: NOW + 60_000 },

  'RESERVED send.claimed': {
    before: { dueAt: NOW },
    learns: {
      facts: {
        attempts: 1,
        firstAttemptAt: NOW,
        lastAttemptAt: NOW,
        leaseEndsAt: NOW + 60_000,
        dispatchedAt: NOW,
        notFoundSince: null,
        notFoundAt: null,
      },
    },
    dueAt: NOW + 60_000,
  },
  'RESERVED clock.released': {
    before: { createdAt: NOW - 86_400_000, dueAt: NOW },
    learns: { facts: ended('never_sent'), exclusiveKey: null },
  },
  'RESERVED partner.confirmed movement belongs to another operation': LEFT_ELSEWHERE,
  'RESERVED partner.confirmed': {
    input: confirmed({}, false),
    learns: { transactionId: 'tx', facts: { ...reasonFact('not_dispatched'), ...WANTED } },
    dueAt: NOW,
    reference: 'E1',
    evidence: movementEvidence(30_00, 'E1', false),
  },

  'DISPATCHED clock.released': {
    before: { dueAt: NOW, facts: { ...SENT, unsentAttempts: 1, firstAttemptAt: NOW - 1_800_000 } },
    learns: { facts: ended('never_sent'), exclusiveKey: null },
  },
  'DISPATCHED clock.overdue': {
    before: { dueAt: NOW, facts: { ...SENT, isAccepted: true, firstAttemptAt: NOW - 86_400_000 } },
    learns: { facts: { isOverdue: true } },
    dueAt: NOW,
  },
  ...underWay('DISPATCHED'),

  'PROVIDER_RESULT_UNKNOWN clock.released': {
    before: { dueAt: NOW, facts: { ...SENT, unsentAttempts: 1, firstAttemptAt: NOW - 1_800_000 } },
    learns: { facts: ended('never_sent'), exclusiveKey: null },
  },
  ...underWay('PROVIDER_RESULT_UNKNOWN'),

  'CONFIRMED send.accepted reference differs': {
    input: { on: 'send.accepted', transactionId: 'another' },
    learns: { facts: { isAccepted: true } },
    evidence: { transactionId: 'another' },
  },
  'CONFIRMED send.accepted': {
    before: { transactionId: null, facts: { movements: { E1: 30_00 } } },
    learns: { transactionId: 'tx', facts: { isAccepted: true } },
  },
  'CONFIRMED send.rejected': { evidence: REFUSAL_EVIDENCE },
  'CONFIRMED partner.not_found': {
    learns: { facts: { notFoundSince: NOW, notFoundAt: NOW, unknownSince: NOW, questions: 1 } },
  },
  'CONFIRMED partner.failed': {
    input: { ...INPUTS['partner.failed'], isVerified: false },
    learns: { transactionId: 'tx', facts: WANTED },
    dueAt: NOW,
  },
  'CONFIRMED partner.failed partner agrees when asked': {
    learns: { facts: { ...reasonFact('conflict'), ...WANTED } },
    dueAt: NOW,
    evidence: FAILURE_EVIDENCE,
  },
  ...returning('CONFIRMED', {}),
  ...returning('REVERSED', { D0: 5_00 }),
  'REVERSED partner.returned return was booked otherwise': {
    before: { facts: { ...LEFT, returns: { D1: 9_00 } } },
    ...returnEvidence(10_00),
  },
  'REVERSED partner.returned return may be known': {
    before: { facts: { ...LEFT, returns: { D0: 10_00 } } },
    input: { ...returned(), isUnnamed: true },
    ...returnEvidence(10_00),
  },
  ...over('FAILED'),
  ...over('RELEASED'),

  'RECONCILIATION_REQUIRED send.claimed nothing of it left': {
    before: { dueAt: NOW, facts: { ...MISSING.facts, unsentAttempts: 1 } },
    learns: { facts: CLAIMED_AGAIN },
    dueAt: NOW + 60_000,
  },
  'RECONCILIATION_REQUIRED send.claimed asked in vain and safe to repeat': {
    before: MISSING,
    input: SENDING_AGAIN,
    learns: { facts: CLAIMED_AGAIN },
    dueAt: NOW + 60_000,
  },
  'RECONCILIATION_REQUIRED send.not_sent evidence was missing': {
    before: MISSING,
    learns: { facts: { unsentAttempts: 1 } },
    dueAt: NOW + 1_000,
  },
  'RECONCILIATION_REQUIRED send.unknown evidence was missing': {
    before: MISSING,
    learns: { facts: { questions: 21 } },
    dueAt: NOW + 60_000,
  },
  'RECONCILIATION_REQUIRED clock.released evidence was missing': {
    before: { dueAt: NOW, facts: { ...MISSING.facts, unsentAttempts: 1, firstAttemptAt: NOW - 1_800_000 } },
    learns: { facts: ended('never_sent'), exclusiveKey: null },
  },
  'RECONCILIATION_REQUIRED send.rejected another attempt may arrive': {
    before: { facts: { ...MISSING.facts, attempts: 2 } },
    input: { ...INPUTS['send.rejected'], attempt: 2 },
    learns: { facts: { refusal: REFUSAL_EVIDENCE, ...WANTED } },
    dueAt: NOW,
  },
  'RECONCILIATION_REQUIRED send.accepted evidence was missing': {
    before: MISSING,
    learns: { transactionId: 'tx', facts: { isAccepted: true, ...ANSWERED } },
    dueAt: NOW + 120_000,
  },
  'RECONCILIATION_REQUIRED send.rejected evidence was missing': { before: MISSING, learns: REFUSED },
  'RECONCILIATION_REQUIRED partner.confirmed movement belongs to another operation': LEFT_ELSEWHERE,
  'RECONCILIATION_REQUIRED partner.returned movement belongs to another operation': RETURNED_ELSEWHERE,
  'RECONCILIATION_REQUIRED partner.confirmed movement restated': {
    before: { facts: { ...SENT, ...CONTRADICTION.facts, movements: { E1: 29_00 } } },
    learns: { transactionId: 'tx' },
    reference: 'E1',
    evidence: movementEvidence(30_00),
  },
  'RECONCILIATION_REQUIRED partner.confirmed amount differs': OTHER_AMOUNT,
  'RECONCILIATION_REQUIRED partner.confirmed hold is gone': { ...HELD_AGAIN, before: RELEASED },
  'RECONCILIATION_REQUIRED partner.confirmed evidence was missing': { before: MISSING, learns: CONFIRMED },
  'RECONCILIATION_REQUIRED partner.confirmed sending was not recorded': { before: UNRECORDED, learns: CONFIRMED },
  'RECONCILIATION_REQUIRED partner.confirmed': left(30_00),
  'RECONCILIATION_REQUIRED partner.failed evidence was missing': { before: MISSING, learns: CLOSED },
  'RECONCILIATION_REQUIRED partner.not_found never arrived and must not be sent again': {
    before: {
      facts: { ...NOT_FOUND_BEFORE, ...reasonFact('no_answer'), unknownSince: NOW - 1_000_000, questions: 20 },
    },
    input: FOR_GOOD,
    learns: { ...NEVER_ARRIVED, facts: { ...NEVER_ARRIVED.facts, questions: 21 } },
  },
  'RECONCILIATION_REQUIRED partner.not_found': {
    before: MISSING,
    learns: { facts: { notFoundSince: NOW, notFoundAt: NOW, questions: 21 } },
    dueAt: NOW + 60_000,
  },
  'RECONCILIATION_REQUIRED send.contradicted evidence was missing': {
    before: MISSING,
    learns: { transactionId: 'tx', facts: { ...CONTRADICTION.facts, ...WANTED } },
    dueAt: NOW,
    evidence: CONTRADICTION_EVIDENCE,
  },
  'RECONCILIATION_REQUIRED partner.returned return was booked otherwise': {
    before: { facts: { ...CONTRADICTION.facts, suspendedReturns: { D1: 9_00 } } },
    ...returnEvidence(10_00),
  },
  'RECONCILIATION_REQUIRED partner.returned return may be known': {
    before: { facts: { ...CONTRADICTION.facts, suspendedReturns: { U: 10_00 }, unnamedReturns: { U: 10_00 } } },
    learns: { facts: { unnamedReturns: {}, returnsToldAgain: { D1: 10_00 } } },
    ...returnEvidence(10_00),
  },
  'RECONCILIATION_REQUIRED partner.returned': {
    learns: { facts: { suspendedReturns: { D1: 10_00 }, ...reasonFact('conflict') } },
    ...returnEvidence(10_00),
  },
}

/** Work is the same in every state but for when it is due again. */
function situationOf(situation: string, on: string): Situation | undefined {
  const known = SITUATIONS[situation]
  if (on === 'work.requested') return { learns: { facts: WANTED }, dueAt: NOW }
  if (on === 'work.claimed') {
    return { before: { dueAt: NOW }, learns: { facts: { leaseEndsAt: NOW + 60_000 } }, dueAt: NOW + 60_000 }
  }
  if (on === 'partner.tariff') return { learns: { facts: { tariffCents: 35 } } }
  return on === 'work.done' ? { ...known, before: { dueAt: NOW + 30_000, ...known?.before } } : (known ?? {})
}

for (const [name, outcome] of outcomesOf(OUTCOMES)) {
  const { from, on, rule, to, posts, emits, opens } = outcome
  test(`[${rule}] ${name} → ${to}`, () => {
    const situation = situationOf(name, on)
    assert.ok(situation, 'every outcome has its situation here')
    const before = withOpenCases(cashOutAs(from as CashOutStatus, situation.before), 'result_missing', 'amount_differs')
    const input = situation.input ?? INPUTS[on as CashOutInput['on']]
    const decision = decide(before, input, NOW, situation.state)
    const endsDoubt = from === 'RECONCILIATION_REQUIRED' && to !== 'RECONCILIATION_REQUIRED'

    assert.deepEqual(decision.outcome, {
      result: situation.result ?? 'APPLIED',
      cashOut: {
        ...before,
        ...situation.learns,
        facts: { ...before.facts, ...situation.learns?.facts, ...(endsDoubt ? { ...reasonFact(null) } : {}) },
        status: to,
        version: before.version + 1,
        dueAt: situation.dueAt ?? null,
        plan: planOf(decision.outcome.cashOut, NOW),
        updatedAt: NOW,
      },
    })
    const [move, ...others] = decision.moves ?? []
    assert.deepEqual(others, [])
    assert.equal(move?.trigger, on)
    assert.deepEqual(decision.closes, endsDoubt ? ['result_missing'] : [])
    assert.deepEqual(journalsOf(decision), posts ? [journalOf(posts, situation, input)] : [])
    assert.deepEqual(
      notificationsOf(decision),
      emits ? [{ eventType: emits, ...notificationOf(before, input, to) }] : [],
    )
    const written = { reference: situation.reference ?? '', facts: situation.evidence ?? {} }
    assert.deepEqual(decision.cases, opens ? [{ operationId: before.id, kind: opens, ...written }] : [])
    assert.deepEqual(decision.exact, posts === 'left_after_release' ? ['available'] : [])
  })
}

const OFF = stateOf({}, { cash_out_switch: { enabled: false } })
const UNSENT = { ...SENT, unsentAttempts: 1 }
const LONG_UNKNOWN = { unknownSince: NOW - 900_000 }
const REFUSAL_OF_THE_FIRST = INPUTS['send.rejected']
const CLAIM = INPUTS['send.claimed']

/** Never sent as far as is known here, for more than a day, and in the bank's statement. */
const SHOWN_FOR_A_DAY = { createdAt: NOW - 90_000_000, facts: { isAccepted: true, isShown: true } } as const

/** What a single condition more or less decides: the state and the reason afterwards, the cases, and whether the bank is asked. */
const CONDITIONS: readonly (readonly [name: string, CashOut, CashOutInput, becomes: string, State?])[] = [
  [
    '[cash-out.unknown.8] a late refusal of an attempt that another one followed, which never left, frees nothing',
    cashOutAs('DISPATCHED', { facts: { ...SENT, attempts: 2, unsentAttempts: 1 } }),
    REFUSAL_OF_THE_FIRST,
    'DISPATCHED asks',
  ],
  ...(
    [
      ['cash-out.states.3', 'given back after 24 hours', INPUTS['clock.released'], SHOWN_FOR_A_DAY],
      ['cash-out.states.2', 'sent', INPUTS['send.claimed'], { ...SHOWN_FOR_A_DAY, createdAt: NOW, dueAt: NOW }],
      ['cash-out.approval.8', 'refused', INPUTS['operator.refused'], SHOWN_FOR_A_DAY],
    ] as const
  ).map(([rule, what, input, given]) => {
    const name = `[${rule}] what the statement shows although nothing tells that it was sent is not ${what}`
    return [name, cashOutAs('RESERVED', given), input, 'IGNORED'] as const
  }),
  [
    '[cash-out.approval.9] so it is not given back where its code asks for something else',
    cashOutAs('RESERVED', {
      facts: { ...SHOWN_FOR_A_DAY.facts, approval: { wanted: 2, keyMadeBy: null, by: [] } },
    }),
    { ...INPUTS['operator.approved'], code: null },
    'RESERVED',
  ],
  ...(['DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'] as const).flatMap((status) => {
    const known = cashOutAs(status, { facts: { ...SENT, ...LONG_UNKNOWN, isAccepted: true } })
    return [
      [`[cash-out.unknown.9] ${status}: silence about what the bank has`, known, INPUTS['send.unknown'], 'IGNORED'],
      [`[cash-out.unknown.4] ${status}: «not found» of what it has`, known, INPUTS['partner.not_found'], status],
    ] as const
  }),
  ...[
    cashOutAs('RESERVED', { dueAt: NOW }),
    cashOutAs('DISPATCHED', { dueAt: NOW, facts: UNSENT }),
    cashOutAs('PROVIDER_RESULT_UNKNOWN', { dueAt: NOW + 1 }),
  ].map((before) => {
    const name = `[operator.switch.2] ${before.status} is not claimed for sending while payouts are disabled`
    const claim = before.status === 'PROVIDER_RESULT_UNKNOWN' ? SENDING_AGAIN : CLAIM
    return [name, before, claim, 'IGNORED', OFF] as const
  }),
  [
    '[cash-out.unknown.1] what is not due is not claimed again',
    cashOutAs('DISPATCHED', { dueAt: NOW + 1, facts: UNSENT }),
    CLAIM,
    'IGNORED',
  ],
  [
    '[cash-out.unknown.1] what the bank has is not claimed again',
    cashOutAs('DISPATCHED', { dueAt: NOW, facts: { ...UNSENT, isAccepted: true } }),
    CLAIM,
    'IGNORED',
  ],
  [
    '[cash-out.unknown.1] what was tried for 30 minutes is not claimed again',
    cashOutAs('DISPATCHED', { dueAt: NOW, facts: { ...UNSENT, firstAttemptAt: NOW - 1_800_000 } }),
    CLAIM,
    'IGNORED',
  ],
  [
    '[cash-out.states.5] reported once more by an event, what was never sent is asked about',
    cashOutAs('RECONCILIATION_REQUIRED', UNRECORDED),
    confirmed({}, false),
    'RECONCILIATION_REQUIRED not_dispatched asks',
  ],
  [
    '[cash-out.states.5] what the bank confirms before it was sent is a conflict',
    cashOutAs('RESERVED'),
    confirmed(),
    'RECONCILIATION_REQUIRED conflict confirmed_without_sending asks',
  ],
]

test('[cash-out.states.3] that the statement shows a payout stands on it although it was never sent, and the bank is asked', () => {
  const { cashOut } = decide(cashOutAs('RESERVED'), { on: 'work.requested', isShown: true }).outcome
  assert.deepEqual(
    [cashOut.status, cashOut.facts.isShown, statusQueryOf(cashOut.facts)],
    ['RESERVED', true, 'requested'],
  )
  assert.deepEqual([cashOut.dueAt, cashOut.plan?.step], [NOW, 'ask'])
})

for (const [name, before, input, becomes, state] of CONDITIONS) {
  test(name, () => {
    const { outcome, cases = [] } = decide(before, input, NOW, state)
    const { cashOut } = outcome
    const words = [
      cashOut.status,
      ...[reasonOf(cashOut)].filter((reason) => reason !== null),
      ...cases.map(({ kind }) => kind),
      ...(statusQueryOf(cashOut.facts) === 'requested' ? ['asks'] : []),
    ]
    assert.equal(outcome.result === 'APPLIED' ? words.join(' ') : outcome.result, becomes)
  })
}

test('[cash-out.states.17] an event confirms what is under way by the reference of the bank’s answer alone, and nothing that needed an approval', () => {
  const known = { transactionId: 'tx' } as const
  const underWay = [
    cashOutAs('DISPATCHED', known),
    cashOutAs('PROVIDER_RESULT_UNKNOWN', known),
    cashOutAs('RECONCILIATION_REQUIRED', { ...known, facts: reasonFact('no_answer') }),
  ]
  for (const before of underWay) {
    const told = confirmed({}, false)
    assert.equal(decide(before, told).outcome.cashOut.status, 'CONFIRMED')
    const approved = { ...before, facts: { ...before.facts, ...AWAITING } }
    const early = [
      decide({ ...before, transactionId: null }, told),
      decide(before, { ...told, transactionId: 'made up' }),
      decide(before, { ...confirmed({ valueCents: 1n }, false), transactionId: null }),
      decide(approved, told),
    ]
    for (const { outcome, moves = [] } of early) assert.deepEqual([outcome.result, moves], ['EARLY', []])
    assert.equal(decide(approved, confirmed()).outcome.cashOut.status, 'CONFIRMED')
  }
})

test('[cash-out.states.18] an event books nothing on a payout that was confirmed, given back or contradicted', () => {
  const conflict = { facts: reasonFact('conflict') }
  for (const status of ['CONFIRMED', 'REVERSED', 'FAILED', 'RELEASED', 'RECONCILIATION_REQUIRED'] as const) {
    const before = cashOutAs(status, status === 'RECONCILIATION_REQUIRED' ? conflict : {})
    const second = { endToEndId: 'E2' }
    const { outcome, moves = [] } = decide(before, confirmed(second, false))
    assert.deepEqual([outcome.result, moves], ['EARLY', []], status)
    assert.equal(decide(before, confirmed(second)).outcome.cashOut.status, 'RECONCILIATION_REQUIRED')
  }
})

test('[cash-out.reversal.6] what only an event reports of money that came back waits for the bank’s own answer', () => {
  for (const status of ['CONFIRMED', 'REVERSED'] as const) {
    const before = cashOutAs(status)
    const { outcome, moves = [] } = decide(before, returned({}, false))
    assert.deepEqual([outcome.result, moves], ['EARLY', []])
    assert.equal(decide(before, returned()).outcome.cashOut.status, 'REVERSED')
  }
})

test('[cash-out.approval.1] [cash-out.approval.7] what waits for no approval takes none; what does is not claimed', () => {
  const said = INPUTS['operator.approved']
  for (const facts of [{}, { ...AWAITING, approvedAt: NOW - 1 }]) {
    const before = cashOutAs('RESERVED', { facts, dueAt: NOW })
    for (const input of [said, { ...said, code: null }]) {
      assert.equal(decide(before, input).outcome.result, 'IGNORED')
    }
    assert.equal(decide(before, CLAIM).outcome.cashOut.status, 'DISPATCHED')
  }
  const waiting = cashOutAs('RESERVED', { facts: AWAITING, dueAt: NOW })
  assert.equal(decide(waiting, CLAIM).outcome.result, 'IGNORED')
  const two = cashOutAs('RESERVED', { facts: { approval: { ...AWAITING.approval, wanted: 2 } } })
  const once = decide(two, INPUTS['operator.approved']).outcome.cashOut
  assert.deepEqual([once.facts.approvedAt, once.dueAt], [undefined, CREATED_AT + 86_400_000])
})

test('[cash-out.approval.8] [cash-out.approval.11] only what is RESERVED is refused, with a code that says whether it waited', () => {
  const refused = INPUTS['operator.refused']
  for (const [facts, code] of [
    [AWAITING, 'not_approved'],
    [{ ...AWAITING, approvedAt: NOW - 1 }, 'refused_by_operator'],
    [{}, 'refused_by_operator'],
  ] as const) {
    const after = decide(cashOutAs('RESERVED', { facts }), refused).outcome.cashOut
    assert.deepEqual([after.status, after.facts.failureCode], ['RELEASED', code])
  }
  for (const status of cashOut.states.filter((state) => state !== 'RESERVED')) {
    const { outcome, moves = [] } = decide(cashOutAs(status), refused)
    assert.deepEqual([outcome.result, moves], ['IGNORED', []])
  }
})

test('[cash-out.states] every situation has its outcome', () => {
  assert.deepEqual(withoutOutcome(SITUATIONS, OUTCOMES), [])
})

/** The entries as the ledger's documentation has them. */
const ENTRIES: Readonly<Record<string, (cents: bigint) => unknown[][]>> = {
  cash_out_confirmed: () => [
    ['available', 31_00n, 'CASH_OUT_RELEASE'],
    ['available', -30_00n, 'CASH_OUT'],
    ['available', -1_00n, 'FEE'],
    ['reserved', -31_00n, null],
    ['settlement', 30_00n, null],
    ['fees', 1_00n, null],
  ],
  cash_out_released: () => [
    ['available', 31_00n, 'CASH_OUT_RELEASE'],
    ['reserved', -31_00n, null],
  ],
  cash_out_returned: (cents) => [
    ['available', cents, 'CASH_OUT_REVERSAL'],
    ['settlement', -cents, null],
  ],
  left_after_release: () => [
    ['available', -31_00n, 'CASH_OUT_RESERVE'],
    ['reserved', 31_00n, null],
    ['settlement', 30_00n, null],
    ['suspense_out', -30_00n, null],
  ],
  left_unattributed: (cents) => [
    ['settlement', cents, null],
    ['suspense_out', -cents, null],
  ],
  arrived_unattributed: (cents) => [
    ['settlement', -cents, null],
    ['suspense_in', cents, null],
  ],
  tariff_deducted: (cents) => [
    ['settlement', cents, null],
    ['partner_fees', -cents, null],
  ],
}

function journalOf(posts: JournalKind, { reference }: Situation, input: CashOutInput) {
  const isMovement = input.on === 'partner.confirmed'
  const cents = isMovement ? input.movement.valueCents : centsBesides(input)
  return { kind: posts, reference: reference ?? (isMovement ? 'E1' : ''), entries: ENTRIES[posts]?.(cents) }
}

function centsBesides(input: CashOutInput): bigint {
  if (input.on === 'partner.tariff') return input.tariffCents
  return input.on === 'partner.returned' ? input.returned.valueCents : 0n
}

function notificationsOf({ notifications = [] }: Decision<CashOutOutcome>) {
  return notifications.map(({ eventType, status, reference, body }) => ({
    eventType,
    status,
    reference,
    body: body.toString(),
  }))
}

/** The bytes, written out: what is signed once is sent for ever. */
function notificationOf(before: CashOut, input: CashOutInput, to: string) {
  const status = to === 'RELEASED' ? 'FAILED' : to
  const isPartners = input.on.startsWith('partner.') && input.on !== 'partner.not_found'
  const isReturn = input.on === 'partner.returned'
  const hasLeft = status === 'CONFIRMED' || isReturn
  const fields = [
    `"id":"${before.id}"`,
    '"correlation_id":"test"',
    '"external_id":"payout-1"',
    `"transaction_id":${isPartners ? '"tx"' : 'null'}`,
    `"status":"${status}"`,
    `"value_cents":${isReturn ? 1000 : 3000}`,
    `"end_to_end_id":${hasLeft ? '"E1"' : 'null'}`,
    `"fee_amount_cents":${status === 'CONFIRMED' ? 100 : 0}`,
    `"confirmed_at":"${isPartners ? '2026-11-21T13:29:59' : '2026-11-21T13:30:00'}.000000000Z"`,
    '"created_at":"2026-11-21T13:20:00.000000000Z"',
  ]
  // What is older than a day was made a day ago.
  const body = `{"event_type":"${isReturn ? 'pix_cash_out_reversal' : 'pix_cash_out'}","event":{${fields.join(',')}}}`
  const createdAt = new Date(before.createdAt).toISOString().replace('Z', '000000Z')
  return {
    status,
    reference: isReturn ? 'D1' : '',
    body: body.replace('2026-11-21T13:20:00.000000000Z', createdAt),
  }
}

const pairs = cashOut.states.flatMap((from) =>
  (Object.keys(INPUTS) as (keyof typeof INPUTS)[])
    .filter((on) => OUTCOMES[`${from} ${on}`] === undefined)
    .map((on) => [from, on] as const),
)

/** What must hold so that none of a pair's rows with a condition applies. */
const UNCONDITIONAL: Readonly<Record<string, CashOutInput>> = {
  // Of a movement that was booked nothing but the very same remains.
  'CONFIRMED partner.confirmed': confirmed(),
  'REVERSED partner.confirmed': confirmed(),
}

/** What cannot be true yet, or not at all, is neither taken nor forgotten. */
const REFUSED_RESULTS: Readonly<Record<string, CashOutOutcome['result']>> = {
  'RESERVED partner.failed': 'UNEXPECTED',
  'RESERVED partner.returned': 'EARLY',
  'DISPATCHED partner.returned': 'EARLY',
  'PROVIDER_RESULT_UNKNOWN partner.returned': 'EARLY',
}

for (const [from, on] of pairs) {
  test(`[engine.1] ${from} ignores ${on} where the table has no row for it`, () => {
    const pair = `${from} ${on}`
    const before = cashOutAs(from)
    assertUntouched(before, UNCONDITIONAL[pair] ?? INPUTS[on], REFUSED_RESULTS[pair])
  })
}

function assertUntouched(
  before: CashOut,
  input: CashOutInput,
  result: CashOutOutcome['result'] = 'IGNORED',
  at = NOW,
): void {
  const { outcome, moves, journals, notifications, cases, controls } = decide(before, input, at)
  assert.deepEqual(outcome, { result, cashOut: before })
  assert.deepEqual([moves, journals, notifications, cases, controls], [[], [], [], [], {}])
}

test('[partner-inbox.3] money that was booked is nothing new, in whatever state', () => {
  for (const status of cashOut.states) {
    assertUntouched(cashOutAs(status, { facts: { movements: { E1: 30_00 } } }), confirmed())
    const known = cashOutAs(status, { facts: { returns: { D1: 10_00 } } })
    assertUntouched(known, returned())
    assertUntouched(cashOutAs(status, { facts: { suspendedReturns: { D1: 10_00 } } }), returned())
  }
})

test('[cash-out.states.11] a time of the bank more than 300 s ahead of ours is not believed', () => {
  const before = cashOutAs('DISPATCHED')
  assertUntouched(before, confirmed({ occurredAt: NOW + 300_001 }), 'IMPLAUSIBLE')
  assert.equal(decide(before, confirmed({ occurredAt: NOW + 300_000 })).outcome.cashOut.status, 'CONFIRMED')
  const left = cashOutAs('CONFIRMED')
  assertUntouched(left, returned({ occurredAt: NOW + 300_001 }), 'IMPLAUSIBLE')
  assert.equal(decide(left, returned({ occurredAt: NOW + 300_000 })).outcome.cashOut.status, 'REVERSED')
})

test('[cash-out.states.12] the exact amount at another recipient is not the payout either', () => {
  const { outcome, journals, cases } = decide(cashOutAs('DISPATCHED'), confirmed({ recipientDiffers: true }))
  assert.equal(outcome.cashOut.status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(
    journals?.map(({ kind }) => kind),
    ['left_unattributed'],
  )
  assert.deepEqual(
    cases?.map(({ kind }) => kind),
    ['amount_differs'],
  )
})

test('[cash-out.states.4] [cash-out.states.5] for an order that was never sent only the bank’s answer to our query counts, not an event', () => {
  const reported = decide(cashOutAs('RESERVED', { dueAt: NOW }), confirmed({}, false)).outcome.cashOut
  assert.equal(reported.status, 'RECONCILIATION_REQUIRED')
  assert.equal(nextStep(reported, NOW), 'ask')
  const again = decide({ ...reported, dueAt: null }, confirmed({ endToEndId: 'E9' }, false))
  assert.deepEqual([again.outcome.cashOut.dueAt, again.journals], [NOW, []], 'another event is another question')
  const asked = [INPUTS['send.accepted'], confirmed(), INPUTS['work.done']]
  const doubted = withOpenCases(claimed(reported), 'confirmed_without_sending', 'amount_differs')
  const { outcome, closes, journals } = decide(doubted, asked)
  assert.deepEqual([outcome.cashOut.status, outcome.cashOut.dueAt], ['CONFIRMED', null])
  assert.deepEqual(
    journals?.map(({ kind }) => kind),
    ['cash_out_confirmed'],
  )
  assert.deepEqual(closes, ['confirmed_without_sending'])
})

test('[cash-out.states.5] a bank that does not know what it confirmed leaves the money reserved, for operator action', () => {
  const reported = decide(cashOutAs('RESERVED'), confirmed({}, false)).outcome.cashOut
  const asked = decide(claimed(reported), [FOR_GOOD, INPUTS['work.done']])
  assert.deepEqual(asked.journals, [])
  assert.deepEqual([asked.outcome.cashOut.status, asked.outcome.cashOut.dueAt], ['RECONCILIATION_REQUIRED', null])
  const later = decide(asked.outcome.cashOut, [FOR_GOOD, INPUTS['work.done']], NOW + 86_400_000)
  assert.deepEqual(later.journals, [], 'and however often it is asked')
})

test('[cash-out.states.6] the acceptance that is known changes nothing', () => {
  const accepted = { transactionId: 'tx', facts: { ...SENT, isAccepted: true } }
  for (const status of ['DISPATCHED', 'FAILED', 'RECONCILIATION_REQUIRED'] as const) {
    assertUntouched(cashOutAs(status, accepted), INPUTS['send.accepted'])
  }
})

test('[cash-out.unknown.3] a question that failed casts no doubt on an order that the bank has', () => {
  assertUntouched(
    cashOutAs('DISPATCHED', { transactionId: 'tx', facts: { ...SENT, isAccepted: true } }),
    INPUTS['send.unknown'],
  )
})

test('[partner.4] questions about an unknown result come after 5, 10, 15 and 30 s, then each minute, whatever the answer', () => {
  for (const answers of [[INPUTS['send.unknown']], [INPUTS['partner.not_found'], INPUTS['work.done']]]) {
    let at = NOW
    let { cashOut: asked } = decide(cashOutAs('DISPATCHED'), INPUTS['send.unknown'], at).outcome
    const waits = [(asked.dueAt ?? 0) - at]
    for (let question = 0; question < 5; question++) {
      at = asked.dueAt ?? 0
      asked = decide(asked, [INPUTS['work.claimed'], ...answers], at).outcome.cashOut
      waits.push((asked.dueAt ?? 0) - at)
    }
    assert.deepEqual(waits, [5_000, 10_000, 15_000, 30_000, 60_000, 60_000])
  }
})

test('[cash-out.unknown.5] [partner.5] 15 minutes without an outcome make a case', () => {
  const since = (unknownSince: number) => cashOutAs('PROVIDER_RESULT_UNKNOWN', { facts: { ...SENT, unknownSince } })
  assert.equal(decide(since(NOW - 899_999), INPUTS['send.unknown']).outcome.cashOut.status, 'PROVIDER_RESULT_UNKNOWN')
  const { outcome, cases, journals } = decide(since(NOW - 900_000), INPUTS['send.unknown'])
  assert.deepEqual([outcome.cashOut.status, reasonOf(outcome.cashOut)], ['RECONCILIATION_REQUIRED', 'no_answer'])
  assert.deepEqual([cases?.map(({ kind }) => kind), journals], [['result_missing'], []])
})

test('[cash-out.unknown.6] money is released on a proven «not found» only: twice, a minute apart, five minutes after', () => {
  const before = (facts: CashOutFacts) => cashOutAs('PROVIDER_RESULT_UNKNOWN', { facts: { ...SENT, ...facts } })
  const statusOf = (facts: CashOutFacts) => decide(before(facts), FOR_GOOD).outcome.cashOut.status
  const proof = NOT_FOUND_BEFORE
  assert.equal(statusOf(proof), 'FAILED')
  assert.equal(statusOf({ ...proof, notFoundSince: null, notFoundAt: null }), 'PROVIDER_RESULT_UNKNOWN')
  assert.equal(statusOf({ ...proof, notFoundSince: NOW - 59_999 }), 'PROVIDER_RESULT_UNKNOWN')
  assert.equal(statusOf({ ...proof, lastAttemptAt: NOW - 299_999 }), 'PROVIDER_RESULT_UNKNOWN')
  assert.equal(decide(before(proof), INPUTS['partner.not_found']).outcome.cashOut.status, 'PROVIDER_RESULT_UNKNOWN')
  const overdue = { ...INPUTS['partner.not_found'], windowMs: 400_000 }
  assert.equal(decide(before(proof), overdue).outcome.cashOut.status, 'FAILED', 'the bank knows no repeat any more')
})

test('[cash-out.unknown.6] [P6] an order that the bank had is never «not found»: neither given back nor sent again', () => {
  const had = cashOutAs('DISPATCHED', { facts: { ...NOT_FOUND_BEFORE, notFoundAt: NOW, isAccepted: true } })
  const { outcome, journals } = decide(had, FOR_GOOD)
  assert.deepEqual([outcome.cashOut.status, journals], ['DISPATCHED', []])
  assert.equal(nextStep(outcome.cashOut, NOW), 'ask')
})

test('[cash-out.unknown.6] [P6] a contradiction is never ended by «not found», and nothing is released twice', () => {
  for (const facts of [
    reasonFact('conflict'),
    reasonFact('not_dispatched'),
    { ...reasonFact('conflict'), isReleased: true },
  ] as const) {
    const before = cashOutAs('RECONCILIATION_REQUIRED', { facts: { ...NOT_FOUND_BEFORE, ...facts } })
    const { outcome, journals } = decide(before, FOR_GOOD)
    assert.deepEqual([outcome.cashOut.status, journals], ['RECONCILIATION_REQUIRED', []])
  }
})

test('[cash-out.states.3] [cash-out.states.10] [P6] a release is decided on the payout as it is now, not as a worker saw it', () => {
  const claimed = { ...SENT, dueAt: NOW + 60_000, createdAt: NOW - 86_400_000 }
  // Another process has claimed it, or tries it again, since the worker looked.
  assertUntouched(cashOutAs('DISPATCHED', { createdAt: claimed.createdAt, facts: SENT }), INPUTS['clock.released'])
  const tried = { ...SENT, attempts: 3, unsentAttempts: 2, firstAttemptAt: NOW - 1_800_000 }
  assertUntouched(cashOutAs('DISPATCHED', { facts: tried }), INPUTS['clock.released'])
  assertUntouched(cashOutAs('RESERVED', { createdAt: NOW - 86_399_999 }), INPUTS['clock.released'])
  const unsent = { ...SENT, unsentAttempts: 1, firstAttemptAt: NOW - 1_799_999 }
  assertUntouched(cashOutAs('DISPATCHED', { facts: unsent }), INPUTS['clock.released'])
})

test('[cash-out.unknown.1] [P6] sending is claimed only where it is due and the payout as it is now is to be sent', () => {
  const open = cashOutAs('DISPATCHED', { dueAt: NOW })
  assertUntouched(open, INPUTS['send.claimed'])
  assertUntouched(cashOutAs('PROVIDER_RESULT_UNKNOWN', { dueAt: NOW }), INPUTS['send.claimed'])
  assertUntouched(cashOutAs('RESERVED', { dueAt: NOW + 1 }), INPUTS['send.claimed'])
  assertUntouched(cashOutAs('RESERVED', { dueAt: NOW, createdAt: NOW - 86_400_000 }), INPUTS['send.claimed'])
})

test('[cash-out.states.8] a late answer to an earlier attempt does not change the lease of the current one', () => {
  const before = cashOutAs('DISPATCHED', { dueAt: NOW + 50_000, facts: { ...SENT, attempts: 2 } })
  const { cashOut: after } = decide(before, INPUTS['send.not_sent']).outcome
  assert.deepEqual([after.dueAt, after.facts.unsentAttempts], [NOW + 50_000, 1])
  assert.equal(nextStep(after, NOW), 'ask', 'the second attempt may have arrived')
})

test('[cash-out.work.2] [CO-21] only due work can be claimed, so that of two claims one is nothing', () => {
  for (const on of ['work.claimed', 'send.claimed'] as const) {
    const claimed = decide(cashOutAs('RESERVED', { dueAt: NOW }), INPUTS[on]).outcome.cashOut
    assertUntouched(claimed, INPUTS[on])
  }
  assertUntouched(cashOutAs('CONFIRMED'), INPUTS['work.claimed'])
})

test('[cash-out.work.3] work that left its state at rest is no move', () => {
  for (const status of ['CONFIRMED', 'FAILED', 'RELEASED', 'REVERSED', 'RECONCILIATION_REQUIRED'] as const) {
    assertUntouched(cashOutAs(status), INPUTS['work.done'])
    const asked = decide(cashOutAs(status, { dueAt: NOW + 60_000 }), INPUTS['work.done'])
    assert.equal(asked.outcome.cashOut.dueAt, null)
  }
})

/** Asked about now. */
function claimed(cashOut: CashOut): CashOut {
  return decide({ ...cashOut, dueAt: NOW }, INPUTS['work.claimed']).outcome.cashOut
}

test('[cash-out.work.4] a requested status query stays requested until one that was claimed later is answered', () => {
  const underQuestion = claimed(decide(cashOutAs('CONFIRMED'), INPUTS['work.requested']).outcome.cashOut)
  assert.deepEqual([underQuestion.dueAt, statusQueryOf(underQuestion.facts)], [NOW + 60_000, 'in_flight'])
  const answered = decide(underQuestion, INPUTS['work.done']).outcome.cashOut
  assert.deepEqual([answered.dueAt, statusQueryOf(answered.facts)], [null, null])
  const wantedAgain = decide(underQuestion, [INPUTS['work.requested'], INPUTS['work.done']]).outcome.cashOut
  assert.deepEqual([wantedAgain.dueAt, statusQueryOf(wantedAgain.facts)], [NOW, 'requested'])
  const learnedMore = decide(underQuestion, returned()).outcome.cashOut
  assert.equal(learnedMore.dueAt, NOW + 60_000, 'should the process die, the lease reminds of it')
})

test('[cash-out.work.4] [EV-23] no move drops a requested status query', () => {
  const reported = decide(cashOutAs('FAILED'), returned({}, false)).outcome.cashOut
  const { cashOut: after } = decide(reported, confirmed({}, false)).outcome
  assert.deepEqual([after.status, after.dueAt], ['RECONCILIATION_REQUIRED', NOW])
})

test('[cash-out.work.4] [CO-19] a failure that is reported while the call is open is asked about when that is over', () => {
  const facts = { ...SENT, firstAttemptAt: NOW, lastAttemptAt: NOW, leaseEndsAt: NOW + 60_000 }
  const lease = { facts, dueAt: NOW + 60_000 }
  const unverified = { ...INPUTS['partner.failed'], isVerified: false }
  const reported = decide(cashOutAs('DISPATCHED', lease), unverified, NOW + 1_000).outcome.cashOut
  assert.equal(reported.dueAt, NOW + 60_000)
  assert.equal(decide(reported, INPUTS['send.accepted'], NOW + 2_000).outcome.cashOut.dueAt, NOW + 2_000)
})

test('[cash-out.states.7] [P5] a refusal counts only of the latest attempt, and not of what the bank has', () => {
  const again = cashOutAs('DISPATCHED', { facts: { ...SENT, attempts: 2 } })
  const had = cashOutAs('DISPATCHED', { facts: { ...SENT, isAccepted: true } })
  for (const before of [again, had]) {
    const { outcome, journals } = decide(before, INPUTS['send.rejected'])
    assert.deepEqual([outcome.cashOut.status, outcome.cashOut.dueAt, journals], ['DISPATCHED', NOW, []])
  }
  const leaseEndsAt = NOW + 5_000
  const underWay = { ...again, dueAt: leaseEndsAt, facts: { ...again.facts, leaseEndsAt } }
  const { dueAt, facts } = decide(underWay, INPUTS['send.rejected']).outcome.cashOut
  assert.deepEqual([dueAt, facts.refusal], [leaseEndsAt, REFUSAL_EVIDENCE], 'the latest attempt goes on')
})

test('[cash-out.unknown.8] [CO-43] what was refused once is not sent again, whichever attempt it was', () => {
  const twice = cashOutAs('PROVIDER_RESULT_UNKNOWN', { facts: { ...SENT, attempts: 2 } })
  assert.equal(decide(twice, SENDING_AGAIN).outcome.cashOut.facts.attempts, 3)
  for (const attempt of [1, 2]) {
    const { cashOut } = decide(twice, { ...INPUTS['send.rejected'], attempt }).outcome
    assertUntouched(cashOut, SENDING_AGAIN)
  }
})

test('[cash-out.unknown.6] [P6] an answer proves nothing about the time after its question, nor about a later attempt', () => {
  const before = cashOutAs('PROVIDER_RESULT_UNKNOWN', { facts: NOT_FOUND_BEFORE })
  const early = decide(before, { ...FOR_GOOD, askedAt: NOW - 390_000 }).outcome.cashOut
  assert.equal(early.status, 'PROVIDER_RESULT_UNKNOWN')
  const resent = cashOutAs('PROVIDER_RESULT_UNKNOWN', { facts: { ...SENT, notFoundSince: null, notFoundAt: null } })
  const stale = decide(resent, { ...FOR_GOOD, askedAt: SENT_AT - 1 }).outcome.cashOut
  assert.equal(stale.facts.notFoundSince, null)
})

test('[cash-out.unknown.5] [P8] an order that the bank does not know, and that is not sent again, is a case after 15 minutes', () => {
  const facts = { ...SENT, unknownSince: NOW - 900_000, questions: 9 }
  const { outcome, cases } = decide(cashOutAs('PROVIDER_RESULT_UNKNOWN', { facts }), INPUTS['partner.not_found'])
  assert.deepEqual([outcome.cashOut.status, cases?.[0]?.kind], ['RECONCILIATION_REQUIRED', 'result_missing'])
})

test('[cash-out.confirmed.3] [CO-18] the same movement to another recipient is a restatement', () => {
  const { outcome, cases } = decide(cashOutAs('CONFIRMED'), confirmed({ recipientDiffers: true }))
  assert.deepEqual([outcome.cashOut.status, cases?.[0]?.kind], ['RECONCILIATION_REQUIRED', 'confirmation_restated'])
})

test('[cash-out.confirmed.5] [CO-45] a second movement is booked, also where the first came back', () => {
  for (const status of ['CONFIRMED', 'REVERSED'] as const) {
    for (const valueCents of [30_00n, 7_00n]) {
      const reported = decide(cashOutAs(status), confirmed({ endToEndId: 'E2', valueCents }))
      assert.deepEqual(
        reported.journals?.map(({ kind, reference, amounts }) => [kind, reference, amounts.p]),
        [['left_unattributed', 'E2', valueCents]],
      )
      assertUntouched(reported.outcome.cashOut, confirmed({ endToEndId: 'E2', valueCents }))
    }
  }
})

test('[cash-out.states.15] [CO-41] the case of an overdue outcome closes when the outcome comes', () => {
  const overdue = { ...SENT, isAccepted: true, isOverdue: true }
  const closes = (before: CashOut, input: CashOutInput) =>
    decide(withOpenCases(before, 'outcome_overdue', 'amount_differs'), input).closes
  for (const input of [confirmed(), INPUTS['partner.failed']]) {
    assert.deepEqual(closes(cashOutAs('DISPATCHED', { facts: overdue }), input), ['outcome_overdue'])
    assert.deepEqual(closes(cashOutAs('DISPATCHED', { facts: SENT }), input), [])
  }
  assert.deepEqual(closes(cashOutAs('DISPATCHED', { facts: overdue }), INPUTS['work.requested']), [])
  // What is no outcome closes nothing, and what comes after it has cases of its own.
  assert.deepEqual(closes(cashOutAs('DISPATCHED', { facts: overdue }), confirmed({ valueCents: 1n })), [])
  assert.deepEqual(closes(cashOutAs('CONFIRMED', { facts: { ...LEFT, isOverdue: true } }), returned()), [])
})

test('[cash-out.unknown.7] [CO-42] only what was asked about since the last attempt, and is safe to repeat, is sent again', () => {
  const open = cashOutAs('PROVIDER_RESULT_UNKNOWN')
  const again = (given: object) => ({ ...SENDING_AGAIN, again: { ...SENDING_AGAIN.again, ...given } })
  assert.equal(decide(open, SENDING_AGAIN).outcome.cashOut.facts.attempts, 2)
  assertUntouched(open, again({ askedAt: SENT_AT - 1 }))
  assertUntouched(open, again({ windowMs: 0 }))
  assertUntouched(open, again({ windowMs: NOW - SENT_AT }))
  assert.equal(decide(open, again({ windowMs: NOW - SENT_AT + 1 })).outcome.result, 'APPLIED')
  for (const facts of [
    { ...SENT, isAccepted: true },
    { ...SENT, refusal: REFUSAL_EVIDENCE },
  ]) {
    assertUntouched(cashOutAs('PROVIDER_RESULT_UNKNOWN', { facts }), SENDING_AGAIN)
  }
  for (const status of ['CONFIRMED', 'FAILED', 'RELEASED', 'REVERSED', 'RECONCILIATION_REQUIRED'] as const) {
    assertUntouched(cashOutAs(status), SENDING_AGAIN)
  }
})

test('[cash-out.unknown.8] [CO-43] [P6] a refusal frees nothing while another attempt may arrive; the proof ends it', () => {
  const twice = cashOutAs('PROVIDER_RESULT_UNKNOWN', { facts: { ...SENT, attempts: 2 } })
  const refused = decide(twice, { ...INPUTS['send.rejected'], attempt: 2 })
  assert.deepEqual([refused.journals, refused.outcome.cashOut.dueAt], [[], NOW])
  const notFound = (askedAt: number) => ({ ...INPUTS['partner.not_found'], askedAt })
  const first = decide(refused.outcome.cashOut, notFound(NOW + 200_000), NOW + 200_000).outcome.cashOut
  assert.equal(first.status, 'PROVIDER_RESULT_UNKNOWN')
  const { cashOut } = decide(first, notFound(NOW + 300_000), NOW + 300_000).outcome
  assert.deepEqual([cashOut.status, cashOut.facts.failureCode], ['FAILED', 'limit'])
  // The others are proven not to have left: then it is definite.
  const unsent = cashOutAs('DISPATCHED', { facts: { ...SENT, attempts: 2, unsentAttempts: 1 } })
  const definite = decide(unsent, { ...INPUTS['send.rejected'], attempt: 2 }).outcome.cashOut
  assert.equal(definite.status, 'FAILED')
})

test('[cash-out.states.9] [CO-44] a contradiction is asked about at once, and once', () => {
  const lease = { dueAt: NOW + 6_500, facts: { ...SENT, leaseEndsAt: NOW + 6_500 } }
  const reported = decide(cashOutAs('DISPATCHED', lease), INPUTS['send.contradicted']).outcome.cashOut
  assert.deepEqual([reported.dueAt, reported.transactionId], [NOW, 'tx'])
  const foreign = decide(cashOutAs('DISPATCHED', lease), { ...INPUTS['send.contradicted'], transactionId: null })
  assert.equal(foreign.outcome.cashOut.transactionId, null, 'the reference of something else is not ours')
  const { cashOut } = decide(claimed(reported), [INPUTS['send.contradicted'], INPUTS['work.done']]).outcome
  assert.deepEqual([cashOut.dueAt, statusQueryOf(cashOut.facts)], [null, null])
})

test('[cash-out.work.4] [CO-46] a status query that an event requests is made at once, then after 1, 5 and 15 s, then by schedule', () => {
  const unverified = { ...INPUTS['partner.failed'], isVerified: false }
  const answers: (readonly CashOutInput[])[] = [
    [INPUTS['send.accepted'], INPUTS['work.done']],
    [INPUTS['send.unknown'], { on: 'work.done', isUnanswered: true }],
  ]
  for (const answer of answers) {
    let at = NOW
    const had = cashOutAs('DISPATCHED', { transactionId: 'tx', facts: { ...SENT, isAccepted: true } })
    let asked = decide(had, unverified).outcome.cashOut
    const waits = [(asked.dueAt ?? 0) - at]
    for (let question = 0; question < 4; question++) {
      at = asked.dueAt ?? 0
      asked = decide(asked, INPUTS['work.claimed'], at).outcome.cashOut
      asked = decide(asked, answer, at).outcome.cashOut
      waits.push((asked.dueAt ?? 0) - at)
    }
    assert.deepEqual(waits, [0, 1_000, 5_000, 15_000, at - SENT_AT])
    const next = decide(asked, unverified, at + 1).outcome.cashOut
    assert.deepEqual([next.dueAt, next.facts.repeats], [at + 1, 0], 'the next event is asked about at once')
  }
})

test('[cash-out.work.4] [CO-46] while a status query is in flight another one waits for its answer, and no longer', () => {
  const underQuestion = claimed(decide(cashOutAs('DISPATCHED'), INPUTS['work.requested']).outcome.cashOut)
  const wanted = decide(underQuestion, INPUTS['work.requested'], NOW + 10).outcome.cashOut
  assert.deepEqual([wanted.dueAt, statusQueryOf(wanted.facts)], [NOW + 60_000, 'requested'])
  const answered = decide(wanted, { on: 'work.done', isUnanswered: true }, NOW + 20).outcome.cashOut
  assert.deepEqual([answered.dueAt, statusQueryOf(answered.facts)], [NOW + 20, 'requested'])
})

test('[cash-out.work.4] [CO-46] what is due when a lease would have ended is no lease: an event is asked about at once', () => {
  const sent = decide(cashOutAs('RESERVED', { dueAt: NOW }), INPUTS['send.claimed']).outcome.cashOut
  const accepted = decide(sent, INPUTS['send.accepted']).outcome.cashOut
  assert.equal(accepted.dueAt, sent.dueAt)
  const reported = decide(accepted, { ...INPUTS['partner.failed'], isVerified: false }, NOW + 1_000).outcome.cashOut
  assert.equal(reported.dueAt, NOW + 1_000)
})

test('[cash-out.work] a question about what has ended is asked until the bank answers, ever less often', () => {
  let at = NOW
  let asked = decide(cashOutAs('CONFIRMED'), INPUTS['work.requested']).outcome.cashOut
  const waits: number[] = []
  for (let question = 0; question < 5; question++) {
    asked = decide(asked, INPUTS['work.claimed'], at).outcome.cashOut
    asked = decide(asked, { on: 'work.done', isUnanswered: true }, at).outcome.cashOut
    waits.push((asked.dueAt ?? 0) - at)
    at = asked.dueAt ?? 0
  }
  assert.deepEqual(waits, [1_000, 5_000, 15_000, 60_000, 60_000])
  assert.equal(decide(asked, INPUTS['work.done'], at).outcome.cashOut.dueAt, null)
})

test('[cash-out.work] what is due is sent, asked about, given back or made a case', () => {
  const unsent = { ...SENT, unsentAttempts: 1 }
  const accepted = { ...SENT, isAccepted: true }
  const day = 86_400_000
  const steps: [CashOutStatus, Partial<CashOut>, string][] = [
    ['RESERVED', {}, 'send'],
    ['RESERVED', { createdAt: NOW - day + 1 }, 'send'],
    ['RESERVED', { createdAt: NOW - day }, 'release'],
    ['DISPATCHED', {}, 'ask'],
    ['DISPATCHED', { facts: unsent }, 'send'],
    ['DISPATCHED', { facts: { ...unsent, firstAttemptAt: NOW - 1_799_999 } }, 'send'],
    ['DISPATCHED', { facts: { ...unsent, firstAttemptAt: NOW - 1_800_000 } }, 'release'],
    ['DISPATCHED', { facts: { ...unsent, attempts: 2, firstAttemptAt: NOW - 1_800_000 } }, 'ask'],
    ['DISPATCHED', { facts: accepted }, 'ask'],
    ['DISPATCHED', { facts: { ...accepted, unsentAttempts: 1, firstAttemptAt: NOW - 1_800_000 } }, 'ask'],
    ['DISPATCHED', { facts: { ...accepted, firstAttemptAt: NOW - day + 1 } }, 'ask'],
    ['DISPATCHED', { facts: { ...accepted, firstAttemptAt: NOW - day } }, 'case'],
    ['DISPATCHED', { facts: { ...accepted, firstAttemptAt: NOW - day, isOverdue: true } }, 'ask'],
    ['DISPATCHED', { facts: { ...NOT_FOUND_BEFORE, notFoundAt: NOW } }, 'ask'],
    ['PROVIDER_RESULT_UNKNOWN', {}, 'ask'],
    ['PROVIDER_RESULT_UNKNOWN', { facts: unsent }, 'send'],
    ['PROVIDER_RESULT_UNKNOWN', { facts: { ...unsent, firstAttemptAt: NOW - 1_800_000 } }, 'release'],
    ['PROVIDER_RESULT_UNKNOWN', { facts: { ...NOT_FOUND_BEFORE, notFoundAt: NOW } }, 'ask'],
    ['RECONCILIATION_REQUIRED', MISSING, 'ask'],
    ['RECONCILIATION_REQUIRED', { facts: { ...unsent, ...reasonFact('no_answer') } }, 'send'],
    ['RECONCILIATION_REQUIRED', { facts: { ...NOT_FOUND_BEFORE, notFoundAt: NOW, ...reasonFact('no_answer') } }, 'ask'],
    ['RECONCILIATION_REQUIRED', { facts: { ...NOT_FOUND_BEFORE, notFoundAt: NOW, ...reasonFact('conflict') } }, 'ask'],
    ['RECONCILIATION_REQUIRED', { facts: { ...unsent, ...reasonFact('conflict') } }, 'ask'],
    ['CONFIRMED', {}, 'ask'],
    ['FAILED', { facts: unsent }, 'ask'],
    ['RELEASED', { createdAt: NOW - day }, 'ask'],
    ['REVERSED', {}, 'ask'],
  ]
  for (const [status, given, step] of steps) {
    assert.equal(nextStep(cashOutAs(status, given), NOW), step, `${status} ${JSON.stringify(given.facts ?? '')}`)
  }
})

test('[cash-out.states.15] [CO-22] an order that the bank has is asked about ever less often; after a day it is a case once', () => {
  const had = { ...SENT, isAccepted: true }
  const waitAfter = (ms: number) => {
    const before = cashOutAs('DISPATCHED', { transactionId: 'tx', facts: had, dueAt: SENT_AT + ms + 60_000 })
    const { dueAt } = decide(before, [INPUTS['send.accepted'], INPUTS['work.done']], SENT_AT + ms).outcome.cashOut
    return (dueAt ?? 0) - SENT_AT - ms
  }
  assert.deepEqual([1_000, 61_000, 600_000, 3_600_000].map(waitAfter), [60_000, 61_000, 600_000, 900_000])
  const late = cashOutAs('DISPATCHED', { dueAt: NOW, facts: { ...had, firstAttemptAt: NOW - 86_400_000 } })
  const { outcome, cases } = decide(late, INPUTS['clock.overdue'])
  assert.deepEqual(
    cases?.map(({ kind }) => kind),
    ['outcome_overdue'],
  )
  assert.equal(nextStep(outcome.cashOut, NOW), 'ask')
  assertUntouched(outcome.cashOut, INPUTS['clock.overdue'])
  assertUntouched(cashOutAs('DISPATCHED', { facts: had }), INPUTS['clock.overdue'])
})

test('[cash-out.ended.2] [EV-20] what is there is held again, and no more than the payout', () => {
  const heldOf = (available: bigint) => {
    const { journals = [], outcome, exact } = decide(cashOutAs('FAILED'), confirmed(), NOW, stateOf({ available }))
    assert.deepEqual(exact, ['available'])
    assert.equal(outcome.cashOut.facts.isReleased, false)
    return [journals[0]?.amounts.h, outcome.cashOut.facts.heldAgainCents]
  }
  assert.deepEqual(heldOf(0n), [0n, 0])
  assert.deepEqual(heldOf(12_00n), [12_00n, 12_00])
  assert.deepEqual(heldOf(500_00n), [31_00n, 31_00])
})

test('[cash-out.ended.1] [cash-out.ended.2] an answer that reports the order and its movement is one decision', () => {
  const asked = [INPUTS['send.accepted'], confirmed(), returned(), INPUTS['work.done']]
  const { outcome, journals, cases, notifications } = decide(cashOutAs('FAILED'), asked)
  assert.deepEqual(reasonOf(outcome.cashOut), 'conflict')
  assert.deepEqual(
    journals?.map(({ kind }) => kind),
    ['left_after_release', 'arrived_unattributed'],
  )
  assert.deepEqual(
    cases?.map(({ kind }) => kind),
    ['answer_after_end', 'confirmed_after_release', 'returned_in_doubt'],
  )
  assert.deepEqual(notifications, [])
})

test('[cash-out.ended.3] [EV-23] a return of what was given back is asked about, then all that moved is in suspense', () => {
  const reported = decide(cashOutAs('RELEASED'), returned({}, false))
  assert.deepEqual([reported.journals, reported.outcome.cashOut.dueAt], [[], NOW])
  const asked = [INPUTS['send.accepted'], confirmed(), returned(), INPUTS['work.done']]
  const { journals, outcome } = decide(claimed(reported.outcome.cashOut), asked)
  assert.deepEqual(
    journals?.map(({ kind }) => kind),
    ['left_after_release', 'arrived_unattributed'],
  )
  assert.deepEqual([outcome.cashOut.status, outcome.cashOut.dueAt], ['RECONCILIATION_REQUIRED', null])
})

test('[fees.3] [CO-23] the merchant pays the configured fee, whatever the bank says it took', () => {
  const { outcome, journals, notifications } = decide(cashOutAs('DISPATCHED'), confirmed({ feeCents: 77n }))
  assert.equal(outcome.cashOut.facts.partnerFeeCents, 77)
  assert.equal(journals?.[0]?.amounts.f, 1_00n)
  assert.match(String(notifications?.[0]?.body), /"fee_amount_cents":100,/)
})

test('[cash-out.tariff.1] [CO-23] what the bank took is booked once, not on the merchant, and disturbs nothing that is due', () => {
  const before = { ...cashOutAs('DISPATCHED'), dueAt: NOW + 5_000 }
  const tariff = INPUTS['partner.tariff']
  const { outcome, journals, notifications } = decide(before, [tariff, tariff])
  assert.deepEqual(journals, [
    { operationId: before.id, kind: 'tariff_deducted', reference: '', amounts: journals?.[0]?.amounts },
  ])
  assert.equal(journals?.[0]?.amounts.p, 35n)
  assert.equal(notifications?.length ?? 0, 0)
  assert.equal(outcome.cashOut.dueAt, NOW + 5_000)
  assert.equal(outcome.cashOut.facts.tariffCents, 35)
  assert.equal(decide(outcome.cashOut, { ...tariff, tariffCents: 36n }).outcome.result, 'IGNORED')
})

test('[statement.4] each tariff of a payout is booked once, under its own name', () => {
  const before = { ...cashOutAs('CONFIRMED'), dueAt: NOW + 5_000 }
  const tariff = INPUTS['partner.tariff']
  const another = { ...tariff, tariffId: 'another', tariffCents: 12n }
  const { outcome, journals } = decide(before, [tariff, another, another])
  assert.deepEqual(
    journals?.map(({ reference, amounts }) => [reference, amounts.p]),
    [
      ['', 35n],
      ['another', 12n],
    ],
  )
  assert.deepEqual([outcome.cashOut.facts.tariffCents, outcome.cashOut.facts.moreTariffs], [35, { another: 12 }])
  assert.equal(decide(outcome.cashOut, [another, tariff]).outcome.result, 'IGNORED')
})

test('[cash-out.reversal.1] [EV-22] a confirmation and what came back of it are booked in order, as one change', () => {
  const asked = [
    INPUTS['send.accepted'],
    confirmed(),
    returned(),
    returned({ returnId: 'D2', valueCents: 20_00n }),
    INPUTS['work.done'],
  ]
  const { outcome, journals, notifications, moves } = decide(cashOutAs('DISPATCHED', { dueAt: NOW + 60_000 }), asked)
  assert.deepEqual(
    journals?.map(({ kind, reference }) => [kind, reference]),
    [
      ['cash_out_confirmed', 'E1'],
      ['cash_out_returned', 'D1'],
      ['cash_out_returned', 'D2'],
    ],
  )
  assert.deepEqual(
    notifications?.map(({ eventType, status, reference }) => [eventType, status, reference]),
    [
      ['pix_cash_out', 'CONFIRMED', ''],
      ['pix_cash_out_reversal', 'REVERSED', 'D1'],
      ['pix_cash_out_reversal', 'REVERSED', 'D2'],
    ],
  )
  assert.deepEqual([outcome.result, outcome.cashOut.status, outcome.cashOut.dueAt], ['APPLIED', 'REVERSED', null])
  assert.equal(outcome.cashOut.version, 3 + (moves?.length ?? 0))
})

test('[cash-out.reversal.2] [EV-24] returns may add up to the payout and not one centavo more', () => {
  const before = cashOutAs('REVERSED', { facts: { ...LEFT, returns: { D0: 20_00 } } })
  assert.equal(decide(before, returned({ valueCents: 10_00n })).outcome.cashOut.status, 'REVERSED')
  const { outcome, journals } = decide(before, returned({ valueCents: 10_01n }))
  assert.equal(outcome.cashOut.status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(
    journals?.map(({ kind, amounts }) => [kind, amounts.p]),
    [['arrived_unattributed', 10_01n]],
  )
})

test('[cash-out.reconciliation.1] where only the answer was missing one clear answer settles it, in a conflict none does', () => {
  const settling = { 'send.accepted': 'DISPATCHED', 'send.rejected': 'FAILED', 'partner.failed': 'FAILED' } as const
  for (const [on, to] of Object.entries(settling) as [keyof typeof settling, string][]) {
    assert.equal(decide(cashOutAs('RECONCILIATION_REQUIRED', MISSING), INPUTS[on]).outcome.cashOut.status, to)
    assertUntouched(cashOutAs('RECONCILIATION_REQUIRED'), INPUTS[on])
  }
})

test('[cash-out.reconciliation.2] [cash-out.reconciliation.3] in doubt an event leads to a question, the answer is booked', () => {
  const doubted = cashOutAs('RECONCILIATION_REQUIRED')
  const { outcome, journals } = decide(doubted, { ...INPUTS['partner.failed'], isVerified: false })
  assert.deepEqual([outcome.cashOut.dueAt, journals, statusQueryOf(outcome.cashOut.facts)], [NOW, [], 'requested'])
  // What the bank does not tell when asked must not be forgotten: the inbox keeps it, and asks.
  assert.equal(decide(doubted, returned({}, false)).outcome.result, 'EARLY')
  assert.equal(decide(doubted, confirmed({}, false)).outcome.result, 'EARLY')
  assert.deepEqual(
    decide(doubted, confirmed()).journals?.map(({ kind }) => kind),
    ['left_unattributed'],
  )
  assert.deepEqual(
    decide(doubted, returned()).journals?.map(({ kind }) => kind),
    ['arrived_unattributed'],
  )
})

test('[cash-out.qrcode.6] [QR-8] what a payout had for itself is free once its money is released, and at no other time', () => {
  for (const [name, { from, on, posts }] of outcomesOf(OUTCOMES)) {
    const situation = situationOf(name, on)
    const input = situation?.input ?? INPUTS[on as CashOutInput['on']]
    const before = cashOutAs(from as CashOutStatus, situation?.before)
    const { exclusiveKey } = decide(before, input, NOW, situation?.state).outcome.cashOut
    assert.equal(exclusiveKey === null, posts === 'cash_out_released', name)
  }
})

/** The others are decisions on cases: see desk.test.ts. */
function isDesk(on: string): boolean {
  const isHere = on === 'operator.approved' || on === 'operator.refused'
  return on === 'create' || on === 'doubt.decided' || (on.startsWith('operator.') && !isHere)
}

test('[cash-out.states] the tests of this file know every trigger and every state', () => {
  assert.equal(Object.keys(INPUTS).length, cashOut.triggers.filter((on) => !isDesk(on)).length)
  for (const status of cashOut.states) assert.equal(cashOutAs(status).createdAt, CREATED_AT)
})

test('[cash-out.states.12] [QR-11] a confirmation that names another recipient than the code was decoded to is in suspense', () => {
  const qrCode = { pixCode: 'code', decodeId: 'decoded' }
  const sent = cashOutAs('DISPATCHED')
  const recipient = { ...sent.detail.recipient, pixKeyType: null, document: '52998224725' }
  const before = cashOutAs('DISPATCHED', { detail: { ...sent.detail, paymentType: 'qrcode', recipient, qrCode } })
  const paid = (document: string | undefined) => confirmed({ recipient: { name: 'Ana', document, ispb: undefined } })
  const { outcome, journals } = decide(before, paid('11144477735'))
  assert.equal(outcome.cashOut.status, 'RECONCILIATION_REQUIRED')
  assert.deepEqual(
    journals?.map(({ kind }) => kind),
    ['left_unattributed'],
  )
  for (const document of ['52998224725', '529.982.247-25', '***.982.247-**', undefined]) {
    assert.equal(decide(before, paid(document)).outcome.cashOut.status, 'CONFIRMED', document)
  }
})

test('[cash-out.unknown.7] [CO-61] what was tried before the clock was set back is not sent again: its age is unknown', () => {
  const before = cashOutAs('PROVIDER_RESULT_UNKNOWN')
  const sending = (setBackAt: number) => ({ ...SENDING_AGAIN, again: { ...SENDING_AGAIN.again, setBackAt } })
  assert.equal(decide(before, sending(SENT_AT)).outcome.result, 'IGNORED')
  assert.equal(decide(before, sending(SENT_AT - 1)).outcome.result, 'APPLIED')
})

test('[cash-out.reversal.4] a return that was booked here is restated, whichever payment it now names', () => {
  const before = cashOutAs('REVERSED', { facts: { movements: { E1: 30_00 }, returns: { D1: 10_00 } } })
  const { cases = [], outcome } = decide(before, { ...returned({ valueCents: 9_99n }), endToEndId: 'E9' })
  assert.deepEqual([cases.map(({ kind }) => kind), outcome.result], [['return_restated'], 'APPLIED'])
})

test('[cash-out.unknown.6] [P6] five minutes that a stepping clock made up prove nothing', () => {
  const before = cashOutAs('PROVIDER_RESULT_UNKNOWN', { facts: NOT_FOUND_BEFORE })
  const asked = (steadySince: number) => decide(before, { ...FOR_GOOD, steadySince }).outcome.cashOut.status
  const { askedAt } = FOR_GOOD
  assert.deepEqual([asked(askedAt - 300_000), asked(askedAt - 299_999)], ['FAILED', 'PROVIDER_RESULT_UNKNOWN'])
})

test('[statement.5] [P6] what the statement shows as sent did arrive: a failure frees nothing until it is booked', () => {
  const before = cashOutAs('DISPATCHED', { facts: SENT })
  const shown = decide(before, { on: 'work.requested', isShown: true }).outcome.cashOut
  assert.deepEqual([shown.facts.isAccepted, shown.facts.isShown], [true, true])
  const statusAfter = (cashOut: CashOut) => decide(cashOut, INPUTS['partner.failed']).outcome.cashOut.status
  assert.deepEqual([statusAfter(shown), statusAfter(before)], ['DISPATCHED', 'FAILED'])
  for (const status of ['CONFIRMED', 'FAILED'] as const) {
    const { facts } = decide(cashOutAs(status, { facts: SENT }), { on: 'work.requested', isShown: true }).outcome
      .cashOut
    assert.deepEqual([facts.isAccepted, facts.isShown], [undefined, undefined], `${status} has its outcome`)
  }
})

test('[cash-out.reversal.3] [cash-out.states.16] a return that is in suspense here, as another operation has it, is not booked again', () => {
  const before = cashOutAs('RECONCILIATION_REQUIRED', {
    facts: { ...CONTRADICTION.facts, suspendedReturns: { D1: 9_00 } },
  })
  const { journals, cases } = decide(before, returned(), NOW, TAKEN)
  assert.deepEqual(journals, [])
  assert.deepEqual(
    cases?.map(({ kind }) => kind),
    ['return_restated'],
  )
})

for (const status of cashOut.states) {
  const before = cashOutAs(status, {
    facts: { ...cashOutAs(status).facts, movements: { E1: 30_00, E2: 29_00 }, decidedMovements: { E2: 29_00 } },
  })
  test(`[cash-out.confirmed.3] [cash-out.states.16] another amount of a movement in the books is a case of a payout that is ${status}, whoever has the movement`, () => {
    for (const state of [stateOf(), TAKEN]) {
      const { journals, cases, outcome } = decide(before, confirmed({ endToEndId: 'E2' }), NOW, state)
      assert.deepEqual([journals, cases?.map(({ kind }) => kind)], [[], ['confirmation_restated']])
      assert.equal(reasonOf(outcome.cashOut), 'conflict')
    }
  })
}

for (const status of ['DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'] as const) {
  test(`[desk.14] [cash-out.states.15] a movement that was decided to be another’s, told again of a payout that is ${status}: the bank has it, for at most a day without a case`, () => {
    const { facts } = cashOutAs(status)
    const decided = { movements: { E2: 29_00 }, decidedMovements: { E2: 29_00 } }
    const before = cashOutAs(status, { transactionId: 'tx', facts: { ...facts, ...decided } })
    const told = confirmed({ endToEndId: 'E2', valueCents: 29_00n })
    const { journals, cases, outcome } = decide(before, told)
    assert.deepEqual([journals, cases], [[], []])
    assert.deepEqual([outcome.cashOut.status, outcome.cashOut.facts.isAccepted], ['DISPATCHED', true])
    assert.equal(decide(outcome.cashOut, told).outcome.result, 'IGNORED', 'once')
    assert.equal(decide(before, { ...told, isVerified: false }).outcome.result, 'IGNORED', 'as an event alone tells it')
    const inDoubt = cashOutAs('RECONCILIATION_REQUIRED', { facts: { ...MISSING.facts, ...decided } })
    assert.equal(decide(inDoubt, told).outcome.result, 'IGNORED', 'where it has a case')
  })
}

for (const leftCents of [29_00, 31_00]) {
  test(`[CO-62] [cash-out.reversal.2] [cash-out.reversal.1] what comes back of a payout that was confirmed by ${leftCents} centavos is bounded by what left`, () => {
    const facts = { movements: { E1: leftCents }, decidedMovements: { E1: leftCents } }
    const before = cashOutAs('CONFIRMED', { facts })
    const repeated = confirmed({ valueCents: BigInt(leftCents), recipientDiffers: true })
    assert.equal(decide(before, repeated).outcome.result, 'IGNORED', 'what was decided is nothing new')
    const back = (cents: number) => decide(before, returned({ valueCents: BigInt(cents) })).outcome.cashOut.status
    assert.deepEqual([back(leftCents), back(leftCents + 1)], ['REVERSED', 'RECONCILIATION_REQUIRED'])
  })
}

for (const status of ['CONFIRMED', 'REVERSED', 'FAILED', 'RELEASED', 'RECONCILIATION_REQUIRED'] as const) {
  test(`[cash-out.reversal.3] another amount of a return in the books is a case of a payout that is ${status}, whoever has the return`, () => {
    const { facts } = cashOutAs(status)
    const decided = { suspendedReturns: { D1: 9_00 }, decidedReturns: { D1: 9_00 } }
    const before = cashOutAs(status, { facts: { ...facts, ...decided } })
    for (const state of [stateOf(), TAKEN]) {
      const { journals, cases } = decide(before, returned(), NOW, state)
      assert.deepEqual([journals, cases?.map(({ kind }) => kind)], [[], ['return_restated']])
    }
  })
}

test('[cash-out.reversal.5] a return that was told without its id and decided is no other one when it is told with it', () => {
  const decided = { suspendedReturns: { U1: 10_00 }, unnamedReturns: { U1: 10_00 }, decidedReturns: { U1: 10_00 } }
  const before = cashOutAs('CONFIRMED', { facts: { ...LEFT, ...decided } })
  const { journals, cases, outcome } = decide(before, returned())
  assert.deepEqual([journals, cases?.map(({ kind }) => kind)], [[], ['return_told_before']])
  assert.equal(outcome.cashOut.status, 'CONFIRMED')
})
