import type { AdjustmentStatus, LooseDecision } from '@pixgate/spec'
import type { BookedStep, ReadCase } from './case.ts'
import { correctedCents, gainedCents, merchantCents } from './subject.ts'

/** The adjustments that a decision about a case of no operation books. Pure. */

/** An adjustment that a decision books. */
export interface Step extends BookedStep {
  /** The bank's id of the movement that it books; `''`: it books none. */
  readonly reference: string
}

/** What a decision books, in its order. @source rules#desk.53, rules#desk.54, rules#desk.55, rules#desk.56 */
export function stepsOf({ subject, booked }: ReadCase, decision: LooseDecision): readonly Step[] {
  switch (subject.is) {
    case 'movement': {
      const cents = subject.direction === 'in' ? subject.valueCents : -subject.valueCents
      const released = step(-correctedCents(booked), 'CLEARING_ADDED', 'CLEARING_REMOVED', subject.movementId)
      if (isHandedOver(decision)) return released
      const first = step(cents, 'CLEARING_ARRIVED', 'CLEARING_LEFT', subject.movementId)
      return [...released, ...first, ...settling(cents, decision)]
    }
    case 'difference':
      if (decision === 'close') return []
      return [...step(subject.cents, 'CLEARING_ADDED', 'CLEARING_REMOVED'), ...settling(subject.cents, decision)]
    case 'clearing':
      return settling(subject.cents, decision)
    case 'request':
      return decision === 'close' ? [] : step(subject.cents, 'CREDITED', 'DEBITED')
    case 'decided':
      return decision === 'revert' ? reverting(booked) : []
    default:
      return []
  }
}

/** Whose what is in clearing is. */
function settling(cents: bigint, decision: LooseDecision): readonly Step[] {
  switch (decision) {
    case 'credit':
    case 'debit':
    case 'undo':
      return step(cents, 'CLEARING_CREDITED', 'CLEARING_DEBITED')
    case 'write_off':
      return step(cents, 'CLEARING_GAINED', 'CLEARING_LOST')
    default:
      return []
  }
}

/** The opposite of all that was booked. */
function reverting(booked: readonly BookedStep[]): readonly Step[] {
  return [
    ...step(-correctedCents(booked), 'CLEARING_ADDED', 'CLEARING_REMOVED'),
    ...step(-merchantCents(booked), 'CLEARING_CREDITED', 'CLEARING_DEBITED'),
    ...step(-gainedCents(booked), 'CLEARING_GAINED', 'CLEARING_LOST'),
  ]
}

function step(cents: bigint, more: AdjustmentStatus, less: AdjustmentStatus, reference = ''): readonly Step[] {
  if (cents === 0n) return []
  return [{ status: cents > 0n ? more : less, valueCents: cents > 0n ? cents : -cents, reference }]
}

/** Whether an operation books what is decided, by its own table. */
export function isHandedOver(decision: LooseDecision): boolean {
  return decision === 'book' || decision === 'ask_again'
}

/** Without its sign. */
export function abs(cents: bigint): bigint {
  return cents < 0n ? -cents : cents
}
