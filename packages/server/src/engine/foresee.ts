import type { Cache } from './cache.ts'
import type { Engine } from './engine.ts'
import type { Reader } from './reader.ts'

/**
 * Makes what reads operations that commands are about to look at, while whoever gives those commands does something else. What the
 * cache has by then stays. What was read may be older than the rows are: that is found out when something is written by it, and what
 * writes nothing is never answered by the cache.
 * @source rules#engine.4, rules#engine.12
 */
export function createForesight(reader: Pick<Reader, 'operations'>, cache: Cache): Engine['foresee'] {
  const isMissing = (id: string) => cache.operation(id) === undefined
  return async (ids) => {
    const missing = ids.filter(isMissing)
    if (missing.length === 0) return
    // Whoever needs what could not be read reads it, and is told why it cannot be.
    const read = await reader.operations(missing).catch(() => [])
    for (const operation of read) if (isMissing(operation.id)) cache.put(operation)
  }
}
