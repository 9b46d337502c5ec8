import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { cashIn } from '@pixgate/spec'
import { startEmbeddedPostgres } from '../../packages/sandbox/src/postgres/embedded-postgres.ts'
import { migrate } from '../../packages/server/src/platform/db/migrate.ts'
import { administer, testDatabase } from '../../packages/server/test/support/database.ts'

const SCRIPT = fileURLToPath(new URL('../program.ts', import.meta.url))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the script as npm does, with no variable but these. */
function verifyLedger(env: Record<string, string>, ...parameters: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const { PATH = '' } = process.env
    execFile(
      process.execPath,
      [SCRIPT, 'verify-ledger', ...parameters],
      { env: { PATH, ...env } },
      (error, stdout, stderr) => resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })
}

test('[ledger.verify.3] the exit status is 0 where nothing differs and 1 for drifted books', async (t) => {
  const { url } = await testDatabase(t)
  const right = await verifyLedger({ DATABASE_URL: url })
  assert.deepEqual([right.code, right.stderr], [0, ''])
  assert.match(right.stdout, /^total +R\$ 0,00 +R\$ 0,00 +R\$ 0,00$/m)
  assert.match(right.stdout, /no drift/)
  assert.match(right.stdout, /^Books not compared with the bank's statement: it was never read$/m)

  await administer(url, "UPDATE account SET balance_cents = 5 WHERE code = 'fees'")
  const drifted = await verifyLedger({ DATABASE_URL: url })
  assert.equal(drifted.code, 1)
  assert.match(drifted.stdout, /✘ account-balance: 1\./)
  const json = await verifyLedger({ DATABASE_URL: url }, '--json', '--at', '2026-11-21T00:00:00Z')
  assert.equal(json.code, 1)
  const { faults, at } = JSON.parse(json.stdout)
  assert.deepEqual([faults, at], [1, '2026-11-21T00:00:00.000Z'])
})

test('[ledger.verify.3] the exit status is 2 where it could not look', async () => {
  const nowhere = { DATABASE_URL: 'postgres://127.0.0.1:1/none' }
  const empty = { PIXGATE_DATA_DIR: join(tmpdir(), 'pixgate-nowhere') }
  const cases: [Record<string, string>, string[], RegExp][] = [
    [nowhere, [], /ECONNREFUSED/],
    [empty, [], /there is no database in/],
    [nowhere, ['--at', 'yesterday'], /yesterday is no instant. Usage:/],
    [nowhere, ['--at', '2026-11-21T25:00:00Z'], /is no instant/],
    [nowhere, ['--at', '2026-11-21T00:00:00'], /is no instant/],
    [nowhere, ['--all'], /--all/],
  ]
  for (const [env, parameters, message] of cases) {
    const { code, stdout, stderr } = await verifyLedger(env, ...parameters)
    assert.deepEqual([code, stdout], [2, ''], parameters.join(' '))
    assert.match(stderr, message)
  }
})

test('[ledger.verify.3] the embedded database is looked at beside its server, and without it', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-verify-'))
  // PostgreSQL never runs as root: where root runs this, another user must be able to enter.
  await chmod(directory, 0o711)
  t.after(() => rm(directory, { recursive: true }))
  const postgres = await startEmbeddedPostgres({ dataDirectory: directory })
  try {
    await migrate(postgres.url, [cashIn])
    assert.equal((await verifyLedger({ PIXGATE_DATA_DIR: directory })).code, 0)
  } finally {
    await postgres.stop()
  }
  const { code, stdout } = await verifyLedger({ PIXGATE_DATA_DIR: directory })
  assert.equal(code, 0, stdout)
})
