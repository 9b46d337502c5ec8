import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import type { Machine } from '@pixgate/spec'
import type pg from 'pg'
import { startTimer } from '../clock.ts'
import type { Logger } from '../log.ts'
import { StartupError } from '../startup-error.ts'
import { type Queries, statement, withConnection } from './database.ts'

/**
 * The schema: files of `schema/` fill an empty database, migrations of `migrations/` bring it forward. All missing
 * files are applied in one transaction, safely when several processes start at once.
 */

const PACKAGE = new URL('../../../', import.meta.url)

/** Advisory lock number of all processes. */
const LOCK = 7_046_741_001

/** Name under which the files of `schema/` are recorded together, with version 0. */
export const SCHEMA = 'schema'

/**
 * Reason why a database cannot be used.
 *
 * - `UNRELEASED_DATABASE`: made by other files of `schema/`.
 * - `NEWER_DATABASE`: has a migration that this version lacks.
 * - `EDITED_MIGRATION`: a migration was edited after it was applied.
 */
export type SchemaFault = 'UNRELEASED_DATABASE' | 'NEWER_DATABASE' | 'EDITED_MIGRATION'

/** The schema is not one this version can work with. The message says what to do. */
export class SchemaError extends StartupError {
  override readonly name = 'SchemaError'
  override readonly code: SchemaFault

  constructor(code: SchemaFault, message: string) {
    super(message)
    this.code = code
  }
}

/**
 * The refusal of a database made by an unreleased version.
 * @param remedy sentence that says how to start over
 * @source rules#database.15
 */
export function unreleasedDatabase(remedy: string): SchemaError {
  const fact = 'the database was made by an unreleased version of Pixgate, and this version cannot use it.'
  return new SchemaError('UNRELEASED_DATABASE', `${fact} Nothing was deleted or changed. ${remedy}`)
}

/** Limits of the database itself, which a dump does not have. @source rules#database.16 */
const LIMIT_DATABASE = `
DO $$
BEGIN
  -- A temporary table would be found before a table of the owner in functions that run as the owner.
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC, pixgate_app', current_database());
  -- Ends sessions that were left open within a transaction. The sessions of a server ask for less.
  IF pg_has_role(current_user, (SELECT datdba FROM pg_database WHERE datname = current_database()), 'USAGE') THEN
    EXECUTE format('ALTER DATABASE %I SET idle_in_transaction_session_timeout = ''60s''', current_database());
  END IF;
END $$`

/** SQL that is applied once, as a whole. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
}

export interface MigrateOptions {
  readonly logger?: Logger
  /** Timer, by default {@link startTimer}. @returns cancels it */
  readonly start?: (ms: number, run: () => void) => () => void
  readonly migrations?: readonly Migration[]
}

/**
 * Brings the schema up to date and writes the machines' moves into the database's guard. Waits while another process
 * migrates.
 * @param url of a role that may create tables and roles
 * @returns names of the applied files: {@link SCHEMA} and migrations
 * @throws SchemaError
 * @source failure-modes#DB-11
 */
