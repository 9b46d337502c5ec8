import type { Changes, Target } from '../engine/follow.ts'
import { ANSWERED, attempted, notFound, retryDelayMs, unanswered } from '../operations/attempts.ts'
import { changesByMove, factsAfterWork } from '../operations/facts.ts'
import { approved, isAwaitingApproval } from './approval.ts'
import type { CashOut, CashOutFacts, CashOutInput, ReturnedInput } from './cash-out.ts'
import { afterRepeatedReturn } from './repeated-returns.ts'
import { planOf, restingDueAt } from './schedule.ts'
import { tariffFacts } from './tariffs.ts'

/** What becomes known of a cash-out by each input. Pure. */

/**
 * What a move changes besides status and reason: what the input teaches, and when the next work is due.
 * @param heldCents what is there of value and fee
 */
export function changesOf(
  cashOut: CashOut,
  input: CashOutInput,
  row: Target<CashOut>,
  nowMs: number,
  heldCents: bigint,
): Changes {
  const known = factsAfter(cashOut, input, row, nowMs, heldCents)
  const changes = changesByMove(cashOut, input, row, known, { restingDueAt, planOf }, nowMs)
  return row.posts === 'cash_out_released' ? { ...changes, givesUpExclusiveKey: true } : changes
}

/** What an input teaches. A `dueAt` here is when a worker looks next; otherwise the state says when work is due. */
function factsAfter(
  cashOut: CashOut,
  input: CashOutInput,
  row: Target<CashOut>,
  nowMs: number,
  heldCents: bigint,
): Changes {
  const { facts } = cashOut
  switch (input.on) {
    case 'send.claimed':
      return {
        dueAt: nowMs + input.leaseMs,
        facts: { ...attempted(facts, nowMs, input.leaseMs), dispatchedAt: facts.dispatchedAt ?? nowMs },
      }
    case 'send.accepted':
      return {
        ...referenceLearned(cashOut, input),
        facts: { isAccepted: true, ...(row.to === 'DISPATCHED' ? ANSWERED : {}) },
      }
    case 'send.rejected':
      return { facts: row.to === 'FAILED' ? failure(input) : refusal(cashOut, input) }
    case 'send.not_sent':
      return {
        // A late word about an attempt that another one followed does not disturb that one's lease.
        dueAt: input.attempt === facts.attempts ? nowMs + retryDelayMs(facts) : cashOut.dueAt,
        facts: { unsentAttempts: (facts.unsentAttempts ?? 0) + 1 },
      }
    case 'send.contradicted':
      return referenceLearned(cashOut, input)
    case 'partner.not_found':
      return {
        facts: {
          ...notFound(facts, input.askedAt),
          ...unanswered(facts, nowMs),
          ...(row.to === 'FAILED' ? failure(facts.refusal ?? { errorCode: 'not_found', errorMessage: null }) : {}),
        },
      }
    case 'partner.confirmed':
      return { ...referenceLearned(cashOut, input), ...factsAfterMovement(cashOut, input, row, heldCents) }
    case 'partner.returned':
      return { facts: factsAfterReturn(cashOut, input, row) }
    case 'partner.failed':
      return { ...referenceLearned(cashOut, input), facts: row.to === 'FAILED' ? failure(input) : {} }
    case 'partner.tariff':
      return { dueAt: cashOut.dueAt, facts: tariffFacts(facts, input) }
    case 'operator.approved':
      return {
        facts:
          row.to === 'RELEASED'
            ? failure({ errorCode: 'pix_code_changed', errorMessage: null })
            : approved(cashOut, input, nowMs),
      }
    case 'operator.refused':
      return { facts: failure({ errorCode: refusedCode(cashOut), errorMessage: null }) }
    case 'clock.released':
      return { facts: failure({ errorCode: 'never_sent', errorMessage: null }) }
    default:
      return factsAfterWork(input, cashOut, restingDueAt(cashOut, nowMs), nowMs)
  }
}

/** @source rules#cash-out.approval.8 */
function refusedCode(cashOut: CashOut): string {
  return isAwaitingApproval(cashOut) ? 'not_approved' : 'refused_by_operator'
}

/** The bank's reference, where the input is the first to tell it. */
function referenceLearned(
  { transactionId }: CashOut,
  told: { readonly transactionId: string | null },
): Pick<Changes, 'transactionId'> {
  return transactionId === null && told.transactionId !== null ? { transactionId: told.transactionId } : {}
}

/** Refused, whichever attempt it was, while another one may have arrived: nothing more is sent. */
function refusal(
  { facts }: CashOut,
  { errorCode, errorMessage }: Extract<CashOutInput, { on: 'send.rejected' }>,
): CashOutFacts {
  return facts.isAccepted ? {} : { refusal: { errorCode, errorMessage } }
}

function failure({ errorCode, errorMessage }: { readonly errorCode: string; readonly errorMessage: string | null }) {
  return { failureCode: errorCode, failureReason: errorMessage, isReleased: true, ...ANSWERED }
}

function factsAfterMovement(
  { facts }: CashOut,
  { movement }: Extract<CashOutInput, { on: 'partner.confirmed' }>,
  { posts, opens }: Target<CashOut>,
  heldCents: bigint,
): Changes {
  if (opens === 'movement_elsewhere') return { facts: afterElsewhere(facts, movement.endToEndId, movement.valueCents) }
  if (posts === undefined) return {}
  const movements = { ...facts.movements, [movement.endToEndId]: Number(movement.valueCents) }
  if (posts !== 'cash_out_confirmed') {
    const again = posts === 'left_after_release' ? { heldAgainCents: Number(heldCents), isReleased: false } : {}
    return { facts: { movements, ...again } }
  }
  return {
    endToEndId: movement.endToEndId,
    facts: {
      movements,
      confirmedAt: movement.occurredAt,
      partnerFeeCents: movement.feeCents === undefined ? null : Number(movement.feeCents),
      recipientName: movement.recipient?.name ?? null,
      recipientDocument: movement.recipient?.document ?? null,
      recipientIspb: movement.recipient?.ispb ?? null,
      ...ANSWERED,
    },
  }
}

/** A return that is reported with its id and without it, or two returns. */
export const RETURN_MAY_BE_KNOWN = 'cash-out.reversal.5'

function afterElsewhere({ elsewhere }: CashOutFacts, id: string, cents: bigint): CashOutFacts {
  return { elsewhere: { ...elsewhere, [id]: Number(cents) } }
}

function factsAfterReturn(
  { facts }: CashOut,
  input: ReturnedInput,
  { posts, opens, rule }: Target<CashOut>,
): CashOutFacts {
  if (opens === 'movement_elsewhere') return afterElsewhere(facts, input.returned.returnId, input.returned.valueCents)
  const returned = { [input.returned.returnId]: Number(input.returned.valueCents) }
  if (posts === 'cash_out_returned') return { returns: { ...facts.returns, ...returned } }
  if (posts === undefined) {
    const isRepeated = rule === RETURN_MAY_BE_KNOWN && !input.isUnnamed
    return isRepeated ? afterRepeatedReturn(facts, input.returned) : {}
  }
  const unnamed = input.isUnnamed ? { unnamedReturns: { ...facts.unnamedReturns, ...returned } } : {}
  return { suspendedReturns: { ...facts.suspendedReturns, ...returned }, ...unnamed }
}
