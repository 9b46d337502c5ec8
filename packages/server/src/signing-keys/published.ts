import { limits } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { SigningKey } from './signing-key.ts'
import { publishedKeys } from './store.ts'

/** The keys that are published, as this process knows them. */
export interface PublishedKeys {
  /**
   * Next, current and previous, the newest first: at most a second old. While the database cannot be asked, as old as what
   * a receiver may have cached.
   * @throws DatabaseUnavailable where they are older
   */
  read(): Promise<readonly SigningKey[]>
}

/** Where they are read. */
export interface PublishedKeysDependencies {
  readonly database: Database
  readonly clock: Clock
}

const STALE_MAX_MS = limits.publicKeyMaxAgeSeconds * 1_000

/**
 * Reads them for anybody who asks, who may be anyone: once a second at most, however many ask.
 * @source rules#signing-keys.4, rules#signing-keys.5
 */
export async function openPublishedKeys({ database, clock }: PublishedKeysDependencies): Promise<PublishedKeys> {
  let [keys, readAt, triedAt] = [await publishedKeys(database), clock.now(), clock.now()]
  let reading: Promise<void> | undefined

  async function readAgain(startedAt: number): Promise<void> {
    triedAt = startedAt
    try {
      keys = await publishedKeys(database)
      // As old as the question, not as its answer.
      readAt = startedAt
    } catch (error) {
      if (clock.now() - readAt > STALE_MAX_MS) throw error
    }
  }

  return {
    read: async () => {
      const now = clock.now()
      const isFresh = now - triedAt < limits.publishedKeysAgeMs && now - readAt <= STALE_MAX_MS
      if (isFresh) return keys
      reading ??= readAgain(now).finally(() => {
        reading = undefined
      })
      await reading
      return keys
    },
  }
}
