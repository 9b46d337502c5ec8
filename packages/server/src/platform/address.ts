import { isIP } from 'node:net'

/** Addresses of callers: one spelling for each, and what of it one caller can change at will. */

/** An IPv6 address that stands for one of IPv4, as a socket for both has it, in the spelling of a URL. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/**
 * The one spelling of an address, without a zone; of an IPv4 address that is mapped into IPv6, the IPv4 address.
 * `undefined`: it is none, as what a proxy passes on need not be.
 */
export function plainAddress(text: string): string | undefined {
  const [address = ''] = text.split('%')
  if (isIP(address) !== 6) return isIP(address) === 4 ? address : undefined
  const plain = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1)
  const [, high, low] = MAPPED.exec(plain ?? '') ?? []
  if (high === undefined || low === undefined) return plain
  const bits = Number.parseInt(high, 16) * 0x1_00_00 + Number.parseInt(low, 16)
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.')
}

/**
 * Whose an address is, for budgets: an IPv4 address, or the /64 of an IPv6 one, within which its owner may choose. What is no
 * address is one more, however it is spelled.
 */
export function addressOwner(text: string): string {
  const address = plainAddress(text)
  if (address === undefined) return 'no address'
  return address.includes(':') ? groupsOf(address).slice(0, 4).join(':') : address
}

/** The eight groups of an IPv6 address in its one spelling. */
function groupsOf(address: string): readonly string[] {
  const [head = [], tail = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}
