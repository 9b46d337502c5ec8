import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { APPLICATION_ROLE, SESSION_SETTINGS } from '../../../src/platform/db/database.ts'
import { administer } from '../../support/database.ts'
import { testPort } from '../../support/port.ts'
import { world } from '../../support/world.ts'

/** Transaction mode needs prepared statements, which PgBouncer has since 1.21; older ones pool sessions. */
async function poolMode(): Promise<'transaction' | 'session' | undefined> {
  const version = await promisify(execFile)('pgbouncer', ['--version']).catch(() => undefined)
  if (!version) return undefined
  const [, major, minor] = /PgBouncer (\d+)\.(\d+)/.exec(version.stdout) ?? []
  return Number(major) > 1 || Number(minor) >= 21 ? 'transaction' : 'session'
}

/** Starts a pooler before a database, whose login has the settings that the guide names. @returns its address */
async function pooled(t: TestContext, databaseUrl: string, mode: string): Promise<string> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl)
  const name = pathname.slice(1)
  const settings = { ...SESSION_SETTINGS, statement_timeout: '5000', role: APPLICATION_ROLE }
  await administer(
    databaseUrl,
    Object.entries(settings)
      .map(([key, value]) => `ALTER ROLE "${username}" IN DATABASE "${name}" SET ${key} = '${value}';`)
      .join(' '),
  )
  const folder = await mkdtemp(join(tmpdir(), 'pixgate-pgbouncer-'))
  const own = await testPort()
  const isRoot = process.getuid?.() === 0
  const to = [
    `host=${hostname}`,
    `port=${port}`,
    `dbname=${name}`,
    `user=${username}`,
    password && `password=${password}`,
  ]
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
${name} = ${to.filter(Boolean).join(' ')}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
auth_type = any
unix_socket_dir =
pool_mode = ${mode}
default_pool_size = 30
ignore_startup_parameters = options
${mode === 'transaction' ? 'max_prepared_statements = 500' : ''}
`,
  )
  await chmod(folder, 0o755)
  const asUser = isRoot ? ['-u', 'nobody'] : []
  const pooler: ChildProcess = spawn('pgbouncer', [...asUser, join(folder, 'pgbouncer.ini')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  t.after(async () => {
    pooler.kill('SIGKILL')
    await rm(folder, { recursive: true })
  })
  for await (const line of pooler.stderr ?? []) if (String(line).includes('process up')) break
  pooler.stderr?.resume()
  assert.equal(pooler.exitCode, null)
  return `postgres://${username}@127.0.0.1:${own}/${name}`
}

test('[database.14] behind PgBouncer a charge is paid, refunded and paid out, and each is delivered', async (t) => {
  const mode = await poolMode()
  if (!mode) return t.skip('pgbouncer is not installed')
  const pix = await world(t, {}, { reach: (databaseUrl) => pooled(t, databaseUrl, mode) })
  const { id } = await pix.paid('100.00')
  const refund = await pix.refundIn(id, 40)
  const payout = await pix.cashOut()
  await pix.until(`/api/pix/refund/${refund.id}`, ({ status }) => status === 'CONFIRMED')
  await pix.until(`/api/pix/cash-out/${payout.id}`, ({ status }) => status === 'CONFIRMED')
  await pix.receiver.arrived(3)
  await pix.assertBooksAgree()
})
