import assert from 'node:assert/strict'
import {
  type GuardOf,
  type JournalKind,
  limits,
  nanosecondText,
  type RefundInOrigin,
  Refusal,
  refundIn,
} from '@pixgate/spec'
import { type Changes, follow } from '../../engine/follow.ts'
import {
  type Create,
  created,
  type Decision,
  type Document,
  type Notification,
  type Operation,
  type State,
} from '../../engine/operation.ts'
import { type CashIn, decideCashIn, type RefundEvent, refundableCents, refundDeadline } from '../cash-in/index.ts'
import {
  attempted,
  isOverdue,
  isProvenNotFound,
  isUnansweredTooLong,
  isUnsent,
  isUnsentTooLong,
  NO_DOUBT,
  notFound,
  pollDelayMs,
  questionDelayMs,
  retryDelayMs,
  type SendFacts,
  type Step,
  unanswered,
} from '../dispatch/index.ts'

/**
 * What a refund does with each input. Pure: the table in the spec says where to go, this file says what its conditions
 * mean and what becomes known on the way. Whatever changes what may still be refunded moves the cash-in too, so that two
 * decisions about it cannot both hold.
 */

/** What was asked for and the bank is told: never changes, so that every attempt is the same. */
export interface RefundInDetail extends Document {
  readonly cashInId: string
  readonly reason: string | null
  readonly origin: RefundInOrigin
}

/** What became known since. Instants are epoch milliseconds. */
export interface RefundInFacts extends SendFacts {
  /** Money that left, and was booked: return id → centavos. */
  readonly returns?: Readonly<Record<string, number>>
  /** The return that confirmed it. */
  readonly returnId?: string
  readonly confirmedAt?: number
  readonly failureCode?: string
  readonly failureReason?: string | null
  /** What was set aside again after money had left nevertheless, centavos. */
  readonly heldAgainCents?: number
}

/** A refund as the engine keeps it; its `endToEndId` is the payment's that goes back. */
export type RefundIn = Operation<RefundInDetail, RefundInFacts>

/** Money that went back. */
export interface Return {
  readonly returnId: string
  readonly valueCents: bigint
  /** The partner's word, epoch milliseconds. */
  readonly occurredAt: number
}

/** Money that the bank took back without being asked (MED). */
export interface BankReturn extends Return {
  /** The partner's reference of this return, or of the payment. */
  readonly transactionId: string
}

/** What can happen to a refund after its creation. `isVerified`: the bank said it when asked, not only in an event. */
export type RefundInInput =
  | { readonly on: 'work.requested' | 'work.done' | 'clock.released' | 'clock.overdue' | 'clock.escalated' }
  | { readonly on: 'work.claimed' | 'send.claimed'; readonly leaseMs: number }
  | { readonly on: 'send.accepted'; readonly transactionId: string }
  | { readonly on: 'send.rejected'; readonly errorCode: string; readonly errorMessage: string | null }
  | { readonly on: 'send.not_sent'; readonly attempt: number; readonly reason: string }
  | { readonly on: 'send.unknown' | 'send.contradicted'; readonly reason: string }
  | {
      readonly on: 'partner.confirmed'
      readonly returned: Return
      readonly transactionId: string
      readonly isVerified: boolean
    }
  | {
      readonly on: 'partner.failed'
      readonly errorCode: string
      readonly errorMessage: string | null
      readonly transactionId: string | null
      readonly occurredAt: number | null
      readonly isVerified: boolean
    }
  | { readonly on: 'partner.not_found'; readonly maySendAgain: boolean }

/**
 * What became of an input. `IGNORED`: nothing to change, known already or too late. `IMPLAUSIBLE`: the partner's time
 * lies in the future, so it is not believed. `EARLY`: it cannot be true yet, but may be soon. `UNEXPECTED`: it cannot be
 * true.
 */
export type Result = 'APPLIED' | 'IGNORED' | 'IMPLAUSIBLE' | 'EARLY' | 'UNEXPECTED'

