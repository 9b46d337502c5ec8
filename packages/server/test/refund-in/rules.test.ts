import assert from 'node:assert/strict'
import test from 'node:test'
import { type JournalKind, type RefundInReason, type RefundInStatus, refundIn } from '@pixgate/spec'
import type { CashInFacts } from '../../src/cash-in/cash-in.ts'
import { reasonFact } from '../../src/engine/follow.ts'
import type { State } from '../../src/engine/operation.ts'
import { statusQueryFact, statusQueryOf } from '../../src/operations/attempts.ts'
import { nextStep, planOf } from '../../src/refund-in/facts.ts'
import type { RefundIn, RefundInFacts, RefundInInput, Standing } from '../../src/refund-in/refund-in.ts'
import { decideRefundIn } from '../../src/refund-in/rules.ts'
import { NOW, wentBack } from '../cash-in/situations.ts'
import { withOpenCases } from '../support/open-cases.ts'
import {
  assertEffects,
  inShort,
  operationAfter,
  pairsWithoutRow,
  placeAfter,
  type Row,
  reasonIn,
  statusIn,
  testRows,
  whyOf,
} from '../support/rows.ts'
import { cashInOf, confirmed, INPUTS, REFUND_ID, refundAs, SENT, stateOf, TAKEN } from './situations.ts'

/** Where a refund stands: its state, and the reason of a doubt. `UNSENT`: it is PENDING, and nobody has tried to send it. */
type Place = 'UNSENT' | RefundInStatus | `${RefundInStatus}:${RefundInReason}`

/** A row of a refund, whose cash-in may know something beforehand. */
interface RefundRow extends Row<RefundIn, RefundInInput, Place, Standing['result']> {
  readonly counted?: CashInFacts
}

const OPEN = ['PENDING', 'PENDING:no_answer'] as const
const ANY = ['UNSENT', ...OPEN, 'PENDING:conflict', 'PENDING:not_dispatched', 'CONFIRMED', 'FAILED'] as const

/** When a refund that nobody works on is looked at next: never, where nothing is said here. */
const RESTS: Partial<Readonly<Record<Place, number>>> = {
  UNSENT: NOW,
  PENDING: NOW + 5_000,
  'PENDING:no_answer': NOW + 60_000,
}

const HALF_HOUR = 1_800_000
const DAY = 86_400_000
const DUE = { dueAt: NOW }
const LEASE_ENDS = NOW + 60_000
const LEASED = { dueAt: LEASE_ENDS, facts: { leaseEndsAt: LEASE_ENDS } }
/** A status query is requested. */
const WANTED = statusQueryFact('requested')
/** The bank’s answer came. */
const ANSWERED = { unknownSince: null }
const TX = { transactionId: 'tx-r' }
const CLAIM = INPUTS['send.claimed']
/** The bank was asked just now, and is one that does once what it is told twice. */
const SENDING_AGAIN = { ...CLAIM, again: { askedAt: NOW, windowMs: DAY } } as const
const CLAIMED = { lastAttemptAt: NOW, leaseEndsAt: LEASE_ENDS, notFoundSince: null, notFoundAt: null }
const UNSENT = { ...SENT, unsentAttempts: 1 }
const LONG_UNSENT = { ...UNSENT, firstAttemptAt: NOW - HALF_HOUR }
const REJECTED = INPUTS['send.rejected']
const REFUSAL = { errorCode: 'AC07', errorMessage: 'account closed' }
const FAILED = INPUTS['partner.failed']
const EVENT_FAILURE = { ...FAILED, isVerified: false }
const CONTRADICTED = { ...INPUTS['send.contradicted'], ...TX }
const LONG_UNKNOWN = { unknownSince: NOW - 900_000, questions: 17 }
const ABSENT = { notFoundSince: NOW, notFoundAt: NOW }
/** The bank did not know it a minute ago, and five minutes after the attempt. */
const PROVEN = { lastAttemptAt: NOW - 300_000, notFoundSince: NOW - 60_000 }
const HAD = { isAccepted: true, firstAttemptAt: NOW - DAY }
const D2 = confirmed({ returnId: 'D2' })
const OTHER_AMOUNT = confirmed({ valueCents: 29_99n })
const OF_ANOTHER = { ...confirmed({ returnId: 'D2' }, false), endToEndId: 'E9' }
const BY_THE_BANK = { detail: { ...refundAs('CONFIRMED').detail, origin: 'PARTNER' } } as const

/** The amount is free again. */
function ended(failureCode: string, failureReason: string | null = null) {
  const learns = { failureCode, failureReason, ...ANSWERED }
  return { to: 'FAILED', posts: 'refund_in_released', emits: 'pix_cash_in_reversal', learns } as const
}
const CONFIRMED = {
  to: 'CONFIRMED',
  posts: 'refund_in_confirmed',
  emits: 'pix_cash_in_reversal',
  ids: TX,
  learns: { returns: { D1: 30_00 }, returnId: 'D1', confirmedAt: NOW - 1_000, ...ANSWERED },
} as const

/** A case about a return, and one whose money is in suspense besides. */
function caseAbout(valueCents = 30_00, returnId = 'D1', isVerified = true) {
  return { ids: TX, evidence: { returnId, valueCents, occurredAt: NOW - 1_000, isVerified } } as const
}
function left(valueCents = 30_00) {
  return {
    to: 'same:conflict',
    posts: 'left_unattributed',
    learns: { returns: { D1: valueCents } },
    ...caseAbout(valueCents),
  } as const
}
const LEFT_AGAIN = { ...left(), ...caseAbout(30_00, 'D2'), learns: { returns: { D1: 30_00, D2: 30_00 } } }

