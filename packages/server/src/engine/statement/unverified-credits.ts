import { instantParameter } from '../../platform/db/database.ts'
import type { Part } from './part.ts'

/**
 * Counts credits on the word of events alone, behind the locked total. A credit that is counted already counts once; one that ceased
 * to count counts again.
 * @source rules#cash-in.credits.3
 */
export const unverifiedCredits: Part = {
  name: 'un',
  isWanted: (draft) => draft.unverifiedCredits.length > 0,
  sql: ({ draft: { unverifiedCredits: credits, now } }, p) => `
  counted_credit AS (
    INSERT INTO unverified_credit (operation_id, end_to_end_id, value_cents, admitted_at)
    SELECT c.*, ${p.one('timestamptz', instantParameter(now))}
      FROM ${p.rows('c', {
        operation_id: ['uuid', credits.map(({ operationId }) => operationId)],
        end_to_end_id: ['text', credits.map(({ endToEndId }) => endToEndId)],
        value_cents: ['bigint', credits.map(({ valueCents }) => valueCents)],
      })}
     WHERE (SELECT yes FROM go)
    ON CONFLICT (operation_id, end_to_end_id, value_cents)
      DO UPDATE SET admitted_at = excluded.admitted_at, settled_at = NULL, asked_at = NULL, denied_at = NULL,
                    asking_ended_at = NULL
        WHERE unverified_credit.settled_at IS NOT NULL
    RETURNING value_cents
  ),
  updated_unverified_total AS (
    UPDATE unverified_total t SET cents = ut.cents + c.cents
      FROM ut, (SELECT sum(value_cents)::bigint AS cents FROM counted_credit) c
     WHERE c.cents IS NOT NULL
  )`,
}
