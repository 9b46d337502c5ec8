import { startTimer } from '../clock.ts'

/**
 * Batches concurrent work. Items that arrive while a batch runs, or in the turn of the event loop in which one begins,
 * form the next batch. No timer, so an idle batcher adds no wait.
 */
export interface Batcher<Item, Result> {
  /** Queues an item. @throws QueueFull when too many wait; nothing was done */
  submit(item: Item): Promise<Result>
  readonly waiting: number
  /** Rejects all callers. Waiting items are dropped; a running batch ends, and its results are ignored. */
  abandon(error: unknown): void
  /** Resolves when nothing waits and nothing runs. */
  drained(): Promise<void>
}

export class QueueFull extends Error {
  override readonly name = 'QueueFull'
}

export type Settled<Result> = { readonly result: Result } | { readonly error: unknown }

interface Waiting<Item, Result> {
  readonly item: Item
  /** By the monotonic clock. */
  readonly queuedAt: number
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

export interface BatcherBounds {
  readonly batchMax: number
  readonly queueMax: number
  /**
   * Minimum time between the starts of batches in milliseconds; default 0. For work that no caller waits for: larger
   * batches cost less, and a single item still does not wait.
   */
  readonly paceMs?: number
}

/**
 * @param run executes a batch; returns one outcome per item, in order. When it throws, every item gets the error.
 * @param onBatch gets each item's wait in milliseconds when a batch begins; must not throw
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
 * Waits until everything readable now has been read, so that it joins the same batch. Otherwise the first item would
 * make a batch alone and the rest would wait for it.
 */
function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** @param dueAt by the monotonic clock */
async function until(dueAt: number): Promise<void> {
  const waitMs = dueAt - performance.now()
  if (waitMs > 0) await new Promise<void>((resolve) => startTimer(waitMs, resolve))
}