/** What must come of each input, written by hand: nothing here is read from the table of the machine. */
// biome-ignore format: one expectation a row
const ROWS: readonly RefundRow[] = [
  // Work.
  { rule: 'refund-in.work.1', from: ANY, input: INPUTS['work.requested'], to: 'same', learns: WANTED, dueAt: NOW },
  { rule: 'statement.5', from: ['UNSENT', ...OPEN], input: { on: 'work.requested', isShown: true }, to: 'same', learns: { isAccepted: true, isShown: true, ...WANTED }, dueAt: NOW },
  { rule: 'statement.5', from: OPEN, before: { facts: { isShown: true } }, input: { on: 'work.requested', isShown: false }, to: 'same', learns: { isShown: false, ...WANTED }, dueAt: NOW },
  { rule: 'statement.5', from: ['UNSENT', ...OPEN, 'CONFIRMED', 'FAILED'], input: { on: 'work.requested', isShown: false }, to: 'ignored' },
  { rule: 'statement.5', from: ['CONFIRMED', 'FAILED'], input: { on: 'work.requested', isShown: true }, to: 'same', learns: WANTED, dueAt: NOW },
  { rule: 'refund-in.work.5', from: ['CONFIRMED'], before: BY_THE_BANK, input: INPUTS['work.requested'], to: 'ignored' },
  { rule: 'refund-in.work.6', from: ANY, before: DUE, input: INPUTS['work.claimed'], to: 'same', learns: { leaseEndsAt: LEASE_ENDS }, dueAt: LEASE_ENDS },
  { rule: 'refund-in.work.6', from: ANY, before: { dueAt: NOW + 1 }, input: INPUTS['work.claimed'], to: 'ignored' },
  { rule: 'refund-in.work.7', from: ANY, before: { dueAt: NOW + 30_000 }, input: INPUTS['work.done'], to: 'same' },

  // Sending.
  { rule: 'refund-in.states.2', from: ['UNSENT'], before: DUE, input: CLAIM, to: 'same', learns: { attempts: 1, firstAttemptAt: NOW, ...CLAIMED }, dueAt: LEASE_ENDS },
  { rule: 'refund-in.states.2', from: OPEN, before: { ...DUE, facts: UNSENT }, input: CLAIM, to: 'same', learns: { attempts: 2, ...CLAIMED }, dueAt: LEASE_ENDS },
  { rule: 'refund-in.unknown.2', from: OPEN, input: SENDING_AGAIN, to: 'same', learns: { attempts: 2, ...CLAIMED }, dueAt: LEASE_ENDS },
  { rule: 'refund-in.unknown.2', from: ['PENDING:conflict', 'CONFIRMED', 'FAILED'], input: SENDING_AGAIN, to: 'ignored' },
  { rule: 'refund-in.states.3', from: OPEN, input: INPUTS['send.accepted'], to: 'PENDING', ids: TX, learns: { isAccepted: true, ...ANSWERED }, dueAt: NOW + 10_000 },
  { rule: 'refund-in.states.3', from: ['PENDING'], before: { ...TX, facts: { isAccepted: true } }, input: INPUTS['send.accepted'], to: 'ignored' },
  { rule: 'refund-in.states.5', from: OPEN, input: INPUTS['send.not_sent'], to: 'same', learns: { unsentAttempts: 1 }, dueAt: NOW + 1_000 },
  { rule: 'refund-in.states.5', from: OPEN, before: { ...LEASED, facts: { attempts: 2 } }, input: INPUTS['send.not_sent'], to: 'same', learns: { unsentAttempts: 1 }, dueAt: LEASE_ENDS },
  { rule: 'refund-in.states.5', from: ['PENDING:conflict', 'PENDING:not_dispatched'], before: { dueAt: NOW + 9 }, input: INPUTS['send.not_sent'], to: 'same', learns: { unsentAttempts: 1 }, dueAt: NOW + 9 },
  { rule: 'refund-in.doubt.1', from: OPEN, input: CONTRADICTED, to: 'PENDING:conflict', opens: 'outcome_unknown', ids: TX, learns: WANTED, dueAt: NOW, evidence: { reason: 'other id', transactionId: 'tx-r' } },

  // An outcome is missing.
  { rule: 'refund-in.unknown.1', from: ['PENDING'], input: INPUTS['send.unknown'], to: 'same', learns: { questions: 1, unknownSince: NOW } },
  { rule: 'refund-in.unknown.1', from: ['PENDING:no_answer'], input: INPUTS['send.unknown'], to: 'same', learns: { questions: 3 } },
  { rule: 'refund-in.unknown.4', from: ['PENDING'], before: { facts: LONG_UNKNOWN }, input: INPUTS['send.unknown'], to: 'PENDING:no_answer', opens: 'outcome_unknown', learns: { questions: 18 } },
  { rule: 'refund-in.unknown.4', from: ['PENDING'], before: { facts: LONG_UNKNOWN }, input: INPUTS['partner.not_found'], to: 'PENDING:no_answer', opens: 'outcome_unknown', learns: { questions: 18, ...ABSENT } },
  { rule: 'refund-in.unknown.6', from: OPEN, before: { facts: { ...LONG_UNKNOWN, isAccepted: true } }, input: INPUTS['send.unknown'], to: 'ignored' },
  { rule: 'refund-in.unknown.7', from: ['PENDING'], input: INPUTS['partner.not_found'], to: 'same', learns: { questions: 1, unknownSince: NOW, ...ABSENT } },
  { rule: 'refund-in.unknown.7', from: ['PENDING:no_answer'], input: INPUTS['partner.not_found'], to: 'same', learns: { questions: 3, ...ABSENT } },
  { rule: 'refund-in.states.10', from: OPEN, before: { facts: HAD }, input: INPUTS['clock.overdue'], to: 'same', opens: 'outcome_unknown', learns: { isOverdue: true }, dueAt: NOW },

  // The amount is given back, or a failure frees nothing.
  { rule: 'refund-in.states.4', from: OPEN, input: REJECTED, ...ended('AC07', 'account closed') },
  { rule: 'refund-in.unknown.5', from: OPEN, before: { facts: { attempts: 2 } }, input: { ...REJECTED, attempt: 2 }, to: 'same', learns: { refusal: REFUSAL, ...WANTED }, dueAt: NOW },
  { rule: 'refund-in.unknown.5', from: OPEN, before: { facts: { attempts: 2, unsentAttempts: 1 } }, input: REJECTED, to: 'same', learns: { refusal: REFUSAL, ...WANTED }, dueAt: NOW },
  { rule: 'refund-in.unknown.5', from: OPEN, before: { facts: { isAccepted: true } }, input: REJECTED, to: 'same', learns: WANTED, dueAt: NOW },
  { rule: 'refund-in.unknown.5', from: OPEN, before: { ...LEASED, facts: { ...LEASED.facts, attempts: 2 } }, input: REJECTED, to: 'same', learns: { refusal: REFUSAL, ...WANTED }, dueAt: LEASE_ENDS },
  { rule: 'refund-in.states.6', from: OPEN, before: { facts: LONG_UNSENT }, input: INPUTS['clock.released'], ...ended('never_sent') },
  { rule: 'refund-in.states.6', from: ['UNSENT'], before: { createdAt: NOW - DAY }, input: INPUTS['clock.released'], ...ended('never_sent') },
  { rule: 'refund-in.states.8', from: OPEN, input: FAILED, ...ended('AC07', 'account closed'), ids: TX },
  { rule: 'refund-in.states.8', from: ['PENDING'], before: { facts: { isShown: true } }, input: FAILED, to: 'ignored' },
  { rule: 'refund-in.states.9', from: OPEN, input: EVENT_FAILURE, to: 'same', ids: TX, learns: WANTED, dueAt: NOW },
  { rule: 'refund-in.states.9', from: ['CONFIRMED'], input: EVENT_FAILURE, to: 'same', ids: TX, learns: WANTED, dueAt: NOW },
  { rule: 'refund-in.doubt.2', from: ['UNSENT'], input: FAILED, to: 'ignored', result: 'UNEXPECTED' },
  { rule: 'refund-in.doubt.2', from: ['UNSENT'], input: EVENT_FAILURE, to: 'ignored', result: 'UNEXPECTED' },
  { rule: 'refund-in.doubt.2', from: ['UNSENT'], before: { facts: reasonFact('no_answer') }, input: EVENT_FAILURE, to: 'ignored' },
  { rule: 'refund-in.unknown.3', from: OPEN, before: { facts: PROVEN }, input: INPUTS['partner.not_found'], ...ended('not_found'), learns: { notFoundAt: NOW, ...ended('not_found').learns } },
  { rule: 'refund-in.unknown.3', from: OPEN, before: { facts: { ...PROVEN, attempts: 2, refusal: REFUSAL } }, input: INPUTS['partner.not_found'], ...ended('AC07', 'account closed'), learns: { notFoundAt: NOW, ...ended('AC07', 'account closed').learns } },
  { rule: 'refund-in.states.11', from: ['UNSENT'], input: INPUTS['operator.refused'], ...ended('refused_by_operator') },
  { rule: 'refund-in.states.11', from: OPEN, before: { facts: UNSENT }, input: INPUTS['operator.refused'], to: 'ignored' },

  // Money that left.
  { rule: 'refund-in.states.7', from: ['UNSENT', ...OPEN, 'PENDING:not_dispatched'], input: confirmed(), ...CONFIRMED },
  { rule: 'refund-in.states.7', from: OPEN, input: confirmed({}, false), ...CONFIRMED },
  { rule: 'refund-in.ended.3', from: ANY, before: { facts: { returns: { D1: 30_00 } } }, input: confirmed(), to: 'ignored' },
  { rule: 'refund-in.ended.3', from: ['CONFIRMED'], input: OTHER_AMOUNT, to: 'same:conflict', opens: 'bank_contradicts', ...caseAbout(29_99) },
  { rule: 'refund-in.ended.3', from: ['CONFIRMED'], input: OTHER_AMOUNT, state: TAKEN, to: 'same:conflict', opens: 'bank_contradicts', ...caseAbout(29_99) },
  { rule: 'refund-in.doubt.2', from: ['UNSENT'], input: confirmed({}, false), to: 'PENDING:not_dispatched', opens: 'outcome_unknown', learns: WANTED, dueAt: NOW, ...caseAbout(30_00, 'D1', false) },
  { rule: 'refund-in.doubt.2', from: ['PENDING:not_dispatched'], input: confirmed({}, false), to: 'same', ids: TX, learns: WANTED, dueAt: NOW },
  { rule: 'refund-in.doubt.3', from: [...OPEN, 'FAILED'], counted: { returns: wentBack({ D1: 30_00 }) }, input: confirmed(), to: 'same:conflict', opens: 'bank_contradicts', ...caseAbout() },
  { rule: 'refund-in.doubt.3', from: ['CONFIRMED'], counted: { returns: wentBack({ D1: 30_00, D2: 30_00 }) }, input: D2, to: 'same:conflict', opens: 'bank_contradicts', ...caseAbout(30_00, 'D2') },
  { rule: 'refund-in.doubt.3', from: ['PENDING:conflict'], counted: { returns: wentBack({ D1: 30_00 }) }, input: confirmed(), to: 'ignored' },
  { rule: 'refund-in.doubt.4', from: OPEN, input: OTHER_AMOUNT, opens: 'debit_in_suspense', ...left(29_99) },
  { rule: 'refund-in.doubt.5', from: ['PENDING:conflict'], input: confirmed(), opens: 'debit_in_suspense', ...left() },
  { rule: 'refund-in.doubt.7', from: ANY, input: OF_ANOTHER, to: 'same', result: 'DISPUTED', learns: WANTED, dueAt: NOW },
  { rule: 'refund-in.doubt.8', from: OPEN, input: { ...confirmed(), isUnnamed: true }, opens: 'debit_in_suspense', ...left(), learns: { returns: { D1: 30_00 }, unnamedReturnId: 'D1' } },
  { rule: 'refund-in.doubt.9', from: ['UNSENT', ...OPEN, 'PENDING:conflict', 'FAILED'], input: confirmed(), state: TAKEN, to: 'same:conflict', opens: 'movement_elsewhere', ...caseAbout(), learns: { elsewhere: { D1: 30_00 } } },
  { rule: 'refund-in.doubt.9', from: ['PENDING:no_answer', 'PENDING:conflict', 'PENDING:not_dispatched', 'FAILED'], before: { facts: { elsewhere: { D1: 30_00 } } }, input: confirmed(), to: 'ignored' },
  { rule: 'refund-in.doubt.9', from: ['CONFIRMED'], input: D2, state: TAKEN, to: 'same:conflict', opens: 'movement_elsewhere', ...caseAbout(30_00, 'D2'), learns: { elsewhere: { D2: 30_00 } } },
  { rule: 'refund-in.ended.8', from: ['CONFIRMED'], input: D2, opens: 'debit_in_suspense', ...LEFT_AGAIN },
  { rule: 'refund-in.ended.6', from: ['FAILED'], input: confirmed(), opens: 'debit_in_suspense', ...left(), posts: 'left_after_release', learns: { returns: { D1: 30_00 }, heldAgainCents: 30_00 } },
  { rule: 'refund-in.ended.7', from: ['FAILED'], before: { facts: { heldAgainCents: 30_00 } }, input: confirmed(), opens: 'debit_in_suspense', ...left() },

  // Answers after the end.
  { rule: 'refund-in.ended.1', from: ['CONFIRMED'], input: INPUTS['send.accepted'], to: 'same', ids: TX, learns: { isAccepted: true } },
  { rule: 'refund-in.ended.2', from: ['CONFIRMED'], before: { transactionId: 'another' }, input: INPUTS['send.accepted'], to: 'same', opens: 'bank_contradicts', learns: { isAccepted: true }, evidence: TX },
  { rule: 'refund-in.ended.2', from: ['CONFIRMED'], input: REJECTED, to: 'same', opens: 'bank_contradicts', evidence: REFUSAL },
  { rule: 'refund-in.ended.2', from: ['CONFIRMED'], input: CONTRADICTED, to: 'same', opens: 'bank_contradicts', ids: TX, evidence: { reason: 'other id', transactionId: 'tx-r' } },
  { rule: 'refund-in.ended.2', from: ['CONFIRMED'], input: INPUTS['partner.not_found'], to: 'same', opens: 'bank_contradicts', learns: ABSENT },
  { rule: 'refund-in.ended.4', from: ['CONFIRMED'], input: FAILED, to: 'same:conflict', opens: 'bank_contradicts', ids: TX, evidence: { ...REFUSAL, isVerified: true } },
  { rule: 'refund-in.ended.4', from: ['CONFIRMED'], before: BY_THE_BANK, input: EVENT_FAILURE, to: 'same:conflict', opens: 'bank_contradicts', ids: TX, evidence: { ...REFUSAL, isVerified: false } },
  { rule: 'refund-in.ended.5', from: ['FAILED'], input: INPUTS['send.accepted'], to: 'same', opens: 'bank_contradicts', ids: TX, learns: { isAccepted: true }, evidence: TX },
  { rule: 'refund-in.ended.5', from: ['FAILED'], input: CONTRADICTED, to: 'same', opens: 'bank_contradicts', ids: TX, evidence: { reason: 'other id', transactionId: 'tx-r' } },
]

