import type { AdjustmentStatus, JournalKind, LooseDecision } from '@pixgate/spec'
import type { BookedStep, LooseMovement, ReadCase } from './case.ts'

/** The adjustment that a decision about a case of no operation books. Pure. */

/** An adjustment that a decision books. */
export interface Step extends BookedStep {
  readonly posts: JournalKind
  /** The bank's id of the movement that it books; `''`: it books none. */
  readonly reference: string
}

/** What a decision books; nothing where an operation does, or no money is moved. @source rules#desk.53, rules#desk.54 */
export function stepOf({ subject }: ReadCase, decision: LooseDecision): Step | undefined {
  switch (subject.is) {
    case 'movement':
      return isHandedOver(decision) ? undefined : debitStep(subject, decision)
    case 'difference':
      return isReversal(subject, decision) ? undefined : differenceStep(subject.cents, decision)
    case 'request':
      return decision === 'close' ? undefined : requestedStep(subject.cents)
    default:
      return undefined
  }
}

/** Outgoing money that nothing explains. */
function debitStep(
  { valueCents, movementId: reference, takenBackFrom }: LooseMovement,
  decision: LooseDecision,
): Step | undefined {
  // What an operation has booked is booked once.
  if (takenBackFrom !== null) return differenceStep(-valueCents, decision)
  return decision === 'write_off'
    ? { status: 'LOST', posts: 'debit_written_off', valueCents, reference }
    : { status: 'BORNE', posts: 'debit_borne', valueCents, reference }
}

/** What the bank has more or less than the books. */
function differenceStep(cents: bigint, decision: LooseDecision): Step | undefined {
  const [valueCents, reference] = [abs(cents), '']
  switch (decision) {
    case 'credit':
      return { status: 'CREDITED', posts: 'adjustment_credited', valueCents, reference }
    case 'debit':
    case 'reverse':
      return { status: 'BORNE', posts: 'difference_borne', valueCents, reference }
    case 'write_off':
      return cents > 0n
        ? { status: 'GAINED', posts: 'difference_gained', valueCents, reference }
        : { status: 'LOST', posts: 'difference_lost', valueCents, reference }
    default:
      return undefined
  }
}

function requestedStep(cents: bigint): Step {
  const [status, posts]: [AdjustmentStatus, JournalKind] =
    cents > 0n ? ['CREDITED', 'adjustment_credited'] : ['DEBITED', 'adjustment_debited']
  return { status, posts, valueCents: abs(cents), reference: '' }
}

/** What decisions about a difference booked: the books have so much more of it, negative: less. */
export function correctedCents(booked: readonly BookedStep[]): bigint {
  const isMore = (status: AdjustmentStatus) => status === 'CREDITED' || status === 'GAINED'
  return booked.reduce((sum, { status, valueCents }) => (isMore(status) ? sum + valueCents : sum - valueCents), 0n)
}

/** Whether a charge takes the credit back, by its own table. */
export function isReversal(
  subject: ReadCase['subject'],
  decision: LooseDecision,
): subject is Extract<ReadCase['subject'], { is: 'difference' }> & { readonly chargeId: string } {
  return decision === 'reverse' && subject.is === 'difference' && subject.chargeId !== undefined
}

/** Whether an operation books what is decided, by its own table. */
export function isHandedOver(decision: LooseDecision): boolean {
  return decision === 'book' || decision === 'ask_again'
}

/** Without its sign. */
export function abs(cents: bigint): bigint {
  return cents < 0n ? -cents : cents
}
