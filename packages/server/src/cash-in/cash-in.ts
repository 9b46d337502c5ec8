import { parseBrCode } from '@pixgate/brcode'
import { limits, nanosecondText } from '@pixgate/spec'
import type { Charge, ChargeAnswer, ChargeQueryAnswer, Payment, PaymentReturn } from '../banks/port.ts'
import { draftNotification, type NotificationDraft, type ReasonFact, reasonOf } from '../engine/follow.ts'
import type { Document, MovementId, Operation, Ordered } from '../engine/operation.ts'
import type { FailureInput } from '../operations/orders.ts'
import type { MadeBy, MadeByFact } from '../operations/requests.ts'
import { own } from '../platform/own.ts'
import type { ReportedFacts } from './reported.ts'
import { countedReturn, paidCents, paidFeeCents, type RefundEvent, type ReturnFacts } from './returns.ts'

/** The client's request plus the merchant's data. Immutable, so that every attempt sends the same bytes. */
export interface CashInDetail extends Document {
  readonly description: string | null
  readonly generateQrCode: boolean
  readonly payer: { readonly fullName: string; readonly document: string } | null
  readonly merchant: { readonly pixKey: string; readonly name: string; readonly city: string }
}

export interface CashInFacts extends MadeByFact, ReasonFact, ReportedFacts, ReturnFacts {
  readonly pixCode?: string
  /** Offset of the bank's clock when it created the charge, milliseconds; absent if unmeasured. */
  readonly stampOffsetMs?: number
  /** Booked payments: end-to-end id → centavos. */
  readonly payments?: Readonly<Record<string, number>>
  /** Payments of this charge that are booked on another operation: end-to-end id → centavos. */
  readonly elsewhere?: Readonly<Record<string, number>>
  /** By the bank's clock, epoch milliseconds. */
  readonly paidAt?: number
  readonly payerName?: string | null
  readonly payerDocument?: string | null
  readonly payerIspb?: string | null
  readonly failureCode?: string
  readonly failureReason?: string | null
  /** Start of the missing answer, and the number of queries since. */
  readonly unknownSince?: number | null
  readonly questions?: number
  /** The merchant's request to cancel the charge. */
  readonly cancelRequested?: MadeBy & { readonly at: number }
  readonly leaseUntil?: number | null
  /** An event requested another status query; cleared by the next claim. */
  readonly isQuestionWanted?: boolean
  /** Queries since the last event that returned no outcome; `null`: settled or exhausted. */
  readonly eventQueries?: number | null
  readonly inconclusive?: number
  /** No byte of any create attempt was sent: `proven`, or `claimed` while an attempt may be in progress. */
  readonly unsent?: 'proven' | 'claimed' | null
  /** Last claim after which the bank may have received a create request. */
  readonly lastAttemptAt?: number
  /** First and last time that the bank answered «not found». */
  readonly notFoundSince?: number | null
  readonly notFoundAt?: number | null
  /** Time of expiry, only for a bank without a statement to find late payments in; and its last answer since. */
  readonly expiredAt?: number
  readonly answeredAt?: number
  readonly isEndCaseOpen?: boolean
  readonly isPaymentCaseOpen?: boolean
  /** The bank's answer after a contradiction, evidence for the operator. */
  readonly bankAnswer?: Document
  /** Payments that operators moved out of suspense: end-to-end id → centavos. */
  readonly decidedPayments?: Readonly<Record<string, number>>
  /** Amount that an operator accepted as the payment, centavos; absent: the charge's value. */
  readonly acceptedCents?: number
  /** Credits that an operator reversed: end-to-end id → centavos. */
  readonly reversed?: Readonly<Record<string, number>>
  /** Charge that originally received the payment, if an operator attributed it; the bank reports changes there. */
  readonly receivedFrom?: string
}

export type CashIn = Operation<'cash_in', CashInDetail, CashInFacts> & Ordered

export function isCashIn(operation: Operation | undefined): operation is CashIn {
  return operation?.kind === 'cash_in'
}

