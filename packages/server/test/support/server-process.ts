import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ServingRole } from '../../src/process.ts'
import { PROGRAM_ENVIRONMENT } from './program-environment.ts'
import { shiftedClockEnvironment } from './shifted-clock.ts'

/** A program as a process of its own, which can be killed. */
export interface KillableProcess {
  /** `undefined` where it could not be started. */
  readonly pid: number | undefined
  /** Whether it became ready; `false`: it ended before. */
  readonly ready: Promise<boolean>
  /** Resolves when the process is gone. */
  readonly gone: Promise<unknown>
  /** What it ended with; `null` before, and where it was killed. */
  status(): number | null
  /** What it logged above `info`, and all it said on standard error. */
  readonly complaints: readonly string[]
  /** Ends it the hard way: from here on it does nothing more. */
  kill(): void
  /** Stops it where it stands, with all it has open. Resolves when it stands. */
  pause(): Promise<void>
  /** Lets it go on from there. */
  resume(): void
  /** Puts its clock forward while it runs; one that is gone has no clock. */
  advance(ms: number): Promise<void>
}

const SERVER = fileURLToPath(new URL('shifted-main.ts', import.meta.url))
const BANK = fileURLToPath(new URL('shifted-bank.ts', import.meta.url))

const COMPLAINT = /"level":"(?:warn|error|fatal)"/

type Environment = Readonly<Record<string, string>>

type Child = ChildProcessByStdio<null, Readable, Readable>

/**
 * Starts the server, with no settings in its environment but those given.
 * @param aheadMs how far its clock is put forward
 */
export function startServerProcess(environment: Environment, aheadMs = 0, role: ServingRole = 'all'): KillableProcess {
  return spawnProgram(SERVER, environment, [String(aheadMs), role], '"msg":"ready"')
}

/** Starts the simulated bank in the same way. */
export function startBankProcess(environment: Environment, aheadMs = 0): KillableProcess {
  return spawnProgram(BANK, environment, [String(aheadMs)], '"ready":true')
}

/**
 * Starts any program that is sent by how much its clock is put forward.
 * @param readiness what it writes to standard output when it is ready
 */
export function spawnProgram(
  program: string,
  environment: Environment,
  parameters: readonly string[],
  readiness: string,
): KillableProcess {
  const child = spawn(process.execPath, [program, ...parameters], {
    env: { ...PROGRAM_ENVIRONMENT, ...environment, ...shiftedClockEnvironment },
    // Where there is no `.env`.
    cwd: tmpdir(),
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  }) as Child
  const gone = once(child, 'close')
  const complaints: string[] = []
  createInterface(child.stderr).on('line', (line) => complaints.push(line))
  const ready = new Promise<boolean>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line.includes(readiness)) resolve(true)
      else if (COMPLAINT.test(line)) complaints.push(line)
    })
    void gone.then(() => resolve(false))
  })
  return {
    pid: child.pid,
    ready,
    gone,
    status: () => child.exitCode,
    complaints,
    kill: () => void child.kill('SIGKILL'),
    pause: async () => {
      child.kill('SIGSTOP')
      while (!(await isStopped(child.pid))) await setImmediate()
    },
    resume: () => void child.kill('SIGCONT'),
    advance: async (ms) => {
      if (!(await ready)) return
      const advanced = once(child, 'message')
      // It may die just now.
      child.send(ms, () => undefined)
      await Promise.race([advanced, gone])
    },
  }
}

async function isStopped(pid: number | undefined): Promise<boolean> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'state=', '-p', String(pid)])
  return stdout.trim().startsWith('T')
}
