import assert from 'node:assert/strict'
import test from 'node:test'
import { type JournalKind, type RefundInStatus, refundIn } from '@pixgate/spec'
import type { CashInFacts } from '../../src/cash-in/cash-in.ts'
import type { Decision, State } from '../../src/engine/operation.ts'
import { reasonFact, reasonOf } from '../../src/engine/reason.ts'
import { statusQueryFact, statusQueryOf } from '../../src/operations/status-query.ts'
import type { RefundIn, RefundInFacts, RefundInInput } from '../../src/refund-in/refund-in.ts'
import { decideRefundIn } from '../../src/refund-in/rules.ts'
import { nextStep, planOf } from '../../src/refund-in/schedule.ts'
import { NOW } from '../cash-in/situations.ts'
import { withOpenCases } from '../support/open-cases.ts'
import { journalsOf, outcomesOf, type SituationOf, withoutOutcome } from '../support/outcomes.ts'
import { OUTCOMES } from './outcomes.ts'
import { cashInOf, confirmed, INPUTS, REFUND_ID, refundAs, SENT, stateOf, TAKEN } from './situations.ts'

interface Situation extends SituationOf<RefundIn, RefundInInput> {
  /** What the cash-in knows beforehand. */
  readonly counted?: CashInFacts
  /** What the cash-in knows afterwards. */
  readonly counts?: CashInFacts
  readonly state?: State
  /** What the caller is told: `APPLIED` unless something is said here. */
  readonly result?: 'DISPUTED'
}

/** The bank's answer came. */
const ANSWERED = { unknownSince: null }
const CONTRADICTED = { ...SENT, ...reasonFact('conflict') } as const
const REFUSED = { failureCode: 'AC07', failureReason: 'account closed', ...ANSWERED }
const REFUSAL = { errorCode: 'AC07', errorMessage: 'account closed' }
/** An attempt that begins now. */
const CLAIMED = { lastAttemptAt: NOW, leaseEndsAt: NOW + 60_000, notFoundSince: null, notFoundAt: null }
/** The bank was asked just now, and is one that does once what it is told twice. */
const SENDING_AGAIN = { ...INPUTS['send.claimed'], again: { askedAt: NOW, windowMs: 86_400_000 } } as const
/** A status query is requested. */
const WANTED = statusQueryFact('requested')
const UNVERIFIED = { ...INPUTS['partner.failed'], isVerified: false }
const FREED = { refundsOpenCents: 0, openRefunds: {} }
const NAMED = { openRefunds: { [REFUND_ID]: { valueCents: 30_00, transactionId: 'tx-r' } } }
const OTHER_AMOUNT = confirmed({ valueCents: 29_99n })

const OF_ANOTHER_PAYMENT: Situation = {
  input: { ...confirmed({}, false), endToEndId: 'E9' },
  result: 'DISPUTED',
  learns: { facts: WANTED },
  dueAt: NOW,
}

/** What a case tells of a return. */
function returnEvidence(valueCents = 30_00, isVerified = true) {
  return { returnId: 'D1', valueCents, occurredAt: NOW - 1_000, isVerified }
}

