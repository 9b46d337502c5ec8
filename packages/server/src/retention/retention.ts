import { type Database, statement } from '../platform/db/database.ts'
import type { Logger } from '../platform/log.ts'

/** SQL of retention. The database itself limits what may be erased, and never earlier than its floor. */

/** Kinds of data; each is erased by a database function of that name. */
export const ERASABLE = ['callbacks', 'notifications', 'deliveries', 'ended_operations'] as const

export type Erasable = (typeof ERASABLE)[number]

type Erase = [days: number, limit: number]

const statements = {
  callbacks: statement<Erase, { erased: number }>(
    'retention.erase_callbacks',
    'SELECT erase_callbacks($1, $2) AS erased',
  ),
  notifications: statement<Erase, { erased: number }>(
    'retention.erase_notifications',
    'SELECT erase_notifications($1, $2) AS erased',
  ),
  deliveries: statement<Erase, { erased: number }>(
    'retention.erase_deliveries',
    'SELECT erase_deliveries($1, $2) AS erased',
  ),
  ended_operations: statement<Erase, { erased: number }>(
    'retention.erase_ended_operations',
    'SELECT erase_ended_operations($1, $2) AS erased',
  ),
} as const satisfies Readonly<Record<Erasable, unknown>>

/**
 * Erases expired data, oldest first.
 * @param days retention; the database's floor if that is more
 * @param limit maximum of rows
 * @returns the number of erased rows
 * @source rules#privacy.1, rules#privacy.2, rules#privacy.3, rules#privacy.10
 */
export async function erase(database: Database, what: Erasable, days: number, limit: number): Promise<number> {
  return (await database.rows(statements[what], [days, limit]))[0]?.erased ?? 0
}

/** Retention of each kind, in days. */
export type KeptDays = Readonly<Record<Erasable, number>>

/** Must not throw. */
export interface RetentionObserver {
  onErased(what: Erasable, rows: number): void
}

export interface RetentionDependencies {
  readonly database: Database
  readonly logger: Logger
  readonly keptDays: KeptDays
  readonly observer: RetentionObserver
}

/** Rows of each kind per statement: about ten milliseconds. */
const BATCH = 200

/**
 * The retention job: erases a batch of each kind. Progress is stored in the rows, so it can stop anywhere.
 * @returns a step that returns whether more may be due right away
 * @source rules#privacy.5
 */
export function createErasing({ database, logger, keptDays, observer }: RetentionDependencies): () => Promise<boolean> {
  return async () => {
    let isMore = false
    for (const what of ERASABLE) {
      const rows = await erase(database, what, keptDays[what], BATCH)
      if (rows === 0) continue
      isMore ||= rows === BATCH
      observer.onErased(what, rows)
      logger.info({ what, rows, days: keptDays[what] }, 'personal data erased: its retention has ended')
    }
    return isMore
  }
}
