import type { Database } from '../../src/platform/db/database.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { bookAt } from '../support/bank-book.ts'
import type { Fleet } from './fleet.ts'
import { readWaiting } from './store.ts'

/** Waiting until nothing more is going to happen, with time going faster than it does. */

/** How long the processes have for what is due, and how much later it becomes at a time. */
const TURN_MS = 1_200
const JUMP_MIN_MS = 15_000
const JUMP_MAX_MS = 10 * 60_000

/** So much later it has become when whoever still waits is not waited for. */
const LIMIT_MS = 30 * 60 * 60 * 1_000
const TURNS_MAX = 80

/** What becomes quiet. */
export interface Noisy {
  readonly database: Database
  readonly fleet: Fleet
  readonly bankUrl: string
  /** At least so much later it becomes. */
  readonly quietAfterMs: number
  readonly onProgress: (what: string) => void
  /** What an operator does about payouts that were suspended. */
  readonly lift: () => Promise<void>
}

/**
 * Puts the clocks forward to when something is due, until nothing is any more, at least as far as the longest wait for
 * the bank.
 * @returns what is left where that does not come; `undefined` where all is quiet
 */
export async function becomeQuiet(noisy: Noisy): Promise<string | undefined> {
  const { database, fleet, bankUrl, quietAfterMs, onProgress, lift } = noisy
  let [passedMs, left] = [0, '']
  for (let turn = 0; turn < TURNS_MAX && passedMs < LIMIT_MS; turn++) {
    await realPause.for(TURN_MS)
    await lift()
    const { nextMs, ...waiting } = await readWaiting(database)
    const book = await bookAt(bankUrl, database)
    left = listed({ ...waiting, 'events at the bank': fleet.undelivered(book) })
    onProgress(`${Math.round(passedMs / 60_000)} min later: ${left || 'nothing is left'}`)
    if (left === '' && passedMs >= quietAfterMs) return undefined
    const dueMs = nextMs === null ? JUMP_MAX_MS : nextMs - passedMs
    const jumpMs = Math.round(Math.min(JUMP_MAX_MS, Math.max(JUMP_MIN_MS, dueMs)))
    await fleet.advance(jumpMs)
    passedMs += jumpMs
  }
  return left
}

function listed(counts: Readonly<Record<string, bigint | number>>): string {
  const some = Object.entries(counts).filter(([, count]) => Number(count) > 0)
  return some.map(([what, count]) => `${count} ${what}`).join(', ')
}