/** What happens in each row, by «from on when». */
const SITUATIONS: Readonly<Record<string, Situation>> = {
  'PENDING work.done': { before: { dueAt: NOW + 60_000 }, dueAt: NOW + 5_000 },
  'CONFIRMED work.done': { before: { dueAt: NOW + 60_000 } },
  'FAILED work.done': { before: { dueAt: NOW + 60_000 } },

  'PENDING send.claimed nothing of it left': {
    before: { dueAt: NOW, facts: {} },
    learns: { facts: { attempts: 1, firstAttemptAt: NOW, ...CLAIMED } },
    dueAt: NOW + 60_000,
  },
  'PENDING send.claimed asked in vain and safe to repeat': {
    input: SENDING_AGAIN,
    learns: { facts: { attempts: 2, ...CLAIMED } },
    dueAt: NOW + 60_000,
  },
  'PENDING send.rejected another attempt may arrive': {
    before: { facts: { ...SENT, attempts: 2 } },
    input: { ...INPUTS['send.rejected'], attempt: 2 },
    learns: { facts: { refusal: REFUSAL, ...WANTED } },
    dueAt: NOW,
  },
  'PENDING send.accepted': {
    learns: { transactionId: 'tx-r', facts: { isAccepted: true, ...ANSWERED } },
    dueAt: NOW + 60_000,
    counts: NAMED,
  },
  'PENDING send.rejected': { learns: { facts: REFUSED }, counts: FREED },
  'PENDING send.not_sent': { learns: { facts: { unsentAttempts: 1 } }, dueAt: NOW + 1_000 },
  'PENDING clock.released': {
    before: { facts: { ...SENT, unsentAttempts: 1, firstAttemptAt: NOW - 1_800_000 } },
    learns: { facts: { failureCode: 'never_sent', failureReason: null, ...ANSWERED } },
    counts: FREED,
  },
  'PENDING operator.refused': {
    before: { facts: {} },
    learns: { facts: { failureCode: 'refused_by_operator', failureReason: null, ...ANSWERED } },
    counts: FREED,
  },
  'PENDING send.unknown': { learns: { facts: { questions: 1, unknownSince: NOW } }, dueAt: NOW + 5_000 },
  'PENDING send.contradicted': {
    input: { ...INPUTS['send.contradicted'], transactionId: 'tx-r' },
    learns: { transactionId: 'tx-r', facts: { ...reasonFact('conflict'), ...WANTED } },
    dueAt: NOW,
    evidence: { reason: 'other id', transactionId: 'tx-r' },
    counts: NAMED,
  },
  'PENDING partner.confirmed movement belongs to another operation': {
    learns: { transactionId: 'tx-r', facts: { returns: { D1: 30_00 }, ...reasonFact('conflict') } },
    evidence: returnEvidence(),
    counts: { ...NAMED, returns: { D1: 30_00 } },
    state: TAKEN,
  },
  'CONFIRMED partner.confirmed movement belongs to another operation': {
    before: { facts: { ...SENT, returns: { D0: 30_00 }, returnId: 'D0' } },
    counted: { returns: { D0: 30_00 } },
    learns: { transactionId: 'tx-r', facts: { returns: { D0: 30_00, D1: 30_00 }, ...reasonFact('conflict') } },
    evidence: returnEvidence(),
    counts: { returns: { D0: 30_00, D1: 30_00 } },
    state: TAKEN,
  },
  'FAILED partner.confirmed movement belongs to another operation': {
    learns: { transactionId: 'tx-r', facts: { returns: { D1: 30_00 }, ...reasonFact('conflict') } },
    evidence: returnEvidence(),
    counts: { returns: { D1: 30_00 } },
    state: TAKEN,
  },
  'PENDING partner.confirmed another payment went back': OF_ANOTHER_PAYMENT,
  'CONFIRMED partner.confirmed another payment went back': {
    ...OF_ANOTHER_PAYMENT,
    input: { ...confirmed({ returnId: 'D2' }, false), endToEndId: 'E9' },
  },
  'FAILED partner.confirmed another payment went back': OF_ANOTHER_PAYMENT,
  'PENDING partner.confirmed return has no id': {
    input: { ...confirmed(), isUnnamed: true },
    learns: {
      transactionId: 'tx-r',
      facts: { returns: { D1: 30_00 }, unnamedReturnId: 'D1', ...reasonFact('conflict') },
    },
    evidence: returnEvidence(),
    counts: { ...NAMED, returns: { D1: 30_00 } },
  },
  'PENDING partner.confirmed sending was not recorded': {
    before: { facts: {} },
    input: confirmed({}, false),
    learns: { transactionId: 'tx-r', facts: { ...reasonFact('not_dispatched'), ...WANTED } },
    dueAt: NOW,
    evidence: returnEvidence(30_00, false),
    counts: NAMED,
  },
  'PENDING partner.confirmed return was booked before': {
    counted: { returns: { D1: 30_00 } },
    learns: { transactionId: 'tx-r', facts: reasonFact('conflict') },
    evidence: returnEvidence(),
    counts: NAMED,
  },
  'PENDING partner.confirmed amount differs': {
    input: OTHER_AMOUNT,
    learns: { transactionId: 'tx-r', facts: { returns: { D1: 29_99 }, ...reasonFact('conflict') } },
    evidence: returnEvidence(29_99),
    counts: { ...NAMED, returns: { D1: 29_99 } },
  },
  'PENDING partner.confirmed operator action required': {
    before: { facts: CONTRADICTED },
    learns: { transactionId: 'tx-r', facts: { returns: { D1: 30_00 }, ...reasonFact('conflict') } },
    evidence: returnEvidence(),
    counts: { ...NAMED, returns: { D1: 30_00 } },
  },
  'PENDING partner.confirmed': {
    learns: {
      transactionId: 'tx-r',
      facts: { returns: { D1: 30_00 }, returnId: 'D1', confirmedAt: NOW - 1_000, ...ANSWERED },
    },
    counts: { ...FREED, returns: { D1: 30_00 } },
  },
  'PENDING partner.failed partner agrees when asked': {
    learns: { transactionId: 'tx-r', facts: REFUSED },
    counts: FREED,
  },
  'PENDING partner.failed': {
    input: UNVERIFIED,
    learns: { transactionId: 'tx-r', facts: WANTED },
    dueAt: NOW,
    counts: NAMED,
  },
  'PENDING partner.not_found never arrived and must not be sent again': {
    before: { facts: { attempts: 1, lastAttemptAt: NOW - 300_000, notFoundSince: NOW - 60_000 } },
    learns: { facts: { notFoundAt: NOW, failureCode: 'not_found', failureReason: null, ...ANSWERED } },
    counts: FREED,
  },
  'PENDING partner.not_found': {
    learns: { facts: { notFoundSince: NOW, notFoundAt: NOW, questions: 1, unknownSince: NOW } },
    dueAt: NOW + 5_000,
  },
  'PENDING send.unknown for 15 minutes': {
    before: { facts: { ...SENT, unknownSince: NOW - 900_000, questions: 17 } },
    learns: { facts: { ...reasonFact('no_answer'), questions: 18 } },
    dueAt: NOW + 60_000,
  },
  'PENDING partner.not_found for 15 minutes': {
    before: { facts: { ...SENT, unknownSince: NOW - 900_000, questions: 17 } },
    learns: { facts: { ...reasonFact('no_answer'), questions: 18, notFoundSince: NOW, notFoundAt: NOW } },
    dueAt: NOW + 60_000,
  },
  'PENDING send.rejected of an attempt that another one followed': {
    before: { facts: { ...SENT, attempts: 2 } },
    learns: { facts: { refusal: REFUSAL, ...WANTED } },
    dueAt: NOW,
  },
  'PENDING send.rejected of what the bank has': {
    before: { facts: { ...SENT, isAccepted: true } },
    learns: { facts: WANTED },
    dueAt: NOW,
  },
  'PENDING clock.overdue': {
    before: { facts: { ...SENT, isAccepted: true, firstAttemptAt: NOW - 86_400_000 } },
    learns: { facts: { isOverdue: true } },
    dueAt: NOW,
  },

  'CONFIRMED send.accepted reference differs': {
    before: { transactionId: 'another' },
    learns: { facts: { isAccepted: true } },
    evidence: { transactionId: 'tx-r' },
  },
  'CONFIRMED send.accepted': { learns: { transactionId: 'tx-r', facts: { isAccepted: true } } },
  'CONFIRMED send.rejected': { evidence: { errorCode: 'AC07', errorMessage: 'account closed' } },
  'CONFIRMED send.contradicted': { evidence: { reason: 'other id', transactionId: null } },
  'FAILED send.contradicted': { evidence: { reason: 'other id', transactionId: null } },
  'CONFIRMED partner.not_found': { learns: { facts: { notFoundSince: NOW, notFoundAt: NOW } } },
  'CONFIRMED partner.confirmed return restated': {
    input: OTHER_AMOUNT,
    learns: { transactionId: 'tx-r', facts: reasonFact('conflict') },
    evidence: returnEvidence(29_99),
  },
  'CONFIRMED partner.confirmed return was booked before': {
    before: { facts: { ...SENT, returns: { D0: 30_00 }, returnId: 'D0' } },
    counted: { returns: { D0: 30_00, D1: 30_00 } },
    learns: { transactionId: 'tx-r', facts: reasonFact('conflict') },
    evidence: returnEvidence(),
  },
  'CONFIRMED partner.confirmed return is a second one': {
    before: { facts: { ...SENT, returns: { D0: 30_00 }, returnId: 'D0' } },
    counted: { returns: { D0: 30_00 } },
    learns: { transactionId: 'tx-r', facts: { returns: { D0: 30_00, D1: 30_00 }, ...reasonFact('conflict') } },
    evidence: returnEvidence(),
    counts: { returns: { D0: 30_00, D1: 30_00 } },
  },
  'CONFIRMED partner.failed': {
    input: UNVERIFIED,
    learns: { transactionId: 'tx-r', facts: WANTED },
    dueAt: NOW,
  },
  'CONFIRMED partner.failed partner agrees when asked': {
    learns: { transactionId: 'tx-r', facts: reasonFact('conflict') },
    evidence: { errorCode: 'AC07', errorMessage: 'account closed', isVerified: true },
  },

  'FAILED send.accepted': {
    learns: { transactionId: 'tx-r', facts: { isAccepted: true } },
    evidence: { transactionId: 'tx-r' },
  },
  'FAILED partner.confirmed return was booked before': {
    counted: { returns: { D1: 30_00 } },
    learns: { transactionId: 'tx-r', facts: reasonFact('conflict') },
    evidence: returnEvidence(),
  },
  'FAILED partner.confirmed money is held again': {
    before: { facts: { returns: { D0: 30_00 }, heldAgainCents: 30_00, ...reasonFact('conflict') } },
    learns: { transactionId: 'tx-r', facts: { returns: { D0: 30_00, D1: 30_00 }, ...reasonFact('conflict') } },
    evidence: returnEvidence(),
    counts: { returns: { D1: 30_00 } },
  },
  'FAILED partner.confirmed': {
    learns: {
      transactionId: 'tx-r',
      facts: { returns: { D1: 30_00 }, heldAgainCents: 30_00, ...reasonFact('conflict') },
    },
    evidence: returnEvidence(),
    counts: { returns: { D1: 30_00 } },
  },
}

