import type { Cache } from './cache.ts'
import type { Engine } from './engine.ts'
import type { Operation } from './operation.ts'
import type { Reader } from './reader.ts'

/**
 * Prefetches operations into the engine's cache by the order ids that events name. It replaces nothing that is cached. A prefetched
 * operation may be older than its row: a write by it fails then and is decided again, and what writes nothing is never answered by the
 * cache.
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
