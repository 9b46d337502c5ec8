import { parseBrCode } from '@pixgate/brcode'
import { limits } from '@pixgate/spec'
import type { Charge, ChargeAnswer, ChargeQueryAnswer, Payment, PaymentReturn } from '../banks/port.ts'
import type { ReasonFact } from '../engine/follow.ts'
import type { Document, MovementId, Operation, Ordered } from '../engine/operation.ts'
import type { FailureInput } from '../operations/orders.ts'
import type { MadeByFact } from '../operations/requests.ts'
import { own } from '../platform/own.ts'
import type { ReportedFacts } from './facts.ts'
import { countedReturn, type RefundEvent, type ReturnFacts } from './returns.ts'

/** A cash-in as the engine keeps it, and everything that can happen to it. */

/** What the client asked for, and what we asked the partner for: never changes, so that every attempt is the same. */
export interface CashInDetail extends Document {
  readonly description: string | null
  readonly generateQrCode: boolean
  readonly payer: { readonly fullName: string; readonly document: string } | null
  readonly merchant: { readonly pixKey: string; readonly name: string; readonly city: string }
}

/** What became known since. */
export interface CashInFacts extends MadeByFact, ReasonFact, ReportedFacts, ReturnFacts {
  readonly pixCode?: string
  /** How far the bank's stamps were from true time when it made the charge, milliseconds; absent: not at all, or not measured. */
  readonly stampOffsetMs?: number
  /** Every payment that was booked: end-to-end id → centavos. */
  readonly payments?: Readonly<Record<string, number>>
  /** Payments that the bank tells of this charge and another operation has: end-to-end id → centavos. */
  readonly elsewhere?: Readonly<Record<string, number>>
  /** Epoch milliseconds, the partner's word. */
  readonly paidAt?: number
  readonly payerName?: string | null
  readonly payerDocument?: string | null
  readonly payerIspb?: string | null
  readonly failureCode?: string
  readonly failureReason?: string | null
  /** Since when the partner's answer is missing, and how often it was asked. */
  readonly unknownSince?: number | null
  readonly questions?: number
  /** While the bank is being asked: when the lease of that status query ends. */
  readonly leaseUntil?: number | null
  /** An event asks for a status query that is claimed from now on. */
  readonly isQuestionWanted?: boolean
  /** How many status queries about the last event's news told no outcome; `null`: it is settled, or given up. */
  readonly eventQueries?: number | null
  /** Status queries in a row that left something open. */
  readonly inconclusive?: number
  /** No byte of any attempt to make the charge left: `proven`, or `claimed` while one may be made. */
  readonly unsent?: 'proven' | 'claimed' | null
  /** The last claim after which the bank may have been asked to make the charge. */
  readonly lastAttemptAt?: number
  /** When the bank was first and last asked about the charge, and said that it does not know it. */
  readonly notFoundSince?: number | null
  readonly notFoundAt?: number | null
  /** When it expired, where nobody sweeps the bank's statement for late money, and when the bank last answered since. */
  readonly expiredAt?: number
  readonly answeredAt?: number
  /** Cases of these kinds are open until what they wait for comes. */
  readonly isEndCaseOpen?: boolean
  readonly isPaymentCaseOpen?: boolean
  /** What the bank said when it was asked about a contradiction: for the operator who decides. */
  readonly bankAnswer?: Document
  /** Payments that operators took from suspense: end-to-end id → centavos. */
  readonly decidedPayments?: Readonly<Record<string, number>>
  /** What an operator accepted as the payment of the charge, centavos; absent: its value was paid. */
  readonly acceptedCents?: number
  /** A credit that an operator took back, as the bank does not have it: end-to-end id → centavos. */
  readonly reversed?: Readonly<Record<string, number>>
  /** The charge at the bank by which its payment came, where an operator attributed that: the bank tells of it there. */
  readonly receivedFrom?: string
}

/** A cash-in as the engine keeps it. */
export type CashIn = Operation<'cash_in', CashInDetail, CashInFacts> & Ordered