/** Work is the same in every state but for when it is due again. */
function situationOf(situation: string, on: string): Situation | undefined {
  if (on === 'work.requested') return { learns: { facts: WANTED }, dueAt: NOW }
  if (on === 'work.claimed') {
    return { before: { dueAt: NOW }, learns: { facts: { leaseEndsAt: NOW + 60_000 } }, dueAt: NOW + 60_000 }
  }
  return SITUATIONS[situation]
}

for (const [name, { from, on, rule, to, posts, emits, opens }] of outcomesOf(OUTCOMES)) {
  test(`[${rule}] ${name} → ${to}`, () => {
    const situation = situationOf(name, on)
    assert.ok(situation, 'every outcome has its situation here')
    const before = refundAs(from as RefundInStatus, situation.before)
    const cashIn = cashInOf(from as RefundInStatus, situation.counted)
    const input = situation.input ?? INPUTS[on as keyof typeof INPUTS]
    const decision = decideRefundIn(before, cashIn, [input], situation.state ?? stateOf(), NOW)

    const { outcome, moves = [] } = decision
    assert.equal(outcome.result, situation.result ?? 'APPLIED')
    assert.deepEqual(outcome.refund, {
      ...before,
      ...situation.learns,
      facts: { ...before.facts, ...situation.learns?.facts },
      status: to,
      version: before.version + 1,
      dueAt: situation.dueAt ?? null,
      plan: planOf(outcome.refund, NOW),
      updatedAt: NOW,
    })
    assert.deepEqual(outcome.cashIn.facts, { ...cashIn.facts, ...situation.counts }, 'the cash-in counts along')
    const moved = moves.map(({ operationId, trigger }) => [operationId, trigger])
    const counts = posts ? [[cashIn.id, COUNTS[posts]]] : []
    const names = to === 'PENDING' && situation.learns?.transactionId ? [[cashIn.id, 'refund.named']] : []
    assert.deepEqual(moved.toSorted(), [[before.id, on], ...counts, ...names].toSorted())
    assert.deepEqual(journalsOf(decision), posts ? [journalOf(posts, input)] : [])
    assert.deepEqual(bodiesOf(decision), emits ? [bodyOf(before, input, to)] : [])
    assert.deepEqual(
      (decision.cases ?? []).map(({ kind, facts }) => [kind, facts]),
      opens ? [[opens, situation.evidence ?? {}]] : [],
    )
  })
}

const UNANSWERED = { ...SENT, ...reasonFact('no_answer'), unknownSince: NOW - 1_000_000 } as const
const UNSENT = { ...SENT, unsentAttempts: 1 }
const KNOWN = { ...SENT, isAccepted: true, unknownSince: NOW - 900_000 }
const PROVEN = {
  attempts: 1,
  lastAttemptAt: NOW - 300_000,
  notFoundSince: NOW - 60_000,
  ...reasonFact('no_answer'),
} as const

