import { boundsOf, dayOf } from '../../platform/sao-paulo.ts'

/** What a balance that the bank told says of its list of movements. Pure. */

/** A balance of the bank, and what its list comes to at the same moment. Centavos. */
export interface ReportedBalance {
  readonly reportedCents: bigint
  readonly listedCents: bigint
  /** What our orders under way had set aside then: the bank may have taken it off. */
  readonly reservedCents: bigint
}

/** The account as the bank had it, and what of that its list does not explain. Centavos. */
export interface ComparedBalance {
  readonly cents: bigint
  readonly unlistedCents: bigint
}

/**
 * Compares a balance with the list, which explains it where it comes to the same, or to the same without what is set aside for orders under way.
 * @returns `undefined`: orders under way may or may not explain what is missing
 * @source rules#close.11, rules#close.12
 */
export function compareBalance({
  reportedCents,
  listedCents,
  reservedCents,
}: ReportedBalance): ComparedBalance | undefined {
  if (reportedCents === listedCents || reportedCents + reservedCents === listedCents) {
    return { cents: listedCents, unlistedCents: 0n }
  }
  return reservedCents === 0n ? { cents: reportedCents, unlistedCents: reportedCents - listedCents } : undefined
}

/** The end of the last day of which the bank has booked everything, epoch milliseconds. @param bookedUntil by the bank's time */
export function lastDayEnd(bookedUntil: number): number {
  return boundsOf(dayOf(bookedUntil)).from
}
