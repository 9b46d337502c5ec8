import pg from 'pg'
import { connectionProblem, errorCode, knownProblem } from '../connection-problem.ts'
import { fileErrorReason } from '../secrets.ts'
import { StartupError } from '../startup-error.ts'

/** The database did not answer, or its answer was lost. @source failure-modes#DB-2 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable'
  /**
   * `false`: nothing happened, since there was no connection or the server refused. `true`: the statement may have been
   * executed.
   */
  readonly sent: boolean

  constructor(message: string, sent: boolean, options?: ErrorOptions) {
    super(message, options)
    this.sent = sent
  }
}

/** The statement became pointless while it waited for a connection. It was not sent. */
export class NoLongerWanted extends Error {
  override readonly name = 'NoLongerWanted'
}

/** SQLSTATE classes that end the connection, not only the statement. */
const CONNECTION_LOST = /^(08|57P0)/

/** The server could not execute the statement: out of resources, read-only, or timed out. */
const CANNOT_NOW = /^(53|25006|57014)/

/** Turns connection errors into {@link DatabaseUnavailable}; statement errors stay as they are. */
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

/** Returns whether the statement lost a lock or serialisation conflict. It changed nothing and can be sent again. */
export function isRetryableConflict(error: unknown): boolean {
  return error instanceof pg.DatabaseError && RETRYABLE_CONFLICTS.has(error.code ?? '')
}

/** SQLSTATE and constraint of a database error, or `undefined` for any other. */
export function databaseError(error: unknown): { code: string; constraint: string | undefined } | undefined {
  return error instanceof pg.DatabaseError ? { code: error.code ?? '', constraint: error.constraint } : undefined
}

/** SQLSTATEs of an answering database that refuses writes: read-only, disk full, no permission. */
const WRITES_REFUSED = /^(25006|53100|42501)/

export function isRefusedWrite(error: unknown): boolean {
  const { code } = databaseError(error) ?? databaseError((error as Error | undefined)?.cause) ?? {}
  return WRITES_REFUSED.test(code ?? '')
}

/** Returns whether the cause is an unavailable database, which the pool has already logged. */
export function isOfUnavailability(error: unknown): boolean {
  if (error instanceof DatabaseUnavailable) return true
  return error instanceof Error && error.cause instanceof DatabaseUnavailable
}

/** Refusals of the database, by SQLSTATE or class. */
const REFUSALS: readonly (readonly [pattern: RegExp, problem: string])[] = [
  [/^28/, 'refuses our credentials: check DATABASE_URL'],
  [/^3D000/, 'does not exist: check DATABASE_URL'],
  [/^42501/, 'denies us a permission'],
  [/^53300/, 'has no connection to spare'],
  [/^53100/, 'has no space left on its disk'],
  [/^57P03/, 'is starting or stopping'],
  [/^25006/, 'can only be read'],
]

/** Explains a database failure as a sentence that may be shown to anyone. @source rules#health.5 */
export function databaseProblem(error: unknown): string {
  return `the database ${problemOf(error)}`
}

/**
 * The same for the person starting the process: adds the database's own message, which may name the user, and its
 * place. Errors that are not about reaching the database stay as they are.
 * @param variable name of the variable with the address
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

function databaseErrorOf(error: unknown): pg.DatabaseError | undefined {
  if (error instanceof pg.DatabaseError) return error
  return error instanceof Error && error.cause !== undefined ? databaseErrorOf(error.cause) : undefined
}

/** Messages of node-postgres that have no code. */
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