/** What became of a refund by an input. */
export interface RefundInOutcome {
  readonly result: Result
  /** The refund as it is now. */
  readonly refund: RefundIn
}

/** The same with the cash-in as it is now. */
interface Standing extends RefundInOutcome {
  readonly cashIn: CashIn
}

/** A create as the edge hands it over: shapes judged, money exact, nothing else decided. */
export interface RefundInRequest {
  readonly id: string
  /** `null` where the path names nothing that could be a cash-in. */
  readonly cashInId: string | null
  readonly valueCents: bigint
  /** The refund's own id where the client gave none. */
  readonly externalId: string
  readonly reason: string | null
  readonly correlationId: string
  readonly bodyHash: Buffer
  /** The client's `Idempotency-Key` with its scope; `null` where it sent none. */
  readonly idempotencyKey: string | null
}

/**
 * Decides a create. The whole amount is set aside, or nothing is stored.
 * @throws cash_in_not_found · cash_in_not_paid · refund_value_not_positive · refund_deadline_exceeded ·
 *   refund_exceeds_available · insufficient_balance (422)
 * @source rules#refund-in.create.2, rules#refund-in.create.3, failure-modes#RF-2, failure-modes#RF-4
 */
export function decideCreate(request: RefundInRequest, state: State, now: number): Decision<RefundIn> {
  const { valueCents } = request
  const cashIn = cashInIn(state, request.cashInId)
  if (!cashIn) throw new Refusal('cash_in_not_found')
  const deadline = refundDeadline(cashIn)
  if (cashIn.status !== 'PAID' || deadline === null) throw new Refusal('cash_in_not_paid')
  if (valueCents <= 0n) throw new Refusal('refund_value_not_positive', field('not_positive'))
  if (now > deadline) throw new Refusal('refund_deadline_exceeded')
  if (valueCents > refundableCents(cashIn)) throw new Refusal('refund_exceeds_available', field('too_large'))
  if (state.balance('available') < valueCents) throw new Refusal('insufficient_balance')
  const create: Create = {
    operation: {
      ...operationOf(cashIn),
      id: request.id,
      externalId: request.externalId,
      status: 'PENDING',
      valueCents,
      correlationId: request.correlationId,
      bodyHash: request.bodyHash,
      idempotencyKey: request.idempotencyKey,
      dueAt: now,
      transactionId: null,
      detail: { cashInId: cashIn.id, reason: request.reason, origin: 'MERCHANT' },
      facts: {},
    },
  }
  return together(cashInDecision(cashIn, { on: 'refund.reserved', valueCents }, now), {
    creates: [create],
    journals: [{ operationId: request.id, kind: 'refund_in_reserved', reference: '', amounts: { r: valueCents } }],
    outcome: created(create, now) as RefundIn,
  })
}

function field(code: string) {
  return { fields: [{ field: 'refundValue', code, message: `refundValue is not acceptable: ${code}` }] }
}

/** The cash-in that an id names: an operation of any other kind is none. @source failure-modes#RF-11 */
export function cashInIn(state: State, id: string | null): CashIn | undefined {
  const operation = id === null ? undefined : state.operation(id)
  return operation?.kind === 'cash_in' ? (operation as CashIn) : undefined
}

/** What every refund of a cash-in has. A refund bears no fee. */
function operationOf({ endToEndId }: CashIn) {
  return { kind: 'refund_in', feeCents: 0n, exclusiveKey: null, expiresAt: null, endToEndId } as const
}

/** What a return of the bank's own gets that is not the bank's word. */
export interface ReturnIdentity {
  readonly id: string
  readonly bodyHash: Buffer
}

/**
 * Decides a return that the bank made by itself: a refund that is there and confirmed at once. It is debited as far as
 * the balance goes, the rest is owed; it is never refused for want of money or of anything left to refund.
 * @source rules#refund-in.returns.1, rules#refund-in.returns.2, rules#refund-in.returns.3, failure-modes#EV-27
 */
