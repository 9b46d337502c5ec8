import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The server as a process of its own, which can be killed. */
export interface ServerProcess {
  /** Whether it became ready; `false`: it ended before. */
  readonly ready: Promise<boolean>
  /** Resolves when the process is gone. */
  readonly gone: Promise<unknown>
  /** What it logged above `info`, and all it said on standard error. */
  readonly complaints: readonly string[]
  /** Ends it the hard way: from here on it does nothing more. */
  kill(): void
}

const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const SHIFTED_PROGRAM = fileURLToPath(new URL('shifted-main.ts', import.meta.url))

const COMPLAINT = /"level":"(?:warn|error|fatal)"/

/** Node's own place for it; halves the time of a start. */
const NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache')

/**
 * Starts the server, with nothing in its environment but what is given.
 * @param aheadMs how far its clock is put forward
 */
export function startServerProcess(environment: Readonly<Record<string, string>>, aheadMs = 0): ServerProcess {
  const program = aheadMs === 0 ? [PROGRAM] : [SHIFTED_PROGRAM, String(aheadMs)]
  const child = spawn(process.execPath, program, {
    env: { ...environment, NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const gone = once(child, 'close')
  const complaints: string[] = []
  createInterface(child.stderr).on('line', (line) => complaints.push(line))
  const ready = new Promise<boolean>((resolve) => {
    createInterface(child.stdout).on('line', (line) => {
      if (line.includes('"msg":"ready"')) resolve(true)
      else if (COMPLAINT.test(line)) complaints.push(line)
    })
    void gone.then(() => resolve(false))
  })
  return { ready, gone, complaints, kill: () => void child.kill('SIGKILL') }
}
