import { LRUCache } from 'lru-cache'
import type { Clock } from '../platform/clock.ts'
import type { Availability, ChargeAvailability, NotSent, Partner, PayoutAnswer, QrCodeAvailability } from './port.ts'

/**
 * Puts a breaker between us and a bank: every answer is noted, no call is held back. Who claims payouts and refunds asks
 * {@link Availability.sendsWanted} first, so that during an outage they wait unclaimed; who asks for a charge asks
 * {@link ChargeAvailability.chargesWanted}, and for a QR code {@link QrCodeAvailability.qrCodesWanted}, so that its client
 * does not wait.
 */
export function withBreaker(
  partner: Partner,
  clock: Clock,
  breaker = createBreaker(),
): Partner & Availability & ChargeAvailability & QrCodeAvailability {
  function noted<Answer extends Noted>(answer: Answer): Answer {
    breaker.note(answer, clock.now())
    return answer
  }
  function notedSend<Answer extends Noted>(answer: Answer): Answer {
    breaker.noteSend(answer, clock.now())
    return answer
  }
  return {
    // Also its statement and its balance, which are not noted: one that we may not read says nothing of payouts.
    ...partner,
    sendsWanted: () => breaker.sendsWanted(clock.now()),
    chargesWanted: () => breaker.chargesWanted(clock.now()),
    qrCodesWanted: (asker) => breaker.qrCodesWanted(asker, clock.now()),
    createCharge: async (...call) => {
      breaker.beginCharge(clock.now())
      const answer = await partner.createCharge(...call)
      breaker.noteCharge(answer, clock.now())
      return answer
    },
    getCharge: async (...call) => noted(await partner.getCharge(...call)),
    cancelCharge: async (...call) => noted(await partner.cancelCharge(...call)),
    sendPayout: async (...call) => notedSend(await partner.sendPayout(...call)),
    getPayout: async (...call) => noted(await partner.getPayout(...call)),
    decodeQrCode: async (pixCode, deadline, asker = NOBODY) => {
      breaker.beginQrCode(asker, clock.now())
      let noted: Noted = { kind: 'UNKNOWN' }
      try {
        const answer = await partner.decodeQrCode(pixCode, deadline)
        noted = answer
        return answer
      } finally {
        breaker.noteQrCode(asker, noted, clock.now())
      }
    },
    sendRefund: async (...call) => notedSend(await partner.sendRefund(...call)),
    getRefund: async (...call) => noted(await partner.getRefund(...call)),
  }
}

/** Who asks about a QR code where nobody is named. */
const NOBODY = ''

/**
 * Remembers whether a bank takes what is sent. `now` is in epoch milliseconds and of one clock.
 *
 * It opens after several sends in a row without a definite answer, and at once when the bank refuses sends (429) or our
 * credentials (401, 403). After a while it is half open: one that is sent then decides. An answer closes it, a failure opens it
 * again. QR codes are chosen by whoever asks, and so is whether the bank can decode them: each who asks has a count alone.
 * @source rules#partner.6, rules#partner.9
 */
export interface Breaker {
  /** As {@link Availability.sendsWanted}. */
  sendsWanted(now: number): number
  /** As {@link ChargeAvailability.chargesWanted}. */
  chargesWanted(now: number): number
  /** As {@link QrCodeAvailability.qrCodesWanted}. */
  qrCodesWanted(asker: string | undefined, now: number): number
  /**
   * Takes the answer to a payout or refund that was sent. Only these are counted for {@link sendsWanted}: a bank may well
   * make charges and answer questions while it pays nothing out. What came of an order alone is not counted either way.
   */
  noteSend(answer: Noted, now: number): void
  /** A charge is being asked for: where it is the one that is to show whether the bank is back, no other is wanted. */
  beginCharge(now: number): void
  /** Takes the answer to asking for a charge: only these are counted for {@link chargesWanted}. */
  noteCharge(answer: Noted, now: number): void
  /** As {@link Breaker.beginCharge}, of a QR code that somebody asks about. An answer is to be noted after each. */
  beginQrCode(asker: string, now: number): void
  /** Takes the answer about a QR code: only these are counted for {@link qrCodesWanted}, and only for who asked. */
  noteQrCode(asker: string, answer: Noted, now: number): void
  /** Takes the answer to any other call: of interest only where the bank refuses our credentials. */
  note(answer: Noted, now: number): void
}

