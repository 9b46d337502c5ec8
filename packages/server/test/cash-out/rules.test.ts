import assert from 'node:assert/strict'
import test from 'node:test'
import { type CashOutStatus, cashOut, type JournalKind } from '@pixgate/spec'
import type { CashOut, CashOutFacts, CashOutInput, CashOutOutcome } from '../../src/cash-out/cash-out.ts'
import { nextStep, planOf } from '../../src/cash-out/facts.ts'
import { reasonFact } from '../../src/engine/follow.ts'
import type { State, Step } from '../../src/engine/operation.ts'
import { statusQueryFact, statusQueryOf } from '../../src/operations/attempts.ts'
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
  APPROVER,
  CREATED_AT,
  cashOutAs,
  confirmed,
  decide,
  INPUTS,
  NOW,
  returned,
  SENT,
  SENT_AT,
  stateOf,
} from './situations.ts'

/** Where a payout stands. */
type Place =
  | Exclude<CashOutStatus, 'RECONCILIATION_REQUIRED'>
  | typeof NO_ANSWER
  | typeof CONFLICT
  | typeof NOT_DISPATCHED

const NO_ANSWER = 'RECONCILIATION_REQUIRED:no_answer'
const CONFLICT = 'RECONCILIATION_REQUIRED:conflict'
const NOT_DISPATCHED = 'RECONCILIATION_REQUIRED:not_dispatched'
const AWAITED = ['DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'] as const
const OPEN = [...AWAITED, NO_ANSWER] as const
const GONE = ['CONFIRMED', 'REVERSED'] as const
const GIVEN_BACK = ['FAILED', 'RELEASED'] as const
const DOUBT = [NO_ANSWER, CONFLICT, NOT_DISPATCHED] as const
const NOT_GONE = ['RESERVED', ...AWAITED, ...GIVEN_BACK, ...DOUBT] as const
const ANY = [...NOT_GONE, ...GONE] as const

/** When a payout that nobody works on is looked at next: never, where nothing is said here. */
const RESTS: Partial<Readonly<Record<Place, number>>> = {
  RESERVED: NOW,
  DISPATCHED: NOW + 60_000,
  PROVIDER_RESULT_UNKNOWN: NOW + 15_000,
  [NO_ANSWER]: NOW + 60_000,
}

const HALF_HOUR = 1_800_000
const DAY = 86_400_000
const DUE = { dueAt: NOW }
const LEASE_ENDS = NOW + 60_000
const LEASED = { dueAt: LEASE_ENDS, facts: { leaseEndsAt: LEASE_ENDS } }
/** Another operation has every movement. */
const TAKEN = stateOf({}, {}, () => ({ operationId: 'another', valueCents: 30_00n }))
const OFF = stateOf({}, { cash_out_switch: { enabled: false } })

/** A status query is requested. */
const WANTED = statusQueryFact('requested')
/** The bank’s answer came. */
const ANSWERED = { unknownSince: null }
const TX = { transactionId: 'tx' }
const CLAIM = INPUTS['send.claimed']
/** The bank was asked just now, and is one that does once what it is told twice. */
const SENDING_AGAIN = { ...CLAIM, again: { askedAt: NOW, windowMs: DAY } } as const
const CLAIMED = { lastAttemptAt: NOW, leaseEndsAt: LEASE_ENDS, notFoundSince: null, notFoundAt: null }
const UNSENT = { ...SENT, unsentAttempts: 1 }
const REJECTED = INPUTS['send.rejected']
const REJECTED_AGAIN = { ...REJECTED, attempt: 2 } as const
const REFUSAL = { errorCode: 'limit', errorMessage: 'too much' }
const CONTRADICTION = { reason: 'other valueCents', transactionId: 'tx' }
const LONG_UNKNOWN = { unknownSince: NOW - 900_000, questions: 17 }
const ABSENT = { notFoundSince: NOW, notFoundAt: NOW }
/** The bank did not know it five minutes after the attempt, and more than a minute ago. */
const NOT_FOUND_BEFORE = {
  attempts: 1,
  firstAttemptAt: NOW - 400_000,
  lastAttemptAt: NOW - 400_000,
  notFoundSince: NOW - 60_000,
  notFoundAt: NOW - 30_000,
}
const FOR_GOOD = { on: 'partner.not_found', windowMs: 0, askedAt: NOW } as const
const FAILED = INPUTS['partner.failed']
const EVENT_FAILURE = { ...FAILED, isVerified: false } as const

/** It takes one approval, of somebody else than who made the key. */
const AWAITING = { approval: { wanted: 1, keyMadeBy: 'somebody else', by: [] } } as const
const AWAITING_TWO = { approval: { ...AWAITING.approval, wanted: 2 } } as const
const CODE_CHANGED = { ...INPUTS['operator.approved'], code: null } as const

/** The money is free again. */
function ended(failureCode: string, failureReason: string | null = null) {
  return { failureCode, failureReason, isReleased: true, ...ANSWERED }
}
const FREED = { posts: 'cash_out_released', emits: 'pix_cash_out' } as const

/** The money left: what the bank told of the movement is known. */
const MOVED = {
  movements: { E1: 30_00 },
  confirmedAt: NOW - 1_000,
  partnerFeeCents: null,
  recipientName: 'João Souza',
  recipientDocument: '11144477735',
  recipientIspb: '99999010',
  ...ANSWERED,
}
const CONFIRMED = {
  to: 'CONFIRMED',
  posts: 'cash_out_confirmed',
  emits: 'pix_cash_out',
  ids: { ...TX, endToEndId: 'E1' },
  learns: MOVED,
  reference: 'E1',
} as const

/** A case about a movement, and one whose money is in suspense besides. */
function caseAbout(valueCents = 30_00, endToEndId = 'E1', isVerified = true) {
  const evidence = { endToEndId, valueCents, occurredAt: NOW - 1_000, isElsewhere: false, isVerified }
  return { ids: TX, reference: endToEndId, evidence } as const
}
function left(valueCents = 30_00, endToEndId = 'E1') {
  return {
    to: CONFLICT,
    posts: 'left_unattributed',
    learns: { movements: { [endToEndId]: valueCents } },
    ...caseAbout(valueCents, endToEndId),
  } as const
}
const HELD_AGAIN = {
  ...left(),
  posts: 'left_after_release',
  learns: { movements: { E1: 30_00 }, heldAgainCents: 31_00, isReleased: false },
} as const
const E2 = confirmed({ endToEndId: 'E2' })
const OTHER_AMOUNT = confirmed({ valueCents: 29_00n })

/** The same of a return. */
function back(valueCents = 10_00) {
  return {
    reference: 'D1',
    evidence: { returnId: 'D1', valueCents, occurredAt: NOW - 1_000, isVerified: true },
  } as const
}
function arrived(valueCents = 10_00) {
  return {
    to: CONFLICT,
    posts: 'arrived_unattributed',
    learns: { suspendedReturns: { D1: valueCents } },
    ...back(valueCents),
  } as const
}
const UNNAMED = { ...returned(), isUnnamed: true }
const OF_ANOTHER = { ...returned({}, false), endToEndId: 'E9' }

