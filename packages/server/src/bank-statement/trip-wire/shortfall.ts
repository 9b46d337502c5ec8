import { limits } from '@pixgate/spec'

/** When the bank having less than it ought to have is a difference that counts. Pure. */

/** What is remembered of one way in which the bank may have too little. Amounts in centavos. */
export interface Shortfall {
  /** So much was found before, and is no news. */
  readonly acceptedCents: bigint
  /** When more than that was first seen missing, epoch milliseconds; `null`: it is not. */
  readonly shortSince: number | null
}

/** What one look says is missing: at least and at most, as orders under way may explain a part. Negative: too much is there. */
export interface Look {
  readonly at: number
  readonly leastCents: bigint
  readonly mostCents: bigint
}

/** What follows from a look. */
export interface Looked {
  readonly next: Shortfall
  /** What is missing beyond what was found before, where it counts. */
  readonly found: { readonly missingCents: bigint; readonly newCents: bigint; readonly since: number } | undefined
}

/**
 * Takes a look in. What is missing counts once a second look, five minutes after the first or later, finds it missing
 * still; a look at which nothing is missing any more ends that. What was found is accepted, so that only more than that
 * counts again; what comes back is no longer accepted.
 * @source rules#trip-wire.3, rules#trip-wire.6
 */
export function looked({ acceptedCents, shortSince }: Shortfall, { at, leastCents, mostCents }: Look): Looked {
  if (leastCents > acceptedCents) {
    const isOld = shortSince !== null && at - shortSince >= limits.statementDifferenceMs
    if (!isOld) return { next: { acceptedCents, shortSince: shortSince ?? at }, found: undefined }
    const found = { missingCents: leastCents, newCents: leastCents - acceptedCents, since: shortSince }
    return { next: { acceptedCents: leastCents, shortSince: null }, found }
  }
  if (mostCents > acceptedCents) return { next: { acceptedCents, shortSince }, found: undefined }
  return { next: { acceptedCents: mostCents > 0n ? mostCents : 0n, shortSince: null }, found: undefined }
}

/** A balance that was read, what of our books may explain that it is low, and the statement at its ends. Centavos. */
export interface BalanceEvidence {
  readonly availableCents: bigint
  /** Of the window of the statement in which the balance was read. */
  readonly openingCents: bigint
  readonly closingCents: bigint
  /** What orders under way had set aside, and what left around that time by our books. */
  readonly explainedCents: bigint
}

/** How much of what the statement says the balance lacks. @source rules#trip-wire.4 */
export function balanceLook(readAt: number, evidence: BalanceEvidence): Look {
  const { availableCents, openingCents, closingCents, explainedCents } = evidence
  const [lower, higher] = openingCents < closingCents ? [openingCents, closingCents] : [closingCents, openingCents]
  return { at: readAt, leastCents: lower - availableCents - explainedCents, mostCents: higher - availableCents }
}