/** What a single condition more or less decides: the state and the reason afterwards, the cases, and whether the bank is asked. */
const CONDITIONS: readonly (readonly [name: string, RefundIn, RefundInInput, becomes: string])[] = [
  [
    '[refund-in.states.6] what never left is released also where an answer is missing',
    refundAs('PENDING', { facts: { ...UNANSWERED, unsentAttempts: 1, firstAttemptAt: NOW - 1_800_000 } }),
    INPUTS['clock.released'],
    'FAILED',
  ],
  [
    '[refund-in.states.11] what nobody tried to send is refused also where an answer is missing',
    refundAs('PENDING', { facts: { ...reasonFact('no_answer'), unknownSince: NOW - 1_000_000 } }),
    INPUTS['operator.refused'],
    'FAILED',
  ],
  [
    '[refund-in.states.11] what was claimed is not refused, though nothing of it left',
    refundAs('PENDING', { facts: UNSENT }),
    INPUTS['operator.refused'],
    'IGNORED',
  ],
  [
    '[refund-in.states.11] nor is what the bank has, or its statement shows, though nobody sent it',
    refundAs('PENDING', { facts: { isAccepted: true, isShown: true } }),
    INPUTS['operator.refused'],
    'IGNORED',
  ],
  [
    '[refund-in.states.11] nor what an event confirms, though nobody sent it',
    refundAs('PENDING', { facts: reasonFact('not_dispatched') }),
    INPUTS['operator.refused'],
    'IGNORED',
  ],
  [
    '[refund-in.states.11] nor what the bank contradicts',
    refundAs('PENDING', { facts: reasonFact('conflict') }),
    INPUTS['operator.refused'],
    'IGNORED',
  ],
  [
    '[refund-in.unknown.5] a late refusal of an attempt that another one followed, which never left, frees nothing',
    refundAs('PENDING', { facts: { ...SENT, attempts: 2, unsentAttempts: 1 } }),
    INPUTS['send.rejected'],
    'PENDING asks',
  ],
  [
    '[refund-in.unknown.5] nor does it where an answer is missing',
    refundAs('PENDING', { facts: { ...UNANSWERED, attempts: 2 } }),
    INPUTS['send.rejected'],
    'PENDING no_answer asks',
  ],
  [
    '[refund-in.doubt.2] a failure of what was never sent contradicts our records, whether an event or an answer reports it',
    refundAs('PENDING', { facts: {} }),
    INPUTS['partner.failed'],
    'UNEXPECTED',
  ],
  [
    '[refund-in.doubt.2] nor for a missing answer that is not awaited',
    refundAs('PENDING', { facts: reasonFact('no_answer') }),
    UNVERIFIED,
    'IGNORED',
  ],
  [
    '[refund-in.states.8] what the statement shows is not failed by an answer',
    refundAs('PENDING', { facts: { ...SENT, isShown: true } }),
    INPUTS['partner.failed'],
    'IGNORED',
  ],
  [
    '[refund-in.unknown.3] the proof that it never arrived ends a missing answer',
    refundAs('PENDING', { facts: PROVEN }),
    INPUTS['partner.not_found'],
    'FAILED',
  ],
  [
    '[refund-in.states.9] an event’s failure is asked about where an answer is missing',
    refundAs('PENDING', { facts: UNANSWERED }),
    UNVERIFIED,
    'PENDING no_answer asks',
  ],
  [
    '[refund-in.unknown.6] a missing answer about an order that the bank has changes nothing',
    refundAs('PENDING', { facts: KNOWN }),
    INPUTS['send.unknown'],
    'IGNORED',
  ],
  [
    '[refund-in.unknown.6] nor where an answer was missing',
    refundAs('PENDING', { facts: { ...KNOWN, ...reasonFact('no_answer') } }),
    INPUTS['send.unknown'],
    'IGNORED',
  ],
  [
    '[refund-in.unknown.7] «not found» of what the bank has opens no doubt',
    refundAs('PENDING', { facts: KNOWN }),
    INPUTS['partner.not_found'],
    'PENDING',
  ],
  [
    '[refund-in.unknown.1] one more silence leaves a missing answer missing',
    refundAs('PENDING', { facts: UNANSWERED }),
    INPUTS['send.unknown'],
    'PENDING no_answer',
  ],
  [
    '[refund-in.unknown.7] so does «not found»',
    refundAs('PENDING', { facts: UNANSWERED }),
    INPUTS['partner.not_found'],
    'PENDING no_answer',
  ],
  [
    '[refund-in.states.2] what the bank has is not claimed again',
    refundAs('PENDING', { dueAt: NOW, facts: { ...UNSENT, isAccepted: true } }),
    INPUTS['send.claimed'],
    'IGNORED',
  ],
  [
    '[refund-in.states.2] what was tried for 30 minutes is not claimed again',
    refundAs('PENDING', { dueAt: NOW, facts: { ...UNSENT, firstAttemptAt: NOW - 1_800_000 } }),
    INPUTS['send.claimed'],
    'IGNORED',
  ],
  [
    '[refund-in.states.2] what never left is claimed again also where an answer is missing',
    refundAs('PENDING', { dueAt: NOW, facts: { ...UNANSWERED, unsentAttempts: 1 } }),
    INPUTS['send.claimed'],
    'PENDING no_answer',
  ],
  [
    '[refund-in.unknown.2] so is what the bank does once',
    refundAs('PENDING', { facts: UNANSWERED }),
    SENDING_AGAIN,
    'PENDING no_answer',
  ],
  [
    '[refund-in.doubt.1] a contradiction is one also where an answer is missing',
    refundAs('PENDING', { facts: UNANSWERED }),
    INPUTS['send.contradicted'],
    'PENDING conflict send_contradicted asks',
  ],
  [
    '[refund-in.states.10] what the bank has had for a day is a case also where an answer was missing',
    refundAs('PENDING', { facts: { ...KNOWN, ...reasonFact('no_answer'), firstAttemptAt: NOW - 86_400_000 } }),
    INPUTS['clock.overdue'],
    'PENDING no_answer outcome_overdue',
  ],
  [
    '[refund-in.doubt.2] reported once more by an event, what was never sent is asked about',
    refundAs('PENDING', { facts: reasonFact('not_dispatched') }),
    confirmed({}, false),
    'PENDING not_dispatched asks',
  ],
  ['[refund-in.states.7] an event is enough for what was sent', refundAs('PENDING'), confirmed({}, false), 'CONFIRMED'],
  [
    '[refund-in.work.5] about what the bank made by itself there is nothing to ask',
    refundAs('CONFIRMED', { detail: { ...refundAs('CONFIRMED').detail, origin: 'PARTNER' } }),
    INPUTS['work.requested'],
    'IGNORED',
  ],
  [
    '[refund-in.ended.4] an event that it failed is a case then, as there is nobody to ask',
    refundAs('CONFIRMED', { detail: { ...refundAs('CONFIRMED').detail, origin: 'PARTNER' } }),
    UNVERIFIED,
    'CONFIRMED conflict failed_after_confirmation',
  ],
]

for (const [name, before, input, becomes] of CONDITIONS) {
  test(name, () => {
    const { outcome, cases = [] } = decide(before, input)
    const { result, refund } = outcome
    const words = [
      refund.status,
      ...[reasonOf(refund)].filter((reason) => reason !== null),
      ...cases.map(({ kind }) => kind),
      ...(statusQueryOf(refund.facts) === 'requested' ? ['asks'] : []),
    ]
    assert.equal(result === 'APPLIED' ? words.join(' ') : result, becomes)
  })
}

test('[refund-in.states] every situation has its outcome', () => {
  assert.deepEqual(withoutOutcome(SITUATIONS, OUTCOMES), [])
})

/** What the cash-in is told of each journal. */
const COUNTS: Partial<Record<JournalKind, string>> = {
  refund_in_confirmed: 'refund.confirmed',
  refund_in_released: 'refund.released',
  left_unattributed: 'refund.taken',
  left_after_release: 'refund.taken',
}

/** The entries as the ledger's documentation has them: J7, J8, J9 and J9a. */
function journalOf(kind: JournalKind, input: RefundInInput) {
  const left = input.on === 'partner.confirmed' ? input.returned.valueCents : 0n
  const entries: Partial<Record<JournalKind, unknown[][]>> = {
    refund_in_confirmed: [
      ['available', 30_00n, 'REFUND_IN_RELEASE'],
      ['available', -30_00n, 'REFUND_IN'],
      ['reserved', -30_00n, null],
      ['settlement', 30_00n, null],
    ],
    refund_in_released: [
      ['available', 30_00n, 'REFUND_IN_RELEASE'],
      ['reserved', -30_00n, null],
    ],
    left_after_release: [
      ['available', -30_00n, 'CASH_OUT_RESERVE'],
      ['reserved', 30_00n, null],
      ['settlement', 30_00n, null],
      ['suspense_out', -30_00n, null],
    ],
    left_unattributed: [
      ['settlement', left, null],
      ['suspense_out', -left, null],
    ],
  }
  return { kind, reference: left > 0n ? 'D1' : '', entries: entries[kind] }
}

