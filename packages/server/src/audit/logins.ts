import { getMetrics, Refusal } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'
import type { Database, Queries } from '../platform/db/database.ts'
import type { Caller, IncomingRequest } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'
import { networkOf } from '../platform/networks.ts'
import { createTokenBuckets } from '../platform/token-bucket.ts'
import { insertAudit, insertLogin, type Operator, operatorOf } from './trail.ts'

/** Who asks for the operator's endpoints. @throws Refusal that keeps the caller out */
type Authenticate = (request: IncomingRequest) => Promise<Caller>

/** The log-ins of operators, as the trail has them. */
export interface AuditedLogins {
  /** Lets in as before, and tells the trail. */
  readonly authenticate: Authenticate
  /** Adds what was refused, and what was let in as one of too many, since the last time. @throws DatabaseUnavailable; then it is told with the next */
  flush(): Promise<void>
}

/** What came from more addresses than are told by themselves is one row, of an operator one. */
const OTHERS = 'other addresses'

/** How often an operator was let in from more addresses than are told by themselves. */
interface Crowd {
  readonly operator: Operator
  readonly times: number
}

/** Adds a row for each: of refusals by address, of log-ins by operator. */
async function tellCounted(
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
 * Tells the trail of log-ins. Nobody is let in whose log-in could not be written, but to read the metrics, which tell
 * that the database is away.
 * @source rules#audit.7
 */
export function auditLogins(authenticate: Authenticate, { database, clock, ids }: LoginDependencies): AuditedLogins {
  const logins = createLoginRows({ database, clock, ids })
  let refused = new Map<string, number>()
  let crowded = new Map<string, Crowd>()

  async function tellLogin(request: IncomingRequest, caller: Caller): Promise<void> {
    const operator = operatorOf({ caller, remoteAddress: request.remoteAddress })
    if (!(await logins.tell(operator))) crowd(operator, 1)
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
        // Who shows nothing guesses nothing.
        if (error instanceof Refusal && request.headers.authorization !== undefined) count(request.remoteAddress, 1)
        throw error
      })
      if (request.endpoint !== getMetrics) await tellLogin(request, caller)
      return caller
    },
    flush: async () => {
      if (refused.size + crowded.size === 0) return
      const telling = [refused, crowded] as const
      refused = new Map()
      crowded = new Map()
      try {
        await database.transaction((queries) => tellCounted(queries, telling, { clock, ids }))
      } catch (error) {
        for (const [address, times] of telling[0]) count(address, times)
        for (const { operator, times } of telling[1].values()) crowd(operator, times)
        throw error
      }
    },
  }
}

/** What log-ins are told with. */
export interface LoginDependencies {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

/** Log-ins that are rows of their own. */
export interface LoginRows {
  /**
   * Sees to it that the trail has a log-in.
   * @returns false where the operator came from too many new addresses: then it is told with how often
   * @throws DatabaseUnavailable
   */
  tell(operator: Operator): Promise<boolean>
}

/** Of so many addresses what came is told by itself, in one minute. @source rules#audit.7 */
const ADDRESSES_MAX = 20

/** An operator who comes back within this from the same network has not logged in anew. @source rules#audit.7 */
const LOGIN_LASTS_MS = 24 * 60 * 60 * 1_000

/** Of so many a process knows without asking that they are in the trail. */
const KNOWN_MAX = 1_000

/** Begins with none. */
function createLoginRows({ database, clock, ids }: LoginDependencies): LoginRows {
  const known = new LRUCache<string, number>({ max: KNOWN_MAX })
  const rows = createTokenBuckets(clock, { perMinute: ADDRESSES_MAX, capacity: ADDRESSES_MAX, bucketsMax: KNOWN_MAX })
  /** Those that are being written: who sends many requests at once has logged in once. */
  const underWay = new Map<string, Promise<true>>()

  async function write(operator: Operator, name: string): Promise<true> {
    const at = clock.now()
    try {
      const loginAt = await insertLogin(database, { ...operator, id: ids.uuid(), at }, at - LOGIN_LASTS_MS)
      known.set(name, loginAt + LOGIN_LASTS_MS)
      return true
    } catch (error) {
      // Else whoever asks often enough while the database is away would be let in as one of too many.
      rows.giveBack(operator.actor)
      throw error
    } finally {
      underWay.delete(name)
    }
  }

  return {
    tell: async (operator) => {
      const name = `${operator.actor} ${networkOf(operator.address)}`
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
