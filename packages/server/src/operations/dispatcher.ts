import { LRUCache } from 'lru-cache'
import type { EventQueryBudget } from '../banks/event-query-budget.ts'
import type {
  AnyReported,
  FoundEarlier,
  NotFound,
  NotSent,
  QueryAnswer,
  Rejected,
  SendAnswer,
  SendWindow,
  Unknown,
} from '../banks/port.ts'
import type { Engine } from '../engine/engine.ts'
import type { Document, Operation, OperationKind, Step } from '../engine/operation.ts'
import { type Clock, sleeplessClock, within } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import {
  type Again,
  hasOtherOpenAttempts,
  type IsAskedFirst,
  isDueNow,
  isRepeatable,
  leaseMsFor,
  SEND_WITHIN_MS,
  type SendFacts,
  statusQueryOf,
} from './attempts.ts'
import type { OnLimitExceeded } from './caps.ts'
import { inputsWithoutOrder, inputWithoutOrder, type OrderInput, type SendClaim } from './orders.ts'

export type AnyOrder = Operation<OperationKind, Document, SendFacts>

/** Orders of one kind, and the bank's calls about them. */
export interface Orders<Order extends AnyOrder, Input, Report extends AnyReported> {
  nextStep(order: Order, nowMs: number): Step
  /**
   * Due orders, oldest first.
   * @param isSending also returns orders that only wait to be sent
   */
  due(nowMs: number, limit: number, isSending: boolean): Promise<Order[]>
  /**
   * Applies inputs to an order in one commit.
   * @returns the order afterwards; `undefined` if another process was faster
   */
  apply(order: Order, inputs: readonly (Input | OrderInput)[]): Promise<Order | undefined>
  /** Makes one attempt while the window is open. */
  send(order: Order, window: SendWindow): Promise<SendAnswer<Report> & IsQrCodeFault>
  query(order: Order, deadline?: AbortSignal): Promise<QueryAnswer<Report>>
  /** Inputs of an answer by which the bank has the order. */
  inputsOf(order: Order, report: Report & FoundEarlier): readonly (Input | OrderInput)[]
  /**
   * Requires a query before the first send and before the release: a restored database may have lost an earlier send.
   * @source rules#restored.4
   */
  isAskedFirst(order: Order): boolean
  /** As {@link Again.windowMs}: 0 without deduplication at the bank. */
  readonly windowMs: number
}

/** An attempt failed because of the order's QR code: other orders may be sent. */
interface IsQrCodeFault {
  readonly isQrCodeFault?: true
}

export interface NewOrder<Order> {
  /** The order, if created and claimed now. */
  readonly claimed: Order | undefined
}

export interface DirectSending {
  /** Number of sends that the bank accepts now; 0 if this process does not send. The claim itself checks the kill switch. */
  readonly wanted: () => number
  /** Wakes the worker: the order is due again already. */
  readonly onDue: () => void
  /** Receives failures; the order is resumed after its lease. */
  readonly onFailure: (reason: unknown) => void
}

const NO_DIRECT_SENDING: DirectSending = { wanted: () => 0, onDue: () => undefined, onFailure: () => undefined }

export interface DispatchBounds {
  readonly callTimeoutMs: number
  readonly eventQueries: EventQueryBudget
  /** A clock that also runs during sleep, milliseconds. */
  readonly monotonic?: () => number
}

/** Common options of payouts and refunds. */
export interface OrderModuleOptions {
  readonly engine: Engine
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
  readonly bounds: DispatchBounds
  readonly isAskedFirst?: IsAskedFirst
  readonly onLimitExceeded?: OnLimitExceeded
  /** Called when there is something to send or query at once. */
  readonly onReserved: () => void
}

/**
 * Maximum due orders per round, and separately of direct sends. The claims of a round form one engine batch, and so do
 * its results.
 */
const CONCURRENT = 128

interface Work<Order> {
  readonly order: Order
  readonly step: Step
}

