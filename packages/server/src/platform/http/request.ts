import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { CORRELATION_ID, type FieldError, IDEMPOTENCY_KEY, limits, patternFaults, Refusal } from '@pixgate/spec'
import { Ajv, type ErrorObject } from 'ajv'
import { type TSchema, Type } from 'typebox'
import { type Ids, isUuid } from '../ids.ts'
import { nearestName } from '../variables.ts'

/**
 * Formats of our schemas. Text formats are strict: a day exists in the calendar, an instant has an offset. `int64`
 * tells client generators the width; the schema's bounds limit the value.
 */
export const formats = {
  uuid: isUuid,
  date: isDay,
  'date-time': isInstant,
  'day-or-instant': (text: string) => isDay(text) || isInstant(text),
  int64: true,
} as const

/** PostgreSQL has no year 0. */
const DAY = /^(?!0000)\d{4}-\d{2}-\d{2}$/
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

function isDay(text: string): boolean {
  if (!DAY.test(text)) return false
  const midnight = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text)
}

function isInstant(text: string): boolean {
  return text[10] === 'T' && isDay(text.slice(0, 10)) && TIME.test(text.slice(11))
}

export type Validator = (value: unknown) => readonly FieldError[]

/**
 * Nothing is coerced, removed or filled in. All faults are reported, which is safe because {@link jsonFault} bounds the
 * input. Patterns also run on texts that are too long.
 * @source rules#http.7, rules#http.18
 */
const ajv = new Ajv({
  strict: true,
  allErrors: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  // Gives errors their schema, for the list of known names.
  verbose: true,
  formats,
})

/** Schema of an endpoint's part that declares nothing. @source rules#http.7 */
export const NOTHING: TSchema = Type.Object({}, { additionalProperties: false })

/**
 * Compiles a schema.
 * @param noun word for its properties
 * @throws Error when the schema is invalid
 */
export function compileValidator(schema: TSchema, noun: Noun = 'field'): Validator {
  const validate = ajv.compile(schema)
  return (value) => (validate(value) ? [] : fieldErrors(validate.errors ?? [], noun))
}

/** @throws Refusal `validation_error` for the first fault, with a list of all */
export function refuseFaults(fields: readonly FieldError[]): void {
  const [first] = fields
  if (first) throw new Refusal('validation_error', { message: first.message, fields })
}

export function invalidField(field: string, code: string, message: string): Refusal {
  return new Refusal('validation_error', { message, fields: [{ field, code, message }] })
}

export type Noun = 'field' | 'parameter'

const MAX_FIELDS = 20

const MAX_KEY_LENGTH = 64

/**
 * Ajv's errors for clients: one fault per field, the most basic one, with `field` such as `transaction.value` or
 * `events[0]`.
 * @source rules#http.1
 */
function fieldErrors(found: readonly ErrorObject[], noun: Noun): readonly FieldError[] {
  const byField = new Map<string, FieldError>()
  for (const error of found) {
    if (isUnionNoise(error)) continue
    const field = fieldOf(error)
    if (byField.size === MAX_FIELDS) break
    if (!byField.has(field)) byField.set(field, { field, ...describe(error, found, field, noun) })
  }
  return [...byField.values()]
}

/** A nullable value yields two more errors: not null, and not the union. */
function isUnionNoise(error: ErrorObject): boolean {
  return error.keyword === 'anyOf' || (error.keyword === 'type' && error.params.type === 'null')
}

function fieldOf({ instancePath, keyword, params }: ErrorObject): string {
  const path = instancePath
    .slice(1)
    .split('/')
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((field, segment) => (/^\d+$/.test(segment) ? `${field}[${segment}]` : join(field, segment)), '')
  if (keyword === 'required') return join(path, params.missingProperty)
  if (keyword === 'additionalProperties') return join(path, params.additionalProperty.slice(0, MAX_KEY_LENGTH))
  return path
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}

