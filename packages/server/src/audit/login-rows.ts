import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { networkOf } from '../platform/networks.ts'
import { createTokenBuckets } from '../platform/token-bucket.ts'
import type { Operator } from './operator.ts'
import { insertLogin } from './store.ts'

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
export const ADDRESSES_MAX = 20

/** An operator who comes back within this from the same network has not logged in anew. @source rules#audit.7 */
const LOGIN_LASTS_MS = 24 * 60 * 60 * 1_000

/** Of so many a process knows without asking that they are in the trail. */
const KNOWN_MAX = 1_000

/** Begins with none. */
export function createLoginRows({ database, clock, ids }: LoginDependencies): LoginRows {
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
