import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../check/repository.ts'
import { type Ended, endOf, productionSettings, ready } from './installation.ts'

/** The address of another database of a server. */
export function onto(url: string, database: string): string {
  const changed = new URL(url)
  changed.pathname = `/${database}`
  return String(changed)
}

const PROGRAM = join(ROOT, 'packages/server/bin/pixgate.mjs')

function pixgate(word: string, settings: Readonly<Record<string, string>>) {
  return spawn(process.execPath, [PROGRAM, word], {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Runs `pixgate migrate` with the login of the owner. */
export const migrateAs = (owner: string) =>
  endOf(pixgate('migrate', { PIXGATE_MODE: 'production', PIXGATE_MIGRATION_URL: owner }))

/** Starts `pixgate api` in production with this login. */
export const serverAs = (login: string) => pixgate('api', productionSettings({ DATABASE_URL: login, PORT: '0' }))

/** Starts a server, stops it when it is ready, and returns its log. */
export async function served(login: string): Promise<string> {
  const server = serverAs(login)
  const ended = endOf(server)
  await ready(server)
  server.kill('SIGTERM')
  const { code, stdout, stderr } = await ended
  assert.deepEqual([code, stderr], [0, ''])
  return stdout
}

/** @throws AssertionError where a program does not end with 0 */
export async function succeeds(ended: Promise<Ended>): Promise<void> {
  const { code, stdout, stderr } = await ended
  assert.equal(code, 0, stdout + stderr)
}