function describe(
  error: ErrorObject,
  found: readonly ErrorObject[],
  field: string,
  noun: Noun,
): Omit<FieldError, 'field'> {
  const { params } = error
  const name = field === '' ? 'the body' : field
  switch (error.keyword) {
    case 'required':
      return { code: 'required', message: `${name} is required` }
    case 'additionalProperties':
      return { code: 'unknown_field', message: `${name} is not a known ${noun}; ${knownNames(error, field)}` }
    case 'type':
      return { code: 'type', message: `${name} must be ${TYPES[params.type] ?? params.type}` }
    case 'minimum':
      return { code: 'out_of_range', message: `${name} must be at least ${params.limit}` }
    case 'maximum':
      return { code: 'out_of_range', message: `${name} must be at most ${params.limit}` }
    case 'minLength':
      return { code: 'too_short', message: `${name} must have at least ${counted(params.limit, 'character')}` }
    case 'maxLength':
      return { code: 'too_long', message: `${name} must have at most ${counted(params.limit, 'character')}` }
    case 'minItems':
      return { code: 'too_short', message: `${name} must have at least ${counted(params.limit, 'item')}` }
    case 'maxItems':
      return { code: 'too_long', message: `${name} must have at most ${counted(params.limit, 'item')}` }
    case 'pattern':
      return {
        code: 'pattern',
        message: `${name} ${patternFaults[params.pattern] ?? 'does not have the required form'}`,
      }
    case 'format':
      return { code: 'format', message: `${name} must be ${FORMATS[params.format] ?? params.format}` }
    case 'enum':
    case 'const':
      return { code: 'enum', message: `${name} must be one of ${allowedValues(error, found).join(', ')}` }
    case 'uniqueItems':
      return { code: 'duplicate', message: `${name} must not have the same item twice` }
    default:
      return { code: 'invalid', message: `${name} is not valid` }
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** The most similar known name, or else all known names. @source rules#http.7 */
function knownNames({ params, parentSchema }: ErrorObject, field: string): string {
  const wrong: string = params.additionalProperty
  const known = Object.keys(parentSchema?.properties ?? {})
  if (known.length === 0) return 'this call takes none'
  const nearest = nearestName(wrong.slice(0, MAX_KEY_LENGTH), known)
  const place = field.slice(0, field.length - Math.min(wrong.length, MAX_KEY_LENGTH))
  return nearest === undefined ? `known are ${known.join(', ')}` : `did you mean ${place}${nearest}?`
}

function allowedValues({ instancePath }: ErrorObject, found: readonly ErrorObject[]): readonly unknown[] {
  return found
    .filter((error) => error.instancePath === instancePath)
    .flatMap(({ params }) => params.allowedValues ?? params.allowedValue ?? [])
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'an integer',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  date: 'a day of the calendar, YYYY-MM-DD',
  'date-time': 'an instant in ISO 8601 with its offset',
  'day-or-instant':
    'a day of the calendar, YYYY-MM-DD, or an instant in ISO 8601 with its offset, whose + is %2B in an address',
}

interface Shape {
  readonly type?: string
  readonly anyOf?: readonly Shape[]
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
}

/**
 * Removes absent fields from a valid value: optional fields that are `null`, and optional texts that are empty.
 * @source rules#http.16
 */
function withoutAbsent(value: unknown, schema: TSchema): unknown {
  // Usually nothing is absent; then no copy is made at any level.
  return hasAbsent(value, schema as Shape) ? present(value, schema as Shape) : value
}

function hasAbsent(value: unknown, shape: Shape): boolean {
  const { properties, required = [] } = objectOf(shape) ?? {}
  if (!properties || !isRecord(value)) return false
  return Object.keys(value).some((name) => {
    const field = value[name]
    return (isAbsent(field) && !required.includes(name)) || hasAbsent(field, properties[name] ?? {})
  })
}

function present(value: unknown, shape: Shape): unknown {
  const { properties, required = [] } = objectOf(shape) ?? {}
  if (!properties || !isRecord(value)) return value
  const left = Object.entries(value).filter(([name, field]) => required.includes(name) || !isAbsent(field))
  return Object.fromEntries(left.map(([name, field]) => [name, present(field, properties[name] ?? {})]))
}

function isAbsent(field: unknown): boolean {
  return field === null || field === ''
}

function objectOf(shape: Shape): Shape | undefined {
  return shape.properties ? shape : shape.anyOf?.find(({ properties }) => properties)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Nesting of objects and arrays, including the outermost. */
const MAX_DEPTH = 16

/**
 * Maximum number of commas in a body. Bounds the cost of validation: unknown fields, and arrays compared item by item.
 */
const MAX_COMMAS = 1_000

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Finds faults that `JSON.parse` silently accepts but a payment API must not: duplicate keys (parsers disagree on which
 * wins), unbounded nesting and sizes, and `__proto__`.
 *
 * One pass, no recursion. Does not check the grammar; `JSON.parse` follows.
 * @returns the fault for the client, or `undefined`
 * @source rules#http.11
 */
export function jsonFault(text: string): string | undefined {
  /** Open objects with the keys seen so far, and `null` for arrays. */
  const open: (Set<string> | null)[] = []
  let keys: Set<string> | null = null
  let keyExpected = false
  let commas = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) {
      const end = endOfString(text, at)
      if (keyExpected && keys) {
        const fault = addKey(keys, text.slice(at + 1, end))
        if (fault) return fault
      }
      keyExpected = false
      at = end
    } else if (character === COMMA) {
      commas += 1
      if (commas > MAX_COMMAS) return `the request body has more than ${MAX_COMMAS} values`
      keyExpected = keys !== null
    } else if (character === OPEN_BRACE || character === OPEN_BRACKET) {
      if (open.length === MAX_DEPTH) return `the request body is nested deeper than ${MAX_DEPTH} levels`
      keys = character === OPEN_BRACE ? new Set() : null
      open.push(keys)
      keyExpected = keys !== null
    } else if (character === CLOSE_BRACE || character === CLOSE_BRACKET) {
      open.pop()
      keys = open.at(-1) ?? null
      keyExpected = false
    }
  }
  return undefined
}

/** Index of the quote that closes the string opened at `start`, or the text's length. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === QUOTE) return at
    if (character === BACKSLASH) at += 1
  }
  return text.length
}

const TWICE = 'twice in one object'

/** The fault of {@link jsonFault} without the client's text, for the log. @source rules#logs.1 */
export function faultWithoutText(fault: string): string {
  return fault.endsWith(TWICE) ? `the request body has a key ${TWICE}` : fault
}

function addKey(keys: Set<string>, written: string): string | undefined {
  const key = written.includes('\\') ? decodeKey(written) : written
  if (key === '__proto__') return 'the request body has the key "__proto__"'
  if (keys.has(key)) return `the request body has the key ${JSON.stringify(key.slice(0, 64))} ${TWICE}`
  keys.add(key)
  return undefined
}

/** `"a"` and `"\u0061"` are the same key. */
function decodeKey(written: string): string {
  try {
    return JSON.parse(`"${written}"`)
  } catch {
    return written
  }
}

/** A parsed query: a text per parameter, or several when it was repeated. */
export type QueryText = Readonly<Record<string, string | readonly string[]>>

/** One spelling per number, exactly representable as a double. */
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/
const BOOLEAN = /^(?:true|false)$/

/**
 * Compiles the reader of an endpoint's query. Text becomes an integer or boolean if the schema wants one and the text
 * is its only spelling. Any other text stays text, and the schema refuses it.
 * @returns a reader that throws Refusal `validation_error`, also for a repeated parameter
 * @source rules#http.7
 */
export function compileQueryReader(schema: TSchema): (query: QueryText) => unknown {
  const validate = compileValidator(schema, 'parameter')
  const { properties } = schema as { properties: Readonly<Record<string, { type?: string }>> }
  return (query) => {
    const repeated = Object.keys(query).filter((name) => typeof query[name] !== 'string')
    refuseFaults(repeated.map(repetitionOf))
    const values = Object.fromEntries(
      Object.entries(query).map(([name, text]) => [name, typedValue(String(text), properties[name]?.type)]),
    )
    refuseFaults(validate(values))
    return values
  }
}

function typedValue(text: string, type: string | undefined): string | number | boolean {
  if (type === 'integer' && INTEGER.test(text)) return Number(text)
  if (type === 'boolean' && BOOLEAN.test(text)) return text === 'true'
  return text
}

function repetitionOf(field: string): FieldError {
  return { field, code: 'duplicate', message: `${field} must be given once` }
}

/**
 * Bytes of an oversized body that are read and discarded. A connection closed on unread bytes is reset, and the sender
 * may never see the answer.
 */
const DISCARD_MAX_BYTES = 256 * limits.bodyMaxBytes

/**
 * Reads a body, keeping at most 64 KiB in memory.
 * @throws Refusal `body_too_large` · `validation_error` when the sender disconnected
 * @source rules#http.4
 */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let receivedBytes = 0
    const onData = (chunk: Buffer) => {
      receivedBytes += chunk.length
      if (receivedBytes <= limits.bodyMaxBytes) chunks.push(chunk)
      if (receivedBytes <= DISCARD_MAX_BYTES) return
      request.off('data', onData)
      reject(new Refusal('body_too_large'))
    }
    request.on('data', onData)
    request.on('end', () => {
      if (receivedBytes > limits.bodyMaxBytes) reject(new Refusal('body_too_large'))
      else resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks))
    })
    const onClose = () => {
      if (!request.readableEnded) reject(new Refusal('validation_error', { message: 'the request body ended early' }))
    }
    request.on('close', onClose)
    // The sender may have disconnected during the look-up of its token.
    if (request.destroyed) onClose()
  })
}

