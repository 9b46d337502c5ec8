import { instantParameter } from '../../platform/db/database.ts'
import type { Part } from './part.ts'

/** Appends to the audit trail. */
export const audits: Part = {
  name: 'au',
  isWanted: (draft) => draft.audits.length > 0,
  sql: ({ draft: { audits, now }, ids }, p) => `
  inserted_audit AS (
    INSERT INTO audit (id, at, actor, actor_name, action, subject, address, facts)
    SELECT a.id, ${p.one('timestamptz', instantParameter(now))}, a.actor, a.actor_name, a.action, a.subject, a.address, a.facts
      FROM ${p.rows('a', {
        id: ['uuid', audits.map(() => ids.uuid())],
        actor: ['text', audits.map(({ actor }) => actor)],
        actor_name: ['text', audits.map(({ actorName }) => actorName ?? null)],
        action: ['text', audits.map(({ action }) => action)],
        subject: ['text', audits.map(({ subject }) => subject)],
        address: ['text', audits.map(({ address }) => address)],
        facts: ['jsonb', audits.map(({ facts }) => JSON.stringify(facts))],
      })}
     WHERE (SELECT yes FROM go)
  )`,
}
