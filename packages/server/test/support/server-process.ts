import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'

/** The server as a process of its own, which can be killed. */
export interface ServerProcess {
  /** Whether it became ready; `false`: it ended before. */
  readonly ready: Promise<boolean>
  /** Resolves when the process is gone. */
  readonly gone: Promise<unknown>
  /** Ends it the hard way: from here on it does nothing more. */
  kill(): void
}

const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
const SHIFTED_PROGRAM = fileURLToPath(new URL('shifted-main.ts', import.meta.url))

/** Node's own place for it; halves the time of a start. */
const NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache')

/**
 * Starts the server, with nothing in its environment but what is given. It goes with the test, and where that fails,
 * the test shows what it had to say.
 * @param aheadMs how far its clock is put forward
 */
export function startServerProcess(
  t: TestContext,
  environment: Readonly<Record<string, string>>,
  aheadMs = 0,
): ServerProcess {
  const program = aheadMs === 0 ? [PROGRAM] : [SHIFTED_PROGRAM, String(aheadMs)]
  const child = spawn(process.execPath, program, {
    env: { ...environment, NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const gone = once(child, 'close')
  let output = ''
  const ready = new Promise<boolean>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text
        if (output.includes('"msg":"ready"')) resolve(true)
      })
    }
    void gone.then(() => resolve(false))
  })
  t.after(async () => {
    child.kill('SIGKILL')
    await gone
    // Its type does not tell it yet.
    if (!(t as TestContext & { readonly passed: boolean }).passed) t.diagnostic(output)
  })
  return { ready, gone, kill: () => void child.kill('SIGKILL') }
}