export function decideReturn(
  cashIn: CashIn,
  returned: BankReturn,
  { id, bodyHash }: ReturnIdentity,
  state: State,
  now: number,
): Decision<Result> {
  const { returnId, valueCents, occurredAt } = returned
  if (isImplausible(returned, now)) return { outcome: 'IMPLAUSIBLE' }
  if (cashIn.facts.paidAt === undefined) return { outcome: 'EARLY' }
  const isKnown = cashIn.facts.returns?.[returnId] !== undefined
  const { outcome: taken, ...counted } = decideCashIn(cashIn, { on: 'refund.taken', returnId, valueCents }, now)
  if (isKnown) return { ...counted, outcome: taken.result }
  const create: Create = {
    operation: {
      ...operationOf(cashIn),
      id,
      externalId: id,
      status: 'CONFIRMED',
      valueCents,
      correlationId: cashIn.correlationId,
      bodyHash,
      idempotencyKey: null,
      dueAt: null,
      transactionId: ownReference(returned.transactionId, cashIn),
      detail: { cashInId: cashIn.id, reason: null, origin: 'PARTNER' },
      facts: { returns: { [returnId]: Number(valueCents) }, returnId, confirmedAt: occurredAt },
    },
  }
  const refund = created(create, now) as RefundIn
  const told = notificationOf(refund, refund.transactionId, occurredAt, 'CONFIRMED')
  const amounts = { r: valueCents, d: minimum(state.balance('available'), valueCents) }
  return together(counted, {
    creates: [create],
    journals: [{ operationId: id, kind: 'taken_by_bank', reference: returnId, amounts }],
    notifications: [{ operationId: id, eventType: 'pix_cash_in_reversal', ...told }],
    exact: ['available', 'receivable'],
    outcome: 'APPLIED',
  })
}

/**
 * A reference that tells a return from others. The payment's own does not: each of its returns would have it.
 * @source rules#refund-in.returns.4
 */
function ownReference(told: string, { transactionId }: CashIn): string | null {
  return told === transactionId ? null : told
}

/** Decides inputs one after the other, as one change. */
export function decideRefundIn(
  refund: RefundIn,
  cashIn: CashIn,
  inputs: readonly RefundInInput[],
  state: State,
  now: number,
): Decision<Standing> {
  let decision: Decision<Standing> = { outcome: { result: 'IGNORED', refund, cashIn } }
  for (const input of inputs) {
    const { outcome } = decision
    const next = decideOne(outcome.refund, outcome.cashIn, input, state, now)
    const result = next.outcome.result === 'IGNORED' ? outcome.result : next.outcome.result
    decision = together(decision, { ...next, outcome: { ...next.outcome, result } })
  }
  return decision
}

/**
 * Decides one input by the machine's table.
 * @source rules#refund-in.states
 */
function decideOne(
  refundNow: RefundIn,
  cashIn: CashIn,
  given: RefundInInput,
  state: State,
  now: number,
): Decision<Standing> {
  const input = judged(refundNow, cashIn, given, now)
  if (typeof input === 'string') return { outcome: { result: input, refund: refundNow, cashIn } }
  const left = input.on === 'partner.confirmed' ? input.returned.valueCents : 0n
  const held = minimum(state.balance('available'), minimum(left, refundNow.valueCents))
  const decision = follow(
    refundIn,
    refundNow,
    {
      on: input.on,
      holds: (guard) => GUARDS[guard](refundNow, cashIn, input, now),
      changes: (row) => changesOf(refundNow, cashIn, input, row, now, held),
      amounts: { r: refundNow.valueCents, v: left, p: left, h: held },
      reference: input.on === 'partner.confirmed' ? input.returned.returnId : '',
      notification: (to) => toldOf(refundNow, cashIn, input, to),
      evidence: evidenceOf(input),
      outcome: (after, isApplied): Standing => ({
        result: isApplied ? 'APPLIED' : 'IGNORED',
        refund: after as RefundIn,
        cashIn,
      }),
    },
    now,
  )
  return withCashIn(closingCases(refundNow, decision), input, now)
}