export type CashInInput =
  | { readonly on: 'cancel.requested'; readonly by: MadeBy }
  | { readonly on: 'work.requested' }
  | { readonly on: 'work.claimed'; readonly leaseMs: number }
  | {
      readonly on: 'work.done'
      readonly bankAnswer: Document
      readonly isAnswered: boolean
      readonly hasOutcome: boolean
    }
  | {
      readonly on: 'clock.expired'
      /** The bank's statement is read, so late payments are found there. */
      readonly isSwept: boolean
    }
  | {
      readonly on: 'charge.not_found'
      /** Claim time of the status query. */
      readonly askedAt: number
      readonly isSwept: boolean
    }
  | {
      readonly on: 'charge.accepted'
      readonly transactionId: string
      /** Absent for an ended charge without a displayable code. */
      readonly pixCode?: string
      /** Measured in the answer that created the charge. */
      readonly stampOffsetMs?: number
      /** The bank's expiry, if the bank had the charge before it was ordered here. */
      readonly expiresAt?: number
    }
  | { readonly on: 'charge.rejected'; readonly errorCode: string; readonly errorMessage: string | null }
  | { readonly on: 'charge.unknown' | 'charge.contradicted'; readonly reason: string }
  | {
      readonly on: 'charge.not_sent'
      readonly reason: string
      readonly isUnsent?: boolean
    }
  | {
      readonly on: 'partner.confirmed'
      readonly payment: Payment
      /** `null` if reported by the statement. */
      readonly transactionId: string | null
      readonly isContradicted?: true
      readonly isBookedElsewhere?: boolean
      /** Reported by an event only: query the bank before booking, or (sandbox) book at once. */
      readonly unverified?: 'query' | 'book'
    }
  | FailureInput

/** `IGNORED`: no change, or too late. `IMPLAUSIBLE`: the bank's timestamp is in the future. */
export interface CashInOutcome {
  readonly result: 'APPLIED' | 'IGNORED' | 'IMPLAUSIBLE'
  readonly cashIn: CashIn
}

