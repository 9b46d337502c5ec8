import { limits } from '@pixgate/spec'

/**
 * When a balance beside lists of movements is too low. The lists tell no balances: what was in the account besides what they tell is
 * learned from the balances themselves, and never more of it is expected than was proven to be there. Pure.
 * @source rules#trip-wire.11
 */

/** So much at least was in the account besides what the lists tell, by a balance. */
export interface Proof {
  readonly cents: bigint
  /** When that balance was read, epoch milliseconds. */
  readonly at: number
  /**
   * What the lists have told since of the time before it, centavos: what came in less what left. Below zero: so much may yet be
   * listed that this proof does not count on.
   */
  readonly listedSinceCents: bigint
}

/** What is remembered between two looks. */
export interface Expectation {
  /** What is expected; `null` before it was proven. */
  readonly base: Proof | null
  /** More than that, which a second look has to find too. */
  readonly rising: Proof | null
  /** When less than was expected was first seen, epoch milliseconds; `null`: it is not. */
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
  /** What came in by our books and is in no list yet. */
  readonly unlistedCents: bigint
  /** What else may have left by then: orders under way, what the bank has blocked, what our books have and no list yet. */
  readonly underWayCents: bigint
  /** What the bank may have kept as tariffs since the look before. */
  readonly tariffsCents: bigint
  /** What the lists have told since the look before of the time before each proof: what came in less what left. */
  readonly listedSince: { readonly baseCents: bigint; readonly risingCents: bigint }
}

/** What follows from a look. */
export interface ListedLook {
  readonly next: Expectation
  /** What is missing, where it counts. */
  readonly found: { readonly missingCents: bigint; readonly since: number } | undefined
}

/**
 * Takes a look in: too little counts once a second look, five minutes after the first or later, finds it too; and so does more than was
 * expected. What was found is not expected any more, so that only more than that is found again.
 */
export function listedLook(before: Expectation, balance: ListedBalance): ListedLook {
  const { at, availableCents, settledCents, unlistedCents } = balance
  // With all that could have come in by then taken for money that had.
  const provenCents = availableCents - settledCents - balance.incomingCents - unlistedCents
  const proven = { cents: provenCents, at, listedSinceCents: -unlistedCents }
  const kept = before.base && withListed(before.base, balance.listedSince.baseCents)
  const expected = kept && { ...kept, cents: kept.cents - balance.tariffsCents }
  const { base, rising } = raised(
    expected,
    before.rising && withListed(before.rising, balance.listedSince.risingCents),
    proven,
  )
  if (base === null) return { next: { base, rising, shortSince: null }, found: undefined }
  const missingCents = base.cents + settledCents - balance.outgoingCents - balance.underWayCents - availableCents
  if (missingCents <= 0n) {
    const isClear = provenCents >= base.cents
    return { next: { base, rising, shortSince: isClear ? null : before.shortSince }, found: undefined }
  }
  const since = before.shortSince ?? at
  if (at - since < limits.statementDifferenceMs) return { next: { base, rising, shortSince: since }, found: undefined }
  return { next: { base: proven, rising: null, shortSince: null }, found: { missingCents, since } }
}

/** What a balance had before a list told of it was never besides the lists. */
function withListed(proof: Proof, cents: bigint): Proof {
  const listedSinceCents = proof.listedSinceCents + cents
  if (listedSinceCents <= 0n) return { ...proof, listedSinceCents }
  return { ...proof, cents: proof.cents - listedSinceCents, listedSinceCents: 0n }
}

/** More is expected once two looks, five minutes apart or more, and all between them have proven it: the least of what they did. */
function raised(base: Proof | null, rising: Proof | null, proven: Proof): Pick<Expectation, 'base' | 'rising'> {
  const isMore = (proof: Proof) => base === null || proof.cents > base.cents
  if (!isMore(proven)) return { base, rising: null }
  if (rising === null || !isMore(rising)) return { base, rising: proven }
  const least = { ...rising, cents: rising.cents < proven.cents ? rising.cents : proven.cents }
  if (proven.at - least.at < limits.statementDifferenceMs) return { base, rising: least }
  return { base: least, rising: null }
}
