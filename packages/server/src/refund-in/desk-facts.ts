import type { DecidableCase, DeskOrder } from '../desk/decider.ts'
import type { Changes, Target } from '../engine/follow.ts'
import { ANSWERED } from '../operations/attempts.ts'
import { changesByMove } from '../operations/facts.ts'
import type { RefundIn, RefundInFacts } from './refund-in.ts'
import { planOf, restingDueAt } from './schedule.ts'
import { LEFT_AFTER_RELEASE, suspendedDeparture } from './suspense.ts'

/** What becomes known of a refund by an operator's decision. Pure. */

/** What a decision on a case changes besides the status. */
export function changesByDecision(
  refund: RefundIn,
  openCase: DecidableCase,
  order: DeskOrder,
  row: Target<RefundIn>,
  nowMs: number,
): Changes {
  return withWork(refund, { facts: learnedBy(refund, openCase, order, row, nowMs) }, row, nowMs)
}

/** The same of the end of a doubt. */
export function changesByEnd(refund: RefundIn, row: Target<RefundIn>, nowMs: number): Changes {
  return withWork(refund, row.asks ? {} : { facts: ANSWERED }, row, nowMs)
}

function withWork(refund: RefundIn, known: Changes, row: Target<RefundIn>, nowMs: number): Changes {
  return changesByMove(refund, { on: 'operator' }, row, known, { restingDueAt, planOf }, nowMs)
}

function learnedBy(
  refund: RefundIn,
  { reference, rule, facts: told }: DecidableCase,
  { evidence: { returnId = '' } }: DeskOrder,
  { posts }: Target<RefundIn>,
  nowMs: number,
): RefundInFacts {
  const { facts } = refund
  switch (posts) {
    case 'refund_in_confirmed': {
      const returns = { ...facts.returns, [returnId]: Number(refund.valueCents) }
      return { returns, returnId, confirmedAt: nowMs, ...ANSWERED }
    }
    case 'refund_in_released':
      return { failureCode: 'decided_by_operator', failureReason: null, ...ANSWERED }
    case 'refund_left_in_suspense': {
      const confirmedAt = typeof told.occurredAt === 'number' ? told.occurredAt : nowMs
      return { returnId: reference, confirmedAt, ...givenBack(refund), ...ANSWERED }
    }
    case 'left_written_off': {
      const cents = Number(suspendedDeparture(refund, reference))
      const decidedReturns = { ...facts.decidedReturns, [reference]: cents }
      return {
        decidedReturns,
        ...(rule === LEFT_AFTER_RELEASE ? givenBack(refund) : {}),
        // It shows that the bank has it: it is not sent again. What the statement showed is that.
        ...(refund.status === 'PENDING' ? { isAccepted: true, isShown: false } : {}),
      }
    }
    default:
      return {}
  }
}

/** Nothing is held again any more. */
function givenBack({ facts }: RefundIn): RefundInFacts {
  return facts.heldAgainCents === undefined ? {} : { heldAgainCents: 0 }
}
