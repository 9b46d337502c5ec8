import type { UnverifiedCredit } from '../engine/operation.ts'

/** Rows of the table `unverified_credit`, by their keys. */

/** The keys of some, as parameters 1 to 3 of a statement. */
export type CreditKeys = [operationIds: readonly string[], endToEndIds: readonly string[], cents: readonly string[]]

/** @returns the keys of these */
export function keysOf(credits: readonly UnverifiedCredit[]): CreditKeys {
  return [
    credits.map(({ operationId }) => operationId),
    credits.map(({ endToEndId }) => endToEndId),
    credits.map(({ valueCents }) => String(valueCents)),
  ]
}

/** The keys that parameters 1 to 3 are, as a relation `r`. */
export const KEYS = 'unnest($1::uuid[], $2::text[], $3::bigint[]) AS r (operation_id, end_to_end_id, value_cents)'

/** Where the credit `u` has the key `r`. */
export const SAME =
  'u.operation_id = r.operation_id AND u.end_to_end_id = r.end_to_end_id AND u.value_cents = r.value_cents'
