import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'
import type { Chance } from '../fuzz/chance.ts'
import { carrying, spellIpv4, spellIpv6 } from './spellings.ts'

/** A receiver's address as somebody who looks for a way inside may write it, and what its name resolves to meanwhile. */
export interface MadeAddress {
  readonly text: string
  /** At its registration, where it is a name; empty: it has no address. */
  readonly atRegistration: readonly string[]
  /** At its delivery: another answer, and never public addresses alone. */
  readonly atDelivery: readonly string[]
}

/** Makes one; the same chance makes the same. @param ports of the canaries */
export function makeAddress(chance: Chance, ports: readonly number[]): MadeAddress {
  const text = [
    spelled(chance, chance.bool(0.8) ? 'https://' : chance.pick(SCHEMES)),
    chance.bool(0.1) ? chance.pick(USERS) : '',
    makeHost(chance),
    makePort(chance, ports),
    chance.pick(PATHS),
  ].join('')
  const atDelivery = makeAnswer(chance)
  return {
    text: chance.bool(0.15) ? disturbed(chance, text) : text,
    atRegistration: chance.bool(0.7) ? PUBLIC : atDelivery,
    atDelivery,
  }
}

const SCHEMES = [
  ...['http://', 'HTTPS://', 'https:', 'https:/', 'https:///', 'https:\\\\', 'https:/\\', ' https://'],
  ...['ht\ttps://', 'https:\n//'],
  ...['//', '', 'ws://', 'wss://', 'ftp://', 'file://', 'gopher://', 'data:,', 'blob:https://', 'javascript:', 'unix:'],
]

const USERS = [
  ...['loja.example@', 'a:b@', '8.8.8.8@', '8.8.8.8:443@', '@', 'loja.example%40', 'loja.example#@', 'a\\@', ':@'],
]

const PATHS = [
  ...['/', '', '/hook', '/@8.8.8.8/', '?next=https://8.8.8.8/', '#@8.8.8.8/', '/..\\..', '\\@8.8.8.8'],
  ...['/%0d%0aHost:%20a'],
  ...['/\u202e', ';@8.8.8.8', '/.', '?', '#'],
]

/** Where name servers must not lead. */
const IPV4 = [
  ...['127.0.0.1', '127.0.0.1', '127.0.0.1', '127.1.2.3', '127.255.255.254', '0.0.0.0', '0.0.0.1', '10.0.0.1'],
  ...['172.16.0.1', '192.168.0.1', '100.64.0.1', '100.100.100.200', '169.254.169.254', '168.63.129.16'],
  ...['192.0.0.192', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
]

const IPV6 = [
  [0, 0, 0, 0, 0, 0, 0, 1],
  [0, 0, 0, 0, 0, 0, 0, 1],
  [0, 0, 0, 0, 0, 0, 0, 0],
  [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254],
  [0xfe80, 0, 0, 0, 0, 0, 0, 1],
  [0xfec0, 0, 0, 0, 0, 0, 0, 1],
  [0xff02, 0, 0, 0, 0, 0, 0, 1],
] as const

/** The addresses of this machine's own that nobody else may reach: canaries listen there, too. */
const OWN = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .filter(({ address, family }) => family === 'IPv4' && !isPublic(address))
  .map(({ address }) => address)

const INSIDE = [...IPV4, ...OWN].map((address) => address.split('.').map(Number))

const PUBLIC = ['93.184.216.34']

/** Whether another library than ours finds an address to be anybody's. */
export function isPublic(address: string): boolean {
  return ipaddr.isValid(address) && ipaddr.parse(address).range() === 'unicast'
}

const NAMES = [
  ...['loja.example', 'loja.example', 'loja.example', 'rebinding.example', 'localhost', 'LOCALHOST', 'localhost.'],
  ...['localhost.localdomain', 'loc\u00adalhost', 'ｌｏｃａｌｈｏｓｔ', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ', 'a.localhost', 'printer.local'],
  ...['db.internal'],
  ...['metadata.google.internal', 'ip6-localhost', 'host.docker.internal', '127.0.0.1.loja.example'],
  ...['127.0.0.1.nip.example'],
  ...['xn--lcalhost-m0a', 'lo%63alhost', '0', '0x7f', '.', '..', 'a..b', '*', '-', '[', '[]', '[::'],
  ...['127.0.0.1,8.8.8.8'],
  ...[
    '127.0.0.1:80:443',
    '8.8.8.8 127.0.0.1',
    '127.0.0.1%00.loja.example',
    '127.0.0.1%20',
    `${'a'.repeat(64)}.example`,
  ],
]

function makeHost(chance: Chance): string {
  const octets: readonly number[] = chance.pick(INSIDE)
  return chance.pick([
    () => spellIpv4(chance, octets),
    () => spellIpv4(chance, octets),
    () => spellIpv6(chance, carrying(chance, octets)),
    () => spellIpv6(chance, chance.pick(IPV6)),
    () => spelled(chance, chance.pick(NAMES)),
    () => `${chance.below(2 ** 30).toString(36)}.example`,
    () => `${chance.below(2 ** 30).toString(36)}.example`,
  ])()
}

function makePort(chance: Chance, ports: readonly number[]): string {
  const port = chance.pick(ports)
  if (chance.bool(0.7)) return `:${port}`
  return chance.pick([
    `:0${port}`,
    '',
    '',
    ':',
    ':443',
    ':80',
    ':0',
    ':65536',
    `:${port + 65_536}`,
    `:${port}@`,
    `:+${port}`,
  ])
}

/** What a name server says: at least one address that is not public, or what is no address at all. */
function makeAnswer(chance: Chance): string[] {
  const octets: readonly number[] = chance.pick(INSIDE)
  const carried = carrying(chance, octets)
    .map((group) => group.toString(16))
    .join(':')
  const inside = chance.pick([
    ...[octets.join('.'), octets.join('.'), octets.join('.'), carried, '::1', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1'],
    ...['::FFFF:7F00:1', 'fe80::1%lo', 'localhost', '127.1', '0x7f.1', '2130706433', '127.0.0.1\n', ' 127.0.0.1', ''],
  ])
  const beside = chance.pick([[], [], PUBLIC, [...PUBLIC, '2606:4700:4700::1111']])
  return chance.bool(0.5) ? [inside, ...beside] : [...beside, inside]
}

/** In another case here and there. */
function spelled(chance: Chance, text: string): string {
  return chance.bool(0.9)
    ? text
    : text.replace(/[a-z]/g, (letter) => (chance.bool(0.5) ? letter.toUpperCase() : letter))
}

const DISTURBING = [
  ...['\0', '\t', '\n', '\r', ' ', '@', '#', '\\', '/', '?', ':', '.', '%', '[', ']', '%00', '%2f', '\u200d', '。'],
  ...['０'],
]

/** With one character more, less or twice. */
function disturbed(chance: Chance, text: string): string {
  const index = chance.below(text.length + 1)
  const [before, after] = [text.slice(0, index), text.slice(index)]
  return chance.pick([
    before + chance.pick(DISTURBING) + after,
    before + after.slice(1),
    before + after.slice(0, 1) + after,
  ])
}