function bodiesOf({ notifications = [] }: Decision<unknown>): string[] {
  return notifications.map(({ operationId, eventType, reference, body }) => {
    assert.deepEqual([operationId, eventType, reference], [REFUND_ID, 'pix_cash_in_reversal', ''])
    return body.toString()
  })
}

/** The bytes, written out: what is signed once is sent for ever. */
function bodyOf(before: RefundIn, input: RefundInInput, status: string): string {
  const isReported = input.on === 'partner.confirmed' || input.on === 'partner.failed'
  const fields = [
    `"id":"${before.detail.cashInId}"`,
    '"correlation_id":"test"',
    '"external_id":"refund-1"',
    `"transaction_id":${isReported ? '"tx-r"' : `"${REFUND_ID}"`}`,
    `"status":"${status}"`,
    '"value_cents":3000',
    '"end_to_end_id":"E1"',
    '"fee_amount_cents":0',
    `"confirmed_at":"${isReported ? '2026-11-21T13:29:59' : '2026-11-21T13:30:00'}.000000000Z"`,
    '"created_at":"2026-11-21T13:29:40.000000000Z"',
  ]
  return `{"event_type":"pix_cash_in_reversal","event":{${fields.join(',')}}}`
}

test('[refund-in.told.1] the id is the cash-in’s, and without a reference of the bank ours distinguishes refunds', () => {
  const [body] = bodiesOf(decide(refundAs('PENDING'), INPUTS['send.rejected']))
  const { event } = JSON.parse(body ?? '')
  assert.equal(event.id, cashInOf('PENDING').id)
  assert.equal(event.transaction_id, REFUND_ID)
})

test('[desk.14] [refund-in.states.10] a return that was decided to be another’s, told again of a refund under way: the bank has it, for at most a day without a case', () => {
  const decided = { ...SENT, returns: { D2: 29_00 }, decidedReturns: { D2: 29_00 } }
  const before = refundAs('PENDING', { facts: decided })
  const told = confirmed({ returnId: 'D2', valueCents: 29_00n })
  const { journals, cases, outcome } = decide(before, told)
  assert.deepEqual([journals, cases, outcome.refund.facts.isAccepted], [[], [], true])
  assertIgnored(outcome.refund, told)
  assertIgnored(before, { ...told, isVerified: false })
  assertIgnored(refundAs('PENDING', { facts: { ...decided, ...reasonFact('no_answer') } }), told)
})

function decide(before: RefundIn, ...inputs: RefundInInput[]) {
  const cashIn = cashInOf(before.status as 'PENDING')
  return decideRefundIn(before, cashIn, inputs, stateOf(), NOW)
}

function assertIgnored(before: RefundIn, input: RefundInInput, result = 'IGNORED'): void {
  const decision = decide(before, input)
  assert.equal(decision.outcome.result, result)
  assert.equal(decision.outcome.refund, before)
  assert.deepEqual(decision.moves ?? [], [])
  assert.deepEqual(decision.journals ?? [], [])
}

const pairs = refundIn.states.flatMap((from) =>
  (Object.keys(INPUTS) as (keyof typeof INPUTS)[])
    .filter((on) => !Object.keys(OUTCOMES).some((name) => name.startsWith(`${from} ${on}`)))
    .map((on) => [from, on] as const),
)

for (const [from, on] of pairs) {
  test(`[engine.1] ${from} ignores ${on} where the table has no row for it`, () => {
    assertIgnored(refundAs(from), INPUTS[on])
  })
}

test('[refund-in.ended.3] the very same confirmation again is nothing new, in whatever state', () => {
  for (const status of refundIn.states) {
    assertIgnored(refundAs(status, { facts: { ...SENT, returns: { D1: 30_00 } } }), confirmed())
  }
})

test('[refund-in.states.7] a time of the bank more than 300 s ahead of ours is not believed', () => {
  assertIgnored(refundAs('PENDING'), confirmed({ occurredAt: NOW + 300_001 }), 'IMPLAUSIBLE')
  assert.equal(decide(refundAs('PENDING'), confirmed({ occurredAt: NOW + 300_000 })).outcome.refund.status, 'CONFIRMED')
})

test('[refund-in.doubt.2] a failure of what was never sent cannot be true', () => {
  assertIgnored(refundAs('PENDING', { facts: {} }), UNVERIFIED, 'UNEXPECTED')
})

test('[refund-in.doubt.2] a refund that we have no record of sending is confirmed only by the bank’s answer to a query', () => {
  const unrecorded = refundAs('PENDING', { dueAt: NOW, facts: reasonFact('not_dispatched') })
  const before = withOpenCases(unrecorded, 'confirmed_without_sending', 'amount_differs')
  assert.equal(nextStep(before, NOW), 'ask')
  const reported = decide(before, confirmed({}, false)).outcome.refund
  assert.deepEqual([reported.status, reported.dueAt], ['PENDING', NOW])
  const proven = decide(before, INPUTS['send.accepted'], confirmed(), INPUTS['work.done'])
  assert.deepEqual([proven.outcome.refund.status, proven.outcome.refund.dueAt], ['CONFIRMED', null])
  assert.deepEqual(proven.closes, ['confirmed_without_sending'])
})

test('[refund-in.doubt.9] [CO-47] what another return of the same payment took is counted there, and not once more', () => {
  const cashIn = cashInOf('PENDING', { returns: { D1: 30_00 } })
  const { cases, journals } = decideRefundIn(refundAs('PENDING'), cashIn, [confirmed()], TAKEN, NOW)
  assert.deepEqual([cases?.map(({ kind }) => kind), journals], [['return_booked_before'], []])
})

test('[refund-in.doubt.3] a return that was reported again after its case is nothing new', () => {
  const before = refundAs('PENDING', { facts: CONTRADICTED })
  const cashIn = cashInOf('PENDING', { returns: { D1: 30_00 } })
  assert.equal(decideRefundIn(before, cashIn, [confirmed()], stateOf(), NOW).outcome.result, 'IGNORED')
})

