import { caseKind } from '@pixgate/spec'
import type { Case, Document, Operation } from './operation.ts'

/**
 * What the log tells of a case that was opened: enough to know what happened to which money, without the database.
 * @param operation that it is of, as it is now
 * @source rules#logs.3
 */
export function caseLine(
  { kind, operationId, reference, facts }: Case,
  operation: Pick<Operation, 'kind' | 'valueCents'> | undefined,
): Document {
  const reportedCents = centsIn(facts)
  const expectedCents = centsIn(facts.booked ?? facts.before) ?? (operation && Number(operation.valueCents))
  return {
    case: kind,
    operationId,
    reference,
    ...(typeof facts.inboxId === 'string' ? { inboxId: facts.inboxId } : {}),
    ...(reportedCents === undefined
      ? {}
      : { reportedCents, ...(expectedCents === undefined ? {} : { expectedCents }) }),
    rule: facts.rule,
    meaning: caseKind(kind)?.meaning,
  }
}

/** Facts of a case that tell when, and not what: the same told with other ones is nothing new. @source rules#desk.51 */
export const CASE_TIMES = ['occurredAt', 'missedAt', 'deniedAt', 'since', 'readAt', 'askedAt'] as const

/** What facts tell of an amount. */
function centsIn(facts: unknown): number | undefined {
  const { valueCents } = (facts ?? {}) as { readonly valueCents?: unknown }
  return typeof valueCents === 'number' ? valueCents : undefined
}

/**
 * The amount that a case is about, centavos, whichever way it went: what was reported, or else the value of its operation.
 * @source rules#desk.30
 */
function caseCents(facts: Document, operation: Pick<Operation, 'valueCents'> | undefined): bigint | null {
  const reported = centsIn(facts) ?? centsIn(facts.event)
  return reported === undefined || !Number.isSafeInteger(reported)
    ? (operation?.valueCents ?? null)
    : BigInt(Math.abs(reported))
}

/** The most that each of several tellings of a case is about, centavos; `null`: none tells an amount. @source rules#desk.48 */
export function mostCents(
  told: readonly Document[],
  operation: Pick<Operation, 'valueCents'> | undefined,
): bigint | null {
  return told
    .map((facts) => caseCents(facts, operation))
    .reduce((most, cents) => (most === null || (cents !== null && cents > most) ? cents : most), null)
}
