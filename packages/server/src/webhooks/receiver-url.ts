import { isIP } from 'node:net'
import { limits, Refusal } from '@pixgate/spec'

/**
 * Reads a receiver's address as a client gave it. In production it is https on port 443 of a name in the public DNS;
 * where private receivers are allowed, http, any port and any host will do. `href` is what is stored and delivered to.
 * @throws Refusal validation_error (400) where it is no absolute URL · webhook_url_not_allowed (422)
 * @source rules#webhooks.1
 */
export function receiverUrl(text: string, allowPrivate: boolean): URL {
  const url = URL.parse(text)
  if (url === null) throw malformed('format', 'url must be an absolute URL')
  if (url.href.length > limits.webhookUrlMaxLength) {
    throw malformed('too_long', `url must have at most ${limits.webhookUrlMaxLength} characters`)
  }
  const allowed = hasAllowedForm(url) && (allowPrivate ? isHttp(url) : isPublicHttps(url))
  if (!allowed) throw new Refusal('webhook_url_not_allowed')
  return url
}

function malformed(code: string, message: string): Refusal {
  return new Refusal('validation_error', { fields: [{ field: 'url', code, message }] })
}

function hasAllowedForm(url: URL): boolean {
  return url.username === '' && url.password === '' && !url.href.includes('#')
}

function isHttp({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}

function isPublicHttps({ protocol, port, hostname }: URL): boolean {
  return protocol === 'https:' && port === '' && isPublicName(hostname)
}

/** Names that never leave a private network. */
const PRIVATE_NAMES = /(^|\.)(localhost|local|internal)$/

/** `URL` has folded every spelling of an IPv4 address, `0x7f.1` too, into its canonical form. */
function isPublicName(hostname: string): boolean {
  return /^[^.:[\]]+(\.[^.:[\]]+)+$/.test(hostname) && isIP(hostname) === 0 && !PRIVATE_NAMES.test(hostname)
}
