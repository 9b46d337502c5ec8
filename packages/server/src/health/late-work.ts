import type { BreakerState } from '../banks/breaker.ts'
import type { Logger } from '../platform/log.ts'
import type { Count } from './store.ts'

/** What late work is read from, and told to. */
export interface LateWorkOptions {
  /** Due work that nobody has taken up in time, by its kind. @throws DatabaseUnavailable */
  readonly late: () => Promise<readonly Count[]>
  /** Where the breaker of orders stands in this process. */
  readonly orders: () => BreakerState
  readonly logger: Logger
}

/**
 * Makes the look at late work: whoever serves without a worker beside it learns here that nobody works. A line for each kind
 * of work at each look, and one when that is over.
 * @source rules#logs.5
 */
export function createLateWorkWatch({ late, orders, logger }: LateWorkOptions): () => Promise<void> {
  let lateBefore: ReadonlySet<string> = new Set()
  return async () => {
    const found = await late()
    for (const { kind, count, oldestSeconds } of found) {
      const isHeldBack = ORDERS.has(kind) && orders() !== 'closed'
      const fields = { work: kind, count, lateSeconds: Math.round(oldestSeconds ?? 0) }
      logger.warn({ ...fields, ...(isHeldBack ? { heldBack: 'breaker' } : {}) }, LATE)
    }
    const lateNow = new Set(found.map(({ kind }) => kind))
    for (const work of lateBefore) if (!lateNow.has(work)) logger.info({ work }, TAKEN_UP)
    lateBefore = lateNow
  }
}

/** What the breaker of orders holds back. */
const ORDERS: ReadonlySet<string> = new Set(['cash_out', 'refund_in'])

const LATE =
  'what was due more than a minute ago has not been taken up: no worker runs, none keeps up, or what it needs is held back'

const TAKEN_UP = 'what was late has been taken up'
