import type { Part } from './part.ts'

/**
 * Counts what is taken of allowances, and what is given back. A bucket that is gone takes nothing back: what was taken of
 * it no longer counts. Sorted, as everything that several processes insert.
 */
export const allowances: Part = {
  name: 'alw',
  isWanted: ({ allowances }) => allowances.changes.length > 0,
  sql: ({ draft: { allowances } }, p) => {
    const changes = allowances.changes
    return `
  wanted_allowance AS (
    SELECT * FROM ${p.rows('w', {
      scope: ['text', changes.map(({ scope }) => scope)],
      span: ['word', changes.map(({ span }) => span)],
      bucket: ['integer', changes.map(({ bucket }) => bucket)],
      cents: ['bigint', changes.map(({ cents }) => cents)],
    })} WHERE (SELECT yes FROM go)
  ),
  taken_allowance AS (
    INSERT INTO allowance AS a (scope, span, bucket, used_cents)
    SELECT * FROM wanted_allowance WHERE cents > 0 ORDER BY scope, span, bucket
    ON CONFLICT (scope, span, bucket) DO UPDATE SET used_cents = a.used_cents + excluded.used_cents
  ),
  returned_allowance AS (
    UPDATE allowance a SET used_cents = greatest(0, a.used_cents + w.cents)
      FROM wanted_allowance w
     WHERE w.cents < 0 AND a.scope = w.scope AND a.span = w.span AND a.bucket = w.bucket
  )`
  },
}
