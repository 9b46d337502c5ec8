import { getMetrics, Refusal } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Caller, IncomingRequest } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import { operatorOf } from './operator.ts'
import { insertAudit, insertLogin } from './store.ts'

/** Who asks for the operator's endpoints. @throws Refusal that keeps the caller out */
type Authenticate = (request: IncomingRequest) => Promise<Caller>

/** The log-ins of operators, as the trail has them. */
export interface AuditedLogins {
  /** Lets in as before, and tells the trail. */
  readonly authenticate: Authenticate
  /** Adds what was refused since the last time. @throws DatabaseUnavailable; then it is told with the next */
  flush(): Promise<void>
}

/** What they work with. */
export interface AuditedLoginsDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

/** An operator who comes back within this from the same address has not logged in anew. @source rules#audit.7 */
const LOGIN_LASTS_MS = 24 * 60 * 60 * 1_000

/** Of so many a process knows without asking that they are in the trail. */
const KNOWN_MAX = 1_000

/** Of so many addresses what was refused is told by itself, in one minute. What others sent is one row. */
const ADDRESSES_MAX = 20
const OTHERS = 'other addresses'

/**
 * Tells the trail of log-ins. Nobody is let in whose log-in could not be written, but to read the metrics, which tell
 * that the database is away.
 * @source rules#audit.7
 */
export function auditLogins(
  authenticate: Authenticate,
  { database, clock, ids }: AuditedLoginsDependencies,
): AuditedLogins {
  const known = new LRUCache<string, number>({ max: KNOWN_MAX })
  let refused = new Map<string, number>()

  async function tellLogin(request: IncomingRequest, caller: Caller): Promise<void> {
    const operator = operatorOf({ caller, remoteAddress: request.remoteAddress })
    const name = `${operator.actor} ${operator.address}`
    const at = clock.now()
    if (at < (known.get(name) ?? 0)) return
    const loginAt = await insertLogin(database, { ...operator, id: ids.uuid(), at }, at - LOGIN_LASTS_MS)
    known.set(name, loginAt + LOGIN_LASTS_MS)
  }

  function count(address: string, times: number): void {
    const name = refused.has(address) || refused.size < ADDRESSES_MAX ? address : OTHERS
    refused.set(name, (refused.get(name) ?? 0) + times)
  }

  return {
    authenticate: async (request) => {
      const caller = await authenticate(request).catch((error: unknown) => {
        // Who shows nothing guesses nothing.
        if (error instanceof Refusal && request.headers.authorization !== undefined) count(request.remoteAddress, 1)
        throw error
      })
      if (request.endpoint !== getMetrics) await tellLogin(request, caller)
      return caller
    },
    flush: async () => {
      if (refused.size === 0) return
      const telling = refused
      refused = new Map()
      try {
        await database.transaction(async (queries) => {
          for (const [address, times] of telling) {
            const row = { id: ids.uuid(), at: clock.now(), actor: 'unknown', address, facts: { count: times } }
            await insertAudit(queries, { ...row, action: 'operator.login_refused', subject: 'operator' })
          }
        })
      } catch (error) {
        for (const [address, times] of telling) count(address, times)
        throw error
      }
    },
  }
}
