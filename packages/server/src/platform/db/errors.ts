import pg from 'pg'

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
