import { startTimer } from '../clock.ts'

/**
 * Many callers, one at a time at the work: what arrives while a batch runs, and in the turn of the event loop in which one
 * begins, makes the next one. No timer, so an idle batcher adds no wait.
 */
export interface Batcher<Item, Result> {
  /**
   * Queues an item.
   * @throws QueueFull where too many are waiting; nothing was done
   */
  submit(item: Item): Promise<Result>
  /** How many wait. */
  readonly waiting: number
  /**
   * Releases all waiters: who waits, whose items are dropped, and whose items are being run, which run to their end
   * unheard.
   */
  abandon(error: unknown): void
  /** Resolves when nothing waits and nothing runs. */
  drained(): Promise<void>
}

/** The queue in front of a batch is full. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

/** The outcome of one item of a batch. */
export type Settled<Result> = { readonly result: Result } | { readonly error: unknown }

/** An item that waits, and who waits for its result. */
interface Waiting<Item, Result> {
  readonly item: Item
  /** By the monotonic clock. */
  readonly queuedAt: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** How a batcher is bounded. */
export interface BatcherBounds {
  readonly batchMax: number
  readonly queueMax: number
  /**
   * Batches begin at least so far apart, milliseconds; 0 unless given. For what nobody is kept waiting by: it costs less in
   * larger batches, and one that comes alone still does not wait.
   */
  readonly paceMs?: number
}

/**
 * @param run does a batch; returns one outcome per item, in order. Where it throws, every item gets the error.
 * @param onBatch is told, when a batch begins, for how many milliseconds each of its items waited; must not throw
 */
export function createBatcher<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Settled<Result>[]>,
  { batchMax, queueMax, paceMs = 0 }: BatcherBounds,
  onBatch?: (waitsMs: readonly number[]) => void,
): Batcher<Item, Result> {
  let queue: Waiting<Item, Result>[] = []
  let current: readonly Waiting<Item, Result>[] = []
  let running = false
  let startedAt = Number.NEGATIVE_INFINITY
  let whenIdle: (() => void)[] = []

  async function work(): Promise<void> {
    running = true
    while (queue.length > 0) {
      await endOfTurn()
      if (paceMs > 0 && queue.length < batchMax) await until(startedAt + paceMs)
      current = queue.slice(0, batchMax)
      queue = queue.slice(batchMax)
      if (current.length === 0) break
      startedAt = performance.now()
      onBatch?.(current.map(({ queuedAt }) => startedAt - queuedAt))
      await settle(current)
    }
    current = []
    running = false
    for (const resolve of whenIdle) resolve()
    whenIdle = []
  }

  async function settle(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const outcomes = await run(batch.map(({ item }) => item))
      for (const [index, { resolve, reject }] of batch.entries()) {
        const outcome = outcomes[index]
        if (outcome === undefined) reject(new Error('a batch lost an item'))
        else if ('error' in outcome) reject(outcome.error)
        else resolve(outcome.result)
      }
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return {
    get waiting() {
      return queue.length
    },
    submit: (item) =>
      new Promise((resolve, reject) => {
        if (queue.length >= queueMax) return reject(new QueueFull(`${queue.length} items are waiting`))
        queue.push({ item, queuedAt: performance.now(), resolve, reject })
        if (!running) void work()
      }),
    abandon: (error) => {
      for (const { reject } of [...current, ...queue]) reject(error)
      queue = []
    },
    drained: () => (running ? new Promise((resolve) => whenIdle.push(resolve)) : Promise.resolve()),
  }
}

/**
 * When all that can be read now has been, so that it goes into the same batch: else the first of it makes one alone, and the others
 * wait for that. Of what comes alone it is at once.
 */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** @param dueAt by the monotonic clock */
async function until(dueAt: number): Promise<void> {
  const waitMs = dueAt - performance.now()
  if (waitMs > 0) await new Promise<void>((resolve) => startTimer(waitMs, resolve))
}
