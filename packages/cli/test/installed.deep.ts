import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { ROOT } from '../../../scripts/check/repository.ts'
import { PUBLISHED } from '../../../scripts/pack/package.ts'
import { endOf, preparedDatabase, productionSettings, ready } from '../../../scripts/test/deploy/installation.ts'
import { projectWith } from '../../../scripts/test/pack/project.ts'
import { testPort } from '../../server/test/support/port.ts'
import { wallNow } from '../../server/test/support/wall-clock.ts'
import { commands } from '../src/index.ts'
import { assertKeptInProfile } from './support/canaries.ts'
import { json } from './support/running.ts'

/** An empty project that has installed the tarballs: nothing of the repository is used below. */
let project = ''
test.before(() => {
  project = projectWith(PUBLISHED)
})
test.after(() => rmSync(project, { recursive: true }))

type Settings = Readonly<Record<string, string>>

interface Shell {
  /** Was empty. */
  readonly folder: string
  start(words: readonly string[], settings?: Settings): ChildProcess
}

/** Runs `pixgate` in a folder of its own. */
function shellIn(t: TestContext): Shell {
  const folder = mkdtempSync(join(project, 'folder-'))
  chmodSync(folder, 0o711)
  const start: Shell['start'] = (words, settings = {}) => {
    const { PATH = '' } = process.env
    const env = {
      PATH,
      HOME: folder,
      XDG_CONFIG_HOME: join(folder, 'config'),
      PIXGATE_SIMULATOR_PORT: '0',
      ...settings,
    }
    const program = join(project, 'node_modules/.bin/pixgate')
    const child = spawn(program, words, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
    t.after(async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill()
      await once(child, 'exit')
    })
    return child
  }
  return { folder, start }
}

interface Dev {
  readonly url: string
  readonly apiKey: string
  /** @throws AssertionError where it does not end with 0 */
  stop(): Promise<void>
}

/** Starts `pixgate dev` and waits until it says that it is ready. @param watch gets what it writes */
async function startDev(
  { folder, start }: Shell,
  words: readonly string[],
  settings: Settings = {},
  watch: (text: string) => void = () => undefined,
): Promise<Dev> {
  const child = start([...words, '--port', String(await testPort()), '--json'], settings)
  const { stdout, stderr } = child
  assert.ok(stdout && stderr)
  const log: string[] = []
  stderr.setEncoding('utf8').on('data', (text) => {
    log.push(text)
    watch(text)
  })
  const lines = createInterface({ input: stdout }).on('line', watch)
  const [line] = await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => assert.fail(log.join('')))])
  const profiles = JSON.parse(readFileSync(join(folder, 'config/pixgate/profiles.json'), 'utf8'))
  const stop = async () => {
    const ended = once(child, 'exit')
    child.kill()
    assert.deepEqual(await ended, [0, null])
  }
  return { url: JSON.parse(line).url, apiKey: profiles.dev.apiKey, stop }
}

const SELL = `
import { once } from 'node:events'
import { createServer } from 'node:http'
import { cents, Pixgate } from '@pixgate/sdk'
import { publicKeys, verifyWebhook } from '@pixgate/sdk/webhooks'

const pixgate = new Pixgate()
const server = createServer().listen(0, '127.0.0.1')
await once(server, 'listening')
const url = \`http://127.0.0.1:\${server.address().port}/pix\`
const { secret } = await pixgate.webhooks.create({ url, events: ['pix_cash_in'] })
const notified = once(server, 'request')
const charge = await pixgate.cashIns.create({ externalId: process.argv[2], value: cents(150_25) })
await pixgate.sandbox.pay(charge.id)
const [request, response] = await notified
const signed = { headers: request.headers, body: Buffer.concat(await request.toArray()) }
const { event } = await verifyWebhook(signed, { secret, keys: publicKeys(process.env.PIXGATE_URL) })
response.end()
server.close()
const receipt = await pixgate.cashIns.receipt(charge.id)
console.log(JSON.stringify([event.id === charge.id, event.status, event.value_cents, receipt.type]))
`

