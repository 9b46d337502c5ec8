import type { Cache } from './cache.ts'
import type { Engine } from './engine.ts'
import type { Reader } from './reader.ts'

/**
 * Makes what reads operations that commands are about to look at, while whoever gives those commands does something else. What the
 * cache has by then is newer, or is found out to be older when something is written by it.
 * @source rules#engine.12
 */
export function createForesight(reader: Pick<Reader, 'operations'>, cache: Cache): Engine['foresee'] {
  const isMissing = (id: string) => cache.operation(id) === undefined
  return async (ids) => {
    const missing = ids.filter(isMissing)
    if (missing.length === 0) return
    // Whoever needs what could not be read reads it again, and is told why it cannot be.
    const read = await reader.operations(missing).catch(() => [])
    for (const operation of read) if (isMissing(operation.id)) cache.put(operation)
  }
}
