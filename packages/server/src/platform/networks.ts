import { BlockList, isIP } from 'node:net'

export interface NetworkList {
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
export function networkList(texts: readonly string[]): NetworkList {
  const list = blockListOf(texts)
  return {
    include: (given) => {
      const address = plainAddress(given)
      return address !== undefined && list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
    },
  }
}

function blockListOf(texts: readonly string[]): BlockList {
  const list = new BlockList()
  for (const { address, prefixLength, family } of texts.map(subnetOf)) list.addSubnet(address, prefixLength, family)
  return list
}

interface Subnet {
  readonly address: string
  readonly prefixLength: number
  readonly family: 'ipv4' | 'ipv6'
  readonly list: BlockList
}

/** Reads a text that passes {@link isNetwork}. A network of mapped addresses becomes one of IPv4. */
function subnetOf(text: string): Subnet {
  const [given = '', prefix] = text.split('/')
  const prefixLength = Number(prefix ?? bitsOf(given))
  const address = plainAddress(given) ?? given
  const isMapped = isIP(withoutZone(given)) === 6 && isIP(address) === 4
  // A prefix shorter than that of the mapped addresses stands for all of IPv4.
  return subnet(address, isMapped ? Math.max(0, prefixLength - MAPPED_BITS) : prefixLength)
}

function subnet(address: string, prefixLength: number): Subnet {
  const family = isIP(address) === 4 ? 'ipv4' : 'ipv6'
  const list = new BlockList()
  list.addSubnet(address, prefixLength, family)
  return { address, prefixLength, family, list }
}

/** `fe80::1%eth0` names an interface of the machine as the address's zone. */
function withoutZone(text: string): string {
  return text.replace(/%.*$/s, '')
}

function bitsOf(address: string): number {
  return { 0: -1, 4: IPV4_BITS, 6: IPV6_BITS }[isIP(address)] ?? -1
}

/** An IPv4 address mapped into IPv6, as a dual-stack socket reports it, in the spelling of a URL. */
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

/**
 * The normal form of an address, without a zone; IPv4-mapped IPv6 becomes IPv4. `undefined` for other texts, which a
 * proxy may forward.
 */
export function plainAddress(text: string): string | undefined {
  const address = withoutZone(text)
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
export function clientNetworkOf(text: string): string {
  const address = plainAddress(text)
  if (address === undefined) return 'no address'
  return address.includes(':') ? `${groupsOf(address).slice(0, 4).join(':')}::/64` : address
}

/** The eight groups of an IPv6 address in normal form. */
function groupsOf(address: string): readonly string[] {
  const [head = [], tail = []] = address.split('::').map((part) => (part === '' ? [] : part.split(':')))
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail]
}

/** Networks for private use. They have no loopback, link-local, unspecified, multicast or public address. */
export const PRIVATE_USE = ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'] as const

const LOOPBACK = ['127.0.0.0/8', '::1']

/** Clouds answer with credentials of the machine at 169.254.169.254. */
const LINK_LOCAL = ['169.254.0.0/16', 'fe80::/10']

/** Special networks of IPv4, and of IPv6 inside {@link GLOBAL_UNICAST}. */
const NOT_PUBLIC = blockListOf([
  ...PRIVATE_USE,
  ...LOOPBACK,
  ...LINK_LOCAL,
  '0.0.0.0/8', // this network
  '168.63.129.16', // Azure's host
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
  '2001::/23', // protocol assignments; Teredo carries an IPv4 address
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4 carries an IPv4 address
  '3fff::/20', // documentation
])

/**
 * All public addresses of IPv6. Leaves out loopback, IPv4-mapped, NAT64 (64:ff9b::), unique local, link local, site local
 * and multicast.
 */
const GLOBAL_UNICAST = blockListOf(['2000::/3'])

/**
 * Returns whether an address is reachable on the public Internet. IPv4 inside IPv6 is not.
 * @param address any text; only IP addresses can be public
 * @source rules#webhooks.1
 */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !NOT_PUBLIC.check(address, 'ipv4')
    case 6:
      return GLOBAL_UNICAST.check(address, 'ipv6') && !NOT_PUBLIC.check(address, 'ipv6')
    default:
      return false
  }
}

const PRIVATE_OR_LOCAL = [...PRIVATE_USE, ...LOOPBACK, ...LINK_LOCAL].map(subnetOf)

export function isPrivateAddress(address: string): boolean {
  return isIP(address) !== 0 && PRIVATE_OR_LOCAL.some((network) => contains(network, subnetOf(address)))
}

/** Maximum of public addresses in a list: one /8 of IPv4, one /19 of IPv6. */
const PUBLIC_IPV4_MAX = 2 ** 24
const PUBLIC_IPV6_MAX = 2 ** 109

/**
 * Returns whether networks leave out most of the Internet, however they are spelt, split, or mapped from IPv4 to IPv6.
 * Private addresses are unlimited; public ones are limited to one /8 of IPv4 and one /19 of IPv6.
 * @param networks addresses, each with or without a prefix length
 */
export function haveFewPublicAddresses(networks: readonly string[]): boolean {
  const counted: Subnet[] = []
  // The widest first, so that a network within another is not counted.
  for (const one of networks.map(subnetOf).toSorted((a, b) => a.prefixLength - b.prefixLength)) {
    if (![...PRIVATE_OR_LOCAL, ...counted].some((wider) => contains(wider, one))) counted.push(one)
  }
  return (
    sizeOf(counted.filter(({ family }) => family === 'ipv4')) <= PUBLIC_IPV4_MAX &&
    sizeOf(counted.filter(({ family }) => family === 'ipv6')) <= PUBLIC_IPV6_MAX &&
    // An IPv6 network that contains the mapped addresses, such as `::/80`, contains all of IPv4.
    !counted.some((one) => contains(one, MAPPED_NETWORK))
  )
}

const MAPPED_NETWORK = subnet('::ffff:0:0', MAPPED_BITS)

/** Returns whether a network is inside another one. Both pass {@link isNetwork}; mapped IPv4 counts as IPv4. */
export function isWithin(network: string, wider: string): boolean {
  return contains(subnetOf(wider), subnetOf(network))
}

function contains({ prefixLength, family, list }: Subnet, other: Subnet): boolean {
  return family === other.family && prefixLength <= other.prefixLength && list.check(other.address, family)
}

/** Number of addresses; exact enough as a sum of powers of two. */
function sizeOf(subnets: readonly Subnet[]): number {
  return subnets.reduce((sum, { address, prefixLength }) => sum + 2 ** (bitsOf(address) - prefixLength), 0)
}
