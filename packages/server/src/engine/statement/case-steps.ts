import { instantParameter } from '../../platform/db/database.ts'
import type { Part } from './part.ts'

/** Appends to what is kept of operators' decisions. A proposal that has ended since refuses the whole statement. */
export const caseSteps: Part = {
  name: 'st',
  isWanted: (draft) => draft.caseSteps.length > 0,
  sql: ({ draft: { caseSteps: steps, now } }, p) => `
  inserted_case_step AS (
    INSERT INTO case_step (id, case_id, step, proposal_id, operator_id, operator_name, content, case_version, amount_cents,
                           idempotency_key, body_hash, answer, at)
    SELECT s.*, ${p.one('timestamptz', instantParameter(now))}
      FROM ${p.rows('s', {
        id: ['uuid', steps.map(({ id }) => id)],
        case_id: ['uuid', steps.map(({ caseId }) => caseId)],
        step: ['text', steps.map(({ step }) => step)],
        proposal_id: ['uuid', steps.map(({ proposalId }) => proposalId)],
        operator_id: ['text', steps.map(({ operatorId }) => operatorId)],
        operator_name: ['text', steps.map(({ operatorName }) => operatorName)],
        content: ['jsonb', steps.map(({ content }) => JSON.stringify(content))],
        case_version: ['text', steps.map(({ caseVersion }) => caseVersion)],
        amount_cents: ['bigint', steps.map(({ amountCents }) => amountCents)],
        idempotency_key: ['text', steps.map(({ idempotencyKey }) => idempotencyKey)],
        body_hash: ['bytea', steps.map(({ bodyHash }) => bodyHash)],
        answer: ['jsonb', steps.map(({ answer }) => JSON.stringify(answer))],
      })}
     WHERE (SELECT yes FROM go)
  )`,
}
