import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import type { AnyAnswer, BankCall } from './port.ts'

/** Work that is held back during an outage: payouts and refunds, charges, or QR code decodings. */
export type BreakerName = 'orders' | 'charges' | 'qr_codes'

/** `half_open`: one call tests whether the bank is back. */
export type BreakerState = 'closed' | 'open' | 'half_open'

export function breakerStateOf(wanted: number): BreakerState {
  if (wanted === 0) return 'open'
  return wanted === Number.POSITIVE_INFINITY ? 'closed' : 'half_open'
}

/** Breaker of each call. A bank may create charges and answer queries while it executes no payouts. */
const COUNTED_BY: Readonly<Partial<Record<BankCall, BreakerName>>> = {
  createCharge: 'charges',
  decodeQrCode: 'qr_codes',
  sendPayout: 'orders',
  sendRefund: 'orders',
}

/** A refused statement or balance says nothing about payouts. */
const NOT_NOTED: ReadonlySet<BankCall> = new Set(['readStatement', 'readBalance'])

const FAILURES_MAX = 5

/** Time from the last failure until the breaker of orders is half open. */
const OUTAGE_WAIT_MS = 30_000

/** Like {@link OUTAGE_WAIT_MS} for charges and QR codes: shorter, since a client waits. */
const SHORT_WAIT_MS = 5_000

/** Pause of orders after a 401 or 403, or a 429 to an order: about the window of a bank's rate limits. */
const REFUSAL_WAIT_MS = 60_000

/** Concurrent QR codes per caller: all calls share the connections to the bank. */
const QR_CODES_AT_ONCE = 16

/** Maximum of callers with a count; the least recent is dropped. */
const ASKERS_MAX = 1_000

/**
 * Circuit breakers of a bank, in memory, with a log line at each change.
 *
 * A breaker opens after several consecutive calls without a definite answer. The breaker of orders also opens when the
 * bank refuses our credentials (401, 403) in any call, or an order with 429. After a while it is half open: an answer
 * to the next call closes it, a failure opens it again. QR codes are counted per caller, since callers choose codes
 * that the bank may be unable to decode.
 * @source rules#partner.6, rules#partner.9
 */
export class Breakers {
  readonly #clock: Pick<Clock, 'now'>
  readonly #logger: Logger
  readonly #orders = new Count(OUTAGE_WAIT_MS)
  readonly #charges = new Count(SHORT_WAIT_MS)
  readonly #askers = new LRUCache<string, { readonly count: Count; underWay: number }>({ max: ASKERS_MAX })
  readonly #reasons = new Map<BreakerName, string>()
  readonly #open = new Set<BreakerName>()
  #ordersRefusedUntil = 0

  constructor(clock: Pick<Clock, 'now'>, logger: Logger) {
    this.#clock = clock
    this.#logger = logger
  }

  /**
   * Number of calls to make at once: none, one to test the bank, or any number.
   * @param asker caller for QR codes; absent: the minimum over all callers
   */
  wanted(name: BreakerName, asker?: string): number {
    const wanted = this.#look(name)
    if (asker === undefined) return wanted
    const { count, underWay } = this.#askerOf(asker)
    return underWay < QR_CODES_AT_ONCE ? count.wanted(this.#clock.now()) : 0
  }

  /**
   * Records the start of a call. While one call tests the bank, no other charge or QR code is wanted. Orders need no
   * record: while half open, each claim takes one.
   */
  begin(call: BankCall, asker?: string): void {
    if (call === 'createCharge') this.#charges.begin(this.#clock.now())
    if (call !== 'decodeQrCode') return
    const of = this.#askerOf(asker)
    of.underWay += 1
    of.count.begin(this.#clock.now())
  }

  note(call: BankCall, answer: AnyAnswer, asker?: string): void {
    if (NOT_NOTED.has(call)) return
    const [now, name] = [this.#clock.now(), COUNTED_BY[call]]
    if (answer.httpStatus === 401 || answer.httpStatus === 403) {
      this.#refuseOrders(now)
      this.#reasons.set('orders', reasonOf(answer))
    }
    if (!name) return
    if (name === 'orders') this.#noteOrder(answer, now)
    else if (name === 'charges') this.#charges.note(isFailure(answer), now)
    else {
      const of = this.#askerOf(asker)
      of.underWay = Math.max(0, of.underWay - 1)
      of.count.note(isFailure(answer), now)
    }
    if (isFailure(answer)) this.#reasons.set(name, reasonOf(answer))
    this.#look(name)
  }

  #noteOrder(answer: AnyAnswer, now: number): void {
    // The cause was the order's QR code: not the bank's answer to an order.
    if (answer.isQrCodeFault) return
    // A call that was held back, as the bank requested a pause, prolongs it and is not counted.
    const isPaused = answer.retryAfterMs !== undefined
    if (isPaused || answer.httpStatus === 429) this.#refuseOrders(now, answer.retryAfterMs)
    if (!isPaused) this.#orders.note(isFailure(answer), now)
  }

  #refuseOrders(now: number, waitMs = REFUSAL_WAIT_MS): void {
    this.#ordersRefusedUntil = Math.max(this.#ordersRefusedUntil, now + waitMs)
  }

  #askerOf(name = '') {
    const asker = this.#askers.get(name) ?? { count: new Count(SHORT_WAIT_MS), underWay: 0 }
    this.#askers.set(name, asker)
    return asker
  }

