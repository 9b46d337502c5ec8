import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { databaseAt } from '../../../packages/server/test/support/migrations.ts'
import { spawnProgram } from '../../../packages/server/test/support/server-process.ts'
import { ENVIRONMENT } from '../../../packages/server/test/support/world.ts'
import { ROOT } from '../../check/repository.ts'
import { endOf } from './installation.ts'

/** What the guide says of upgrading. Old and new side by side, and data of before, are in old-writers.test.ts. */

const PROGRAM = join(ROOT, 'packages/server/bin/pixgate.mjs')

/** What the release before had, and what this one has. */
const newest = readdirSync(join(ROOT, 'packages/server/migrations')).sort().at(-1) ?? ''

test('the schema of the version before is brought up to date once, then the service starts and the books are right', async (t) => {
  const DATABASE_URL = await databaseAt(t, Number.parseInt(newest, 10) - 1)
  const env = {
    ...ENVIRONMENT,
    DATABASE_URL,
    PORT: '0',
    PIXGATE_PARTNER_URL: 'http://127.0.0.1:9',
    PIXGATE_LOG_LEVEL: 'info',
  }
  const run = (...words: string[]) => endOf(spawn(process.execPath, [PROGRAM, ...words], { env }))
  const first = await run('migrate')
  assert.equal(first.code, 0, first.stderr)
  assert.ok(first.stdout.includes(`"migrations":["${newest}"]`), first.stdout)
  const second = await run('migrate')
  assert.deepEqual([second.code, second.stdout.includes('"migrations"')], [0, false])

  const server = spawnProgram(PROGRAM, env, ['all'], '"msg":"ready"')
  t.after(() => server.kill())
  assert.ok(await server.ready, server.complaints.join('\n'))
  const verified = await run('verify-ledger')
  assert.match(verified.stdout, /no drift/, verified.stderr)
  server.kill()
  await server.gone
})
