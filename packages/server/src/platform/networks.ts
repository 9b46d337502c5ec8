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

/** Addresses from `first` to `last`, both among them; those of IPv4 as IPv6 maps them. */
interface Span {
  readonly first: bigint
  readonly last: bigint
}

/** As many public addresses as a list may name together: those of one /8 of IPv4, those of one /19 of IPv6. */
const IPV4_MAX = 1n << 24n
const IPV6_MAX = 1n << 109n

const IPV4 = spanOf('0.0.0.0/0')

/** Addresses of networks of one's own, which may be named whole. */
const PRIVATE = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']
  .concat(['::1', 'fc00::/7', 'fe80::/10'])
  .map(spanOf)

/**
 * Whether networks leave out most of the Internet, however they are spelt, cut into pieces or mapped from IPv4 to IPv6: of
 * private addresses they may have all, of public ones no more than one /8 of IPv4 and one /19 of IPv6.
 * @param networks addresses, each alone or with the length of its prefix
 */
export function areNarrow(networks: readonly string[]): boolean {
  const publicSpans = PRIVATE.reduce((spans, own) => spans.flatMap((span) => without(span, own)), united(networks))
  const ofIpv4 = sum(publicSpans.map((span) => sizeWithin(span, IPV4)))
  return ofIpv4 <= IPV4_MAX && sum(publicSpans.map(sizeOf)) - ofIpv4 <= IPV6_MAX
}

/** Whether an address is this machine's alone or one of a private network. Any other text is not. */
export function isPrivateAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const { first } = spanOf(address)
  return PRIVATE.some((own) => own.first <= first && first <= own.last)
}

/** What networks have together, each address once. */
function united(networks: readonly string[]): Span[] {
  const spans: Span[] = []
  for (const span of networks.map(spanOf).sort((one, other) => (one.first < other.first ? -1 : 1))) {
    const before = spans.at(-1)
    if (before === undefined || span.first > before.last) spans.push(span)
    else if (span.last > before.last) spans[spans.length - 1] = { first: before.first, last: span.last }
  }
  return spans
}

function without({ first, last }: Span, hole: Span): Span[] {
  if (hole.last < first || hole.first > last) return [{ first, last }]
  return [
    { first, last: hole.first - 1n },
    { first: hole.last + 1n, last },
  ].filter((span) => span.first <= span.last)
}

function sizeWithin(span: Span, { first, last }: Span): bigint {
  const [from, to] = [span.first > first ? span.first : first, span.last < last ? span.last : last]
  return from > to ? 0n : to - from + 1n
}

function sizeOf({ first, last }: Span): bigint {
  return last - first + 1n
}

function sum(sizes: readonly bigint[]): bigint {
  return sizes.reduce((total, size) => total + size, 0n)
}

function spanOf(network: string): Span {
  const [address = '', prefix] = network.split('/')
  const isIpv4 = isIP(address) === 4
  const length = prefix === undefined ? 128 : Number(prefix) + (isIpv4 ? 96 : 0)
  const size = 1n << BigInt(128 - length)
  const value = numberOf(isIpv4 ? `::ffff:${address}` : address.replace(/%.*$/, ''))
  const first = value - (value % size)
  return { first, last: first + size - 1n }
}

/** @param address of IPv6, in any spelling, which a URL reduces to groups of hexadecimal digits */
function numberOf(address: string): bigint {
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [left, right ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [
    string[],
    string[],
  ]
  const groups = [...before, ...Array(8 - before.length - after.length).fill('0'), ...after]
  return BigInt(`0x${groups.map((group) => String(group).padStart(4, '0')).join('')}`)
}