testRows(ROWS, (row, place) => {
  const { input, posts } = row
  const before = withOpenCases(at(place, row.before), 'outcome_unknown', 'debit_in_suspense')
  const cashIn = cashInOf(before.status, row.counted)
  const decision = decideRefundIn(before, cashIn, [input], row.state ?? stateOf(), NOW)
  if (row.to === 'ignored') {
    assertNothing(decision, before, row.result)
    return
  }
  const standing = place === 'UNSENT' ? 'PENDING' : place
  const status = statusOf(placeAfter<Place>(row, standing))
  assert.equal(decision.outcome.result, row.result ?? 'APPLIED')
  assert.deepEqual(decision.outcome.refund, {
    ...operationAfter(row, before, standing, NOW),
    dueAt: row.dueAt === undefined ? (RESTS[placeAfter(row, place)] ?? null) : row.dueAt,
    plan: planOf(decision.outcome.refund, NOW),
  })
  const reference = input.on === 'partner.confirmed' ? input.returned.returnId : ''
  const notification = { status, reference: '', body: bodyOf(before, input, status, decision.outcome.refund) }
  assertEffects({ ...row, reference }, standing, decision, posts && entriesOf(posts, input), notification)
  const names = status === 'PENDING' && before.transactionId === null && row.ids !== undefined
  assertCounted(row, names, cashIn, decision)
})

