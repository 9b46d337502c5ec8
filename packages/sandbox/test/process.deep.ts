import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { handedOut } from '../../server/test/banks/api-pix/certificates.ts'
import { testPort } from '../../server/test/support/port.ts'
import { PROGRAM_ENVIRONMENT } from '../../server/test/support/program-environment.ts'
import { until } from '../../server/test/support/until.ts'
import type { Answer } from '../../server/test/support/world.ts'
import { type Account, accountForNewCluster, canEnter } from '../src/postgres/account.ts'

/**
 * The whole sandbox as `npm start` runs it: the server, its own PostgreSQL and its own bank, started with nothing but a
 * data directory.
 */

const PROGRAM = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const DOCTOR = fileURLToPath(new URL('../src/doctor.ts', import.meta.url))

const ADMIN_TOKEN = 'admin-token-of-the-process-tests-0123456789'

/** A sandbox as a process. */
interface Sandbox {
  readonly child: ChildProcess
  readonly exited: Promise<unknown[]>
  readonly log: readonly string[]
  readonly stderr: () => string
  /** The API's address, once it is ready. */
  readonly url: Promise<string>
}

/** A data directory, and sandboxes on it; the test ends with them stopped, then the directory gone. */
async function place(t: TestContext): Promise<{
  directory: string
  start(...options: readonly string[]): Promise<Sandbox>
  startIn(circumstances: Circumstances): Promise<Sandbox>
}> {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-process-'))
  // As root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(directory, 0o711)
  const started: Sandbox[] = []
  t.after(async () => {
    for (const { child } of started) child.kill('SIGTERM')
    await Promise.all(started.map(({ exited }) => exited))
    await rm(directory, { recursive: true, force: true })
  })
  const begin = async (options: readonly string[], circumstances?: Circumstances) => {
    const sandbox = startSandbox(directory, await testPort(), options, circumstances)
    started.push(sandbox)
    return sandbox
  }
  return { directory, start: (...options) => begin(options), startIn: (circumstances) => begin([], circumstances) }
}

/** In what a start differs. */
interface Circumstances {
  readonly umask?: string
  readonly account?: Account
  readonly environment?: Readonly<Record<string, string>>
}

function startSandbox(
  directory: string,
  port: number,
  options: readonly string[],
  { umask = '022', account = {}, environment = {} }: Circumstances = {},
): Sandbox {
  const child = spawn('/bin/sh', ['-c', `umask ${umask}; exec "$@"`, 'sh', process.execPath, ...options, PROGRAM], {
    ...account,
    env: {
      ...PROGRAM_ENVIRONMENT,
      PORT: String(port),
      PIXGATE_SIMULATOR_PORT: '0',
      PIXGATE_DATA_DIR: directory,
      PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN,
      ...environment,
    },
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (text) => {
    stderr += text
  })
  const log: string[] = []
  const url = new Promise<string>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      log.push(line)
      if (line.includes('"msg":"ready"')) resolve(`http://127.0.0.1:${JSON.parse(line).port}`)
    })
  })
  return { child, exited: once(child, 'close'), url, log, stderr: () => stderr }
}

/** Calls the API. */
async function call(url: string, token: string, method: string, path: string, body?: unknown) {
  const response = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Answer['body'] }
}

async function apiKey(url: string): Promise<string> {
  return (await call(url, ADMIN_TOKEN, 'POST', '/api-key/generate')).body.apiKey
}

/** A bank of the standard without a listener. */
const UNREACHABLE_BANK = {
  PIXGATE_BANK: 'api-pix',
  PIXGATE_BANK_PRESET: 'sicredi',
  PIXGATE_BANK_ENVIRONMENT: 'sandbox',
  PIXGATE_BANK_API_URL: 'https://localhost:9/v2',
  PIXGATE_BANK_TOKEN_URL: 'https://localhost:9/oauth/token',
  PIXGATE_BANK_CLIENT_ID: 'client',
  PIXGATE_BANK_CLIENT_SECRET: 'client-secret-of-the-tests',
  PIXGATE_BANK_CERTIFICATE: handedOut(100).pkcs12('').toString('base64'),
}

const charge = { transaction: { value: 10, externalId: 'order-1' } }

