import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createHeartbeat } from '../platform/runtime.ts'
import { type ConfiguredBank, NOT_SUPPORTED } from './bank.ts'
import { createBreaker, reasonOf } from './breaker.ts'
import type {
  AnyAnswer,
  Availability,
  BankCall,
  ChargeAvailability,
  Partner,
  PartnerCapability,
  QrCodeAvailability,
} from './port.ts'
import { type BankStanding, createStandingLog, standingOf } from './standing.ts'

export type OnBankCall = (call: BankCall, outcome: string, durationMs: number) => void

export interface CallsOptions {
  readonly configured: Pick<ConfiguredBank, 'settings' | 'host'>
  readonly logger: Logger
  readonly clock: Pick<Clock, 'now'>
  readonly onCall: OnBankCall
}

export interface GuardedBank extends Partner, Availability, ChargeAvailability, QrCodeAvailability {
  standing(): BankStanding
}

/**
 * Wraps each call of a bank with capability check, breaker, standing, metric and log line, in this order. Answers are
 * unchanged. The breaker holds no call back: modules ask it for the number of wanted calls before they claim work or
 * accept a request.
 * @source rules#partner.10, rules#health.5, rules#logs.3
 */
export function guardCalls(bank: Partner, { configured, logger, clock, onCall }: CallsOptions): GuardedBank {
  const breaker = createBreaker(clock, logger)
  const heartbeat = createHeartbeat()
  const logStanding = createStandingLog(logger, clock)
  let standing: BankStanding = { isKnown: false, problem: undefined, isOfConfiguration: false }

  async function guarded(call: BankCall, parameters: readonly unknown[]): Promise<AnyAnswer> {
    const asker = call === 'decodeQrCode' ? (parameters[2] as string | undefined) : undefined
    breaker.begin(call, asker)
    let answer: AnyAnswer | undefined
    try {
      const isCapable = bank.capabilities.has(CALLS[call].needs)
      answer = isCapable ? await asked(call, parameters) : NOT_SUPPORTED
      return answer
    } finally {
      // A thrown error is our own fault and says nothing about the bank. Running decodings are counted, so theirs end
      // as a failure.
      const ended = answer ?? (call === 'decodeQrCode' ? FAULT : undefined)
      if (ended) breaker.note(call, ended, asker)
    }
  }

  async function asked(call: BankCall, parameters: readonly unknown[]): Promise<AnyAnswer> {
    const startedAt = performance.now()
    const answer: AnyAnswer = await Reflect.apply(bank[call], bank, parameters)
    if (!answer.isOfOrderAlone) {
      standing = standingOf(answer, configured.settings)
      logStanding(standingOf(answer, configured.settings, configured.host))
    }
    onCall(call, outcomeOf(answer), performance.now() - startedAt)
    const line = lineOf(call, answer, parameters[0])
    if (line) heartbeat.report(line.kind, (more) => logger[line.level](line.fields, line.sentence + andMore(more)))
    return answer
  }

  const calls = BANK_CALLS.map((call) => [call, (...parameters: unknown[]) => guarded(call, parameters)])
  return {
    ...bank,
    ...(Object.fromEntries(calls) as Pick<Partner, BankCall>),
    sendsWanted: () => breaker.wanted('orders'),
    chargesWanted: () => breaker.wanted('charges'),
    qrCodesWanted: (asker) => breaker.wanted('qr_codes', asker),
    standing: () => standing,
  }
}

const FAULT: AnyAnswer = { kind: 'UNKNOWN', reason: 'fault' }

const TRIED_AGAIN = 'retrying'
const ASKED_AGAIN = 'querying again'
const ASKED_ABOUT = 'querying its status'
const KEPT = 'keeping the difference as evidence'
const ORDER = { NOT_SENT: 'sending it again', UNKNOWN: ASKED_ABOUT, REJECTED: 'nothing was paid', CONTRADICTED: KEPT }
const QUERY = { NOT_SENT: ASKED_AGAIN, UNKNOWN: ASKED_AGAIN, CONTRADICTED: KEPT }
const DECODING = 'the client gets an error'
const CREATION = {
  NOT_SENT: TRIED_AGAIN,
  UNKNOWN: ASKED_ABOUT,
  REJECTED: 'no charge is created',
  CONTRADICTED: KEPT,
}
const CANCELLATION = { NOT_SENT: TRIED_AGAIN, UNKNOWN: TRIED_AGAIN, REJECTED: ASKED_ABOUT }

interface CallTraits {
  readonly needs: PartnerCapability
  /** Start of the log line of a failed call. Absent: the caller logs it. */
  readonly says?: string
  /** Next step by kind of answer. Other kinds are not logged. */
  readonly next?: Readonly<Record<string, string>>
}

const CALLS: Readonly<Record<BankCall, CallTraits>> = {
  createCharge: { needs: 'charge', says: 'creation of a charge', next: CREATION },
  getCharge: { needs: 'query-charge', says: 'query of a charge', next: QUERY },
  cancelCharge: { needs: 'cancel-charge', says: 'cancellation of a charge', next: CANCELLATION },
  sendPayout: { needs: 'payout', says: 'payout', next: ORDER },
  getPayout: { needs: 'query-payout', says: 'query of a payout', next: QUERY },
  decodeQrCode: {
    needs: 'decode-qr-code',
    says: 'decoding of a QR code',
    next: { NOT_SENT: DECODING, UNKNOWN: DECODING, REJECTED: DECODING },
  },
  sendRefund: { needs: 'refund', says: 'refund', next: ORDER },
  getRefund: { needs: 'query-refund', says: 'query of a refund', next: QUERY },
  readStatement: { needs: 'statement' },
  readBalance: { needs: 'balance' },
}

export const BANK_CALLS = Object.keys(CALLS) as readonly BankCall[]

/** Outcome of a call refused because of its credentials or rate. */
export type RefusedCall = 'unauthorized' | 'rate_limited'

function outcomeOf({ kind, httpStatus }: AnyAnswer): string {
  const isUnknown = kind === 'UNKNOWN'
  if (isUnknown && isUnauthorized(httpStatus)) return 'unauthorized' satisfies RefusedCall
  if (isUnknown && httpStatus === 429) return 'rate_limited' satisfies RefusedCall
  return kind.toLowerCase()
}

function isUnauthorized(httpStatus: number | undefined): boolean {
  return httpStatus === 401 || httpStatus === 403
}

const FAULTS: Readonly<Record<string, string>> = {
  NOT_SENT: 'the call did not reach the bank',
  UNKNOWN: 'the bank gave no definite answer',
  REJECTED: 'the bank refused',
  CONTRADICTED: 'the bank has different data under our id',
}

/** @param first our id; for `decodeQrCode` a payable code, which must not be logged */
function lineOf(call: BankCall, answer: AnyAnswer, first: unknown) {
  const { kind, httpStatus } = answer
  const { says, next } = CALLS[call]
  const [fault, then] = [FAULTS[kind], next?.[kind]]
  if (fault === undefined || then === undefined) return undefined
  const reason = reasonOf(answer)
  const isRefused = kind === 'UNKNOWN' && isUnauthorized(httpStatus)
  const advice = isRefused ? '; check the credentials for the bank' : ''
  const fields = { event: 'bank.call_failed', call, answer: kind, reason }
  return {
    kind: `${call} ${kind} ${reason}`,
    level: isRefused ? 'error' : kind === 'REJECTED' ? 'info' : 'warn',
    sentence: `${says}: ${fault}; ${then}${advice}`,
    fields: call === 'decodeQrCode' ? fields : { ...fields, orderId: first },
  } as const
}
