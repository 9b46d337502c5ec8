import type { endpoints } from '@pixgate/spec'
import type { Clock } from '../platform/clock.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { invalidField } from '../platform/http/request.ts'
import type { Pause } from '../platform/jobs/pause.ts'

/** Changes of operations for open consoles: one poll of the table of moves for all waiting requests of a process. */

export interface ChangesNeeds {
  readonly database: Database
  readonly clock: Clock
  readonly pause: Pick<Pause, 'for'>
}

interface Moved {
  readonly kind: 'cash_in' | 'cash_out' | 'refund_in' | 'adjustment'
  readonly id: string
  readonly version: number
  /** When this process saw it, epoch milliseconds. */
  readonly seenAt: number
}

const LOOK_EVERY_MS = 500
/** A move is visible at most this long after its time, which its decision takes before the commit. */
const OVERLAP_MS = 5_000
/** Changes are remembered this long; an older cursor reads everything again. @source rules#console.10 */
const REMEMBERED_MS = 60_000
const CHANGES_MAX = 500

const selectMoved = statement<[since: string, limit: number], Omit<Moved, 'seenAt'>>(
  'console.moved',
  `SELECT DISTINCT ON (operation_id) kind, operation_id AS id, version FROM move WHERE at >= $1
    ORDER BY operation_id, version DESC LIMIT $2`,
)

/** More at once are a reset: the pages read their lists again. */
const MOVED_MAX = 5_000

/** @source rules#console.10 */
export function createChangesModule(needs: ChangesNeeds) {
  const watch = createWatch(needs)
  return {
    handlers: {
      listChanges: async ({ query, context: { isGone = () => false } }) => {
        const now = needs.clock.now()
        const since = query.cursor === undefined ? now : cursorOf(query.cursor)
        if (since < now - REMEMBERED_MS || since > now + REMEMBERED_MS || !watch.hasWatchedSince(since)) {
          await watch.look()
          return {
            status: 200,
            body: { cursor: textOf(needs.clock.now()), isReset: query.cursor !== undefined, changes: [] },
          }
        }
        const changes = await watch.changesSince(since, (query.wait ?? 0) * 1_000, isGone)
        const cursor = textOf(Math.max(since, ...changes.map(({ seenAt }) => seenAt)))
        const isReset = changes.length > CHANGES_MAX
        const shown = isReset ? [] : changes.map(({ kind, id, version }) => ({ kind, id, version }))
        return { status: 200, body: { cursor, isReset, changes: shown } }
      },
    } satisfies Partial<Handlers<typeof endpoints>>,
    /** Answers all waiting requests and refuses new waits. */
    close: watch.close,
  }
}

/** @throws validation_error (400) */
function cursorOf(text: string): number {
  const since = Number(Buffer.from(text, 'base64url').toString('latin1'))
  if (!Number.isSafeInteger(since) || since < 0) {
    throw invalidField('cursor', 'invalid', 'cursor must be the cursor of an earlier answer')
  }
  return since
}

function textOf(instantMs: number): string {
  return Buffer.from(String(instantMs)).toString('base64url')
}

function createWatch({ database, clock, pause }: ChangesNeeds) {
  /** By operation: the last move that was seen. */
  const moved = new Map<string, Moved>()
  let watchedSince = Number.POSITIVE_INFINITY
  let lookedAt = Number.NEGATIVE_INFINITY
  let looking: Promise<void> | undefined
  let isClosed = false

  async function lookNow(): Promise<void> {
    const now = clock.now()
    // After a pause of the watch nothing older is known.
    if (now - lookedAt > OVERLAP_MS) {
      moved.clear()
      watchedSince = now
    }
    const rows = await database.rows(selectMoved, [instantParameter(now - OVERLAP_MS), MOVED_MAX])
    if (rows.length === MOVED_MAX) watchedSince = now
    for (const row of rows) {
      if ((moved.get(row.id)?.version ?? 0) < row.version) moved.set(row.id, { ...row, seenAt: clock.now() })
    }
    for (const [id, { seenAt }] of moved) if (seenAt < now - REMEMBERED_MS) moved.delete(id)
    lookedAt = now
  }

  /** One look at a time, for all that wait. */
  function look(): Promise<void> {
    looking ??= lookNow().finally(() => {
      looking = undefined
    })
    return looking
  }

  async function changesSince(since: number, waitMs: number, isGone: () => boolean): Promise<Moved[]> {
    const endsAt = performance.now() + waitMs
    for (;;) {
      if (clock.now() - lookedAt >= LOOK_EVERY_MS) await look()
      const changes = [...moved.values()].filter(({ seenAt }) => seenAt > since)
      const leftMs = endsAt - performance.now()
      if (changes.length > 0 || leftMs <= 0 || isClosed || isGone()) return changes
      await pause.for(Math.min(LOOK_EVERY_MS, leftMs))
    }
  }

  return {
    look,
    changesSince,
    hasWatchedSince: (since: number) => since >= watchedSince && clock.now() - lookedAt <= OVERLAP_MS,
    close: () => {
      isClosed = true
    },
  }
}