/** Whether a running PostgreSQL has left its pid file. */
async function isPostgresRunning(directory: string): Promise<boolean> {
  const files: string[] = await readdir(join(directory, 'postgres')).catch(() => [])
  return files.includes('postmaster.pid')
}

test('[health.3] [PL-2] [sandbox.4] [logs.3] outside a terminal the log is lines of JSON; SIGTERM finishes requests in progress, stops all started processes and exits with 0', async (t) => {
  const { directory, start } = await place(t)
  const { child, exited, log, url: starting } = await start()
  const url = await starting
  const key = await apiKey(url)
  const { body: behavior } = await call(url, key, 'PUT', '/sandbox/behavior', { latencyMs: 300 })
  assert.equal(behavior.latencyMs, 300)
  const creating = call(url, key, 'POST', '/api/pix/cash-in', charge)
  await until(async () => (await call(url, key, 'GET', '/api/pix/cash-in')).body.data.length > 0)
  // The intent is committed and the bank is being asked.
  child.kill('SIGTERM')
  const { status, body } = await creating
  assert.equal(status, 201)
  assert.ok(body.pixCode)
  assert.deepEqual(await exited, [0, null])
  assert.equal(await isPostgresRunning(directory), false)
  assert.ok(log.every((line) => JSON.parse(line).msg))
  assert.ok(!log.join().includes(ADMIN_TOKEN))
})

/** This user, and where it is root one without privileges who can read the checkout. */
async function accounts(): Promise<Account[]> {
  const other = await accountForNewCluster()
  const isOther = other.uid !== undefined && (await canEnter(other, dirname(PROGRAM)))
  return isOther ? [{}, other] : [{}]
}

test('[config.3] [database.2] other users can pass through the data directory but not read, list or write it, regardless of the umask', async (t) => {
  for (const account of await accounts()) {
    const { directory, startIn } = await place(t)
    if (account.uid !== undefined && account.gid !== undefined) await chown(directory, account.uid, account.gid)
    const data = join(directory, 'home', 'data')
    const sandbox = await startIn({ umask: '000', account, environment: { PIXGATE_DATA_DIR: data } })
    await sandbox.url
    const modeOf = async (path: string) => ((await lstat(path)).mode & 0o777).toString(8)
    assert.deepEqual([await modeOf(join(directory, 'home')), await modeOf(data)], ['711', '711'])
    const found = new Map<string, string>()
    for (const name of await readdir(data)) found.set(name, await modeOf(join(data, name)))
    const expected = { bank: '700', postgres: '700', 'postgres.log': '600', 'postgres.password': '600' }
    assert.deepEqual(Object.fromEntries(found), { ...expected, 'sandbox-secrets.json': '600' })
    sandbox.child.kill('SIGTERM')
    assert.deepEqual(await sandbox.exited, [0, null])
  }
})

test('[sandbox.4] outside a terminal the log has the path of the admin token’s file, not the token', async (t) => {
  const { directory, startIn } = await place(t)
  const { url, log } = await startIn({ environment: { PIXGATE_ADMIN_TOKEN: '' } })
  const address = await url
  const line = log.map((text) => JSON.parse(text)).find(({ msg }) => msg.startsWith('the admin token is in'))
  assert.equal(line?.file, join(directory, 'sandbox-secrets.json'))
  const secrets: Record<string, string> = JSON.parse(await readFile(line.file, 'utf8'))
  for (const secret of Object.values(secrets)) assert.ok(!log.join().includes(secret))
  assert.equal((await call(address, secrets.adminToken ?? '', 'POST', '/api-key/generate')).status, 201)
})

test('[config.5] [sandbox.1] [api-pix.14] a sandbox with another bank starts no simulated bank, has no controls and warns about an untested preset', async (t) => {
  const { directory, startIn } = await place(t)
  const { url, log } = await startIn({ environment: UNREACHABLE_BANK })
  const address = await url
  assert.match(log.join(), /"level":"warn",[^}]*Sicredi/)
  const { status, body } = await call(address, await apiKey(address), 'GET', '/sandbox/behavior')
  assert.deepEqual([status, body.type], [404, '/docs/errors#not_found'])
  assert.ok(!(await readdir(directory)).includes('bank'), 'no book of a simulated bank')
})

