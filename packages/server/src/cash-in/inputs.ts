import { parseBrCode } from '@pixgate/brcode'
import type { Charge, ChargeAnswer, ChargeQueryAnswer, PaymentReturn } from '../banks/port.ts'
import type { Document } from '../engine/operation.ts'
import { own } from '../platform/own.ts'
import { type CashIn, type CashInInput, isOver } from './cash-in.ts'
import { countedReturn } from './returns.ts'

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
