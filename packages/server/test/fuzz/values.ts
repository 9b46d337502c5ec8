import { buildStaticBrCode } from '@pixgate/brcode'
import { wallNow } from '../support/wall-clock.ts'
import type { Chance } from './chance.ts'
import { type Corpus, PAID_CASH_IN, subjectOf } from './corpus.ts'
import type { Operation, Schema } from './document.ts'

/** Where values come from. */
export interface Source {
  readonly chance: Chance
  readonly corpus: Corpus
  readonly operation: Operation
  /** Address of a receiver of notifications, without a path. */
  readonly receiverUrl: string
}

/** A value that the schema takes, and the words around it too. `name` is the property's. */
export function validValue(schema: Schema, source: Source, name = ''): unknown {
  const { chance } = source
  const known = KNOWN[name]?.(source)
  if (known !== undefined) return known
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return chance.pick(schema.enum)
  if (schema.anyOf) return validValue(chance.pick(schema.anyOf), source, name)
  switch (schema.type) {
    case 'object':
      return validObject(schema, source)
    case 'array':
      return validArray(schema, source)
    case 'string':
      return validText(schema, chance)
    case 'integer':
    case 'number':
      return wholeNumber(schema.minimum ?? 0, schema.maximum ?? 100, chance)
    case 'boolean':
      return chance.bool(0.5)
    default:
      return null
  }
}

/** Chooses which optional properties are there. */
export function validObject({ properties = {}, required = [] }: Schema, source: Source): Record<string, unknown> {
  const chosen = Object.entries(properties).filter(([name]) => source.chance.bool(0.4) || required.includes(name))
  const value = Object.fromEntries(chosen.map(([name, schema]) => [name, validValue(schema, source, name)]))
  if ('pixKeyType' in properties) return { ...value, ...source.chance.pick(PIX_KEYS) }
  if ('pixCode' in properties) return { ...withoutValue(value), ...payableCode(source) }
  return inOrder(value)
}

/** A span that ends before it begins is none. */
function inOrder(value: Record<string, unknown>): Record<string, unknown> {
  const { since, until } = value
  if (typeof since !== 'string' || typeof until !== 'string' || since <= until) return value
  return { ...value, since: until, until: since }
}

/** Keys with their types. */
const PIX_KEYS = [
  { pixKey: '529.982.247-25', pixKeyType: 'cpf' },
  { pixKey: '12ABC34501DE35', pixKeyType: 'CNPJ' },
  { pixKey: 'Padaria@example.com', pixKeyType: 'email' },
  { pixKey: '(11) 98765-4321', pixKeyType: 'phone' },
  { pixKey: '123e4567-e89b-12d3-a456-426614174000', pixKeyType: 'random' },
]

const BAKERY = { pixKey: 'padaria@example.com', merchantName: 'Padaria Central', merchantCity: 'Recife' }
const PRICED = buildStaticBrCode({ ...BAKERY, amountCents: 150n })
const STATIC_CODES = [
  { pixCode: buildStaticBrCode(BAKERY), value: 0.01 },
  { pixCode: PRICED, value: 1.5 },
  { pixCode: PRICED },
]

/** A code, and the value that must be given with it. */
function payableCode({ chance, corpus }: Source): object {
  const dynamic = corpus.recall('pixCode', chance)
  return chance.pick([...STATIC_CODES, ...(dynamic === undefined ? [] : [{ pixCode: dynamic }])])
}

function withoutValue({ value: _, ...rest }: Record<string, unknown>): object {
  return rest
}

function validArray({ items = {}, minItems = 0, maxItems = 5 }: Schema, source: Source): unknown[] {
  const count = minItems + source.chance.below(maxItems - minItems + 1)
  return [...new Set(Array.from({ length: count }, () => validValue(items, source)))]
}

const REFERENCE_CHARACTERS = [...'ABCXYZabcxyz0189._:-']
const LETTERS = [...'ABCXYZabcxyz']
const TEXT_CHARACTERS = [
  ...'ABCxyz 019áçÃñßøИλ中文字あ한ﷺ€«»…‰‱💥🧾é̂\u200b\u202e\u2066\ufeff\u00a0\u2028"\'\\/<>&%$#@!;=`{}[]()|~^',
]

