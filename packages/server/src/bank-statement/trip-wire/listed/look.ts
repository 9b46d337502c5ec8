import { limits } from '@pixgate/spec'

/**
 * When a balance beside lists of movements is too low. The lists tell no balances: what was in the account besides what they tell is
 * learned from the balances themselves, and never more of it is expected than was proven to be there. Pure.
 * @source rules#trip-wire.11
 */

/** What is remembered between two looks. */
export interface Expectation {
  /** So much at least was in the account besides what the lists tell, centavos; `null` before the first look. */
  readonly baseCents: bigint | null
  /** When less than that was first seen, epoch milliseconds; `null`: it is not. */
  readonly shortSince: number | null
}

/** A balance, and what the lists and our books say of its time. All in centavos. */
export interface ListedBalance {
  /** When it was read, epoch milliseconds. */
  readonly at: number
  readonly availableCents: bigint
  /** What all movements come to that had surely happened then. */
  readonly settledCents: bigint
  /** What came in and what left at about that time: before or after it. */
  readonly incomingCents: bigint
  readonly outgoingCents: bigint
  /** What else may have left by then: orders under way, what the bank has blocked, what our books have and no list yet. */
  readonly underWayCents: bigint
  /** What the bank may have kept as tariffs since the look before. */
  readonly tariffsCents: bigint
}

/** What follows from a look. */
export interface ListedLook {
  readonly next: Expectation
  /** What is missing, where it counts. */
  readonly found: { readonly missingCents: bigint; readonly since: number } | undefined
}

/**
 * Takes a look in: too little counts once a second look, five minutes after the first or later, finds it too. What was found is not
 * expected any more, so that only more than that is found again.
 */
export function listedLook(before: Expectation, balance: ListedBalance): ListedLook {
  const { at, availableCents, settledCents, incomingCents, outgoingCents, underWayCents, tariffsCents } = balance
  // With all that could have come in by then taken for money that had.
  const provenCents = availableCents - settledCents - incomingCents
  const expectedCents = before.baseCents === null ? provenCents : before.baseCents - tariffsCents
  const baseCents = expectedCents > provenCents ? expectedCents : provenCents
  const missingCents = baseCents + settledCents - outgoingCents - underWayCents - availableCents
  if (missingCents <= 0n) {
    const isClear = baseCents === provenCents
    return { next: { baseCents, shortSince: isClear ? null : before.shortSince }, found: undefined }
  }
  const since = before.shortSince ?? at
  if (at - since < limits.statementDifferenceMs) return { next: { baseCents, shortSince: since }, found: undefined }
  return { next: { baseCents: provenCents, shortSince: null }, found: { missingCents, since } }
}