/** What must come of each input, written by hand: nothing here is read from the table of the machine. */
// biome-ignore format: one expectation a row
const ROWS: readonly Row<CashOut, CashOutInput, Place, CashOutOutcome['result']>[] = [
  // Work.
  { rule: 'cash-out.work.1', from: ANY, input: INPUTS['work.requested'], to: 'same', learns: WANTED, dueAt: NOW },
  { rule: 'statement.5', from: ['RESERVED', ...OPEN], input: { on: 'work.requested', isShown: true }, to: 'same', learns: { isAccepted: true, isShown: true, ...WANTED }, dueAt: NOW },
  { rule: 'statement.5', from: OPEN, before: { facts: { isShown: true } }, input: { on: 'work.requested', isShown: false }, to: 'same', learns: { isShown: false, ...WANTED }, dueAt: NOW },
  { rule: 'statement.5', from: ANY, input: { on: 'work.requested', isShown: false }, to: 'ignored' },
  { rule: 'statement.5', from: [...GONE, ...GIVEN_BACK, CONFLICT, NOT_DISPATCHED], input: { on: 'work.requested', isShown: true }, to: 'same', learns: WANTED, dueAt: NOW },
  { rule: 'cash-out.work.5', from: ANY, before: DUE, input: INPUTS['work.claimed'], to: 'same', learns: { leaseEndsAt: LEASE_ENDS }, dueAt: LEASE_ENDS },
  { rule: 'cash-out.work.2', from: ANY, before: { dueAt: NOW + 1 }, input: INPUTS['work.claimed'], to: 'ignored' },
  { rule: 'cash-out.work.3', from: ANY, before: { dueAt: NOW + 30_000 }, input: INPUTS['work.done'], to: 'same' },
  { rule: 'cash-out.work.3', from: [...GONE, ...GIVEN_BACK, CONFLICT], input: INPUTS['work.done'], to: 'ignored' },
  { rule: 'cash-out.tariff.1', from: ANY, input: INPUTS['partner.tariff'], to: 'same', posts: 'tariff_deducted', learns: { tariffCents: 35 }, dueAt: null },

  // Approval.
  { rule: 'cash-out.approval.7', from: ['RESERVED'], before: { facts: AWAITING }, input: INPUTS['operator.approved'], to: 'same', learns: { approval: { ...AWAITING.approval, by: [APPROVER.actor] }, approvedAt: NOW } },
  { rule: 'cash-out.approval.7', from: ['RESERVED'], before: { facts: AWAITING_TWO }, input: INPUTS['operator.approved'], to: 'same', learns: { approval: { ...AWAITING_TWO.approval, by: [APPROVER.actor] } }, dueAt: CREATED_AT + DAY },
  { rule: 'cash-out.approval.7', from: ['RESERVED'], before: { facts: { ...AWAITING, approvedAt: NOW - 1 } }, input: INPUTS['operator.approved'], to: 'ignored' },
  { rule: 'cash-out.approval.9', from: ['RESERVED'], before: { facts: AWAITING }, input: CODE_CHANGED, to: 'RELEASED', ...FREED, learns: ended('pix_code_changed') },
  { rule: 'cash-out.approval.9', from: ['RESERVED'], input: CODE_CHANGED, to: 'ignored' },
  { rule: 'cash-out.approval.8', from: ['RESERVED'], input: INPUTS['operator.refused'], to: 'RELEASED', ...FREED, learns: ended('refused_by_operator') },
  { rule: 'cash-out.approval.8', from: ['RESERVED'], before: { facts: AWAITING }, input: INPUTS['operator.refused'], to: 'RELEASED', ...FREED, learns: ended('not_approved') },

  // Sending.
  { rule: 'cash-out.states.2', from: ['RESERVED'], before: DUE, input: CLAIM, to: 'DISPATCHED', learns: { attempts: 1, firstAttemptAt: NOW, dispatchedAt: NOW, ...CLAIMED }, dueAt: LEASE_ENDS },
  { rule: 'cash-out.unknown.1', from: OPEN, before: { ...DUE, facts: UNSENT }, input: CLAIM, to: 'same', learns: { attempts: 2, ...CLAIMED }, dueAt: LEASE_ENDS },
  { rule: 'cash-out.unknown.7', from: OPEN, input: SENDING_AGAIN, to: 'same', learns: { attempts: 2, ...CLAIMED }, dueAt: LEASE_ENDS },
  { rule: 'cash-out.unknown.7', from: [...GONE, ...GIVEN_BACK, CONFLICT], input: SENDING_AGAIN, to: 'ignored' },
  { rule: 'cash-out.states.6', from: ['DISPATCHED'], input: INPUTS['send.accepted'], to: 'same', ids: TX, learns: { isAccepted: true, ...ANSWERED } },
  { rule: 'cash-out.states.6', from: ['DISPATCHED', 'FAILED', CONFLICT], before: { ...TX, facts: { isAccepted: true } }, input: INPUTS['send.accepted'], to: 'ignored' },
  { rule: 'cash-out.unknown.2', from: ['PROVIDER_RESULT_UNKNOWN', NO_ANSWER], input: INPUTS['send.accepted'], to: 'DISPATCHED', ids: TX, learns: { isAccepted: true, ...ANSWERED } },
  { rule: 'cash-out.states.8', from: OPEN, input: INPUTS['send.not_sent'], to: 'same', learns: { unsentAttempts: 1 }, dueAt: NOW + 1_000 },
  { rule: 'cash-out.states.8', from: OPEN, before: { ...LEASED, facts: { attempts: 2 } }, input: INPUTS['send.not_sent'], to: 'same', learns: { unsentAttempts: 1 }, dueAt: LEASE_ENDS },
  { rule: 'cash-out.states.9', from: OPEN, input: INPUTS['send.contradicted'], to: CONFLICT, opens: 'outcome_unknown', ids: TX, learns: WANTED, dueAt: NOW, evidence: CONTRADICTION },
  { rule: 'cash-out.states.9', from: ['DISPATCHED'], before: LEASED, input: { ...INPUTS['send.contradicted'], transactionId: null }, to: CONFLICT, opens: 'outcome_unknown', learns: { leaseEndsAt: null, ...WANTED }, dueAt: NOW, evidence: { ...CONTRADICTION, transactionId: null } },

  // An outcome is missing.
  { rule: 'cash-out.unknown.3', from: ['DISPATCHED'], input: INPUTS['send.unknown'], to: 'PROVIDER_RESULT_UNKNOWN', learns: { questions: 1, unknownSince: NOW }, dueAt: NOW + 5_000 },
  { rule: 'cash-out.unknown.3', from: ['PROVIDER_RESULT_UNKNOWN'], input: INPUTS['send.unknown'], to: 'same', learns: { questions: 4 }, dueAt: NOW + 30_000 },
  { rule: 'cash-out.unknown.3', from: [NO_ANSWER], input: INPUTS['send.unknown'], to: 'same', learns: { questions: 21 } },
  { rule: 'cash-out.unknown.9', from: AWAITED, before: { facts: { ...LONG_UNKNOWN, isAccepted: true } }, input: INPUTS['send.unknown'], to: 'ignored' },
  { rule: 'cash-out.unknown.5', from: AWAITED, before: { facts: LONG_UNKNOWN }, input: INPUTS['send.unknown'], to: NO_ANSWER, opens: 'outcome_unknown', learns: { questions: 18 } },
  { rule: 'cash-out.unknown.5', from: AWAITED, before: { facts: LONG_UNKNOWN }, input: INPUTS['partner.not_found'], to: NO_ANSWER, opens: 'outcome_unknown', learns: { questions: 18, ...ABSENT } },
  { rule: 'cash-out.unknown.4', from: ['DISPATCHED', CONFLICT, NOT_DISPATCHED], input: INPUTS['partner.not_found'], to: 'same', learns: { questions: 1, unknownSince: NOW, ...ABSENT } },
  { rule: 'cash-out.unknown.4', from: ['PROVIDER_RESULT_UNKNOWN'], input: INPUTS['partner.not_found'], to: 'same', learns: { questions: 4, ...ABSENT }, dueAt: NOW + 30_000 },
  { rule: 'cash-out.unknown.4', from: [NO_ANSWER], input: INPUTS['partner.not_found'], to: 'same', learns: { questions: 21, ...ABSENT } },
  { rule: 'cash-out.states.15', from: ['DISPATCHED'], before: { ...DUE, facts: { isAccepted: true, firstAttemptAt: NOW - DAY } }, input: INPUTS['clock.overdue'], to: 'same', opens: 'outcome_unknown', learns: { isOverdue: true }, dueAt: NOW },

  // The money is given back, or a failure frees nothing.
  { rule: 'cash-out.states.3', from: ['RESERVED'], before: { createdAt: NOW - DAY }, input: INPUTS['clock.released'], to: 'RELEASED', ...FREED, learns: ended('never_sent') },
  { rule: 'cash-out.states.10', from: OPEN, before: { facts: { ...UNSENT, firstAttemptAt: NOW - HALF_HOUR } }, input: INPUTS['clock.released'], to: 'RELEASED', ...FREED, learns: ended('never_sent') },
  { rule: 'cash-out.states.7', from: OPEN, input: REJECTED, to: 'FAILED', ...FREED, learns: ended('limit', 'too much') },
  { rule: 'cash-out.unknown.8', from: OPEN, before: { facts: { attempts: 2 } }, input: REJECTED_AGAIN, to: 'same', learns: { refusal: REFUSAL, ...WANTED }, dueAt: NOW },
  { rule: 'cash-out.unknown.8', from: OPEN, before: { facts: { attempts: 2, unsentAttempts: 1 } }, input: REJECTED, to: 'same', learns: { refusal: REFUSAL, ...WANTED }, dueAt: NOW },
  { rule: 'cash-out.unknown.8', from: OPEN, before: { facts: { isAccepted: true } }, input: REJECTED, to: 'same', learns: WANTED, dueAt: NOW },
  { rule: 'cash-out.unknown.8', from: OPEN, before: { ...LEASED, facts: { ...LEASED.facts, attempts: 2 } }, input: REJECTED, to: 'same', learns: { refusal: REFUSAL, ...WANTED }, dueAt: LEASE_ENDS },
  { rule: 'cash-out.states.13', from: OPEN, input: FAILED, to: 'FAILED', ...FREED, ids: TX, learns: ended('closed_account', 'the account is closed') },
  { rule: 'cash-out.states.14', from: [...AWAITED, 'CONFIRMED', ...DOUBT], input: EVENT_FAILURE, to: 'same', ids: TX, learns: WANTED, dueAt: NOW },
  { rule: 'cash-out.states.14', from: ['RESERVED'], input: FAILED, to: 'ignored', result: 'UNEXPECTED' },
  { rule: 'cash-out.unknown.6', from: OPEN, before: { facts: { ...NOT_FOUND_BEFORE, questions: 3 } }, input: FOR_GOOD, to: 'FAILED', ...FREED, learns: { notFoundAt: NOW, ...ended('not_found') } },
  { rule: 'cash-out.unknown.6', from: OPEN, before: { facts: { ...NOT_FOUND_BEFORE, questions: 3, attempts: 2, refusal: REFUSAL } }, input: FOR_GOOD, to: 'FAILED', ...FREED, learns: { notFoundAt: NOW, ...ended('limit', 'too much') } },
  { rule: 'cash-out.unknown.6', from: ['PROVIDER_RESULT_UNKNOWN'], input: { ...FOR_GOOD, askedAt: SENT_AT - 1 }, to: 'same', learns: { questions: 4 }, dueAt: NOW + 30_000 },

  // Money that left.
  { rule: 'partner-inbox.3', from: ANY, before: { facts: { movements: { E1: 30_00 } } }, input: confirmed(), to: 'ignored' },
  { rule: 'cash-out.states.11', from: OPEN, input: confirmed(), ...CONFIRMED },
  { rule: 'cash-out.states.4', from: [NOT_DISPATCHED], input: confirmed(), ...CONFIRMED },
  { rule: 'fees.3', from: ['DISPATCHED'], input: confirmed({ feeCents: 77n }), ...CONFIRMED, learns: { ...MOVED, partnerFeeCents: 77 } },
  { rule: 'cash-out.states.5', from: ['RESERVED'], input: confirmed(), to: CONFLICT, opens: 'outcome_unknown', learns: WANTED, dueAt: NOW, ...caseAbout() },
  { rule: 'cash-out.states.5', from: ['RESERVED'], input: confirmed({}, false), to: NOT_DISPATCHED, opens: 'outcome_unknown', learns: WANTED, dueAt: NOW, ...caseAbout(30_00, 'E1', false) },
  { rule: 'cash-out.states.5', from: [NOT_DISPATCHED], input: confirmed({}, false), to: 'same', ids: TX, learns: WANTED, dueAt: NOW },
  { rule: 'cash-out.states.12', from: [...AWAITED, ...GIVEN_BACK, ...DOUBT], input: OTHER_AMOUNT, opens: 'debit_in_suspense', ...left(29_00) },
  { rule: 'cash-out.states.16', from: NOT_GONE, input: confirmed(), state: TAKEN, to: CONFLICT, opens: 'movement_elsewhere', ...caseAbout(), learns: { elsewhere: { E1: 30_00 } } },
  { rule: 'cash-out.states.16', from: GONE, input: E2, state: TAKEN, to: CONFLICT, opens: 'movement_elsewhere', ...caseAbout(30_00, 'E2'), learns: { elsewhere: { E2: 30_00 } } },
  { rule: 'cash-out.states.16', from: ['RESERVED', ...GONE, ...GIVEN_BACK, ...DOUBT], before: { facts: { elsewhere: { E2: 30_00 } } }, input: E2, to: 'ignored' },
  { rule: 'cash-out.states.17', from: OPEN, input: confirmed({}, false), to: 'ignored', result: 'EARLY' },
  { rule: 'cash-out.states.17', from: OPEN, before: { transactionId: 'another' }, input: confirmed({}, false), to: 'ignored', result: 'EARLY' },
  { rule: 'cash-out.states.17', from: OPEN, before: { ...TX, facts: AWAITING }, input: confirmed({}, false), to: 'ignored', result: 'EARLY' },
  { rule: 'cash-out.states.17', from: OPEN, before: TX, input: confirmed({}, false), ...CONFIRMED },
  { rule: 'cash-out.states.18', from: [...GONE, ...GIVEN_BACK, CONFLICT], input: confirmed({ endToEndId: 'E2' }, false), to: 'ignored', result: 'EARLY' },
  { rule: 'cash-out.confirmed.3', from: ANY, before: { facts: { movements: { E1: 30_00 } } }, input: OTHER_AMOUNT, to: CONFLICT, opens: 'bank_contradicts', ...caseAbout(29_00) },
  { rule: 'cash-out.confirmed.3', from: ANY, before: { facts: { movements: { E1: 30_00 } } }, input: OTHER_AMOUNT, state: TAKEN, to: CONFLICT, opens: 'bank_contradicts', ...caseAbout(29_00) },
  { rule: 'cash-out.confirmed.5', from: GONE, input: E2, opens: 'debit_in_suspense', ...left(30_00, 'E2'), learns: { movements: { E1: 30_00, E2: 30_00 } } },
  { rule: 'cash-out.confirmed.5', from: GONE, input: confirmed({ endToEndId: 'E2', valueCents: 7_00n }), opens: 'debit_in_suspense', ...left(7_00, 'E2'), learns: { movements: { E1: 30_00, E2: 7_00 } } },
  { rule: 'cash-out.ended.2', from: GIVEN_BACK, input: confirmed(), opens: 'debit_in_suspense', ...HELD_AGAIN },
  { rule: 'cash-out.ended.2', from: DOUBT, before: { facts: { isReleased: true } }, input: confirmed(), opens: 'debit_in_suspense', ...HELD_AGAIN },
  { rule: 'cash-out.reconciliation.2', from: [CONFLICT], input: confirmed(), opens: 'debit_in_suspense', ...left() },

  // Money that comes back.
  { rule: 'partner-inbox.3', from: ANY, before: { facts: { returns: { D1: 10_00 } } }, input: returned(), to: 'ignored' },
  { rule: 'partner-inbox.3', from: ANY, before: { facts: { suspendedReturns: { D1: 10_00 } } }, input: returned(), to: 'ignored' },
  { rule: 'cash-out.reversal.1', from: ['RESERVED', ...AWAITED], input: returned(), to: 'ignored', result: 'EARLY' },
  { rule: 'cash-out.reversal.1', from: GONE, before: { facts: { returns: { D0: 5_00 } } }, input: returned(), to: 'REVERSED', posts: 'cash_out_returned', emits: 'pix_cash_out_reversal', learns: { returns: { D0: 5_00, D1: 10_00 } }, reference: 'D1' },
  { rule: 'cash-out.reversal.2', from: GONE, input: returned({ valueCents: 30_01n }), opens: 'return_in_suspense', ...arrived(30_01) },
  { rule: 'cash-out.reversal.3', from: GONE, before: { facts: { returns: { D1: 9_00 } } }, input: returned(), to: 'same', opens: 'bank_contradicts', ...back() },
  { rule: 'cash-out.reversal.3', from: [...GIVEN_BACK, ...DOUBT], before: { facts: { suspendedReturns: { D1: 9_00 } } }, input: returned(), to: 'same', opens: 'bank_contradicts', ...back() },
  { rule: 'cash-out.reversal.3', from: [...GONE, ...GIVEN_BACK, ...DOUBT], before: { facts: { suspendedReturns: { D1: 9_00 } } }, input: returned(), state: TAKEN, to: 'same', opens: 'bank_contradicts', ...back() },
  { rule: 'cash-out.reversal.4', from: GONE, input: OF_ANOTHER, to: 'same', result: 'DISPUTED', learns: WANTED, dueAt: NOW },
  { rule: 'cash-out.reversal.5', from: GONE, input: UNNAMED, opens: 'return_in_suspense', ...arrived(), learns: { suspendedReturns: { D1: 10_00 }, unnamedReturns: { D1: 10_00 } } },
  { rule: 'cash-out.reversal.5', from: [...GONE, ...DOUBT], before: { facts: { returns: { D0: 10_00 } } }, input: UNNAMED, to: 'same', opens: 'bank_contradicts', ...back() },
  { rule: 'cash-out.reversal.5', from: [...GONE, ...DOUBT], before: { facts: { suspendedReturns: { U: 10_00 }, unnamedReturns: { U: 10_00 } } }, input: returned(), to: 'same', opens: 'bank_contradicts', learns: { unnamedReturns: {}, returnsToldAgain: { D1: 10_00 } }, ...back() },
  { rule: 'cash-out.reversal.6', from: GONE, input: returned({}, false), to: 'ignored', result: 'EARLY' },
  { rule: 'cash-out.states.16', from: [...GONE, ...GIVEN_BACK, ...DOUBT], input: returned(), state: TAKEN, to: CONFLICT, opens: 'movement_elsewhere', ...back(), learns: { elsewhere: { D1: 10_00 } } },
  { rule: 'cash-out.states.16', from: [...GONE, ...GIVEN_BACK, ...DOUBT], before: { facts: { elsewhere: { D1: 10_00 } } }, input: returned(), to: 'ignored' },
  { rule: 'cash-out.ended.3', from: GIVEN_BACK, input: returned(), to: CONFLICT, opens: 'bank_contradicts', learns: WANTED, dueAt: NOW, ...back() },
  { rule: 'cash-out.reconciliation.3', from: DOUBT, input: returned(), opens: 'return_in_suspense', ...arrived() },
  { rule: 'cash-out.reconciliation.4', from: DOUBT, input: returned({}, false), to: 'ignored', result: 'EARLY' },

  // Answers after the end.
  { rule: 'cash-out.confirmed.1', from: ['CONFIRMED'], before: { transactionId: null }, input: INPUTS['send.accepted'], to: 'same', ids: TX, learns: { isAccepted: true } },
  { rule: 'cash-out.confirmed.2', from: ['CONFIRMED'], input: { on: 'send.accepted', transactionId: 'another' }, to: 'same', opens: 'bank_contradicts', evidence: { transactionId: 'another' } },
  { rule: 'cash-out.confirmed.2', from: ['CONFIRMED'], input: REJECTED, to: 'same', opens: 'bank_contradicts', evidence: REFUSAL },
  { rule: 'cash-out.confirmed.2', from: ['CONFIRMED'], input: INPUTS['partner.not_found'], to: 'same', opens: 'bank_contradicts', learns: ABSENT },
  { rule: 'cash-out.confirmed.2', from: GONE, input: INPUTS['send.contradicted'], to: 'same', opens: 'bank_contradicts', evidence: CONTRADICTION },
  { rule: 'cash-out.confirmed.4', from: ['CONFIRMED'], input: FAILED, to: CONFLICT, opens: 'bank_contradicts', learns: WANTED, dueAt: NOW, evidence: { errorCode: 'closed_account', errorMessage: 'the account is closed', isVerified: true } },
  { rule: 'cash-out.ended.1', from: GIVEN_BACK, input: INPUTS['send.accepted'], to: CONFLICT, opens: 'bank_contradicts', ids: TX, learns: { isAccepted: true, ...WANTED }, dueAt: NOW, evidence: TX },
  { rule: 'cash-out.ended.1', from: GIVEN_BACK, input: INPUTS['send.contradicted'], to: CONFLICT, opens: 'bank_contradicts', ids: TX, learns: WANTED, dueAt: NOW, evidence: CONTRADICTION },
]

