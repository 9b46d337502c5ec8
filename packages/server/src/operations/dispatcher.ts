import { LRUCache } from 'lru-cache'
import type { EventQueryBudget } from '../banks/event-query-budget.ts'
import type { SendWindow } from '../banks/port.ts'
import type { Document, Operation, OperationKind, Step } from '../engine/operation.ts'
import { type Clock, sleeplessClock } from '../platform/clock.ts'
import {
  type Again,
  isDueNow,
  isRepeatable,
  leaseMsFor,
  SEND_WITHIN_MS,
  type SendFacts,
  statusQueryOf,
} from './attempts.ts'
import { isWithoutOutcome, notSentInput, type OrderInput, type SendClaim } from './orders.ts'

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

/** A dispatcher that may send an order as soon as it is made. */
export interface NewOrderDispatcher<Order> extends Dispatcher {
  /**
   * Makes an order, and sends it where it was claimed as it was made: that saves a look for it and a change of it.
   * @param make makes it, claimed where a claim is given and the order lets it
   * @returns what `make` does, as soon as it has
   * @source rules#cash-out.work.7
   */
  sendNew<Made extends NewOrder<Order>>(make: (claim: SendClaim | undefined) => Promise<Made>): Promise<Made>
  /** Resolves when no order is being made that is claimed with it, or sent that was. */
  drained(): Promise<void>
}

/** An order that may have been made. */
export interface NewOrder<Order> {
  /** The order, where it was made now, and claimed. */
  readonly claimed: Order | undefined
}

/** How orders are sent as soon as they are made. */
export interface SendingNew {
  /** How many may be sent, 0 where this process sends nothing. Whether sending is stopped is a condition of the claim itself. */
  readonly wanted: () => number
  /** Called when the worker has something to look at before its time. */
  readonly onDue: () => void
  /** Is told why an order could not be sent: it is taken up again when its lease is over. */
  readonly onFailure: (reason: unknown) => void
}

const NOTHING_NEW: SendingNew = { wanted: () => 0, onDue: () => undefined, onFailure: () => undefined }

/** An operation that the bank is told to carry out. */
export type AnyOrder = Operation<OperationKind, Document, SendFacts>

/** What an answer means to a kind of order. */
export interface AnyInput {
  readonly on: string
}

/** What the worker needs to know of a kind of order. */
export interface Orders<Order extends AnyOrder, Input extends AnyInput> {
  /** What is to be done about an order that is due. */
  nextStep(order: Order, nowMs: number): Step
  /**
   * Orders on which work is due, oldest first.
   * @param isSending whether those that only wait to be sent are wanted too
   */
  due(nowMs: number, limit: number, isSending: boolean): Promise<Order[]>
  /**
   * Commits what happened to an order, as one change.
   * @returns the order as it is then; `undefined` where it was not to be: another process was faster
   */
  take(order: Order, inputs: readonly (Input | OrderInput)[]): Promise<Order | undefined>
  /** One try, as long as the window is open. @returns what the answer means */
  send(order: Order, window: SendWindow): Promise<readonly (Input | OrderInput)[]>
  /** Asks. @returns what the answer means */
  ask(order: Order): Promise<readonly (Input | OrderInput)[]>
  /**
   * Asks about an order that was never sent, before its money is free again. By default nothing is asked.
   * @returns what the answer means; empty: the order waits; `undefined`: it may be released
   * @source rules#restored.4
   */
  askBeforeRelease?(order: Order): Promise<readonly (Input | OrderInput)[] | undefined>
  /** As {@link Again.windowMs}: 0 where the bank would do twice what it is told twice. */
  readonly windowMs: number
}

/** What bounds the work besides the orders themselves. */
export interface DispatchBounds {
  /** How long one call to the bank may take. */
  readonly callTimeoutMs: number
  /** What events may cause, in the whole process. */
  readonly eventQueries: EventQueryBudget
  /** A clock that goes on while the process, or its machine, sleeps, milliseconds. */
  readonly monotonic?: () => number
}

