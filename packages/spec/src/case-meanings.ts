import { cashIn } from './cash-in/index.ts'
import { cashOut } from './cash-out/index.ts'
import { looseCaseKind } from './loose-cases.ts'
import { adjustment } from './operator.ts'
import { refundIn } from './refund-in/index.ts'

const MEANINGS: ReadonlyMap<string, string> = new Map(
  [cashIn, cashOut, refundIn, adjustment].flatMap(({ resource, cases }) =>
    Object.entries<string>(cases).map(([kind, meaning]) => [nameOf(resource, kind), meaning] as const),
  ),
)

/**
 * What a case of an operation is about and what was done with the money, as a whole sentence.
 * @param operationKind such as `cash_in`
 * @returns `undefined` for a kind of case that no table opens
 */
export function caseMeaning(operationKind: string, caseKind: string): string | undefined {
  return MEANINGS.get(nameOf(operationKind, caseKind))
}

/**
 * What a case that is about no operation means.
 * @returns `undefined` for a kind that this version does not open
 */
export function looseCaseMeaning(kind: string): string | undefined {
  return looseCaseKind(kind)?.meaning
}

function nameOf(resource: string, kind: string): string {
  return `${resource} ${kind}`
}
