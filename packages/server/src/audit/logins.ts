import { getMetrics, Refusal } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queries } from '../platform/db/database.ts'
import type { Caller, IncomingRequest } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import { clientNetworkOf } from '../platform/networks.ts'
import { createTokenBuckets } from '../platform/token-bucket.ts'
import { insertAudit, insertLogin, type Operator, operatorOf } from './trail.ts'

/** Authenticates an operator's request. @throws Refusal that keeps the caller out */
type Authenticate = (request: IncomingRequest) => Promise<Caller>

export interface AuditedLogins {
  readonly authenticate: Authenticate
  /**
   * Writes the counts of refusals and of log-ins from too many addresses.
   * @throws DatabaseUnavailable; the counts are kept for the next call
   */
  flush(): Promise<void>
}

/** Address of the row that sums up further addresses. */
const OTHERS = 'other addresses'

/** Log-ins of an operator from too many addresses. */
interface Crowd {
  readonly operator: Operator
  readonly times: number
}

/** Adds one row per address of refusals and per operator of log-ins. */
async function insertCounted(
  queries: Queries,
  [refused, crowded]: readonly [ReadonlyMap<string, number>, ReadonlyMap<string, Crowd>],
  { clock, ids }: Pick<LoginDependencies, 'clock' | 'ids'>,
): Promise<void> {
  for (const [address, count] of refused) {
    const row = { id: ids.uuid(), at: clock.now(), actor: 'unknown', address, facts: { count } }
    await insertAudit(queries, { ...row, action: 'operator.login_refused', subject: 'operator' })
  }
  for (const { operator, times: count } of crowded.values()) {
    const row = { ...operator, id: ids.uuid(), at: clock.now(), facts: { count } }
    await insertAudit(queries, { ...row, action: 'operator.logged_in', subject: operator.actor })
  }
}

/**
 * Audits log-ins. A log-in that could not be written is refused, except for reading the metrics, which report the
 * database outage.
 * @source rules#audit.7
 */
export function auditLogins(authenticate: Authenticate, { database, clock, ids }: LoginDependencies): AuditedLogins {
  const logins = createLoginRows({ database, clock, ids })
  let refused = new Map<string, number>()
  let crowded = new Map<string, Crowd>()

  async function recordLogin(request: IncomingRequest, caller: Caller): Promise<void> {
    const operator = operatorOf({ caller, remoteAddress: request.remoteAddress })
    if (!(await logins.record(operator))) crowd(operator, 1)
  }

  function count(address: string, times: number): void {
    const name = refused.has(address) || refused.size < ADDRESSES_MAX ? address : OTHERS
    refused.set(name, (refused.get(name) ?? 0) + times)
  }

  function crowd(operator: Operator, times: number): void {
    const before = crowded.get(operator.actor)?.times ?? 0
    crowded.set(operator.actor, { operator: { ...operator, address: OTHERS }, times: before + times })
  }

  return {
    authenticate: async (request) => {
      const caller = await authenticate(request).catch((error: unknown) => {
        // A request without a credential is no guess.
        if (error instanceof Refusal && request.headers.authorization !== undefined) count(request.remoteAddress, 1)
        throw error
      })
      if (request.endpoint !== getMetrics) await recordLogin(request, caller)
      return caller
    },
    flush: async () => {
      if (refused.size + crowded.size === 0) return
      const counted = [refused, crowded] as const
      refused = new Map()
      crowded = new Map()
      try {
        await database.transaction((queries) => insertCounted(queries, counted, { clock, ids }))
      } catch (error) {
        for (const [address, times] of counted[0]) count(address, times)
        for (const { operator, times } of counted[1].values()) crowd(operator, times)
        throw error
      }
    },
  }
}

export interface LoginDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

export interface LoginRows {
  /**
   * Ensures that the trail has a log-in.
   * @returns false if the operator came from too many new addresses; then only the count is written
   * @throws DatabaseUnavailable
   */
  record(operator: Operator): Promise<boolean>
}

/** Addresses per minute that get a row of their own. @source rules#audit.7 */
const ADDRESSES_MAX = 20

/** A return from the same network within this time is no new log-in. @source rules#audit.7 */
const LOGIN_LASTS_MS = 24 * 60 * 60 * 1_000

/** Cached log-ins known to be in the trail. */
const KNOWN_MAX = 1_000

function createLoginRows({ database, clock, ids }: LoginDependencies): LoginRows {
  const known = new LRUCache<string, number>({ max: KNOWN_MAX })
  const rows = createTokenBuckets(clock, { perMinute: ADDRESSES_MAX, capacity: ADDRESSES_MAX, bucketsMax: KNOWN_MAX })
  /** Rows being written: parallel requests are one log-in. */
  const underWay = new Map<string, Promise<true>>()

  async function write(operator: Operator, name: string): Promise<true> {
    const at = clock.now()
    try {
      const loginAt = await insertLogin(database, { ...operator, id: ids.uuid(), at }, at - LOGIN_LASTS_MS)
      known.set(name, loginAt + LOGIN_LASTS_MS)
      return true
    } catch (error) {
      // Otherwise repeated requests during a database outage would be let in as one of too many.
      rows.giveBack(operator.actor)
      throw error
    } finally {
      underWay.delete(name)
    }
  }

  return {
    record: async (operator) => {
      const name = `${operator.actor} ${clientNetworkOf(operator.address)}`
      if (clock.now() < (known.get(name) ?? 0)) return true
      const writing = underWay.get(name)
      if (writing) return writing
      if (rows.take(operator.actor) > 0) return false
      const written = write(operator, name)
      underWay.set(name, written)
      return written
    },
  }
}