test('[database.6] a signal during the start leaves nothing running', async (t) => {
  const { directory, start } = await place(t)
  const { child, exited } = await start()
  await until(async () => (await readdir(directory)).includes('sandbox-secrets.json'))
  child.kill('SIGINT')
  assert.deepEqual(await exited, [0, null])
  assert.equal(await isPostgresRunning(directory), false)
})

/** Runs a command on a terminal, which it closes when its standard input ends; then prints the command's exit status. */
const ON_TERMINAL = `
import os, pty, select, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
while 0 not in (ready := select.select([0, terminal], [], [])[0]):
    os.read(terminal, 65536)
os.close(terminal)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`

const PYTHON = process.env.PYTHON ?? 'python3'

test('[health.3] a closed terminal ends the server, its PostgreSQL and its bank', async (t) => {
  const judge = spawn(PYTHON, ['-c', 'import pty'], { stdio: 'ignore' })
  const [status] = await once(judge, 'exit').catch(() => [1])
  if (status !== 0) return t.skip(`${PYTHON} has no pty`)
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-process-'))
  await chmod(directory, 0o711)
  const [port, bankPort] = [await testPort(), await testPort()]
  const places = { PORT: String(port), PIXGATE_SIMULATOR_PORT: String(bankPort), PIXGATE_DATA_DIR: directory }
  const child = spawn(PYTHON, ['-c', ON_TERMINAL, process.execPath, PROGRAM], {
    env: { ...PROGRAM_ENVIRONMENT, ...places, PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN },
    cwd: directory,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(async () => {
    child.stdin.end()
    await rm(directory, { recursive: true, force: true })
  })
  const isThere = (url: string) =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await until(() => isThere(`http://127.0.0.1:${port}/readyz`))
  child.stdin.end()
  assert.equal((await child.stdout.toArray()).join(''), '0\n')
  assert.equal(await isPostgresRunning(directory), false)
  assert.equal(await isThere(`http://127.0.0.1:${bankPort}/balance`), false)
})

test('[health.3] without a terminal SIGHUP is ignored, as nohup asks', async (t) => {
  const { start } = await place(t)
  const { child, url: starting } = await start()
  const url = await starting
  child.kill('SIGHUP')
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
  assert.equal(child.exitCode, null)
})

test('[database.4] a second start on the same data directory fails with an error and does not affect the first', async (t) => {
  const { start } = await place(t)
  const first = await start()
  const url = await first.url
  const second = await start()
  assert.deepEqual(await second.exited, [1, null])
  assert.notEqual(second.stderr(), '')
  assert.doesNotMatch(second.stderr(), /\n\s+at /)
  assert.equal((await fetch(`${url}/readyz`)).status, 200)
})

test('[database.5] requests acknowledged before kill -9 are there after the next start', async (t) => {
  const { start } = await place(t)
  const first = await start()
  const firstUrl = await first.url
  const key = await apiKey(firstUrl)
  const { body: created } = await call(firstUrl, key, 'POST', '/api/pix/cash-in', charge)
  first.child.kill('SIGKILL')
  await first.exited
  const second = await start()
  const url = await second.url
  const { status, body: found } = await call(url, key, 'GET', `/api/pix/cash-in/${created.id}`)
  assert.equal(status, 200)
  assert.equal(found.pixCode, created.pixCode)
  // The bank that came with it remembers too.
  assert.equal((await call(url, key, 'POST', `/sandbox/cash-in/${created.id}/pay`, {})).status, 202)
})

/** A mistake that waits in the program for a signal. */
const mistake = (text: string) => ['--import', `data:text/javascript,process.on('SIGUSR2', () => { ${text} })`]

test('[PL-1] an unexpected error is logged and ends the process at once; the next process resumes', async (t) => {
  const { start } = await place(t)
  const mistakes = {
    uncaughtException: 'setImmediate(() => { throw new Error("unforeseen") })',
    unhandledRejection: 'Promise.reject(new Error("unforeseen"))',
  }
  for (const [event, text] of Object.entries(mistakes)) {
    const { child, exited, url, log } = await start(...mistake(text))
    await url
    child.kill('SIGUSR2')
    assert.deepEqual(await exited, [1, null])
    const { level, error, ...fields } = JSON.parse(log.at(-1) ?? '')
    assert.deepEqual([level, fields.event], ['fatal', event])
    assert.match(error, /unforeseen\n\s+at /)
  }
  const { url } = await start()
  assert.equal((await fetch(`${await url}/readyz`)).status, 200)
})

/** Runs the doctor on a data directory. */
async function doctor(directory: string, environment: Readonly<Record<string, string>>) {
  const env = { ...PROGRAM_ENVIRONMENT, PIXGATE_DATA_DIR: directory, PIXGATE_ADMIN_TOKEN: ADMIN_TOKEN, ...environment }
  const child = spawn(process.execPath, [DOCTOR], { env, cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] })
  const output = (await child.stdout.toArray()).join('')
  return { status: child.exitCode ?? (await once(child, 'exit'))[0], lines: output.trimEnd().split('\n') }
}

test('[doctor.1] the doctor examines the sandbox’s running database and bank, and starts and creates nothing', async (t) => {
  const { directory, start } = await place(t)
  const nothing = await doctor(directory, {})
  assert.deepEqual(nothing, {
    status: 0,
    lines: [
      '✔ configuration  is complete, in sandbox mode',
      "✔ database       the sandbox's own database is not running; npm start starts it",
      '✔ bank           the simulated bank is not running; npm start starts it',
    ],
  })
  assert.deepEqual(await readdir(directory), [])
  const stranger = await doctor(directory, { PIXGATE_PARTNER_URL: 'http://127.0.0.1:9' })
  assert.equal(stranger.status, 1)
  assert.match(stranger.lines[2] ?? '', /^✘ bank +PIXGATE_PARTNER_TOKEN/)

  const { url } = await start()
  const { port } = new URL(await url)
  const { status, lines } = await doctor(directory, { PORT: port })
  assert.match(lines[1] ?? '', /^✔ database /)
  assert.match(lines.at(-1) ?? '', /^✔ bank /)
  assert.deepEqual([status, lines.length], [0, 5])
})

test('[doctor.1] the doctor distinguishes a stopped sandbox from one that does not respond or has lost its database', async (t) => {
  const { directory, start } = await place(t)
  const { child, url: starting } = await start()
  const url = await starting
  const environment = { PORT: new URL(url).port }
  child.kill('SIGSTOP')
  const standing = await doctor(directory, environment)
  child.kill('SIGCONT')
  assert.match(standing.lines[1] ?? '', /^✔ database /)
  assert.match(standing.lines.at(-1) ?? '', new RegExp(`^✘ bank .*${url}`))
  assert.equal(standing.status, 1)

  const [postmaster] = (await readFile(join(directory, 'postgres/postmaster.pid'), 'utf8')).split('\n')
  process.kill(Number(postmaster), 'SIGKILL')
  await until(async () => (await fetch(`${url}/readyz`)).status !== 200)
  const { status, lines } = await doctor(directory, environment)
  assert.match(lines[1] ?? '', new RegExp(`^✘ database .*${url}`))
  assert.equal(status, 1)
})

test('[doctor.1] a port in use by another program and missing or unreadable files are each a ✘', async (t) => {
  const { directory } = await place(t)
  const other = createServer((_, response) => response.end('{}')).listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.after(() => other.close())
  const { port } = other.address() as AddressInfo
  await mkdir(join(directory, 'postgres'))
  const examined = await doctor(directory, { PORT: String(port) })
  const [configuration, database, bank, ...more] = examined.lines
  assert.match(configuration ?? '', /^✔ configuration /)
  assert.match(database ?? '', /^✘ database /)
  assert.match(bank ?? '', /^✘ bank .*PORT/)
  assert.deepEqual([examined.status, more], [1, []])

  await mkdir(join(directory, 'postgres.password'))
  const { status, lines } = await doctor(directory, { PORT: String(port) })
  assert.match(lines[1] ?? '', /^✘ database .*EISDIR: /)
  assert.equal(status, 1)

  await mkdir(join(directory, 'sandbox-secrets.json'))
  const unread = await doctor(directory, { PORT: String(port) })
  assert.match(unread.lines[1] ?? '', /^✘ encryption key .*EISDIR: /)
  assert.deepEqual([unread.status, unread.lines.length], [1, 4])
})
