import { isUtf8 } from 'node:buffer'
import type { Chance } from './chance.ts'
import type { Operation } from './document.ts'
import { jsonText } from './spoiled-json.ts'

/** A header as it is sent. */
export type Header = readonly [name: string, value: string]

/** What can be wrong with a request. An address is wrong where its escapes cannot be decoded. */
export type Flaw = 'head size' | 'transport' | 'address' | 'path' | 'method' | 'credentials' | 'size' | 'shape' | 'id'

/** A request that is still being written. What changes it also says what that breaks, where nobody can see it later. */
export interface Draft {
  readonly operation: Operation
  method: string
  /** With `{name}` for its parameters. */
  path: string
  /** By name, as they are sent. */
  parameters: Record<string, string>
  query: readonly QueryItem[]
  correlationIds: readonly string[]
  headers: readonly Header[]
  contentTypes: readonly string[]
  /** Makes the headers that prove who sends these bytes. */
  prove: (body: Buffer) => readonly Header[]
  /** What is sent as JSON; `undefined` where there is no body. */
  value: unknown
  /** From the text of that JSON to the bytes that are sent. */
  encode: (json: string) => Buffer
  isChunked: boolean
  flaws: Set<Flaw>
  /** What is wrong with the last of `parameters`. */
  parameterFlaw: Flaw | undefined
  /** Whether it was touched where only the document can tell if it still is valid, and maybe not all of that. */
  isSpoiled: boolean
}

/** A parameter of a query; `raw` where it is not written as names and values usually are. */
export interface QueryItem {
  readonly name: string
  readonly value: string
  readonly raw?: string
}

/** A request, ready to be sent, and what has to become of it. */
export interface FuzzedRequest {
  readonly method: string
  readonly bytes: Buffer
  /** The only statuses it may get; `undefined`: any that is documented. */
  readonly statuses: readonly number[] | undefined
  /** Whether it must not succeed. */
  readonly isInvalid: boolean
  /** What has to be echoed; `undefined`: an id of the service's own. */
  readonly correlationId: string | undefined
}

