import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { type Account, accountForNewCluster } from '../../../packages/sandbox/src/postgres/account.ts'
import { startEmbeddedPostgres } from '../../../packages/sandbox/src/postgres/embedded-postgres.ts'
import { administer } from '../../../packages/server/test/support/database.ts'
import { ROOT } from '../../check/repository.ts'
import { buildContext } from './build-context.ts'
import { blocksOf } from './guide.ts'

/** How a program ended. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A machine for one test: a Node.js, an npm, and a checkout that only its user can read. */
export interface Machine {
  readonly folder: string
  /** Lines of the guide, with the folders of this machine. */
  readonly here: (lines: string) => string
  /**
   * Runs lines of a shell in the checkout, to their end, with a mask that keeps what they make from everybody else. Lines
   * that begin with `sudo` run as who runs the tests, where that is root.
   */
  readonly run: (lines: string, environment?: Readonly<Record<string, string>>) => Promise<Ended>
  /** The same. @returns what they printed @throws Error where they do not end with status 0 */
  readonly succeed: (lines: string, environment?: Readonly<Record<string, string>>) => Promise<string>
  /** Starts one command in the same way. It goes with the test. */
  readonly start: (lines: string) => ChildProcess
}

/**
 * Lays the machine out. Of the checkout it has what builds the image, and the example of a configuration. What runs on it
 * runs as the user that PostgreSQL would run as, where root runs the tests.
 */
export async function bareMachine(t: TestContext): Promise<Machine> {
  const account = await accountForNewCluster()
  const folder = mkdtempSync(join(tmpdir(), 'pixgate-machine-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  chmodSync(folder, 0o755)
  for (const name of ['bin', 'checkout', 'etc', 'home', 'opt', 'sbin']) mkdirSync(join(folder, name), { mode: 0o755 })
  for (const path of [...buildContext(), '.env.example']) {
    mkdirSync(join(folder, 'checkout', dirname(path)), { recursive: true })
    copyFileSync(join(ROOT, path), join(folder, 'checkout', path))
  }
  for (const name of ['checkout', 'home']) giveAlone(join(folder, name), account)
  placeNode(join(folder, 'bin/node'))
  placeNpm(folder)
  placeProgram(join(folder, 'sbin/sudo'), 'exec "$@"')
  const shell = shellOf(folder, account)
  const run: Machine['run'] = (lines, environment) => endOf(shell(lines, environment))
  return {
    folder,
    here: (lines) => lines.replaceAll(/(?<![\w.])\/(?=(?:opt|etc)\/)/g, `${folder}/`),
    run,
    succeed: async (lines, environment) => {
      const { code, stdout, stderr } = await run(lines, environment)
      if (code !== 0) throw new Error(`status ${code} of:\n${lines}\n${stdout}${stderr}`)
      return stdout
    },
    start: (lines) => {
      const child = shell(lines)
      t.after(() => child.kill('SIGKILL'))
      return child
    },
  }
}

function shellOf(folder: string, account: Account) {
  const environment = environmentOf(folder, account)
  const administration = { ...environment, PATH: `${join(folder, 'sbin')}:${environment.PATH}` }
  return (lines: string, given: Readonly<Record<string, string>> = {}) => {
    const isAdministration = lines.startsWith('sudo ')
    return spawn('/bin/sh', ['-euc', `umask 077\n${lines}`], {
      ...(!isAdministration && account),
      cwd: join(folder, 'checkout'),
      env: { ...(isAdministration ? administration : environment), ...given },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
}

/** Makes a user the owner of a folder and of all in it, which nobody else can then read. */
function giveAlone(folder: string, { uid, gid }: Account): void {
  for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    const path = join(folder, name)
    chmodSync(path, statSync(path).isDirectory() ? 0o700 : 0o600)
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
  }
}

/** A program of a machine that is these lines of a shell. */
export function placeProgram(path: string, lines: string): void {
  writeFileSync(path, `#!/bin/sh\n${lines}\n`, { mode: 0o755 })
}

/** What the user of an account is called. */
export function nameOf({ uid }: Account): string {
  return execFileSync('id', ['-un', ...(uid === undefined ? [] : [`${uid}`])], { encoding: 'utf8' }).trim()
}

/** The one that runs the tests may be where nobody else can reach it. */
function placeNode(path: string): void {
  try {
    linkSync(process.execPath, path)
  } catch {
    copyFileSync(process.execPath, path)
  }
}

/** Also npm may be in a folder of root's alone. */
function placeNpm(folder: string): void {
  const program = process.env.npm_execpath
  if (program === undefined) throw new Error('no npm: run the tests with `npm test`')
  cpSync(dirname(dirname(program)), join(folder, 'npm'), { recursive: true })
  placeProgram(join(folder, 'bin/npm'), `exec node "${folder}/npm/bin/npm-cli.js" "$@"`)
}

/** Nothing of ours but how the registry is reached; an unprivileged tester's own cache spares the downloads. */
function environmentOf(folder: string, account: Account) {
  const passed = Object.entries(process.env).filter(([name]) => /proxy|registry|cafile|extra_ca_certs/i.test(name))
  const cache = account.uid === undefined ? process.env.npm_config_cache : undefined
  return {
    ...(Object.fromEntries(passed) as Record<string, string>),
    ...(cache && { npm_config_cache: cache, npm_config_prefer_offline: 'true' }),
    HOME: join(folder, 'home'),
    USER: nameOf(account),
    PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
  }
}

/** A file of settings, quoted as the guide has it. */
export function settingsFile(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join('')
}

/** A PostgreSQL of its own, as the guide’s first lines prepare it. */
export async function preparedDatabase(t: TestContext): Promise<{ server: string; owner: string }> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'pixgate-install-'))
  // As root, PostgreSQL runs as another user, who must be able to enter.
  chmodSync(dataDirectory, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDirectory })
  t.after(async () => {
    await postgres.stop()
    rmSync(dataDirectory, { recursive: true })
  })
  const [password, another] = [randomUUID(), randomUUID()]
  const chosen = blocksOf('Starting it for real', 'sql')
    .join('')
    .replace('choose-one', password)
    .replace('choose-another', another)
  const statements = chosen.split(';')
  for (const statement of statements.filter((text) => text.trim() !== '')) await administer(postgres.url, statement)
  const url = new URL(postgres.url)
  const of = (login: string) =>
    `postgres://${login}@${url.host}/pixgate_live?sslmode=disable&application_name=installed`
  return { server: of(`pixgate_server:${another}`), owner: of(`pixgate_owner:${password}`) }
}

