import { limits } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'
import type { KnownKey } from './known-key.ts'

/** A key as the database told it. */
export interface VerifiedKey {
  readonly key: KnownKey
  /** Whether that was a moment ago; otherwise the database has to be asked again. */
  readonly isFresh: boolean
}

/**
 * Keys that the database vouched for, by the hex of their hashes, so that not every request asks again: for `limits.apiKeyCacheMs` they are taken as
 * they are, and later they are still known not to be guesses. Only the good ones, and no more than a bounded number: the
 * one unused longest goes first.
 * @source rules#api-keys.4
 */
export interface VerifiedKeys {
  /** The key with this hash, or `undefined` where nobody has vouched for it. */
  get(hash: string): VerifiedKey | undefined
  /** @param askedAt when the question was put, not when it was answered: the key may have been deactivated in between */
  put(hash: string, key: KnownKey, askedAt: number): void
  /** Forgets the key with this hash. */
  drop(hash: string): void
  /** Forgets all of them, and what was asked until now and is answered later. */
  clear(): void
}

/** Begins with none. */
export function createVerifiedKeys(clock: Clock, keysMax: number): VerifiedKeys {
  const keys = new LRUCache<string, { readonly key: KnownKey; readonly askedAt: number }>({ max: keysMax })
  let clearedAt = Number.NEGATIVE_INFINITY

  return {
    get: (hash) => {
      const known = keys.get(hash)
      return known && { key: known.key, isFresh: clock.now() - known.askedAt < limits.apiKeyCacheMs }
    },
    put: (hash, key, askedAt) => {
      if (askedAt > clearedAt) keys.set(hash, { key, askedAt })
    },
    drop: (hash) => void keys.delete(hash),
    clear: () => {
      keys.clear()
      clearedAt = clock.now()
    },
  }
}
