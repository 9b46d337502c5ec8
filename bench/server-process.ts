import { spawn } from 'node:child_process'
import { once } from 'node:events'
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

const ROOT = join(import.meta.dirname, '..')

const POLL_MS = 5

/**
 * Runs a command of the repository's root that serves on `PORT`, and waits until its `/readyz` answers 200.
 * @throws Error where it ends before, with what it had to say
 */
export async function startServer(
  after: After,
  [command = '', ...args]: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const port = await probePort(0)
  const url = `http://127.0.0.1:${port}`
  const startedAt = performance.now()
  const child = spawn(command, args, {
    cwd: ROOT,
    // A group of its own, so that what `npm` started is told to stop as well.
    detached: true,
    // What it logs goes nowhere, as cheaply as can be. Whoever still holds the last pipe is still running.
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, PORT: String(port), ...environment },
  })
  const complaints: Buffer[] = []
  child.stderr.on('data', (complaint) => complaints.push(complaint))
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