/** Sum of all payments received, credited or in suspense, centavos. @source rules#cash-in.detail.1 */
export function receivedCents({ facts }: CashIn): bigint {
  return Object.values(facts.payments ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

const REFUND_WINDOW_MS = limits.refundDeadlineDays * 24 * 60 * 60 * 1_000

/**
 * Last instant at which a paid cash-in can be refunded, epoch milliseconds; `null` if unpaid.
 * @source rules#cash-in.detail.5
 */
export function refundDeadline({ facts }: CashIn): number | null {
  return facts.paidAt === undefined ? null : facts.paidAt + REFUND_WINDOW_MS
}

export function movementOf({ endToEndId }: Payment): MovementId {
  return { direction: 'in', id: endToEndId }
}

/** The bank has the charge, so its code may be paid. */
export function isKnownAtBank({ transactionId, facts }: CashIn): boolean {
  return facts.pixCode !== undefined || transactionId !== null
}

/** The charge has not ended. After a contradiction an operator decides. */
export function isWanted(cashIn: CashIn): boolean {
  const { status } = cashIn
  return status === 'PENDING' || status === 'PROVIDER_RESULT_UNKNOWN' || reasonOf(cashIn) === 'no_answer'
}

export function isCancelRequested({ facts }: Pick<CashIn, 'facts'>): boolean {
  return facts.cancelRequested !== undefined
}

export function isOver({ expiresAt }: Pick<CashIn, 'expiresAt'>, nowMs: number): boolean {
  return expiresAt !== null && nowMs > expiresAt
}

/** Amount booked under a payment's end-to-end id, centavos. */
export function bookedAmount({ facts }: CashIn, { endToEndId }: Pick<Payment, 'endToEndId'>): bigint | undefined {
  const cents = own(facts.payments, endToEndId)
  return cents === undefined ? undefined : BigInt(cents)
}

export type CashInEvent = CashInInput | RefundEvent

/**
 * Status shown to clients: `EXPIRED` from the expiry on, even before a worker writes it.
 * @source rules#cash-in.detail.3
 */
export function statusAt(cashIn: Pick<CashIn, 'status' | 'expiresAt'>, nowMs: number): string {
  return isOverdue(cashIn, nowMs) ? 'EXPIRED' : cashIn.status
}

/** Overdue, but `EXPIRED` is not written yet. */
function isOverdue(cashIn: Pick<CashIn, 'status' | 'expiresAt'>, nowMs: number): boolean {
  return cashIn.status === 'PENDING' && isOver(cashIn, nowMs)
}

export interface Circumstances {
  readonly now: number
  readonly isSwept: boolean
}

/** Translates an answer of the bank into inputs. @source failure-modes#P5 */
export function inputsOf(
  cashIn: CashIn,
  answer: Exclude<ChargeAnswer | ChargeQueryAnswer, { kind: 'NOT_FOUND' }>,
  { now, isSwept }: Circumstances,
): CashInInput[] {
  switch (answer.kind) {
    case 'REJECTED':
      return [
        {
          on: 'charge.rejected',
          errorCode: answer.errorCode.slice(0, FAILURE_CODE_MAX),
          errorMessage: answer.errorMessage ?? null,
        },
      ]
    case 'NOT_SENT':
      return isCharged(cashIn) ? [] : [{ on: 'charge.not_sent', reason: answer.reason }]
    case 'UNKNOWN':
      return isCharged(cashIn) ? [] : [{ on: 'charge.unknown', reason: answer.reason }]
    case 'CONTRADICTED':
      return contradictionInputs(cashIn, answer.charge, answer.reason)
    case 'ACCEPTED':
      return chargeInputs(cashIn, answer.charge)
    case 'FINAL':
      return [
        ...chargeInputs(cashIn, answer.charge),
        ...endInputs({ ...cashIn, ...adopted(cashIn, answer.charge) }, answer.charge, { now, isSwept }),
      ]
  }
}

export type ReturnOfPayment = PaymentReturn & { readonly endToEndId: string }

/**
 * Unbooked returns of the credited payment, or of one decided by an operator. Other payments' returns do not concern
 * this charge.
 * @source rules#cash-in.returns.6
 */
export function returnsIn(
  cashIn: CashIn,
  answer: Exclude<ChargeAnswer | ChargeQueryAnswer, { kind: 'NOT_FOUND' }>,
): readonly ReturnOfPayment[] {
  const { orderId, endToEndId, facts } = cashIn
  if (!('charge' in answer) || answer.charge.id !== orderId) return []
  const relevant = answer.charge.payments.filter(
    (payment) => payment.endToEndId === endToEndId || own(facts.decidedPayments, payment.endToEndId) !== undefined,
  )
  return relevant
    .flatMap(({ endToEndId, returns = [] }) => returns.map((returned) => ({ ...returned, endToEndId })))
    .filter(({ returnId, valueCents }) => countedReturn(cashIn, returnId) !== valueCents)
}

/** Evidence for the operator, without names and documents. */
export function answerEvidence(answer: ChargeQueryAnswer): Document {
  if (!('charge' in answer)) return { ...answer }
  const { transactionId, status, valueCents, expiresAt, payments } = answer.charge
  return {
    transactionId,
    status,
    valueCents: Number(valueCents),
    expiresAt,
    payments: payments.map(({ endToEndId, valueCents, occurredAt, returns }) => ({
      endToEndId,
      valueCents: Number(valueCents),
      occurredAt,
      ...(returns && {
        returns: returns.map((returned) => ({ ...returned, valueCents: Number(returned.valueCents) })),
      }),
    })),
  }
}

const FAILURE_CODE_MAX = 64

/** A failed status query proves nothing about a charge that exists. */
function isCharged({ facts }: CashIn): boolean {
  return facts.pixCode !== undefined
}

/** Banks count whole seconds from their own creation time, so their expiry differs by up to this. */
const SAME_END_MS = 60_000

const HOUR_MS = 3_600_000
const ZONE_MAX_MS = 14 * HOUR_MS

/**
 * Adopts the bank's expiry of a charge that predates our order, as after a restored backup. A difference of whole hours
 * is the bank's time zone, not another expiry.
 * @source rules#restored.5, rules#api-pix.17
 */
function adopted({ transactionId, expiresAt }: CashIn, charge: Charge): { readonly expiresAt?: number } {
  if (transactionId !== null || expiresAt === null) return {}
  const differenceMs = Math.abs(charge.expiresAt - expiresAt)
  const hoursMs = Math.min(Math.round(differenceMs / HOUR_MS) * HOUR_MS, ZONE_MAX_MS)
  return Math.abs(differenceMs - hoursMs) > SAME_END_MS ? { expiresAt: charge.expiresAt } : {}
}

function chargeInputs(cashIn: CashIn, charge: Charge): CashInInput[] {
  const { transactionId, status, payments, stampOffsetMs } = charge
  const pixCode = charge.pixCode !== undefined && isBrCode(charge.pixCode) ? charge.pixCode : undefined
  // An ended charge needs no code.
  if (status === 'ACTIVE' && pixCode === undefined)
    return contradictionInputs(cashIn, charge, 'pixCode is not a valid BR Code')
  return [
    {
      on: 'charge.accepted',
      transactionId,
      ...(pixCode !== undefined && { pixCode }),
      ...(stampOffsetMs !== undefined && { stampOffsetMs }),
      ...adopted(cashIn, charge),
    },
    ...payments.map((payment) => ({ on: 'partner.confirmed', payment, transactionId }) as const),
  ]
}

/**
 * Books money that arrived even if the rest of the answer contradicts the order. Payments of another charge's id are
 * not ours.
 * @source rules#cash-in.states.12, failure-modes#P7
 */
function contradictionInputs(cashIn: CashIn, { id, transactionId, payments }: Charge, reason: string): CashInInput[] {
  const ours = id === cashIn.orderId ? payments : []
  return [
    { on: 'charge.contradicted', reason },
    ...ours.map((payment) => ({ on: 'partner.confirmed', payment, transactionId, isContradicted: true }) as const),
  ]
}

function isBrCode(text: string): boolean {
  try {
    parseBrCode(text)
    return true
  } catch {
    return false
  }
}

type EndedCharge = Pick<Charge, 'status'> & Pick<CashIn, 'transactionId'>

/** A charge that ended unpaid: by our expiry or, before it, by the bank. */
function endInputs(cashIn: CashIn, charge: Charge, { now, isSwept }: Circumstances): CashInInput[] {
  const { status, payments } = charge
  if (payments.length > 0) return []
  // A payment is booked, so «ended unpaid» contradicts it under any status.
  if (Object.keys(cashIn.facts.payments ?? {}).length > 0) return [endedInput(charge)]
  const isLate = isOver(cashIn, now)
  const expired: CashInInput[] = isLate ? [{ on: 'clock.expired', isSwept }] : []
  // A failure contradicts a payment even after the expiry; an unpaid charge expires as well.
  if (status === 'FAILED' || (status !== 'EXPIRED' && !isLate)) return [endedInput(charge), ...expired]
  // The bank's clock is ahead of ours; ours decides the expiry.
  return expired
}

function endedInput({ status, transactionId }: EndedCharge): CashInInput {
  return {
    on: 'partner.failed',
    errorCode: `charge_${status.toLowerCase()}`,
    errorMessage: null,
    transactionId,
    occurredAt: null,
    isVerified: true,
  }
}

/** The bank's confirmation of a cancellation. */
export function cancelledInput({ transactionId }: CashIn): CashInInput {
  return endedInput({ status: 'CANCELLED', transactionId })
}

/**
 * Notification of a charge that was paid or failed, whether the bank reported it or an operator decided it.
 * @param changed what is not on the charge yet
 * @source rules#events.3, rules#events.5, rules#cases.8
 */
export function cashInNotification(
  cashIn: CashIn,
  status: 'PAID' | 'FAILED',
  changed: {
    readonly occurredAt: number
    readonly endToEndId?: string | undefined
    readonly transactionId?: string | null
    readonly payerName?: string | undefined
  },
): NotificationDraft {
  return draftNotification('pix_cash_in', {
    id: cashIn.id,
    correlation_id: cashIn.correlationId,
    external_id: cashIn.externalId,
    transaction_id: cashIn.transactionId ?? changed.transactionId ?? null,
    status,
    value_cents: Number(paidCents(cashIn)),
    end_to_end_id: changed.endToEndId ?? null,
    payer_name: changed.payerName ?? null,
    fee_amount_cents: status === 'PAID' ? Number(paidFeeCents(cashIn)) : 0,
    confirmed_at: nanosecondText(changed.occurredAt),
    created_at: nanosecondText(cashIn.createdAt),
  })
}
