import { spawn } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { EmbeddedPostgresError } from './error.ts'

/**
 * The operating system user that runs PostgreSQL. PostgreSQL refuses to run as root, so root needs another user.
 */

/** User as options of `spawn`. Empty for the server's own user. */
export interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** User for an existing cluster: its owner, or an unprivileged user if root owns it. */
export async function accountOfCluster(directory: string): Promise<Account> {
  if (!isRoot()) return {}
  const { uid, gid } = await stat(directory)
  return uid === 0 ? unprivilegedAccount() : { uid, gid }
}

/**
 * User for a new cluster. `initdb` looks up its own user by number, so the user must be in `/etc/passwd`.
 * @throws EmbeddedPostgresError if root finds none
 */
export async function accountForNewCluster(): Promise<Account> {
  return isRoot() ? unprivilegedAccount() : {}
}

async function unprivilegedAccount(): Promise<Account> {
  const passwd = await readFile('/etc/passwd', 'utf8')
  for (const wanted of ['postgres', 'nobody']) {
    const [, uid, gid] = passwd.match(new RegExp(`^${wanted}:[^:]*:(\\d+):(\\d+):`, 'm')) ?? []
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new EmbeddedPostgresError(
    'PostgreSQL refuses to run as root, and this machine has neither a user "postgres" nor a user "nobody" to run it as. Add one, start Pixgate as a normal user, or set DATABASE_URL.',
  )
}

function isRoot(): boolean {
  return process.geteuid?.() === 0
}

/** Environment of PostgreSQL's programs. Messages are in English, because some of them are matched. */
export const ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/' }

/** Whether the account can enter a directory. Tries it, because modes, ACLs and mounts all matter. */
export async function canEnter(account: Account, directory: string): Promise<boolean> {
  return (await runAs(account, '/bin/sh', ['-c', 'cd "$1"', 'sh', directory])).succeeded
}

/** Runs a program until it exits, unaffected by Ctrl-C in the terminal. Does not throw if the program fails. */
export function runAs(
  account: Account,
  program: string,
  parameters: readonly string[],
): Promise<{ succeeded: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, {
      ...account,
      cwd: '/',
      env: ENVIRONMENT,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (output += text))
    child.once('error', (error) => resolve({ succeeded: false, output: error.message }))
    child.once('close', (code) => resolve({ succeeded: code === 0, output: output.trim() }))
  })
}
