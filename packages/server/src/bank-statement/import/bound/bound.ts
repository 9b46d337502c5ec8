import type { Difference } from '../../trip-wire/wire.ts'

/** How many cases a file may have open: a wrong one must not fill the desk. Pure. */

/** So many differences of a file are cases of their own at once; one case stands for the others. @source rules#import.7 */
export const FILE_CASES_MAX = 20

/** A difference that a file tells. */
export interface FileDifference extends Difference {
  readonly importId: string
}

/** What may become a case now, and the files that have more. */
export interface Bounded<Found> {
  readonly within: readonly Found[]
  readonly beyond: ReadonlySet<string>
}

/**
 * Takes what there is room for, the largest first.
 * @param open how many cases each file has open, by its id
 * @source rules#import.7
 */
export function bounded<Found extends FileDifference>(
  found: readonly Found[],
  open: ReadonlyMap<string, number>,
): Bounded<Found> {
  const counts = new Map(open)
  const beyond = new Set<string>()
  const within = found
    .toSorted((one, other) => amountOf(other) - amountOf(one))
    .filter(({ importId }) => {
      const count = counts.get(importId) ?? 0
      if (count >= FILE_CASES_MAX) beyond.add(importId)
      else counts.set(importId, count + 1)
      return count < FILE_CASES_MAX
    })
  return { within, beyond }
}

function amountOf({ facts }: Difference): number {
  return typeof facts.valueCents === 'number' ? facts.valueCents : 0
}
