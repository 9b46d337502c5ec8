import { EventEmitter, once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { Refusal } from '@pixgate/spec'
import type { Queries } from '../../platform/db/database.ts'
import { workAsApplication } from '../../platform/db/login.ts'
import { withSnapshot } from '../../platform/db/snapshot.ts'

/** Sends what is read in one snapshot as it is read: in bounded memory, however much it is. */
export interface Exporter {
  /**
   * Begins an export.
   * @returns its bytes, once the first of them are there; it breaks off where the rest cannot be read
   * @throws overloaded (503) two are under way, and none of them has ended within five seconds · DatabaseUnavailable (503) where
   *   nothing could be read
   * @source rules#export.3
   */
  stream(pieces: (queries: Queries) => AsyncIterable<string>): Promise<Readable>
  /** Breaks off what is under way. */
  stop(): void
}

/** Each has a connection of its own, and holds a snapshot. */
const AT_ONCE = 2

/** Whoever reads slower than this is cut off: a snapshot that is held keeps the database from being cleaned. */
const MOST_MS = 600_000

/** So long a third one waits for its turn. */
const WAIT_MS = 5_000

/** Makes it. */
export function createExporter(databaseUrl: string, waitMs: number = WAIT_MS): Exporter {
  const underWay = new Set<AbortController>()
  const ends = new EventEmitter()

  async function turn(): Promise<void> {
    const signal = AbortSignal.timeout(waitMs)
    while (underWay.size >= AT_ONCE) {
      await once(ends, 'end', { signal }).catch(() => {
        throw new Refusal('overloaded', { retryAfterSeconds: 10 })
      })
    }
  }

  async function write(stream: PassThrough, pieces: AsyncIterable<string>, signal: AbortSignal): Promise<void> {
    for await (const piece of pieces) {
      if (piece !== '' && !stream.write(piece)) await once(stream, 'drain', { signal })
      signal.throwIfAborted()
    }
    stream.end()
  }

  return {
    stream: async (pieces) => {
      await turn()
      const ending = new AbortController()
      underWay.add(ending)
      const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(MOST_MS)])
      const stream = new PassThrough()
      // Also where the client has gone.
      stream.on('close', () => ending.abort())
      const done = withSnapshot({ url: databaseUrl, name: 'pixgate export', signal }, async (queries) => {
        await workAsApplication(queries)
        await write(stream, pieces(queries), signal)
      })
        .catch((error: unknown) => {
          // Nobody listens where it failed before the first byte.
          stream.on('error', () => undefined)
          stream.destroy(error as Error)
          throw error
        })
        .finally(() => {
          underWay.delete(ending)
          ends.emit('end')
        })
      const begun = once(stream, 'readable', { signal })
      begun.catch(() => undefined)
      await Promise.race([begun, done])
      // What goes wrong from now on the stream tells.
      done.catch(() => undefined)
      return stream
    },
    stop: () => {
      for (const ending of underWay) ending.abort()
    },
  }
}