testRows(ROWS, (row, place) => {
  const { input, posts } = row
  const before = withOpenCases(at(place, row.before), 'outcome_unknown', 'debit_in_suspense')
  if (row.to === 'ignored') {
    assertUntouched(before, input, row.result)
    return
  }
  const decision = decide(before, input, NOW, row.state)
  const after = placeAfter(row, place)
  assert.deepEqual(decision.outcome, {
    result: row.result ?? 'APPLIED',
    cashOut: {
      ...operationAfter(row, before, place, NOW),
      dueAt: row.dueAt === undefined ? (RESTS[after] ?? null) : row.dueAt,
      plan: planOf(decision.outcome.cashOut, NOW),
      // What a payout had for itself, as its QR code, is free once its money is, and at no other time: cash-out.qrcode.6.
      exclusiveKey: posts === 'cash_out_released' ? null : before.exclusiveKey,
    },
  })
  assert.deepEqual(
    decision.moves?.map(({ trigger }) => trigger),
    [input.on],
  )
  assert.deepEqual(decision.exact, posts === 'left_after_release' ? ['available'] : [])
  assertEffects(
    row,
    place,
    decision,
    posts && entriesOf(posts, input),
    notificationOf(before, input, statusIn(after), decision.outcome.cashOut),
  )
})