/** Whether an operation is a cash-in. */
export function isCashIn(operation: Operation | undefined): operation is CashIn {
  return operation?.kind === 'cash_in'
}

/** What can happen to a cash-in after its creation. */
export type CashInInput =
  | { readonly on: 'work.requested' }
  | { readonly on: 'work.claimed'; readonly leaseMs: number }
  | {
      readonly on: 'work.done'
      readonly bankAnswer: Document
      /** The bank answered at all. */
      readonly isAnswered: boolean
      /** It told where the charge ended. */
      readonly hasOutcome: boolean
    }
  | {
      readonly on: 'clock.expired'
      /** Late money is found in the bank's statement. */
      readonly isSwept: boolean
    }
  | {
      readonly on: 'charge.not_found'
      /** When the status query was claimed. */
      readonly askedAt: number
      readonly isSwept: boolean
    }
  | {
      readonly on: 'charge.accepted'
      readonly transactionId: string
      /** Absent where it has ended, and the bank tells no code that could be shown. */
      readonly pixCode?: string
      /** As measured in the answer that made the charge. */
      readonly stampOffsetMs?: number
      /** Its end at the bank, where the bank had it before it was ordered here. */
      readonly expiresAt?: number
    }
  | { readonly on: 'charge.rejected'; readonly errorCode: string; readonly errorMessage: string | null }
  | { readonly on: 'charge.unknown' | 'charge.contradicted'; readonly reason: string }
  | {
      readonly on: 'charge.not_sent'
      readonly reason: string
      /** No byte of any attempt left, ever. */
      readonly isUnsent?: boolean
    }
  | {
      readonly on: 'partner.confirmed'
      readonly payment: Payment
      /** `null` where the statement tells it. */
      readonly transactionId: string | null
      /** The answer that tells it contradicts what was asked for. */
      readonly isContradicted?: true
      /** It was booked on another operation. */
      readonly isBookedElsewhere?: boolean
      /** Only an event tells it: the bank is queried before it is booked, or, in the sandbox, it is booked at once. */
      readonly unverified?: 'query' | 'book'
    }
  | FailureInput

/**
 * What became of an input. `IGNORED`: nothing to change, known already or too late. `IMPLAUSIBLE`: the partner's time
 * lies in the future, so it is not believed.
 */
export interface CashInOutcome {
  readonly result: 'APPLIED' | 'IGNORED' | 'IMPLAUSIBLE'
  /** The cash-in as it is now. */
  readonly cashIn: CashIn
}

