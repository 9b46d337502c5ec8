import { limits } from '@pixgate/spec'
import { rateLimited } from '../credentials/wrong-tokens.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import { networkOf } from '../platform/networks.ts'
import { createTokenBuckets } from '../platform/token-bucket.ts'
import { type KnownKey, knownKey } from './known-key.ts'
import { findKeys } from './store.ts'
import type { VerifiedKeys } from './verified-keys.ts'

/** Asks the database for keys, by the hex of their hashes, and remembers those that it vouches for. */
export interface KeyLookup {
  /** The key with this hash, for whoever has shown it before. */
  again(hash: string): Promise<KnownKey | undefined>
  /**
   * The same for a stranger. What turns out not to let its bearer in is taken off the budget of the address.
   * @param isGood whether the key that was found lets its bearer in
   * @throws Refusal rate_limited (429) its budget is used up; the database was not asked
   * @source rules#api-keys.12
   */
  first(hash: string, address: string, isGood: (key: KnownKey) => boolean): Promise<KnownKey | undefined>
}

/** Look-ups that arrive while one is under way make the next one. */
const BATCH_MAX = 200
const QUEUE_MAX = 5_000

/** Bounds the memory that strangers can occupy. */
const ADDRESSES_MAX = 10_000

/** Makes the look-ups of a process. */
export function createKeyLookup(database: Database, clock: Clock, verified: VerifiedKeys): KeyLookup {
  const batcher = createBatcher<string, KnownKey | undefined>(
    async (hashes) => {
      const rows = await findKeys(
        database,
        hashes.map((hash) => Buffer.from(hash, 'hex')),
      )
      const found = new Map(rows.map((row) => [row.hash.toString('hex'), knownKey(row)]))
      return hashes.map((hash) => ({ result: found.get(hash) }))
    },
    { batchMax: BATCH_MAX, queueMax: QUEUE_MAX },
  )
  const perMinute = limits.unknownKeysPerMinuteAndAddress
  const strangers = createTokenBuckets(clock, { perMinute, capacity: perMinute, bucketsMax: ADDRESSES_MAX })

  /** Many requests begin with the same key when a process does: they share one look-up, and one token. */
  const underWay = new Map<string, Promise<KnownKey | undefined>>()

  async function ask(hash: string): Promise<KnownKey | undefined> {
    const askedAt = clock.now()
    const key = await batcher.submit(hash)
    if (key === undefined || key.isDeactivated) verified.drop(hash)
    else verified.put(hash, key, askedAt)
    return key
  }

  async function askForStranger(
    hash: string,
    owner: string,
    isGood: (key: KnownKey) => boolean,
  ): Promise<KnownKey | undefined> {
    let isWrong = false
    try {
      const key = await ask(hash)
      isWrong = key === undefined || !isGood(key)
      return key
    } finally {
      // A database that is away says nothing of the key.
      if (!isWrong) strangers.giveBack(owner)
    }
  }

  return {
    again: ask,
    first: async (hash, address, isGood) => {
      const shared = underWay.get(hash)
      if (shared) return shared
      const owner = networkOf(address)
      const waitMs = strangers.take(owner)
      if (waitMs > 0) throw rateLimited(waitMs)
      const look = askForStranger(hash, owner, isGood).finally(() => underWay.delete(hash))
      underWay.set(hash, look)
      return look
    },
  }
}
