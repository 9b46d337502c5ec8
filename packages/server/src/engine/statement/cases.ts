import { caseCents } from '../case-line.ts'
import { instantOrNull } from './parameters.ts'
import type { Part } from './part.ts'

/**
 * Opens cases; one that was closed is open again, as a doubt that is over may come back. It tells what was told last; while it is open
 * its amount only grows.
 * @source rules#desk.48
 */
export const openedCases: Part = {
  name: 'cas',
  isWanted: ({ cases }) => cases.opened.length > 0,
  sql: ({ draft, draft: { cases, now } }, p) => `
  inserted_case AS (
    INSERT INTO "case" (id, operation_id, kind, reference, facts, closed_at, amount_cents, opened_at)
    SELECT c.*, ${p.one('timestamptz', instantOrNull(now))}
      FROM ${p.rows('c', {
        id: ['uuid', cases.opened.map(({ id }) => id)],
        operation_id: ['uuid', cases.opened.map(({ operationId }) => operationId)],
        kind: ['text', cases.opened.map(({ kind }) => kind)],
        reference: ['text', cases.opened.map(({ reference }) => reference)],
        facts: ['jsonb', cases.opened.map(({ facts }) => JSON.stringify(facts))],
        closed_at: ['timestamptz', cases.opened.map(({ isClosed }) => (isClosed ? instantOrNull(now) : null))],
        amount_cents: [
          'bigint',
          cases.opened.map(({ facts, operationId }) => caseCents(facts, draft.operation(operationId ?? ''))),
        ],
      })}
     WHERE (SELECT yes FROM go)
    ON CONFLICT ON CONSTRAINT case_once DO UPDATE
       SET closed_at = NULL, facts = excluded.facts,
           amount_cents = CASE WHEN "case".closed_at IS NULL AND excluded.amount_cents < "case".amount_cents
                               THEN "case".amount_cents ELSE excluded.amount_cents END
       WHERE excluded.closed_at IS NULL AND ("case".closed_at IS NOT NULL OR "case".facts <> excluded.facts)
  )`,
}

/**
 * Closes cases: of no operation, or of one that was compared. Whoever opens one of an operation moves it, so none closes
 * that the decision did not see.
 * @source rules#engine.19
 */
export const closedCases: Part = {
  name: 'cls',
  isWanted: ({ cases }) => cases.closedIds.length > 0,
  sql: ({ draft: { cases, now } }, p) => `
  closed_case AS (
    UPDATE "case" SET closed_at = ${p.one('timestamptz', instantOrNull(now))}
     WHERE id = ANY (${p.one('uuid[]', cases.closedIds)}) AND closed_at IS NULL AND (SELECT yes FROM go)
       AND (operation_id IS NULL OR operation_id IN (SELECT id FROM wanted_operation))
  )`,
}
