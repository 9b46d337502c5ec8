import { isIP } from 'node:net'
import { type FieldError, limits, Refusal } from '@pixgate/spec'
import { invalidField } from '../platform/http/request.ts'
import { type AddressGate, DnsUnavailable, NotConnected } from '../platform/http-client/agent.ts'

/**
 * Parses the URL of an endpoint. Production requires https on port 443 or from 1024 up, and a public DNS name. If
 * private addresses are allowed, http, any port and any host are accepted. `href` is stored and used for delivery.
 * @throws Refusal validation_error (400) for anything but an absolute URL · webhook_url_not_allowed (422)
 * @source rules#webhooks.1
 */
export function endpointUrl(text: string, allowPrivate: boolean): URL {
  const url = URL.parse(text)
  if (url === null) throw invalidField('url', 'format', 'url must be an absolute URL')
  if (url.href.length > limits.webhookUrlMaxLength) {
    throw invalidField('url', 'too_long', `url must have at most ${limits.webhookUrlMaxLength} characters`)
  }
  const reason = reasonAgainst(url, allowPrivate)
  if (reason !== undefined) throw urlNotAllowed(reason)
  return url
}

/** Reasons to refuse the URL of an endpoint, with their messages. @source rules#webhooks.11 */
const REASONS = {
  not_https: 'url must begin with https://',
  user_info: 'url must not have a user or a password',
  fragment: 'url must not have a fragment',
  port: `url must have port 443 or one from ${limits.webhookPortMin} up`,
  private_address: 'url must lead to public addresses only, by a name of the public DNS',
  not_resolvable: 'url must have a name that has an address in the DNS',
} as const

export type UrlReason = keyof typeof REASONS

/** @source rules#webhooks.11 */
function urlNotAllowed(reason: UrlReason): Refusal {
  return new Refusal('webhook_url_not_allowed', {
    fields: [{ field: 'url', code: reason, message: REASONS[reason] }],
  })
}

function reasonAgainst(url: URL, allowPrivate: boolean): UrlReason | undefined {
  const isHttps = url.protocol === 'https:'
  if (!isHttps && !(allowPrivate && url.protocol === 'http:')) return 'not_https'
  if (url.username !== '' || url.password !== '') return 'user_info'
  if (url.href.includes('#')) return 'fragment'
  if (allowPrivate) return undefined
  if (url.port !== '' && Number(url.port) < limits.webhookPortMin) return 'port'
  return isPublicName(url.hostname) ? undefined : 'private_address'
}

/** Names that are only used in private networks. */
const PRIVATE_NAMES = /(^|\.)(localhost|local|internal)$/

/** `URL` normalises every spelling of an IPv4 address, even `0x7f.1`. */
function isPublicName(hostname: string): boolean {
  return /^[^.:[\]]+(\.[^.:[\]]+)+$/.test(hostname) && isIP(hostname) === 0 && !PRIVATE_NAMES.test(hostname)
}

/**
 * Resolves the name once for early feedback; every connection resolves it again.
 * @throws Refusal webhook_url_not_allowed (422) without an address or with a private one · overloaded (503) when no
 * name server answers
 * @source rules#webhooks.1, rules#webhooks.11
 */
export async function assertResolves(gate: AddressGate, url: URL): Promise<void> {
  try {
    await gate.addressesOf(url.hostname)
  } catch (error) {
    if (!(error instanceof NotConnected)) throw error
    if (error.cause instanceof DnsUnavailable) throw new Refusal('overloaded', { fields: [NOT_RESOLVED_NOW] })
    throw urlNotAllowed(error.reason === 'address_not_allowed' ? 'private_address' : 'not_resolvable')
  }
}

const NOT_RESOLVED_NOW: FieldError = {
  field: 'url',
  code: 'not_resolved_now',
  message: 'the name in url cannot be resolved now: no name server answers',
}