/** A payout in a place. */
function at(place: Place, given: Partial<CashOut> = {}): CashOut {
  const standing = cashOutAs(statusIn(place), given)
  const { facts } = cashOutAs(statusIn(place))
  const known: Partial<Record<Place, CashOutFacts>> = {
    [NO_ANSWER]: { ...facts, ...reasonFact('no_answer'), unknownSince: NOW - 1_000_000, questions: 20 },
    [NOT_DISPATCHED]: reasonFact('not_dispatched'),
  }
  return { ...standing, facts: { ...(known[place] ?? facts), ...given.facts } }
}

/** The entries as the ledger’s documentation has them. */
function entriesOf(posts: JournalKind, input: CashOutInput): readonly string[] | undefined {
  const moved =
    input.on === 'partner.confirmed'
      ? input.movement.valueCents
      : input.on === 'partner.returned'
        ? input.returned.valueCents
        : 35n
  const entries: Partial<Record<JournalKind, readonly string[]>> = {
    cash_out_confirmed: [
      'available 3100 CASH_OUT_RELEASE',
      'available -3000 CASH_OUT',
      'available -100 FEE',
      'reserved -3100',
      'settlement 3000',
      'fees 100',
    ],
    cash_out_released: ['available 3100 CASH_OUT_RELEASE', 'reserved -3100'],
    cash_out_returned: [`available ${moved} CASH_OUT_REVERSAL`, `settlement -${moved}`],
    left_after_release: ['available -3100 CASH_OUT_RESERVE', 'reserved 3100', 'settlement 3000', 'suspense_out -3000'],
    left_unattributed: [`settlement ${moved}`, `suspense_out -${moved}`],
    arrived_unattributed: [`settlement -${moved}`, `suspense_in ${moved}`],
    tariff_deducted: [`settlement ${moved}`, `partner_fees -${moved}`],
  }
  return entries[posts]
}