test('[refund-in.doubt.6] what requires operator action accepts no answer but money, and is neither sent nor released', () => {
  for (const reason of ['conflict', 'not_dispatched'] as const) {
    const before = refundAs('PENDING', {
      dueAt: NOW,
      facts: { ...SENT, ...reasonFact(reason), notFoundSince: NOW - 400_000 },
    })
    assert.equal(nextStep(before, NOW), 'ask')
    for (const on of [
      'send.claimed',
      'send.accepted',
      'send.rejected',
      'send.unknown',
      'send.contradicted',
      'partner.failed',
      'partner.not_found',
      'clock.released',
      'clock.overdue',
    ] as const) {
      assertIgnored(before, INPUTS[on])
    }
    assert.equal(decide(before, INPUTS['work.done']).outcome.refund.dueAt, null)
  }
})

test('[refund-in.states.9] a failure that only an event reports is asked about; the answer frees the money', () => {
  const { refund } = decide(refundAs('PENDING', { dueAt: NOW + 60_000 }), UNVERIFIED).outcome
  assert.deepEqual([refund.status, refund.dueAt, nextStep(refund, NOW)], ['PENDING', NOW, 'ask'])
  assert.equal(decide(refund, INPUTS['partner.failed']).outcome.refund.status, 'FAILED')
})

test('[refund-in.unknown.4] 15 minutes without an outcome make a case, which any clear answer closes', () => {
  const since = (unknownSince: number) => refundAs('PENDING', { facts: { ...SENT, unknownSince } })
  assert.equal(decide(since(NOW - 899_999), INPUTS['send.unknown']).cases?.length, 0)
  const { outcome, cases } = decide(since(NOW - 900_000), INPUTS['send.unknown'])
  assert.deepEqual(
    cases?.map(({ kind }) => kind),
    ['result_missing'],
  )
  const doubted = withOpenCases(outcome.refund, 'result_missing', 'confirmed_unnamed')
  for (const on of ['send.accepted', 'send.rejected', 'partner.confirmed', 'partner.failed'] as const) {
    const { closes, outcome: after } = decide(doubted, INPUTS[on])
    assert.deepEqual(closes, ['result_missing'], on)
    assert.equal(reasonOf(after.refund), null)
  }
  const silent = decide(doubted, INPUTS['send.unknown'])
  assert.deepEqual(silent.cases, [])
  assert.deepEqual(silent.closes, [])
})

test('[refund-in.unknown.2] that an order never arrived is proven by two answers, a minute apart and 5 minutes after it', () => {
  const after = (lastAttemptAt: number, notFoundSince: number, given: RefundInFacts = {}) =>
    refundAs('PENDING', { facts: { attempts: 1, lastAttemptAt, notFoundSince, notFoundAt: notFoundSince, ...given } })
  const statusOf = (before: RefundIn, windowMs: number) =>
    decide(before, { on: 'partner.not_found', windowMs, askedAt: NOW }).outcome.refund
  for (const unproven of [
    after(NOW - 299_999, NOW - 60_000),
    after(NOW - 300_000, NOW - 59_999),
    after(NOW - 300_000, NOW - 60_000, { isAccepted: true }),
  ]) {
    const refund = statusOf(unproven, 0)
    assert.equal(refund.status, 'PENDING')
    assert.equal(nextStep(refund, NOW), 'ask')
  }
  const proven = after(NOW - 300_000, NOW - 60_000)
  assert.equal(statusOf(proven, 0).status, 'FAILED')
  assert.equal(statusOf(proven, 86_400_000).status, 'PENDING', 'it may still be put to the bank again')
  const over = { ...proven, facts: { ...proven.facts, firstAttemptAt: NOW - 86_400_000 } }
  assert.equal(statusOf(over, 86_400_000).status, 'FAILED', 'the bank knows no repeat any more')
})

test('[operator.switch.2] [refund-in.work.4] while the switch is off no refund is claimed for sending, at first or again', () => {
  const orders = [
    [refundAs('PENDING', { dueAt: NOW, facts: {} }), INPUTS['send.claimed']],
    [refundAs('PENDING', { dueAt: NOW }), SENDING_AGAIN],
  ] as const
  for (const [before, input] of orders) {
    for (const enabled of [true, false]) {
      const state = { ...stateOf(), control: () => ({ enabled }) }
      const { outcome } = decideRefundIn(before, cashInOf('PENDING'), [input], state, NOW)
      assert.equal(outcome.result, enabled ? 'APPLIED' : 'IGNORED')
    }
  }
})

test('[refund-in.unknown.2] [CO-42] only what was asked about since the last attempt, and is safe to repeat, is sent again', () => {
  const again = (given: object) => ({ ...SENDING_AGAIN, again: { ...SENDING_AGAIN.again, ...given } })
  assertIgnored(refundAs('PENDING'), again({ askedAt: SENT.lastAttemptAt - 1 }))
  assertIgnored(refundAs('PENDING'), again({ windowMs: NOW - SENT.firstAttemptAt }))
  for (const facts of [
    { ...SENT, isAccepted: true },
    { ...SENT, refusal: REFUSAL },
    { ...SENT, ...reasonFact('conflict') },
  ] as const) {
    assertIgnored(refundAs('PENDING', { facts }), SENDING_AGAIN)
  }
  for (const status of ['CONFIRMED', 'FAILED'] as const) assertIgnored(refundAs(status), SENDING_AGAIN)
})

test('[refund-in.unknown.5] [CO-43] what was refused once is not sent again, whichever attempt it was', () => {
  const twice = refundAs('PENDING', { facts: { ...UNANSWERED, attempts: 2 } })
  assert.equal(decide(twice, SENDING_AGAIN).outcome.refund.facts.attempts, 3)
  for (const attempt of [1, 2]) {
    const { refund } = decide(twice, { ...INPUTS['send.rejected'], attempt }).outcome
    assertIgnored(refund, SENDING_AGAIN)
  }
})

test('[refund-in.unknown.5] [CO-43] [P6] a refusal frees nothing while another attempt may arrive; the proof ends it', () => {
  const facts = { ...SENT, attempts: 2, refusal: REFUSAL, notFoundSince: NOW - 60_000, lastAttemptAt: NOW - 300_000 }
  const { refund } = decide(refundAs('PENDING', { facts }), INPUTS['partner.not_found']).outcome
  assert.deepEqual([refund.status, refund.facts.failureCode], ['FAILED', 'AC07'])
  const unsent = refundAs('PENDING', { facts: { ...SENT, attempts: 2, unsentAttempts: 1 } })
  assert.equal(decide(unsent, { ...INPUTS['send.rejected'], attempt: 2 }).outcome.refund.status, 'FAILED')
})

