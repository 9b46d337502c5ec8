import { EventEmitter, once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal } from '@pixgate/spec'
import type { Queries } from '../platform/db/database.ts'
import { workAsApplication } from '../platform/db/login.ts'
import { withSnapshot } from '../platform/db/snapshot.ts'

/** Streams a snapshot of the database as it is read: in bounded memory, however large it is. */
export interface Exporter {
  /**
   * Begins an export.
   * @returns its bytes, once the first of them are there; it breaks off where the rest cannot be read
   * @throws overloaded (503) two are under way, and neither ends within five seconds · DatabaseUnavailable (503) nothing could be read
   * @source rules#export.3
   */
  stream(pieces: (queries: Queries) => AsyncIterable<string | Uint8Array>): Promise<Readable>
  /** Breaks off all exports under way. */
  stop(): void
}

/** Each holds a connection of its own, and a snapshot. */
const AT_ONCE = 2

/** A snapshot that is held keeps the database from being cleaned, so a slow reader is cut off. */
const MAX_MS = 600_000

/** A third export waits this long for its turn. */
const WAIT_MS = 5_000

/** Makes it. */
export function createExporter(databaseUrl: string, waitMs: number = WAIT_MS): Exporter {
  const underWay = new Set<AbortController>()
  const ends = new EventEmitter()

  async function turn(): Promise<AbortController> {
    const waiting = AbortSignal.timeout(waitMs)
    while (underWay.size >= AT_ONCE) {
      await once(ends, 'end', { signal: waiting }).catch(() => {
        throw new Refusal('overloaded', { retryAfterSeconds: 10 })
      })
    }
    const ending = new AbortController()
    underWay.add(ending)
    return ending
  }

  return {
    stream: async (pieces) => {
      const ending = await turn()
      const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(MAX_MS)])
      const stream = new PassThrough()
      // Also where the client is gone.
      stream.on('close', () => ending.abort())
      // An error before the first byte is thrown below, a later one breaks the stream off: neither ends the process.
      stream.on('error', () => undefined)
      const done = withSnapshot({ url: databaseUrl, name: 'pixgate export', signal }, async (queries) => {
        await workAsApplication(queries)
        await pipeline(pieces(queries), stream, { signal })
      }).finally(() => {
        underWay.delete(ending)
        ends.emit('end')
      })
      done.catch((error: unknown) => stream.destroy(error as Error))
      const begun = once(stream, 'readable', { signal })
      begun.catch(() => undefined)
      await Promise.race([begun, done])
      return stream
    },
    stop: () => {
      for (const ending of underWay) ending.abort()
    },
  }
}
