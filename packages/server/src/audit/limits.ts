import { hostname } from 'node:os'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { insertAudit, lastLimits, lockLimits } from './store.ts'

/** The limits of a configuration by their names, in centavos as text; `null`: not bounded. */
export type Limits = Readonly<Record<string, string | null>>

/** What {@link auditLimits} works with. */
export interface AuditLimitsDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

/**
 * Tells the trail with which limits a process starts, where they are others than those of the last start: whoever changes a
 * file of settings leaves no other trace.
 * @source rules#audit.8
 */
export function auditLimits({ database, clock, ids }: AuditLimitsDependencies, limits: Limits): Promise<void> {
  return database.transaction(async (queries) => {
    await lockLimits(queries)
    const before = await lastLimits(queries)
    if (before !== null && isSame(before, limits)) return
    await insertAudit(queries, {
      id: ids.uuid(),
      at: clock.now(),
      actor: 'configuration',
      address: hostname(),
      action: 'limits.configured',
      subject: 'limits',
      facts: { limits, before },
    })
  })
}

function isSame(one: Limits, other: Limits): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => one[name] === other[name])
}
