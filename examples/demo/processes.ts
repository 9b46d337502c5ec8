import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../../packages/server/src/platform/variables.ts'

/** Started programs and their directories, stopped in reverse order. */
export class Started {
  readonly #stack = new AsyncDisposableStack()

  /** Stops everything on SIGINT or SIGTERM, then exits. */
  stopOnSignals(): void {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.once(signal, () => this.stop().then(() => process.exit(1)))
  }

  /** Creates a temporary directory, which is removed on {@link stop}. */
  async directory(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'pixgate-demo-'))
    this.#stack.defer(() => rm(directory, { recursive: true, force: true }))
    // PostgreSQL does not run as root: if root starts the demo, another user must be able to enter.
    await chmod(directory, 0o711)
    return directory
  }

  /**
   * Runs a program of this repository in a directory without `.env`, so that it only has the settings in `env`.
   * @param ready what a line of its output says when it is ready; `undefined`: it is not yet
   * @throws Error where it ends before
   */
  async program<Ready>(
    [path, ...parameters]: readonly [string, ...string[]],
    cwd: string,
    env: Environment,
    ready: (line: string) => Ready | undefined,
  ): Promise<Ready> {
    const program = fileURLToPath(new URL(`../../packages/${path}`, import.meta.url))
    const child = spawn(process.execPath, [program, ...parameters], { stdio: ['ignore', 'pipe', 'inherit'], cwd, env })
    const exited = once(child, 'exit')
    this.#stack.defer(async () => {
      child.kill()
      await exited
    })
    return new Promise((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const result = ready(line)
        if (result !== undefined) resolve(result)
      })
      void exited.then(() => reject(new Error(`${path} did not start`)))
    })
  }

  /** Stops everything. Idempotent. */
  stop(): Promise<void> {
    return this.#stack.disposeAsync()
  }
}

/** A started Pixgate. */
export interface StartedPixgate {
  readonly url: string
  readonly adminToken: string
}

/** Starts the program of `npm start` in its own directory. @param env besides where it is kept and on which port */
export async function startPixgate(started: Started, env: Environment): Promise<StartedPixgate> {
  const directory = await started.directory()
  const settings = { PIXGATE_DATA_DIR: directory, PORT: '0', ...env }
  const port = await started.program(['sandbox/src/main.ts'], directory, settings, readyPort)
  return { url: `http://127.0.0.1:${port}`, adminToken: await adminTokenIn(directory) }
}

/** Port in the log line that reports that the server is ready. */
function readyPort(line: string): number | undefined {
  const { msg, port } = line.startsWith('{') ? JSON.parse(line) : {}
  return msg === 'ready' ? port : undefined
}

/** Admin token that a sandbox generated. */
export async function adminTokenIn(dataDirectory: string): Promise<string> {
  return JSON.parse(await readFile(join(dataDirectory, 'sandbox-secrets.json'), 'utf8')).adminToken
}