/** The bytes of a notification, written out: what is signed once is sent for ever. */
function notificationOf(before: CashOut, input: CashOutInput, to: CashOutStatus, { facts }: CashOut) {
  const status = to === 'RELEASED' ? 'FAILED' : to
  const isReturn = input.on === 'partner.returned'
  const isReported = isReturn || input.on === 'partner.confirmed' || input.on === 'partner.failed'
  const [seconds, reference] = isReported ? ['29:59', '"tx"'] : ['30:00', 'null']
  const createdAt = new Date(before.createdAt).toISOString().replace('Z', '000000Z')
  const body =
    `{"event_type":"${isReturn ? 'pix_cash_out_reversal' : 'pix_cash_out'}","event":{"id":"${before.id}","correlation_id":"test",` +
    `"external_id":"payout-1","transaction_id":${reference},"status":"${status}","value_cents":${isReturn ? 1000 : 3000},` +
    `"end_to_end_id":${status === 'CONFIRMED' || isReturn ? '"E1"' : 'null'},"fee_amount_cents":${status === 'CONFIRMED' ? 100 : 0},` +
    `"confirmed_at":"2026-11-21T13:${seconds}.000000000Z","created_at":"${createdAt}"${whyOf(status, facts)}}}`
  return { status, reference: isReturn ? 'D1' : '', body }
}

test('[cash-out.states] [engine.1] what no row above is about changes nothing', () => {
  for (const [place, input] of pairsWithoutRow(ANY, INPUTS, ROWS)) assertUntouched(at(place, DUE), input)
})

function assertUntouched(before: CashOut, input: CashOutInput, result: CashOutOutcome['result'] = 'IGNORED'): void {
  const { outcome, moves, journals, notifications, cases, controls } = decide(before, input)
  assert.deepEqual(outcome, { result, cashOut: before })
  assert.deepEqual([moves, journals, notifications, cases, controls], [[], [], [], [], {}])
}

/** The payout after some inputs, all at the same time. */
function after(before: CashOut, ...inputs: readonly CashOutInput[]): CashOut {
  return decide(before, inputs).outcome.cashOut
}

const UNKNOWN = 'PROVIDER_RESULT_UNKNOWN'
/** Never sent as far as is known here, for more than a day, and in the bank’s statement. */
const SHOWN = { createdAt: NOW - 90_000_000, facts: { isAccepted: true, isShown: true } } as const
const decidedToBeAnothers = { movements: { E2: 29_00 }, decidedMovements: { E2: 29_00 } }
const ANOTHERS = confirmed({ endToEndId: 'E2', valueCents: 29_00n })
const again = (given: object) => ({ ...SENDING_AGAIN, again: { ...SENDING_AGAIN.again, ...given } })
const tried = (firstAttemptAt: number, given: CashOutFacts = {}) => ({
  ...DUE,
  facts: { ...UNSENT, firstAttemptAt, ...given },
})
const had = (firstAttemptAt: number) => ({ ...DUE, facts: { isAccepted: true, firstAttemptAt } })
const proven = (given: CashOutFacts = {}) => ({ facts: { ...NOT_FOUND_BEFORE, ...given } })
const confirmedBy = (cents: number) => ({ facts: { movements: { E1: cents }, decidedMovements: { E1: cents } } })
const DECODED = {
  ...at('DISPATCHED').detail,
  paymentType: 'qrcode',
  qrCode: { pixCode: 'code', decodeId: 'decoded' },
  recipient: { ...at('DISPATCHED').detail.recipient, pixKeyType: null, document: '52998224725' },
} as const
const paid = (document: string | undefined) => confirmed({ recipient: { name: 'Ana', document, ispb: undefined } })

