import { isIP } from 'node:net'
import { type FieldError, limits, Refusal } from '@pixgate/spec'
import { invalidField } from '../platform/http/request.ts'
import {
  type AddressGate,
  DnsUnavailable,
  NotConnected,
  openGate,
  privateNetworkGate,
  publicAddressGate,
  type Resolve,
} from '../platform/http-client/agent.ts'
import type { AllowedNetwork } from '../platform/http-client/allowed-networks.ts'

/**
 * Addresses that an endpoint may have: public ones, or also those of `PIXGATE_WEBHOOK_ALLOWED_NETWORKS`. Stored with the
 * endpoint: a name that an API key registered never leads inside, whatever it resolves to later.
 * @source rules#webhooks.26
 */
export type Reach = 'public' | 'inside'

/** Limits for endpoints of one reach. */
export interface Bounds {
  readonly urls: AllowedUrls
  readonly gate: AddressGate
}

/** `public`: https to a public name; `inside`: https to any name; `any`: also http, any port and any host. */
export type AllowedUrls = Reach | 'any'

export interface BoundsNeeds {
  /** Sandbox: allows http and private addresses. */
  readonly allowPrivate: boolean
  readonly allowedNetworks: readonly AllowedNetwork[]
  /** Replaces DNS in tests. */
  readonly resolve?: Resolve
}

export function boundsOf({ allowPrivate, allowedNetworks, resolve }: BoundsNeeds): Readonly<Record<Reach, Bounds>> {
  if (allowPrivate) {
    const any: Bounds = { urls: 'any', gate: openGate() }
    return { public: any, inside: any }
  }
  return {
    public: { urls: 'public', gate: publicAddressGate(resolve) },
    inside: { urls: 'inside', gate: privateNetworkGate(allowedNetworks, resolve) },
  }
}

/**
 * Parses the URL of an endpoint. Production requires https on port 443 or from 1024 up, and a DNS name; a public one
 * unless the endpoint may be inside. `href` is stored and used for delivery.
 * @throws Refusal validation_error (400) for anything but an absolute URL · webhook_url_not_allowed (422)
 * @source rules#webhooks.1, rules#webhooks.26
 */
export function endpointUrl(text: string, allowed: AllowedUrls): URL {
  const url = URL.parse(text)
  if (url === null) throw invalidField('url', 'format', 'url must be an absolute URL')
  if (url.href.length > limits.webhookUrlMaxLength) {
    throw invalidField('url', 'too_long', `url must have at most ${limits.webhookUrlMaxLength} characters`)
  }
  const reason = reasonAgainst(url, allowed)
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
  network_not_allowed: 'url must lead, by a name, to public addresses or to networks and ports that the service allows',
  not_resolvable: 'url must have a name that has an address in the DNS',
} as const

export type UrlReason = keyof typeof REASONS

/** @source rules#webhooks.11 */
function urlNotAllowed(reason: UrlReason): Refusal {
  return new Refusal('webhook_url_not_allowed', {
    fields: [{ field: 'url', code: reason, message: REASONS[reason] }],
  })
}

function reasonAgainst(url: URL, allowed: AllowedUrls): UrlReason | undefined {
  const isHttps = url.protocol === 'https:'
  if (!isHttps && !(allowed === 'any' && url.protocol === 'http:')) return 'not_https'
  if (url.username !== '' || url.password !== '') return 'user_info'
  if (url.href.includes('#')) return 'fragment'
  if (allowed === 'any') return undefined
  if (url.port !== '' && Number(url.port) < limits.webhookPortMin) return 'port'
  if (!isDnsName(url.hostname)) return ADDRESS_REASONS[allowed]
  return allowed === 'public' && PRIVATE_NAMES.test(url.hostname) ? 'private_address' : undefined
}

/** Reasons against an address, by the reach of the endpoint. */
const ADDRESS_REASONS = { public: 'private_address', inside: 'network_not_allowed' } as const

/** Names that are only used in private networks. */
const PRIVATE_NAMES = /(^|\.)(localhost|local|internal)$/

/** `URL` normalises every spelling of an IPv4 address, even `0x7f.1`. */
function isDnsName(hostname: string): boolean {
  return /^[^.:[\]]+(\.[^.:[\]]+)+$/.test(hostname) && isIP(hostname) === 0
}

/**
 * Resolves the name once for early feedback; every connection resolves it again. Where any address is allowed, the name
 * may be unknown.
 * @throws Refusal webhook_url_not_allowed (422) without an address or with one that is not allowed · overloaded (503) when no
 * name server answers
 * @source rules#webhooks.1, rules#webhooks.11
 */
export async function assertResolves({ urls, gate }: Bounds, url: URL): Promise<void> {
  if (urls === 'any') return
  try {
    await gate.addressesOf(url.hostname, Number(url.port || 443))
  } catch (error) {
    if (!(error instanceof NotConnected)) throw error
    if (error.cause instanceof DnsUnavailable) throw new Refusal('overloaded', { fields: [NOT_RESOLVED_NOW] })
    throw urlNotAllowed(error.reason === 'address_not_allowed' ? ADDRESS_REASONS[urls] : 'not_resolvable')
  }
}

const NOT_RESOLVED_NOW: FieldError = {
  field: 'url',
  code: 'not_resolved_now',
  message: 'the name in url cannot be resolved now: no name server answers',
}
