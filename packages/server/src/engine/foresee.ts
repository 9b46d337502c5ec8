import type { Cache } from './cache.ts'
import type { Engine } from './engine.ts'
import type { Operation } from './operation.ts'
import type { Reader } from './reader.ts'

/**
 * Prefetches operations into the engine's cache by the order ids that events name. What the cache has by then stays. What was read may be older than the rows are: that is found out when something is written by it, and what
 * writes nothing is never answered by the cache.
 * @source rules#engine.4, rules#engine.12
 */
export function createForesight(reader: Pick<Reader, 'ordered'>, cache: Cache): Engine['foresee'] {
  const isMissing = ({ id }: Operation) => cache.operation(id) === undefined
  return async (orderIds) => {
    const missing = orderIds.filter((orderId) => !cache.hasOrdered(orderId))
    if (missing.length === 0) return
    // Whoever needs what could not be read reads it, and is told why it cannot be.
    const read = await reader.ordered(missing).catch(() => [])
    for (const operation of read) if (isMissing(operation)) cache.put(operation)
  }
}
