import type { Document } from '../engine/operation.ts'

/** What only events reported of a cash-in so far: nothing of it is booked before the bank confirms it. */

/** A failure as an event reported it; the instant is epoch milliseconds. */
export interface ReportedFailure extends Document {
  readonly errorCode: string
  readonly errorMessage: string | null
  readonly occurredAt: number | null
}

/** A payment as an event reported it; instants are epoch milliseconds. */
export interface ReportedPayment extends Document {
  readonly valueCents: number
  readonly occurredAt: number
  /** When the event came. */
  readonly since: number
}

/** The facts in which the database keeps them, under the names of the first version. @see docs/adr/0024 */
export type ReportedFacts = {
  /** A failure that only an event reported so far. */
  readonly toldFailure?: ReportedFailure | null
  /** Payments that only events reported so far, by end-to-end id. */
  readonly toldPayments?: Readonly<Record<string, ReportedPayment>>
}

const NONE: Readonly<Record<string, ReportedPayment>> = {}

/** The name of the fact in which they are. */
export const REPORTED_PAYMENTS: keyof ReportedFacts = 'toldPayments'

/** Payments that only events reported so far, by end-to-end id. */
export function reportedPayments({ toldPayments }: ReportedFacts): Readonly<Record<string, ReportedPayment>> {
  return toldPayments ?? NONE
}

/** The fact to write, also as evidence of a case. */
export function reportedPaymentsFact(toldPayments: Readonly<Record<string, ReportedPayment>>) {
  return { toldPayments }
}

/** A failure that only an event reported so far; `null`: none. */
export function reportedFailure({ toldFailure }: ReportedFacts): ReportedFailure | null {
  return toldFailure ?? null
}

/** The fact to write. */
export function reportedFailureFact(toldFailure: ReportedFailure | null) {
  return { toldFailure }
}