/** What the cash-in is told of each journal. */
const COUNTS: Partial<Record<JournalKind, string>> = {
  refund_in_confirmed: 'refund.confirmed',
  refund_in_released: 'refund.released',
  left_unattributed: 'refund.taken',
  left_after_release: 'refund.taken',
}

/** The cash-in counts along: what went back, what is free again, and by which reference the bank knows the refund. */
function assertCounted(
  { input, posts }: RefundRow,
  names: boolean,
  cashIn: Standing['holder'],
  { outcome, moves = [] }: ReturnType<typeof decideRefundIn>,
) {
  const told = [...(posts ? [COUNTS[posts]] : []), ...(names ? ['refund.named'] : [])]
  assert.deepEqual(moves.map(({ trigger }) => trigger).sort(), [input.on, ...told].sort())
  const isEnded = posts === 'refund_in_confirmed' || posts === 'refund_in_released'
  const went =
    input.on === 'partner.confirmed' && posts ? { [input.returned.returnId]: Number(input.returned.valueCents) } : null
  assert.deepEqual(outcome.holder.facts, {
    ...cashIn.facts,
    ...(names ? { openRefunds: { [REFUND_ID]: { valueCents: 30_00, transactionId: 'tx-r' } } } : {}),
    ...(isEnded ? { refundsOpenCents: 0, openRefunds: {} } : {}),
    ...(went ? { returns: { ...cashIn.facts.returns, ...wentBack(went) } } : {}),
  })
}