/** Due orders worked on at the same time, whose claims and results are one batch of the engine each; and as many new ones beside them. */
const CONCURRENT = 128

/** An order and what is done about it now. */
interface Work<Order> {
  readonly order: Order
  readonly step: Step
}

/** What is done of what was found due. */
interface Chosen<Order> {
  readonly works: readonly Work<Order>[]
  /** How many may be sent again after a question. */
  readonly sendsLeft: number
  /** Queries that events want wait for their turn. */
  readonly isPutOff: boolean
}

/** Of more orders that were hindered, the one that was hindered longest ago is forgotten. */
const HINDERED_MAX = 1_000

/** While the bank says nothing about an order that waits for its release, it is asked this often. */
const RELEASE_ASKED_EVERY_MS = 60_000

/** After its claim an order is sent without another look at whether sending is wanted for this long. */
const FRESH_MS = 500

/**
 * Makes the worker. `sendsWanted` tells how many orders may be sent now; questions are asked in any case.
 * @param sendingNew by default no order is claimed as it is made
 * @source rules#cash-out.work
 */
export function createDispatcher<Order extends AnyOrder, Input extends AnyInput>(
  orders: Orders<Order, Input>,
  clock: Clock,
  sendsWanted: () => Promise<number>,
  bounds: DispatchBounds,
  sendingNew = NOTHING_NEW,
): NewOrderDispatcher<Order> {
  const worker = new OrderWorker(orders, clock, sendsWanted, bounds, sendingNew)
  return {
    processNext: () => worker.processNext(),
    sendNew: (make) => worker.sendNew(make),
    drained: () => worker.drained(),
  }
}

class OrderWorker<Order extends AnyOrder, Input extends AnyInput> implements NewOrderDispatcher<Order> {
  readonly #orders: Orders<Order, Input>
  readonly #clock: Clock
  readonly #sendsWanted: () => Promise<number>
  readonly #eventQueries: EventQueryBudget
  readonly #monotonic: () => number
  readonly #leaseMs: number
  /** Orders whose latest try did not leave for a reason of their own. */
  readonly #hindered = new LRUCache<string, true>({ max: HINDERED_MAX })
  readonly #sendingNew: SendingNew
  /** When the bank last said nothing about an order that waits for its release. */
  readonly #silentAt = new LRUCache<string, number>({ max: HINDERED_MAX })
  /** Orders being made that are claimed with it, and those being sent that were. */
  readonly #new = new Set<Promise<void>>()
  /** More were due than could be worked on: what is made now waits for its turn. */
  #isBehind = false

  constructor(
    orders: Orders<Order, Input>,
    clock: Clock,
    sendsWanted: () => Promise<number>,
    { callTimeoutMs, eventQueries, monotonic = sleeplessClock() }: DispatchBounds,
    sendingNew: SendingNew,
  ) {
    this.#orders = orders
    this.#clock = clock
    this.#sendsWanted = sendsWanted
    this.#eventQueries = eventQueries
    this.#monotonic = monotonic
    this.#leaseMs = leaseMsFor(callTimeoutMs)
    this.#sendingNew = sendingNew
  }

