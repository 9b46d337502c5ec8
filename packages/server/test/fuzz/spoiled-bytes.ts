import { gzipSync } from 'node:zlib'
import type { Chance } from './chance.ts'

/** From JSON as it usually is written to bytes that are not what is usually sent. */
export type Spoiling = (json: string, chance: Chance) => Buffer

/** The same value in other words. */
export const RESPELLINGS: readonly Spoiling[] = [
  (json) => Buffer.from(` \t\r\n${json}\n `),
  (json) => Buffer.from(json.replaceAll(/"\w+":/g, escaped)),
  (json) => Buffer.from(json.replaceAll(/[\u0080-\uffff]/g, escaped)),
]

/** As long as is allowed, or a little or much longer. */
export const LENGTHENINGS: readonly Spoiling[] = [65_535, 65_536, 65_537, 70_000, 200_000].map(
  (bytes) => (json) =>
    Buffer.concat([Buffer.from(json), Buffer.alloc(Math.max(0, bytes - Buffer.byteLength(json)), ' ')]),
)

const NO_UTF8 = ['ff', 'c080', 'eda080', 'f4908080', 'c3'].map((hex) => Buffer.from(hex, 'hex'))

/** Mostly no JSON, or JSON that two readers might read differently. */
export const SPOILINGS: readonly Spoiling[] = [
  (json, chance) => Buffer.from(json.slice(0, 1 + chance.below(json.length))),
  (json, chance) => Buffer.from(json + chance.pick(['x', '{}', '\0', ',', '}', '//', '\u00a0', json])),
  (json, chance) => Buffer.concat([Buffer.from(json.slice(0, 2)), chance.pick(NO_UTF8), Buffer.from(json.slice(2))]),
  (json) => Buffer.from(json, 'utf16le'),
  (json) => gzipSync(json),
  (json) => Buffer.from(`\ufeff${json}`),
  (json) => Buffer.from(json.replaceAll('"', "'")),
  (json) => Buffer.from(json.replace(/\}$/, ',}')),
  (json) => Buffer.from(json.replace(/^\{/, '{/* */')),
  // The same key twice, spelled the same or not.
  (json) => Buffer.from(json.replace(/^\{("\w+":)/, '{$1null,$1')),
  (json) => Buffer.from(json.replace(/\{("\w+":)([^,}]+)/, (all, key, value) => `${all},${escaped(key)}${value}`)),
  (json) => Buffer.from(json.replace(/^\{/, '{"__proto__":{"polluted":true},')),
  (json) => Buffer.from(json.replace(/^\{/, '{"constructor":{"prototype":{"polluted":true}},')),
  () => Buffer.from('['.repeat(30_000)),
  () => Buffer.from('{"a":'.repeat(10_000)),
  () => Buffer.from(`[${'1,'.repeat(30_000)}1]`),
  () => Buffer.from(' '),
  () => Buffer.from('null'),
  () => Buffer.from('"'),
  () => Buffer.from('transaction[value]=1&transaction[externalId]=x'),
]

function escaped(text: string): string {
  return text.replaceAll(/[^"\\:]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
