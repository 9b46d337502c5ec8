import { limits } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'

/**
 * Keys that the database vouched for a moment ago, so that not every request asks again. Only the good ones, only for
 * `limits.apiKeyCacheMs`, and no more than a bounded number: the one unused longest goes first.
 * @source rules#api-keys.4
 */
export interface VerifiedKeys {
  /** The id of the key with this hash, or `undefined` where the database has to be asked. */
  get(hash: Buffer): string | undefined
  /** @param askedAt when the question was put, not when it was answered: the key may have been deactivated in between */
  put(hash: Buffer, id: string, askedAt: number): void
  /** Forgets all of them, and what was asked until now and is answered later. */
  clear(): void
}

/** Begins with none. */
export function createVerifiedKeys(clock: Clock, keysMax: number): VerifiedKeys {
  const keys = new LRUCache<string, { readonly id: string; readonly askedAt: number }>({ max: keysMax })
  let clearedAt = Number.NEGATIVE_INFINITY

  return {
    get: (hash) => {
      const key = keys.get(hash.toString('hex'))
      return key && clock.now() - key.askedAt < limits.apiKeyCacheMs ? key.id : undefined
    },
    put: (hash, id, askedAt) => {
      if (askedAt > clearedAt) keys.set(hash.toString('hex'), { id, askedAt })
    },
    clear: () => {
      keys.clear()
      clearedAt = clock.now()
    },
  }
}
