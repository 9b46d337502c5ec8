import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Machine } from '@pixgate/spec'
import type pg from 'pg'
import type { Logger } from '../log.ts'
import { StartupError } from '../startup-error.ts'
import { startTimer } from '../timer.ts'
import { type Queries, statement } from './database.ts'
import { VerifiedClient } from './verified-client.ts'

/**
 * Migrations: plain SQL, forward only, all that are pending in one transaction, safe when several processes start at once.
 */

const FOLDER = fileURLToPath(new URL('../../../migrations/', import.meta.url))

/** Any number all processes agree on. */
const LOCK = 7_046_741_001

/** The database's schema is not one this version can work with. The message says what to do. */
export class SchemaError extends StartupError {
  override readonly name = 'SchemaError'
}

interface Migration {
  readonly version: number
  readonly name: string
  readonly sql: string
  readonly hash: string
}

/** Who is told of a wait, and by which timers. */
export interface MigrateOptions {
  readonly logger?: Logger
  /** Calls back once, after a while. @returns calls it off */
  readonly start?: (ms: number, run: () => void) => () => void
}

/**
 * Brings the schema up to date and writes the machines' moves into the database's guard. Waits for as long as another
 * process does, which may take as long as its migrations.
 * @param url as a role that may create tables and roles
 * @returns the names of the migrations applied
 * @throws SchemaError where the schema is newer than this version or a landed migration was edited
 * @source failure-modes#DB-11
 */
export async function migrate(
  url: string,
  machines: readonly Machine[],
  options: MigrateOptions = {},
): Promise<string[]> {
  const migrations = await readMigrations()
  const client = new VerifiedClient({
    connectionString: url,
    application_name: 'pixgate migrate',
    connectionTimeoutMillis: 5_000,
  })
  // Whoever waits for an answer is told; without a listener the error would also end the process.
  client.on('error', () => undefined)
  await client.connect()
  try {
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
        migration.hash,
      ])
      applied.push(migration.name)
    }
    await writeAllowedMoves(client, machines)
    await client.query('COMMIT')
    return applied
  } finally {
    await client.end()
  }
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

/**
 * The names of the migrations that the next start applies; all of them where there is no schema yet. Changes nothing.
 * @throws SchemaError as {@link migrate} would
 */
async function pendingMigrations(queries: Queries): Promise<string[]> {
  const [{ isThere } = { isThere: false }] = await queries.rows(selectIsThere, [])
  const applied = isThere ? await queries.rows(selectApplied, []) : []
  return pending(await readMigrations(), applied).map(({ name }) => name)
}

const selectMoves = statement<[], Move>(
  'migrate.moves',
  'SELECT kind, from_status AS "from", to_status AS "to" FROM allowed_move',
)

/**
 * What a migration would still do: the names of what it would apply, and `moves` where the guard does not know a move of
 * the machines. Empty where the schema is up to date. Changes nothing.
 * @throws SchemaError as {@link migrate} would
 * @source rules#database.11
 */
export async function missingFromSchema(queries: Queries, machines: readonly Machine[]): Promise<string[]> {
  const names = await pendingMigrations(queries)
  if (names.length > 0) return names
  const key = ({ kind, from, to }: Move) => `${kind} ${from} ${to}`
  const known = new Set((await queries.rows(selectMoves, [])).map(key))
  return movesOf(machines).every((move) => known.has(key(move))) ? [] : ['moves']
}

async function readMigrations(): Promise<Migration[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.sql')).sort()
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(FOLDER + name, 'utf8')
      return { version: Number.parseInt(name, 10), name, sql, hash: createHash('sha256').update(sql).digest('hex') }
    }),
  )
}

type Applied = Pick<Migration, 'version' | 'name' | 'hash'>

async function readApplied(client: pg.Client): Promise<Applied[]> {
  return (await client.query<Applied>(selectApplied.text)).rows
}

function pending(migrations: readonly Migration[], applied: readonly Applied[]): Migration[] {
  for (const { version, name, hash } of applied) {
    const known = migrations.find((migration) => migration.version === version)
    if (!known) {
      throw new SchemaError(
        `the database has migration ${name}, which this version does not know: it was written by a newer Pixgate. Start that version instead.`,
      )
    }
    if (known.hash !== hash) {
      throw new SchemaError(`migration ${name} was edited after it was applied. Restore the file; add a new migration.`)
    }
  }
  return migrations.filter(({ version }) => !applied.some((done) => done.version === version))
}

/** A move that the guard lets pass. */
interface Move {
  readonly kind: string
  readonly from: string | null
  readonly to: string
}

function movesOf(machines: readonly Machine[]): Move[] {
  return machines.flatMap(({ resource, rows }) => rows.map(({ from, to }) => ({ kind: resource, from, to })))
}

/** Moves are only ever added: a process of the version before may still make the old ones. @source rules#engine.10 */
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
