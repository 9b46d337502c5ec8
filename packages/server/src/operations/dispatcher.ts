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
 * Worker that sends and queries orders. Holds no transaction: each step is claimed through the engine, then the bank is
 * called, and the answer is an input to the engine.
 * @source rules#partner.2, failure-modes#P1
 */
export interface Dispatcher {
  /**
   * Claims and performs due work.
   * @returns whether more may be due now
   */
  processNext(): Promise<boolean>
}

export interface NewOrderDispatcher<Order> extends Dispatcher {
  /**
   * Creates an order, and sends it in the background if it was claimed at creation: this saves a read and a write.
   * @param make creates the order, with the claim if possible
   * @returns the result of `make`, without waiting for the send
   * @source rules#cash-out.work.7
   */
  sendNew<Made extends NewOrder<Order>>(make: (claim: SendClaim | undefined) => Promise<Made>): Promise<Made>
  /** Resolves when no such creation or send is in flight. */
  drained(): Promise<void>
}

export interface NewOrder<Order> {
  /** The order, if created and claimed now. */
  readonly claimed: Order | undefined
}

export interface SendingNew {
  /** Free sends, 0 if this process does not send. The switch is checked by the claim itself. */
  readonly wanted: () => number
  /** Called when the worker has early work. */
  readonly onDue: () => void
  /** Receives failures; the order is resumed after its lease. */
  readonly onFailure: (reason: unknown) => void
}

const NOTHING_NEW: SendingNew = { wanted: () => 0, onDue: () => undefined, onFailure: () => undefined }

export type AnyOrder = Operation<OperationKind, Document, SendFacts>

export interface AnyInput {
  readonly on: string
}

export interface Orders<Order extends AnyOrder, Input extends AnyInput> {
  nextStep(order: Order, nowMs: number): Step
  /**
   * Due orders, oldest first.
   * @param isSending also returns orders that only wait to be sent
   */
  due(nowMs: number, limit: number, isSending: boolean): Promise<Order[]>
  /**
   * Commits inputs of an order in one change.
   * @returns the order afterwards; `undefined` if another process was faster
   */
  take(order: Order, inputs: readonly (Input | OrderInput)[]): Promise<Order | undefined>
  /**
   * Makes one attempt while the window is open.
   * @returns the answer's inputs
   */
  send(order: Order, window: SendWindow): Promise<readonly (Input | OrderInput)[]>
  /** @returns the answer's inputs */
  ask(order: Order): Promise<readonly (Input | OrderInput)[]>
  /**
   * Queries a never-sent order before its release; by default no query.
   * @returns the answer's inputs; empty: wait; `undefined`: release
   * @source rules#restored.4
   */
  askBeforeRelease?(order: Order): Promise<readonly (Input | OrderInput)[] | undefined>
  /** As {@link Again.windowMs}: 0 without deduplication at the bank. */
  readonly windowMs: number
}

export interface DispatchBounds {
  readonly callTimeoutMs: number
  readonly eventQueries: EventQueryBudget
  /** A clock that also runs during sleep, milliseconds. */
  readonly monotonic?: () => number
}

/** Concurrent due orders, whose claims and results form one engine batch each; and as many new ones. */
const CONCURRENT = 128

interface Work<Order> {
  readonly order: Order
  readonly step: Step
}

interface Chosen<Order> {
  readonly works: readonly Work<Order>[]
  /** Free repeated sends after queries. */
  readonly sendsLeft: number
  /** Queries caused by events wait for the budget. */
  readonly isPutOff: boolean
}

/** Beyond this the longest-blocked order is forgotten. */
const HINDERED_MAX = 1_000

/** Interval of queries for an order that waits for its release, while the bank is silent. */
const RELEASE_ASKED_EVERY_MS = 60_000

/** Within this time after a claim the switch is not read again. */
const FRESH_MS = 500

