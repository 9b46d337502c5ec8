import type { Engine } from '../engine/engine.ts'
import type { Decision, Document } from '../engine/operation.ts'
import type { Clock } from '../platform/clock.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import { databaseError } from '../platform/db/errors.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import type { Logger } from '../platform/log.ts'

/** Distinguishes a database from its copies. Pure. */

/** Identity of a database; fields are `null` if unknown. */
export interface Identity {
  /** Of the cluster: changes when a dump is restored elsewhere. */
  readonly cluster: string | null
  /** Of the database and its tables in the cluster: changes when a dump is restored beside or into it. */
  readonly tables: string | null
  /** Of the write-ahead log: every point-in-time recovery and every promotion of a standby begins a new one. */
  readonly timeline: string | null
}

/**
 * Compares a database with the one seen before: `PROMOTED` from its standby, or `RESTORED`. Unknown fields prove
 * nothing.
 * @source rules#restored.1
 */
export function changeOf(before: Identity, now: Identity): 'SAME' | 'PROMOTED' | 'RESTORED' {
  if (differs(before.cluster, now.cluster) || differs(before.tables, now.tables)) return 'RESTORED'
  return differs(before.timeline, now.timeline) ? 'PROMOTED' : 'SAME'
}

export function knownAfter(before: Identity, now: Identity): Identity {
  return {
    cluster: now.cluster ?? before.cluster,
    tables: now.tables ?? before.tables,
    timeline: now.timeline ?? before.timeline,
  }
}

/** Whether both identities are equal and add nothing. */
export function isKnown(before: Identity, now: Identity): boolean {
  const after = knownAfter(before, now)
  return after.cluster === before.cluster && after.tables === before.tables && after.timeline === before.timeline
}

function differs(before: string | null, now: string | null): boolean {
  return before !== null && now !== null && before !== now
}

export interface IdentityStore {
  /** The id of the installation, from which order ids are derived. Never changes. @source rules#ids.4 */
  installation(): Promise<string>
  /** The identity seen last, and the time of the last restore in epoch milliseconds, if any. */
  known(): Promise<Identity & Restored>
  /** The current identity. A read-only or restrictive server reveals less. */
  current(): Promise<Identity>
  /** Whether commits wait for a standby, so that a promoted one has them. @source rules#restored.3 */
  isSynchronous(): Promise<boolean>
  note(identity: Identity & Restored, nowMs: number): Promise<void>
}

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

export function createIdentityStore(database: Database): IdentityStore {
  /** Some servers do not offer or permit these functions. */
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

export interface IdentityWatch {
  /**
   * Suspends payouts and refunds if the database was replaced and may lack the last commits: the bank may have executed
   * orders that its books do not have. A crash in between is detected again.
   * @throws DatabaseUnavailable
   * @source rules#restored.1, rules#restored.2, failure-modes#DB-10
   */
  look(): Promise<void>
  /**
   * Whether the bank may have an order that this database has no record of sending: created before a restore was
   * detected, or soon after.
   * @param windowMs time after the restore, milliseconds
   * @source rules#restored.4
   */
  isNearRestore(createdAt: number, windowMs: number): boolean
}

export interface IdentityWatchOptions {
  readonly store: IdentityStore
  readonly engine: Pick<Engine, 'execute'>
  readonly clock: Clock
  readonly pause: Pick<Pause, 'for'>
  readonly logger: Logger
}

const ACTOR = 'database-watch'

const REASON = 'the database was restored, or promoted from a standby that may lack its last commits'

export function createIdentityWatch(options: IdentityWatchOptions): IdentityWatch {
  let restoredAt: number | null = null
  return {
    look: async () => {
      restoredAt = await look(options)
    },
    isNearRestore: (createdAt, windowMs) => restoredAt !== null && createdAt < restoredAt + windowMs,
  }
}

/** @returns the time of the last restore */
async function look({ store, engine, clock, pause, logger }: IdentityWatchOptions): Promise<number | null> {
  const before = await store.known()
  const current = await store.current()
  if (isKnown(before, current)) return before.restoredAt
  const change = changeOf(before, current)
  const { restoredAt: restoredBefore, ...identity } = before
  const facts = { before: identity, now: { ...current } }
  let restoredAt = restoredBefore
  if (change === 'PROMOTED' && (await isSynchronousSoon(store, pause))) {
    logger.warn(
      facts,
      'the database was promoted from a synchronous standby; if it was restored to a point in time instead, stop payouts',
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
  // Stored last: a crash before it suspends again.
  await store.note({ ...knownAfter(before, current), restoredAt }, clock.now())
  return restoredAt
}

const LOOKS = 10
const LOOK_AGAIN_MS = 1_000

/**
 * Whether commits wait for a standby, now or within ten seconds: Patroni empties `synchronous_standby_names` for a
 * moment at each promotion unless its mode is strict.
 */
async function isSynchronousSoon(
  store: Pick<IdentityStore, 'isSynchronous'>,
  pause: Pick<Pause, 'for'>,
): Promise<boolean> {
  for (let look = 1; look < LOOKS; look++) {
    if (await store.isSynchronous()) return true
    await pause.for(LOOK_AGAIN_MS)
  }
  return store.isSynchronous()
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
