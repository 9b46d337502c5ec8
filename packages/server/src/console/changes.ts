import type { endpoints, listChanges } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Clock } from '../platform/clock.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { invalidField } from '../platform/http/request.ts'
import type { Pause } from '../platform/jobs/pause.ts'

/** Changes of operations and cases for waiting consoles: one look at the database for all of them. */

type Change = Static<(typeof listChanges)['responses'][200]['schema']>['changes'][number]

export interface ChangesNeeds {
  /** The pool of the console. */
  readonly database: Database
  readonly clock: Clock
  readonly pause: Pick<Pause, 'for'>
}

const LOOK_EVERY_MS = 500

/** A statement of the engine commits at most this long after the time of its moves. */
const OVERLAP_MS = 5_000

/** Age of a cursor that is continued. */
const CONTINUED_MS = 60_000

/** More changes are a reset: reading what is shown again costs less. */
const NAMED_MAX = 100

/** Beyond, at some hundred payments a second, each look is a reset. */
const READ_MAX = 2_000

/** Requests that wait as long as they ask. Beyond them each waits for one look, or their consoles would ask at once again. */
const WAITING_MAX = 500

/** The module. Its `close` answers all waiting requests. @source rules#console.10 */
export function createChanges(needs: ChangesNeeds) {
  const changes = new Changes(needs)
  let [waiting, isClosed] = [0, false]
  const handlers: Pick<Handlers<typeof endpoints>, 'listChanges'> = {
    listChanges: async ({ query, context: { isGone = () => false } }) => {
      const after = query.cursor === undefined ? undefined : timeOf(query.cursor)
      await changes.look()
      if (after === undefined || changes.isTooOld(after)) return answer(changes.lookedAt, after !== undefined, [])
      const waitMs = (query.wait ?? 0) * 1_000
      const endsAt = performance.now() + (waiting < WAITING_MAX ? waitMs : Math.min(waitMs, LOOK_EVERY_MS))
      waiting += 1
      try {
        while (!isClosed && !isGone() && changes.since(after).length === 0 && performance.now() < endsAt) {
          await changes.nextLook()
        }
      } finally {
        waiting -= 1
      }
      const found = changes.since(after)
      const isReset = found.length > NAMED_MAX || changes.isTooOld(after)
      return answer(changes.lookedAt, isReset, isReset ? [] : found)
    },
  }
  return {
    handlers,
    close: () => {
      isClosed = true
    },
  }
}

function answer(at: number, isReset: boolean, found: readonly Change[]) {
  const cursor = Buffer.from(String(at)).toString('base64url')
  return { status: 200 as const, body: { cursor, isReset, changes: [...found] } }
}

/** @throws validation_error (400) */
function timeOf(cursor: string): number {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  if (!/^\d{1,15}$/.test(text)) throw invalidField('cursor', 'invalid', 'cursor must be that of an earlier answer')
  return Number(text)
}

/**
 * Steps of a case do not raise a version, so a change of a case is identified by its time. Both bounds are needed: for a range
 * with one bound the planner expects a third of the table, and does not use the index.
 */
const selectMoves = statement<[since: string, until: string], Change>(
  'console.moves',
  `SELECT kind, operation_id AS id, version::float8 FROM move WHERE at >= $1::timestamptz AND at < $2::timestamptz
    UNION ALL
   SELECT 'case', id, floor(extract(epoch FROM at) * 1000)::float8
     FROM (SELECT id, opened_at AS at FROM "case" WHERE closed_at IS NULL AND opened_at >= $1::timestamptz
            UNION ALL SELECT id, closed_at FROM "case" WHERE closed_at >= $1::timestamptz
            UNION ALL SELECT case_id, at FROM case_step WHERE at >= $1::timestamptz AND at < $2::timestamptz) changed
    LIMIT ${READ_MAX}`,
)

interface Look {
  /** Cursors are times of looks, as commits may be out of order. */
  readonly at: number
  /** Found by it first. */
  readonly found: readonly Change[]
}

/** The moves of the last minute, and what happened to cases, each once. */
class Changes {
  readonly #needs: ChangesNeeds
  /** The oldest first. */
  #looks: Look[] = []
  /** Of the latest look: what it read, as the next one reads a part of it again. */
  #read = new Set<string>()
  #lookedAt = 0
  /** Everything since then is known. */
  #knownSince = Number.POSITIVE_INFINITY
  #looking: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(needs: ChangesNeeds) {
    this.#needs = needs
  }

  get lookedAt(): number {
    return this.#lookedAt
  }

  /** Or far ahead: another process looks up to half a second later. */
  isTooOld(time: number): boolean {
    return time < this.#knownSince || time > this.#lookedAt + CONTINUED_MS
  }

  /** The latest change of each operation and case since a look. */
  since(time: number): Change[] {
    const latest = new Map<string, Change>()
    for (const { found } of this.#looks.slice(this.#looks.findLastIndex(({ at }) => at <= time) + 1)) {
      for (const change of found)
        if (change.version > (latest.get(change.id)?.version ?? 0)) latest.set(change.id, change)
    }
    return [...latest.values()]
  }

  /** Looks now, unless one looked just now. */
  async look(): Promise<void> {
    if (this.#needs.clock.now() - this.#lookedAt >= LOOK_EVERY_MS) await this.#look()
  }

  /** The next look, which all that wait share. */
  nextLook(): Promise<void> {
    this.#next ??= this.#needs.pause
      .for(LOOK_EVERY_MS)
      .then(() => this.#look())
      .finally(() => {
        this.#next = undefined
      })
    return this.#next
  }

  #look(): Promise<void> {
    this.#looking ??= this.#readMoves().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #readMoves(): Promise<void> {
    const now = Math.max(this.#needs.clock.now(), this.#lookedAt + 1)
    const earliest = now - CONTINUED_MS
    // After a pause everything in between is read; the first look of a process reads a minute.
    const since = Math.max(this.#lookedAt, earliest) - OVERLAP_MS
    const rows = await this.#needs.database.rows(selectMoves, [instantParameter(since), 'infinity'])
    const known = this.#read
    this.#read = new Set(rows.map(keyOf))
    if (rows.length < READ_MAX) {
      this.#looks = this.#looks.filter(({ at }) => at >= earliest)
      this.#looks.push({ at: now, found: rows.filter((row) => !known.has(keyOf(row))) })
      this.#knownSince = Math.max(Math.min(this.#knownSince, this.#lookedAt || earliest), earliest)
    } else {
      this.#looks = []
      this.#knownSince = now
    }
    this.#lookedAt = now
  }
}

function keyOf({ id, version }: Change): string {
  return `${id} ${version}`
}