function validText({ minLength = 0, maxLength = 64, pattern, format }: Schema, chance: Chance): string {
  if (format === 'uuid') return uuidOf(chance)
  if (format === 'date') return chance.pick(DAYS)
  if (format === 'date-time') return new Date(wallNow() - chance.below(1_000_000)).toISOString()
  const length = chance.pick([minLength, maxLength, minLength + chance.below(Math.min(maxLength - minLength, 30) + 1)])
  const written = (characters: readonly string[]) =>
    Array.from({ length }, () => chance.pick(characters))
      .join('')
      .slice(0, length)
      // The first half of a character beyond the basic plane.
      .replace(/[\ud800-\udbff]$/, 'x')
  const isFine = (text: string) => pattern === undefined || new RegExp(pattern, 'u').test(text)
  return [written(TEXT_CHARACTERS), written(REFERENCE_CHARACTERS)].find(isFine) ?? written(LETTERS)
}

function wholeNumber(low: number, high: number, chance: Chance): number {
  return chance.pick([low, high, low + chance.below(Math.min(high - low, 100) + 1), low + chance.below(high - low + 1)])
}

/** A random UUID. */
export function uuidOf(chance: Chance): string {
  const hex = Array.from({ length: 32 }, () => chance.below(16).toString(16)).join('')
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-7$3-8$4-$5')
}

const DAYS = ['1900-01-01', '1970-01-01', '2024-02-29', '2026-12-31', '2099-12-31']

const DOCUMENTS = ['52998224725', '529.982.247-25', '11222333000181', '11.222.333/0001-81', '12abc34501de35']

const NETWORKS = ['203.0.113.0/24', '198.51.100.7', '2001:db8::/32', '::1', '0.0.0.0/0']

/** What the document says in words only: how a property's value has to look to mean something. */
const KNOWN: Readonly<Record<string, (source: Source) => unknown>> = {
  value: ({ chance, operation }) => reais(operation.id === 'createCashOut' ? 0.05 : 0.25, chance),
  refundValue: ({ chance }) => reais(0.05, chance),
  document: ({ chance }) => chance.pick(DOCUMENTS),
  url: ({ chance, receiverUrl }) => `${receiverUrl}/${chance.below(1_000_000)}`,
  cidrs: ({ chance }) => [chance.pick(NETWORKS)],
  expiresAt: ({ chance }) => new Date(wallNow() + 3_600_000 + chance.below(1_000_000)).toISOString(),
  start_date: ({ chance }) => chance.pick(DAYS.slice(0, 3)),
  paid_from: ({ chance }) => chance.pick(DAYS.slice(0, 3)),
  end_date: ({ chance }) => chance.pick(DAYS.slice(2)),
  paid_to: ({ chance }) => chance.pick(DAYS.slice(2)),
  from: ({ chance }) => chance.pick(['2026-12-01', '2026-12-31']),
  to: ({ chance }) => chance.pick(['2026-12-31', '2027-01-31']),
  cursor: ({ chance, corpus, operation }) => corpus.recall(`cursor of ${subjectOf(operation.path)}`, chance),
  end_to_end_id: ({ chance, corpus }) => corpus.recall('endToEndId', chance),
  external_id: ({ chance, corpus }) => corpus.recall('externalId', chance),
  cash_in_id: ({ chance, corpus }) => corpus.recall(PAID_CASH_IN, chance),
  externalId: ({ chance, corpus, operation }) => {
    const fresh = `fuzz-${chance.below(2 ** 32)}-${chance.below(2 ** 32)}`
    const isEvent = operation.credential === 'partnerSignature'
    const subjects = [subjectOf(operation.path), 'refund-in'].map((subject) => `id of ${subject}`)
    const used = corpus.recall(isEvent ? chance.pick(subjects) : 'externalId', chance)
    return chance.bool(isEvent ? 0.8 : 0.1) ? used : fresh
  },
  transactionId: ({ chance, corpus }) => corpus.recall(chance.pick(['providerTransactionId', 'transactionId']), chance),
  returnId: ({ chance, corpus }) => (chance.bool(0.3) ? corpus.recall('returnId', chance) : undefined),
  occurredAt: ({ chance }) => new Date(wallNow() - chance.below(100_000)).toISOString(),
  status: ({ chance, operation }) =>
    operation.credential === 'partnerSignature' ? chance.pick(STATUS_WORDS) : undefined,
}

/** Small, so that many can be paid, or the largest there is. */
function reais(largest: number, chance: Chance): number {
  return (chance.bool(largest) ? 999_999_999_999 : 1 + chance.below(chance.pick([2, 100, 10_000]))) / 100
}

const STATUS_WORDS = ['CONFIRMED', 'PAID', 'FAILED', 'REMOVIDA_PELO_PSP', 'PENDING', 'SOMETHING_NEW']
