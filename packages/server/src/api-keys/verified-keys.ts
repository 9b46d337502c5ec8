import { limits } from '@pixgate/spec'
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
  const keys = new Map<string, { readonly id: string; readonly askedAt: number }>()
  let clearedAt = Number.NEGATIVE_INFINITY

  function put(name: string, key: { readonly id: string; readonly askedAt: number }): void {
    keys.delete(name)
    keys.set(name, key)
    const [oldest] = keys.keys()
    if (keys.size > keysMax && oldest !== undefined) keys.delete(oldest)
  }

  return {
    get: (hash) => {
      const name = hash.toString('hex')
      const key = keys.get(name)
      if (!key || clock.now() - key.askedAt >= limits.apiKeyCacheMs) return undefined
      put(name, key)
      return key.id
    },
    put: (hash, id, askedAt) => {
      if (askedAt > clearedAt) put(hash.toString('hex'), { id, askedAt })
    },
    clear: () => {
      keys.clear()
      clearedAt = clock.now()
    },
  }
}