/** What a breaker looks at in an answer of the bank. */
export interface Noted {
  readonly kind: string
  readonly httpStatus?: number | undefined
  /** As of a {@link NotSent}. */
  readonly retryAfterMs?: number
  /** As of a {@link PayoutAnswer}. */
  readonly isOfOrderAlone?: boolean
}

/** Sends in a row without a definite answer that open it. */
const FAILURES_MAX = 5

/** How long it stays open after the last of them. */
const OUTAGE_WAIT_MS = 30_000

/** How long it stays open after a 401 or 403, or a 429 to a send: about as long as a bank's limits are counted for. */
const REFUSAL_WAIT_MS = 60_000

/** The same for charges and QR codes: shorter, as somebody waits. */
const SHORT_WAIT_MS = 5_000

/** QR codes that one may ask about at once: all calls share the connections to the bank. */
const QR_CODES_AT_ONCE = 16

/** Who asked about QR codes, of whom something is counted; of more, the one counted longest ago is forgotten. */
const ASKERS_MAX = 1_000

/** Makes a breaker, closed. It lives in this process and is forgotten with it. */
export function createBreaker(): Breaker {
  const sends = createCount(OUTAGE_WAIT_MS)
  const charges = createCount(SHORT_WAIT_MS)
  const qrCodes = createCountPerAsker(SHORT_WAIT_MS)
  let refusedUntil = 0

  function refuse(now: number, waitMs = REFUSAL_WAIT_MS): void {
    refusedUntil = Math.max(refusedUntil, now + waitMs)
  }

  /** Every call has the same credentials; too many calls of one kind say nothing of another. */
  function note({ httpStatus }: Noted, now: number): void {
    if (httpStatus === 401 || httpStatus === 403) refuse(now)
  }
  return {
    sendsWanted: (now) => (now < refusedUntil ? 0 : sends.wanted(now)),
    // A bank that refuses another call as such may well make charges; what it says to charges is counted.
    chargesWanted: charges.wanted,
    qrCodesWanted: qrCodes.wanted,
    note,
    noteSend: (answer, now) => {
      note(answer, now)
      if (answer.isOfOrderAlone) return
      // What we held back ourselves is no answer: it tells how long, and counts for nothing.
      if (answer.retryAfterMs !== undefined) return refuse(now, answer.retryAfterMs)
      if (answer.httpStatus === 429) refuse(now)
      sends.note(answer, now)
    },
    beginCharge: charges.begin,
    noteCharge: (answer, now) => {
      note(answer, now)
      charges.note(answer, now)
    },
    beginQrCode: qrCodes.begin,
    noteQrCode: (asker, answer, now) => {
      note(answer, now)
      qrCodes.note(asker, answer, now)
    },
  }
}

/** Counts answers of one kind of call that were none. */
function createCount(waitMs: number) {
  let failures = 0
  let closedUntil = 0
  return {
    wanted: (now: number) => {
      if (now < closedUntil) return 0
      return failures >= FAILURES_MAX ? 1 : Number.POSITIVE_INFINITY
    },
    begin: (now: number) => {
      if (failures >= FAILURES_MAX) closedUntil = now + waitMs
    },
    note: ({ kind }: Noted, now: number) => {
      const isFailure = kind === 'NOT_SENT' || kind === 'UNKNOWN'
      failures = isFailure ? failures + 1 : 0
      closedUntil = failures >= FAILURES_MAX ? now + waitMs : 0
    },
  }
}

/** The same, apart for each who asks, who also has so many calls under way at most. */
function createCountPerAsker(waitMs: number) {
  const askers = new LRUCache<string, { readonly count: ReturnType<typeof createCount>; underWay: number }>({
    max: ASKERS_MAX,
  })
  function known(asker: string) {
    const found = askers.get(asker) ?? { count: createCount(waitMs), underWay: 0 }
    askers.set(asker, found)
    return found
  }
  function counts() {
    return [...askers.values()].map(({ count }) => count)
  }
  return {
    /** Of nobody in particular: what is left of whoever may ask least because of failures. */
    wanted: (asker: string | undefined, now: number) => {
      if (asker === undefined) return Math.min(Number.POSITIVE_INFINITY, ...counts().map(({ wanted }) => wanted(now)))
      const { count, underWay } = known(asker)
      return underWay < QR_CODES_AT_ONCE ? count.wanted(now) : 0
    },
    begin: (asker: string, now: number) => {
      const one = known(asker)
      one.underWay += 1
      one.count.begin(now)
    },
    note: (asker: string, answer: Noted, now: number) => {
      const one = known(asker)
      one.underWay = Math.max(0, one.underWay - 1)
      one.count.note(answer, now)
    },
  }
}