test('[refund-in.states.10] [CO-41] the case of an overdue outcome closes when the outcome comes', () => {
  const overdue = refundAs('PENDING', { facts: { ...SENT, isAccepted: true, isOverdue: true } })
  const closes = (before: RefundIn, input: RefundInInput) =>
    decide(withOpenCases(before, 'outcome_overdue', 'amount_differs'), input).closes
  for (const input of [confirmed(), INPUTS['partner.failed']]) {
    assert.deepEqual(closes(overdue, input), ['outcome_overdue'])
    assert.deepEqual(closes(refundAs('PENDING'), input), [])
  }
  assert.deepEqual(closes(overdue, INPUTS['work.requested']), [])
  assert.deepEqual(closes(overdue, OTHER_AMOUNT), [])
})

test('[refund-in.doubt.1] [CO-44] a contradiction is asked about at once, and once', () => {
  const lease = { dueAt: NOW + 6_500, facts: { ...SENT, leaseEndsAt: NOW + 6_500 } }
  const reported = decide(refundAs('PENDING', lease), { ...INPUTS['send.contradicted'], transactionId: 'tx-r' })
  assert.deepEqual([reported.outcome.refund.dueAt, reported.outcome.refund.transactionId], [NOW, 'tx-r'])
  const asked = decide(
    reported.outcome.refund,
    INPUTS['work.claimed'],
    INPUTS['send.contradicted'],
    INPUTS['work.done'],
  )
  assert.deepEqual([asked.outcome.refund.dueAt, statusQueryOf(asked.outcome.refund.facts)], [null, null])
})

test('[refund-in.ended.8] [CO-45] a second return of a confirmed refund is booked in suspense and counts as gone', () => {
  const reported = decide(refundAs('CONFIRMED'), confirmed({ returnId: 'D2', valueCents: 7_00n }, false))
  assert.deepEqual(
    reported.journals?.map(({ kind, reference, amounts }) => [kind, reference, amounts.p]),
    [['left_unattributed', 'D2', 7_00n]],
  )
  assert.deepEqual(reported.outcome.cashIn.facts.returns, { D1: 30_00, D2: 7_00 })
  const again = decideRefundIn(
    reported.outcome.refund,
    reported.outcome.cashIn,
    [confirmed({ returnId: 'D2' })],
    stateOf(),
    NOW,
  )
  assert.deepEqual(again.journals, [], 'told again with another amount it is a case only')
})

test('[refund-in.unknown.1] a question that failed says nothing of an order that the bank has', () => {
  assertIgnored(refundAs('PENDING', { facts: { ...SENT, isAccepted: true } }), INPUTS['send.unknown'])
})

test('[refund-in.work.6] only due work can be claimed, and only what is to be sent is claimed for sending', () => {
  assertIgnored(refundAs('PENDING', { dueAt: NOW + 1 }), INPUTS['work.claimed'])
  assertIgnored(refundAs('PENDING'), INPUTS['work.claimed'])
  assertIgnored(refundAs('PENDING', { dueAt: NOW + 1, facts: {} }), INPUTS['send.claimed'])
  assertIgnored(refundAs('PENDING', { dueAt: NOW }), INPUTS['send.claimed'])
  const { refund } = decide(refundAs('PENDING', { dueAt: NOW, facts: {} }), INPUTS['send.claimed']).outcome
  assertIgnored(refund, INPUTS['send.claimed'])
})

test('[refund-in.states.6] what was never sent is released after 30 minutes of trying or 24 hours of waiting', () => {
  const unsent = (firstAttemptAt: number, given: RefundInFacts = {}) =>
    refundAs('PENDING', { facts: { attempts: 2, unsentAttempts: 2, firstAttemptAt, ...given } })
  const waiting = (createdAt: number) => refundAs('PENDING', { createdAt, facts: {} })
  assert.equal(nextStep(unsent(NOW - 1_799_999), NOW), 'send')
  assert.equal(nextStep(unsent(NOW - 1_800_000), NOW), 'release')
  assert.equal(nextStep(waiting(NOW - 86_399_999), NOW), 'send')
  assert.equal(nextStep(waiting(NOW - 86_400_000), NOW), 'release')
  for (const sent of [
    unsent(NOW - 1_800_000, { attempts: 3 }),
    unsent(NOW - 1_800_000, { isAccepted: true }),
    refundAs('PENDING', { createdAt: NOW - 86_400_000 }),
  ]) {
    assertIgnored(sent, INPUTS['clock.released'])
  }
})

test('[refund-in.states.10] an order that the bank has had for a day is a case, once', () => {
  const accepted = (given: RefundInFacts) => refundAs('PENDING', { facts: { ...SENT, isAccepted: true, ...given } })
  const overdue = { firstAttemptAt: NOW - 86_400_000 }
  assert.equal(nextStep(accepted({ firstAttemptAt: NOW - 86_399_999 }), NOW), 'ask')
  assert.equal(nextStep(accepted(overdue), NOW), 'case')
  assert.equal(nextStep(accepted({ ...overdue, isOverdue: true }), NOW), 'ask')
})

test('[refund-in.work.3] the bank is asked about what it has, less and less often; what ended rests', () => {
  const waitOf = (before: RefundIn, at = NOW) => {
    const cashIn = cashInOf(before.status as 'PENDING')
    const { refund } = decideRefundIn({ ...before, dueAt: 1 }, cashIn, [{ on: 'work.done' }], stateOf(), at).outcome
    return refund.dueAt === null ? null : (refund.dueAt - at) / 1_000
  }
  const accepted = refundAs('PENDING', { facts: { ...SENT, isAccepted: true, lastAttemptAt: NOW } })
  assert.deepEqual(
    [0, 60, 300, 900, 3_600].map((seconds) => waitOf(accepted, NOW + seconds * 1_000)),
    [60, 60, 300, 900, 900],
  )
  assert.equal(waitOf(refundAs('PENDING', { facts: {} })), 0)
  assert.equal(waitOf(refundAs('PENDING', { facts: { ...SENT, ...reasonFact('no_answer') } })), 60)
  for (const status of ['CONFIRMED', 'FAILED'] as const) assert.equal(waitOf(refundAs(status)), null)
})

