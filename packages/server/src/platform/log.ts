import { EventEmitter } from 'node:events'
import { type DestinationStream, type Logger, pino } from 'pino'
import { withoutFault } from './runtime.ts'

export type { Logger } from 'pino'

/** Fields that are never written, wherever they occur. Bodies and headers are not logged at all. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'authorization',
  'apiKey',
  'token',
  'adminToken',
  'metricsToken',
  'adminTokenPrevious',
  'metricsTokenPrevious',
  'partnerToken',
  'secret',
  'partnerSecret',
  'encryptionKey',
  'encryptionKeys',
  'privateKey',
  'password',
  'document',
  'payerDocument',
  'fullName',
  'name',
  'payerName',
  'payer',
  'recipient',
  'recipientName',
  'recipientDocument',
  'pixKey',
  'pixCode',
  'body',
  'headers',
])

/**
 * The process's log, in lines of JSON. Writing never throws: a payment must not fail because of its log line.
 * @param format formats a line for output; terminal control characters in the result are escaped
 * @source rules#logs.1, rules#logs.2, rules#logs.4, rules#logs.9
 */
export function createLogger(level: string, destination: DestinationStream = process.stdout, format = asItIs): Logger {
  // The reader of the log may go away. A stream reports that by an `error` event, which without a listener would end
  // the process.
  if (destination instanceof EventEmitter && destination.listenerCount('error') === 0) destination.on('error', noop)
  const options = {
    level,
    base: null,
    timestamp,
    formatters: { level: (label: string) => ({ level: label }), log: redacted },
  }
  const write = (text: string) => withoutFault(() => destination.write(text.replace(LINE_BREAKING, escaped)))
  const writeLine = destination === process.stdout ? gatherLines(write) : write
  return pino(options, {
    write: format === asItIs ? writeLine : (line) => withoutFault(() => write(format(line))),
  })
}

function asItIs(line: string): string {
  return line
}

function noop(): void {}

/** Timestamp of a line. Cached: many lines share a millisecond, and formatting an instant costs as much as a hash. */
function timestamp(): string {
  const nowMs = Date.now()
  if (nowMs !== latest.nowMs) latest = { nowMs, text: `,"time":"${new Date(nowMs).toISOString()}"` }
  return latest.text
}

let latest = { nowMs: Number.NaN, text: '' }

/** Line breaks of some readers, and control and bidirectional characters of terminals. JSON can escape all of them. */
const LINE_BREAKING = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/** Removes secret fields, at the top and one level down. Pino's own redaction takes longer than the rest of a line. */
function redacted(fields: Readonly<Record<string, unknown>>, levels = 2): Readonly<Record<string, unknown>> {
  // Fast path for lines of requests: a copy would be a sixth of the line's cost.
  if (Object.keys(fields).every((field) => isPlain(field, fields[field]))) return fields
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => {
      if (SECRET_FIELDS.has(field)) return [field, '***']
      if (value instanceof Error) return [field, harmless(value)]
      return [field, isRecord(value) && levels > 1 ? redacted(value, levels - 1) : value]
    }),
  )
}

function isPlain(field: string, value: unknown): boolean {
  return (typeof value !== 'object' || value === null) && !SECRET_FIELDS.has(field)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Only fields known to be harmless: a driver's errors also contain rows and parameters. */
function harmless({ name, code, message, stack }: Error & { readonly code?: unknown }) {
  return { type: name, code, message, stack }
}

/** Prefix of lines that may wait: the level comes first. */
const MAY_WAIT = '{"level":"info"'

/** Size at which waiting lines are written before the turn ends. */
const WAITING_MAX = 65_536

/**
 * Writes the lines of one turn of the event loop together at its end: a write per line took a sixth of a request's cost
 * under load. Warnings and errors are written at once, after all waiting lines, as is everything when the process
 * exits. Only a kill loses lines, those of the current turn.
 * @param write must not throw
 * @source rules#logs.9
 */
export function gatherLines(write: (text: string) => void): (line: string) => void {
  let waiting = ''

  function flush(): void {
    const text = waiting
    waiting = ''
    if (text !== '') write(text)
  }

  process.on('exit', flush)
  return (line) => {
    if (waiting === '') setImmediate(flush)
    waiting += line
    if (!line.startsWith(MAY_WAIT) || waiting.length > WAITING_MAX) flush()
  }
}