const TEST = `
import { cents } from '@pixgate/sdk'
import { startSandbox } from '@pixgate/sdk/testing'

await using sandbox = await startSandbox()
const { id } = await sandbox.pixgate.cashIns.create({ externalId: 'test-1', value: cents(1_00) })
await sandbox.pixgate.sandbox.pay(id)
console.log((await sandbox.pixgate.cashIns.waitForEnd(id)).outcome)
`

test('[sdk.13] a test of a project starts the sandbox that it has installed', async () => {
  writeFileSync(join(project, 'test.mjs'), TEST)
  const { stdout, stderr } = await endOf(
    spawn(process.execPath, ['test.mjs'], { cwd: project, env: { PATH: process.env.PATH } }),
  )
  assert.equal(stdout, 'confirmed\n', stderr)
})

const COMMAND = commands.find(({ name }) => name === 'dev')

test('[cli.11] from tarballs alone: dev in an empty folder, to a paid charge whose webhook is verified', async (t) => {
  const shell = shellIn(t)
  writeFileSync(join(project, 'sell.mjs'), SELL)
  const times: number[] = []
  const keys = new Set<string>()
  for (const round of ['first', 'second']) {
    const startedAt = wallNow()
    const { url, apiKey, stop } = await startDev(shell, ['dev'])
    keys.add(apiKey)
    const env = { PIXGATE_URL: url, PIXGATE_API_KEY: apiKey }
    const sale = await endOf(spawn(process.execPath, ['sell.mjs', round], { cwd: project, env }))
    times.push(wallNow() - startedAt)
    assert.equal(sale.stdout, `${JSON.stringify([true, 'PAID', 150_25, 'application/pdf'])}\n`, sale.stderr)
    for (const [path, content] of [
      ['/console', '/console/assets/'],
      ['/docs', '/docs/assets/'],
    ] as const) {
      const page = await fetch(`${url}${path}`)
      assert.deepEqual([page.status, (await page.text()).includes(content)], [200, true], path)
    }
    const { code, stdout, stderr } = await endOf(shell.start(['trigger', 'cash-out.confirmed', '--json']))
    assert.equal(code, 0, `${stdout}${stderr}`)
    await stop()
  }
  assert.equal(keys.size, 1, 'the place of listen belongs to the key')
  t.diagnostic(`dev to a paid charge: ${times.map((ms) => `${(ms / 1_000).toFixed(1)} s`).join(', then ')}`)
})

for (const example of COMMAND?.examples ?? []) {
  test(`[cli.1] [cli.11] ${example}`, async (t) => {
    const shell = shellIn(t)
    const { stop } = await startDev(shell, example.split(' ').slice(1))
    const create = ['charge', 'create', '--value', '1.00', '--external-id', 'order-1', '--json']
    const { code, stdout, stderr } = await endOf(shell.start(create))
    assert.equal(code, 0, stderr)
    assert.ok(json(stdout).pixCode)
    await stop()
  })
}

test('[cli.2] dev ends with exit code 1 where the sandbox does not start', async (t) => {
  const { start } = shellIn(t)
  const words = ['dev', '--port', String(await testPort()), '--json']
  const { code, stderr } = await endOf(start(words, { PIXGATE_LOG_LEVEL: 'nothing' }))
  assert.deepEqual([code, json(stderr.split('\n').at(-2) ?? '').error.code], [1, 'sandbox_ended'])
})

test('[cli.11] from tarballs alone: server migrates a database, and serves it in every role', async (t) => {
  const { start } = shellIn(t)
  const { server, owner } = await preparedDatabase(t)
  const succeed = async (words: readonly string[], settings: Settings = {}) => {
    const { code, stdout, stderr } = await endOf(start(['server', ...words], settings))
    assert.equal(code, 0, `${stdout}${stderr}`)
    return stdout
  }
  await succeed(['migrate'], { PIXGATE_MODE: 'production', PIXGATE_MIGRATION_URL: owner })
  const settings = productionSettings({ DATABASE_URL: server, PORT: '0' })
  const [, words = ''] = /^exec node (.*?) "/m.exec(readFileSync(join(ROOT, 'deploy/pixgate'), 'utf8')) ?? []
  const flags = words.split(' ')
  assert.ok(flags.length > 2)
  for (const role of ['all', 'api', 'worker']) {
    const child = start(['server', role], settings)
    const ended = endOf(child)
    await ready(child)
    const [pid = ''] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ')
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    assert.ok(line.includes(`pixgate.mjs\0${role}`))
    assert.deepEqual(
      flags.filter((flag) => !line.includes(`\0${flag}\0`)),
      [],
      'those of an installation',
    )
    child.kill()
    assert.equal((await ended).code, 0)
  }
  assert.equal(json(await succeed(['verify-ledger', '--json'], settings)).faults, 0)
  assert.ok((await succeed(['--help'])).includes('worker'))
})