  async sendNew<Made extends NewOrder<Order>>(make: (claim: SendClaim | undefined) => Promise<Made>): Promise<Made> {
    if (!this.#isFreeForNew()) return make(undefined)
    const elapsedMs = this.#stopwatch()
    const making = Promise.withResolvers<void>()
    this.#keep(making.promise)
    try {
      const made = await make({ on: 'send.claimed', leaseMs: this.#leaseMs })
      if (made.claimed) this.#keep(this.#sendMade(made.claimed, elapsedMs))
      return made
    } finally {
      making.resolve()
    }
  }

  async drained(): Promise<void> {
    while (this.#new.size > 0) await Promise.all(this.#new)
  }

  #keep(work: Promise<void>): void {
    const kept = work.finally(() => this.#new.delete(kept))
    this.#new.add(kept)
  }

  /** While the bank is only tried, as after an outage, nothing new overtakes what has waited. */
  #isFreeForNew(): boolean {
    return this.#new.size < CONCURRENT && !this.#isBehind && this.#sendingNew.wanted() >= CONCURRENT
  }

  /** Sends in the background: nobody waits for it but a shutdown. */
  async #sendMade(claimed: Order, elapsedMs: () => number): Promise<void> {
    try {
      const order = await this.#sendClaimed(claimed, elapsedMs)
      if (order && isDueNow(order, this.#clock)) this.#sendingNew.onDue()
    } catch (reason) {
      this.#sendingNew.onFailure(reason)
    }
  }

  #stopwatch(): () => number {
    const startedAt = this.#monotonic()
    return () => this.#monotonic() - startedAt
  }

  /** @returns the order as it is then, where anything became of it */
  async #work({ order, step }: Work<Order>, mayResend: () => boolean): Promise<Order | undefined> {
    switch (step) {
      case 'send':
        return this.#sendNow(order)
      case 'ask':
        return this.#askNow(order, mayResend)
      case 'release':
        return this.#release(order)
      case 'case':
        return this.#orders.take(order, [{ on: 'clock.overdue' }])
    }
  }

  /** After a restore the bank may have an order that looks as if it was never sent. */
  async #release(order: Order): Promise<Order | undefined> {
    const now = this.#clock.now()
    if (now - (this.#silentAt.get(order.id) ?? Number.NEGATIVE_INFINITY) < RELEASE_ASKED_EVERY_MS) return undefined
    const inputs = (await this.#orders.askBeforeRelease?.(order)) ?? [{ on: 'clock.released' }]
    if (inputs.length > 0) return this.#orders.take(order, inputs)
    this.#silentAt.set(order.id, now)
    return undefined
  }

  /**
   * Asks; where the bank tells no outcome and does once what it is told twice, the same order goes out again at once.
   * @source rules#cash-out.unknown.7, failure-modes#CO-9
   */
  async #askNow(order: Order, mayResend: () => boolean): Promise<Order | undefined> {
    const claimed = await this.#orders.take(order, [{ on: 'work.claimed', leaseMs: this.#leaseMs }])
    if (!claimed) return undefined
    const inputs = await this.#orders.ask(claimed)
    const asked = await this.#orders.take(claimed, inputs)
    if (!asked || !isWithoutOutcome(inputs) || !wasTried(asked)) return asked
    if (!isRepeatable(asked.facts, this.#orders.windowMs, this.#clock.now()) || !mayResend()) return asked
    const again = { askedAt: claimed.updatedAt, windowMs: this.#orders.windowMs, setBackAt: this.#clock.setBackAt?.() }
    return this.#sendNow(asked, again)
  }

  /**
   * A process that slept after its claim must not send late: sending may have been stopped since, and another process may
   * have proven by then that nothing arrived. The time counts from before the claim, and is looked at once more right
   * before the first byte.
   * @source failure-modes#CO-20, failure-modes#CO-40
   */
  async #sendNow(order: Order, again?: Again): Promise<Order | undefined> {
    const elapsedMs = this.#stopwatch()
    const claimed = await this.#orders.take(order, [
      { on: 'send.claimed', leaseMs: this.#leaseMs, ...(again ? { again } : {}) },
    ])
    return claimed && this.#sendClaimed(claimed, elapsedMs)
  }

  /** @param elapsedMs since before the claim */
  async #sendClaimed(claimed: Order, elapsedMs: () => number): Promise<Order | undefined> {
    // A process that does not know yet that its machine slept has written the claim as an old one.
    const isOld = this.#clock.now() - (claimed.facts.lastAttemptAt ?? this.#clock.now()) > SEND_WITHIN_MS
    const isStopped = elapsedMs() > FRESH_MS && (await this.#sendsWanted()) === 0
    const window: SendWindow = { isOver: () => elapsedMs() > SEND_WITHIN_MS }
    const obstacle = isStopped
      ? 'sending was stopped'
      : isOld || window.isOver()
        ? 'too late after the claim'
        : undefined
    const inputs = obstacle ? [notSentInput(claimed, obstacle)] : await this.#orders.send(claimed, window)
    if (inputs.some((input) => 'isOfOrderAlone' in input)) this.#hindered.set(claimed.id, true)
    else this.#hindered.delete(claimed.id)
    return this.#orders.take(claimed, inputs)
  }

  /**
   * While sends are few, what only waits to be sent is fetched apart: a crowd of it holds up no question.
   * @source failure-modes#CO-10, failure-modes#P8
   */
  async #due(sends: number): Promise<readonly Order[]> {
    const now = this.#clock.now()
    if (sends >= CONCURRENT) return this.#orders.due(now, CONCURRENT, true)
    const others = await this.#orders.due(now, CONCURRENT, false)
    if (sends === 0) return others
    const known = new Set(others.map(({ id }) => id))
    const all = await this.#orders.due(now, CONCURRENT, true)
    return [...others, ...all.filter(({ id }) => !known.has(id))]
  }

  /**
   * Of sends, those that were tried before come first: what was never claimed is free to wait. One that did not leave for a reason of
   * its own comes last: where the bank is tried with one order, this one would show nothing of it.
   */
  #sendRank({ id, facts }: Order): number {
    return this.#hindered.has(id) ? -1 : (facts.attempts ?? 0)
  }

  /** What is done now. */
  #chosen(found: readonly Order[], sends: number): Chosen<Order> {
    const wanted = found.map((order) => ({ order, step: this.#orders.nextStep(order, this.#clock.now()) }))
    const byRank = wanted
      .filter(({ step }) => step === 'send')
      .toSorted((one, other) => this.#sendRank(other.order) - this.#sendRank(one.order))
    const others = wanted.filter(({ step }) => step !== 'send')
    const caused = others.filter(isCausedByEvent)
    const affordable = caused.slice(
      0,
      caused.length === 0 ? 0 : this.#eventQueries.take(caused.length, this.#clock.now()),
    )
    const sent = byRank.slice(0, sends)
    return {
      works: [...others.filter((one) => !isCausedByEvent(one)), ...affordable, ...sent],
      sendsLeft: sends - sent.length,
      isPutOff: affordable.length < caused.length,
    }
  }

  async processNext(): Promise<boolean> {
    const sends = await this.#sendsWanted()
    const found = await this.#due(sends)
    this.#isBehind = found.length >= CONCURRENT
    const { works, sendsLeft, isPutOff } = this.#chosen(found, sends)
    let resends = sendsLeft
    const mayResend = () => resends-- > 0
    const settled = await Promise.allSettled(works.map((one) => this.#work(one, mayResend)))
    // One that fails disturbs no other; what is claimed is taken up again when its lease is over.
    const failed = settled.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    const results = settled.filter((result) => result.status === 'fulfilled')
    // What is wanted at once, of an order whose call has just ended, does not wait for the next look.
    const isMoreDue = results.some(({ value }) => value !== undefined && isDueNow(value, this.#clock))
    return isMoreDue || (found.length >= CONCURRENT && sends > 1 && !isPutOff)
  }
}

function wasTried({ facts }: AnyOrder): boolean {
  return (facts.attempts ?? 0) > 0
}

/** A status query that nobody requested goes by the schedule, which is bound enough. @source rules#partner.7 */
function isCausedByEvent<Order extends AnyOrder>({ order, step }: Work<Order>): boolean {
  return step === 'ask' && statusQueryOf(order.facts) !== null
}
