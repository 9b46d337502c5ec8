import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type FieldError, limits, Refusal } from '@pixgate/spec'
import type { TSchema } from 'typebox'
import { jsonFault } from './json-scan.ts'
import { compileValidator, NOTHING, refuseFaults } from './validation.ts'
import { withoutAbsent } from './without-absent.ts'

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
