import type { Document, Operation } from '../../engine/operation.ts'
import type { Clock } from '../../platform/clock.ts'
import { LEASE_MS, type SendFacts } from './attempts.ts'
import { notSentInput, type OrderInput } from './inputs.ts'
import type { Schedule, Step } from './schedule.ts'

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
   * @param isSending whether those that only wait to be sent are wanted too
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

/** An order and what is done about it now. */
interface Work<Order> {
  readonly order: Order
  readonly step: Step
}

/**
 * What is done about an order that may not be sent now. One that was tried is asked about, although it is proven not to
 * be there: its outcome is still open, and a person is told in time. One of which nothing left just waits.
 * @source failure-modes#CO-24, failure-modes#P8
 */
function insteadOfSending<Order extends AnyOrder>({ order }: Work<Order>): readonly Work<Order>[] {
  const { attempts = 0, unsentAttempts = 0 } = order.facts
  return attempts === unsentAttempts ? [] : [{ order, step: 'ask' }]
}

/** Makes the worker. `sendsWanted` tells how many orders may be sent now; questions are asked in any case. */
export function createDispatcher<Order extends AnyOrder, Input>(
  orders: Orders<Order, Input>,
  clock: Clock,
  sendsWanted: () => Promise<number>,
): Dispatcher {
  async function work({ order, step }: Work<Order>): Promise<unknown> {
    switch (step) {
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

  /**
   * While sends are few, what only waits to be sent is fetched apart: a crowd of it holds up no question.
   * @source failure-modes#CO-10, failure-modes#P8
   */
  async function due(sends: number): Promise<readonly Order[]> {
    const now = clock.now()
    if (sends >= CONCURRENT) return orders.due(now, CONCURRENT, true)
    const others = await orders.due(now, CONCURRENT, false)
    if (sends === 0) return others
    const known = new Set(others.map(({ id }) => id))
    const all = await orders.due(now, CONCURRENT, true)
    return [...others, ...all.filter(({ id }) => !known.has(id))]
  }

  /** What is done now. Of sends, those that were tried before come first: what was never claimed is free to wait. */
  function chosen(found: readonly Order[], sends: number): readonly Work<Order>[] {
    const wanted = found.map((order) => ({ order, step: orders.nextStep(order, clock.now()) }))
    const triedFirst = wanted
      .filter(({ step }) => step === 'send')
      .toSorted((one, other) => (other.order.facts.attempts ?? 0) - (one.order.facts.attempts ?? 0))
    return [
      ...wanted.filter(({ step }) => step !== 'send'),
      ...triedFirst.slice(0, sends),
      ...triedFirst.slice(sends).flatMap(insteadOfSending),
    ]
  }

  return {
    processNext: async () => {
      const sends = await sendsWanted()
      const found = await due(sends)
      const results = await Promise.allSettled(chosen(found, sends).map(work))
      // One that fails disturbs no other; what is claimed is taken up again when its lease is over.
      const failed = results.find((result) => result.status === 'rejected')
      if (failed) throw failed.reason
      return found.length >= CONCURRENT && sends > 1
    },
  }
}
