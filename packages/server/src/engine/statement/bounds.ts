import type { Draft } from '../draft.ts'
import type { Part } from './part.ts'

/**
 * What may have been used before the batch at most, of allowances and by recipients. The functions look at what is
 * committed when they are called, and are called once the controls are locked, which are last: whatever takes something
 * within a bound locks the switch of payouts, also an approval, which locks no account. So two processes cannot both take
 * the last of it, and neither decides anew for what the other took.
 * @source rules#limits.5, rules#limits.11
 */
const bounds: readonly Part[] = [
  {
    name: 'cap',
    isWanted: ({ allowances }) => allowances.headrooms.length > 0,
    sql: ({ draft: { allowances } }, p) => `
  cap AS MATERIALIZED (
    SELECT w.headroom, allowance_used(w.scope, w.span, w.since) AS used
      FROM ${p.rows('w', {
        scope: ['text', allowances.headrooms.map(({ scope }) => scope)],
        span: ['text', allowances.headrooms.map(({ span }) => span)],
        since: ['integer', allowances.headrooms.map(({ since }) => since)],
        headroom: ['bigint', allowances.headrooms.map(({ cents }) => cents)],
      })}
     WHERE (SELECT count(*) FROM cc) >= 0
  )`,
  },
  {
    name: 'rcp',
    isWanted: ({ recipients }) => recipients.size > 0,
    sql: ({ draft: { recipients } }, p) => `
  rcp AS MATERIALIZED (
    SELECT w.headroom, paid_to(w.pix_key) AS used
      FROM ${p.rows('w', {
        pix_key: ['text', [...recipients.keys()]],
        headroom: ['bigint', [...recipients.values()].map(({ headroomCents }) => headroomCents)],
      })}
     WHERE (SELECT count(*) FROM cc) >= 0
  )`,
  },
]

/** The bounds that a batch has. */
export function boundsOf(draft: Draft): readonly Part[] {
  return bounds.filter((bound) => bound.isWanted(draft))
}