/** What production needs. */
export function productionSettings(given: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return {
    PIXGATE_MODE: 'production',
    PIXGATE_ADMIN_TOKEN: 'admin-token-of-an-installation-Qm7vXz2LpT9sWk4RbN8y',
    PIXGATE_ENCRYPTION_KEY: 'encryption-key-of-an-installation-Hd5gJc3ZtV6nKx1FqS0w',
    // The discard service: nobody is there.
    PIXGATE_PARTNER_URL: 'https://127.0.0.1:9',
    PIXGATE_PARTNER_TOKEN: 'partner-token-of-an-installation-Ye8uPo4RiB2mLk7XaD9t',
    PIXGATE_PARTNER_SECRET: 'partner-secret-of-an-installation-Nf6hWs1CjG3vZq5TbM8e',
    PIXGATE_TRUST_PROXY: 'none',
    PIXGATE_MERCHANT_PIX_KEY: 'loja@example.com',
    PIXGATE_MERCHANT_NAME: 'Loja',
    PIXGATE_MERCHANT_CITY: 'Sao Paulo',
    PIXGATE_PAYMENT_MAX_CENTS: '500000',
    PIXGATE_HOUR_MAX_CENTS: '2000000',
    PIXGATE_DAY_MAX_CENTS: '10000000',
    PIXGATE_NIGHT_MAX_CENTS: 'none',
    ...given,
  }
}

/** Resolves when the process says that it is ready. @throws Error where it ends before */
export async function ready(process: ChildProcess): Promise<void> {
  const complaints: string[] = []
  process.stderr?.on('data', (text) => complaints.push(String(text)))
  if (process.stdout === null) throw new Error('its output is a pipe')
  for await (const line of createInterface(process.stdout)) if (line.includes('"msg":"ready"')) return
  throw new Error(complaints.join(''))
}

/** Waits until a process is gone, and returns all it wrote. */
export async function endOf(child: ChildProcess): Promise<Ended> {
  const written = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text) => {
      written[stream] += text
    })
  }
  const [code] = await once(child, 'close')
  return { code, ...written }
}
