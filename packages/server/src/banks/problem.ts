import { connectionProblem } from '../platform/connection-problem.ts'
import type { AnyAnswer } from './around-calls.ts'
import type { BankSettings } from './connector.ts'

/**
 * What an answer says about the way to the bank and about the bank itself, as a whole sentence that may be shown to
 * anyone: «the bank answers 401: check PIXGATE_PARTNER_TOKEN». `undefined` where the bank did answer, whatever it was.
 * @param host of the bank, which is named where it cannot be found; not for a sentence that anyone is shown
 * @source rules#health.5
 */
export function bankProblem(answer: AnyAnswer, settings: BankSettings, host?: string): string | undefined {
  const { kind, reason, httpStatus } = answer
  if (kind !== 'NOT_SENT' && kind !== 'UNKNOWN') return undefined
  if (httpStatus === undefined) {
    const place = host !== undefined && isOfName(reason) ? ` at ${host}` : ''
    const renewal = reason === 'CERT_HAS_EXPIRED' ? 'the bank has to renew it, or ' : ''
    return `the bank${place} ${connectionProblem(reason)}: ${renewal}check ${settingOf(reason, settings)}`
  }
  if (httpStatus >= 200 && httpStatus < 300) return 'the bank answers what cannot be read'
  return `the bank answers ${httpStatus}${adviceFor(httpStatus, settings)}`
}

/** Alerts of TLS that are about the certificate that we show, or lack. */
const OF_OUR_CERTIFICATE = /ALERT_(?:UNKNOWN_CA|HANDSHAKE_FAILURE|\w*CERTIFICATE)/

/** What a certificate of the bank's cannot be verified for. */
const OF_AUTHORITIES = /^(?:DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

/** The variable to look at where no answer came. @source rules#health.5 */
function settingOf(reason = '', { address, certificate, authorities }: BankSettings): string {
  if (certificate !== undefined && OF_OUR_CERTIFICATE.test(reason)) return certificate
  return authorities !== undefined && OF_AUTHORITIES.test(reason) ? authorities : address
}

function isOfName(reason: string | undefined): boolean {
  return reason === 'ENOTFOUND' || reason === 'EAI_AGAIN'
}

/** Codes of a name that does not resolve, and of certificates and TLS. */
const OF_CONFIGURATION = /^(ENOTFOUND|CERT_|ERR_TLS_|ERR_SSL_|EPROTO|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

/** Whether what is wrong stays so until somebody changes a setting, here or at the bank: nothing passes by itself. */
export function isOfConfiguration({ kind, reason = '', httpStatus }: AnyAnswer): boolean {
  if (kind !== 'NOT_SENT' && kind !== 'UNKNOWN') return false
  return httpStatus === undefined ? OF_CONFIGURATION.test(reason) : httpStatus === 401 || httpStatus === 403
}

function adviceFor(httpStatus: number, { address, credentials }: BankSettings): string {
  if (httpStatus === 401 || httpStatus === 403) return `: check ${credentials}`
  if (httpStatus < 400 || httpStatus === 404 || httpStatus === 405) return `: check ${address}`
  return httpStatus === 429 ? ': it takes no more calls for now' : ''
}