export type JsonReader = (bytes: Buffer, headers: BodyHeaders) => unknown

type BodyHeaders = Pick<IncomingHttpHeaders, 'content-type' | 'content-encoding'>

/**
 * Compiles the reader of an endpoint's JSON body. An empty body stands for `{}` where `{}` is valid; absent fields are
 * removed.
 * @returns a reader that throws Refusal `content_type_required` · `malformed_json` · `validation_error`
 * @source rules#http.4, rules#http.16
 */
export function compileJsonReader(schema: TSchema): JsonReader {
  const validate = compileValidator(schema)
  const mayBeEmpty = validate({}).length === 0
  return (bytes, headers) => {
    if (bytes.length === 0 && mayBeEmpty) return {}
    if (bytes.length === 0) refuseFaults([MISSING])
    refuseOtherThanJson(headers)
    const value = parseJson(bytes)
    refuseFaults(validate(value))
    return withoutAbsent(value, schema)
  }
}

const MISSING: FieldError = { field: '', code: 'required', message: 'the body is required' }

/**
 * Reads a body sent to an endpoint that takes none. An oversized body is only reported as present. Synchronous without
 * a body.
 * @throws Refusal `validation_error`
 * @source rules#http.7
 */
export function readUnwantedBody(request: IncomingMessage): Buffer | Promise<Buffer> {
  const { 'transfer-encoding': encoding, 'content-length': length = '0' } = request.headers
  return encoding === undefined && length === '0' ? NO_BYTES : readAnyBody(request)
}