/** What a single condition more or less decides, in short. */
// biome-ignore format: one condition a line
const CONDITIONS: readonly (readonly [name: string, before: CashOut, input: CashOutInput, becomes: string, State?])[] = [
  // Sending.
  ['[cash-out.approval.1] what waits for an approval is not claimed', at('RESERVED', { ...DUE, facts: AWAITING }), CLAIM, 'IGNORED'],
  ['[cash-out.approval.7] what was approved is', at('RESERVED', { ...DUE, facts: { ...AWAITING, approvedAt: NOW - 1 } }), CLAIM, 'DISPATCHED'],
  ['[cash-out.work.2] [CO-21] of two claims one is nothing', after(at('RESERVED', DUE), CLAIM), CLAIM, 'IGNORED'],
  ['[cash-out.states.2] what is not due is not claimed', at('RESERVED', { dueAt: NOW + 1 }), CLAIM, 'IGNORED'],
  ['[cash-out.states.2] nor what waited for 24 hours', at('RESERVED', { ...DUE, createdAt: NOW - DAY }), CLAIM, 'IGNORED'],
  ['[cash-out.states.2] nor what the statement shows', at('RESERVED', { ...SHOWN, ...DUE, createdAt: NOW }), CLAIM, 'IGNORED'],
  ['[operator.switch.2] nor while payouts are disabled, at first', at('RESERVED', DUE), CLAIM, 'IGNORED', OFF],
  ['[operator.switch.2] again', at('DISPATCHED', { ...DUE, facts: UNSENT }), CLAIM, 'IGNORED', OFF],
  ['[operator.switch.2] or once more', at(UNKNOWN), SENDING_AGAIN, 'IGNORED', OFF],
  ['[cash-out.unknown.1] [P6] what may have left is not claimed again', at('DISPATCHED', DUE), CLAIM, 'IGNORED'],
  ['[cash-out.unknown.1] nor what is not due', at('DISPATCHED', { dueAt: NOW + 1, facts: UNSENT }), CLAIM, 'IGNORED'],
  ['[cash-out.unknown.1] nor what the bank has', at('DISPATCHED', tried(SENT_AT, { isAccepted: true })), CLAIM, 'IGNORED'],
  ['[cash-out.unknown.1] nor what was tried for 30 minutes', at('DISPATCHED', tried(NOW - HALF_HOUR)), CLAIM, 'IGNORED'],
  ['[cash-out.unknown.7] [CO-42] only what was asked about since the last attempt is sent again', at(UNKNOWN), again({ askedAt: SENT_AT - 1 }), 'IGNORED'],
  ['[cash-out.unknown.7] while the bank knows a repeat', at(UNKNOWN), again({ windowMs: NOW - SENT_AT }), 'IGNORED'],
  ['[cash-out.unknown.7] to the last millisecond', at(UNKNOWN), again({ windowMs: NOW - SENT_AT + 1 }), UNKNOWN],
  ['[cash-out.unknown.7] [CO-61] and what was tried before the clock was set back is not: its age is unknown', at(UNKNOWN), again({ setBackAt: SENT_AT }), 'IGNORED'],
  ['[cash-out.unknown.7] [CO-61] what was tried after that is', at(UNKNOWN), again({ setBackAt: SENT_AT - 1 }), UNKNOWN],
  ['[cash-out.unknown.7] what the bank has is not sent again', at(UNKNOWN, { facts: { isAccepted: true } }), SENDING_AGAIN, 'IGNORED'],
  ['[cash-out.unknown.8] [CO-43] nor what was refused once, whichever attempt it was', at(UNKNOWN, { facts: { attempts: 2, refusal: REFUSAL } }), SENDING_AGAIN, 'IGNORED'],

  // Releases.
  ['[cash-out.states.3] what waited for less than 24 hours is not given back', at('RESERVED', { createdAt: NOW - DAY + 1 }), INPUTS['clock.released'], 'IGNORED'],
  ['[cash-out.states.3] nor what the statement shows although nothing tells that it was sent', at('RESERVED', SHOWN), INPUTS['clock.released'], 'IGNORED'],
  ['[cash-out.approval.8] nor by a refusal', at('RESERVED', SHOWN), INPUTS['operator.refused'], 'IGNORED'],
  ['[cash-out.approval.9] nor where its code asks for something else', at('RESERVED', { facts: { ...SHOWN.facts, ...AWAITING_TWO } }), CODE_CHANGED, 'RESERVED'],
  ['[cash-out.states.10] [P6] what may have left is not given back', at('DISPATCHED', { createdAt: NOW - DAY, ...tried(NOW - HALF_HOUR, { attempts: 2 }) }), INPUTS['clock.released'], 'IGNORED'],
  ['[cash-out.states.10] nor what was tried for less than 30 minutes', at('DISPATCHED', tried(NOW - HALF_HOUR + 1)), INPUTS['clock.released'], 'IGNORED'],
  ['[cash-out.states.10] nor what the bank has', at('DISPATCHED', tried(NOW - HALF_HOUR, { isAccepted: true })), INPUTS['clock.released'], 'IGNORED'],
  ['[cash-out.states.7] [P5] a refusal is definite where the attempts before it are proven not to have left', at('DISPATCHED', { facts: { attempts: 2, unsentAttempts: 1 } }), REJECTED_AGAIN, 'FAILED cash_out_released'],
  ['[statement.5] [P6] what the statement shows as sent did arrive: a failure frees nothing until it is booked', after(at('DISPATCHED'), { on: 'work.requested', isShown: true }), FAILED, 'IGNORED'],

  // The proof that it never arrived.
  ['[cash-out.unknown.6] [P6] said once, «not found» frees nothing', at(UNKNOWN, proven({ notFoundSince: null, notFoundAt: null })), FOR_GOOD, UNKNOWN],
  ['[cash-out.unknown.6] nor twice in less than a minute', at(UNKNOWN, proven({ notFoundSince: NOW - 59_999 })), FOR_GOOD, UNKNOWN],
  ['[cash-out.unknown.6] nor less than five minutes after the attempt', at(UNKNOWN, proven({ lastAttemptAt: NOW - 299_999 })), FOR_GOOD, UNKNOWN],
  ['[cash-out.unknown.6] nor does it prove anything about the time after its question', at(UNKNOWN, proven()), { ...FOR_GOOD, askedAt: NOW - 390_000 }, UNKNOWN],
  ['[cash-out.unknown.6] nor while the order may be sent again', at(UNKNOWN, proven()), INPUTS['partner.not_found'], UNKNOWN],
  ['[cash-out.unknown.6] once the bank knows no repeat any more it does', at(UNKNOWN, proven()), { ...FOR_GOOD, windowMs: 400_000 }, 'FAILED cash_out_released'],
  ['[cash-out.unknown.6] [P6] five minutes of a clock that did not step prove it', at(UNKNOWN, proven()), { ...FOR_GOOD, steadySince: NOW - 300_000 }, 'FAILED cash_out_released'],
  ['[cash-out.unknown.6] [P6] five minutes that a stepping clock made up do not', at(UNKNOWN, proven()), { ...FOR_GOOD, steadySince: NOW - 299_999 }, UNKNOWN],
  ['[cash-out.unknown.6] [P6] an order that the bank had is never «not found»', at('DISPATCHED', proven({ isAccepted: true })), FOR_GOOD, 'DISPATCHED'],
  ['[cash-out.unknown.6] [P6] nor does it end a conflict', at(CONFLICT, proven()), FOR_GOOD, 'RECONCILIATION_REQUIRED conflict'],
  ['[cash-out.states.5] nor the doubt about an order that was never sent', at(NOT_DISPATCHED, proven()), FOR_GOOD, 'RECONCILIATION_REQUIRED not_dispatched'],
  ['[cash-out.unknown.4] «not found» of what the bank has opens no doubt', at(UNKNOWN, { facts: { ...LONG_UNKNOWN, isAccepted: true } }), INPUTS['partner.not_found'], UNKNOWN],
  ['[cash-out.unknown.5] [partner.5] before 15 minutes are over silence makes no case', at(UNKNOWN, { facts: { unknownSince: NOW - 899_999 } }), INPUTS['send.unknown'], UNKNOWN],
  ['[cash-out.states.15] [CO-22] what the bank has had for less than a day is no case', at('DISPATCHED', had(NOW - DAY + 1)), INPUTS['clock.overdue'], 'IGNORED'],
  ['[cash-out.states.15] nor is it a second time', after(at('DISPATCHED', had(NOW - DAY)), INPUTS['clock.overdue']), INPUTS['clock.overdue'], 'IGNORED'],

  // Money.
  ['[cash-out.states.11] a time of the bank 300 s ahead of ours is believed', at('DISPATCHED'), confirmed({ occurredAt: NOW + 300_000 }), 'CONFIRMED cash_out_confirmed'],
  ['[cash-out.states.11] one that is further ahead is not', at('DISPATCHED'), confirmed({ occurredAt: NOW + 300_001 }), 'IMPLAUSIBLE'],
  ['[cash-out.states.11] so for a return', at('CONFIRMED'), returned({ occurredAt: NOW + 300_000 }), 'REVERSED cash_out_returned'],
  ['[cash-out.states.11] which is not believed either', at('CONFIRMED'), returned({ occurredAt: NOW + 300_001 }), 'IMPLAUSIBLE'],
  ['[cash-out.states.12] the exact amount at another recipient is not the payout', at('DISPATCHED'), confirmed({ recipientDiffers: true }), 'RECONCILIATION_REQUIRED conflict left_unattributed debit_in_suspense'],
  ['[cash-out.states.12] [QR-11] nor what went to another document than the code was decoded to', at('DISPATCHED', { detail: DECODED }), paid('11144477735'), 'RECONCILIATION_REQUIRED conflict left_unattributed debit_in_suspense'],
  ...['52998224725', '529.982.247-25', '***.982.247-**', undefined].map((document) => [`[cash-out.states.12] ${document} may be the document it was decoded to`, at('DISPATCHED', { detail: DECODED }), paid(document), 'CONFIRMED cash_out_confirmed'] as const),
  ['[cash-out.confirmed.3] [CO-18] the same movement to another recipient is a restatement', at('CONFIRMED'), confirmed({ recipientDiffers: true }), 'RECONCILIATION_REQUIRED conflict bank_contradicts'],
  ['[cash-out.confirmed.3] in doubt it may be what was booked', at(CONFLICT, { facts: { movements: { E1: 30_00 } } }), confirmed({ recipientDiffers: true }), 'IGNORED'],
  ['[cash-out.confirmed.5] [CO-45] a second movement is booked once', after(at('REVERSED'), E2), E2, 'IGNORED'],
  ['[cash-out.reconciliation.1] in a conflict no answer settles anything: an acceptance', at(CONFLICT), INPUTS['send.accepted'], 'IGNORED'],
  ['[cash-out.reconciliation.1] a refusal', at(CONFLICT), REJECTED, 'IGNORED'],
  ['[cash-out.reconciliation.1] a failure', at(CONFLICT), FAILED, 'IGNORED'],
  ['[cash-out.reversal.2] [EV-24] returns may add up to the payout', at('REVERSED', { facts: { returns: { D0: 20_00 } } }), returned({ valueCents: 10_00n }), 'REVERSED cash_out_returned'],
  ['[cash-out.reversal.2] and not to one centavo more', at('REVERSED', { facts: { returns: { D0: 20_00 } } }), returned({ valueCents: 10_01n }), 'RECONCILIATION_REQUIRED conflict arrived_unattributed return_in_suspense'],
  ...[29_00, 31_00].flatMap((cents) => [
    [`[CO-62] [cash-out.reversal.1] what left by ${cents} centavos, as was decided, may come back`, at('CONFIRMED', confirmedBy(cents)), returned({ valueCents: BigInt(cents) }), 'REVERSED cash_out_returned'],
    [`[CO-62] [cash-out.reversal.2] and no more than ${cents}`, at('CONFIRMED', confirmedBy(cents)), returned({ valueCents: BigInt(cents + 1) }), 'RECONCILIATION_REQUIRED conflict arrived_unattributed return_in_suspense'],
    [`[CO-62] [cases.16] what was decided of ${cents} is nothing new`, at('CONFIRMED', confirmedBy(cents)), confirmed({ valueCents: BigInt(cents), recipientDiffers: true }), 'IGNORED'],
  ] as const),
  ['[cash-out.reversal.4] a return that was booked here is restated, whichever payment it now names', at('REVERSED', { facts: { returns: { D1: 10_00 } } }), { ...returned({ valueCents: 9_99n }), endToEndId: 'E9' }, 'REVERSED bank_contradicts'],
  ['[cash-out.reversal.5] a return that was told without its id and decided is no other one when it is told with it', at('CONFIRMED', { facts: { suspendedReturns: { U: 10_00 }, unnamedReturns: { U: 10_00 }, decidedReturns: { U: 10_00 } } }), returned(), 'CONFIRMED bank_contradicts'],
  ...AWAITED.flatMap((place) => [
    [`[cases.14] [cash-out.states.15] ${place}: by a movement that was decided to be another’s the bank has the order`, at(place, { ...TX, facts: decidedToBeAnothers }), ANOTHERS, 'DISPATCHED'],
    [`[cases.14] [cash-out.states.16] ${place}: nor otherwise by one that another operation has`, at(place, { ...TX, facts: { elsewhere: { E2: 30_00 } } }), E2, 'DISPATCHED'],
    [`[cases.14] ${place}: not as an event alone tells it`, at(place, { ...TX, facts: decidedToBeAnothers }), { ...ANOTHERS, isVerified: false }, 'IGNORED'],
  ] as const),
  ['[cases.14] nor where it is known', at('DISPATCHED', { ...TX, facts: { ...decidedToBeAnothers, isAccepted: true } }), ANOTHERS, 'IGNORED'],
  ['[cases.14] nor where a case tells of it', at(NO_ANSWER, { facts: decidedToBeAnothers }), ANOTHERS, 'IGNORED'],
]