/** A doubt that ends takes its case with it, although no state shows it. @source rules#refund-in.unknown.4 */
function closingCases(before: RefundIn, decision: Decision<Standing>): Decision<Standing> {
  const isOver = before.facts.doubt != null && decision.outcome.refund.facts.doubt == null
  if (!isOver) return decision
  return { ...decision, moves: (decision.moves ?? []).map((move) => ({ ...move, closesCases: true })) }
}

/** What a journal of a refund means for what may still be refunded. */
function withCashIn(decision: Decision<Standing>, input: RefundInInput, now: number): Decision<Standing> {
  const { journals: [journal] = [], outcome } = decision
  const event = journal && eventOf(journal.kind, outcome.refund, input)
  if (!event) return decision
  const { outcome: cashIn, ...counted } = cashInDecision(outcome.cashIn, event, now)
  const exact = journal.kind === 'left_after_release' ? { exact: ['available'] as const } : {}
  return together(counted, { ...decision, ...exact, outcome: { ...outcome, cashIn } })
}

function eventOf(posted: JournalKind, { valueCents }: RefundIn, input: RefundInInput): RefundEvent | undefined {
  if (posted === 'refund_in_released') return { on: 'refund.released', valueCents }
  if (input.on !== 'partner.confirmed') return undefined
  const { returnId, valueCents: leftCents } = input.returned
  return { on: posted === 'refund_in_confirmed' ? 'refund.confirmed' : 'refund.taken', returnId, valueCents: leftCents }
}

/** A refund is never without a cash-in that counts it. */
function cashInDecision(cashIn: CashIn, event: RefundEvent, now: number): Decision<CashIn> {
  const { outcome, ...decision } = decideCashIn(cashIn, event, now)
  assert.equal(outcome.result, 'APPLIED', `cash-in ${cashIn.id} does not take ${event.on}`)
  return { ...decision, outcome: outcome.cashIn }
}

/** Two decisions as one; what the second tells its caller counts. */
function together<Outcome>(first: Omit<Decision<unknown>, 'outcome'>, then: Decision<Outcome>): Decision<Outcome> {
  return {
    creates: [...(first.creates ?? []), ...(then.creates ?? [])],
    moves: [...(first.moves ?? []), ...(then.moves ?? [])],
    journals: [...(first.journals ?? []), ...(then.journals ?? [])],
    notifications: [...(first.notifications ?? []), ...(then.notifications ?? [])],
    cases: [...(first.cases ?? []), ...(then.cases ?? [])],
    exact: [...(first.exact ?? []), ...(then.exact ?? [])],
    outcome: then.outcome,
  }
}

/** An input that the table may see: known facts are taken out, unverified ones lead to a question where that is due. */
function judged(
  now: RefundIn,
  cashIn: CashIn,
  input: RefundInInput,
  at: number,
): RefundInInput | Exclude<Result, 'APPLIED'> {
  if (input.on === 'partner.confirmed') return judgedConfirmation(now, cashIn, input, at)
  if (waitsForPerson(now) && !ALWAYS_TAKEN.has(input.on)) return 'IGNORED'
  switch (input.on) {
    case 'partner.failed':
      return now.status === 'PENDING' && isNeverClaimed(now) ? 'UNEXPECTED' : input
    case 'send.accepted':
      return isAcceptanceKnown(now, cashIn, input.transactionId) ? 'IGNORED' : input
    case 'send.unknown':
      // A question that failed says nothing about an order that the bank is known to have.
      if (now.facts.isAccepted) return 'IGNORED'
      return now.facts.doubt == null && isUnansweredTooLong(now.facts, at) ? { on: 'clock.escalated' } : input
    case 'work.requested':
      return now.detail.origin === 'PARTNER' ? 'IGNORED' : input
    case 'work.claimed':
      return isDue(now, at) ? input : 'IGNORED'
    case 'send.claimed':
      return isDue(now, at) && nextStep(now, at) === 'send' ? input : 'IGNORED'
    // Between the worker's look and its word another process may have sent it.
    case 'clock.released':
      return nextStep(now, at) === 'release' ? input : 'IGNORED'
    case 'clock.overdue':
      return nextStep(now, at) === 'case' ? input : 'IGNORED'
    case 'work.done':
      return now.dueAt === restingDueAt(now, at) ? 'IGNORED' : input
    default:
      return input
  }
}

