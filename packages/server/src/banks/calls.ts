import type { Clock } from '../platform/clock.ts'
import { connectionProblem } from '../platform/connection-problem.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createLogThrottle } from '../platform/runtime.ts'
import { type BankSettings, type ConfiguredBank, NOT_SUPPORTED } from './bank.ts'
import { Breakers, reasonOf } from './breaker.ts'
import type {
  AnyAnswer,
  Availability,
  BankCall,
  ChargeAvailability,
  Partner,
  PartnerCapability,
  QrCodeAvailability,
} from './port.ts'

interface CallsOptions {
  readonly configured: Pick<ConfiguredBank, 'settings' | 'host'>
  readonly logger: Logger
  readonly clock: Pick<Clock, 'now'>
  readonly onCall: (call: BankCall, outcome: string, durationMs: number) => void
}

export interface GuardedBank extends Partner, Availability, ChargeAvailability, QrCodeAvailability {
  standing(): BankStanding
}

/**
 * Wraps each call of a bank, once: checks the capability, counts for the breaker, and reports the result to standing,
 * metric and log. Answers are unchanged. The breaker holds no call back: modules ask it for the number of wanted calls
 * before they claim work or accept a request.
 * @source rules#partner.10, rules#health.5, rules#logs.3
 */
export function guardCalls(bank: Partner, { configured, logger, clock, onCall }: CallsOptions): GuardedBank {
  const breaker = new Breakers(clock, logger)
  const throttle = createLogThrottle()
  const logStanding = createStandingLog(logger, clock)
  let standing: BankStanding = { isKnown: false, problem: undefined, isOfConfiguration: false }

  async function guarded(call: BankCall, parameters: readonly unknown[]): Promise<AnyAnswer> {
    if (!bank.capabilities.has(CALLS[call].needs)) return NOT_SUPPORTED
    const asker = call === 'decodeQrCode' ? (parameters[2] as string | undefined) : undefined
    breaker.begin(call, asker)
    const startedAt = performance.now()
    // A thrown error is our own fault and says nothing about the bank. Running decodings are counted, so theirs end as a
    // failure.
    let ended = call === 'decodeQrCode' ? FAULT : undefined
    try {
      const answer: AnyAnswer = await Reflect.apply(bank[call], bank, parameters)
      ended = answer
      report(call, answer, performance.now() - startedAt, parameters[0])
      return answer
    } finally {
      if (ended) breaker.note(call, ended, asker)
    }
  }

  function report(call: BankCall, answer: AnyAnswer, durationMs: number, first: unknown): void {
    if (!answer.isQrCodeFault) {
      standing = standingOf(answer, configured.settings)
      logStanding(standingOf(answer, configured.settings, configured.host))
    }
    onCall(call, outcomeOf(answer), durationMs)
    const line = lineOf(call, answer, first)
    if (line) throttle.report(line.kind, (more) => logger[line.level](line.fields, line.sentence + andMore(more)))
  }

  const calls = BANK_CALLS.map((call) => [call, (...parameters: unknown[]) => guarded(call, parameters)])
  return {
    ...bank,
    ...(Object.fromEntries(calls) as Pick<Partner, BankCall>),
    allowedSends: () => breaker.wanted('orders'),
    allowedCharges: () => breaker.wanted('charges'),
    allowedQrCodes: (asker) => breaker.wanted('qr_codes', asker),
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

/** Result of the last call to the bank, for health, the log and the doctor. */
export interface BankStanding {
  readonly isKnown: boolean
  /** A sentence: «the bank answers 401: check PIXGATE_PARTNER_TOKEN». `undefined` if the bank answered. */
  readonly problem: string | undefined
  /** Whether the problem lasts until a setting is changed, here or at the bank. */
  readonly isOfConfiguration: boolean
}

/**
 * Derives the standing from one answer.
 * @param host named when it does not resolve; omitted from public sentences
 * @source rules#health.5, rules#config.10
 */
export function standingOf(answer: AnyAnswer, settings: BankSettings, host?: string): BankStanding {
  const { kind, reason = '', httpStatus } = answer
  if (kind !== 'NOT_SENT' && kind !== 'UNKNOWN') {
    return { isKnown: true, problem: undefined, isOfConfiguration: false }
  }
  if (httpStatus === undefined) {
    return {
      isKnown: true,
      problem: connectionFault(reason, settings, host),
      isOfConfiguration: OF_CONFIGURATION.test(reason),
    }
  }
  return { isKnown: true, problem: statusFault(httpStatus, settings), isOfConfiguration: isUnauthorized(httpStatus) }
}

/** Why the bank cannot be reached, and the setting to check. */
export function connectionFault(reason: string, settings: BankSettings, host: string | undefined): string {
  const isOfName = reason === 'ENOTFOUND' || reason === 'EAI_AGAIN'
  const place = host !== undefined && isOfName ? ` at ${host}` : ''
  const renewal = reason === 'CERT_HAS_EXPIRED' ? 'the bank has to renew it, or ' : ''
  return `the bank${place} ${connectionProblem(reason)}: ${renewal}check ${settingOf(reason, settings)}`
}

function statusFault(httpStatus: number, { address, credentials }: BankSettings): string {
  if (httpStatus >= 200 && httpStatus < 300) return 'the bank answers what cannot be read'
  const says = `the bank answers ${httpStatus}`
  if (isUnauthorized(httpStatus)) return `${says}: check ${credentials}`
  if (httpStatus < 400 || httpStatus === 404 || httpStatus === 405) return `${says}: check ${address}`
  return httpStatus === 429 ? `${says}: it takes no more calls for now` : says
}

/** TLS alerts about our certificate, or its absence. */
const OF_OUR_CERTIFICATE = /ALERT_(?:UNKNOWN_CA|HANDSHAKE_FAILURE|\w*CERTIFICATE)/

const OF_AUTHORITIES = /^(?:DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

/** Problems that do not pass by themselves: an unknown name, a certificate, TLS. */
const OF_CONFIGURATION = /^(ENOTFOUND|CERT_|ERR_TLS_|ERR_SSL_|EPROTO|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

function settingOf(reason: string, { address, certificate, authorities }: BankSettings): string {
  if (certificate !== undefined && OF_OUR_CERTIFICATE.test(reason)) return certificate
  return authorities !== undefined && OF_AUTHORITIES.test(reason) ? authorities : address
}

/** Interval of repeated log lines about a configuration problem. */
const AGAIN_AFTER_MS = 600_000

/**
 * Logs the first standing. Later logs each configuration problem, repeated as an error, and its end. Temporary problems
 * are logged with their calls.
 * @source rules#config.10
 */
export function createStandingLog(logger: Logger, clock: Pick<Clock, 'now'>): (standing: BankStanding) => void {
  let isFirst = true
  /** By problem: a bank may refuse one call and answer the others. */
  const loggedAt = new Map<string, number>()
  let isLogged = false
  return ({ problem, isOfConfiguration }) => {
    const now = clock.now()
    if (problem === undefined) {
      if (isFirst || isLogged) logger.info({ event: 'bank.answers' }, 'the bank answers')
      isLogged = false
    } else if (isOfConfiguration) {
      if (now - (loggedAt.get(problem) ?? Number.NEGATIVE_INFINITY) >= AGAIN_AFTER_MS) {
        logger.error({ event: 'bank.refuses_configuration' }, problem)
        loggedAt.set(problem, now)
        isLogged = true
      }
    } else if (isFirst) logger.warn({ event: 'bank.unreachable' }, problem)
    isFirst = false
  }
}
