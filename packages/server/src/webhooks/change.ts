import { insertAudit, operatorOf } from '../audit/trail.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, type Queries, refusableTransaction } from '../platform/db/database.ts'
import type { RequestContext } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import { refuseLapsed } from '../platform/live-request.ts'

export interface ChangeNeeds {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

export interface Change {
  readonly queries: Queries
  readonly nowMs: number
  audit(action: string, subject: string, facts?: Readonly<Record<string, unknown>>): Promise<void>
}

/**
 * Makes a caller's change in one transaction. The request may lapse while it waits for the lock.
 * @param make gets the result of `lock`
 * @throws Refusal overloaded (503) when the request has lapsed; errors of `lock` and `make`
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
