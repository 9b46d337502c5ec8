import type { endpoints, listChanges } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Clock } from '../platform/clock.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import type { Handlers } from '../platform/http/handler.ts'
import { invalidField } from '../platform/http/request.ts'
import type { Pause } from '../platform/jobs/pause.ts'

/** Changes of operations for waiting consoles: one look at the database for all of them. */

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
const NAMED_MAX = 1_000

const READ_MAX = 20_000

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
      const endsAt = performance.now() + (waiting < WAITING_MAX ? (query.wait ?? 0) * 1_000 : 0)
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

interface MoveRow {
  readonly kind: Change['kind']
  readonly id: string
  readonly version: number
  readonly at: number
}

const selectMoves = statement<[since: string], MoveRow>(
  'console.moves',
  `SELECT kind, operation_id AS id, version, at FROM move WHERE at >= $1::timestamptz LIMIT ${READ_MAX}`,
)

interface Seen extends MoveRow {
  /** Time of the look that found it. Cursors are such times, as commits may be out of order. */
  readonly seenAt: number
}

/** The moves of the last minute, each once. */
class Changes {
  readonly #needs: ChangesNeeds
  readonly #seen = new Map<string, Seen>()
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

  /** The latest change of each operation since a look. */
  since(time: number): Change[] {
    const latest = new Map<string, Change>()
    for (const { kind, id, version, seenAt } of this.#seen.values()) {
      if (seenAt <= time) continue
      if (version > (latest.get(id)?.version ?? 0)) latest.set(id, { kind, id, version })
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
    this.#looking ??= this.#read().finally(() => {
      this.#looking = undefined
    })
    return this.#looking
  }

  async #read(): Promise<void> {
    const now = Math.max(this.#needs.clock.now(), this.#lookedAt + 1)
    const earliest = now - CONTINUED_MS
    // After a pause everything in between is read; the first look of a process reads a minute.
    const since = Math.max(this.#lookedAt, earliest) - OVERLAP_MS
    const rows = await this.#needs.database.rows(selectMoves, [instantParameter(since)])
    for (const row of rows) {
      const key = `${row.id} ${row.version}`
      if (!this.#seen.has(key)) this.#seen.set(key, { ...row, seenAt: now })
    }
    for (const [key, { seenAt, at }] of this.#seen) {
      if (Math.max(seenAt, at) < earliest - OVERLAP_MS) this.#seen.delete(key)
    }
    const isWhole = rows.length < READ_MAX
    this.#knownSince = isWhole ? Math.max(Math.min(this.#knownSince, this.#lookedAt || earliest), earliest) : now
    this.#lookedAt = now
  }
}
