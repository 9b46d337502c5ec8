import type { Logger } from '../log.ts'
import { type Database, statement } from './database.ts'
import { workAsLogin } from './login.ts'

/**
 * Sessions that hold what the service needs. Ours do for as long as a commit takes; with a stolen login of a server it can be held
 * for ever, whatever time-outs a session is given: the head of the audit trail, so that no operator can set the switch; that
 * switch; credits that are passed over because they are locked; the lock that whoever starts waits for.
 */

/** Longer than a statement of ours may take, by far. @source rules#audit.11 */
const HELD_MAX_MS = 15_000

/** How often it is looked for them. @source rules#audit.11 */
export const HOLDERS_EVERY_MS = 10_000

/** A session that was ended. */
interface EndedSession {
  readonly pid: number
  /** Where it came from; `null`: from the machine of the database. */
  readonly address: string | null
  readonly program: string
  /** One of the tables that it held, or «advisory». */
  readonly held: string
}

// Found first and ended then: a planner may call a function of the condition before the condition holds. What waits for a standby
// has committed: it would be one machine's only. Reading holds nothing. A login that owns the tables migrates with them, which may
// take long; of the head it is ended all the same. We take no advisory lock beyond a transaction: without one its session is
// as old as it is.
const endHolders = statement<[heldMs: number], EndedSession>(
  'database.end_holders',
  `WITH head AS (SELECT relnamespace AS schema, relowner AS owner FROM pg_class WHERE oid = 'audit_head'::regclass),
   held AS (
     SELECT l.pid, bool_or(l.locktype = 'advisory') AS is_advisory, bool_or(c.relname = 'audit_head') AS is_head,
            min(coalesce(c.relname, l.locktype)) AS held
       FROM pg_locks l
       LEFT JOIN pg_class c ON c.oid = l.relation AND c.relkind = 'r' AND c.relnamespace = (SELECT schema FROM head)
      WHERE l.granted AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND (l.locktype = 'advisory' OR c.oid IS NOT NULL AND l.mode NOT IN ('AccessShareLock', 'SIReadLock'))
      GROUP BY l.pid
   ), holder AS MATERIALIZED (
     SELECT a.pid, host(a.client_addr) AS address, a.application_name AS program, h.held
       FROM held h JOIN pg_stat_activity a ON a.pid = h.pid
      WHERE a.usename = session_user AND a.pid <> pg_backend_pid()
        AND (h.is_head OR NOT pg_has_role(session_user, (SELECT owner FROM head), 'MEMBER'))
        AND a.wait_event IS DISTINCT FROM 'SyncRep'
        AND pg_catalog.clock_timestamp() - coalesce(a.xact_start, CASE WHEN h.is_advisory THEN a.backend_start END)
            > $1::double precision * interval '1 millisecond')
   SELECT pid, address, program, held FROM holder WHERE pg_terminate_backend(pid)`,
)

/**
 * Ends the sessions of this login that hold what the service needs in a transaction older than that, and says so.
 * @throws DatabaseUnavailable
 * @source rules#audit.11
 */
export async function endLockHolders(database: Database, logger: Logger, heldMaxMs = HELD_MAX_MS): Promise<void> {
  const ended = await database.transaction(async (queries) => {
    // As whom the sessions are.
    await workAsLogin(queries)
    return queries.rows(endHolders, [heldMaxMs])
  })
  for (const session of ended) logger.error(session, session.held.includes('audit') ? HELD_TRAIL : HELD)
}

const BY_WHOM = 'and was ended: whoever does that has the password in DATABASE_URL'
const HELD_TRAIL = `a session with our own login held the audit trail, so that no operator could do anything, ${BY_WHOM}`
const HELD = `a session with our own login held what the service needs for longer than the service ever does, ${BY_WHOM}`
