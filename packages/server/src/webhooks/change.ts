import { insertAudit, operatorOf } from '../audit/trail.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, type Queries, refusableTransaction } from '../platform/db/database.ts'
import type { RequestContext } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import { refuseLapsed } from '../platform/live-request.ts'

/** Dependencies of {@link change}. */
export interface ChangeNeeds {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

/** A change under way. */
export interface Change {
  readonly queries: Queries
  readonly nowMs: number
  /** Writes a row of the audit trail for the caller. */
  audit(action: string, subject: string, facts?: Readonly<Record<string, unknown>>): Promise<void>
}

/**
 * Makes a change that a caller ordered, in one transaction. The request may lapse while it waits for the lock.
 * @param make gets what `lock` returned
 * @throws Refusal overloaded (503) the request has lapsed, and what `lock` and `make` throw
 */
export function change<Locked, Result>(
  { database, clock, ids }: ChangeNeeds,
  context: RequestContext,
  lock: (queries: Queries) => Promise<Locked>,
  make: (change: Change, locked: Locked) => Promise<Result>,
): Promise<Result> {
  return refusableTransaction(database, async (queries) => {
    const locked = await lock(queries)
    refuseLapsed(context.live)
    const nowMs = clock.now()
    const audit: Change['audit'] = (action, subject, facts = {}) =>
      insertAudit(queries, { ...operatorOf(context), id: ids.uuid(), at: nowMs, action, subject, facts })
    return make({ queries, nowMs, audit }, locked)
  })
}
