import pg from 'pg'
import { connectionProblem, errorCode, knownProblem } from '../connection-problem.ts'
import { fileErrorReason } from '../secrets.ts'
import { StartupError } from '../startup-error.ts'

/** What may go wrong at the database, and what each means for whoever asked. */

/**
 * The database did not answer, or its answer was lost.
 * @source failure-modes#DB-2
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
  /** `false`: nothing happened, no connection could be had or the server refused. `true`: what was sent may or may not have happened. */
  readonly sent: boolean

  constructor(message: string, sent: boolean, options?: ErrorOptions) {
    super(message, options)
    this.sent = sent
  }
}

/** What a statement was for came to nothing while it waited for a connection. It was not sent. */
export class NoLongerWanted extends Error {
  override readonly name = 'NoLongerWanted'
}

/** SQLSTATE classes that end a connection rather than a statement. */
const CONNECTION_LOST = /^(08|57P0)/

/** The statement was not carried out because the server cannot now: out of resources, read-only, out of time. */
const CANNOT_NOW = /^(53|25006|57014)/

/** An error of the connection becomes {@link DatabaseUnavailable}; one of the statement stays what it is. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof pg.DatabaseError) {
    if (CANNOT_NOW.test(error.code ?? '')) return new DatabaseUnavailable(message, false, { cause: error })
    if (!CONNECTION_LOST.test(error.code ?? '')) return error
  }
  return new DatabaseUnavailable(message, true, { cause: error })
}

/** serialization_failure, deadlock_detected, lock_not_available. */
const RETRYABLE_CONFLICTS = new Set(['40001', '40P01', '55P03'])

/** Whether a statement gave way to others: it changed nothing, and may simply be sent again. */
export function isRetryableConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && RETRYABLE_CONFLICTS.has(error.code ?? '')
}

/** SQLSTATE and constraint of an error the database gave, or `undefined` for any other. */
export function databaseError(error: unknown): { code: string; constraint: string | undefined } | undefined {
  return error instanceof pg.DatabaseError ? { code: error.code ?? '', constraint: error.constraint } : undefined
}

/** SQLSTATEs that say of a database that answers that it cannot be written: read-only, disk full, no permission. */
const WRITES_REFUSED = /^(25006|53100|42501)/

/** Whether the database refused to write, whatever was to be written. */
export function isRefusedWrite(error: unknown): boolean {
  const { code } = databaseError(error) ?? databaseError((error as Error | undefined)?.cause) ?? {}
  return WRITES_REFUSED.test(code ?? '')
}

/** Whether something failed because the database did not answer, which its pool has said already. */
export function isOfUnavailability(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true
  return error instanceof Error && error.cause instanceof DatabaseUnavailable
}

/** What the database's own refusals mean, by SQLSTATE or its class. */
const REFUSALS: readonly (readonly [pattern: RegExp, problem: string])[] = [
  [/^28/, 'refuses our credentials: check DATABASE_URL'],
  [/^3D000/, 'does not exist: check DATABASE_URL'],
  [/^42501/, 'denies us a permission'],
  [/^53300/, 'has no connection to spare'],
  [/^53100/, 'has no space left on its disk'],
  [/^57P03/, 'is starting or stopping'],
  [/^25006/, 'can only be read'],
]

/**
 * Why the database does not do what it should, as a whole sentence that may be shown to anyone.
 * @source rules#health.5
 */
export function databaseProblem(error: unknown): string {
  return `the database ${problemOf(error)}`
}

/**
 * The same for whoever starts the process: the database's own words, which may name its user, and where it is. Anything
 * that is not about reaching the database stays what it is.
 * @param variable that the address stands in
 * @source rules#config.10
 */
export function databaseStartupError(error: unknown, url: string, variable = 'DATABASE_URL'): unknown {
  if (error instanceof StartupError) return error
  const refused = databaseErrorOf(error)
  if (refused !== undefined) {
    const isKnown = REFUSALS.some(([pattern]) => pattern.test(refused.code ?? ''))
    return isKnown ? new StartupError(`${variable}: ${refused.message}`, { cause: error }) : error
  }
  const unreadable = unreadableFile(error, url)
  if (unreadable !== undefined) return new StartupError(`${variable}: ${unreadable}`, { cause: error })
  if (!isOfConnection(error)) return error
  return new StartupError(`${variable}: the database${placeOf(url)} ${problemOf(error)}`, { cause: error })
}

function problemOf(error: unknown): string {
  const refused = databaseErrorOf(error)
  const refusal = refused && REFUSALS.find(([pattern]) => pattern.test(refused.code ?? ''))
  if (refusal) return refusal[1]
  return connectionProblem(refused ? undefined : (messageCode(error) ?? errorCode(error)))
}

/** An error of ours is caused by the one that the database gave. */
function databaseErrorOf(error: unknown): pg.DatabaseError | undefined {
  if (error instanceof pg.DatabaseError) return error
  return error instanceof Error && error.cause !== undefined ? databaseErrorOf(error.cause) : undefined
}

/** What node-postgres says without a code. */
const MESSAGES: readonly (readonly [pattern: RegExp, code: string])[] = [
  [/timeout/i, 'timeout'],
  [/terminated/, 'ECONNRESET'],
  [/does not support SSL/, 'ERR_SSL_'],
]

function messageCode(error: unknown): string | undefined {
  const { message } = (error ?? {}) as Partial<Error>
  return MESSAGES.find(([pattern]) => pattern.test(message ?? ''))?.[1]
}

function isOfConnection(error: unknown): boolean {
  return knownProblem(messageCode(error) ?? errorCode(error) ?? '') !== undefined
}

/** Which file that the address names cannot be read, and why. */
function unreadableFile(error: unknown, url: string): string | undefined {
  const { path, syscall } = (error ?? {}) as NodeJS.ErrnoException
  if (path === undefined || syscall !== 'open') return undefined
  const named = [...(URL.parse(url)?.searchParams ?? [])].find(([, value]) => value === path)
  return named && `${named[0]} names ${path}, which cannot be read: ${fileErrorReason(error)}`
}

/** The host is no secret; the rest of the address may be. */
function placeOf(url: string): string {
  const { host, searchParams } = URL.parse(url) ?? {}
  const place = searchParams?.get('host') ?? host
  return place ? ` at ${place}` : ''
}
