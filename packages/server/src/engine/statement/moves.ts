import { instantParameter } from '../../platform/db/database.ts'
import { factsText, jsonOrNull } from './parameters.ts'
import type { Part } from './part.ts'

/** Appends to the timelines of operations. */
export const moves: Part = {
  name: 'mov',
  isWanted: (draft) => draft.moves.length > 0,
  sql: ({ id: batchId, draft: { moves, now } }, p) => `
  inserted_move AS (
    INSERT INTO move (operation_id, version, kind, trigger, from_status, to_status, facts, evidence, batch_id, at)
    SELECT m.*, ${p.one('uuid', batchId)}, ${p.one('timestamptz', instantParameter(now))}
      FROM ${p.rows('m', {
        operation_id: ['uuid', moves.map(({ after }) => after.id)],
        version: ['integer', moves.map(({ after }) => after.version)],
        kind: ['text', moves.map(({ after }) => after.kind)],
        trigger: ['text', moves.map(({ trigger }) => trigger)],
        from_status: ['text', moves.map(({ before }) => before?.status ?? null)],
        to_status: ['text', moves.map(({ after }) => after.status)],
        facts: ['jsonb', moves.map(({ facts, before }) => factsText(facts, before))],
        evidence: ['jsonb', moves.map(({ evidence }) => jsonOrNull(evidence))],
      })}
     WHERE (SELECT yes FROM go)
  )`,
}
