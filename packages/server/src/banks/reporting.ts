import { andMore, createHeartbeat, type Heartbeat } from '../platform/heartbeat.ts'
import type { Logger } from '../platform/log.ts'
import { type AnyAnswer, aroundCalls, type BankCall } from './around-calls.ts'
import type { Availability, ChargeAvailability, Partner, QrCodeAvailability } from './port.ts'

/**
 * What the operator sees of the calls to a bank: each is counted and timed, and one that failed or was refused is a line of
 * the log that says what comes next. Nothing here changes an answer.
 * @source rules#logs.3
 */

/** Is told of every call that has ended. */
export type OnBankCall = (call: BankCall, outcome: string, durationMs: number) => void

/** What reports are made with. */
export interface ReportingOptions {
  readonly logger: Logger
  readonly onCall: OnBankCall
  readonly heartbeat?: Heartbeat
  /** Milliseconds, from any origin. */
  readonly monotonic?: () => number
}

/** Puts reports between us and a bank. */
export function withReporting(partner: Partner, options: ReportingOptions): Partner {
  const { logger, onCall, heartbeat = createHeartbeat(), monotonic = () => performance.now() } = options

  return aroundCalls(partner, (call, ask) => async (...parameters) => {
    const startedAt = monotonic()
    const answer = await ask(...parameters)
    onCall(call, outcomeOf(answer), monotonic() - startedAt)
    const line = lineOf(call, answer, parameters[0])
    if (line) heartbeat.report(line.kind, (more) => logger[line.level](line.fields, line.sentence + andMore(more)))
    return answer
  })
}

/** What came of a call where the bank refuses our calls as such. */
export type RefusedCall = 'unauthorized' | 'rate_limited'

/** One word of few for what came of a call: the kind of the answer, or that the bank refuses our calls as such. */
function outcomeOf({ kind, httpStatus }: AnyAnswer): string {
  return (kind === 'UNKNOWN' && refusalOf(httpStatus)) || kind.toLowerCase()
}

function refusalOf(httpStatus: number | undefined): RefusedCall | undefined {
  if (isUnauthorized(httpStatus)) return 'unauthorized'
  return httpStatus === 429 ? 'rate_limited' : undefined
}

function isUnauthorized(httpStatus: number | undefined): boolean {
  return httpStatus === 401 || httpStatus === 403
}

/** What is called, as the subject of a sentence. Reading the statement has a line of its own where it is read. */
const SUBJECTS: Readonly<Partial<Record<BankCall, string>>> = {
  createCharge: 'the bank was asked for a charge',
  getCharge: 'the bank was asked about a charge',
  cancelCharge: 'the bank was asked to cancel a charge',
  sendPayout: 'a payout was sent to the bank',
  getPayout: 'the bank was asked about a payout',
  decodeQrCode: 'the bank was asked to decode a QR code',
  sendRefund: 'a refund was sent to the bank',
  getRefund: 'the bank was asked about a refund',
  readBalance: 'the bank was asked for the balance',
}

/** What is wrong with an answer; an answer of another kind is as it should be, or is evidence like any. */
const FAULTS: Readonly<Record<string, string>> = {
  NOT_SENT: 'the call did not reach it',
  UNKNOWN: 'it gave no definite answer',
  REJECTED: 'it refused',
  CONTRADICTED: 'it has something else under our id',
}

const TRIED_AGAIN = 'it is tried again'
const ASKED_AGAIN = 'it is asked again'
const ASKED_ABOUT = 'it is asked what became of it'
const KEPT = 'the difference is kept as evidence'
const ORDER = { NOT_SENT: 'it is sent again', UNKNOWN: ASKED_ABOUT, REJECTED: 'nothing was paid', CONTRADICTED: KEPT }
const QUESTION = { NOT_SENT: ASKED_AGAIN, UNKNOWN: ASKED_AGAIN, CONTRADICTED: KEPT }
const DECODING = 'the client is told so'

/** What happens next. */
const NEXT: Readonly<Partial<Record<BankCall, Readonly<Record<string, string>>>>> = {
  createCharge: {
    NOT_SENT: TRIED_AGAIN,
    UNKNOWN: ASKED_ABOUT,
    REJECTED: 'there will be no charge',
    CONTRADICTED: KEPT,
  },
  getCharge: QUESTION,
  cancelCharge: { NOT_SENT: TRIED_AGAIN, UNKNOWN: TRIED_AGAIN, REJECTED: ASKED_ABOUT },
  sendPayout: ORDER,
  getPayout: QUESTION,
  decodeQrCode: { NOT_SENT: DECODING, UNKNOWN: DECODING, REJECTED: DECODING },
  sendRefund: ORDER,
  getRefund: QUESTION,
}

