import type { Database } from '../platform/db/database.ts'
import type { Logger } from '../platform/log.ts'
import { ERASABLE, type Erasable, erase } from './store.ts'

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