/** A refund in a place. */
function at(place: Place, given: Partial<RefundIn> = {}): RefundIn {
  const refund = refundAs(statusOf(place), given)
  const reason = reasonIn(place)
  const missing = { unknownSince: NOW - 1_000_000, questions: 2 }
  const facts = {
    ...(place === 'UNSENT' || reason === 'not_dispatched' ? {} : refundAs(statusOf(place)).facts),
    ...(reason === null ? {} : reasonFact(reason)),
    ...(reason === 'no_answer' ? missing : {}),
  }
  return { ...refund, facts: { ...facts, ...given.facts } }
}

function statusOf(place: Place): RefundInStatus {
  return place === 'UNSENT' ? 'PENDING' : statusIn(place)
}

/** The entries as the ledger’s documentation has them: J7, J8, J9 and J9a. */
function entriesOf(posts: JournalKind, input: RefundInInput): readonly string[] | undefined {
  const moved = input.on === 'partner.confirmed' ? input.returned.valueCents : 0n
  const entries: Partial<Record<JournalKind, readonly string[]>> = {
    refund_in_confirmed: [
      'available 3000 REFUND_IN_RELEASE',
      'available -3000 REFUND_IN',
      'reserved -3000',
      'settlement 3000',
    ],
    refund_in_released: ['available 3000 REFUND_IN_RELEASE', 'reserved -3000'],
    left_after_release: ['available -3000 CASH_OUT_RESERVE', 'reserved 3000', 'settlement 3000', 'suspense_out -3000'],
    left_unattributed: [`settlement ${moved}`, `suspense_out -${moved}`],
  }
  return entries[posts]
}

/**
 * The bytes of a notification, written out: what is signed once is sent for ever. The id is the cash-in’s, and without a
 * reference of the bank ours distinguishes refunds.
 */
function bodyOf({ detail, createdAt }: RefundIn, input: RefundInInput, status: string, { facts }: RefundIn): string {
  const isReported = input.on === 'partner.confirmed' || input.on === 'partner.failed'
  const [seconds, reference] = isReported ? ['29:59', 'tx-r'] : ['30:00', REFUND_ID]
  return (
    `{"event_type":"pix_cash_in_reversal","event":{"id":"${detail.cashInId}","correlation_id":"test","external_id":"refund-1",` +
    `"transaction_id":"${reference}","status":"${status}","value_cents":3000,"end_to_end_id":"E1","fee_amount_cents":0,` +
    `"confirmed_at":"2026-11-21T13:${seconds}.000000000Z","created_at":"${new Date(createdAt).toISOString().replace('Z', '000000Z')}"${whyOf(status, facts)}}}`
  )
}

test('[refund-in.states] [engine.1] [refund-in.doubt.6] what no row above is about changes nothing', () => {
  const places = ANY.filter((place) => place !== 'UNSENT')
  for (const [place, input] of pairsWithoutRow(places, INPUTS, ROWS))
    assertNothing(decide(at(place, DUE), input), at(place, DUE))
})

function decide(before: RefundIn, ...inputs: readonly RefundInInput[]) {
  return decideRefundIn(before, cashInOf(before.status), inputs, stateOf(), NOW)
}

