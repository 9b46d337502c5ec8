import type { Clock } from '../platform/clock.ts'
import { connectionProblem } from '../platform/connection-problem.ts'
import type { Logger } from '../platform/log.ts'
import type { BankSettings } from './bank.ts'
import type { AnyAnswer } from './port.ts'

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
  const isRefused = httpStatus === 401 || httpStatus === 403
  return { isKnown: true, problem: statusFault(httpStatus, settings), isOfConfiguration: isRefused }
}

function connectionFault(reason: string, settings: BankSettings, host: string | undefined): string {
  const isOfName = reason === 'ENOTFOUND' || reason === 'EAI_AGAIN'
  const place = host !== undefined && isOfName ? ` at ${host}` : ''
  const renewal = reason === 'CERT_HAS_EXPIRED' ? 'the bank has to renew it, or ' : ''
  return `the bank${place} ${connectionProblem(reason)}: ${renewal}check ${settingOf(reason, settings)}`
}

function statusFault(httpStatus: number, { address, credentials }: BankSettings): string {
  if (httpStatus >= 200 && httpStatus < 300) return 'the bank answers what cannot be read'
  const says = `the bank answers ${httpStatus}`
  if (httpStatus === 401 || httpStatus === 403) return `${says}: check ${credentials}`
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
