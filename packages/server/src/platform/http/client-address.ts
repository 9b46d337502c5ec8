import { isIP } from 'node:net'

/** The longest text of an address: IPv4 in IPv6. */
const ADDRESS_MAX_LENGTH = 45

/**
 * The address of a client: the one that trusted proxies report, where that is an address and nothing else. Whatever else
 * stands in `X-Forwarded-For` a stranger may have written; then it is the address of the connection.
 * @source rules#audit.6
 */
export function clientAddress(reported: string | undefined, ofConnection: string | undefined): string {
  if (isAddress(reported)) return reported
  return isAddress(ofConnection) ? ofConnection : 'unknown'
}

function isAddress(text: string | undefined): text is string {
  // A zone, which only has a meaning on one machine, may be any text.
  return text !== undefined && text.length <= ADDRESS_MAX_LENGTH && !text.includes('%') && isIP(text) !== 0
}
