import type { DecidableCase, DeskOrder } from '../desk/decider.ts'
import type { Changes, Target } from '../engine/follow.ts'
import { ANSWERED } from '../operations/attempts.ts'
import { changesByMove } from '../operations/facts.ts'
import type { CashOut, CashOutFacts } from './cash-out.ts'
import { planOf, restingDueAt } from './schedule.ts'
import { LEFT_AFTER_RELEASE, suspendedArrival, suspendedDeparture } from './suspense.ts'

/** What becomes known of a payout by an operator's decision. Pure. */

/** What a decision on a case changes besides the status. */
export function changesByDecision(
  cashOut: CashOut,
  openCase: DecidableCase,
  order: DeskOrder,
  row: Target<CashOut>,
  nowMs: number,
): Changes {
  const changes = withWork(cashOut, learnedBy(cashOut, openCase, order, row, nowMs), row, nowMs)
  return row.posts === 'cash_out_released' ? { ...changes, givesUpExclusiveKey: true } : changes
}

/** The same of the end of a doubt. */
export function changesByEnd(cashOut: CashOut, row: Target<CashOut>, nowMs: number): Changes {
  return withWork(cashOut, row.asks ? {} : { facts: ANSWERED }, row, nowMs)
}

function withWork(cashOut: CashOut, known: Changes, row: Target<CashOut>, nowMs: number): Changes {
  return changesByMove(cashOut, { on: 'operator' }, row, known, { restingDueAt, planOf }, nowMs)
}

function learnedBy(
  cashOut: CashOut,
  { reference, rule, facts: told }: DecidableCase,
  { evidence }: DeskOrder,
  { posts }: Target<CashOut>,
  nowMs: number,
): Changes {
  const { facts } = cashOut
  switch (posts) {
    case 'cash_out_confirmed': {
      const { endToEndId = '' } = evidence
      const movements = { ...facts.movements, [endToEndId]: Number(cashOut.valueCents) }
      return { endToEndId, facts: { movements, ...confirmedFacts(nowMs) } }
    }
    case 'cash_out_released':
      return { facts: { failureCode: 'decided_by_operator', failureReason: null, isReleased: true, ...ANSWERED } }
    case 'payout_left_in_suspense': {
      const confirmedAt = typeof told.occurredAt === 'number' ? told.occurredAt : nowMs
      // Told again, of another amount or to somebody else as it is, it is what was decided.
      const decidedMovements = {
        ...facts.decidedMovements,
        [reference]: Number(suspendedDeparture(cashOut, reference)),
      }
      return { endToEndId: reference, facts: { decidedMovements, ...confirmedFacts(confirmedAt) } }
    }
    case 'left_written_off':
      return {
        facts: {
          ...leftForIt(cashOut),
          ...departureDecided(cashOut, reference, rule),
          ...lossAfter(cashOut, suspendedDeparture(cashOut, reference)),
        },
      }
    case 'payout_return_credited': {
      const returns = { ...facts.returns, [reference]: Number(suspendedArrival(cashOut, reference)) }
      return { facts: { returns, ...arrivalDecided(cashOut, reference) } }
    }
    case 'arrival_written_off':
      return {
        facts: { ...arrivalDecided(cashOut, reference), ...lossAfter(cashOut, -suspendedArrival(cashOut, reference)) },
      }
    default:
      return {}
  }
}

function confirmedFacts(confirmedAt: number): CashOutFacts {
  const nobody = { recipientName: null, recipientDocument: null, recipientIspb: null }
  return { confirmedAt, partnerFeeCents: null, isReleased: false, ...nobody, ...ANSWERED }
}

/** What was held again for it is given back with it. */
function departureDecided(cashOut: CashOut, reference: string, rule: string): CashOutFacts {
  const cents = Number(suspendedDeparture(cashOut, reference))
  const decidedMovements = { ...cashOut.facts.decidedMovements, [reference]: cents }
  return { decidedMovements, ...(rule === LEFT_AFTER_RELEASE ? { isReleased: true } : {}) }
}

/** @param cents written off now: negative, what came back @source rules#desk.9 */
function lossAfter({ facts: { lossCents = 0 } }: CashOut, cents: bigint): CashOutFacts {
  return { lossCents: lossCents + Number(cents) }
}

/**
 * What left for it, and for nothing else, shows that the bank has it: it is not sent again. What its statement showed is that.
 * @source rules#desk.14
 */
function leftForIt({ endToEndId, facts }: CashOut): CashOutFacts {
  return endToEndId === null && !facts.isReleased ? { isAccepted: true, isShown: false } : {}
}

function arrivalDecided(cashOut: CashOut, reference: string): CashOutFacts {
  const cents = Number(suspendedArrival(cashOut, reference))
  return { decidedReturns: { ...cashOut.facts.decidedReturns, [reference]: cents } }
}
