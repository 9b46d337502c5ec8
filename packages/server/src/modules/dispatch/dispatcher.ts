import type { Document, Operation } from '../../engine/operation.ts'
import type { Clock } from '../../platform/clock.ts'
import { LEASE_MS, type SendFacts } from './attempts.ts'
import { notSentInput, type OrderInput } from './inputs.ts'
import type { Schedule } from './schedule.ts'

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

/** An operation that the bank is told to carry out. */
export type AnyOrder = Operation<Document, SendFacts>

/** What the worker needs to know of a kind of order. */
export interface Orders<Order extends AnyOrder, Input> extends Pick<Schedule<Order>, 'nextStep'> {
  /**
   * Orders on which work is due, oldest first.
   * @param isSending whether those that are to be sent are wanted too
   */
  due(at: number, most: number, isSending: boolean): Promise<Order[]>
  /**
   * Commits what happened to an order, as one change.
   * @returns the order as it is then; `undefined` where it was not to be: another process was faster
   */
  take(order: Order, inputs: readonly (Input | OrderInput)[]): Promise<Order | undefined>
  /** One try. @returns what the answer means */
  send(order: Order): Promise<readonly (Input | OrderInput)[]>
  /** Asks. @returns what the answer means */
  ask(order: Order): Promise<readonly (Input | OrderInput)[]>
}

/** Orders worked on at the same time: their claims and results are one batch of the engine each. */
const CONCURRENT = 128

/** Makes the worker. `sendsWanted` tells how many orders may be sent now; questions are asked in any case. */
export function createDispatcher<Order extends AnyOrder, Input>(
  orders: Orders<Order, Input>,
  clock: Clock,
  sendsWanted: () => Promise<number>,
): Dispatcher {
  async function work(order: Order): Promise<unknown> {
    switch (orders.nextStep(order, clock.now())) {
      case 'send':
        return sendNow(order)
      case 'ask': {
        const claimed = await claim(order, 'work.claimed')
        return claimed && orders.take(claimed, await orders.ask(claimed))
      }
      case 'release':
        return orders.take(order, [{ on: 'clock.released' }])
      case 'case':
        return orders.take(order, [{ on: 'clock.overdue' }])
      case 'nothing':
        return undefined
    }
  }

  /** Commits that this process works on the order now; `undefined` where it may not. */
  function claim(order: Order, on: 'send.claimed' | 'work.claimed'): Promise<Order | undefined> {
    return orders.take(order, [{ on, leaseMs: LEASE_MS }])
  }

  /**
   * A process that slept after its claim must not send late: another one may have proven by then that nothing arrived.
   * The call itself is bounded by less than the other half of the lease.
   * @source failure-modes#CO-20
   */
  async function sendNow(order: Order): Promise<void> {
    const before = clock.now() + LEASE_MS / 2
    const claimed = await claim(order, 'send.claimed')
    if (!claimed) return
    const isLate = clock.now() >= before
    await orders.take(claimed, isLate ? [notSentInput(claimed, 'the lease was over')] : await orders.send(claimed))
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