interface Chosen<Order> {
  readonly works: readonly Work<Order>[]
  /** Sends left for repeats after a query. */
  readonly sendsLeft: number
  /** Some queries caused by events wait for the budget. */
  readonly isBudgetUsedUp: boolean
}

/** Orders remembered per cache; the least recently used is dropped. */
const TRACKED_ORDERS_MAX = 1_000

/** Interval of queries for an order that waits for its release, while the bank is silent. */
const RELEASE_QUERIED_EVERY_MS = 60_000

/** A send that starts later than this after its claim reads the kill switch and the circuit breaker again. */
const RECHECK_AFTER_MS = 500

/** Limits the query before the first send, to leave time to send within {@link SEND_WITHIN_MS}. */
const ASK_WITHIN_MS = 1_500

/**
 * Worker that sends and queries orders. Holds no transaction: each step is claimed through the engine, then the bank is
 * called, and the answer is an input to the engine.
 * @source rules#cash-out.work, rules#partner.2, failure-modes#P1
 */
export class Dispatcher<Order extends AnyOrder, Input extends { readonly on: string }, Report extends AnyReported> {
  readonly #orders: Orders<Order, Input, Report>
  readonly #clock: Clock
  readonly #allowedSends: () => Promise<number>
  readonly #eventQueries: EventQueryBudget
  readonly #monotonic: () => number
  readonly #leaseMs: number
  /** Orders whose latest attempt was not sent, for a reason that concerns only them. */
  readonly #blocked = new LRUCache<string, true>({ max: TRACKED_ORDERS_MAX })
  readonly #directSending: DirectSending
  /** Last silence of the bank about an order that waits for its release. */
  readonly #silentAt = new LRUCache<string, number>({ max: TRACKED_ORDERS_MAX })
  /** Creations with a claim, and their sends, in flight. */
  readonly #inBackground = new Set<Promise<void>>()
  /** The last round was full: new orders queue. */
  #isRoundFull = false

  /**
   * @param allowedSends limits sends only; queries always run
   * @param directSending by default no order is claimed at creation
   */
  constructor(
    orders: Orders<Order, Input, Report>,
    clock: Clock,
    allowedSends: () => Promise<number>,
    { callTimeoutMs, eventQueries, monotonic = sleeplessClock() }: DispatchBounds,
    directSending = NO_DIRECT_SENDING,
  ) {
    this.#orders = orders
    this.#clock = clock
    this.#allowedSends = allowedSends
    this.#eventQueries = eventQueries
    this.#monotonic = monotonic
    this.#leaseMs = leaseMsFor(callTimeoutMs)
    this.#directSending = directSending
  }

