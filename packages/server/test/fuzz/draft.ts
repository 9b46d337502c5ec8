import type { Chance } from './chance.ts'
import type { Proof } from './credentials.ts'
import type { Operation } from './document.ts'
import { jsonText } from './spoiled-json.ts'
import { type Verdict, verdictOn } from './verdict.ts'

/** A header as it is sent. */
export type Header = readonly [name: string, value: string]

/** What can be wrong with a request: too long a head, escapes of its address that cannot be decoded, and so on. */
export type Flaw = 'head' | 'transport' | 'address' | 'path' | 'method' | 'credentials' | 'size' | 'shape' | 'id'

/** Where a flaw is known by who made it. Those of the body and of the query are found out later. */
export type FlawedPart = 'headers' | 'path' | 'parameter' | 'method' | 'proof' | 'idempotency key'

/** A request that is still being written. */
export interface Draft {
  readonly operation: Operation
  method: string
  /** With `{name}` for its parameters. */
  path: string
  /** By name, as they are sent. */
  parameters: Readonly<Record<string, string>>
  query: readonly QueryItem[]
  correlationIds: readonly string[]
  idempotencyKeys: readonly string[]
  contentTypes: readonly string[]
  headers: readonly Header[]
  prove: Proof
  /** What is sent as JSON; `undefined` where there is no body. */
  value: unknown
  /** From the text of that JSON to the bytes that are sent. */
  encode: (json: string) => Buffer
  isChunked: boolean
  readonly flaws: Map<FlawedPart, Flaw>
  /** Whether a value was changed so that it may be right by the document and wrong by the words around it. */
  isSpoiled: boolean
}

/** A parameter of a query; `raw` where it is not written as names and values usually are. */
export interface QueryItem {
  readonly name: string
  readonly value: string
  readonly raw?: string
}

/** A request, ready to be sent, and what has to become of it. */
export interface FuzzedRequest extends Verdict {
  readonly method: string
  readonly bytes: Buffer
  /** What has to be echoed; `undefined`: an id of the service's own. */
  readonly correlationId: string | undefined
}

/** More than a server reads before it knows what is asked. */
const HEAD_MAX_BYTES = 16_384

/** Writes a request down. */
export function finish(draft: Draft, chance: Chance): FuzzedRequest {
  const { method, correlationIds, flaws, isChunked } = draft
  const body = draft.value === undefined ? Buffer.alloc(0) : draft.encode(jsonText(draft.value))
  const headers: Header[] = [
    ['Host', 'gateway.example'],
    ...named('X-Correlation-ID', correlationIds),
    ...named('Content-Type', draft.contentTypes),
    ...named('Idempotency-Key', draft.idempotencyKeys),
    ...draft.headers,
    ...draft.prove(body),
    ...framing(draft, body),
  ]
  const lines = [`${method} ${targetOf(draft)} HTTP/1.1`, ...headers.map(([name, value]) => `${name}: ${value}`)]
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  if (head.length > HEAD_MAX_BYTES) flaws.set('headers', 'head')
  return {
    ...verdictOn(draft, body),
    method,
    bytes: Buffer.concat([head, isChunked ? chunked(body, chance) : body]),
    correlationId: flaws.has('headers') ? undefined : echoOf(correlationIds.join(', ')),
  }
}

/** What comes back of a correlation id; `undefined`: another one. */
function echoOf(correlationId: string): string | undefined {
  return /^[ -~]{1,256}$/.test(correlationId) ? correlationId : undefined
}

function named(name: string, values: readonly string[]): readonly Header[] {
  return values.map((value) => [name, value])
}

function targetOf({ path, parameters, query }: Draft): string {
  const segments = path.replaceAll(/\{(\w+)\}/g, (_, name) => parameters[name] ?? '')
  const items = query.map(({ name, value, raw }) => raw ?? `${encoded(name)}=${encoded(value)}`)
  return items.length === 0 ? segments : `${segments}?${items.join('&')}`
}

/** Half a surrogate pair has no UTF-8: it arrives as U+FFFD. */
function encoded(text: string): string {
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
