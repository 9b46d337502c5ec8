import { Refusal } from '@pixgate/spec'
import { type Database, statement } from '../platform/db/database.ts'
import { DatabaseUnavailable } from '../platform/db/errors.ts'
import { createBatcher, QueueFull } from '../platform/jobs/batcher.ts'
import { Batch, Contended, Duplicates, Planner } from './batch.ts'
import { Cache, Loader } from './loader.ts'
import type { Command } from './operation.ts'
import { createReader } from './reader.ts'
import { Writer, type WriterOptions } from './writer.ts'

/** How often what is over is removed. */
export const FORGET_EVERY_MS = 60 * 60 * 1_000

const forget = statement<[]>('engine.forget_past', 'SELECT forget_batches(), forget_allowances()')

/**
 * Removes outcomes of batches that are older than seven days, as nothing of that age is still under way, and what was used
 * of allowances in windows that are over.
 * @source rules#engine.13, rules#limits.5
 */
export async function forgetPast(database: Database): Promise<void> {
  await database.rows(forget, [])
}

/**
 * The one door through which money and status change and notifications come to be. Commands queue up; one writer takes
 * what is there, decides each in order of arrival, and writes all of it in one statement. While one batch commits, the
 * next one fills. What is urgent has a queue and a writer of its own, as another process would: it waits for nobody's batch.
 */
export interface Engine {
  /**
   * Carries out a command.
   * @throws Refusal what `decide` refused, once it is certain that the rows it saw are the latest ones
   * @throws ExternalIdTaken · IdempotencyKeyTaken · ExclusiveKeyTaken what it creates is known by, or wants for itself,
   *   belongs to another operation
   * @throws Refusal overloaded: the queue is full, the database does not answer, or the command's request has lapsed
   */
  execute<Outcome>(command: Command<Outcome>): Promise<Outcome>
  /** How many commands wait. */
  readonly waiting: number
  /** Resolves when nothing waits and nothing runs. */
  drained(): Promise<void>
}

/** What an engine needs. */
export interface EngineOptions extends Omit<WriterOptions, 'onOutcomeUnknown'> {
  readonly bounds?: EngineBounds
}

/** How much an engine holds. @source rules#engine.11 */
export interface EngineBounds {
  readonly batchMax: number
  readonly queueMax: number
  readonly cachedOperations: number
}

/**
 * Operations move within seconds of each other. What is kept for longer V8 marks again and again: 10,000 of them cost 25 MB and
 * a twentieth of the server's time.
 */
const DEFAULT_BOUNDS: EngineBounds = { batchMax: 256, queueMax: 5_000, cachedOperations: 1_000 }

/**
 * Starts an engine on a database. It holds one connection at a time, and a second one while something urgent is done.
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

/** One queue with its writer. What it remembers is compared when it writes, so that several get along as processes do. */
function createLane(options: EngineOptions, bounds: EngineBounds): Engine {
  const reader = createReader(options.database)
  const cache = new Cache(bounds.cachedOperations)
  // The work goes on until the outcome is known; a client that comes back then finds what it asked for.
  const onOutcomeUnknown = () => batcher.abandon(new DatabaseUnavailable('the outcome of a commit is unknown', true))
  const writer = new Writer({ ...options, onOutcomeUnknown }, cache)
  /** Commands whose callers were told to come back. */
  const unheard = new WeakSet<Command<unknown>>()
  const batch = new Batch({
    ...options,
    cache,
    writer,
    loader: new Loader(options.clock, reader, cache),
    planner: new Planner(options.clock, options.ids, unheard),
    duplicates: new Duplicates(options.database, options.clock, reader),
  })
  const batcher = createBatcher<Command<unknown>, unknown>(
    (commands) => batch.run(commands),
    bounds,
    options.observer?.onBatch,
  )
  return {
    execute: <Outcome>(command: Command<Outcome>) =>
      batcher.submit(command).catch((error) => {
        unheard.add(command)
        throw asOverload(error)
      }) as Promise<Outcome>,
    get waiting() {
      return batcher.waiting
    },
    drained: () => batcher.drained(),
  }
}

/** What a caller can only try again later is one refusal. */
function asOverload(error: unknown): unknown {
  const isPassing = error instanceof QueueFull || error instanceof DatabaseUnavailable || error instanceof Contended
  return isPassing ? new Refusal('overloaded', { retryAfterSeconds: 1, cause: error }) : error
}
