import type { Clock } from '../platform/clock.ts'
import type { Availability, Partner } from './port.ts'

/**
 * Puts a breaker between us and a bank: every answer is noted, no call is held back. Who claims payouts and refunds asks
 * {@link Availability.sendsWanted} first, so that during an outage they wait unclaimed.
 */
export function withBreaker(partner: Partner, clock: Clock, breaker = createBreaker()): Partner & Availability {
  function noted<Answer extends Noted>(answer: Answer): Answer {
    breaker.note(answer, clock.now())
    return answer
  }
  function notedSend<Answer extends Noted>(answer: Answer): Answer {
    breaker.noteSend(answer, clock.now())
    return answer
  }
  return {
    capabilities: partner.capabilities,
    idempotencyWindowMs: partner.idempotencyWindowMs,
    sendsWanted: () => breaker.sendsWanted(clock.now()),
    createCharge: async (...call) => noted(await partner.createCharge(...call)),
    getCharge: async (...call) => noted(await partner.getCharge(...call)),
    cancelCharge: async (...call) => noted(await partner.cancelCharge(...call)),
    sendPayout: async (...call) => notedSend(await partner.sendPayout(...call)),
    getPayout: async (...call) => noted(await partner.getPayout(...call)),
    decodeQrCode: async (...call) => noted(await partner.decodeQrCode(...call)),
    sendRefund: async (...call) => notedSend(await partner.sendRefund(...call)),
    getRefund: async (...call) => noted(await partner.getRefund(...call)),
    // Not noted: a statement that we may not read says nothing of payouts.
    readStatement: (...call) => partner.readStatement(...call),
  }
}

/**
 * Remembers whether a bank takes what is sent. `now` is in epoch milliseconds and of one clock.
 *
 * It opens after several sends in a row without a definite answer, and at once when the bank refuses our calls as such
 * (401, 429). After a while it is half open: one that is sent then decides. An answer closes it, a failure opens it again.
 * @source rules#partner.6
 */
export interface Breaker {
  /** As {@link Availability.sendsWanted}. */
  sendsWanted(now: number): number
  /**
   * Takes the answer to a payout or refund that was sent. Only these are counted: a bank may well make charges and answer
   * questions while it pays nothing out.
   */
  noteSend(answer: Noted, now: number): void
  /** Takes the answer to any other call: of interest only where the bank refuses calls as such. */
  note(answer: Noted, now: number): void
}

/** What a breaker looks at in an answer of the bank. */
export interface Noted {
  readonly kind: string
  readonly httpStatus?: number | undefined
}

/** Sends in a row without a definite answer that open it. */
const FAILURES_MAX = 5

/** How long it stays open after the last of them. */
const OUTAGE_WAIT_MS = 30_000

/** How long it stays open after a 401 or 429: about as long as a bank's limits are counted for. */
const REFUSAL_WAIT_MS = 60_000

/** Makes a breaker, closed. It lives in this process and is forgotten with it. */
export function createBreaker(): Breaker {
  let failures = 0
  let outageUntil = 0
  let refusedUntil = 0

  function note({ httpStatus }: Noted, now: number): void {
    if (httpStatus === 401 || httpStatus === 429) refusedUntil = now + REFUSAL_WAIT_MS
  }
  return {
    sendsWanted: (now) => {
      if (now < refusedUntil || now < outageUntil) return 0
      return failures >= FAILURES_MAX ? 1 : Number.POSITIVE_INFINITY
    },
    note,
    noteSend: (answer, now) => {
      note(answer, now)
      const isFailure = answer.kind === 'NOT_SENT' || answer.kind === 'UNKNOWN'
      failures = isFailure ? failures + 1 : 0
      outageUntil = failures >= FAILURES_MAX ? now + OUTAGE_WAIT_MS : 0
    },
  }
}
