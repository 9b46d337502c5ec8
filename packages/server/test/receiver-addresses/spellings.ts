import type { Chance } from '../fuzz/chance.ts'

/** Digits and dots that a URL takes for the plain ones. */
const DIGITS = ['0123456789', '０１２３４５６７８９', '𝟎𝟏𝟐𝟑𝟒𝟓𝟔𝟕𝟖𝟗', '⁰¹²³⁴⁵⁶⁷⁸⁹', '₀₁₂₃₄₅₆₇₈₉']
const DOTS = ['.', '。', '．', '｡', '%2e', '%2E']

/** One of the ways in which somebody may write an IPv4 address. */
export function spellIpv4(chance: Chance, octets: readonly number[]): string {
  const number = octets.reduce((value, octet) => value * 256 + octet, 0)
  const parts = chance.pick([1, 2, 3, 4, 4, 4])
  const last = number % 256 ** (5 - parts)
  const numbers = [...octets.slice(0, parts - 1), last].map((part) => spellNumber(chance, part))
  const dot = chance.bool(0.8) ? '.' : chance.pick(DOTS)
  const text = numbers.join(dot) + (chance.bool(0.1) ? dot : '')
  const digits = chance.bool(0.9) ? DIGITS[0] : chance.pick(DIGITS)
  return text.replace(/\d/g, (digit) => [...(digits ?? '')][Number(digit)] ?? digit)
}

function spellNumber(chance: Chance, number: number): string {
  const hexadecimal = number.toString(16)
  const spellings = [
    `${number}`,
    `0x${hexadecimal}`,
    `0X${hexadecimal.toUpperCase()}`,
    `0x${'0'.repeat(chance.below(9))}${hexadecimal}`,
    `0${number.toString(8)}`,
    `${'0'.repeat(1 + chance.below(9))}${number.toString(8)}`,
  ]
  // Past the end of what a part may hold, for readers that let it wrap.
  return chance.bool(0.03) ? `${number + chance.pick([256, 512, 2 ** 32])}` : chance.pick(spellings)
}

/** One of the ways in which somebody may write an IPv6 address, in brackets. */
export function spellIpv6(chance: Chance, groups: readonly number[]): string {
  const digits = (group: number) => group.toString(16).padStart(chance.pick([1, 1, 4]), '0')
  const whole = groups.map(digits).join(':')
  const dotted = groups.slice(6).flatMap((group) => [group >> 8, group & 255])
  const withIpv4 = `${groups.slice(0, 6).map(digits).join(':')}:${dotted.join('.')}`
  const text = shortened(chance, chance.bool(0.3) ? withIpv4 : whole)
  const zone = chance.bool(0.05) ? chance.pick(['%lo', '%25lo', '%eth0', '%1']) : ''
  return `[${chance.bool(0.3) ? text.toUpperCase() : text}${zone}]`
}

/** Its first run of zeros as `::`, sometimes. */
function shortened(chance: Chance, text: string): string {
  return chance.bool(0.7) ? text.replace(/(^|:)0+(:0+)+(?=:|$)/, '::').replace(/:{3,}/, '::') : text
}

/** IPv6 addresses that carry an IPv4 address, or look as if they did. */
export function carrying(chance: Chance, [a = 0, b = 0, c = 0, d = 0]: readonly number[]): readonly number[] {
  const [high, low] = [(a << 8) | b, (c << 8) | d]
  return chance.pick([
    [0, 0, 0, 0, 0, 0xffff, high, low],
    [0, 0, 0, 0, 0, 0, high, low],
    [0, 0, 0, 0, 0xffff, 0, high, low],
    [0x64, 0xff9b, 0, 0, 0, 0, high, low],
    [0x64, 0xff9b, 1, 0, 0, 0, high, low],
    [0x2002, high, low, 0, 0, 0, 0, 1],
    [0x2001, 0, 0x4136, 0xe378, 0x8000, 0x63bf, high ^ 0xffff, low ^ 0xffff],
    [0xfe80, 0, 0, 0, 0, 0x5efe, high, low],
  ])
}