async function readAnyBody(request: IncomingMessage): Promise<Buffer> {
  try {
    return await readBody(request)
  } catch (error) {
    // `body_too_large` is documented only for endpoints that take a body.
    if (error instanceof Refusal && error.code === 'body_too_large') refuseFaults([UNWANTED])
    throw error
  }
}

/**
 * Refuses a body with content where the endpoint takes none. `{}` is accepted: some clients send it with every POST,
 * with any type.
 * @throws Refusal `validation_error`
 * @source rules#http.7
 */
export function refuseUnwantedBody(bytes: Buffer): void {
  if (bytes.length > 0) refuseFaults(unwantedFields(bytes))
}

function unwantedFields(bytes: Buffer): readonly FieldError[] {
  try {
    return validateNothing(parseJson(bytes))
  } catch {
    return [UNWANTED]
  }
}

const NO_BYTES = Buffer.alloc(0)

const UNWANTED: FieldError = { field: '', code: 'unknown_field', message: 'this call takes no body' }

const validateNothing = compileValidator(NOTHING)

function refuseOtherThanJson({
  'content-type': type = '',
  'content-encoding': encoding = IDENTITY,
}: BodyHeaders): void {
  // Fast path for the usual header.
  if (type === 'application/json' && encoding === IDENTITY) return
  if (!JSON_TYPE.test(type)) throw new Refusal('content_type_required')
  if (charsetsOf(type).some((charset) => !UTF_8.includes(charset)))
    refuseEncoding('the charset of a JSON body must be utf-8')
  if (encoding.toLowerCase() !== IDENTITY) refuseEncoding('the request body must not have a Content-Encoding')
}