/** The refund after some inputs, all at the same time. */
function after(before: RefundIn, ...inputs: readonly RefundInInput[]): RefundIn {
  return decide(before, ...inputs).outcome.refund
}

function assertNothing(
  { outcome, moves = [], journals = [], cases = [] }: ReturnType<typeof decideRefundIn>,
  before: RefundIn,
  result = 'IGNORED',
) {
  assert.deepEqual([outcome.result, outcome.refund], [result, before])
  assert.deepEqual([moves, journals, cases], [[], [], []])
}

const again = (given: object) => ({ ...SENDING_AGAIN, again: { ...SENDING_AGAIN.again, ...given } })
const tried = (given: RefundInFacts) => ({ ...DUE, facts: { ...LONG_UNSENT, ...given } })
const proven = (given: RefundInFacts = {}) => ({ facts: { ...PROVEN, ...given } })
const NOT_FOUND = INPUTS['partner.not_found']
const DECIDED = { returns: { D2: 29_00 }, decidedReturns: { D2: 29_00 } }
const ANOTHERS = confirmed({ returnId: 'D2', valueCents: 29_00n })

/** What a single condition more or less decides, in short. */
// biome-ignore format: one condition a line
const CONDITIONS: readonly (readonly [name: string, before: RefundIn, input: RefundInInput, becomes: string, State?])[] = [
  // Sending.
  ['[refund-in.states.2] what is not due is not claimed', at('UNSENT', { dueAt: NOW + 1 }), CLAIM, 'IGNORED'],
  ['[refund-in.states.2] nor what may have left', at('PENDING', DUE), CLAIM, 'IGNORED'],
  ['[refund-in.states.2] nor what the bank has', at('PENDING', { ...DUE, facts: { ...UNSENT, isAccepted: true } }), CLAIM, 'IGNORED'],
  ['[refund-in.states.2] nor what was tried for 30 minutes', at('PENDING', tried({})), CLAIM, 'IGNORED'],
  ['[operator.switch.2] [refund-in.work.4] nor while the switch is off, at first', at('UNSENT', DUE), CLAIM, 'IGNORED', { ...stateOf(), control: () => ({ enabled: false }) }],
  ['[operator.switch.2] [refund-in.work.4] or again', at('PENDING'), SENDING_AGAIN, 'IGNORED', { ...stateOf(), control: () => ({ enabled: false }) }],
  ['[refund-in.unknown.2] [CO-42] only what was asked about since the last attempt is sent again', at('PENDING'), again({ askedAt: SENT.lastAttemptAt - 1 }), 'IGNORED'],
  ['[refund-in.unknown.2] while the bank knows a repeat', at('PENDING'), again({ windowMs: NOW - SENT.firstAttemptAt }), 'IGNORED'],
  ['[refund-in.unknown.2] [CO-61] what was tried before the clock was set back is not: its age is unknown', at('PENDING'), again({ setBackAt: SENT.firstAttemptAt }), 'IGNORED'],
  ['[refund-in.unknown.2] [CO-61] what was tried after that is', at('PENDING'), again({ setBackAt: SENT.firstAttemptAt - 1 }), 'PENDING'],
  ['[refund-in.unknown.2] what the bank has is not sent again', at('PENDING', { facts: { isAccepted: true } }), SENDING_AGAIN, 'IGNORED'],
  ['[refund-in.unknown.5] [CO-43] nor what was refused once, whichever attempt it was', at('PENDING', { facts: { attempts: 2, refusal: REFUSAL } }), SENDING_AGAIN, 'IGNORED'],

  // The amount is given back.
  ['[refund-in.states.6] what waited for less than 24 hours is not given back', at('UNSENT', { createdAt: NOW - DAY + 1 }), INPUTS['clock.released'], 'IGNORED'],
  ['[refund-in.states.6] nor what may have left', at('PENDING', { createdAt: NOW - DAY, ...tried({ attempts: 2 }) }), INPUTS['clock.released'], 'IGNORED'],
  ['[refund-in.states.6] nor what the bank has', at('PENDING', tried({ isAccepted: true })), INPUTS['clock.released'], 'IGNORED'],
  ['[refund-in.states.4] [P5] a refusal is definite where the attempts before it are proven not to have left', at('PENDING', { facts: { attempts: 2, unsentAttempts: 1 } }), { ...REJECTED, attempt: 2 }, 'FAILED refund_in_released'],
  ['[refund-in.states.11] what nobody tried to send is refused also where an answer is missing', at('UNSENT', { facts: reasonFact('no_answer') }), INPUTS['operator.refused'], 'FAILED refund_in_released'],
  ['[refund-in.states.11] what the bank has, or its statement shows, is not', at('UNSENT', { facts: { isAccepted: true, isShown: true } }), INPUTS['operator.refused'], 'IGNORED'],
  ['[refund-in.states.11] nor what the bank contradicts', at('UNSENT', { facts: reasonFact('conflict') }), INPUTS['operator.refused'], 'IGNORED'],
  ['[refund-in.states.9] the answer to the question frees what an event reported as failed', after(at('PENDING'), EVENT_FAILURE), FAILED, 'FAILED refund_in_released asks'],

  // The proof that it never arrived.
  ['[refund-in.unknown.3] «not found» proves nothing less than a minute after it was said first', at('PENDING', proven({ notFoundSince: NOW - 59_999 })), NOT_FOUND, 'PENDING'],
  ['[refund-in.unknown.3] nor less than five minutes after the attempt', at('PENDING', proven({ lastAttemptAt: NOW - 299_999 })), NOT_FOUND, 'PENDING'],
  ['[refund-in.unknown.3] nor of what the bank had', at('PENDING', proven({ isAccepted: true })), NOT_FOUND, 'PENDING'],
  ['[refund-in.unknown.3] nor while the order may be sent again', at('PENDING', proven()), { ...NOT_FOUND, windowMs: DAY }, 'PENDING'],
  ['[refund-in.unknown.3] once the bank knows no repeat any more it does', at('PENDING', proven({ firstAttemptAt: NOW - DAY })), { ...NOT_FOUND, windowMs: DAY }, 'FAILED refund_in_released'],
  ['[refund-in.unknown.3] [P6] five minutes of a clock that did not step prove it', at('PENDING', proven()), { ...NOT_FOUND, steadySince: NOW - 300_000 }, 'FAILED refund_in_released'],
  ['[refund-in.unknown.3] [P6] five minutes that a stepping clock made up do not', at('PENDING', proven()), { ...NOT_FOUND, steadySince: NOW - 299_999 }, 'PENDING'],
  ['[refund-in.unknown.4] [P8] before 15 minutes are over silence makes no case', at('PENDING', { facts: { unknownSince: NOW - 899_999 } }), INPUTS['send.unknown'], 'PENDING'],
  ['[refund-in.unknown.7] «not found» of what the bank has opens no doubt', at('PENDING', { facts: { ...LONG_UNKNOWN, isAccepted: true } }), NOT_FOUND, 'PENDING'],
  ['[refund-in.states.10] what the bank has had for less than a day is no case', at('PENDING', { facts: { ...HAD, firstAttemptAt: NOW - DAY + 1 } }), INPUTS['clock.overdue'], 'IGNORED'],
  ['[refund-in.states.10] nor is it a second time', at('PENDING', { facts: { ...HAD, isOverdue: true } }), INPUTS['clock.overdue'], 'IGNORED'],

  // Money.
  ['[refund-in.states.7] a time of the bank 300 s ahead of ours is believed', at('PENDING'), confirmed({ occurredAt: NOW + 300_000 }), 'CONFIRMED refund_in_confirmed'],
  ['[refund-in.states.7] one that is further ahead is not', at('PENDING'), confirmed({ occurredAt: NOW + 300_001 }), 'IMPLAUSIBLE'],
  ['[refund-in.ended.3] [refund-in.doubt.7] a return that was booked here is restated, whichever payment it now names', at('CONFIRMED'), { ...OTHER_AMOUNT, endToEndId: 'E9' }, 'CONFIRMED conflict bank_contradicts'],
  ['[cases.14] [refund-in.states.10] by a return that was decided to be another’s the bank has the order', at('PENDING', { facts: DECIDED }), ANOTHERS, 'PENDING'],
  ['[cases.14] [refund-in.doubt.9] nor otherwise by one that another operation has', at('PENDING', { facts: { elsewhere: { D2: 29_00 } } }), ANOTHERS, 'PENDING'],
  ['[cases.14] not as an event alone tells it', at('PENDING', { facts: DECIDED }), { ...ANOTHERS, isVerified: false }, 'IGNORED'],
  ['[cases.14] nor where it is known', after(at('PENDING', { facts: DECIDED }), ANOTHERS), ANOTHERS, 'IGNORED'],
  ['[cases.14] nor where a case tells of it', at('PENDING:no_answer', { facts: DECIDED }), ANOTHERS, 'IGNORED'],
]

