import {
  cashOut,
  feeCents,
  type GuardOf,
  limits,
  nanosecondText,
  normaliseDocument,
  type PixKeyType,
  Refusal,
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
import type { Party, PayoutReturn } from '../../partner/port.ts'
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
import { accountingDay, dayAfterRelease, dayAfterReserve, type SentDay } from './day.ts'

/**
 * What a cash-out does with each input. Pure: the table in the spec says where to go, this file says what its conditions
 * mean and what becomes known on the way.
 */

/** What the client asked for and the bank is told: never changes, so that every attempt is the same. */
export interface CashOutDetail extends Document {
  readonly description: string | null
  readonly paymentType: 'key' | 'qrcode'
  readonly recipient: CashOutRecipient
  /** The code, and the bank's decoding of it that every attempt names. */
  readonly qrCode: { readonly pixCode: string; readonly decodeId: string } | null
}

/** Who is to be paid. */
export type CashOutRecipient = {
  readonly name: string | null
  readonly document: string | null
  /** Normalised. */
  readonly pixKey: string
  /** `null` for a QR code: its bank knows the type. */
  readonly pixKeyType: PixKeyType | null
}

/** What became known since. Instants are epoch milliseconds. */
export interface CashOutFacts extends SendFacts {
  readonly dispatchedAt?: number
  /** Money that left, and was booked: end-to-end id → centavos. */
  readonly movements?: Readonly<Record<string, number>>
  /** Money that came back, and was credited: return id → centavos. */
  readonly returns?: Readonly<Record<string, number>>
  /** Returns that are in suspense: return id → centavos. */
  readonly suspendedReturns?: Readonly<Record<string, number>>
  readonly confirmedAt?: number
  /** What the bank says it took: evidence. */
  readonly partnerFeeCents?: number | null
  readonly recipientName?: string | null
  readonly recipientDocument?: string | null
  readonly recipientIspb?: string | null
  readonly failureCode?: string
  readonly failureReason?: string | null
  /** The reservation was given back. */
  readonly isReleased?: boolean
  /** What was reserved again after money had left nevertheless, centavos. */
  readonly heldAgainCents?: number
}

/** A cash-out as the engine keeps it. */
export type CashOut = Operation<CashOutDetail, CashOutFacts>

/** Money that left. */
export interface Movement {
  readonly endToEndId: string
  readonly valueCents: bigint
  /** The partner's word. */
  readonly occurredAt: number
  readonly feeCents: bigint | undefined
  readonly recipient: Party | null | undefined
  /** It went to somebody else than asked for. */
  readonly isElsewhere?: boolean
}

/** What can happen to a cash-out after its creation. `isVerified`: the bank said it when asked, not only in an event. */
export type CashOutInput =
  | { readonly on: 'work.requested' | 'work.done' | 'clock.released' | 'clock.overdue' | 'clock.escalated' }
  | { readonly on: 'work.claimed' | 'send.claimed'; readonly leaseMs: number }
  | { readonly on: 'send.accepted'; readonly transactionId: string }
  | { readonly on: 'send.rejected'; readonly errorCode: string; readonly errorMessage: string | null }
  | { readonly on: 'send.not_sent'; readonly attempt: number; readonly reason: string }
  | { readonly on: 'send.unknown' | 'send.contradicted'; readonly reason: string }
  | {
      readonly on: 'partner.confirmed'
      readonly movement: Movement
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
  | { readonly on: 'partner.returned'; readonly returned: PayoutReturn; readonly isVerified: boolean }
  | { readonly on: 'partner.not_found'; readonly maySendAgain: boolean }

/**
 * What became of an input. `IGNORED`: nothing to change, known already or too late. `IMPLAUSIBLE`: the partner's time
 * lies in the future, so it is not believed. `EARLY`: it cannot be true yet, but may be soon; the bank is asked.
 * `UNEXPECTED`: it cannot be true.
 */
export interface CashOutOutcome {
  readonly result: 'APPLIED' | 'IGNORED' | 'IMPLAUSIBLE' | 'EARLY' | 'UNEXPECTED'
  /** The cash-out as it is now. */
  readonly cashOut: CashOut
}

/** A create as the edge hands it over: shapes judged, money exact, nothing else decided. */
export interface CashOutRequest {
  readonly id: string
  readonly valueCents: bigint
  readonly externalId: string
  readonly detail: Omit<CashOutDetail, 'recipient'> & {
    /** `pixKey` is `null` where it does not match its type. */
    readonly recipient: Omit<CashOutRecipient, 'pixKey'> & { readonly pixKey: string | null }
  }
  /** What no other payout may pay at the same time: a dynamic code. */
  readonly exclusiveKey: string | null
  readonly correlationId: string
  readonly bodyHash: Buffer
  /** The client's `Idempotency-Key` with its scope; `null` where it sent none. */
  readonly idempotencyKey: string | null
}

/** The merchant's part of a create: configuration. */
export interface CashOutTerms {
  readonly fee: { readonly cents: bigint; readonly basisPoints: bigint }
  readonly maxValueCents: bigint
  /** `null`: no cap of its own. */
  readonly cashOutMaxCents: bigint | null
  readonly cashOutDailyMaxCents: bigint | null
}

/**
 * Decides a create. The whole of value and fee is set aside, or nothing is stored.
 * @throws cash_out_suspended (503) · value_not_positive · value_too_large · pix_key_type_mismatch · invalid_document ·
 *   limit_exceeded · receivable_outstanding · insufficient_balance (422)
 * @source rules#cash-out.create.3, rules#cash-out.limits.1, rules#fees.3
 */
export function decideCreate(
  request: CashOutRequest,
  terms: CashOutTerms,
  state: State,
  now: number,
): Decision<CashOut> {
  if (!isEnabled(state)) throw new Refusal('cash_out_suspended')
  const { valueCents } = request
  assertValue(valueCents, terms)
  const recipient = validRecipient(request.detail.recipient)
  const fee = feeCents(valueCents, terms.fee)
  if (terms.cashOutMaxCents !== null && valueCents > terms.cashOutMaxCents) throw limitExceeded('per cash-out')
  const controls = dailyTotal(valueCents, terms.cashOutDailyMaxCents, state, now)
  if (state.balance('receivable') < 0n) throw new Refusal('receivable_outstanding')
  if (state.balance('available') < valueCents + fee) throw new Refusal('insufficient_balance')
  const create: Create = {
    operation: {
      id: request.id,
      kind: 'cash_out',
      externalId: request.externalId,
      status: 'RESERVED',
      valueCents,
      feeCents: fee,
      correlationId: request.correlationId,
      bodyHash: request.bodyHash,
      idempotencyKey: request.idempotencyKey,
      exclusiveKey: request.exclusiveKey,
      expiresAt: null,
      dueAt: now,
      transactionId: null,
      endToEndId: null,
      detail: { ...request.detail, recipient },
      facts: {},
    },
  }
  return {
    creates: [create],
    journals: [
      { operationId: request.id, kind: 'cash_out_reserved', reference: '', amounts: { v: valueCents, f: fee } },
    ],
    controls,
    exact: ['receivable'],
    outcome: created(create, now) as CashOut,
  }
}

/** Whether payouts are accepted and sent. @source rules#operator.switch.2, failure-modes#CO-24 */
function isEnabled(state: State): boolean {
  return state.control('cash_out_switch').enabled === true
}

function assertValue(valueCents: bigint, { maxValueCents }: CashOutTerms): void {
  if (valueCents <= 0n) throw new Refusal('value_not_positive', field('transaction.value', 'not_positive'))
  if (valueCents > maxValueCents) throw new Refusal('value_too_large', field('transaction.value', 'too_large'))
}

function validRecipient({ pixKey, document, ...rest }: CashOutRequest['detail']['recipient']): CashOutRecipient {
  if (pixKey === null) throw new Refusal('pix_key_type_mismatch', field('recipient.pixKey', 'pix_key_type_mismatch'))
  const normalised = document === null ? null : normaliseDocument(document)
  if (document !== null && normalised === null) {
    throw new Refusal('invalid_document', field('recipient.document', 'invalid_document'))
  }
  return { ...rest, pixKey, document: normalised }
}

/** The day's total with this payout; it is kept only where there is a cap on it. @source rules#cash-out.limits.2 */
function dailyTotal(valueCents: bigint, dailyMaxCents: bigint | null, state: State, now: number) {
  if (dailyMaxCents === null) return {}
  const day = dayAfterReserve(state.control('cash_out_day') as SentDay, accountingDay(now), valueCents)
  if (BigInt(day.sentCents) > dailyMaxCents) throw limitExceeded('per day')
  return { cash_out_day: day }
}

function limitExceeded(which: string): Refusal {
  return new Refusal('limit_exceeded', { message: `the configured limit ${which} would be exceeded` })
}

function field(name: string, code: string) {
  return { fields: [{ field: name, code, message: `${name} is not acceptable: ${code}` }] }
}

/**
 * Decides inputs one after the other, as one change: a confirmation and the returns that came with it.
 * @source failure-modes#EV-22
 */
export function decideCashOut(
  cashOutNow: CashOut,
  inputs: readonly CashOutInput[],
  { cashOutDailyMaxCents }: Pick<CashOutTerms, 'cashOutDailyMaxCents'>,
  state: State,
  now: number,
): Decision<CashOutOutcome> {
  const keepsDay = cashOutDailyMaxCents !== null
  let decision: Decision<CashOutOutcome> = { outcome: { result: 'IGNORED', cashOut: cashOutNow } }
  for (const input of inputs) {
    const next = decideOne(decision.outcome.cashOut, input, keepsDay, state, now)
    decision = {
      moves: [...(decision.moves ?? []), ...(next.moves ?? [])],
      journals: [...(decision.journals ?? []), ...(next.journals ?? [])],
      notifications: [...(decision.notifications ?? []), ...(next.notifications ?? [])],
      cases: [...(decision.cases ?? []), ...(next.cases ?? [])],
      exact: [...(decision.exact ?? []), ...(next.exact ?? [])],
      controls: { ...decision.controls, ...next.controls },
      outcome:
        next.outcome.result === 'IGNORED' ? { ...decision.outcome, cashOut: next.outcome.cashOut } : next.outcome,
    }
  }
  return decision
}

/**
 * Decides one input by the machine's table.
 * @source rules#cash-out.states
 */
function decideOne(
  cashOutNow: CashOut,
  given: CashOutInput,
  keepsDay: boolean,
  state: State,
  now: number,
): Decision<CashOutOutcome> {
  // Nothing is sent from the commit of the switch on, whatever a worker has read before.
  const input = given.on === 'send.claimed' && !isEnabled(state) ? 'IGNORED' : judged(cashOutNow, given, now)
  if (typeof input === 'string') return { outcome: { result: input, cashOut: cashOutNow } }
  const held = minimum(state.balance('available'), cashOutNow.valueCents + cashOutNow.feeCents)
  const decision = follow(
    cashOut,
    cashOutNow,
    {
      on: input.on,
      holds: (guard) => GUARDS[guard](cashOutNow, input, now),
      changes: (row) => changesOf(cashOutNow, input, row, now, held),
      amounts: {
        v: cashOutNow.valueCents,
        f: cashOutNow.feeCents,
        h: held,
        p: moneyOf(input),
        w: moneyOf(input),
      },
      reference: referenceOf(input),
      notification: (to) => notificationOf(cashOutNow, input, to),
      evidence: evidenceOf(input),
      outcome: (after, isApplied) => ({
        result: isApplied ? 'APPLIED' : unmatched(cashOutNow, input),
        cashOut: after as CashOut,
      }),
    },
    now,
  )
  return { ...decision, ...sideEffects(cashOutNow, decision, keepsDay, state) }
}

/** What no row takes: a failure or a return of what was never sent or has not been confirmed yet. */
function unmatched({ status }: CashOut, { on }: CashOutInput): CashOutOutcome['result'] {
  if (on === 'partner.returned') return status === 'REVERSED' ? 'IGNORED' : 'EARLY'
  return on === 'partner.failed' && status === 'RESERVED' ? 'UNEXPECTED' : 'IGNORED'
}

/** What depends on more than the operation: a held balance, and the day's total. */
function sideEffects(
  { valueCents, createdAt }: CashOut,
  { journals = [] }: Decision<unknown>,
  keepsDay: boolean,
  state: State,
): Pick<Decision<unknown>, 'exact' | 'controls'> {
  const posts = (kind: string) => journals.some((journal) => journal.kind === kind)
  return {
    ...(posts('left_after_release') ? { exact: ['available'] as const } : {}),
    ...(keepsDay && posts('cash_out_released')
      ? {
          controls: {
            cash_out_day: dayAfterRelease(
              state.control('cash_out_day') as SentDay,
              accountingDay(createdAt),
              valueCents,
            ),
          },
        }
      : {}),
  }
}

/** An input that the table may see: known facts are taken out, unverified ones lead to a question where that is due. */
function judged(
  now: CashOut,
  input: CashOutInput,
  at: number,
): CashOutInput | Exclude<CashOutOutcome['result'], 'APPLIED'> {
  switch (input.on) {
    case 'partner.confirmed':
      return judgedConfirmation(now, input, at)
    case 'partner.returned':
      return judgedReturn(now, input, at)
    case 'partner.failed':
      return now.status === 'RECONCILIATION_REQUIRED' && !input.isVerified ? { on: 'work.requested' } : input
    case 'send.accepted':
      return now.facts.isAccepted &&
        now.transactionId === input.transactionId &&
        now.status !== 'PROVIDER_RESULT_UNKNOWN'
        ? 'IGNORED'
        : input
    case 'send.unknown':
      if (now.status === 'PROVIDER_RESULT_UNKNOWN' && isUnansweredTooLong(now.facts, at))
        return { on: 'clock.escalated' }
      // A question that failed says nothing about an order that the bank is known to have.
      return now.facts.isAccepted ? 'IGNORED' : input
    case 'work.claimed':
      return isDue(now, at) ? input : 'IGNORED'
    // Between the worker's look and its word another process may have sent it.
    case 'send.claimed':
      return isDue(now, at) && nextStep(now, at) === 'send' ? input : 'IGNORED'
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

function isDue({ dueAt }: CashOut, at: number): boolean {
  return dueAt !== null && dueAt <= at
}

function judgedConfirmation(
  now: CashOut,
  input: Extract<CashOutInput, { on: 'partner.confirmed' }>,
  at: number,
): CashOutInput | 'IGNORED' | 'IMPLAUSIBLE' {
  const { endToEndId, valueCents, occurredAt } = input.movement
  if (occurredAt > at + limits.occurredAtFutureMs) return 'IMPLAUSIBLE'
  const booked = now.facts.movements?.[endToEndId]
  if (booked !== undefined && (BigInt(booked) === valueCents || now.status !== 'CONFIRMED')) return 'IGNORED'
  const isUnproven = now.facts.doubt === 'unrecorded' && !input.isVerified
  return isUnproven ? { on: 'work.requested' } : input
}

function judgedReturn(
  now: CashOut,
  input: Extract<CashOutInput, { on: 'partner.returned' }>,
  at: number,
): CashOutInput | 'IGNORED' | 'IMPLAUSIBLE' {
  const { returnId, occurredAt } = input.returned
  if (occurredAt > at + limits.occurredAtFutureMs) return 'IMPLAUSIBLE'
  if (now.facts.returns?.[returnId] !== undefined || now.facts.suspendedReturns?.[returnId] !== undefined)
    return 'IGNORED'
  return now.status === 'RECONCILIATION_REQUIRED' && !input.isVerified ? { on: 'work.requested' } : input
}

/** What the conditions of the table mean. @source rules#cash-out.states */
const GUARDS: Readonly<Record<GuardOf<typeof cashOut>, (now: CashOut, input: CashOutInput, at: number) => boolean>> = {
  'partner agrees when asked': (_, input) => 'isVerified' in input && input.isVerified,
  'amount differs': ({ valueCents }, input) =>
    input.on === 'partner.confirmed' &&
    (input.movement.valueCents !== valueCents || input.movement.isElsewhere === true),
  'facts differ': ({ facts }, input) =>
    input.on === 'partner.confirmed' &&
    facts.movements?.[input.movement.endToEndId] !== Number(input.movement.valueCents),
  'reference differs': ({ transactionId }, input) =>
    input.on === 'send.accepted' && transactionId !== null && transactionId !== input.transactionId,
  'returns exceed the payout': (now, input) =>
    input.on === 'partner.returned' && reversedCents(now.facts) + input.returned.valueCents > now.valueCents,
  'never arrived and must not be sent again': (now, input, at) =>
    input.on === 'partner.not_found' &&
    !input.maySendAgain &&
    isOpen(now) &&
    isProvenNotFound({ ...now.facts, ...notFound(now.facts, at) }),
  'evidence was missing': ({ facts }) => facts.doubt === 'missing',
  'sending was not recorded': ({ facts }) => facts.doubt === 'unrecorded',
  'hold is gone': ({ facts }) => facts.isReleased === true,
}

/** What came back so far and was credited, centavos. */
export function reversedCents({ returns }: CashOutFacts): bigint {
  return Object.values(returns ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

function minimum(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function moneyOf(input: CashOutInput): bigint {
  if (input.on === 'partner.confirmed') return input.movement.valueCents
  return input.on === 'partner.returned' ? input.returned.valueCents : 0n
}

function referenceOf(input: CashOutInput): string {
  if (input.on === 'partner.confirmed') return input.movement.endToEndId
  return input.on === 'partner.returned' ? input.returned.returnId : ''
}

type Target = { readonly to: string; readonly posts?: string }

function changesOf(now: CashOut, input: CashOutInput, row: Target, at: number, held: bigint): Changes {
  const changes = learned(now, input, row, at, held)
  const after = { ...now, status: row.to, facts: { ...now.facts, ...changes.facts } }
  return {
    ...changes,
    dueAt: changes.dueAt === undefined ? restingDueAt(after, at) : changes.dueAt,
    ...(row.posts === 'cash_out_released' ? { givesUpExclusiveKey: true } : {}),
  }
}

/** What an input teaches. A `dueAt` here is a question to ask soon; otherwise the state says when work is due. */
function learned(now: CashOut, input: CashOutInput, row: Target, at: number, held: bigint): Changes {
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
      return {
        dueAt: at + input.leaseMs,
        facts: { ...attempted(facts, at), dispatchedAt: facts.dispatchedAt ?? at },
      }
    case 'send.accepted':
      return {
        ...(now.transactionId === null ? { transactionId: input.transactionId } : {}),
        // What was given back may leave all the same: the bank is asked at once.
        ...(row.to === 'RECONCILIATION_REQUIRED' ? { dueAt: at } : {}),
        facts: { isAccepted: true, ...doubtAfterAcceptance(row.to) },
      }
    case 'send.rejected':
      return { facts: row.to === 'FAILED' ? failure(input) : {} }
    case 'send.not_sent':
      return {
        // A late word about an attempt that another one followed does not disturb that one's lease.
        ...(input.attempt === facts.attempts ? { dueAt: at + retryDelayMs(facts) } : { dueAt: now.dueAt }),
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
          ...unanswered(facts, at),
          ...(row.to === 'FAILED' ? failure({ errorCode: 'not_found', errorMessage: null }) : {}),
        },
      }
    case 'partner.confirmed':
      return learnedOfMovement(now, input, row, at, held)
    case 'partner.returned':
      return learnedOfReturn(facts, input.returned, row, at)
    case 'partner.failed':
      return {
        ...(now.transactionId === null && input.transactionId !== null ? { transactionId: input.transactionId } : {}),
        ...learnedOfFailure(now, input, row, at),
      }
    case 'clock.released':
      return { facts: failure({ errorCode: 'never_sent', errorMessage: null }) }
    case 'clock.escalated':
      return { facts: { doubt: 'missing', unknownSince: facts.unknownSince ?? at } }
  }
}

function doubtAfterAcceptance(status: string): CashOutFacts {
  if (status === 'DISPATCHED') return NO_DOUBT
  return status === 'RECONCILIATION_REQUIRED' ? { doubt: 'contradiction' } : {}
}

function failure({ errorCode, errorMessage }: { readonly errorCode: string; readonly errorMessage: string | null }) {
  return { failureCode: errorCode, failureReason: errorMessage, isReleased: true, ...NO_DOUBT }
}

function learnedOfFailure(
  now: CashOut,
  input: Extract<CashOutInput, { on: 'partner.failed' }>,
  row: Target,
  at: number,
): Changes {
  if (row.to === 'FAILED') return { facts: failure(input) }
  // Only an event says so yet: the bank is asked.
  if (row.to === now.status) return { dueAt: at }
  return { dueAt: at, facts: { doubt: 'contradiction' } }
}

function learnedOfMovement(
  now: CashOut,
  { movement, transactionId, isVerified }: Extract<CashOutInput, { on: 'partner.confirmed' }>,
  row: Target,
  at: number,
  held: bigint,
): Changes {
  const ids = now.transactionId === null ? { transactionId } : {}
  if (row.posts === undefined) {
    const isUnrecorded = now.status === 'RESERVED'
    return {
      ...ids,
      ...(isUnrecorded ? { dueAt: at } : {}),
      facts: { doubt: isUnrecorded && !isVerified ? 'unrecorded' : 'contradiction' },
    }
  }
  const movements = { ...now.facts.movements, [movement.endToEndId]: Number(movement.valueCents) }
  if (row.posts !== 'cash_out_confirmed') {
    const again = row.posts === 'left_after_release' ? { heldAgainCents: Number(held), isReleased: false } : {}
    return { ...ids, facts: { movements, doubt: 'contradiction', ...again } }
  }
  return {
    ...ids,
    endToEndId: movement.endToEndId,
    facts: {
      movements,
      confirmedAt: movement.occurredAt,
      partnerFeeCents: movement.feeCents === undefined ? null : Number(movement.feeCents),
      recipientName: movement.recipient?.name ?? null,
      recipientDocument: movement.recipient?.document ?? null,
      recipientIspb: movement.recipient?.ispb ?? null,
      ...NO_DOUBT,
    },
  }
}

function learnedOfReturn(
  facts: CashOutFacts,
  { returnId, valueCents }: PayoutReturn,
  row: Target,
  at: number,
): Changes {
  const returned = { [returnId]: Number(valueCents) }
  if (row.posts === 'cash_out_returned') return { facts: { returns: { ...facts.returns, ...returned } } }
  if (row.posts === undefined) return { dueAt: at, facts: { doubt: 'contradiction' } }
  return { facts: { suspendedReturns: { ...facts.suspendedReturns, ...returned }, doubt: 'contradiction' } }
}

/** When a worker must look at a cash-out that nobody is working on. @source rules#cash-out.work */
function restingDueAt({ status, facts }: CashOut, at: number): number | null {
  if (status === 'RESERVED') return at
  if (status === 'DISPATCHED') return at + pollDelayMs(facts, at)
  // The last question is counted already.
  if (status === 'PROVIDER_RESULT_UNKNOWN') return at + questionDelayMs({ questions: (facts.questions ?? 1) - 1 })
  if (status === 'RECONCILIATION_REQUIRED' && facts.doubt === 'missing') return at + limits.notFoundApartMs
  return null
}

/**
 * What is to be done about a cash-out that is due.
 * @source rules#cash-out.work
 */
export function nextStep(now: CashOut, at: number): Step {
  const { status, facts, createdAt } = now
  if (status === 'RESERVED') return at - createdAt >= limits.unclaimedReleaseMs ? 'release' : 'send'
  if (!isOpen(now)) return 'ask'
  if (facts.isAccepted) return isOverdue(facts, at) ? 'case' : 'ask'
  if (status === 'DISPATCHED' && isUnsentTooLong(facts, at)) return 'release'
  return isUnsent(facts) || isProvenNotFound(facts) ? 'send' : 'ask'
}

/** Whether the bank's answer alone decides: it may be under way, and nothing contradicts that. */
function isOpen({ status, facts }: CashOut): boolean {
  return status === 'DISPATCHED' || status === 'PROVIDER_RESULT_UNKNOWN' || facts.doubt === 'missing'
}

/** The bytes that the merchant gets. A release is told as a failure, as every payout has one end. @source rules#events.3 */
function notificationOf(
  now: CashOut,
  input: CashOutInput,
  to: string,
): Pick<Notification, 'status' | 'reference' | 'body'> {
  const status = to === 'RELEASED' ? 'FAILED' : to
  const movement = input.on === 'partner.confirmed' ? input.movement : undefined
  const returned = input.on === 'partner.returned' ? input.returned : undefined
  const occurredAt =
    movement?.occurredAt ?? returned?.occurredAt ?? (input.on === 'partner.failed' ? input.occurredAt : null)
  const transactionId = 'transactionId' in input ? input.transactionId : null
  const event = {
    id: now.id,
    correlation_id: now.correlationId,
    external_id: now.externalId,
    transaction_id: now.transactionId ?? transactionId,
    status,
    value_cents: Number(returned?.valueCents ?? now.valueCents),
    end_to_end_id: movement?.endToEndId ?? now.endToEndId,
    fee_amount_cents: status === 'CONFIRMED' ? Number(now.feeCents) : 0,
    confirmed_at: occurredAt === null ? null : nanosecondText(occurredAt),
    created_at: nanosecondText(now.createdAt),
  }
  const eventType = returned ? 'pix_cash_out_reversal' : 'pix_cash_out'
  return {
    status,
    reference: returned?.returnId ?? '',
    body: Buffer.from(JSON.stringify({ event_type: eventType, event })),
  }
}

/** What the operator of a case is told. */
function evidenceOf(input: CashOutInput): Document {
  switch (input.on) {
    case 'partner.confirmed': {
      const { endToEndId, valueCents, occurredAt, isElsewhere = false } = input.movement
      return { endToEndId, valueCents: Number(valueCents), occurredAt, isElsewhere, isVerified: input.isVerified }
    }
    case 'partner.returned': {
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