/** In lower case: charset names are case-insensitive. */
function charsetsOf(type: string): readonly string[] {
  return [...type.matchAll(/;\s*charset\s*=\s*("[^"]*"|[^;]*)/gi)].map(([, charset = '']) =>
    charset.replaceAll('"', '').trim().toLowerCase(),
  )
}

function refuseEncoding(message: string): never {
  throw new Refusal('content_type_required', { message })
}

const UTF_8: readonly string[] = ['utf-8', 'utf8']
const IDENTITY = 'identity'
const JSON_TYPE = /^application\/json\s*(?:;|$)/i

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw new Refusal('malformed_json', { message: 'the request body is not valid UTF-8' })
  const text = bytes.toString()
  const fault = jsonFault(text)
  if (fault) throw new Refusal('malformed_json', { message: fault })
  try {
    return JSON.parse(text)
  } catch {
    throw new Refusal('malformed_json')
  }
}

const IDEMPOTENCY_KEY_PATTERN = new RegExp(IDEMPOTENCY_KEY)

/**
 * @returns the key without its quotes, or `null` without the header
 * @throws validation_error (400) malformed or repeated
 * @source rules#idempotency.1
 */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | null {
  const text = headers['idempotency-key']
  if (text === undefined) return null
  const match = typeof text === 'string' ? IDEMPOTENCY_KEY_PATTERN.exec(text) : null
  const key = match?.[1] ?? match?.[2]
  if (key === undefined) {
    throw invalidField('Idempotency-Key', 'pattern', 'Idempotency-Key must be 1 to 255 printable characters, sent once')
  }
  return key
}

/** Header by which a client follows a request through its own systems and ours. */
export const CORRELATION_HEADER = 'x-correlation-id'

const CORRELATION_ID_PATTERN = new RegExp(CORRELATION_ID)

/**
 * The client's correlation id if it is well-formed, otherwise a new one. Never refuses a request.
 * @source rules#http.3
 */
export function correlationIdOf({ headers }: { readonly headers: IncomingHttpHeaders }, ids: Ids): string {
  const given = headers[CORRELATION_HEADER]
  return typeof given === 'string' && CORRELATION_ID_PATTERN.test(given) ? given : ids.uuid()
}

/** Longest textual address: IPv4-mapped IPv6. */
const ADDRESS_MAX_LENGTH = 45

/**
 * The client's address as trusted proxies report it, if it is a plain address. Anything else in `X-Forwarded-For` may
 * be forged, so the connection's address counts instead.
 * @source rules#audit.6
 */
export function clientAddress(reported: string | undefined, ofConnection: string | undefined): string {
  if (isAddress(reported)) return reported
  return isAddress(ofConnection) ? ofConnection : 'unknown'
}

function isAddress(text: string | undefined): text is string {
  // An IPv6 zone (`fe80::1%eth0`) is arbitrary text, valid on one machine only.
  return text !== undefined && text.length <= ADDRESS_MAX_LENGTH && !text.includes('%') && isIP(text) !== 0
}

/**
 * Returns whether `If-None-Match` names this ETag or is `*`. Weak comparison, as in RFC 9110.
 * @param etag with its quotes
 * @source rules#webhooks.4, rules#reference.2
 */
export function hasCurrent(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes('*') || tags.includes(etag)
}