/** Arguments of all processes, each behind a NUL. */
function commandLines(): string[] {
  return globSync('/proc/[0-9]*/cmdline').flatMap((path) => {
    try {
      return [readFileSync(path, 'utf8')]
    } catch {
      return []
    }
  })
}

const canary = (name: string) => `canary-of-the-${name}-${randomUUID()}`

const CREATE = 'charge create --value 1.00 --external-id order-1 --description bank:pay --wait'

/** Commands and their exit codes: done, not found, not verified, not allowed. */
const REMOTE = {
  [CREATE]: 0,
  doctor: 0,
  'keys create --name till --save till': 0,
  'webhooks list': 0,
  'cases list': 0,
  'charge get 0190c9a2-7f5e-7c3a-9d27-1f3b5a7c9e11': 3,
  'verify --secret-file ../secret --ignore-age': 3,
  'cases list --secret-file ../secret': 4,
} as const

test('[cli.5] secrets are in no output, in no argument of a process, and in no file but the profile', async (t) => {
  const shell = shellIn(t)
  const { server, owner } = await preparedDatabase(t)
  const secrets = {
    PIXGATE_ADMIN_TOKEN: canary('token'),
    PIXGATE_ENCRYPTION_KEY: canary('key'),
    PIXGATE_PARTNER_TOKEN: canary('bank'),
    PIXGATE_PARTNER_SECRET: canary('events'),
  }
  const given = { ...secrets, PIXGATE_LOG_LEVEL: 'trace' }
  const webhookSecret = `whsec_${Buffer.from(canary('webhook')).toString('base64')}`
  writeFileSync(join(project, 'secret'), webhookSecret)
  const seen: string[] = []
  const watch = (text: string) => void seen.push(text, ...commandLines())
  const run = async (words: string, code: number, settings: Settings = {}) => {
    const child = shell.start(words.split(' '), settings)
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', watch)
    assert.equal((await endOf(child)).code, code, words)
  }
  const migration = { PIXGATE_MODE: 'production', PIXGATE_MIGRATION_URL: owner }
  const production = productionSettings({ ...given, DATABASE_URL: server, PORT: '0' })
  await run('server migrate', 1, { ...migration, PIXGATE_MIGRATION_URL: owner.replace('/pixgate_live', '/nothing') })
  await run('server migrate', 0, migration)
  await run('server doctor', 1, production)
  const serving = shell.start(['server', 'all'], production)
  for (const stream of [serving.stdout, serving.stderr]) stream?.setEncoding('utf8').on('data', watch)
  await ready(serving)

  const { url, apiKey, stop } = await startDev(shell, ['dev'], given, watch)
  const environment = { PIXGATE_URL: url, PIXGATE_API_KEY: apiKey, PIXGATE_ADMIN_TOKEN: given.PIXGATE_ADMIN_TOKEN }
  for (const settings of [{}, environment])
    for (const [words, code] of Object.entries(REMOTE))
      for (const more of ['', ' --json']) await run(words + more, code, settings)
  await run('balance', 5, { ...environment, PIXGATE_URL: 'http://127.0.0.1:1' })
  await stop()

  const passwords = [server, owner].map((address) => new URL(address).password)
  const canaries = [...Object.values(secrets), webhookSecret, apiKey, ...passwords]
  for (const secret of canaries) assert.ok(seen.every((text) => !text.includes(secret)))
  assertKeptInProfile(shell.folder, canaries)
})
