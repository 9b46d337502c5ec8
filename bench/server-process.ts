import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { devNull } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { probePort } from '../packages/server/src/platform/ports.ts'
import type { After } from './benchmark.ts'

/** A server in a process of its own. */
export interface ServerProcess {
  readonly url: string
  readonly pid: number
  /** From the command until it said that it was ready. */
  readonly startMs: number
  /** Ends it and everything it has started, in its own orderly way. */
  stop(): Promise<void>
}

/** This checkout. */
export const ROOT = join(import.meta.dirname, '..')

/** Where a server is run. */
export interface ServerOptions {
  /** The checkout whose command it is; by default this one. */
  readonly root?: string
  /** The file that its log goes to; by default it goes nowhere, as cheaply as can be. */
  readonly log?: string
}

const POLL_MS = 5

/**
 * Runs a command of a checkout's root that serves on `PORT`, and waits until its `/readyz` answers 200.
 * @throws Error where it ends before, with what it had to say
 */
export async function startServer(
  after: After,
  [command = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  { root = ROOT, log = devNull }: ServerOptions = {},
): Promise<ServerProcess> {
  const port = await probePort(0)
  const url = `http://127.0.0.1:${port}`
  const output = await open(log, 'a')
  const startedAt = performance.now()
  const child = spawn(command, args, {
    cwd: root,
    // A group of its own, so that what `npm` started is told to stop as well.
    detached: true,
    // Whoever still holds the last pipe is still running.
    stdio: ['ignore', output.fd, 'pipe'],
    env: { PATH: process.env.PATH, PORT: String(port), ...environment },
  })
  await output.close()
  const complaints: Buffer[] = []
  child.stderr?.on('data', (complaint) => complaints.push(complaint))
  let isGone = false
  const gone = once(child, 'close').then(() => {
    isGone = true
  })
  const stop = async () => {
    if (!isGone) process.kill(-(child.pid as number), 'SIGTERM')
    await gone
  }
  after(stop)
  while (!(await isReady(url))) {
    if (isGone) throw new Error(`${command} ${args.join(' ')} ended: ${Buffer.concat(complaints)}`)
    await delay(POLL_MS)
  }
  return { url, pid: child.pid as number, startMs: performance.now() - startedAt, stop }
}

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.ok === true
}
