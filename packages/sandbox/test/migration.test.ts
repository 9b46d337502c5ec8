import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { PROGRAM_ENVIRONMENT } from '../../server/test/support/program-environment.ts'

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))

test('[database.11] the sandbox’s migration makes and migrates its own database where none is configured, and ends', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'pixgate-sandbox-migration-'))
  t.after(() => rmSync(directory, { recursive: true }))
  // PostgreSQL never runs as root: where root runs this, another user must be able to enter.
  chmodSync(directory, 0o711)
  const migrate = (environment: Record<string, string>) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, 'migrate'], {
      env: { ...PROGRAM_ENVIRONMENT, PIXGATE_DATA_DIR: directory, ...environment },
      cwd: tmpdir(),
      encoding: 'utf8',
    })
    return { status, applied: stdout.includes('"migrations":["0001-foundation.sql"'), stderr }
  }
  assert.deepEqual(migrate({}), { status: 0, applied: true, stderr: '' })
  assert.deepEqual(migrate({}), { status: 0, applied: false, stderr: '' })
  const production = migrate({ PIXGATE_MODE: 'production' })
  assert.equal(production.status, 2)
  assert.match(production.stderr, /PIXGATE_MIGRATION_URL/)
})
