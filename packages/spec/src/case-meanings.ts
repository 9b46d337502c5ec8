import { cashIn } from './cash-in/index.ts'
import { cashOut } from './cash-out/index.ts'
import { refundIn } from './refund-in/index.ts'

const MEANINGS: ReadonlyMap<string, string> = new Map(
  [cashIn, cashOut, refundIn].flatMap(({ resource, cases }) =>
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

/** What a case about no operation means, as a whole sentence. */
const LOOSE: ReadonlyMap<string, string> = new Map([
  ['statement_unexplained', 'The bank’s statement has a movement that no operation of ours explains.'],
  ['statement_missing', 'Our books have a movement that the bank’s statement does not have.'],
  [
    'statement_differs',
    'Our books have a movement of the bank’s statement with another amount, or as another operation’s.',
  ],
  ['credit_denied', 'A payment was credited on the word of an event, and the bank denies it.'],
  ['unmatched_event', 'An event of the bank names nothing that we know. It was not applied.'],
  ['disputed_event', 'What an event of the bank names disagrees with each other. It was not applied.'],
  ['quarantined_event', 'An event of the bank could not be read. It was not applied.'],
  ['statement_short', 'The statement’s closing balance is less than all that it showed adds up to.'],
  ['statement_unaccounted', 'The entries of the bank’s statement do not account for the change of its balance.'],
  ['bank_balance_short', 'The bank’s balance is less than its statement says of that time.'],
])

/**
 * What a case that is about no operation means.
 * @returns `undefined` for a kind that this version does not open
 */
export function looseCaseMeaning(kind: string): string | undefined {
  return LOOSE.get(kind)
}

function nameOf(resource: string, kind: string): string {
  return `${resource} ${kind}`
}