/**
 * A refund that waits for a person takes nothing more than money that left, and questions.
 * @source rules#refund-in.doubt.6
 */
function waitsForPerson({ status, facts }: RefundIn): boolean {
  return status === 'PENDING' && (facts.doubt === 'contradiction' || facts.doubt === 'unrecorded')
}

const ALWAYS_TAKEN = new Set<RefundInInput['on']>(['work.requested', 'work.claimed', 'work.done', 'send.not_sent'])

function isDue({ dueAt }: RefundIn, at: number): boolean {
  return dueAt !== null && dueAt <= at
}

function isNeverClaimed({ facts }: RefundIn): boolean {
  return (facts.attempts ?? 0) === 0
}

function isAcceptanceKnown({ transactionId, facts }: RefundIn, cashIn: CashIn, told: string): boolean {
  return facts.isAccepted === true && facts.unknownSince == null && transactionId === ownReference(told, cashIn)
}

function judgedConfirmation(
  now: RefundIn,
  cashIn: CashIn,
  input: Extract<RefundInInput, { on: 'partner.confirmed' }>,
  at: number,
): RefundInInput | 'IGNORED' | 'IMPLAUSIBLE' {
  const { returnId, valueCents } = input.returned
  if (isImplausible(input.returned, at)) return 'IMPLAUSIBLE'
  const booked = now.facts.returns?.[returnId]
  if (booked !== undefined && (BigInt(booked) === valueCents || now.status !== 'CONFIRMED')) return 'IGNORED'
  const isToldBefore = now.facts.doubt === 'contradiction' && cashIn.facts.returns?.[returnId] !== undefined
  if (isToldBefore && now.status !== 'CONFIRMED') return 'IGNORED'
  const isUnproven = now.facts.doubt === 'unrecorded' && !input.isVerified
  return isUnproven ? { on: 'work.requested' } : input
}

function isImplausible({ occurredAt }: Return, at: number): boolean {
  return occurredAt > at + limits.occurredAtFutureMs
}

/** What the conditions of the table mean. @source rules#refund-in.states */
const GUARDS: Readonly<
  Record<GuardOf<typeof refundIn>, (now: RefundIn, cashIn: CashIn, input: RefundInInput, at: number) => boolean>
> = {
  'partner agrees when asked': (_now, _cashIn, input) => 'isVerified' in input && input.isVerified,
  'sending was not recorded': (now, _cashIn, input) =>
    input.on === 'partner.confirmed' && !input.isVerified && isNeverClaimed(now),
  'return was booked before': (_now, { facts }, input) =>
    input.on === 'partner.confirmed' && facts.returns?.[input.returned.returnId] !== undefined,
  'amount differs': ({ valueCents }, _cashIn, input) =>
    input.on === 'partner.confirmed' && input.returned.valueCents !== valueCents,
  'waits for a person': ({ facts }) => facts.doubt === 'contradiction',
  'facts differ': ({ facts }, _cashIn, input) =>
    input.on === 'partner.confirmed' && facts.returns?.[input.returned.returnId] !== Number(input.returned.valueCents),
  'reference differs': ({ transactionId }, cashIn, input) => {
    const told = input.on === 'send.accepted' ? ownReference(input.transactionId, cashIn) : null
    return transactionId !== null && told !== null && told !== transactionId
  },
  'money is held again': ({ facts }) => facts.heldAgainCents !== undefined,
  'never arrived and must not be sent again': ({ facts }, _cashIn, input, at) =>
    input.on === 'partner.not_found' && !input.maySendAgain && isProvenNotFound({ ...facts, ...notFound(facts, at) }),
}

