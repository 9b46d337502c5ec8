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
  /** Time from the command to the first 200 of `/readyz`. */
  readonly startMs: number
  /** Sends SIGTERM to its process group and waits for the end. */
  stop(): Promise<void>
}

/** Root of this checkout. */
export const ROOT = join(import.meta.dirname, '..')

export interface ServerOptions {
  /** Checkout that is run; by default this one. */
  readonly root?: string
  /** Log file; by default `/dev/null`. */
  readonly log?: string
}

const POLL_MS = 5

/**
 * Runs a command in a checkout's root that listens on `PORT`, and waits until its `/readyz` answers 200.
 * @throws Error with its stderr if it ends before that
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
    // A process group of its own, so that SIGTERM also reaches the children of `npm`.
    detached: true,
    // `close` comes when the last process that holds the pipe has ended.
    stdio: ['ignore', output.fd, 'pipe'],
    env: { PATH: process.env.PATH, PORT: String(port), ...environment },
  })
  await output.close()
  const errorOutput: Buffer[] = []
  child.stderr?.on('data', (chunk) => errorOutput.push(chunk))
  let isClosed = false
  const closed = once(child, 'close').then(() => {
    isClosed = true
  })
  const stop = async () => {
    if (!isClosed) process.kill(-(child.pid as number), 'SIGTERM')
    await closed
  }
  after(stop)
  while (!(await isReady(url))) {
    if (isClosed) throw new Error(`${command} ${args.join(' ')} ended: ${Buffer.concat(errorOutput)}`)
    await delay(POLL_MS)
  }
  return { url, pid: child.pid as number, startMs: performance.now() - startedAt, stop }
}

async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/readyz`).catch(() => undefined)
  await answer?.body?.cancel()
  return answer?.ok === true
}

/** Starts the baseline of every measurement over HTTP: a bare Fastify that validates creates and answers a constant. */
export function startBareFastify(after: After): Promise<ServerProcess> {
  return startServer(after, ['node', 'bench/contestants/bare-fastify.ts'])
}
