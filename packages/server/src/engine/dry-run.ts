import { Refusal } from '@pixgate/spec'
import type { DatabaseClock } from '../platform/clock.ts'
import { type Database, statement } from '../platform/db/database.ts'
import { DatabaseUnavailable, isRetryableConflict } from '../platform/db/errors.ts'
import type { Ids } from '../platform/ids.ts'
import { createBatcher, QueueFull } from '../platform/jobs/batcher.ts'
import { refuseLapsed } from '../platform/live-request.ts'
import { ExternalIdTaken } from './batch.ts'
import { Draft } from './draft.ts'
import { Cache, loadAnew } from './loader.ts'
import type { Command } from './operation.ts'
import { createReader } from './reader.ts'
import { writeOf } from './write.ts'
import { meaningOf } from './writer.ts'

/**
 * Executes a command in its own transaction and rolls it back, so the database has accepted the reported effects.
 * @throws Refusal of `decide` on the latest rows · ExternalIdTaken · overloaded: longer than 2 s, or too many are waiting
 * @source rules#engine.23
 */
export type DryRun = <Outcome>(command: Command<Outcome>) => Promise<Outcome>

/** A dry run holds account locks that payments wait for. */
const LIMIT_MS = 2_000

/** Bound of the queue. */
const WAITING_MAX = 10

// The second limit serves a process that stands still before its rollback.
const setLimits = statement<[ms: string]>(
  'engine.limit_dry_run',
  `SELECT set_config('statement_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $1, true)`,
)

/** Rolls the transaction back. */
class RolledBack extends Error {
  readonly isAccepted: boolean

  constructor(isAccepted: boolean) {
    super('a dry run was rolled back')
    this.isAccepted = isAccepted
  }
}

class TooLong extends Error {}

/** One dry run at a time per process, on connections of its own; the engine's cache is not touched. */
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
    const reader = createReader(database)
    const [namesake] = command.creates ? await reader.byExternalIds([command.creates]) : []
    if (namesake) throw new ExternalIdTaken(namesake)
    const loaded = await loadAnew({ clock, reader, cache: new Cache(1) }, [command])
    const now = clock.now()
    const draft = new Draft(loaded, now, ids)
    const decision = command.decide(draft, now)
    draft.add(command, decision)
    const leftMs = Math.ceil(endsAt - performance.now())
    if (leftMs <= 0) throw new TooLong('the rows change all the time')
    if (draft.isEmpty || (await isAccepted(draft, leftMs, { database, ids }))) return decision.outcome
  }
}

/** @returns `false`: the rows have changed since they were read */
async function isAccepted(
  draft: Draft,
  leftMs: number,
  { database, ids }: { readonly database: Database; readonly ids: Ids },
): Promise<boolean> {
  const { statement: query, values } = writeOf(draft, ids)
  const work = database.transaction(async (queries): Promise<never> => {
    await queries.rows(setLimits, [String(leftMs)])
    const [reply] = await queries.rows(query, values).catch((error) => {
      // Caught here, so that the transaction is rolled back and the connection reused.
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

function isTooLong(error: unknown): boolean {
  return isRetryableConflict(error) || (error instanceof DatabaseUnavailable && !error.sent)
}
