import { BlockList, isIP } from 'node:net'

export interface Networks {
  /** Whether an address is in one of the networks. Other texts are in none. */
  include(address: string): boolean
}

const IPV4_BITS = 32
const IPV6_BITS = 128

/** Prefix bits of an IPv4 address mapped into IPv6. */
const MAPPED_BITS = IPV6_BITS - IPV4_BITS

/** Returns whether a text is an address, or a network with its prefix: `203.0.113.0/24`. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/')
  const bits = bitsOf(address)
  return bits > 0 && more.length === 0 && (prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits))
}

/** Builds the list from texts that pass {@link isNetwork}. */
export function networksOf(texts: readonly string[]): Networks {
  const list = new BlockList()
  for (const { address, length, family } of texts.map(subnetOf)) list.addSubnet(address, length, family)
  return {
    include: (given) => {
      const address = plainAddress(given)
      return address !== undefined && list.check(address, familyOf(address))
    },
  }
}

interface Subnet {
  readonly address: string
  /** Of its prefix. */
  readonly length: number
  readonly family: 'ipv4' | 'ipv6'
  readonly list: BlockList
}

/** Reads a text that passes {@link isNetwork}. A network of mapped addresses becomes one of IPv4. */
function subnetOf(text: string): Subnet {
  const [given = '', prefix] = text.split('/')
  const bits = Number(prefix ?? bitsOf(given))
  const address = plainAddress(given) ?? given
  const isMapped = isIP(given.replace(/%.*$/, '')) === 6 && isIP(address) === 4
  // A mapped network wider than all of IPv4 can only match IPv4.
  return subnet(address, isMapped ? Math.max(0, bits - MAPPED_BITS) : bits)
}

function subnet(address: string, length: number): Subnet {
  const list = new BlockList()
  list.addSubnet(address, length, familyOf(address))
  return { address, length, family: familyOf(address), list }
}

function bitsOf(address: string): number {
  return { 0: -1, 4: IPV4_BITS, 6: IPV6_BITS }[isIP(address)] ?? -1
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}

/** An IPv4 address mapped into IPv6, as a dual-stack socket reports it, in the spelling of a URL. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/**
 * The normal form of an address, without a zone; IPv4-mapped IPv6 becomes IPv4. `undefined` for other texts, which a
 * proxy may forward.
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
 * Key of an address for budgets: an IPv4 address, or the first 64 bits of an IPv6 address, since a provider's customer
 * can choose freely among the rest. All other texts share one key.
 * @source rules#strangers.1, rules#api-keys.12
 */
export function networkOf(text: string): string {
  const address = plainAddress(text)
  if (address === undefined) return 'no address'
  return address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address
}

/** The eight groups of an IPv6 address in normal form. */
function groupsOf(address: string): readonly string[] {
  const [head = [], tail = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}

/** Maximum of public addresses in a list: one /8 of IPv4, one /19 of IPv6. */
const IPV4_MAX = 2 ** 24
const IPV6_MAX = 2 ** 109

/** Private networks, which may be listed whole. */
const PRIVATE = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']
  .concat(['::1', 'fc00::/7', 'fe80::/10'])
  .map(subnetOf)

/**
 * Returns whether networks leave out most of the Internet, however they are spelt, split, or mapped from IPv4 to IPv6.
 * Private addresses are unlimited; public ones are limited to one /8 of IPv4 and one /19 of IPv6.
 * @param networks addresses, each with or without a prefix length
 */
export function areNarrow(networks: readonly string[]): boolean {
  const counted: Subnet[] = []
  // The widest first, so that a network within another is not counted.
  for (const one of networks.map(subnetOf).toSorted((a, b) => a.length - b.length)) {
    if (![...PRIVATE, ...counted].some((wider) => contains(wider, one))) counted.push(one)
  }
  return (
    sizeOf(counted.filter(({ family }) => family === 'ipv4')) <= IPV4_MAX &&
    sizeOf(counted.filter(({ family }) => family === 'ipv6')) <= IPV6_MAX &&
    // A network of IPv6 around the mapped addresses has all of IPv4.
    !counted.some((one) => contains(one, MAPPED_NETWORK))
  )
}

const MAPPED_NETWORK = subnet('::ffff:0:0', MAPPED_BITS)

export function isPrivateAddress(address: string): boolean {
  return isIP(address) !== 0 && PRIVATE.some((own) => contains(own, subnetOf(address)))
}

/** Returns whether a network is inside another one. Both pass {@link isNetwork}; mapped IPv4 counts as IPv4. */
export function isWithin(network: string, wider: string): boolean {
  return contains(subnetOf(wider), subnetOf(network))
}

function contains({ length, family, list }: Subnet, other: Subnet): boolean {
  return family === other.family && length <= other.length && list.check(other.address, family)
}

/** Number of addresses; exact enough as a sum of powers of two. */
function sizeOf(subnets: readonly Subnet[]): number {
  return subnets.reduce(
    (sum, { length, family }) => sum + 2 ** ((family === 'ipv4' ? IPV4_BITS : IPV6_BITS) - length),
    0,
  )
}
