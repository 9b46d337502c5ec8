import { Refusal } from '@pixgate/spec'
import { type Database, statement } from '../platform/db/database.ts'
import { DatabaseUnavailable } from '../platform/db/errors.ts'
import { createBatcher, QueueFull } from '../platform/jobs/batcher.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import { PATIENCE_MS } from '../platform/live-request.ts'
import { Batch, Contended } from './batch.ts'
import { Cache } from './loader.ts'
import type { Command } from './operation.ts'
import { createReader } from './reader.ts'
import { Writer, type WriterOptions } from './writer.ts'

const forget = statement<[]>('engine.forget_past', 'SELECT forget_batches(), forget_allowances()')

/**
 * Deletes outcomes of batches older than seven days and usage of past windows.
 * @source rules#engine.13, rules#limits.5
 */
export async function forgetPast(database: Database): Promise<void> {
  await database.rows(forget, [])
}

/**
 * The only way to change money, status and notifications. Commands queue; one writer takes a batch, decides each command in
 * order of arrival, and writes the batch in one statement. While one batch commits, the next one fills. Urgent commands (the
 * kill switch) have a queue and a writer of their own, so they wait for no batch.
 */
export interface Engine {
  /**
   * @throws Refusal of `decide`, confirmed on the latest rows
   * @throws ExternalIdTaken · IdempotencyKeyTaken · ExclusiveKeyTaken
   * @throws Refusal overloaded: the queue is full, the database does not answer, or the request has lapsed
   */
  execute<Outcome>(command: Command<Outcome>): Promise<Outcome>
  readonly waiting: number
  /** Resolves when nothing waits and nothing runs. */
  drained(): Promise<void>
}

export interface EngineOptions extends WriterOptions {
  readonly bounds?: EngineBounds
}

/** @source rules#engine.11 */
export interface EngineBounds {
  readonly batchMax: number
  readonly queueMax: number
  readonly cachedOperations: number
}

/**
 * Moves of an operation follow within seconds, so a small cache suffices. 10,000 cached operations cost 25 MB and 5 % of the
 * server's time in garbage collection.
 */
const DEFAULT_BOUNDS: EngineBounds = { batchMax: 256, queueMax: 5_000, cachedOperations: 1_000 }

/**
 * Uses one connection at a time, and a second one for urgent commands.
 * @source rules#engine.20
 */
export function createEngine(options: EngineOptions): Engine {
  const bounds = options.bounds ?? DEFAULT_BOUNDS
  const ordinary = createLane(options, bounds)
  const urgent = createLane(options, { ...bounds, cachedOperations: 1 })
  return {
    execute: (command) => (command.isUrgent ? urgent : ordinary).execute(command),
    get waiting() {
      return ordinary.waiting + urgent.waiting
    },
    drained: async () => {
      await Promise.all([ordinary.drained(), urgent.drained()])
    },
  }
}

/** A queue with its writer. Cached rows are compared at the commit, so lanes need no more coordination than processes. */
function createLane(options: EngineOptions, bounds: EngineBounds): Engine {
  const cache = new Cache(bounds.cachedOperations)
  // The batch continues until its outcome is known; a client that retries then finds the operation.
  const onOverdue = () => {
    options.observer?.onOverdue()
    batcher.abandon(new DatabaseUnavailable('the outcome of a commit is unknown', true))
  }
  const writer = new Writer(options, cache)
  const batch = new Batch({ ...options, cache, writer, reader: createReader(options.database) })
  const batcher = createBatcher<Command<unknown>, unknown>(
    (commands) => withPatience(batch.run(commands), options.pause, onOverdue),
    bounds,
    options.observer?.onBatch,
  )
  return {
    execute: <Outcome>(command: Command<Outcome>) =>
      batcher.submit(command).catch((error) => {
        batch.unheard.add(command)
        throw asOverload(error)
      }) as Promise<Outcome>,
    get waiting() {
      return batcher.waiting
    },
    drained: () => batcher.drained(),
  }
}

/** Shared, since an abort without a reason creates an exception each time. */
const DONE = new Error('the batch has ended')

/**
 * Releases callers who have waited too long for a batch, repeatedly: later ones queue behind it. Counts from the start of the
 * batch, over all its attempts. The work itself continues.
 * @source rules#engine.11, failure-modes#DB-4
 */
async function withPatience<Result>(work: Promise<Result>, pause: Pause, onOverdue: () => void): Promise<Result> {
  const done = new AbortController()
  const release = async () => {
    for (;;) {
      await pause.for(PATIENCE_MS, done.signal)
      onOverdue()
    }
  }
  void release().catch(() => undefined)
  return work.finally(() => done.abort(DONE))
}

/** One refusal for all temporary failures. */
function asOverload(error: unknown): unknown {
  const isPassing = error instanceof QueueFull || error instanceof DatabaseUnavailable || error instanceof Contended
  return isPassing ? new Refusal('overloaded', { retryAfterSeconds: 1, cause: error }) : error
}