/** All payments that were received for a charge, credited or in suspense, centavos. @source rules#cash-in.detail.1 */
export function receivedCents({ facts }: CashIn): bigint {
  return Object.values(facts.payments ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

const REFUND_WINDOW_MS = limits.refundDeadlineDays * 24 * 60 * 60 * 1_000

/**
 * The last instant, epoch milliseconds, at which a cash-in that was paid may be refunded; `null` where it was not.
 * @source rules#cash-in.detail.5
 */
export function refundDeadline({ facts }: CashIn): number | null {
  return facts.paidAt === undefined ? null : facts.paidAt + REFUND_WINDOW_MS
}

/** The movement that a payment is. */
export function movementOf({ endToEndId }: Payment): MovementId {
  return { direction: 'in', id: endToEndId }
}

/** Whether the bank is known to have taken the charge: somebody may have its code and pay it. */
export function isKnownAtBank({ transactionId, facts }: CashIn): boolean {
  return facts.pixCode !== undefined || transactionId !== null
}

/** Whether the time of a charge is over. */
export function isOver({ expiresAt }: Pick<CashIn, 'expiresAt'>, nowMs: number): boolean {
  return expiresAt !== null && nowMs > expiresAt
}

/** What was booked under a payment's end-to-end id, centavos. */
export function bookedAmount({ facts }: CashIn, { endToEndId }: Pick<Payment, 'endToEndId'>): bigint | undefined {
  const cents = own(facts.payments, endToEndId)
  return cents === undefined ? undefined : BigInt(cents)
}

/** Anything that can happen to a cash-in after its creation. */
export type CashInEvent = CashInInput | RefundEvent

/**
 * The status a client sees: a charge expires the moment its time is over, whoever has noticed.
 * @source rules#cash-in.detail.3
 */
export function statusAt(cashIn: Pick<CashIn, 'status' | 'expiresAt'>, nowMs: number): string {
  return isOverdue(cashIn, nowMs) ? 'EXPIRED' : cashIn.status
}

/** Whether it reads as `EXPIRED` before that was written. */
function isOverdue(cashIn: Pick<CashIn, 'status' | 'expiresAt'>, nowMs: number): boolean {
  return cashIn.status === 'PENDING' && isOver(cashIn, nowMs)
}

/** What the partner's answers about a charge mean. Pure. */

/** Where an answer is read. */
export interface Circumstances {
  /** Epoch milliseconds. */
  readonly now: number
  /** Late money is found in the bank's statement. */
  readonly isSwept: boolean
}

/**
 * What an answer of the partner means for a cash-in.
 * @source failure-modes#P5
 */
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

/** A return, with the end-to-end id of the payment that it is of. */
export type ReturnOfPayment = PaymentReturn & { readonly endToEndId: string }

/**
 * What an answer tells of money that went back of the payment that was credited, and that was not booked. Another payment's
 * is no news of this one.
 * @source rules#cash-in.returns.6
 */
export function returnsIn(
  cashIn: CashIn,
  answer: Exclude<ChargeAnswer | ChargeQueryAnswer, { kind: 'NOT_FOUND' }>,
): readonly ReturnOfPayment[] {
  const { orderId, endToEndId, facts } = cashIn
  if (!('charge' in answer) || answer.charge.id !== orderId) return []
  const told = answer.charge.payments.filter(
    (payment) => payment.endToEndId === endToEndId || own(facts.decidedPayments, payment.endToEndId) !== undefined,
  )
  return told
    .flatMap(({ endToEndId, returns = [] }) => returns.map((returned) => ({ ...returned, endToEndId })))
    .filter(({ returnId, valueCents }) => countedReturn(cashIn, returnId) !== valueCents)
}

/** What the partner answered, for the operator who decides: without names and documents. */
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

/** What the detail shows of a bank's code at most. */
const FAILURE_CODE_MAX = 64

/** A status query that failed says nothing about a charge that is known to exist. */
function isCharged({ facts }: CashIn): boolean {
  return facts.pixCode !== undefined
}

/** Banks count whole seconds from their own beginning of a charge: so far its end may be from the one that was asked for. */
const SAME_END_MS = 60_000

const HOUR_MS = 3_600_000
const ZONE_MAX_MS = 14 * HOUR_MS

/**
 * The bank's end of a charge that it had before it was ordered here, as after a restore: that is when it can be paid. A difference of
 * whole hours is no other end: it is that of a bank that writes local time, until that is measured.
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
  // Nobody pays by the code of what has ended.
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
 * Money that arrived counts, whatever else the answer says; that of another charge is not this one's.
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

/** A charge that ended unpaid: by our expiry, or, before it, by the partner. */
function endInputs(cashIn: CashIn, charge: Charge, { now, isSwept }: Circumstances): CashInInput[] {
  const { status, payments } = charge
  if (payments.length > 0) return []
  // It had been paid when the bank was asked: that it ended unpaid contradicts that, in whatever word it is told.
  if (Object.keys(cashIn.facts.payments ?? {}).length > 0) return [endedInput(charge)]
  const isLate = isOver(cashIn, now)
  const expired: CashInInput[] = isLate ? [{ on: 'clock.expired', isSwept }] : []
  // A failure contradicts what was paid, also after its time; what was not paid has expired all the same.
  if (status === 'FAILED' || (status !== 'EXPIRED' && !isLate)) return [endedInput(charge), ...expired]
  // A partner whose clock is ahead of ours ends nothing: ours decides.
  return expired
}

function endedInput({ status, transactionId }: Charge): CashInInput {
  return {
    on: 'partner.failed',
    errorCode: `charge_${status.toLowerCase()}`,
    errorMessage: null,
    transactionId,
    occurredAt: null,
    isVerified: true,
  }
}
