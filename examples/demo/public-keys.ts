import { createPublicKey, type KeyObject } from 'node:crypto'

/** Finds a public key by the id in a notification; `undefined` if Pixgate has no such key. */
export type FindKey = (id: string) => Promise<KeyObject | undefined>

/** `max-age` of the response. A leaked key is no longer published, and must not be trusted for longer than this. */
const MAX_AGE_MS = 300_000

/** Minimum time between two fetches, because a sender can invent key ids. */
const FETCH_INTERVAL_MS = 1_000

/** Caches the keys of `GET /public-keys`. Fetches them again if they are stale or a key is missing. */
export function publicKeys(url: string, now: () => number = Date.now): FindKey {
  let keys: ReadonlyMap<string, KeyObject> = new Map()
  let fetchedAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | undefined

  async function fetchKeys(): Promise<void> {
    const startedAt = now()
    const response = await fetch(`${url}/public-keys`)
    if (!response.ok) throw new Error(`GET /public-keys answered ${response.status}`)
    const { data } = (await response.json()) as { data: { id: string; publicKey: string }[] }
    // Keys that are no longer published are dropped.
    keys = new Map(data.map(({ id, publicKey }) => [id, createPublicKey(publicKey)]))
    fetchedAt = startedAt
  }

  return async (id) => {
    const ageMs = now() - fetchedAt
    if (ageMs >= MAX_AGE_MS || (!keys.has(id) && ageMs >= FETCH_INTERVAL_MS)) {
      fetching ??= fetchKeys().finally(() => {
        fetching = undefined
      })
      await fetching
    }
    return keys.get(id)
  }
}
