import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import { databaseError } from '../platform/db/errors.ts'
import type { Identity } from './identity.ts'

/** All SQL that tells which database this is. */
export interface IdentityStore {
  /** The id of the installation, from which order ids are derived. It never changes. @source rules#ids.4 */
  installation(): Promise<string>
  /** Which it was when a process looked last, and when a restore was noted last, epoch milliseconds; `null`: never. */
  known(): Promise<Identity & Restored>
  /** Which it is. A server that is read-only, or that tells nobody, tells less. */
  current(): Promise<Identity>
  /** Whether a commit waits for a standby, so that one that is promoted has it. @source rules#restored.3 */
  isSynchronous(): Promise<boolean>
  /** Notes which it is. */
  note(identity: Identity & Restored, nowMs: number): Promise<void>
}

/** When a restore was noted. */
export interface Restored {
  readonly restoredAt: number | null
}

const selectKnown = statement<[], Identity & Restored>(
  'restored.known',
  'SELECT cluster, tables, timeline, restored_at AS "restoredAt" FROM database_identity',
)

const selectInstallation = statement<[], { id: string }>('restored.installation', 'SELECT id FROM installation')

const selectCluster = statement<[], { value: string }>(
  'restored.cluster',
  'SELECT system_identifier::text AS value FROM pg_control_system()',
)

const selectTables = statement<[], { value: string }>(
  'restored.tables',
  `SELECT d.oid::text || ' ' || 'operation'::regclass::oid::text AS value
     FROM pg_database d WHERE d.datname = current_database()`,
)

const selectTimeline = statement<[], { value: string | null }>(
  'restored.timeline',
  `SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS value`,
)

const selectSynchronous = statement<[], { synchronous: boolean }>(
  'restored.synchronous',
  `SELECT current_setting('synchronous_standby_names') <> ''
          AND current_setting('synchronous_commit') IN ('on', 'remote_apply') AS synchronous`,
)

const note = statement<
  [cluster: string | null, tables: string | null, timeline: string | null, now: string, restoredAt: string | null]
>(
  'restored.note',
  'UPDATE database_identity SET cluster = $1, tables = $2, timeline = $3, noted_at = $4, restored_at = $5',
)

/** Makes the store of a database. */
export function createIdentityStore(database: Database): IdentityStore {
  /** Not every server lets everybody ask for it, or has it. */
  const ask = async (select: typeof selectTimeline): Promise<string | null> => {
    const rows = await database.rows(select, []).catch((error: unknown) => {
      if (databaseError(error)) return []
      throw error
    })
    return rows[0]?.value ?? null
  }
  return {
    installation: async () => {
      const [row] = await database.rows(selectInstallation, [])
      if (!row) throw new Error('the row of the installation is missing')
      return row.id
    },
    known: async () => {
      const [row] = await database.rows(selectKnown, [])
      if (!row) throw new Error('the identity of the database is missing')
      return row
    },
    current: async () => ({
      cluster: await ask(selectCluster),
      tables: await ask(selectTables),
      timeline: await ask(selectTimeline),
    }),
    isSynchronous: async () => (await database.rows(selectSynchronous, []))[0]?.synchronous ?? false,
    note: async ({ cluster, tables, timeline, restoredAt }, nowMs) => {
      const restored = restoredAt === null ? null : instantParameter(restoredAt)
      await database.rows(note, [cluster, tables, timeline, instantParameter(nowMs), restored])
    },
  }
}