for (const [name, before, input, becomes, state] of CONDITIONS) {
  test(name, () => {
    const decision = decide(before, input, NOW, state)
    assert.equal(inShort(decision, decision.outcome.result, decision.outcome.cashOut), becomes)
  })
}

/** What a worker does about a payout that is due. */
// biome-ignore format: one step a line
const STEPS: readonly (readonly [Place, Partial<CashOut>, Step])[] = [
  ['RESERVED', {}, 'send'],
  ['RESERVED', { createdAt: NOW - DAY + 1 }, 'send'],
  ['RESERVED', { createdAt: NOW - DAY }, 'release'],
  ['DISPATCHED', {}, 'ask'],
  ['DISPATCHED', tried(NOW - HALF_HOUR + 1), 'send'],
  ['DISPATCHED', tried(NOW - HALF_HOUR), 'release'],
  ['DISPATCHED', tried(NOW - HALF_HOUR, { attempts: 2 }), 'ask'],
  ['DISPATCHED', had(NOW - DAY + 1), 'ask'],
  ['DISPATCHED', had(NOW - DAY), 'case'],
  ['DISPATCHED', { facts: { ...had(NOW - DAY).facts, isOverdue: true } }, 'ask'],
  ['PROVIDER_RESULT_UNKNOWN', {}, 'ask'],
  ['PROVIDER_RESULT_UNKNOWN', { facts: UNSENT }, 'send'],
  ['PROVIDER_RESULT_UNKNOWN', proven({ notFoundAt: NOW }), 'ask'],
  [NO_ANSWER, {}, 'ask'],
  [NO_ANSWER, { facts: UNSENT }, 'send'],
  [CONFLICT, { facts: UNSENT }, 'ask'],
  [NOT_DISPATCHED, {}, 'ask'],
  ['CONFIRMED', {}, 'ask'],
  ['FAILED', { facts: UNSENT }, 'ask'],
  ['RELEASED', { createdAt: NOW - DAY }, 'ask'],
  ['REVERSED', {}, 'ask'],
]

test('[cash-out.work] what is due is sent, asked about, given back or made a case', () => {
  for (const [place, given, step] of STEPS) {
    assert.equal(nextStep(at(place, given), NOW), step, `${place} ${JSON.stringify(given.facts ?? '')}`)
  }
})

test('[cash-out.qrcode.6] [QR-8] what a payout had for itself is free once its money is released', () => {
  assert.equal(after(at('RESERVED'), INPUTS['operator.refused']).exclusiveKey, null)
  assert.notEqual(after(at('DISPATCHED'), confirmed()).exclusiveKey, null)
})

test('[cash-out.states.4] [cash-out.states.5] for an order that was never sent only the bank’s answer to our query counts', () => {
  const reported = after(at('RESERVED', DUE), confirmed({}, false))
  const doubted = withOpenCases(claimed(reported), 'outcome_unknown', 'debit_in_suspense')
  const { outcome, closes, journals } = decide(doubted, [INPUTS['send.accepted'], confirmed(), INPUTS['work.done']])
  assert.deepEqual([outcome.cashOut.status, outcome.cashOut.dueAt, journals?.length], ['CONFIRMED', null, 1])
  assert.deepEqual(closes, ['outcome_unknown'])
  const unknown = decide(claimed(reported), [FOR_GOOD, INPUTS['work.done']])
  assert.deepEqual([unknown.outcome.cashOut.dueAt, unknown.journals], [null, []], 'the money stays reserved')
})

test('[cash-out.states.9] [CO-44] a contradiction is asked about at once, and once', () => {
  const reported = after(at('DISPATCHED', LEASED), INPUTS['send.contradicted'])
  const asked = after(claimed(reported), INPUTS['send.contradicted'], INPUTS['work.done'])
  assert.deepEqual([reported.dueAt, asked.dueAt, statusQueryOf(asked.facts)], [NOW, null, null])
})

test('[cash-out.states.15] [CO-41] the case of an overdue outcome closes when the outcome comes', () => {
  const closes = (place: Place, isOverdue: boolean, input: CashOutInput) =>
    decide(withOpenCases(at(place, { facts: { isOverdue } }), 'outcome_unknown', 'debit_in_suspense'), input).closes
  for (const input of [confirmed(), FAILED]) {
    assert.deepEqual(closes('DISPATCHED', true, input), ['outcome_unknown'])
    assert.deepEqual(closes('DISPATCHED', false, input), [])
  }
  // What is no outcome closes nothing, and what comes after it has cases of its own.
  for (const input of [INPUTS['work.requested'], OTHER_AMOUNT]) assert.deepEqual(closes('DISPATCHED', true, input), [])
  assert.deepEqual(closes('CONFIRMED', true, returned()), [])
})

test('[cash-out.ended.2] [EV-20] what is there is held again, and no more than the payout', () => {
  const heldOf = (available: bigint) => {
    const { journals = [], outcome } = decide(at('FAILED'), confirmed(), NOW, stateOf({ available }))
    return [journals[0]?.amounts.h, outcome.cashOut.facts.heldAgainCents]
  }
  assert.deepEqual([0n, 12_00n, 500_00n].map(heldOf), [
    [0n, 0],
    [12_00n, 12_00],
    [31_00n, 31_00],
  ])
})