/**
 * `sendsWanted` limits sends only; queries always run.
 * @param sendingNew by default no order is claimed at creation
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
  /** Orders whose latest attempt failed before sending for a reason of their own. */
  readonly #hindered = new LRUCache<string, true>({ max: HINDERED_MAX })
  readonly #sendingNew: SendingNew
  /** Last silence of the bank about an order that waits for its release. */
  readonly #silentAt = new LRUCache<string, number>({ max: HINDERED_MAX })
  /** Creations with a claim, and their sends, in flight. */
  readonly #new = new Set<Promise<void>>()
  /** More is due than fits: new orders wait their turn. */
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

  /** Behind a half-open circuit breaker, as after an outage, new orders must not overtake waiting ones. */
  #isFreeForNew(): boolean {
    return this.#new.size < CONCURRENT && !this.#isBehind && this.#sendingNew.wanted() >= CONCURRENT
  }

  /** Background send, awaited by the shutdown only. */
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

  /** @returns the order afterwards, if anything changed */
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

  /** After a restore the bank may have an order that was never sent according to the database. */
  async #release(order: Order): Promise<Order | undefined> {
    const now = this.#clock.now()
    if (now - (this.#silentAt.get(order.id) ?? Number.NEGATIVE_INFINITY) < RELEASE_ASKED_EVERY_MS) return undefined
    const inputs = (await this.#orders.askBeforeRelease?.(order)) ?? [{ on: 'clock.released' }]
    if (inputs.length > 0) return this.#orders.take(order, inputs)
    this.#silentAt.set(order.id, now)
    return undefined
  }

  /**
   * Queries; without an outcome the same order is sent again at once, if the bank deduplicates.
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
   * A process that slept after its claim must not send late: sending may be stopped, or absence proven, by then. Time
   * counts from before the claim and is checked again right before the first byte.
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
    // A process unaware of its machine's sleep has written an old claim time.
    const isOld = this.#clock.now() - (claimed.facts.lastAttemptAt ?? this.#clock.now()) > SEND_WITHIN_MS
    const isStopped = elapsedMs() > FRESH_MS && (await this.#sendsWanted()) === 0
    const window: SendWindow = { isOver: () => elapsedMs() > SEND_WITHIN_MS }
    const obstacle = isStopped
      ? 'sending is stopped'
      : isOld || window.isOver()
        ? 'too late after the claim'
        : undefined
    const inputs = obstacle ? [notSentInput(claimed, obstacle)] : await this.#orders.send(claimed, window)
    if (inputs.some((input) => 'isOfOrderAlone' in input)) this.#hindered.set(claimed.id, true)
    else this.#hindered.delete(claimed.id)
    return this.#orders.take(claimed, inputs)
  }

  /**
   * With few free sends, orders waiting to be sent are fetched separately, so that they cannot crowd out queries.
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
   * Attempted orders first, as never-claimed ones can wait. Blocked orders last: as a probe of the circuit breaker they
   * would prove nothing.
   */
  #sendRank({ id, facts }: Order): number {
    return this.#hindered.has(id) ? -1 : (facts.attempts ?? 0)
  }

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
    // One failure does not affect others; claimed orders resume after their lease.
    const failed = settled.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    const results = settled.filter((result) => result.status === 'fulfilled')
    // Work that became due when its call ended does not wait for the next round.
    const isMoreDue = results.some(({ value }) => value !== undefined && isDueNow(value, this.#clock))
    return isMoreDue || (found.length >= CONCURRENT && sends > 1 && !isPutOff)
  }
}

function wasTried({ facts }: AnyOrder): boolean {
  return (facts.attempts ?? 0) > 0
}

/** Scheduled queries need no budget, as the schedule limits them. @source rules#partner.7 */
function isCausedByEvent<Order extends AnyOrder>({ order, step }: Work<Order>): boolean {
  return step === 'ask' && statusQueryOf(order.facts) !== null
}
