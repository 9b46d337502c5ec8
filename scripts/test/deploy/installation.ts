import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Account, accountForNewCluster } from '../../../packages/sandbox/src/postgres/account.ts'
import { ROOT } from '../../check/repository.ts'
import { buildContext } from './build-context.ts'

/** How a program ended. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A machine for one test: a checkout, a Node.js and an npm, in folders that an unprivileged user can reach. */
export interface Machine {
  readonly folder: string
  /** Runs lines of a shell in the checkout, to their end. */
  readonly run: (lines: string, environment?: Readonly<Record<string, string>>) => Promise<Ended>
  /** Starts one command in the same way. It goes with the test. */
  readonly start: (lines: string) => ChildProcess
}

/** Lays the machine out. Of the checkout it has what builds the image, and the example of a configuration. What runs on it runs as the user that PostgreSQL would run as, where root runs the tests. */
export async function bareMachine(t: TestContext): Promise<Machine> {
  const account = await accountForNewCluster()
  const folder = mkdtempSync(join(tmpdir(), 'pixgate-machine-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  for (const name of ['', 'bin', 'checkout', 'etc', 'home', 'opt']) makeFolder(join(folder, name), account)
  for (const path of [...buildContext(), '.env.example']) {
    mkdirSync(join(folder, 'checkout', dirname(path)), { recursive: true })
    copyFileSync(join(ROOT, path), join(folder, 'checkout', path))
  }
  placeNode(join(folder, 'bin/node'))
  placeNpm(folder)
  const shell = (lines: string, environment = {}) =>
    spawn('/bin/sh', ['-euc', lines], {
      ...account,
      cwd: join(folder, 'checkout'),
      env: { ...environmentOf(folder, account), ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  return {
    folder,
    run: async (lines, environment) => endOf(shell(lines, environment)),
    start: (lines) => {
      const child = shell(lines)
      t.after(() => child.kill('SIGKILL'))
      return child
    },
  }
}

function makeFolder(path: string, { uid, gid }: Account): void {
  mkdirSync(path, { recursive: true })
  chmodSync(path, 0o755)
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
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
  writeFileSync(join(folder, 'bin/npm'), `#!/bin/sh\nexec node "${folder}/npm/bin/npm-cli.js" "$@"\n`, { mode: 0o755 })
}

/** Nothing of ours but how the registry is reached; an unprivileged tester's own cache spares the downloads. */
function environmentOf(folder: string, { uid }: Account): Record<string, string> {
  const passed = Object.entries(process.env).filter(([name]) => /proxy|registry|cafile|extra_ca_certs/i.test(name))
  const cache = uid === undefined ? process.env.npm_config_cache : undefined
  return {
    ...(Object.fromEntries(passed) as Record<string, string>),
    ...(cache && { npm_config_cache: cache, npm_config_prefer_offline: 'true' }),
    HOME: join(folder, 'home'),
    PATH: `${join(folder, 'bin')}:/usr/bin:/bin`,
  }
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