for (const [name, before, input, becomes, state = stateOf()] of CONDITIONS) {
  test(name, () => {
    const decision = decideRefundIn(before, cashInOf(before.status), [input], state, NOW)
    assert.equal(inShort(decision, decision.outcome.result, decision.outcome.refund), becomes)
  })
}

test('[refund-in.told.1] the id is the cash-in’s, and without a reference of the bank ours distinguishes refunds', () => {
  const [notification] = decide(at('PENDING'), REJECTED).notifications ?? []
  const { id, transaction_id } = JSON.parse(String(notification?.body)).event
  assert.deepEqual([id, transaction_id], [cashInOf('PENDING').id, REFUND_ID])
})

test('[refund-in.work] [refund-in.states.6] [refund-in.states.10] what is due is sent, asked about, given back or made a case', () => {
  const steps = [
    [at('UNSENT', { createdAt: NOW - DAY + 1 }), 'send'],
    [at('UNSENT', { createdAt: NOW - DAY }), 'release'],
    [at('PENDING'), 'ask'],
    [at('PENDING', tried({ firstAttemptAt: NOW - HALF_HOUR + 1 })), 'send'],
    [at('PENDING', tried({})), 'release'],
    [at('PENDING', { facts: HAD }), 'case'],
    [at('PENDING', { facts: { ...HAD, isOverdue: true } }), 'ask'],
    [at('PENDING:conflict', tried({})), 'ask'],
    [at('PENDING:not_dispatched'), 'ask'],
  ] as const
  for (const [refund, step] of steps) assert.equal(nextStep(refund, NOW), step, JSON.stringify(refund.facts))
})

test('[refund-in.doubt.2] a refund that we have no record of sending is confirmed only by the bank’s answer to a query', () => {
  const before = withOpenCases(at('PENDING:not_dispatched', DUE), 'outcome_unknown', 'debit_in_suspense')
  const { outcome, closes } = decide(before, INPUTS['send.accepted'], confirmed(), INPUTS['work.done'])
  assert.deepEqual([outcome.refund.status, outcome.refund.dueAt], ['CONFIRMED', null])
  assert.deepEqual(closes, ['outcome_unknown'])
})