test('[refund-in.states.5] an order that never left is tried again after 1, 2, 4 … s, at most a minute', () => {
  let before = refundAs('PENDING', { facts: {} })
  const waits = Array.from({ length: 8 }, (_, index) => {
    before = decide({ ...before, dueAt: NOW }, INPUTS['send.claimed']).outcome.refund
    before = decide(before, { ...INPUTS['send.not_sent'], attempt: index + 1 }).outcome.refund
    return ((before.dueAt ?? 0) - NOW) / 1_000
  })
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60])
  const late = decide({ ...before, dueAt: NOW + 50_000 }, { ...INPUTS['send.not_sent'], attempt: 3 }).outcome.refund
  assert.equal(late.dueAt, NOW + 50_000, 'a late word does not disturb the lease of the next attempt')
})

test('[refund-in.ended.6] what is there of the money is held again, and no more than the refund', () => {
  const held = (availableCents: bigint, leftCents: bigint) => {
    const decision = decideRefundIn(
      refundAs('FAILED'),
      cashInOf('FAILED'),
      [confirmed({ valueCents: leftCents })],
      stateOf(availableCents),
      NOW,
    )
    assert.deepEqual(decision.exact, ['available'])
    return decision.outcome.refund.facts.heldAgainCents
  }
  assert.equal(held(0n, 30_00n), 0)
  assert.equal(held(10_00n, 30_00n), 10_00)
  assert.equal(held(90_00n, 30_00n), 30_00)
  assert.equal(held(90_00n, 40_00n), 30_00)
  assert.equal(held(90_00n, 20_00n), 20_00)
})

test('[refund-in.returns.4] the payment’s own reference is not taken for the return’s', () => {
  const cashIn = cashInOf('PENDING')
  const reported = cashIn.transactionId as string
  for (const input of [
    { ...INPUTS['send.accepted'], transactionId: reported },
    { ...UNVERIFIED, transactionId: reported },
    { ...confirmed(), transactionId: reported },
  ]) {
    assert.equal(decide(refundAs('PENDING'), input).outcome.refund.transactionId, null)
  }
})

test('[engine.1] the tests of this file know every trigger', () => {
  const isDesk = (on: string) => on === 'doubt.decided' || (on.startsWith('operator.') && on !== 'operator.refused')
  const own = new Set<string>(['create', 'partner.returned', ...refundIn.triggers.filter(isDesk)])
  assert.deepEqual(Object.keys(INPUTS).toSorted(), refundIn.triggers.filter((trigger) => !own.has(trigger)).toSorted())
})

test('[refund-in.states.4] [P5] a refusal counts only of the latest attempt, and not of what the bank has', () => {
  for (const facts of [
    { ...SENT, attempts: 2 },
    { ...SENT, isAccepted: true },
  ]) {
    const { outcome, journals } = decide(refundAs('PENDING', { facts }), INPUTS['send.rejected'])
    assert.deepEqual([outcome.refund.status, outcome.refund.dueAt, journals], ['PENDING', NOW, []])
  }
  const leaseEndsAt = NOW + 5_000
  const facts = { ...SENT, attempts: 2, leaseEndsAt }
  const { outcome } = decide(refundAs('PENDING', { dueAt: leaseEndsAt, facts }), INPUTS['send.rejected'])
  assert.deepEqual([outcome.refund.dueAt, outcome.refund.facts.refusal], [leaseEndsAt, REFUSAL])
})

test('[refund-in.unknown.4] [P8] an order that the bank does not know, and that is not sent again, is a case after 15 minutes', () => {
  const facts = { ...SENT, unknownSince: NOW - 900_000, questions: 9 }
  const { outcome, cases } = decide(refundAs('PENDING', { facts }), INPUTS['partner.not_found'])
  assert.deepEqual([reasonOf(outcome.refund), cases?.[0]?.kind], ['no_answer', 'result_missing'])
})

test('[refund-in.unknown.2] [CO-61] what was tried before the clock was set back is not sent again: its age is unknown', () => {
  const before = refundAs('PENDING')
  const sending = (setBackAt: number) => ({ ...SENDING_AGAIN, again: { ...SENDING_AGAIN.again, setBackAt } })
  assert.equal(decide(before, sending(SENT.firstAttemptAt)).outcome.result, 'IGNORED')
  assert.equal(decide(before, sending(SENT.firstAttemptAt - 1)).outcome.result, 'APPLIED')
})

test('[refund-in.ended.3] [refund-in.doubt.7] a return that was booked here is restated, whichever payment it now names', () => {
  const reported = { ...confirmed({ valueCents: 29_99n }), endToEndId: 'E9' }
  const { cases = [], outcome } = decide(refundAs('CONFIRMED'), reported)
  assert.deepEqual([cases.map(({ kind }) => kind), outcome.result], [['confirmation_restated'], 'APPLIED'])
})

test('[refund-in.unknown.3] [P6] five minutes that a stepping clock made up prove nothing', () => {
  const facts = { ...SENT, lastAttemptAt: NOW - 400_000, notFoundSince: NOW - 61_000, notFoundAt: NOW - 61_000 }
  const asked = (steadySince: number) =>
    decide(refundAs('PENDING', { facts }), { ...INPUTS['partner.not_found'], steadySince }).outcome.refund.status
  assert.deepEqual([asked(NOW - 300_000), asked(NOW - 299_999)], ['FAILED', 'PENDING'])
})

test('[statement.5] [P6] what the statement shows as sent did arrive: a failure frees nothing until it is booked', () => {
  const shown = decide(refundAs('PENDING'), { on: 'work.requested', isShown: true }).outcome.refund
  assert.deepEqual([shown.facts.isAccepted, shown.facts.isShown], [true, true])
  const statusAfter = (refund: RefundIn) => decide(refund, INPUTS['partner.failed']).outcome.refund.status
  assert.deepEqual([statusAfter(shown), statusAfter(refundAs('PENDING'))], ['PENDING', 'FAILED'])
  for (const status of ['CONFIRMED', 'FAILED'] as const) {
    const { facts } = decide(refundAs(status), { on: 'work.requested', isShown: true }).outcome.refund
    assert.deepEqual([facts.isAccepted, facts.isShown], [undefined, undefined], `${status} has its outcome`)
  }
})

test('[refund-in.ended.3] [refund-in.doubt.9] another amount of a return in the books is a case, whoever else has the return', () => {
  const before = refundAs('CONFIRMED', { facts: { returns: { D1: 30_00, D2: 29_00 }, returnId: 'D1' } })
  const told = confirmed({ returnId: 'D2' })
  const { journals, cases } = decideRefundIn(before, cashInOf('CONFIRMED'), [told], TAKEN, NOW)
  assert.deepEqual([journals, cases?.map(({ kind }) => kind)], [[], ['confirmation_restated']])
})
