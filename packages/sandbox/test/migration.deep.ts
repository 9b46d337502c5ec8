import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { administer } from '../../server/test/support/database.ts'
import { PROGRAM_ENVIRONMENT } from '../../server/test/support/program-environment.ts'
import { startEmbeddedPostgres } from '../src/postgres/embedded-postgres.ts'

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** A data directory, and the sandbox on it, run to its end. */
function place(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'pixgate-sandbox-migration-'))
  t.after(() => rmSync(directory, { recursive: true }))
  // PostgreSQL never runs as root: where root runs this, another user must be able to enter.
  chmodSync(directory, 0o711)
  const run = (role: string, environment: Record<string, string> = {}) =>
    spawnSync(process.execPath, [PROGRAM, role], {
      env: { ...PROGRAM_ENVIRONMENT, PIXGATE_DATA_DIR: directory, ...environment },
      cwd: tmpdir(),
      encoding: 'utf8',
    })
  return { directory, run }
}

test('[database.11] the sandbox’s migration creates and migrates its own database if none is configured, and exits', (t) => {
  const { run } = place(t)
  const migrate = (environment: Record<string, string>) => {
    const { status, stdout, stderr } = run('migrate', environment)
    return { status, applied: stdout.includes('"applied":["schema"]'), stderr }
  }
  assert.deepEqual(migrate({}), { status: 0, applied: true, stderr: '' })
  assert.deepEqual(migrate({}), { status: 0, applied: false, stderr: '' })
  const production = migrate({ PIXGATE_MODE: 'production' })
  assert.equal(production.status, 2)
  assert.match(production.stderr, /PIXGATE_MIGRATION_URL/)
})

test('[database.15] a data directory of an unreleased version stops every start, is named in the error and stays unchanged', async (t) => {
  const { directory, run } = place(t)
  assert.equal(run('migrate').status, 0)
  const inDatabase = async (sql: string) => {
    const postgres = await startEmbeddedPostgres({ dataDirectory: directory, onLost: assert.ifError })
    await administer(postgres.url, sql).finally(() => postgres.stop())
  }
  await inDatabase("UPDATE schema_migration SET hash = 'of other files'")
  for (const role of ['migrate', 'all']) {
    const { status, stdout, stderr } = run(role)
    assert.equal(status, 1, role)
    assert.match(stdout, /"code":"UNRELEASED_DATABASE"/, role)
    assert.ok(stderr.includes(directory), role)
  }
  await inDatabase(`DO $$ BEGIN
    ASSERT (SELECT hash FROM schema_migration) = 'of other files';
    ASSERT (SELECT count(*) FROM account) > 0;
  END $$`)
})
