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
  // A mapped network wider than all of IPv4 can only match IPv4.
  const length = isMapped ? Math.max(0, bits - MAPPED_BITS) : bits
  list.addSubnet(address, length, familyOf(address))
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

/** Addresses from `first` to `last`, inclusive; IPv4 as mapped into IPv6. */
interface Span {
  readonly first: bigint
  readonly last: bigint
}

/** Maximum of public addresses in a list: one /8 of IPv4, one /19 of IPv6. */
const IPV4_MAX = 1n << 24n
const IPV6_MAX = 1n << 109n

const IPV4 = spanOf('0.0.0.0/0')

/** Private networks, which may be listed whole. */
const PRIVATE = ['10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.168.0.0/16']
  .concat(['::1', 'fc00::/7', 'fe80::/10'])
  .map(spanOf)

/**
 * Returns whether networks leave out most of the Internet, however they are spelt, split, or mapped from IPv4 to IPv6.
 * Private addresses are unlimited; public ones are limited to one /8 of IPv4 and one /19 of IPv6.
 * @param networks addresses, each with or without a prefix length
 */
export function areNarrow(networks: readonly string[]): boolean {
  const publicSpans = PRIVATE.reduce((spans, own) => spans.flatMap((span) => without(span, own)), united(networks))
  const ofIpv4 = sum(publicSpans.map((span) => sizeWithin(span, IPV4)))
  return ofIpv4 <= IPV4_MAX && sum(publicSpans.map(sizeOf)) - ofIpv4 <= IPV6_MAX
}

export function isPrivateAddress(address: string): boolean {
  if (isIP(address) === 0) return false
  const { first } = spanOf(address)
  return PRIVATE.some((own) => own.first <= first && first <= own.last)
}

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

/** @param address IPv6 in any spelling; a URL reduces it to hexadecimal groups */
function numberOf(address: string): bigint {
  const [left = '', right] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const [before, after] = [left, right ?? ''].map((part) => (part === '' ? [] : part.split(':'))) as [
    string[],
    string[],
  ]
  const groups = [...before, ...Array(8 - before.length - after.length).fill('0'), ...after]
  return BigInt(`0x${groups.map((group) => String(group).padStart(4, '0')).join('')}`)
}
