import type { Document, Operation } from '../../engine/operation.ts'
import type { Clock } from '../../platform/clock.ts'
import { LEASE_MS, type SendFacts } from './attempts.ts'

/**
 * The worker that sends orders to the bank and asks about them. Nothing here holds a transaction: every step is claimed
 * through the engine, then the bank is called, then its answer is another input to the engine.
 * @source rules#partner.2, failure-modes#P1
 */
export interface Dispatcher {
  /**
   * Claims what is due and does it.
   * @returns whether more may be due right away
   */
  processNext(): Promise<boolean>
}

/** What is to be done about an order that is due. */
export type Step = 'send' | 'ask' | 'release' | 'case' | 'nothing'

/** An operation that the bank is told to carry out. */
export type AnyOrder = Operation<Document, SendFacts>

/** What the worker needs to know of a kind of order. */
export interface Orders<Order extends AnyOrder> {
  /**
   * Orders on which work is due, oldest first.
   * @param isSending whether those that are to be sent are wanted too
   */
  due(at: number, most: number, isSending: boolean): Promise<Order[]>
  nextStep(order: Order, at: number): Step
  /** Commits that this process sends the order now; `undefined` where it may not. */
  claimSending(order: Order, leaseMs: number): Promise<Order | undefined>
  /** Commits that this process asks about the order now; `undefined` where it may not. */
  claimAsking(order: Order, leaseMs: number): Promise<Order | undefined>
  /** One try, and everything the answer means. */
  send(order: Order): Promise<void>
  /** Asks, and everything the answer means. */
  ask(order: Order): Promise<void>
  /** Gives the money back: nothing was ever sent. */
  release(order: Order): Promise<void>
  /** Tells a person that an outcome is overdue. */
  openCase(order: Order): Promise<void>
  /** The claim had no time left for its call. */
  notSent(order: Order): Promise<void>
}

/** Orders worked on at the same time: their claims and results are one batch of the engine each. */
const CONCURRENT = 128

/** Makes the worker. `sendsWanted` tells how many orders may be sent now; questions are asked in any case. */
export function createDispatcher<Order extends AnyOrder>(
  orders: Orders<Order>,
  clock: Clock,
  sendsWanted: () => Promise<number>,
): Dispatcher {
  async function work(order: Order): Promise<void> {
    switch (orders.nextStep(order, clock.now())) {
      case 'send':
        return sendNow(order)
      case 'ask': {
        const claimed = await orders.claimAsking(order, LEASE_MS)
        return claimed && orders.ask(claimed)
      }
      case 'release':
        return orders.release(order)
      case 'case':
        return orders.openCase(order)
      case 'nothing':
        return undefined
    }
  }

  /**
   * A process that slept after its claim must not send late: another one may have proven by then that nothing arrived.
   * The call itself is bounded by less than the other half of the lease.
   * @source failure-modes#CO-20
   */
  async function sendNow(order: Order): Promise<void> {
    const before = clock.now() + LEASE_MS / 2
    const claimed = await orders.claimSending(order, LEASE_MS)
    if (!claimed) return
    if (clock.now() < before) await orders.send(claimed)
    else await orders.notSent(claimed)
  }

  /** Those that were tried before come first: what was never claimed is free to wait. */
  function chosen(due: readonly Order[], sends: number): readonly Order[] {
    const { send = [], ...others } = Object.groupBy(due, (order) => orders.nextStep(order, clock.now()))
    const triedFirst = send.toSorted((one, other) => (other.facts.attempts ?? 0) - (one.facts.attempts ?? 0))
    return [...Object.values(others).flat(), ...triedFirst.slice(0, sends)]
  }

  return {
    processNext: async () => {
      const sends = await sendsWanted()
      const due = await orders.due(clock.now(), CONCURRENT, sends > 0)
      const results = await Promise.allSettled(chosen(due, sends).map(work))
      // One that fails disturbs no other; what is claimed is taken up again when its lease is over.
      const failed = results.find((result) => result.status === 'rejected')
      if (failed) throw failed.reason
      return due.length === CONCURRENT && sends > 1
    },
  }
}
