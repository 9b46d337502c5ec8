import { Refusal } from '@pixgate/spec'
import type { DatabaseClock } from '../platform/clock.ts'
import { type Database, statement } from '../platform/db/database.ts'
import { DatabaseUnavailable, isRetryableConflict } from '../platform/db/errors.ts'
import type { Ids } from '../platform/ids.ts'
import { createBatcher, QueueFull } from '../platform/jobs/batcher.ts'
import { refuseLapsed } from '../platform/live-request.ts'
import { Draft } from './draft.ts'
import { Cache, Loader } from './loader.ts'
import type { Command } from './operation.ts'
import { createReader } from './reader.ts'
import { writeOf } from './write.ts'
import { meaningOf } from './writer.ts'

/**
 * Carries a command out in a transaction of its own, and rolls it back: the database has accepted what the answer tells.
 * @throws Refusal what `decide` refuses on the latest rows; overloaded: it would have taken longer than 2 s, or too many wait
 * @source rules#engine.23
 */
export type DryRun = <Outcome>(command: Command<Outcome>) => Promise<Outcome>

/** It holds the locks of accounts, which payments wait for. */
const LIMIT_MS = 2_000

/** People wait for these, one behind the other. */
const WAITING_MAX = 10

// The second: for a process that stands still before it rolls back.
const setLimits = statement<[ms: string]>(
  'engine.limit_dry_run',
  `SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true)`,
)

/** Ends the transaction with nothing written. */
class RolledBack extends Error {
  readonly isAccepted: boolean

  constructor(isAccepted: boolean) {
    super('a dry run was rolled back')
    this.isAccepted = isAccepted
  }
}

/** The statement waited or ran for too long. */
class TooLong extends Error {}

/** Makes it. One of a process runs at a time, on connections that are not the engine's; the engine's caches learn nothing of it. */
export function createDryRun(options: {
  readonly database: Database
  readonly clock: DatabaseClock
  readonly ids: Ids
}): DryRun {
  const batcher = createBatcher<Command<unknown>, unknown>(
    (commands) => Promise.all(commands.map(async (command) => ({ result: await tryOut(command, options) }))),
    { batchMax: 1, queueMax: WAITING_MAX },
  )
  return <Outcome>(command: Command<Outcome>) =>
    batcher.submit(command).catch((error) => {
      const isPassing = error instanceof QueueFull || error instanceof TooLong || error instanceof DatabaseUnavailable
      throw isPassing ? new Refusal('overloaded', { retryAfterSeconds: 1, cause: error }) : error
    }) as Promise<Outcome>
}

async function tryOut(
  command: Command<unknown>,
  { database, clock, ids }: Parameters<typeof createDryRun>[0],
): Promise<unknown> {
  const endsAt = performance.now() + LIMIT_MS
  for (;;) {
    if (command.request) refuseLapsed(command.request)
    const loaded = await new Loader(clock, createReader(database), new Cache(1)).loadAnew([command])
    const now = clock.now()
    const draft = new Draft(loaded, now, ids)
    const decision = command.decide(draft, now)
    draft.add(command, decision)
    const leftMs = Math.ceil(endsAt - performance.now())
    if (leftMs <= 0) throw new TooLong('the rows change all the time')
    if (draft.isEmpty || (await isAccepted(draft, leftMs, { database, ids }))) return decision.outcome
  }
}

/** @returns whether it would have been committed; `false`: the rows are others by now */
async function isAccepted(
  draft: Draft,
  leftMs: number,
  { database, ids }: { readonly database: Database; readonly ids: Ids },
): Promise<boolean> {
  const { statement: query, values } = writeOf(draft, ids)
  const work = database.transaction(async (queries): Promise<never> => {
    await queries.rows(setLimits, [String(leftMs)])
    const [reply] = await queries.rows(query, values).catch((error) => {
      // Caught here, so that it is rolled back, and the connection used again.
      throw isTooLong(error) ? new TooLong('the statement took too long', { cause: error }) : error
    })
    throw new RolledBack(reply?.go === true)
  })
  return work.catch((error) => {
    if (error instanceof RolledBack) return error.isAccepted
    if (meaningOf(error) === undefined) throw error
    return false
  })
}

/** The statement was not carried out in time, or others hold its rows. */
function isTooLong(error: unknown): boolean {
  return isRetryableConflict(error) || (error instanceof DatabaseUnavailable && !error.sent)
}
