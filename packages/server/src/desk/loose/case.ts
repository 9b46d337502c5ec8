import type { AdjustmentStatus, LooseDecision } from '@pixgate/spec'
import type { Document } from '../../engine/operation.ts'

/** A case of no operation as it is stored. */
export interface StoredCase {
  readonly id: string
  readonly kind: string
  readonly reference: string
  readonly facts: Document
  /** The most that it was ever told to be about, centavos; `null`: nobody told an amount. @source rules#desk.48 */
  readonly atStakeCents: bigint | null
  /** Epoch milliseconds. */
  readonly openedAt: number
  readonly closedAt: number | null
}

/** An entry of the bank's statement that the books do not have, as a case is about it. */
export interface LooseMovement {
  readonly is: 'movement'
  /** Its kind in the statement, such as `PAYMENT_RECEIVED`. */
  readonly entry: string
  readonly direction: 'in' | 'out'
  readonly movementId: string
  readonly valueCents: bigint
  /** The operation on which it was booked meanwhile. */
  readonly bookedOn: string | null
  /** The operation that had it booked until an operator took that back. */
  readonly takenBackFrom: string | null
}

/** An event of the bank that was set aside. */
export interface LooseEvent {
  readonly is: 'event'
  readonly inboxId: string
  readonly ordinal: number
  readonly endpoint: string
  /** As it came; `null`: erased. */
  readonly body: Buffer | null
  readonly receivedAt: number
  readonly state: string
  readonly outcome: string | null
  /** When it was set aside; `null`: it is being applied. */
  readonly setAsideAt: number | null
  /** Whether the bank's connector can read it: only then it can be applied to anything. */
  readonly isReadable: boolean
  /** The money that it tells of, centavos; `null`: nobody knows. */
  readonly valueCents: bigint | null
}

/** What the bank has more than the books, negative: less. */
export interface LooseDifference {
  readonly is: 'difference'
  readonly cents: bigint
  /** The charge whose credit the bank does not have. */
  readonly chargeId?: string
}

/** What a case is about. `request`: the adjustment that is asked for, negative: out. */
export type CaseSubject =
  | LooseMovement
  | LooseEvent
  | LooseDifference
  | { readonly is: 'request'; readonly cents: bigint }
  | { readonly is: 'nothing' }

/** An adjustment that was booked for a case. */
export interface BookedStep {
  readonly status: AdjustmentStatus
  readonly valueCents: bigint
}

/** A case with all that is known of what it is about. */
export interface ReadCase extends StoredCase {
  readonly subject: CaseSubject
  /** What adjustments booked for it have in common, also those of other cases about the same money. */
  readonly about: string
  /** What was booked for it before. */
  readonly booked: readonly BookedStep[]
  /** Of everything that a decision depends on: another one where anything of it changed. */
  readonly version: string
}

/** An operator's decision, as it is ordered. */
export interface LooseOrder {
  readonly decision: string
  /** Who decides. */
  readonly operator: string
  /** Why, in their words. */
  readonly reason?: string
  readonly evidence: { readonly endToEndId?: string; readonly returnId?: string; readonly reference?: string }
  /** The operation that the money or the event is of. */
  readonly operationId?: string
}

/** What may be decided, with what it does. */
export interface LooseOption {
  readonly decision: LooseDecision
  readonly says: string
  /** What must be named with it. */
  readonly needs: readonly 'operationId'[]
}