test('[cash-out.ended.1] [cash-out.ended.3] [EV-23] an answer that reports the order, its movement and its return is one decision', () => {
  const reported = after(at('RELEASED'), returned({}, false))
  assert.deepEqual([reported.status, reported.dueAt], ['RECONCILIATION_REQUIRED', NOW])
  assert.equal(after(reported, confirmed({}, false)).dueAt, NOW, 'no move drops a requested status query')
  const asked = [INPUTS['send.accepted'], confirmed(), returned(), INPUTS['work.done']]
  const { outcome, journals, cases, notifications } = decide(at('FAILED'), asked)
  assert.deepEqual(
    journals?.map(({ kind }) => kind),
    ['left_after_release', 'arrived_unattributed'],
  )
  assert.deepEqual(
    cases?.map(({ kind }) => kind),
    ['bank_contradicts', 'debit_in_suspense', 'return_in_suspense'],
  )
  assert.deepEqual([outcome.cashOut.status, notifications], ['RECONCILIATION_REQUIRED', []])
})

test('[cash-out.reversal.1] [EV-22] a confirmation and what came back of it are booked in order, as one change', () => {
  const returns = [returned(), returned({ returnId: 'D2', valueCents: 20_00n })]
  const asked = [INPUTS['send.accepted'], confirmed(), ...returns, INPUTS['work.done']]
  const { outcome, journals, notifications, moves } = decide(at('DISPATCHED', { dueAt: NOW + 60_000 }), asked)
  const booked = journals?.map(({ kind, reference }) => `${kind} ${reference}`)
  assert.deepEqual(booked, ['cash_out_confirmed E1', 'cash_out_returned D1', 'cash_out_returned D2'])
  assert.deepEqual(
    notifications?.map(({ status, reference }) => `${status} ${reference}`),
    ['CONFIRMED ', 'REVERSED D1', 'REVERSED D2'],
  )
  assert.deepEqual([outcome.result, outcome.cashOut.status, outcome.cashOut.dueAt], ['APPLIED', 'REVERSED', null])
  assert.equal(outcome.cashOut.version, 3 + (moves?.length ?? 0))
})

test('[cash-out.tariff.1] [statement.4] [CO-23] each tariff is booked once, under its own name, and disturbs nothing that is due', () => {
  const tariff = INPUTS['partner.tariff']
  const another = { ...tariff, tariffId: 'another', tariffCents: 12n }
  const { outcome, journals } = decide(at('DISPATCHED', { dueAt: NOW + 5_000 }), [tariff, tariff, another, another])
  assert.deepEqual(
    journals?.map(({ reference, amounts }) => [reference, amounts.p]),
    [
      ['', 35n],
      ['another', 12n],
    ],
  )
  const { facts, dueAt } = outcome.cashOut
  assert.deepEqual([facts.tariffCents, facts.moreTariffs, dueAt], [35, { another: 12 }, NOW + 5_000])
  assertUntouched(outcome.cashOut, { ...tariff, tariffCents: 36n })
})

/** Asked about now. */
function claimed(cashOut: CashOut): CashOut {
  return after({ ...cashOut, dueAt: NOW }, INPUTS['work.claimed'])
}

/** The waits between status queries that get the same answer whenever one is due, in milliseconds. */
function waitsOf(first: CashOut, answers: readonly CashOutInput[], count: number) {
  let [now, at] = [first, NOW]
  const waits = [(now.dueAt ?? 0) - at]
  while (waits.length < count) {
    at = now.dueAt ?? 0
    now = decide(now, INPUTS['work.claimed'], at).outcome.cashOut
    now = decide(now, answers, at).outcome.cashOut
    waits.push((now.dueAt ?? 0) - at)
  }
  return { waits, now, at }
}

const UNANSWERED = { on: 'work.done', isUnanswered: true } as const

test('[partner.4] questions about an unknown result come after 5, 10, 15 and 30 s, then each minute, whatever the answer', () => {
  const doubted = after(at('DISPATCHED'), INPUTS['send.unknown'])
  for (const answers of [[INPUTS['send.unknown']], [INPUTS['partner.not_found'], INPUTS['work.done']]]) {
    assert.deepEqual(waitsOf(doubted, answers, 6).waits, [5_000, 10_000, 15_000, 30_000, 60_000, 60_000])
  }
})

test('[cash-out.work.4] [CO-46] a status query that an event requests is made at once, then after 1, 5 and 15 s, then by schedule', () => {
  const reported = after(at('DISPATCHED', { ...TX, facts: { isAccepted: true } }), EVENT_FAILURE)
  for (const answers of [
    [INPUTS['send.accepted'], INPUTS['work.done']],
    [INPUTS['send.unknown'], UNANSWERED],
  ]) {
    const { waits, now, at } = waitsOf(reported, answers, 5)
    assert.deepEqual(waits, [0, 1_000, 5_000, 15_000, 60_000])
    const next = decide(now, EVENT_FAILURE, at + 1).outcome.cashOut
    assert.deepEqual([next.dueAt, next.facts.repeats], [at + 1, 0], 'the next event is asked about at once')
  }
})

test('[cash-out.work] a question about what has ended is asked until the bank answers, ever less often', () => {
  const { waits, now, at: asked } = waitsOf(after(at('CONFIRMED'), INPUTS['work.requested']), [UNANSWERED], 6)
  assert.deepEqual(waits, [0, 1_000, 5_000, 15_000, 60_000, 60_000])
  assert.equal(decide(now, INPUTS['work.done'], asked).outcome.cashOut.dueAt, null)
})

test('[cash-out.states.15] [CO-22] an order that the bank has is queried after 10, 20, 40 and 60 s, then each minute', () => {
  const waitAfter = (ms: number) => {
    const before = at('DISPATCHED', { ...TX, facts: { isAccepted: true }, dueAt: SENT_AT + ms + 60_000 })
    return (decide(before, INPUTS['work.done'], SENT_AT + ms).outcome.cashOut.dueAt ?? 0) - SENT_AT - ms
  }
  assert.deepEqual([1_000, 19_000, 41_000, 61_000, 3_600_000].map(waitAfter), [9_000, 1_000, 19_000, 60_000, 60_000])
})

test('[cash-out.work.4] [CO-46] a requested status query stays requested until one that was claimed later is answered', () => {
  const queried = claimed(after(at('CONFIRMED'), INPUTS['work.requested']))
  const standing = ({ dueAt, facts }: CashOut) => [dueAt, statusQueryOf(facts)]
  assert.deepEqual(standing(queried), [LEASE_ENDS, 'in_flight'])
  assert.deepEqual(standing(after(queried, INPUTS['work.done'])), [null, null])
  const wanted = after(queried, INPUTS['work.requested'])
  assert.deepEqual(standing(wanted), [LEASE_ENDS, 'requested'])
  for (const end of [INPUTS['work.done'], UNANSWERED])
    assert.deepEqual(standing(after(wanted, end)), [NOW, 'requested'])
  assert.equal(after(queried, returned()).dueAt, LEASE_ENDS, 'should the process die, the lease reminds of it')
})

test('[cash-out.work.4] [CO-19] what is reported while the call is open is asked about when that is over', () => {
  const leased = at('DISPATCHED', { dueAt: LEASE_ENDS, facts: { leaseEndsAt: LEASE_ENDS } })
  const reported = after(leased, EVENT_FAILURE)
  assert.deepEqual([reported.dueAt, after(reported, INPUTS['send.accepted']).dueAt], [LEASE_ENDS, NOW])
  const sent = after(at('RESERVED', DUE), CLAIM, INPUTS['send.accepted'])
  assert.deepEqual([sent.dueAt, after(sent, EVENT_FAILURE).dueAt], [NOW + 10_000, NOW])
})

test('[engine.1] the inputs of this file are those of the table that are no decisions on cases', () => {
  const isOwn = (on: string) =>
    on in INPUTS || !(on === 'create' || on === 'doubt.decided' || on.startsWith('operator.'))
  assert.deepEqual(Object.keys(INPUTS).sort(), cashOut.triggers.filter(isOwn).sort())
})
