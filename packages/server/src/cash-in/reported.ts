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
  /** The most that events told of it, where that is not what the first one told. */
  readonly mostCents?: number
}

/** The facts in which the database keeps them, under the names of the first version. @see docs/adr/0024 */
export type ReportedFacts = {
  /** A failure that only an event reported so far. */
  readonly toldFailure?: ReportedFailure | null
  /** Payments that only events reported so far, by end-to-end id. */
  readonly toldPayments?: Readonly<Record<string, ReportedPayment>>
}

const NONE: Readonly<Record<string, ReportedPayment>> = {}

/** Payments that only events reported so far, by end-to-end id. */
export function reportedPayments({ toldPayments }: ReportedFacts): Readonly<Record<string, ReportedPayment>> {
  return toldPayments ?? NONE
}

/** The fact to write, also as evidence of a case. */
export function reportedPaymentsFact(toldPayments: Readonly<Record<string, ReportedPayment>>) {
  return { toldPayments }
}

/** The most that events reported of all of them together, centavos. @source rules#desk.48 */
export function reportedCents(facts: ReportedFacts): number {
  const each = Object.values(reportedPayments(facts))
  return each.reduce((sum, { valueCents, mostCents = valueCents }) => sum + Math.max(valueCents, mostCents), 0)
}

/**
 * A payment after an event reported it, or reported it again: it stays as the first one told it.
 * @param before as it was known; `undefined`: it was not
 */
export function reportedAgain(
  before: ReportedPayment | undefined,
  { valueCents: told, occurredAt }: { readonly valueCents: bigint; readonly occurredAt: number },
  nowMs: number,
): ReportedPayment {
  const valueCents = Number(told)
  if (before === undefined) return { valueCents, occurredAt, since: nowMs }
  return valueCents > (before.mostCents ?? before.valueCents) ? { ...before, mostCents: valueCents } : before
}

/** A failure that only an event reported so far; `null`: none. */
export function reportedFailure({ toldFailure }: ReportedFacts): ReportedFailure | null {
  return toldFailure ?? null
}

/** The fact to write. */
export function reportedFailureFact(toldFailure: ReportedFailure | null) {
  return { toldFailure }
}
