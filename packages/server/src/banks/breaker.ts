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

const NO_ASKER = ''

/**
 * Circuit breakers of a bank, in memory, with a log line at each change.
 *
 * A breaker opens after several consecutive calls without a definite answer. The breaker of orders also opens when the
 * bank refuses our credentials (401, 403) in any call, or an order with 429. After a while it is half open: an answer
 * to the next call closes it, a failure opens it again. QR codes are counted per caller, since callers choose codes
 * that the bank may be unable to decode.
 * @source rules#partner.6, rules#partner.9
 */
export function createBreaker(clock: Pick<Clock, 'now'>, logger: Logger) {
  const orders = createOrderCount()
  const counts: Readonly<Record<BreakerName, Count>> = {
    orders,
    charges: createCount(SHORT_WAIT_MS),
    qr_codes: createAskerCounts(),
  }
  const reasons = new Map<BreakerName, string>()
  const open = new Set<BreakerName>()

  function look(name: BreakerName): number {
    const wanted = counts[name].wanted(clock.now())
    const isOpen = breakerStateOf(wanted) !== 'closed'
    if (isOpen && !open.has(name)) {
      logger.error({ event: 'bank.breaker_opened', breaker: name, reason: reasons.get(name) }, OPENED[name])
      open.add(name)
    }
    if (!isOpen && open.delete(name)) logger.info({ event: 'bank.breaker_closed', breaker: name }, CLOSED[name])
    return wanted
  }
  return {
    /**
     * Number of calls to make at once: none, one to test the bank, or any number.
     * @param asker caller for QR codes; absent: the minimum over all callers
     */
    wanted(name: BreakerName, asker?: string): number {
      const wanted = look(name)
      return asker === undefined ? wanted : counts[name].wanted(clock.now(), asker)
    },
    /** Records the start of a call. While one call tests the bank, no other charge or QR code is wanted. */
    begin(call: BankCall, asker?: string): void {
      const name = COUNTED_BY[call]
      if (name) counts[name].begin(clock.now(), asker)
    },
    note(call: BankCall, answer: AnyAnswer, asker?: string): void {
      if (NOT_NOTED.has(call)) return
      const [now, name] = [clock.now(), COUNTED_BY[call]]
      const isUnauthorized = answer.httpStatus === 401 || answer.httpStatus === 403
      if (isUnauthorized) orders.refuse(now)
      if (isUnauthorized && isFailure(answer)) reasons.set('orders', reasonOf(answer))
      if (!name) return
      counts[name].note(answer, now, asker)
      if (isFailure(answer)) reasons.set(name, reasonOf(answer))
      look(name)
    },
  }
}

interface Count {
  wanted(now: number, asker?: string): number
  begin(now: number, asker?: string): void
  note(answer: AnyAnswer, now: number, asker?: string): void
}

function createCount(waitMs: number): Count {
  let failures = 0
  let closedUntil = 0
  return {
    wanted: (now) => {
      if (now < closedUntil) return 0
      return failures >= FAILURES_MAX ? 1 : Number.POSITIVE_INFINITY
    },
    begin: (now) => {
      if (failures >= FAILURES_MAX) closedUntil = now + waitMs
    },
    note: (answer, now) => {
      failures = isFailure(answer) ? failures + 1 : 0
      closedUntil = failures >= FAILURES_MAX ? now + waitMs : 0
    },
  }
}

function createOrderCount(): Count & { refuse(now: number): void } {
  const count = createCount(OUTAGE_WAIT_MS)
  let refusedUntil = 0
  function refuse(now: number, waitMs = REFUSAL_WAIT_MS): void {
    refusedUntil = Math.max(refusedUntil, now + waitMs)
  }
  return {
    refuse,
    wanted: (now) => (now < refusedUntil ? 0 : count.wanted(now)),
    // While half open, each claim takes one order; only answers to orders change the count.
    begin: () => undefined,
    note: (answer, now) => {
      // The cause was the order's QR code or our own hold: neither is the bank's answer to an order.
      if (answer.isOfOrderAlone) return
      if (answer.retryAfterMs !== undefined) refuse(now, answer.retryAfterMs)
      else {
        if (answer.httpStatus === 429) refuse(now)
        count.note(answer, now)
      }
    },
  }
}

function createAskerCounts(): Count {
  const askers = new LRUCache<string, { readonly count: Count; underWay: number }>({ max: ASKERS_MAX })
  function askerOf(name = NO_ASKER) {
    const asker = askers.get(name) ?? { count: createCount(SHORT_WAIT_MS), underWay: 0 }
    askers.set(name, asker)
    return asker
  }
  return {
    wanted: (now, name) => {
      if (name === undefined) return Math.min(...[...askers.values()].map(({ count }) => count.wanted(now)))
      const { count, underWay } = askerOf(name)
      return underWay < QR_CODES_AT_ONCE ? count.wanted(now) : 0
    },
    begin: (now, name) => {
      const asker = askerOf(name)
      asker.underWay += 1
      asker.count.begin(now)
    },
    note: (answer, now, name) => {
      const asker = askerOf(name)
      asker.underWay = Math.max(0, asker.underWay - 1)
      asker.count.note(answer, now)
    },
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
