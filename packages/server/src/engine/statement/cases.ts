import { instantParameter } from '../../platform/db/database.ts'
import { CASE_TIMES, mostCents } from '../case-line.ts'
import type { Part } from './part.ts'

/** Instants in what is told of a case of no operation: the same told with another one is nothing new. @source rules#desk.51 */
const withoutTimes = (facts: string) => `(${facts} - '{${CASE_TIMES.join(',')}}'::text[])`

/**
 * Opens cases; one that was closed is open again, as a doubt that is over may come back. It tells what was told last; its amount is the
 * most that was ever told.
 * @source rules#desk.48
 */
export const openedCases: Part = {
  name: 'cas',
  isWanted: ({ cases }) => cases.opened.length > 0,
  sql: ({ draft, draft: { cases, now } }, p) => `
  inserted_case AS (
    INSERT INTO "case" (id, operation_id, kind, reference, facts, closed_at, amount_cents, opened_at)
    SELECT c.*, ${p.one('timestamptz', instantParameter(now))}
      FROM ${p.rows('c', {
        id: ['uuid', cases.opened.map(({ id }) => id)],
        operation_id: ['uuid', cases.opened.map(({ operationId }) => operationId)],
        kind: ['text', cases.opened.map(({ kind }) => kind)],
        reference: ['text', cases.opened.map(({ reference }) => reference)],
        facts: ['jsonb', cases.opened.map(({ facts }) => JSON.stringify(facts))],
        closed_at: ['timestamptz', cases.opened.map(({ isClosed }) => (isClosed ? now : null))],
        amount_cents: [
          'bigint',
          cases.opened.map(({ told, operationId }) => mostCents(told, draft.operation(operationId ?? ''))),
        ],
      })}
     WHERE (SELECT yes FROM go)
    ON CONFLICT ON CONSTRAINT case_once DO UPDATE
       SET closed_at = NULL, facts = excluded.facts, amount_cents = greatest("case".amount_cents, excluded.amount_cents)
       WHERE excluded.closed_at IS NULL
         AND ("case".closed_at IS NOT NULL OR ${withoutTimes('"case".facts')} <> ${withoutTimes('excluded.facts')}
              OR excluded.amount_cents > coalesce("case".amount_cents, 0))
    RETURNING id, operation_id
  )`,
}

/**
 * Changes cases that stay open, each once. A report of it again replaces its facts and its rule, and raises its amount; where that says
 * something new, the trigger of the table raises its version. Where its operation changed, its version grows.
 * @source rules#desk.48, rules#engine.22
 */
export const changedCases: Part = {
  name: 'chc',
  isWanted: ({ cases }) => cases.changed.length > 0,
  sql: ({ draft, draft: { cases } }, p) => `
  changed_case AS (
    UPDATE "case" c SET facts = coalesce(r.facts, c.facts), amount_cents = greatest(c.amount_cents, r.amount_cents),
                        version = c.version + r.is_touched::int
      FROM ${p.rows('r', {
        id: ['uuid', cases.changed.map(({ id }) => id)],
        amount_cents: [
          'bigint',
          cases.changed.map(({ told, operationId }) => mostCents(told, draft.operation(operationId ?? ''))),
        ],
        facts: ['jsonb', cases.changed.map(({ told }) => (told.length === 0 ? null : JSON.stringify(told.at(-1))))],
        is_touched: ['boolean', cases.changed.map(({ isTouched }) => isTouched)],
      })}
     WHERE c.id = r.id AND c.closed_at IS NULL
       AND (r.is_touched OR r.amount_cents > coalesce(c.amount_cents, 0)
            OR ${withoutTimes('c.facts')} <> ${withoutTimes('r.facts')})
       AND (SELECT yes FROM go)
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
    UPDATE "case" SET closed_at = ${p.one('timestamptz', instantParameter(now))}
     WHERE id = ANY (${p.one('uuid[]', cases.closedIds)}) AND closed_at IS NULL AND (SELECT yes FROM go)
       AND (operation_id IS NULL OR operation_id IN (SELECT id FROM wanted_operation))
  )`,
}