function minimum(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

type Target = { readonly to: string; readonly posts?: string }

function changesOf(
  now: RefundIn,
  cashIn: CashIn,
  input: RefundInInput,
  row: Target,
  at: number,
  held: bigint,
): Changes {
  const changes = { ...referenceLearned(now, cashIn, input), ...learned(now, input, row, at, held) }
  const after = { ...now, status: row.to, facts: { ...now.facts, ...changes.facts } }
  return { ...changes, dueAt: changes.dueAt === undefined ? restingDueAt(after, at) : changes.dueAt }
}

function referenceLearned(now: RefundIn, cashIn: CashIn, input: RefundInInput): Changes {
  const told = 'transactionId' in input && input.transactionId !== null ? input.transactionId : undefined
  const reference = told === undefined ? null : ownReference(told, cashIn)
  return now.transactionId === null && reference !== null ? { transactionId: reference } : {}
}

/** What an input teaches. A `dueAt` here is a question to ask soon; otherwise the state says when work is due. */
function learned(now: RefundIn, input: RefundInInput, row: Target, at: number, held: bigint): Changes {
  const { facts } = now
  switch (input.on) {
    case 'work.requested':
      return { dueAt: at }
    case 'work.claimed':
      return { dueAt: at + input.leaseMs }
    case 'work.done':
      return {}
    case 'clock.overdue':
      return { dueAt: at, facts: { isOverdue: true } }
    case 'send.claimed':
      return { dueAt: at + input.leaseMs, facts: attempted(facts, at) }
    case 'send.accepted':
      return { facts: { isAccepted: true, ...(row.to === 'PENDING' ? NO_DOUBT : {}) } }
    case 'send.rejected':
      return { facts: row.to === 'FAILED' ? failure(input) : {} }
    case 'send.not_sent':
      return {
        // A late word about an attempt that another one followed does not disturb that one's lease.
        dueAt: input.attempt === facts.attempts && !waitsForPerson(now) ? at + retryDelayMs(facts) : now.dueAt,
        facts: { unsentAttempts: (facts.unsentAttempts ?? 0) + 1 },
      }
    case 'send.unknown':
      return { facts: unanswered(facts, at) }
    case 'send.contradicted':
      return { facts: { doubt: 'contradiction' } }
    case 'partner.not_found':
      return {
        facts: {
          ...notFound(facts, at),
          ...(row.to === 'PENDING' ? unanswered(facts, at) : {}),
          ...(row.to === 'FAILED' ? failure({ errorCode: 'not_found', errorMessage: null }) : {}),
        },
      }
    case 'partner.confirmed':
      return learnedOfReturn(now, input, row, at, held)
    case 'partner.failed':
      if (row.to === 'FAILED') return { facts: failure(input) }
      // Only an event says so yet: the bank is asked.
      return row.to === 'PENDING' ? { dueAt: at } : { facts: { doubt: 'contradiction' } }
    case 'clock.released':
      return { facts: failure({ errorCode: 'never_sent', errorMessage: null }) }
    case 'clock.escalated':
      return { facts: { doubt: 'missing', unknownSince: facts.unknownSince ?? at } }
  }
}

function failure({ errorCode, errorMessage }: { readonly errorCode: string; readonly errorMessage: string | null }) {
  return { failureCode: errorCode, failureReason: errorMessage, ...NO_DOUBT }
}

function learnedOfReturn(
  { status, facts }: RefundIn,
  { returned, isVerified }: Extract<RefundInInput, { on: 'partner.confirmed' }>,
  { posts }: Target,
  at: number,
  held: bigint,
): Changes {
  const { returnId, valueCents, occurredAt } = returned
  if (posts === undefined) {
    const isUnrecorded = status === 'PENDING' && !isVerified && (facts.attempts ?? 0) === 0
    return isUnrecorded ? { dueAt: at, facts: { doubt: 'unrecorded' } } : { facts: { doubt: 'contradiction' } }
  }
  const returns = { ...facts.returns, [returnId]: Number(valueCents) }
  if (posts === 'refund_in_confirmed') {
    return { facts: { returns, returnId, confirmedAt: occurredAt, ...NO_DOUBT } }
  }
  const again = posts === 'left_after_release' ? { heldAgainCents: Number(held) } : {}
  return { facts: { returns, doubt: 'contradiction', ...again } }
}

/** When a worker must look at a refund that nobody is working on. @source rules#refund-in.work */
function restingDueAt(now: RefundIn, at: number): number | null {
  const { status, facts } = now
  if (status !== 'PENDING' || waitsForPerson(now)) return null
  if (facts.doubt === 'missing') return at + limits.notFoundApartMs
  if (facts.isAccepted) return at + pollDelayMs(facts, at)
  // The last question is counted already.
  return isNeverClaimed(now) ? at : at + questionDelayMs({ questions: (facts.questions ?? 1) - 1 })
}

/**
 * What is to be done about a refund that is due.
 * @source rules#refund-in.work
 */
export function nextStep(now: RefundIn, at: number): Step {
  const { status, facts, createdAt } = now
  if (status !== 'PENDING' || waitsForPerson(now)) return 'ask'
  if (facts.isAccepted) return isOverdue(facts, at) ? 'case' : 'ask'
  if (isNeverClaimed(now)) return at - createdAt >= limits.unclaimedReleaseMs ? 'release' : 'send'
  if (isUnsentTooLong(facts, at)) return 'release'
  return isUnsent(facts) || isProvenNotFound(facts) ? 'send' : 'ask'
}

/**
 * The bytes that the merchant gets: `id` is the cash-in's, `transaction_id` this return's, as receivers tell refunds of one
 * payment apart by it.
 * @source rules#refund-in.told.1
 */
function notificationOf(
  refund: RefundIn,
  transactionId: string | null,
  occurredAt: number | null,
  status: string,
): Pick<Notification, 'status' | 'reference' | 'body'> {
  const event = {
    id: refund.detail.cashInId,
    correlation_id: refund.correlationId,
    external_id: refund.externalId,
    transaction_id: transactionId ?? refund.id,
    status,
    value_cents: Number(refund.valueCents),
    end_to_end_id: refund.endToEndId,
    fee_amount_cents: 0,
    confirmed_at: occurredAt === null ? null : nanosecondText(occurredAt),
    created_at: nanosecondText(refund.createdAt),
  }
  return { status, reference: '', body: Buffer.from(JSON.stringify({ event_type: 'pix_cash_in_reversal', event })) }
}

function toldOf(now: RefundIn, cashIn: CashIn, input: RefundInInput, to: string) {
  const { transactionId = now.transactionId } = referenceLearned(now, cashIn, input)
  const confirmedAt = input.on === 'partner.confirmed' ? input.returned.occurredAt : null
  return notificationOf(now, transactionId, input.on === 'partner.failed' ? input.occurredAt : confirmedAt, to)
}

/** What the operator of a case is told. */
function evidenceOf(input: RefundInInput): Document {
  switch (input.on) {
    case 'partner.confirmed': {
      const { returnId, valueCents, occurredAt } = input.returned
      return { returnId, valueCents: Number(valueCents), occurredAt, isVerified: input.isVerified }
    }
    case 'partner.failed':
      return { errorCode: input.errorCode, errorMessage: input.errorMessage, isVerified: input.isVerified }
    case 'send.rejected':
      return { errorCode: input.errorCode, errorMessage: input.errorMessage }
    case 'send.accepted':
      return { transactionId: input.transactionId }
    case 'send.contradicted':
      return { reason: input.reason }
    default:
      return {}
  }
}
