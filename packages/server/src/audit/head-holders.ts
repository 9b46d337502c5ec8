import type { Database } from '../platform/db/database.ts'
import { workAsLogin } from '../platform/db/login.ts'
import type { Logger } from '../platform/log.ts'
import { endHoldersOfHead } from './store.ts'

/**
 * Sessions that hold the head of the trail. Ours do for as long as a commit takes; with a stolen login of a server it can be held
 * for ever, whatever time-outs a session is given, and then no operator can set the switch.
 */

/** Longer than a statement of ours may take, by far. @source rules#audit.11 */
const HELD_MAX_MS = 15_000

/** How often it is looked for them. @source rules#audit.11 */
export const HOLDERS_EVERY_MS = 10_000

/**
 * Ends the sessions of this login that hold the head of the trail in a transaction older than that, and says so.
 * @throws DatabaseUnavailable
 * @source rules#audit.11
 */
export async function endHeadHolders(database: Database, logger: Logger, heldMaxMs = HELD_MAX_MS): Promise<void> {
  const ended = await database.transaction(async (queries) => {
    await workAsLogin(queries)
    return endHoldersOfHead(queries, heldMaxMs)
  })
  for (const { pid, address, program } of ended) logger.error({ pid, address, program }, ENDED)
}

const ENDED =
  'a session with our own login held the audit trail, so that no operator could do anything, and was ended: whoever does that has the password in DATABASE_URL'