/** Our id is what each call begins with, but this one: a code that can be paid is not for a log. */
const HAS_NO_ID: ReadonlySet<BankCall> = new Set(['decodeQrCode'])

/** The line of an answer; `undefined` where there is nothing to say. */
function lineOf(call: BankCall, answer: AnyAnswer, first: unknown) {
  const { kind, httpStatus } = answer
  const [subject, fault, next] = [SUBJECTS[call], FAULTS[kind], NEXT[call]?.[kind]]
  if (subject === undefined || fault === undefined || next === undefined) return undefined
  const reason = reasonOf(answer)
  const isRefused = kind === 'UNKNOWN' && isUnauthorized(httpStatus)
  const advice = isRefused ? '; check the credentials that the bank is called with' : ''
  return {
    kind: `${call} ${kind} ${reason}`,
    level: isRefused ? 'error' : kind === 'REJECTED' ? 'info' : 'warn',
    sentence: `${subject}, and ${fault}: ${next}${advice}`,
    fields: { call, answer: kind, reason, ...(HAS_NO_ID.has(call) ? {} : { orderId: first }) },
  } as const
}

/** A bank's code is its own text: what does not look like a code may be anything. */
const CODE = /^[\w.:-]{1,64}$/

function reasonOf({ reason, errorCode = '' }: AnyAnswer): string {
  return reason ?? (CODE.test(errorCode) ? errorCode : 'a code that is none')
}

/** What the breaker holds back: payouts and refunds, charges, or questions about QR codes. */
export type BreakerName = 'orders' | 'charges' | 'qr_codes'

/** Where a breaker stands. `half_open`: one call is to show whether the bank is back. */
export type BreakerState = 'closed' | 'open' | 'half_open'

/** What a breaker's answer to how many calls are wanted says of it. */
export function breakerStateOf(wanted: number): BreakerState {
  if (wanted === 0) return 'open'
  return wanted === Number.POSITIVE_INFINITY ? 'closed' : 'half_open'
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
  qr_codes: 'the breaker closed: the bank is asked to decode QR codes again, whoever has them',
}

/** What each breaker counts; a 401 to any call opens the one of orders too. */
const COUNTED_BY: Readonly<Partial<Record<BankCall, BreakerName>>> = {
  createCharge: 'charges',
  decodeQrCode: 'qr_codes',
  sendPayout: 'orders',
  sendRefund: 'orders',
}

/**
 * Logs that a breaker opened, with the reason of the last failure, or closed: after each call that it counts, and when
 * somebody asks whether calls are wanted.
 */
export function withBreakerLog<Guarded extends Partner & Availability & ChargeAvailability & QrCodeAvailability>(
  partner: Guarded,
  logger: Logger,
): Guarded {
  const open = new Set<BreakerName>()
  const reasons = new Map<BreakerName, string>()
  const wantedOf: Readonly<Record<BreakerName, () => number>> = {
    orders: () => partner.sendsWanted(),
    charges: () => partner.chargesWanted(),
    qr_codes: () => partner.qrCodesWanted(),
  }
  function look(breaker: BreakerName): number {
    const wanted = wantedOf[breaker]()
    const isOpen = breakerStateOf(wanted) !== 'closed'
    if (isOpen && !open.has(breaker)) logger.error({ breaker, reason: reasons.get(breaker) }, OPENED[breaker])
    if (!isOpen && open.has(breaker)) logger.info({ breaker }, CLOSED[breaker])
    if (isOpen) open.add(breaker)
    else open.delete(breaker)
    return wanted
  }
  function note(call: BankCall, answer: AnyAnswer): void {
    if (answer.kind !== 'NOT_SENT' && answer.kind !== 'UNKNOWN') return
    const breaker = COUNTED_BY[call]
    if (breaker) reasons.set(breaker, reasonOf(answer))
    if (answer.httpStatus === 401) reasons.set('orders', reasonOf(answer))
  }
  const calls = aroundCalls(partner, (call, ask) => async (...parameters) => {
    const breaker = COUNTED_BY[call]
    try {
      const answer = await ask(...parameters)
      note(call, answer)
      return answer
    } finally {
      if (breaker) look(breaker)
    }
  })
  return {
    ...partner,
    ...calls,
    sendsWanted: () => look('orders'),
    chargesWanted: () => look('charges'),
    qrCodesWanted: (asker) => {
      look('qr_codes')
      return partner.qrCodesWanted(asker)
    },
  }
}
