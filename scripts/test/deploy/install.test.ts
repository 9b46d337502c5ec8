import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { startEmbeddedPostgres } from '../../../packages/sandbox/src/postgres/embedded-postgres.ts'
import { administer } from '../../../packages/server/test/support/database.ts'
import { testPort } from '../../../packages/server/test/support/port.ts'
import { blocksOf } from './guide.ts'
import { bareMachine, endOf } from './installation.ts'

/**
 * The production path of the operator's guide, line by line, in an empty folder, as an unprivileged user, on a PostgreSQL
 * of its own.
 */
const HEADING = 'Starting it for real'

test('the guide’s lines install, migrate, start, check and stop the server, with nothing of ours but the folders', async (t) => {
  const machine = await bareMachine(t)
  const port = await testPort()
  const onThisMachine = (lines: string) =>
    lines
      .replaceAll('/opt/pixgate', join(machine.folder, 'opt/pixgate'))
      .replaceAll('/etc/pixgate', join(machine.folder, 'etc'))
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`)
  const [install, configure, migrate, api, worker, check, ...more] = blocksOf(HEADING, 'sh').map(onThisMachine)
  assert.ok(install && configure && migrate && api && worker && check && more.length === 0)
  const succeed = async (lines: string) => {
    const ended = await machine.run(lines)
    assert.equal(ended.code, 0, `${lines}${ended.stdout}${ended.stderr}`)
    return ended.stdout
  }

  const databaseUrl = await makeDatabase(t)
  await succeed(install)
  await succeed(configure)
  writeFileSync(
    join(machine.folder, 'etc/pixgate.env'),
    environmentFile({ DATABASE_URL: databaseUrl, PORT: `${port}` }),
  )
  const [environment = ''] = migrate.split('\n')
  assert.match(await succeed(migrate), /the schema was brought up to date/)
  assert.doesNotMatch(await succeed(migrate), /the schema was brought up to date/)

  const processes = [api, worker].map((command) => machine.start(`${environment}\nexec ${command}`))
  for (const process of processes) await ready(process)
  assert.match(await succeed(`${environment}\n${check}`), /"status":"ready"[\s\S]+no drift/)
  for (const process of processes) {
    process.kill('SIGTERM')
    const { code, stderr } = await endOf(process)
    assert.deepEqual([code, stderr], [0, ''])
  }

  const again = await machine.run(install)
  assert.equal(again.code, 2)
  assert.match(again.stderr, /is not empty: install each version into a folder of its own/)
})

test('with an older Node.js the installation says one sentence and writes nothing', async (t) => {
  const machine = await bareMachine(t)
  const old = join(machine.folder, 'home/old.cjs')
  writeFileSync(old, "Object.defineProperty(process, 'versions', { value: { node: '22.23.1' } })")
  const NODE_OPTIONS = `--require=${old}`
  const { code, stdout, stderr } = await machine.run(`sh deploy/install.sh ${machine.folder}/opt/pixgate`, {
    NODE_OPTIONS,
  })
  assert.deepEqual([code, stdout], [2, ''])
  assert.match(stderr, /^pixgate: this is Node\.js \S+, and Node\.js 24 or newer is needed: .+\n$/)
  assert.deepEqual(readdirSync(join(machine.folder, 'opt')), [])

  const started = await machine.run('node packages/server/bin/pixgate.mjs api', { NODE_OPTIONS })
  assert.deepEqual([started.code, started.stderr], [2, stderr])
})

/** A PostgreSQL of its own, as the first lines of the guide prepare it. */
async function makeDatabase(t: TestContext): Promise<string> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'pixgate-install-'))
  // As root, PostgreSQL runs as another user, who must be able to enter.
  chmodSync(dataDirectory, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDirectory })
  t.after(async () => {
    await postgres.stop()
    rmSync(dataDirectory, { recursive: true })
  })
  const statements = blocksOf(HEADING, 'sql').join('').split(';')
  for (const statement of statements.filter((text) => text.trim() !== '')) await administer(postgres.url, statement)
  const url = new URL(postgres.url)
  return `postgres://pixgate_owner:choose-one@${url.host}/pixgate_live`
}

function environmentFile(given: Readonly<Record<string, string>>): string {
  const values = {
    PIXGATE_MODE: 'production',
    PIXGATE_ADMIN_TOKEN: 'admin-token-of-an-installation-0123456789',
    PIXGATE_ENCRYPTION_KEY: 'encryption-key-of-an-installation-0123456789',
    // The discard service: nobody is there.
    PIXGATE_PARTNER_URL: 'https://127.0.0.1:9',
    PIXGATE_PARTNER_TOKEN: 'partner-token-of-an-installation-0123456789',
    PIXGATE_PARTNER_SECRET: 'partner-secret-of-an-installation-0123456789',
    PIXGATE_MERCHANT_PIX_KEY: 'loja@example.com',
    PIXGATE_MERCHANT_NAME: 'Loja',
    PIXGATE_MERCHANT_CITY: '"Sao Paulo"',
    ...given,
  }
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}

/** Resolves when the process says that it is ready. @throws where it ends before */
async function ready(process: ChildProcess): Promise<void> {
  const complaints: string[] = []
  process.stderr?.on('data', (text) => complaints.push(String(text)))
  if (process.stdout === null) throw new Error('its output is a pipe')
  for await (const line of createInterface(process.stdout)) if (line.includes('"msg":"ready"')) return
  throw new Error(complaints.join(''))
}
