import { BlockList, isIP } from 'node:net'
import { plainAddress } from './address.ts'

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
