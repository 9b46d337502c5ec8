import pg from 'pg'
import type { Logger } from '../log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../runtime.ts'
import { DatabaseUnavailable, isRefusedWrite } from './errors.ts'

/** What the reports of a pool are made with. */
export interface PoolReportsOptions {
  /** Of the pool, in the log; behind «pixgate» in `pg_stat_activity`. */
  readonly name: string
  readonly logger: Logger
  /** A statement that took longer than so many milliseconds is reported. */
  readonly slowAfterMs?: number
  /** Is told of it, by its name. Throws nothing. */
  readonly onSlowStatement?: (statement: string, ms: number) => void
  readonly heartbeat?: Heartbeat
}

/** @source rules#logs.3 */
const SLOW_AFTER_MS = 500

/**
 * What a pool has to say, of each kind once and then each minute: that its database is away and why, that it is back, and
 * what took long.
 * @source rules#logs.3
 */
export function createPoolReports(options: PoolReportsOptions) {
  const { logger, name, slowAfterMs = SLOW_AFTER_MS, onSlowStatement, heartbeat = createHeartbeat() } = options
  const pool = { pool: name }
  let isAway = false

  function away(error: DatabaseUnavailable): void {
    const { message: reason, sent } = error
    // What refuses writes goes on answering.
    if (!isRefusedWrite(error)) isAway = true
    const sentence = sentenceOf(error)
    heartbeat.report(`${sent} ${reason}`, (more) => logger.error({ ...pool, reason }, sentence + andMore(more)))
  }
  function back(): void {
    if (!isAway) return
    isAway = false
    heartbeat.report('back', (more) => {
      // What is said later than it was seen must still be true.
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
    /** How long statements take that did not wait: a transaction's COMMIT among them. */
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
  if (isRefusedWrite(error)) return 'the database refuses writes; whatever would change anything is refused'
  return error.sent ? 'the database was asked, and its answer was lost' : 'the database cannot be asked'
}

/** What a statement is: the engine's names have the parts of a batch besides. */
export function moduleAndVerb(statement: string): string {
  return statement.split('.').slice(0, 2).join('.')
}