  #wantedOf(name: BreakerName): number {
    const now = this.#clock.now()
    if (name === 'orders') return now < this.#ordersRefusedUntil ? 0 : this.#orders.wanted(now)
    if (name === 'charges') return this.#charges.wanted(now)
    return Math.min(...[...this.#askers.values()].map(({ count }) => count.wanted(now)))
  }

  /** Logs a breaker that opened or closed. */
  #look(name: BreakerName): number {
    const wanted = this.#wantedOf(name)
    const isOpen = breakerStateOf(wanted) !== 'closed'
    if (isOpen && !this.#open.has(name)) {
      const fields = { event: 'bank.breaker_opened', breaker: name, reason: this.#reasons.get(name) }
      this.#logger.error(fields, OPENED[name])
      this.#open.add(name)
    }
    if (!isOpen && this.#open.delete(name)) {
      this.#logger.info({ event: 'bank.breaker_closed', breaker: name }, CLOSED[name])
    }
    return wanted
  }
}

/** Consecutive failures of one kind of call. */
class Count {
  readonly #waitMs: number
  #failures = 0
  #closedUntil = 0

  constructor(waitMs: number) {
    this.#waitMs = waitMs
  }

  wanted(now: number): number {
    if (now < this.#closedUntil) return 0
    return this.#failures >= FAILURES_MAX ? 1 : Number.POSITIVE_INFINITY
  }

  begin(now: number): void {
    if (this.#failures >= FAILURES_MAX) this.#closedUntil = now + this.#waitMs
  }

  note(isFailed: boolean, now: number): void {
    this.#failures = isFailed ? this.#failures + 1 : 0
    this.#closedUntil = this.#failures >= FAILURES_MAX ? now + this.#waitMs : 0
  }
}

function isFailure({ kind }: AnyAnswer): boolean {
  return kind === 'NOT_SENT' || kind === 'UNKNOWN'
}

const OPENED: Readonly<Record<BreakerName, string>> = {
  orders: 'the breaker opened: payouts and refunds wait until one that is sent shows that the bank is back',
  charges: 'the breaker opened: charges are answered without a code until one shows that the bank is back',
  qr_codes:
    'the breaker opened: an API key or operator whose QR codes the bank did not decode is refused more until it decodes one of theirs',
}

const CLOSED: Readonly<Record<BreakerName, string>> = {
  orders: 'the breaker closed: payouts and refunds are sent again',
  charges: 'the breaker closed: the bank is asked for charges again',
  qr_codes: 'the breaker closed: the bank is asked to decode QR codes again, for every API key and operator',
}

/** A bank's error code is free text: one that does not look like a code is not logged. */
const CODE = /^[\w.:-]{1,64}$/

export function reasonOf({ reason, errorCode = '' }: AnyAnswer): string {
  return reason ?? (CODE.test(errorCode) ? errorCode : 'an unprintable code')
}
