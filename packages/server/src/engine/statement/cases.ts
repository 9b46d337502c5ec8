import { suspenseCases } from '@pixgate/spec'
import { instantOrNull } from './parameters.ts'
import type { Part } from './part.ts'

/** Opens cases. */
export const openedCases: Part = {
  name: 'case',
  isWanted: (draft) => draft.cases.length > 0,
  sql: ({ draft: { cases, now }, ids }, p) => `
  inserted_case AS (
    INSERT INTO "case" (id, operation_id, kind, reference, facts, closed_at, opened_at)
    SELECT c.*, ${p.one('timestamptz', instantOrNull(now))}
      FROM ${p.rows('c', {
        id: ['uuid', cases.map(() => ids.uuid())],
        operation_id: ['uuid', cases.map(({ operationId }) => operationId)],
        kind: ['text', cases.map(({ kind }) => kind)],
        reference: ['text', cases.map(({ reference }) => reference)],
        facts: ['jsonb', cases.map(({ facts }) => JSON.stringify(facts))],
        closed_at: ['timestamptz', cases.map(({ isClosed }) => (isClosed ? instantOrNull(now) : null))],
      })}
     WHERE (SELECT yes FROM go)
    -- A doubt that is over may come back.
    ON CONFLICT ON CONSTRAINT case_once DO UPDATE SET closed_at = NULL
       WHERE "case".closed_at IS NOT NULL AND excluded.closed_at IS NULL
  )`,
}

/** What the end of a doubt does not close. @source rules#ledger.suspense */
const SUSPENSE_CASES = [...suspenseCases].map((kind) => `'${kind}'`).join(', ')

/** Closes all cases of an operation that are not of money in suspense. */
export const closedCases: Part = {
  name: 'closed',
  isWanted: (draft) => draft.closedCaseOperations.size > 0,
  sql: ({ draft: { closedCaseOperations, now } }, p) => `
  closed_case AS (
    UPDATE "case" SET closed_at = ${p.one('timestamptz', instantOrNull(now))}
     WHERE operation_id = ANY (${p.one('uuid[]', [...closedCaseOperations])}) AND closed_at IS NULL
       AND kind NOT IN (${SUSPENSE_CASES}) AND (SELECT yes FROM go)
  )`,
}

/** Closes cases of a kind. */
export const closedCaseKinds: Part = {
  name: 'kind',
  isWanted: (draft) => draft.closedCaseKinds.length > 0,
  sql: ({ draft: { closedCaseKinds, closedCaseOperations, now } }, p) => `
  closed_kind AS (
    UPDATE "case" c SET closed_at = ${p.one('timestamptz', instantOrNull(now))}
      FROM ${p.rows('k', {
        operation_id: ['uuid', closedCaseKinds.map(({ operationId }) => operationId)],
        kind: ['text', closedCaseKinds.map(({ kind }) => kind)],
        reference: ['text', closedCaseKinds.map(({ reference }) => reference)],
      })}
     WHERE c.operation_id = k.operation_id AND c.kind = k.kind AND c.closed_at IS NULL AND (SELECT yes FROM go)
       AND (k.reference IS NULL OR c.reference = k.reference)
       AND (c.kind IN (${SUSPENSE_CASES}) OR NOT c.operation_id = ANY (${p.one('uuid[]', [...closedCaseOperations])}))
  )`,
}
