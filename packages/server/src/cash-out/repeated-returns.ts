import { own } from '../platform/own.ts'

/** Returns that the bank may have reported twice, first without an id and then with one: in a case, not in the books. */

/** The facts in which the database keeps them, under their names of the first version. @see docs/adr/0024 */
export type RepeatedReturns = {
  /** Returns in suspense that were reported without an id, and not with one since: the name that stands for it → centavos. */
  readonly unnamedReturns?: Readonly<Record<string, number>>
  /** What may be one of the returns without an id, reported with its id, and is in a case only: return id → centavos. */
  readonly returnsToldAgain?: Readonly<Record<string, number>>
}

/** What was reported before under a return's id and is in a case only, centavos. */
export function repeatedReturn({ returnsToldAgain }: RepeatedReturns, returnId: string): number | undefined {
  return own(returnsToldAgain, returnId)
}

/** Facts after a return that may be one that was reported without its id; the next one of this amount is another. */
export function afterRepeatedReturn(
  { unnamedReturns = {}, returnsToldAgain }: RepeatedReturns,
  returned: { readonly returnId: string; readonly valueCents: bigint },
): RepeatedReturns {
  const cents = Number(returned.valueCents)
  const likely = Object.keys(unnamedReturns).find((name) => own(unnamedReturns, name) === cents)
  return {
    unnamedReturns: Object.fromEntries(Object.entries(unnamedReturns).filter(([name]) => name !== likely)),
    returnsToldAgain: { ...returnsToldAgain, [returned.returnId]: cents },
  }
}
