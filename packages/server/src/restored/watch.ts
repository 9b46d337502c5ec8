import type { Engine } from '../engine/engine.ts'
import type { Decision, Document } from '../engine/operation.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import { databaseError } from '../platform/db/errors.ts'
import type { Logger } from '../platform/log.ts'

/** What tells a database from a copy of it. Pure. */

/** Which database it is; `null` where that is not known. */
export interface Identity {
  /** Of the cluster: another one where a dump was restored elsewhere. */
  readonly cluster: string | null
  /** Of the database and its tables in that cluster: others where a dump was restored beside it, or into it. */
  readonly tables: string | null
  /** Of the write-ahead log: each recovery to an instant, and each promotion of a standby, begins a new one. */
  readonly timeline: string | null
}

/**
 * What a database is to the one that was seen before: `PROMOTED` from its standby, or `RESTORED`. What is not known of either
 * says nothing.
 * @source rules#restored.1
 */
export function changeOf(before: Identity, now: Identity): 'SAME' | 'PROMOTED' | 'RESTORED' {
  if (differs(before.cluster, now.cluster) || differs(before.tables, now.tables)) return 'RESTORED'
  return differs(before.timeline, now.timeline) ? 'PROMOTED' : 'SAME'
}

/** What is known afterwards. */
export function knownAfter(before: Identity, now: Identity): Identity {
  return {
    cluster: now.cluster ?? before.cluster,
    tables: now.tables ?? before.tables,
    timeline: now.timeline ?? before.timeline,
  }
}

/** Whether both are known to be the same, and nothing is to be learned. */
export function isKnown(before: Identity, now: Identity): boolean {
  const after = knownAfter(before, now)
  return after.cluster === before.cluster && after.tables === before.tables && after.timeline === before.timeline
}

function differs(before: string | null, now: string | null): boolean {
  return before !== null && now !== null && before !== now
}

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

/** Looks at which database this is. */
export interface IdentityWatch {
  /**
   * Suspends payouts and refunds where it is another one than before, and what was committed last may not be in it: the bank may
   * have carried out what its books do not have. Whoever dies in between finds it again.
   * @throws DatabaseUnavailable
   * @source rules#restored.1, rules#restored.2, failure-modes#DB-10
   */
  look(): Promise<void>
  /**
   * Whether the bank may have an order that this database has no record of sending: made before a restore was noted, or soon after it.
   * @param windowMs for how long after it, milliseconds
   * @source rules#restored.4
   */
  isNearRestore(createdAt: number, windowMs: number): boolean
}

/** What it needs. */
export interface IdentityWatchOptions {
  readonly store: IdentityStore
  readonly engine: Pick<Engine, 'execute'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Who suspends then, in the audit trail and at the switch. */
const ACTOR = 'database-watch'

const REASON = 'the database was restored, or promoted from a standby that may lack its last commits'

/** Makes it. */
export function createIdentityWatch(options: IdentityWatchOptions): IdentityWatch {
  let restoredAt: number | null = null
  return {
    look: async () => {
      restoredAt = await look(options)
    },
    isNearRestore: (createdAt, windowMs) => restoredAt !== null && createdAt < restoredAt + windowMs,
  }
}

/** @returns when a restore was noted last */
async function look({ store, engine, clock, logger }: IdentityWatchOptions): Promise<number | null> {
  const before = await store.known()
  const current = await store.current()
  if (isKnown(before, current)) return before.restoredAt
  const change = changeOf(before, current)
  const { restoredAt: restoredBefore, ...identity } = before
  const facts = { before: identity, now: { ...current } }
  let restoredAt = restoredBefore
  if (change === 'PROMOTED' && (await store.isSynchronous())) {
    logger.warn(
      facts,
      'the database was promoted from a standby that commits wait for; were it recovered to an instant, stop payouts',
    )
  } else if (change !== 'SAME') {
    restoredAt = clock.now()
    await engine.execute({
      reads: [],
      controls: ['cash_out_switch'],
      decide: (_, now) => decideSuspension(facts, now),
    })
    logger.error(facts, `payouts and refunds are suspended until an operator lifts it: ${REASON}`)
  }
  // Afterwards: whoever dies before it suspends them again.
  await store.note({ ...knownAfter(before, current), restoredAt }, clock.now())
  return restoredAt
}

function decideSuspension(databases: Document, now: number): Decision<void> {
  const set = { enabled: false, reason: REASON }
  const facts = { ...set, ...databases }
  return {
    controls: { cash_out_switch: { ...set, changedAt: new Date(now).toISOString(), by: ACTOR } },
    audits: [{ actor: ACTOR, action: 'cash_out_switch.set', subject: 'cash_out_switch', address: '', facts }],
    outcome: undefined,
  }
}