export async function migrate(
  url: string,
  machines: readonly Machine[],
  options: MigrateOptions = {},
): Promise<string[]> {
  const migrations = options.migrations ?? (await readMigrations())
  return withConnection({ connectionString: url, application_name: 'pixgate migrate' }, async (client) => {
    const applied: string[] = []
    await client.query('BEGIN')
    await lock(client, options)
    await client.query(`CREATE TABLE IF NOT EXISTS schema_migration (
      version integer PRIMARY KEY, name text NOT NULL, hash text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
    for (const migration of pending(migrations, await readApplied(client))) {
      await client.query(migration.sql)
      await client.query('INSERT INTO schema_migration (version, name, hash) VALUES ($1, $2, $3)', [
        migration.version,
        migration.name,
        hashOf(migration),
      ])
      applied.push(migration.name)
    }
    await client.query(LIMIT_DATABASE)
    await writeAllowedMoves(client, machines)
    await client.query('COMMIT')
    return applied
  })
}

const SAID_AFTER_MS = 2_000
const SAID_EVERY_MS = 60_000

/** @source rules#database.9 */
async function lock(client: pg.Client, { logger, start = startTimer }: MigrateOptions): Promise<void> {
  let callOff = start(SAID_AFTER_MS, say)
  function say(): void {
    logger?.info('another process is bringing the schema up to date; waiting for it')
    callOff = start(SAID_EVERY_MS, say)
  }
  try {
    await client.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
  } finally {
    callOff()
  }
}

const selectIsThere = statement<[], { isThere: boolean }>(
  'migrate.is_there',
  `SELECT to_regclass('schema_migration') IS NOT NULL AS "isThere"`,
)

const selectApplied = statement<[], Applied>(
  'migrate.applied',
  'SELECT version, name, hash FROM schema_migration ORDER BY version',
)

const selectMoves = statement<[], Move>(
  'migrate.moves',
  'SELECT kind, from_status AS "from", to_status AS "to" FROM allowed_move',
)

/**
 * Names what {@link migrate} would apply, plus `moves` when the guard lacks a move of the machines. Empty when the
 * schema is up to date. Changes nothing.
 * @throws SchemaError as {@link migrate} would
 * @source rules#database.11
 */
export async function missingFromSchema(
  queries: Queries,
  machines: readonly Machine[],
  migrations?: readonly Migration[],
): Promise<string[]> {
  const [{ isThere } = { isThere: false }] = await queries.rows(selectIsThere, [])
  const applied = isThere ? await queries.rows(selectApplied, []) : []
  const names = pending(migrations ?? (await readMigrations()), applied).map(({ name }) => name)
  if (names.length > 0) return names
  const key = ({ kind, from, to }: Move) => `${kind} ${from} ${to}`
  const known = new Set((await queries.rows(selectMoves, [])).map(key))
  return movesOf(machines).every((move) => known.has(key(move))) ? [] : ['moves']
}

/** The files of `schema/` as one, then the migrations in order. The folder of migrations may be missing. */
export async function readMigrations(): Promise<Migration[]> {
  const schema = await readFolder('schema/')
  const migrations = await readFolder('migrations/').catch(noneWithoutFolder)
  return [
    { version: 0, name: SCHEMA, sql: schema.map(({ sql }) => sql).join('\n') },
    ...migrations.map(({ name, sql }) => ({ version: Number.parseInt(name, 10), name, sql })),
  ]
}

async function readFolder(path: string): Promise<Omit<Migration, 'version'>[]> {
  const folder = new URL(path, PACKAGE)
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(names.map(async (name) => ({ name, sql: await readFile(new URL(name, folder), 'utf8') })))
}

function noneWithoutFolder(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return []
  throw error
}

function hashOf({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex')
}

interface Applied extends Pick<Migration, 'version' | 'name'> {
  readonly hash: string
}

async function readApplied(client: pg.Client): Promise<Applied[]> {
  return (await client.query<Applied>(selectApplied.text)).rows
}

const BEGIN_ANEW =
  'To start over, create an empty database and set its address; for the database of a sandbox, stop it and remove its data directory (PIXGATE_DATA_DIR, by default .pixgate).'

function pending(migrations: readonly Migration[], applied: readonly Applied[]): Migration[] {
  const hashes = new Map(migrations.map((migration) => [migration.version, hashOf(migration)]))
  if (applied.length > 0 && !applied.some(({ version, hash }) => version === 0 && hash === hashes.get(0))) {
    throw unreleasedDatabase(BEGIN_ANEW)
  }
  for (const { version, name, hash } of applied) {
    if (!hashes.has(version)) {
      throw new SchemaError(
        'NEWER_DATABASE',
        `the database has migration ${name}, which this version does not have: it was migrated by a newer Pixgate. Start that version instead.`,
      )
    }
    if (hashes.get(version) !== hash) {
      throw new SchemaError(
        'EDITED_MIGRATION',
        `migration ${name} was edited after it was applied. Restore the file; add a new migration.`,
      )
    }
  }
  return migrations.filter(({ version }) => !applied.some((done) => done.version === version))
}

interface Move {
  readonly kind: string
  readonly from: string | null
  readonly to: string
}

function movesOf(machines: readonly Machine[]): Move[] {
  return machines.flatMap(({ resource, rows }) => rows.map(({ from, to }) => ({ kind: resource, from, to })))
}

/** Only adds moves: a process of an older version may still make its own. @source rules#engine.10 */
async function writeAllowedMoves(client: pg.Client, machines: readonly Machine[]): Promise<void> {
  const moves = movesOf(machines)
  await client.query(
    `INSERT INTO allowed_move (kind, from_status, to_status)
     SELECT DISTINCT wanted.kind, wanted.from_status, wanted.to_status
       FROM unnest($1::text[], $2::text[], $3::text[]) AS wanted (kind, from_status, to_status)
     EXCEPT SELECT kind, from_status, to_status FROM allowed_move`,
    [moves.map(({ kind }) => kind), moves.map(({ from }) => from), moves.map(({ to }) => to)],
  )
}
