import assert from 'node:assert/strict'
import { type AccountCode, journals, type Posting, type Terms, type Variable } from '@pixgate/spec'
import type { Journal } from './operation.ts'

/** Entry without its position in the account's history. */
export interface Entry {
  readonly account: AccountCode
  readonly amountCents: bigint
  readonly operationId: string
  readonly journal: string
  readonly reference: string
  /** Position in the journal's template. */
  readonly posting: number
  readonly shown: string | null
}

/**
 * Entries of a journal, without zeros.
 * @throws AssertionError an amount is missing, or the entries do not sum to zero
 * @source rules#ledger.journals
 */
export function entriesOf(journal: Journal): Entry[] {
  const postings: readonly Posting[] = journals[journal.kind].postings
  const entries = postings.map((posting, index) => ({
    account: posting.account,
    amountCents: amountOf(posting.amount, journal),
    operationId: journal.operationId,
    journal: journal.kind,
    reference: journal.reference,
    posting: index,
    shown: 'shown' in posting ? posting.shown : null,
  }))
  const total = entries.reduce((sum, { amountCents }) => sum + amountCents, 0n)
  assert.equal(total, 0n, `journal ${journal.kind} of ${journal.operationId} does not balance`)
  return entries.filter(({ amountCents }) => amountCents !== 0n)
}

function amountOf(terms: Terms, { kind, amounts }: Journal): bigint {
  let sum = 0n
  for (const [variable, sign] of Object.entries(terms) as [Variable, 1 | -1][]) {
    const amount = amounts[variable]
    assert.ok(amount !== undefined && amount >= 0n, `journal ${kind} needs a non-negative amount ${variable}`)
    sum += BigInt(sign) * amount
  }
  return sum
}

/** Amount of a journal that moved at the bank, in either direction, centavos. */
export function settledCents(journal: Journal): bigint {
  const cents = sumOf(entriesOf(journal), 'settlement')
  return cents < 0n ? -cents : cents
}

/** Sum of the entries of an account, centavos. */
export function sumOf(entries: readonly Entry[], code: AccountCode): bigint {
  return entries.reduce((sum, { account, amountCents }) => (account === code ? sum + amountCents : sum), 0n)
}
