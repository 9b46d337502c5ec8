import { EventEmitter } from 'node:events'
import { type DestinationStream, type Logger, pino } from 'pino'
import { withoutFault } from './observer.ts'

export type { Logger } from 'pino'

/** Fields that are never written, wherever they turn up. Bodies and headers are not logged at all. */
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
 * A process's log, in lines of JSON. Writing a line throws nothing: a payment that cannot be logged is a payment all the
 * same.
 * @param format makes of such a line what is written; what would control a terminal is escaped in that
 * @source rules#logs.1, rules#logs.2, rules#logs.4, rules#logs.9
 */
export function createLogger(level: string, destination: DestinationStream = process.stdout, format = asItIs): Logger {
  // What reads the log may go away: a stream says so by an event, which would end the process.
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

/** When a line was written, as part of it. Many are of one millisecond, and an instant as text costs as much as a hash. */
function timestamp(): string {
  const nowMs = Date.now()
  if (nowMs !== latest.nowMs) latest = { nowMs, text: `,"time":"${new Date(nowMs).toISOString()}"` }
  return latest.text
}

let latest = { nowMs: Number.NaN, text: '' }

/** What ends a line for some readers, and what controls or turns one on a terminal: JSON needs none of it written out. */
const LINE_BREAKING = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * A line's fields without the secret ones, at the top and one level down. Pino's own redaction takes longer than all the
 * rest of a line.
 */
function redacted(fields: Readonly<Record<string, unknown>>, levels = 2): Readonly<Record<string, unknown>> {
  // Such is the line of a request: a copy of it would be a sixth of what the line costs.
  if (Object.keys(fields).every((field) => isPlain(field, fields[field]))) return fields
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => {
      if (SECRET_FIELDS.has(field)) return [field, '***']
      if (value instanceof Error) return [field, harmless(value)]
      return [field, isRecord(value) && levels > 1 ? redacted(value, levels - 1) : value]
    }),
  )
}

/** Whether nothing of a field has to be hidden. */
function isPlain(field: string, value: unknown): boolean {
  return (typeof value !== 'object' || value === null) && !SECRET_FIELDS.has(field)
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Of an error what is known to be harmless: a driver's errors carry rows and parameters besides. */
function harmless({ name, code, message, stack }: Error & { readonly code?: unknown }) {
  return { type: name, code, message, stack }
}

/** What every line that may wait begins with: its level is what a line says first. */
const MAY_WAIT = '{"level":"info"'

/** So much is written without waiting for the turn to end. */
const WAITING_MAX = 65_536

/**
 * Writes the lines of one turn of the event loop together, at its end: under load a write for each was a sixth of what a
 * request costs. What warns or fails is written at once, behind all that waits, and so is what waits when the process
 * exits: only who is killed loses lines, those of the turn that was going on.
 * @param write writes text; throws nothing
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