/** Writes a request down, and finds out what is wrong with it. */
export function finish(draft: Draft, chance: Chance): FuzzedRequest {
  const { method, operation, correlationIds } = draft
  const body = draft.value === undefined ? Buffer.alloc(0) : draft.encode(jsonText(draft.value))
  const { flaws, isOpen } = judge(draft, body)
  const headers: Header[] = [
    ['Host', 'gateway.example'],
    ...correlationIds.map((id) => ['X-Correlation-ID', id] as const),
    ...draft.contentTypes.map((type) => ['Content-Type', type] as const),
    ...draft.headers,
    ...draft.prove(body),
    ...framing(draft, body),
  ]
  const head = `${method} ${targetOf(draft)} HTTP/1.1\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
  return {
    method,
    bytes: Buffer.concat([Buffer.from(head, 'latin1'), draft.isChunked ? chunked(body, chance) : body]),
    statuses: statusesFor(operation, flaws, isOpen),
    isInvalid: flaws.size > 0,
    correlationId: flaws.has('transport') || flaws.has('head size') ? undefined : correlationIds[0],
  }
}

function targetOf({ path, parameters, query }: Draft): string {
  const segments = path.replaceAll(/\{(\w+)\}/g, (_, name) => parameters[name] ?? '')
  const text = query.map(({ name, value, raw }) => raw ?? `${encode(name)}=${encode(value)}`).join('&')
  return query.length === 0 ? segments : `${segments}?${text}`
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

function framing({ isChunked, method }: Draft, body: Buffer): readonly Header[] {
  if (isChunked) return [['Transfer-Encoding', 'chunked']]
  return body.length > 0 || method === 'POST' || method === 'PUT' ? [['Content-Length', String(body.length)]] : []
}

function chunked(body: Buffer, chance: Chance): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < body.length; ) {
    const part = body.subarray(at, at + 1 + chance.below(chance.pick([1, 100, 100_000])))
    parts.push(Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n'))
    at += part.length
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

interface Judgement {
  readonly flaws: ReadonlySet<Flaw>
  /** Whether its shape may be wrong or right. */
  readonly isOpen: boolean
}

const BODY_MAX_BYTES = 65_536

function judge(draft: Draft, body: Buffer): Judgement {
  const { operation, query, contentTypes } = draft
  const flaws = new Set(draft.flaws)
  if (draft.parameterFlaw) flaws.add(draft.parameterFlaw)
  const isSigned = operation.credential === 'partnerSignature'
  if (operation.body && body.length > BODY_MAX_BYTES) flaws.add('size')
  // Whatever the bank signed is taken.
  if (isSigned) return { flaws, isOpen: query.length > 0 }

  const isRaw = query.some(({ raw }) => raw !== undefined)
  const hasQuery = Object.keys(operation.query).length > 0
  if (hasQuery && !isRaw && !isValidQuery(operation, query)) flaws.add('shape')
  if (operation.body && !isValidBody(operation.body, body, contentTypes)) flaws.add('shape')
  return { flaws, isOpen: isRaw || draft.isSpoiled || contentTypes.length > 1 }
}

function isValidQuery(operation: Operation, query: readonly QueryItem[]): boolean {
  const names = new Set(query.map(({ name }) => name))
  const values = query.map(({ name, value }) => [name, typed(value, operation.query[name]?.type)])
  return names.size === query.length && operation.isValidQuery(Object.fromEntries(values))
}

/** A whole number has one spelling. */
function typed(text: string, type: string | undefined): string | number {
  return type === 'integer' && /^(?:0|-?[1-9]\d{0,14})$/.test(text) ? Number(text) : text
}

const NESTING_MAX = 16

function isValidBody(
  { isValid }: NonNullable<Operation['body']>,
  body: Buffer,
  [contentType = '']: readonly string[],
): boolean {
  if (body.length === 0) return isValid({})
  if (!/^application\/json\s*(?:;|$)/i.test(contentType) || !isUtf8(body)) return false
  try {
    const value: unknown = JSON.parse(body.toString())
    return nestingOf(value) <= NESTING_MAX && keysOf(value) === writtenKeysIn(body.toString()) && isValid(value)
  } catch {
    return false
  }
}

function nestingOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(nestingOf))
}

function keysOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const members = Object.values(value).map(keysOf)
  return members.reduce((sum, keys) => sum + keys, Array.isArray(value) ? 0 : members.length)
}

function writtenKeysIn(json: string): number {
  return [...json.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined).length
}

/** In which order flaws are judged, and what each is answered with. The bank's bytes are read before its proof. */
const ANSWERS: readonly (readonly [flaw: Flaw, status: number])[] = [
  ['transport', 400],
  ['address', 400],
  ['path', 404],
  ['method', 405],
  ['credentials', 401],
  ['size', 413],
]

const ANSWERS_WHEN_SHAPE_IS_KNOWN: readonly (readonly [flaw: Flaw, status: number])[] = [
  ['shape', 400],
  ['id', 404],
]

const REFUSALS_OF_FLAWS = [400, 401, 405, 413, 429]

function statusesFor(operation: Operation, flaws: ReadonlySet<Flaw>, isOpen: boolean): number[] | undefined {
  if (flaws.has('head size')) return [431]
  if (flaws.has('address') && (flaws.has('path') || flaws.has('method'))) return [400, 404, 405]
  const answers = isOpen ? ANSWERS : [...ANSWERS, ...ANSWERS_WHEN_SHAPE_IS_KNOWN]
  const [, status] = answers.find(([flaw]) => flaws.has(flaw)) ?? []
  // Who guesses administrative tokens is slowed down.
  if (status === 401 && operation.credential === 'adminToken') return [401, 429]
  if (status === 401 && operation.credential === 'partnerSignature' && flaws.has('size')) return [413]
  if (status !== undefined) return [status]
  if (isOpen) return undefined
  return [...operation.answers.keys()].filter((candidate) => candidate < 500 && !REFUSALS_OF_FLAWS.includes(candidate))
}
