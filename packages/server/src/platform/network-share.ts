import { isIP } from 'node:net'

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
