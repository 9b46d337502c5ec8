import type { Document } from '../engine/operation.ts'

/** What a cash-in knows of money that goes back: the facts in which the database keeps it. */

/** A refund that is under way, as its cash-in knows it. */
export interface OpenRefund extends Document {
  readonly valueCents: number
  /** The bank's reference of it; `null` while nobody has told it. */
  readonly transactionId: string | null
}

/** A return of which it is not known yet whose it is. */
export interface AwaitedReturn extends Document {
  readonly valueCents: number
  /** The partner's word, epoch milliseconds. */
  readonly occurredAt: number
  /** The reference by which it was told: of the return, or of the payment. */
  readonly transactionId: string | null
  /** When it was first told to us, epoch milliseconds. */
  readonly since: number
  /** Refunds that, as the bank answered since, are not it. */
  readonly answered: readonly string[]
  /** Only an event told it, and the bank can be asked about the charge. */
  readonly isUnverified?: boolean
  /** What is held of it, centavos; absent while nothing is booked. */
  readonly heldCents?: number
  /** It was held before on an event's word, and let go: each return is held once. */
  readonly wasHeld?: boolean
}
