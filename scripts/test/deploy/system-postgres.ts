import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Account, accountForNewCluster } from '../../../packages/sandbox/src/postgres/account.ts'
import { testPort } from '../../../packages/server/test/support/port.ts'

/** A PostgreSQL of this machine with the programs that the embedded one lacks. */
export interface SystemPostgres {
  readonly account: Account
  /** Connects as its administrator. */
  readonly url: string
  /** Lets programs find it, and lets them be found. */
  readonly environment: Readonly<Record<string, string>>
}

const NEEDED = ['initdb', 'postgres', 'pg_ctl', 'pg_dump', 'pg_restore', 'createdb']

/** The folder of its programs, 15 or newer: `PG_BINDIR`, or the newest where Debian or Red Hat put them. */
export function postgresPrograms(): string | undefined {
  const given = process.env.PG_BINDIR
  const installed = globSync(['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin'])
  const numbered = installed.map((folder) => ({ folder, version: Number(/\d+/.exec(folder)?.[0]) }))
  const newestFirst = numbered.filter(({ version }) => version >= 15).sort((one, other) => other.version - one.version)
  const folders = given === undefined ? newestFirst.map(({ folder }) => folder) : [given]
  return folders.find((folder) => NEEDED.every((program) => existsSync(join(folder, program))))
}

/** Starts one of its own for a test, with an administrator `postgres` that needs no password on loopback. */
export async function startSystemPostgres(t: TestContext, programs: string): Promise<SystemPostgres> {
  const account = await accountForNewCluster()
  const folder = mkdtempSync(join(tmpdir(), 'pixgate-system-postgres-'))
  if (account.uid !== undefined && account.gid !== undefined) chownSync(folder, account.uid, account.gid)
  chmodSync(folder, 0o711)
  const data = join(folder, 'data')
  const run = (program: string, parameters: readonly string[]) => {
    const options = { ...account, cwd: folder, timeout: 60_000 }
    const { status } = spawnSync(join(programs, program), parameters, {
      ...options,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (status !== 0) throw new Error(`${program} ended with ${status}`)
  }
  const port = await testPort()
  run('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale'])
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder}`
  run('pg_ctl', ['-D', data, '-l', join(folder, 'log'), '-w', '-o', settings, 'start'])
  t.after(() => {
    run('pg_ctl', ['-D', data, '-m', 'immediate', '-w', 'stop'])
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    account,
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    environment: { PATH: `${programs}:/usr/bin:/bin`, PGHOST: folder, PGPORT: `${port}`, PGUSER: 'postgres' },
  }
}
