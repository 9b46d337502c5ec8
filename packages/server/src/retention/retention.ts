import { type Database, statement } from '../platform/db/database.ts'
import type { Logger } from '../platform/log.ts'

/** All SQL of retention. What may be erased, and never earlier than its floor, the database says itself. */

/** What is erased, each by the database's own function of that name. */
export const ERASABLE = ['callbacks', 'notifications', 'deliveries', 'ended_operations'] as const

/** One of {@link ERASABLE}. */
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
 * Erases what is over its time, the oldest first.
 * @param days how long it is kept; the floor where that is more
 * @param limit how many rows at most
 * @returns how many were erased
 * @source rules#privacy.1, rules#privacy.2, rules#privacy.3, rules#privacy.10
 */
export async function erase(database: Database, what: Erasable, days: number, limit: number): Promise<number> {
  return (await database.rows(statements[what], [days, limit]))[0]?.erased ?? 0
}

/** How long each is kept, in days. */
export type KeptDays = Readonly<Record<Erasable, number>>

/** Told of what was erased; throws nothing. */
export interface RetentionObserver {
  onErased(what: Erasable, rows: number): void
}

/** What retention works with. */
export interface RetentionDependencies {
  readonly database: Database
  readonly logger: Logger
  readonly keptDays: KeptDays
  readonly observer: RetentionObserver
}

/** Rows of each in one statement: some ten milliseconds. */
const BATCH = 200

/** How often it is looked for what is over its time. */
export const ERASE_EVERY_MS = 60_000

/**
 * Makes the job: erases a batch of each. What is left is found again by its own row, whoever stopped where.
 * @returns its step, which says whether more may be due right away
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
      logger.info({ what, rows, days: keptDays[what] }, 'personal data erased: its time is over')
    }
    return isMore
  }
}
