import { createPublicKey, type KeyObject } from 'node:crypto'

/** Finds the key that a notification names; `undefined` where Pixgate has none of that id. */
export type FindKey = (id: string) => Promise<KeyObject | undefined>

/** As long as the answer says. A key that leaked is published no more, and must not be believed for longer. */
const KEPT_MS = 300_000

/** Between two fetches: who sends a notification can invent an id. */
const APART_MS = 1_000

/** Keeps the keys of `GET /public-keys`, and fetches them again when they are old or one is asked for that is not there. */
export function publicKeys(url: string, now: () => number = Date.now): FindKey {
  let keys: ReadonlyMap<string, KeyObject> = new Map()
  let fetchedAt = Number.NEGATIVE_INFINITY
  let fetching: Promise<void> | undefined

  async function fetchKeys(): Promise<void> {
    const startedAt = now()
    const response = await fetch(`${url}/public-keys`)
    if (!response.ok) throw new Error(`GET /public-keys answered ${response.status}`)
    const { data } = (await response.json()) as { data: { id: string; publicKey: string }[] }
    // Those that are not there any more are forgotten.
    keys = new Map(data.map(({ id, publicKey }) => [id, createPublicKey(publicKey)]))
    fetchedAt = startedAt
  }

  return async (id) => {
    const ageMs = now() - fetchedAt
    if (ageMs >= KEPT_MS || (!keys.has(id) && ageMs >= APART_MS)) {
      fetching ??= fetchKeys().finally(() => {
        fetching = undefined
      })
      await fetching
    }
    return keys.get(id)
  }
}
