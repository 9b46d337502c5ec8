import { limits } from '@pixgate/spec'
import { own } from './own.ts'

/** Own code for a missing socket file: `ENOENT` may be about any file. */
const NO_SOCKET = 'no socket'

/** Sentences by error code of Node, undici or our own calls. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'cannot be found: its name does not resolve',
  EAI_AGAIN: 'cannot be found: its name cannot be resolved right now',
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'cuts the connection',
  EPIPE: 'cuts the connection',
  UND_ERR_SOCKET: 'cuts the connection',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: `answers more than ${limits.bodyMaxBytes / 1_024} KiB`,
  [NO_SOCKET]: 'cannot be found: its socket is not there',
  timeout: 'does not answer in time',
  ETIMEDOUT: 'does not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'does not answer in time',
  EHOSTUNREACH: 'cannot be reached: no route leads there',
  ENETUNREACH: 'cannot be reached: no route leads there',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  CERT_NOT_YET_VALID: 'has a certificate that is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'has a certificate of an authority that is not trusted here',
  SELF_SIGNED_CERT_IN_CHAIN: 'has a certificate of an authority that is not trusted here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'has a certificate of an authority that is not trusted here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'has a certificate of an authority that is not trusted here',
}

/** TLS problems; the first match counts. OpenSSL's codes differ between versions. */
const TLS_PROBLEMS: readonly (readonly [pattern: RegExp, problem: string])[] = [
  [/CERTIFICATE_REQUIRED/, 'wants a certificate of ours, and we have none'],
  [
    /ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_|UNSUPPORTED_CERTIFICATE)/,
    'refuses the certificate that we show it',
  ],
  [/ALERT_HANDSHAKE_FAILURE/, 'refuses our TLS handshake: it may want a certificate of ours, and we have none'],
  [/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL/, 'speaks no version of TLS that we do: TLS 1.2 or newer is needed'],
  [/^EPROTO|^ERR_SSL_$|WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST/, 'does not speak TLS'],
  [/^ERR_SSL_/, 'does not agree with us on TLS'],
]

/**
 * Explains why a call to another machine failed, as the end of a sentence: «the bank refuses connections». Contains no
 * name, address or secret.
 * @param code of the error, if it has one
 * @source rules#health.5
 */
export function connectionProblem(code: string | undefined): string {
  return (code === undefined ? undefined : knownProblem(code)) ?? 'does not answer'
}

/** Like {@link connectionProblem}, or `undefined` for a code that is not about a connection. */
export function knownProblem(code: string): string | undefined {
  const ofTls = /^(EPROTO|ERR_SSL_)/.test(code) && TLS_PROBLEMS.find(([pattern]) => pattern.test(code))
  if (ofTls) return ofTls[1]
  if (/^HPE_/.test(code)) return 'answers what is not HTTP'
  return own(PROBLEMS, code)
}

/** The code of an error or of its cause. */
export function errorCode(error: unknown): string | undefined {
  const { code, cause, name, syscall } = (error ?? {}) as Partial<
    Record<'code' | 'cause' | 'name' | 'syscall', unknown>
  >
  if (code === 'ENOENT' && syscall === 'connect') return NO_SOCKET
  if (typeof code === 'string') return code
  if (name === 'TimeoutError') return 'timeout'
  return cause === undefined ? undefined : errorCode(cause)
}
