import pg from 'pg'
import type { Logger } from '../log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../runtime.ts'
import { DatabaseUnavailable, isRefusedWrite } from './errors.ts'

export interface PoolReportsOptions {
  /** Name of the pool in the log, and after «pixgate» in `pg_stat_activity`. */
  readonly name: string
  readonly logger: Logger
  readonly slowAfterMs?: number
  /** Called for each slow statement. Must not throw. */
  readonly onSlowStatement?: (statement: string, ms: number) => void
  readonly heartbeat?: Heartbeat
}

/** @source rules#logs.3 */
const SLOW_AFTER_MS = 500

/**
 * Logs of a pool, each kind at once and then once a minute: database unavailable with the reason, available again, slow
 * statements.
 * @source rules#logs.3
 */
export function createPoolReports(options: PoolReportsOptions) {
  const { logger, name, slowAfterMs = SLOW_AFTER_MS, onSlowStatement, heartbeat = createHeartbeat() } = options
  const pool = { pool: name }
  let isAway = false

  function away(error: DatabaseUnavailable): void {
    const { message: reason, sent } = error
    // A database that refuses writes still answers.
    if (!isRefusedWrite(error)) isAway = true
    const sentence = sentenceOf(error)
    heartbeat.report(`${sent} ${reason}`, (more) => logger.error({ ...pool, reason }, sentence + andMore(more)))
  }
  function back(): void {
    if (!isAway) return
    isAway = false
    heartbeat.report('back', (more) => {
      // A delayed report must still be true.
      if (!isAway) logger.info(pool, `the database answers again${andMore(more)}`)
    })
  }
  return {
    ofAnswer: async <Result>(answer: Promise<Result>): Promise<Result> => {
      try {
        const result = await answer
        back()
        return result
      } catch (error) {
        if (error instanceof DatabaseUnavailable) away(error)
        else if (error instanceof pg.DatabaseError) back()
        throw error
      }
    },
    idleLost: ({ message: reason }: Error) =>
      heartbeat.report(`idle ${reason}`, (more) =>
        logger.warn({ ...pool, reason }, `an idle database connection was lost${andMore(more)}`),
      ),
    /** Duration of a statement without waiting for a connection. Includes a transaction's COMMIT. */
    slow: (statement: string, ms: number): void => {
      if (ms <= slowAfterMs) return
      onSlowStatement?.(statement, ms)
      heartbeat.report(`slow ${moduleAndVerb(statement)}`, (more) =>
        logger.warn(
          { statement, ...pool, ms: Math.round(ms) },
          `a statement took long; others may wait for it${andMore(more)}`,
        ),
      )
    },
  }
}

function sentenceOf(error: DatabaseUnavailable): string {
  if (isRefusedWrite(error)) return 'the database refuses writes; every request that changes data is refused'
  return error.sent ? 'the database was asked, and its answer was lost' : 'the database cannot be asked'
}

/** The first two parts of a statement's name. The engine's names also list the parts of a batch. */
export function moduleAndVerb(statement: string): string {
  return statement.split('.').slice(0, 2).join('.')
}