  /**
   * Claims and performs due work.
   * @returns whether more may be due now
   */
  async processNext(): Promise<boolean> {
    const sends = await this.#allowedSends()
    const found = await this.#due(sends)
    this.#isRoundFull = found.length >= CONCURRENT
    const { works, sendsLeft, isBudgetUsedUp } = this.#chosen(found, sends)
    let resends = sendsLeft
    const takeResend = () => resends-- > 0
    const settled = await Promise.allSettled(works.map((one) => this.#work(one, takeResend)))
    // One failure does not affect others; claimed orders resume after their lease.
    const failed = settled.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
    const results = settled.filter((result) => result.status === 'fulfilled')
    // Work that became due when its call ended does not wait for the next round.
    const isMoreDue = results.some(({ value }) => value !== undefined && isDueNow(value, this.#clock))
    // A full round means that more is due, unless the circuit breaker is probing or the event budget is used up.
    return isMoreDue || (found.length >= CONCURRENT && sends > 1 && !isBudgetUsedUp)
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
      isBudgetUsedUp: affordable.length < caused.length,
    }
  }

  /**
   * Attempted orders first, as never-claimed ones can wait. Blocked orders last: as a probe of the circuit breaker they
   * would prove nothing.
   */
  #sendRank({ id, facts }: Order): number {
    return this.#blocked.has(id) ? -1 : (facts.attempts ?? 0)
  }

  /** @returns the order afterwards, if anything changed */
  async #work({ order, step }: Work<Order>, takeResend: () => boolean): Promise<Order | undefined> {
    switch (step) {
      case 'send':
        return this.#sendNow(order)
      case 'ask':
        return this.#queryNow(order, takeResend)
      case 'release':
        return this.#release(order)
      case 'case':
        return this.#orders.apply(order, [{ on: 'clock.overdue' }])
    }
  }

  /**
   * Queries; without an outcome the same order is sent again at once, if the bank deduplicates.
   * @source rules#cash-out.unknown.7, failure-modes#CO-9
   */
  async #queryNow(order: Order, takeResend: () => boolean): Promise<Order | undefined> {
    const claimed = await this.#orders.apply(order, [{ on: 'work.claimed', leaseMs: this.#leaseMs }])
    if (!claimed) return undefined
    const answer = await this.#orders.query(claimed)
    const inputs = lacksOrder(answer)
      ? inputsWithoutOrder(claimed, answer, this.#orders.windowMs, this.#clock)
      : [...this.#orders.inputsOf(claimed, answer), { on: 'work.done' } as const]
    const queried = await this.#orders.apply(claimed, inputs)
    if (!queried || !lacksOrder(answer) || !queried.facts.attempts) return queried
    if (!isRepeatable(queried.facts, this.#orders.windowMs, this.#clock.now()) || !takeResend()) return queried
    const again = { askedAt: claimed.updatedAt, windowMs: this.#orders.windowMs, setBackAt: this.#clock.setBackAt?.() }
    return this.#sendNow(queried, again)
  }

  /** After a restore the bank may have an order that was never sent according to the database. */
  async #release(order: Order): Promise<Order | undefined> {
    const released = () => this.#orders.apply(order, [{ on: 'clock.released' }])
    if (!this.#orders.isAskedFirst(order)) return released()
    const now = this.#clock.now()
    if (now - (this.#silentAt.get(order.id) ?? Number.NEGATIVE_INFINITY) < RELEASE_QUERIED_EVERY_MS) return undefined
    const answer = await this.#orders.query(order)
    if (lacksOrder(answer)) {
      if (answer.kind === 'NOT_FOUND') return released()
      this.#silentAt.set(order.id, now)
      return undefined
    }
    const inputs = this.#orders.inputsOf(order, answer)
    return inputs.some(({ on }) => on === 'partner.failed') ? released() : this.#orders.apply(order, inputs)
  }

  /**
   * A process that slept after its claim must not send late: sending may be stopped, or absence proven, by then. Time
   * counts from before the claim and is checked again right before the first byte.
   * @source failure-modes#CO-20, failure-modes#CO-40
   */
  async #sendNow(order: Order, again?: Again): Promise<Order | undefined> {
    const elapsedMs = this.#stopwatch()
    const claimed = await this.#orders.apply(order, [
      { on: 'send.claimed', leaseMs: this.#leaseMs, ...(again ? { again } : {}) },
    ])
    return claimed && this.#sendClaimed(claimed, elapsedMs)
  }

  /** @param elapsedMs time since a stopwatch was started, just before the claim */
  async #sendClaimed(claimed: Order, elapsedMs: () => number): Promise<Order | undefined> {
    // The clock may have been behind at the claim, as after a suspension; the commit corrects it, and the claim then
    // turns out to be old.
    const isClaimOld = this.#clock.now() - (claimed.facts.lastAttemptAt ?? this.#clock.now()) > SEND_WITHIN_MS
    const isStopped = elapsedMs() > RECHECK_AFTER_MS && (await this.#allowedSends()) === 0
    const window: SendWindow = { isOver: () => elapsedMs() > SEND_WITHIN_MS }
    const blocker = isStopped
      ? 'sending is stopped'
      : isClaimOld || window.isOver()
        ? 'too late after the claim'
        : undefined
    const answer = blocker ? ({ kind: 'NOT_SENT', reason: blocker } as const) : await this.#attempt(claimed, window)
    if (answer.isQrCodeFault) this.#blocked.set(claimed.id, true)
    else this.#blocked.delete(claimed.id)
    const inputs = isWithoutReport(answer)
      ? [inputWithoutOrder(claimed.facts, answer)]
      : this.#orders.inputsOf(claimed, answer)
    return this.#orders.apply(claimed, inputs)
  }

  /**
   * Sends, after a query if required. If the bank has the order, that is the answer. Without an answer nothing is sent
   * and the outcome is unknown, as the order may have been executed before the restore.
   */
  async #attempt(claimed: Order, window: SendWindow): Promise<SendAnswer<Report> & IsQrCodeFault> {
    const send = () => this.#orders.send(claimed, window)
    if (hasOtherOpenAttempts(claimed.facts) || !this.#orders.isAskedFirst(claimed)) return send()
    const known = await within(ASK_WITHIN_MS, (deadline) => this.#orders.query(claimed, deadline))
    if (!lacksOrder(known)) return { ...known, alreadyExisted: true }
    return known.kind === 'NOT_FOUND' ? send() : { kind: 'UNKNOWN', reason: known.reason, httpStatus: known.httpStatus }
  }

  /**
   * Creates an order, and sends it in the background if it was claimed at creation: this saves a read and a write.
   * @param create creates the order, with the claim if there is one
   * @returns the result of `create`, without waiting for the send
   * @source rules#cash-out.work.7
   */
  async createAndSend<Created extends NewOrder<Order>>(
    create: (claim: SendClaim | undefined) => Promise<Created>,
  ): Promise<Created> {
    if (!this.#maySendDirectly()) return create(undefined)
    const elapsedMs = this.#stopwatch()
    const creation = Promise.withResolvers<void>()
    this.#keep(creation.promise)
    try {
      const created = await create({ on: 'send.claimed', leaseMs: this.#leaseMs })
      if (created.claimed) this.#keep(this.#sendInBackground(created.claimed, elapsedMs))
      return created
    } finally {
      creation.resolve()
    }
  }

  /**
   * New orders must not overtake waiting ones, so none is sent directly while a round is full or the circuit breaker
   * limits sends.
   */
  #maySendDirectly(): boolean {
    return this.#inBackground.size < CONCURRENT && !this.#isRoundFull && this.#directSending.wanted() >= CONCURRENT
  }

  /** Awaited by the shutdown only. */
  async #sendInBackground(claimed: Order, elapsedMs: () => number): Promise<void> {
    try {
      const order = await this.#sendClaimed(claimed, elapsedMs)
      if (order && isDueNow(order, this.#clock)) this.#directSending.onDue()
    } catch (reason) {
      this.#directSending.onFailure(reason)
    }
  }

  /** Resolves when no creation with a claim, and no send of one, is in flight. */
  async drained(): Promise<void> {
    while (this.#inBackground.size > 0) await Promise.all(this.#inBackground)
  }

  #keep(work: Promise<void>): void {
    const kept = work.finally(() => this.#inBackground.delete(kept))
    this.#inBackground.add(kept)
  }

  #stopwatch(): () => number {
    const startedAt = this.#monotonic()
    return () => this.#monotonic() - startedAt
  }
}

/** A query's answer without an order of the bank. */
function lacksOrder(answer: { readonly kind: string }): answer is NotFound | NotSent | Unknown {
  return answer.kind === 'NOT_FOUND' || isUncertain(answer)
}

/** An attempt's answer without an order of the bank. */
function isWithoutReport(answer: { readonly kind: string }): answer is Rejected | NotSent | Unknown {
  return answer.kind === 'REJECTED' || isUncertain(answer)
}

function isUncertain({ kind }: { readonly kind: string }): boolean {
  return kind === 'NOT_SENT' || kind === 'UNKNOWN'
}

/** Scheduled queries need no budget, as the schedule limits them. @source rules#partner.7 */
function isCausedByEvent<Order extends AnyOrder>({ order, step }: Work<Order>): boolean {
  return step === 'ask' && statusQueryOf(order.facts) !== null
}
