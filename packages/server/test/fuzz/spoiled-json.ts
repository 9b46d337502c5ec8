import type { Chance } from './chance.ts'
import type { Schema } from './document.ts'
import { ODD_FORMATS, ODD_KEYS, ODD_NUMBERS, ODD_TEXTS } from './oddities.ts'

/** JSON that differs a little, or grossly, from what a schema takes. Whether it still is valid, others judge. */

/** A number as it is to be written: JSON's numbers are more than JavaScript's. */
class Written {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** As `JSON.stringify`, with numbers in any spelling. */
export function jsonText(value: unknown): string {
  if (value instanceof Written) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}:${jsonText(member)}`)
  return `{${members.join(',')}}`
}

/** The value with one place of it not as it was. */
export function spoil(value: unknown, schema: Schema, chance: Chance): unknown {
  const root = { value }
  const place = chance.pick(placesIn(root, 'value', schema))
  const change = chance.pick(changesOf(place))
  change(place, chance)
  return root.value
}

/** Where a value stands. */
interface Place {
  readonly holder: Record<string, unknown>
  readonly key: string
  readonly schema: Schema
}

type Change = (place: Place, chance: Chance) => void

function placesIn(holder: Record<string, unknown>, key: string, schema: Schema): Place[] {
  const value = holder[key]
  const isHolder = typeof value === 'object' && value !== null && !(value instanceof Written)
  const inner = isHolder ? (value as Record<string, unknown>) : {}
  const places = Object.keys(inner).flatMap((name) => placesIn(inner, name, schemaOf(schema, name)))
  return [{ holder, key, schema }, ...places]
}

function schemaOf({ properties, items, anyOf = [] }: Schema, name: string): Schema {
  return properties?.[name] ?? items ?? anyOf.map((schema) => schemaOf(schema, name)).find(({ type }) => type) ?? {}
}

function changesOf({ holder, key, schema }: Place): readonly Change[] {
  const value = holder[key]
  const choices: Change[] = [replaceByAnything, wrap, drop, rename, replaceByEdge]
  if (Array.isArray(value)) return [...choices, repeatItem]
  if (typeof value === 'object' && value !== null) return [...choices, addKey, addKey]
  if (typeof value === 'string') return [...choices, replaceByOddText, mixInOddText]
  return schema.type === 'integer' || schema.type === 'number' ? [...choices, replaceByOddNumber] : choices
}

const replaceByAnything: Change = ({ holder, key }, chance) => {
  holder[key] = chance.pick<() => unknown>([
    () => null,
    () => true,
    () => 0,
    () => '',
    () => [],
    () => ({}),
    () => textOf(holder[key]),
    () => new Written(chance.pick(ODD_NUMBERS)),
    () => chance.pick(ODD_TEXTS),
    () => Array.from({ length: 30 }, () => 1),
  ])()
}

/** An object's own `toString` may be one of the oddities, and its prototype none. */
function textOf(value: unknown): string {
  return typeof value === 'object' ? jsonText(value) : String(value)
}

const wrap: Change = ({ holder, key }, chance) => {
  const depth = chance.pick([1, 2, 14, 15, 16, 17, 100, 300])
  const inArray = chance.bool(0.5)
  for (let level = 0; level < depth; level += 1) holder[key] = inArray ? [holder[key]] : { a: holder[key] }
}

const drop: Change = ({ holder, key }) => {
  delete holder[key]
}

const rename: Change = ({ holder, key }, chance) => {
  const value = holder[key]
  delete holder[key]
  const spelling = chance.pick([key.toUpperCase(), ` ${key}`, `${key}\0`, `${key}[]`, key.slice(1), `\ufeff${key}`])
  define(holder, spelling, value)
}

const addKey: Change = ({ holder, key }, chance) => {
  define(holder[key] as object, chance.pick(ODD_KEYS), chance.pick<unknown>([1, null, 'x', { polluted: true }]))
}

const repeatItem: Change = ({ holder, key }, chance) => {
  const items = holder[key] as unknown[]
  const count = chance.pick([1, 2, 10, 1_100])
  for (let copy = 0; copy < count; copy += 1) items.push(items[0] ?? 1)
}

/** Just inside and just outside of what the schema takes. */
const replaceByEdge: Change = (place, chance) => {
  const { holder, key, schema } = place
  const edges = edgesOf(schema, holder[key])
  if (edges.length === 0) replaceByAnything(place, chance)
  else holder[key] = chance.pick(edges)
}

const replaceByOddText: Change = ({ holder, key }, chance) => {
  holder[key] = chance.pick(ODD_TEXTS)
}

const mixInOddText: Change = ({ holder, key }, chance) => {
  const text = holder[key] as string
  const at = chance.below(text.length + 1)
  holder[key] = text.slice(0, at) + chance.pick(ODD_TEXTS) + text.slice(at)
}

const replaceByOddNumber: Change = ({ holder, key }, chance) => {
  holder[key] = new Written(chance.pick(ODD_NUMBERS))
}

function edgesOf(
  { minimum, maximum, minLength = 0, maxLength, maxItems, format, ...schema }: Schema,
  value: unknown,
): unknown[] {
  const text = typeof value === 'string' && value !== '' ? value : 'x'
  const item = Array.isArray(value) ? value[0] : value
  const ofLength = (unit: string, length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
  return [
    ...[minimum, maximum].flatMap((edge) => (edge === undefined ? [] : [edge - 1, edge, edge + 1, edge + 0.5, -edge])),
    ...(maxLength === undefined
      ? []
      : [
          ...[minLength - 1, minLength, maxLength, maxLength + 1].map((length) => ofLength(text, Math.max(0, length))),
          ...[maxLength, maxLength + 1].map((length) => '💥'.repeat(length)),
        ]),
    ...(maxItems === undefined ? [] : [[], Array(maxItems).fill(item), Array(maxItems + 1).fill(item)]),
    ...(schema.enum ?? []).flatMap((word) => [word, `${word} `, String(word).toLowerCase()]),
    ...(format === undefined ? [] : ODD_FORMATS),
    ...(schema.anyOf ?? []).flatMap((choice) => edgesOf(choice, value)),
  ]
}

/** Defines what assigning would not: `__proto__` too. */
function define(holder: object, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
}
