import { limits } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'

/** When something was used, epoch milliseconds. */
export interface Use {
  readonly id: string
  readonly usedAt: number
}

/**
 * Remembers when keys or operators were used until somebody writes it down, off the path of the request: each at most once a
 * minute and process.
 * @source rules#api-keys.11
 */
export interface LastUsed {
  /** Notes that it was used now. */
  note(id: string): void
  /** Writes what was noted, all of it at once. @throws what writing throws; it is noted anew a minute later */
  flush(): Promise<void>
}

/** @param idsMax how many are remembered; of more, some are written more often */
export function createLastUsed(clock: Clock, idsMax: number, write: (uses: readonly Use[]) => Promise<void>): LastUsed {
  const notedAt = new LRUCache<string, number>({ max: idsMax })
  const pending = new Map<string, number>()
  return {
    note: (id) => {
      const now = clock.now()
      const before = notedAt.get(id)
      if (before !== undefined && now - before < limits.lastUsedEveryMs) return
      notedAt.set(id, now)
      pending.set(id, now)
    },
    flush: async () => {
      const uses = [...pending].map(([id, usedAt]) => ({ id, usedAt }))
      pending.clear()
      if (uses.length > 0) await write(uses)
    },
  }
}
