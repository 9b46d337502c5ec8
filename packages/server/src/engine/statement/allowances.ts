import type { BucketChange } from '../allowance.ts'
import type { Draft } from '../draft.ts'
import type { Parameters } from './parameters.ts'
import type { Part } from './part.ts'

/** Counts what is taken of allowances. Sorted, as everything that several processes insert. */
export const takenAllowances: Part = {
  name: 'alw',
  isWanted: (draft) => takenOf(draft).length > 0,
  sql: ({ draft }, p) => `
  taken_allowance AS (
    INSERT INTO allowance AS a (scope, span, bucket, used_cents)
    SELECT * FROM ${rowsOf(takenOf(draft), p)} WHERE (SELECT yes FROM go) ORDER BY scope, span, bucket
    ON CONFLICT (scope, span, bucket) DO UPDATE SET used_cents = a.used_cents + excluded.used_cents
  )`,
}

/** Counts what is given back. A bucket that is gone takes nothing back: what was taken of it no longer counts. */
export const returnedAllowances: Part = {
  name: 'alr',
  isWanted: (draft) => returnedOf(draft).length > 0,
  sql: ({ draft }, p) => `
  returned_allowance AS (
    UPDATE allowance a SET used_cents = greatest(0, a.used_cents + w.cents)
      FROM ${rowsOf(returnedOf(draft), p)}
     WHERE a.scope = w.scope AND a.span = w.span AND a.bucket = w.bucket AND (SELECT yes FROM go)
  )`,
}

function takenOf({ allowances }: Draft): BucketChange[] {
  return allowances.changes.filter(({ cents }) => cents > 0n)
}

function returnedOf({ allowances }: Draft): BucketChange[] {
  return allowances.changes.filter(({ cents }) => cents < 0n)
}

function rowsOf(changes: readonly BucketChange[], p: Parameters): string {
  return p.rows('w', {
    scope: ['text', changes.map(({ scope }) => scope)],
    span: ['text', changes.map(({ span }) => span)],
    bucket: ['integer', changes.map(({ bucket }) => bucket)],
    cents: ['bigint', changes.map(({ cents }) => cents)],
  })
}
