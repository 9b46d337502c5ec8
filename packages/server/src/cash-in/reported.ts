import type { Document } from '../engine/operation.ts'

/** Payments and failures reported by events only. Nothing is booked before the bank confirms them. */

export interface ReportedFailure extends Document {
  readonly errorCode: string
  readonly errorMessage: string | null
  readonly occurredAt: number | null
}

export interface ReportedPayment extends Document {
  readonly valueCents: number
  readonly occurredAt: number
  readonly since: number
  /** Highest amount of later events, if above the first one's. */
  readonly mostCents?: number
}

/** Stored under the names of the first version. @see docs/adr/0021 */
export type ReportedFacts = {
  readonly toldFailure?: ReportedFailure | null
  /** By end-to-end id. */
  readonly toldPayments?: Readonly<Record<string, ReportedPayment>>
}

const NONE: Readonly<Record<string, ReportedPayment>> = {}

export function reportedPayments({ toldPayments }: ReportedFacts): Readonly<Record<string, ReportedPayment>> {
  return toldPayments ?? NONE
}

export function reportedPaymentsFact(toldPayments: Readonly<Record<string, ReportedPayment>>) {
  return { toldPayments }
}

/** Sum of the highest reported amounts, centavos. @source rules#cases.48 */
export function reportedCents(facts: ReportedFacts): number {
  const each = Object.values(reportedPayments(facts))
  return each.reduce((sum, { valueCents, mostCents = valueCents }) => sum + Math.max(valueCents, mostCents), 0)
}

/** A later report changes only the highest amount. */
export function reportedPaymentAfter(
  before: ReportedPayment | undefined,
  { valueCents: cents, occurredAt }: { readonly valueCents: bigint; readonly occurredAt: number },
  nowMs: number,
): ReportedPayment {
  const valueCents = Number(cents)
  if (before === undefined) return { valueCents, occurredAt, since: nowMs }
  return valueCents > (before.mostCents ?? before.valueCents) ? { ...before, mostCents: valueCents } : before
}

export function reportedFailure({ toldFailure }: ReportedFacts): ReportedFailure | null {
  return toldFailure ?? null
}

export function reportedFailureFact(toldFailure: ReportedFailure | null) {
  return { toldFailure }
}