test('[refund-in.doubt.9] [CO-47] what another return of the same payment took is counted there, and not once more', () => {
  const cashIn = cashInOf('PENDING', { returns: wentBack({ D1: 30_00 }) })
  const { cases, journals } = decideRefundIn(at('PENDING'), cashIn, [confirmed()], TAKEN, NOW)
  assert.deepEqual([cases?.map(({ kind }) => kind), journals], [['bank_contradicts'], []])
})

test('[refund-in.doubt.8] one return told without its id and with it is a case, whichever comes first', () => {
  const unnamed = { ...confirmed({ returnId: 'U' }), isUnnamed: true }
  const suspended = after(at('PENDING'), unnamed)
  for (const [before, input] of [
    [suspended, confirmed()],
    [at('CONFIRMED'), unnamed],
  ] as const) {
    const { cases, journals } = decide(before, input)
    assert.deepEqual([cases?.map(({ kind }) => kind), journals], [['bank_contradicts'], []])
  }
})

test('[refund-in.states.10] [CO-41] the case of an overdue outcome closes when the outcome comes', () => {
  const closes = (isOverdue: boolean, input: RefundInInput) =>
    decide(
      withOpenCases(at('PENDING', { facts: { isAccepted: true, isOverdue } }), 'outcome_unknown', 'debit_in_suspense'),
      input,
    ).closes
  for (const input of [confirmed(), FAILED]) {
    assert.deepEqual([closes(true, input), closes(false, input)], [['outcome_unknown'], []])
  }
  for (const input of [INPUTS['work.requested'], OTHER_AMOUNT]) assert.deepEqual(closes(true, input), [])
})

test('[refund-in.doubt.1] [CO-44] a contradiction is asked about at once, and once', () => {
  const reported = after(at('PENDING', LEASED), CONTRADICTED)
  assert.equal(reported.dueAt, NOW)
  const asked = after(reported, INPUTS['work.claimed'], CONTRADICTED, INPUTS['work.done'])
  assert.deepEqual([asked.dueAt, statusQueryOf(asked.facts)], [null, null])
})

test('[refund-in.ended.8] [CO-45] a second return of any amount is booked, and told again with another amount it is a case only', () => {
  const { outcome, journals } = decide(at('CONFIRMED'), confirmed({ returnId: 'D2', valueCents: 7_00n }, false))
  assert.deepEqual(
    journals?.map(({ kind, amounts }) => [kind, amounts.p]),
    [['left_unattributed', 7_00n]],
  )
  assert.deepEqual(outcome.holder.facts.returns, wentBack({ D1: 30_00, D2: 7_00 }))
  assert.deepEqual(decideRefundIn(outcome.refund, outcome.holder, [D2], stateOf(), NOW).journals, [])
})

test('[refund-in.work.3] the bank is queried about what it has after 10, 20, 40 and 60 s, then each minute', () => {
  const accepted = at('PENDING', { facts: { isAccepted: true, lastAttemptAt: NOW }, dueAt: 1 })
  const waits = [0, 10, 20, 40, 60, 3_600].map((seconds) => {
    const now = NOW + seconds * 1_000
    const { outcome } = decideRefundIn(accepted, cashInOf('PENDING'), [INPUTS['work.done']], stateOf(), now)
    return ((outcome.refund.dueAt ?? 0) - now) / 1_000
  })
  assert.deepEqual(waits, [10, 10, 20, 20, 60, 60])
})

test('[refund-in.states.5] an order that never left is tried again after 1, 2, 4 … s, at most a minute', () => {
  let refund = at('UNSENT')
  const waits = Array.from({ length: 8 }, (_, index) => {
    refund = after({ ...refund, dueAt: NOW }, CLAIM, { ...INPUTS['send.not_sent'], attempt: index + 1 })
    return ((refund.dueAt ?? 0) - NOW) / 1_000
  })
  assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60])
})

test('[refund-in.ended.6] what is there of the money is held again, and no more than the refund', () => {
  const held = (availableCents: bigint, valueCents: bigint) => {
    const decision = decideRefundIn(
      at('FAILED'),
      cashInOf('FAILED'),
      [confirmed({ valueCents })],
      stateOf(availableCents),
      NOW,
    )
    assert.deepEqual(decision.exact, ['available'])
    return decision.outcome.refund.facts.heldAgainCents
  }
  assert.deepEqual(
    [held(0n, 30_00n), held(10_00n, 30_00n), held(90_00n, 40_00n), held(90_00n, 20_00n)],
    [0, 10_00, 30_00, 20_00],
  )
})

test('[refund-in.returns.4] the payment’s own reference is not taken for the return’s', () => {
  const transactionId = cashInOf('PENDING').transactionId as string
  for (const input of [INPUTS['send.accepted'], EVENT_FAILURE, confirmed()]) {
    assert.equal(after(at('PENDING'), { ...input, transactionId }).transactionId, null)
  }
})

test('[engine.1] the inputs of this file are those of the table that are no decisions on cases', () => {
  const isOther = (on: string) =>
    on === 'create' || on === 'partner.returned' || on === 'doubt.decided' || on.startsWith('operator.')
  const own = refundIn.triggers.filter((on) => on in INPUTS || !isOther(on))
  assert.deepEqual(Object.keys(INPUTS).sort(), own.sort())
})
