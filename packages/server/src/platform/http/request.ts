import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type FieldError, limits, patternFaults, Refusal } from '@pixgate/spec'
import { Ajv, type ErrorObject } from 'ajv'
import { type TSchema, Type } from 'typebox'
import { isUuid } from '../ids.ts'
import { nearestName } from '../variables.ts'

/**
 * The formats our schemas use. Those of strings are strict: a day is a day of the calendar, an instant has an offset. `int64`
 * tells generators of clients how wide a number is; what it may be, its bounds say.
 */
export const formats = { uuid: isUuid, date: isDay, 'date-time': isInstant, int64: true } as const

/** Year 0 is not in the calendar that databases keep. */
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

/** Judges a value; no faults means that it is valid. */
export type Validator = (value: unknown) => readonly FieldError[]

/**
 * Nothing is coerced, removed or filled in: what a client did not write is not there. All faults are looked for, which
 * is safe because {@link jsonFault} bounds the size of what gets here.
 * A text that is too long is matched all the same.
 * @source rules#http.7, rules#http.18
 */
const ajv = new Ajv({
  strict: true,
  allErrors: true,
  coerceTypes: false,
  removeAdditional: false,
  useDefaults: false,
  // So that an unknown name can be told the known ones.
  verbose: true,
  formats,
})

/** What an endpoint takes that declares nothing. @source rules#http.7 */
export const NOTHING: TSchema = Type.Object({}, { additionalProperties: false })

/**
 * Compiles a schema once.
 * @param noun what its properties are called
 * @throws Error where the schema itself is at fault
 */
export function compileValidator(schema: TSchema, noun: Noun = 'field'): Validator {
  const validate = ajv.compile(schema)
  return (value) => (validate(value) ? [] : fieldErrors(validate.errors ?? [], noun))
}

/** @throws Refusal `validation_error` where there are faults; it tells the first one, and lists all */
export function refuseFaults(fields: readonly FieldError[]): void {
  const [first] = fields
  if (first) throw new Refusal('validation_error', { message: first.message, fields })
}

/** The refusal of one field. */
export function invalidField(field: string, code: string, message: string): Refusal {
  return new Refusal('validation_error', { message, fields: [{ field, code, message }] })
}

/** What the properties of a schema are called. */
export type Noun = 'field' | 'parameter'

/** How many faulty fields an answer names, at most. */
const MAX_FIELDS = 20

/** How much of a client's own key an answer repeats. */
const MAX_KEY_LENGTH = 64

/**
 * What Ajv found, as a client reads it: one fault per field, the most basic one, with `field` such as
 * `transaction.value` or `events[0]`.
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

/** A value that may be null fails twice more: as not null, and as the union of both. */
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

/** The name that was probably meant, or else all that there are. @source rules#http.7 */
function knownNames({ params, parentSchema }: ErrorObject, field: string): string {
  const wrong: string = params.additionalProperty
  const known = Object.keys(parentSchema?.properties ?? {})
  if (known.length === 0) return 'this call takes none'
  const nearest = nearestName(wrong.slice(0, MAX_KEY_LENGTH), known)
  const place = field.slice(0, field.length - Math.min(wrong.length, MAX_KEY_LENGTH))
  return nearest === undefined ? `known are ${known.join(', ')}` : `did you mean ${place}${nearest}?`
}

/** The values of an enum, or those of all the constants that a union offers in this place. */
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
}

/** Of a schema what is looked at. */
interface Shape {
  readonly type?: string
  readonly anyOf?: readonly Shape[]
  readonly properties?: Readonly<Record<string, Shape>>
  readonly required?: readonly string[]
}

/**
 * A valid value without the fields that are absent by their value: those that may be left out and are `null`, and texts
 * that may be left out and are empty.
 * @source rules#http.16
 */
function withoutAbsent(value: unknown, schema: TSchema): unknown {
  // Most leave nothing out: then no copy is made, at any level.
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

/** The object among what a value may be. */
function objectOf(shape: Shape): Shape | undefined {
  return shape.properties ? shape : shape.anyOf?.find(({ properties }) => properties)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Objects and arrays within each other, the outermost counted. */
const MAX_DEPTH = 16

/** Commas of a whole body. Bounds what validation can cost: unknown fields, and arrays compared item by item. */
const MAX_COMMAS = 1_000

const QUOTE = 0x22
const COMMA = 0x2c
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Looks for what `JSON.parse` takes in silence and an API about money must not: a key twice in one object (the last one
 * would win, and another reader may take the first), nesting and sizes without bound, and `__proto__`.
 *
 * One pass, no recursion. Judges no grammar: `JSON.parse` comes after it.
 * @returns what is wrong, for the client to read, or `undefined`
 * @source rules#http.11
 */
export function jsonFault(text: string): string | undefined {
  /** What is open at this point: the keys seen so far of an object, `null` for an array. */
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

/** What {@link jsonFault} found, without the text of whoever wrote it: for a log. @source rules#logs.1 */
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

/** A query as it was split: text, or several texts where a parameter was repeated. */
export type QueryText = Readonly<Record<string, string | readonly string[]>>

/** One spelling per number, within what a double holds exactly. */
const INTEGER = /^(?:0|-?[1-9]\d{0,14})$/
const BOOLEAN = /^(?:true|false)$/

/**
 * Compiles the reader of an endpoint's query. Text becomes an integer or a boolean where the schema wants one and the
 * text is its only spelling; any other text stays text, and the schema refuses it.
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
 * What is read and thrown away of a body that is too large. A connection closed on unread bytes is reset, and the
 * sender might never see why.
 */
const DISCARD_MAX_BYTES = 256 * limits.bodyMaxBytes

/**
 * Reads a whole body; keeps at most 64 KiB of it in memory.
 * @throws Refusal `body_too_large` · `validation_error` where the sender hung up
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
    // The sender may have hung up while its token was looked up.
    if (request.destroyed) onClose()
  })
}

/** Turns a body's bytes into the value that an endpoint's handler gets. */
export type JsonReader = (bytes: Buffer, headers: BodyHeaders) => unknown

/** What a request says of its body. */
type BodyHeaders = Pick<IncomingHttpHeaders, 'content-type' | 'content-encoding'>

/**
 * Compiles the reader of an endpoint's JSON body. No bytes at all stand for `{}` where `{}` is valid; what is absent by its
 * value is left out.
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
 * Reads what came where no body is taken; of too large a one, no more than that it came. What did not come is there at once.
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
    // Its own code is for the endpoints that take a body, and documented for them only.
    if (error instanceof Refusal && error.code === 'body_too_large') refuseFaults([UNWANTED])
    throw error
  }
}

/**
 * Refuses a body that says something to an endpoint that takes none. `{}` says nothing: some clients send it with every
 * POST, and of any type.
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
  // As nearly everybody writes it.
  if (type === 'application/json' && encoding === IDENTITY) return
  if (!JSON_TYPE.test(type)) throw new Refusal('content_type_required')
  if (charsetsOf(type).some((charset) => !UTF_8.includes(charset)))
    refuseEncoding('the charset of a JSON body must be utf-8')
  if (encoding.toLowerCase() !== IDENTITY) refuseEncoding('the request body must not have a Content-Encoding')
}

/** In lower case, as names of charsets have none. */
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
