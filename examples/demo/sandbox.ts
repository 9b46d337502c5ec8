import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { serviceVariables } from '../../packages/server/src/config.ts'
import { withSecretFiles } from '../../packages/server/src/platform/secret-files.ts'
import type { Environment } from '../../packages/server/src/platform/variables.ts'
import { readEnvironment } from '../../packages/server/src/process.ts'

/** A Pixgate in sandbox mode. */
export interface Sandbox {
  readonly url: string
  /** Where API keys are made: the same, but where `PIXGATE_OPERATOR_PORT` is set. */
  readonly operatorUrl: string
  readonly adminToken: string
  /** Whether it was started for the tour, and ends with it. */
  readonly isOurs: boolean
  readonly stop: () => Promise<void>
}

/**
 * The sandbox at `PIXGATE_URL`; else the one that `npm start` has started in this directory; else a new one, with a
 * data directory of its own.
 * @throws Error where there is none at `PIXGATE_URL`, or the new one does not start
 */
export async function openSandbox(): Promise<Sandbox> {
  return (await findSandbox()) ?? (await startSandbox())
}

async function findSandbox(): Promise<Sandbox | undefined> {
  const { PIXGATE_URL, PIXGATE_ADMIN_TOKEN, PIXGATE_DATA_DIR = '.pixgate', ...operators } = configured()
  const url = PIXGATE_URL ?? 'http://127.0.0.1:8080'
  const operatorUrl = operatorUrlOf(url, operators)
  const adminToken = PIXGATE_ADMIN_TOKEN ?? (await adminTokenIn(PIXGATE_DATA_DIR).catch(() => ''))
  if (await isOpen(url, adminToken)) return { url, operatorUrl, adminToken, isOurs: false, stop: async () => undefined }
  if (PIXGATE_URL === undefined) return undefined
  throw new Error(`no Pixgate at ${url} takes the token in PIXGATE_ADMIN_TOKEN or ${PIXGATE_DATA_DIR}`)
}

/** A port in the settings is one of the machine that the API is on. */
function operatorUrlOf(url: string, { PIXGATE_OPERATOR_URL, PIXGATE_OPERATOR_PORT }: Environment): string {
  if (PIXGATE_OPERATOR_URL !== undefined) return PIXGATE_OPERATOR_URL
  if (PIXGATE_OPERATOR_PORT === undefined) return url
  const { protocol, hostname } = new URL(url)
  return `${protocol}//${hostname}:${PIXGATE_OPERATOR_PORT}`
}

/** The settings that the sandbox was started with, also those in files. */
function configured(): Environment {
  return withSecretFiles(serviceVariables, readEnvironment().environment).environment
}

/** Whether a Pixgate is there and takes the token. */
async function isOpen(url: string, adminToken: string): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${adminToken}` }
    return (await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}

const PROGRAM = fileURLToPath(new URL('../../packages/sandbox/src/main.ts', import.meta.url))

async function startSandbox(): Promise<Sandbox> {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-demo-'))
  // PostgreSQL never runs as root: where root starts the tour, another user must be able to enter.
  await chmod(directory, 0o711)
  const server = spawn(process.execPath, [PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit'],
    // Where there is no `.env`: the tour's sandbox has nothing of the one that is configured here.
    cwd: directory,
    env: { PIXGATE_DATA_DIR: directory, PORT: '0', PIXGATE_SIMULATOR_PORT: '0' },
  })
  const exited = once(server, 'exit')
  const stop = async () => {
    server.kill()
    await exited
    await rm(directory, { recursive: true, force: true })
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop().then(() => process.exit(1)))

  try {
    const failed = exited.then(() => Promise.reject(new Error('the sandbox did not start')))
    const port = await Promise.race([readyPort(server.stdout), failed])
    const adminToken = await adminTokenIn(directory)
    const url = `http://127.0.0.1:${port}`
    return { url, operatorUrl: url, adminToken, isOurs: true, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The server's log tells when it is ready, and on which port. */
function readyPort(log: Readable): Promise<number> {
  return new Promise((resolve) => {
    createInterface({ input: log }).on('line', (line) => {
      const { msg, port } = line.startsWith('{') ? JSON.parse(line) : {}
      if (msg === 'ready') resolve(port)
    })
  })
}

async function adminTokenIn(dataDirectory: string): Promise<string> {
  return JSON.parse(await readFile(join(dataDirectory, 'sandbox-secrets.json'), 'utf8')).adminToken
}
