import { limits } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import { type ActiveOperator, activeOperators } from './store.ts'

/**
 * The operators who are active. They are few: all of them are read at once and kept for `limits.apiKeyCacheMs`, so that a
 * wrong token costs no question of its own, and a right one is found among them whatever else comes.
 * @source rules#operators.5
 */
export interface Roster {
  /**
   * Whose token has this hash. Who was not there a moment ago is looked for anew: a token works everywhere once it is made.
   * @throws DatabaseUnavailable
   */
  find(hash: Buffer): Promise<ActiveOperator | undefined>
  /** Whether there is an admin among them. @throws DatabaseUnavailable */
  hasAdmin(): Promise<boolean>
  /** Forgets them, and what was asked until now and is answered later. */
  clear(): void
}

/** They are wanted by as many as there are requests, and read one time after the other. */
const READERS_MAX = 5_000

/** As they were when the question was put. */
interface Reading {
  readonly operators: readonly ActiveOperator[]
  /** Epoch milliseconds. */
  readonly askedAt: number
}

/** Begins with none. */
export function createRoster(database: Database, clock: Clock): Roster {
  let last: Reading | undefined
  let clearedAt = Number.NEGATIVE_INFINITY

  const readers = createBatcher<null, Reading>(
    async (waiting) => {
      const askedAt = clock.now()
      const result = { operators: await activeOperators(database), askedAt }
      if (askedAt > clearedAt) last = result
      return waiting.map(() => ({ result }))
    },
    { batchMax: READERS_MAX, queueMax: READERS_MAX },
  )

  async function current(): Promise<Reading> {
    return last && clock.now() - last.askedAt < limits.apiKeyCacheMs ? last : readers.submit(null)
  }

  const among = ({ operators }: Reading, hash: Buffer) => operators.find((operator) => operator.hash.equals(hash))

  return {
    find: async (hash) => {
      const kept = last
      const reading = await current()
      const found = among(reading, hash)
      return found || reading !== kept ? found : among(await readers.submit(null), hash)
    },
    hasAdmin: async () => (await current()).operators.some(({ role }) => role === 'admin'),
    clear: () => {
      last = undefined
      clearedAt = clock.now()
    },
  }
}
