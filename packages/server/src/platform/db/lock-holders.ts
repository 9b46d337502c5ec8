import type { Logger } from '../log.ts'
import { type Database, statement } from './database.ts'
import { workAsLogin } from './login.ts'

/**
 * Ends sessions that hold locks the service needs. Our own sessions hold them for one commit. With a stolen login they
 * can be held for ever, whatever time-outs a session has: the head of the audit trail, which stops every operator
 * action; the kill switch; credits that are skipped while locked; the lock of starting processes.
 */

/** Far longer than our own statements may take. @source rules#audit.11 */
const HELD_MAX_MS = 15_000

interface EndedSession {
  readonly pid: number
  /** Address of the client; `null`: the database's own machine. */
  readonly address: string | null
  readonly program: string
  /** One of the tables it held, or «advisory». */
  readonly held: string
}

// Two steps, since a planner may evaluate a function of the condition before the condition holds. Sessions waiting for
// a standby are spared: they have committed, and ending them would leave the commit on one machine. Read locks block
// nothing. The tables' owner may migrate for long; only a lock on the audit head ends its session too. Our advisory
// locks end with their transaction, so without a transaction the session's age counts.
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
 * Ends sessions of this login that hold needed locks in a transaction older than `heldMaxMs`, and logs each.
 * @throws DatabaseUnavailable
 * @source rules#audit.11
 */
export async function endLockHolders(database: Database, logger: Logger, heldMaxMs = HELD_MAX_MS): Promise<void> {
  const ended = await database.transaction(async (queries) => {
    // Sessions belong to the login, not to the role.
    await workAsLogin(queries)
    return queries.rows(endHolders, [heldMaxMs])
  })
  for (const session of ended) logger.error(session, session.held.includes('audit') ? HELD_TRAIL : HELD)
}

const BY_WHOM = 'and was ended: the password in DATABASE_URL may be stolen; change it'
const HELD_TRAIL = `a session with our own login held the audit trail, which blocks every operator action, ${BY_WHOM}`
const HELD = `a session with our own login held locks far longer than the service does, ${BY_WHOM}`
