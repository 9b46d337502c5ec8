import { limits } from '@pixgate/spec'
import { type Changes, reasonOf, type Target } from '../engine/follow.ts'
import type { Plan, Step } from '../engine/operation.ts'
import { OUTCOME_KNOWN, planOfOrder, pollDelayMs, queryDelayMs, stepBy } from '../operations/attempts.ts'
import { changesByMove, factsAfterOrderInput, failureFacts } from '../operations/orders.ts'
import { approvalDeadline, approved, isAwaitingApproval } from './approval.ts'
import {
  afterRepeatedReturn,
  type CashOut,
  type CashOutFacts,
  type CashOutInput,
  type ReturnedInput,
  type TariffInput,
} from './cash-out.ts'
import { rowsForWork } from './rules.ts'

/**
 * Facts after an input, and the time of the next work.
 * @param heldCents available part of value and fee
 */
export function changesOf(
  cashOut: CashOut,
  input: CashOutInput,
  row: Target<CashOut>,
  nowMs: number,
  heldCents: bigint,
): Changes {
  const known = { ...newReference(cashOut, input), ...factsAfter(cashOut, input, row, nowMs, heldCents) }
  const changes = changesByMove(cashOut, input, row, known, { restingDueAt, planOf }, nowMs)
  if (row.posts !== 'cash_out_released') return changes
  return { ...changes, facts: { ...changes.facts, isReleased: true }, givesUpExclusiveKey: true }
}

/** Facts after an input. A `dueAt` here overrides the time derived from the state. */
function factsAfter(
  cashOut: CashOut,
  input: CashOutInput,
  row: Target<CashOut>,
  nowMs: number,
  heldCents: bigint,
): Changes {
  const { facts } = cashOut
  switch (input.on) {
    case 'partner.confirmed':
      return factsAfterMovement(cashOut, input, row, heldCents)
    case 'partner.returned':
      return { facts: factsAfterReturn(cashOut, input, row) }
    case 'partner.tariff':
      return { dueAt: cashOut.dueAt, facts: tariffFacts(facts, input) }
    case 'operator.approved':
      return {
        facts:
          row.to === 'RELEASED'
            ? failureFacts({ errorCode: 'pix_code_changed', errorMessage: null })
            : approved(cashOut, input, nowMs),
      }
    case 'operator.refused':
      return { facts: failureFacts({ errorCode: refusedCode(cashOut), errorMessage: null }) }
    default: {
      const after = factsAfterOrderInput(input, cashOut, row.to, restingDueAt(cashOut, nowMs), nowMs)
      if (input.on !== 'send.claimed') return after
      return { ...after, facts: { ...after.facts, dispatchedAt: facts.dispatchedAt ?? nowMs } }
    }
  }
}

/** @source rules#cash-out.approval.8 */
function refusedCode(cashOut: CashOut): string {
  return isAwaitingApproval(cashOut) ? 'not_approved' : 'refused_by_operator'
}

/** The bank's reference, if not known before. */
function newReference({ transactionId }: CashOut, input: CashOutInput): Pick<Changes, 'transactionId'> {
  const reported = 'transactionId' in input ? input.transactionId : null
  return transactionId === null && reported !== null ? { transactionId: reported } : {}
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
      ...OUTCOME_KNOWN,
    },
  }
}

/** The rule of returns reported with and without an id. */
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

/** @source rules#statement.4 */
export function isTariffBooked(facts: CashOutFacts, tariffId: string): boolean {
  return (tariffId === '' ? facts.tariffCents : facts.moreTariffs?.[tariffId]) !== undefined
}

/** The first tariff has no id and is stored apart. */
function tariffFacts(facts: CashOutFacts, { tariffId, tariffCents }: TariffInput): CashOutFacts {
  const cents = Number(tariffCents)
  return tariffId === '' ? { tariffCents: cents } : { moreTariffs: { ...facts.moreTariffs, [tariffId]: cents } }
}

/** Time of the next work while nothing is in flight. @source rules#cash-out.work */
export function restingDueAt(cashOut: CashOut, nowMs: number): number | null {
  const { status, facts } = cashOut
  switch (status) {
    case 'RESERVED':
      return isAwaitingApproval(cashOut) ? approvalDeadline(cashOut) : nowMs
    case 'DISPATCHED':
      return nowMs + pollDelayMs(facts, nowMs)
    case 'PROVIDER_RESULT_UNKNOWN':
      // The last query is counted already.
      return nowMs + queryDelayMs({ questions: (facts.questions ?? 1) - 1 })
    case 'RECONCILIATION_REQUIRED':
      return reasonOf(cashOut) === 'no_answer' ? nowMs + limits.notFoundApartMs : null
    case 'CONFIRMED':
    case 'FAILED':
    case 'REVERSED':
    case 'RELEASED':
      return null
  }
}

/** The next step of a due cash-out, by its table. @source rules#cash-out.work */
export function nextStep(cashOut: CashOut, nowMs: number): Step {
  return stepBy(rowsForWork(cashOut, nowMs))
}

/** In flight without a contradiction: the bank's answer alone decides. */
export function isOpen(cashOut: CashOut): boolean {
  switch (cashOut.status) {
    case 'DISPATCHED':
    case 'PROVIDER_RESULT_UNKNOWN':
      return true
    case 'RECONCILIATION_REQUIRED':
      return reasonOf(cashOut) === 'no_answer'
    case 'RESERVED':
    case 'CONFIRMED':
    case 'FAILED':
    case 'REVERSED':
    case 'RELEASED':
      return false
  }
}

/** The next step, stored for the database to filter by. */
export function planOf(cashOut: CashOut, nowMs: number): Plan {
  return planOfOrder(cashOut, nextStep, nowMs)
}
