import { BlockList, isIP } from 'node:net'

/** Addresses of callers: one spelling for each, what of it one caller can change at will, and lists of them. */

/** Addresses and networks that something is allowed from. */
export interface Networks {
  /** Whether a caller's address is in one of them; what is no address is in none. */
  include(address: string): boolean
}

const IPV4_BITS = 32
const IPV6_BITS = 128

/** The bits before the IPv4 address in one that is mapped into IPv6. */
const MAPPED_BITS = IPV6_BITS - IPV4_BITS

/** Whether a text is an address, or a network with its prefix: `203.0.113.0/24`. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const bits = bitsOf(address)
  return bits > 0 && more.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
}

/** Makes them of texts, each of which {@link isNetwork}. */
export function networksOf(texts: readonly string[]): Networks {
  const list = new BlockList()
  for (const text of texts) add(list, text)
  return {
    include: (given) => {
      const address = plainAddress(given)
      return address !== undefined && list.check(address, familyOf(address))
    },
  }
}

function add(list: BlockList, text: string): void {
  const [given = '', prefix] = text.split('/')
  const bits = Number(prefix ?? bitsOf(given))
  const address = plainAddress(given) ?? given
  const isMapped = isIP(given) === 6 && isIP(address) === 4
  // Of a mapped network that is wider than all of IPv4 nothing but IPv4 can come.
  const length = isMapped ? Math.max(0, bits - MAPPED_BITS) : bits
  list.addSubnet(address, length, familyOf(address))
}

function bitsOf(address: string): number {
  return { 0: -1, 4: IPV4_BITS, 6: IPV6_BITS }[isIP(address)] ?? -1
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

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
 * Whose an address is, for budgets: an IPv4 address, or the 64 bits of an IPv6 one that tell one customer of a provider from
 * another, as each may choose among all the addresses behind them. What is no address is one more, however it is spelled.
 * @source rules#strangers.1, rules#api-keys.12
 */
export function networkOf(text: string): string {
  const address = plainAddress(text)
  if (address === undefined) return 'no address'
  return address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address
}

/** The eight groups of an IPv6 address in its one spelling. */
function groupsOf(address: string): readonly string[] {
  const [head = [], tail = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}
