import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { readConfig } from '../src/config.ts'
import { readMigrationConfig } from '../src/migration.ts'
import { prepareDatabase } from '../src/prepare-database.ts'
import { administer, testDatabase } from './support/database.ts'
import { emptyDatabase } from './support/empty-database.ts'
import { CANARY, configFaults, PRODUCTION } from './support/environment.ts'
import { as, login, serverLogin } from './support/logins.ts'

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))

const silent = pino({ level: 'silent' })

/** Runs `pixgate migrate` with nothing in its environment but this. */
function migrate(environment: Record<string, string>) {
  const options = { env: environment, cwd: tmpdir(), encoding: 'utf8' } as const
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, 'migrate'], options)
  return { status, stdout, stderr }
}

const start = (databaseUrl: string, migrationUrl?: string) =>
  prepareDatabase({ mode: 'production', databaseUrl, migrationUrl }, silent)

/** A database without a schema, its owner's address and a server's. */
async function ownedDatabase(t: TestContext) {
  // The logins go after their database.
  const url = await emptyDatabase(t)
  const owner = await login(t)
  const server = await serverLogin(t)
  await administer(url, `ALTER DATABASE ${new URL(url).pathname.slice(1)} OWNER TO ${owner.role}`)
  await administer(url, `GRANT pixgate_app TO ${owner.role}`)
  return { owner: as(url, owner), server: as(url, server) }
}

test('[database.11] in production the owner’s login migrates, with no other secret, and the server works without it', async (t) => {
  const { owner, server } = await ownedDatabase(t)
  await assert.rejects(start(server), {
    name: 'StartupError',
    message: /^the schema is not up to date \(schema\): run `npm run migrate` with PIXGATE_MIGRATION_URL/,
  })
  const migrated = migrate({ PIXGATE_MODE: 'production', PIXGATE_MIGRATION_URL: owner })
  assert.deepEqual([migrated.status, migrated.stderr], [0, ''])
  assert.match(migrated.stdout, /"applied":\["schema"\]/)
  assert.ok(!migrated.stdout.includes(new URL(owner).password))
  await start(server)
  await assert.rejects(start(owner), /the user "\w+" owns the database\n/)
})

test('[database.11] moves that the guard does not know keep a production server from starting too', async (t) => {
  const { url } = await testDatabase(t)
  const server = as(url, await serverLogin(t))
  await start(server)
  await administer(url, "DELETE FROM allowed_move WHERE to_status = 'PAID'")
  await assert.rejects(start(server), /the schema is not up to date \(moves\): run `npm run migrate`/)
  assert.equal(migrate({ PIXGATE_MODE: 'production', PIXGATE_MIGRATION_URL: url }).status, 0)
  await start(server)
})

test('[database.11] [DB-11] a schema that is newer, or of an unreleased version, is refused as by a migration', async (t) => {
  const { url } = await testDatabase(t)
  const server = as(url, await serverLogin(t))
  await administer(url, "INSERT INTO schema_migration (version, name, hash) VALUES (9999, '9999-future.sql', 'x')")
  await assert.rejects(start(server), { name: 'SchemaError', code: 'NEWER_DATABASE' })
  await administer(url, "DELETE FROM schema_migration WHERE version = 9999; UPDATE schema_migration SET hash = 'x'")
  await assert.rejects(start(server), { name: 'SchemaError', code: 'UNRELEASED_DATABASE' })
  const { status, stdout } = migrate({ PIXGATE_MODE: 'production', PIXGATE_MIGRATION_URL: url })
  assert.equal(status, 1)
  assert.match(stdout, /"code":"UNRELEASED_DATABASE"/)
})

test('[database.10] [database.11] in the sandbox the start migrates, with the owner’s login where that is set', async (t) => {
  const { owner, server } = await ownedDatabase(t)
  const sandbox = (databaseUrl: string, migrationUrl?: string) =>
    prepareDatabase({ mode: 'sandbox', databaseUrl, migrationUrl }, silent)
  await assert.rejects(sandbox(server), /permission denied/)
  await sandbox(server, owner)
  await sandbox(owner)
  await start(server)
})

test('[database.11] production asks for the owner’s login where it migrates, and refuses it where it serves', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'pixgate-migration-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'url')
  const url = `postgres://owner:${CANARY}@db.example/pixgate?sslmode=verify-full`
  writeFileSync(file, `${url}\n`)
  const read = (environment: Record<string, string>) => readMigrationConfig(environment, new Map())
  const production = { PIXGATE_MODE: 'production' }
  const expected = { login: { url, variable: 'PIXGATE_MIGRATION_URL' }, logLevel: 'info' }
  assert.deepEqual(read({ ...production, PIXGATE_MIGRATION_URL: url }), expected)
  assert.deepEqual(read({ ...production, PIXGATE_MIGRATION_URL_FILE: file }), expected)
  assert.deepEqual(read({ ...PRODUCTION, PIXGATE_MIGRATION_URL: url } as Record<string, string>), expected)
  assert.deepEqual(
    configFaults(() => read({ ...production, DATABASE_URL: url }), {}),
    ['PIXGATE_MIGRATION_URL is required in production: an address that begins with postgres:// or postgresql://'],
  )
  assert.deepEqual(
    configFaults(() => read({ ...production, PIXGATE_MIGRATION_URL: url.replace('verify-full', 'require') }), {}),
    ['PIXGATE_MIGRATION_URL must be an address with sslmode=verify-full, or one on this machine'],
  )
  for (const given of [{ PIXGATE_MIGRATION_URL: url }, { PIXGATE_MIGRATION_URL_FILE: file }]) {
    const [name] = Object.keys(given)
    assert.deepEqual(configFaults(readConfig, { ...PRODUCTION, ...given }), [
      `${name} must not be set where the server runs: the login of the owner is for pixgate migrate alone`,
    ])
    assert.equal(readConfig({ ...PRODUCTION, ...given, PIXGATE_MODE: 'sandbox' }).migrationUrl, url)
  }
})

test('[database.11] [config.10] a migration that cannot reach its database names the variable', () => {
  const { status, stderr } = migrate({ PIXGATE_MIGRATION_URL: 'postgres://owner:canary@127.0.0.1:9/none' })
  assert.equal(status, 1)
  assert.equal(stderr, '\npixgate: PIXGATE_MIGRATION_URL: the database at 127.0.0.1:9 refuses connections\n\n')
  const nothing = migrate({})
  assert.equal(nothing.status, 2)
  assert.match(nothing.stderr, /DATABASE_URL/)
})
