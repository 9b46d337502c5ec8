import { serviceVariables } from '../../packages/server/src/config.ts'
import { withSecretFiles } from '../../packages/server/src/platform/secrets.ts'
import type { Environment } from '../../packages/server/src/platform/variables.ts'
import { readEnvironment } from '../../packages/server/src/process.ts'
import { type DemoBank, simulatedBank } from './bank.ts'
import type { Client } from './client.ts'
import { adminTokenIn, Started, startPixgate } from './processes.ts'

/** A Pixgate in sandbox mode. */
export interface Sandbox {
  readonly url: string
  /** URL of the operator endpoints, which create API keys. Equals `url` unless `PIXGATE_OPERATOR_PORT` is set. */
  readonly operatorUrl: string
  readonly adminToken: string
  /** Returns the bank's actions for the demo. @param pix with the tour's API key */
  readonly openBank: (pix: Client) => DemoBank
  /** Whether it was started for the demo and is stopped after it. */
  readonly isOurs: boolean
  readonly stop: () => Promise<void>
}

/**
 * Opens the sandbox at `PIXGATE_URL`, otherwise the one that `npm start` has started in this directory, otherwise a new
 * one with its own data directory.
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
  if (await isOpen(url, adminToken)) {
    return { url, operatorUrl, adminToken, openBank: simulatedBank, isOurs: false, stop: async () => undefined }
  }
  if (PIXGATE_URL === undefined) return undefined
  throw new Error(`no Pixgate at ${url} accepts the token in PIXGATE_ADMIN_TOKEN or ${PIXGATE_DATA_DIR}`)
}

/** URL of the operator endpoints. `PIXGATE_OPERATOR_PORT` is a port of the API's host. */
function operatorUrlOf(url: string, { PIXGATE_OPERATOR_URL, PIXGATE_OPERATOR_PORT }: Environment): string {
  if (PIXGATE_OPERATOR_URL !== undefined) return PIXGATE_OPERATOR_URL
  if (PIXGATE_OPERATOR_PORT === undefined) return url
  const { protocol, hostname } = new URL(url)
  return `${protocol}//${hostname}:${PIXGATE_OPERATOR_PORT}`
}

/** Settings of the running sandbox, including those from files. */
function configured(): Environment {
  return withSecretFiles(serviceVariables, readEnvironment().environment).environment
}

/** Whether Pixgate responds and accepts the token. */
async function isOpen(url: string, adminToken: string): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${adminToken}` }
    return (await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}

async function startSandbox(): Promise<Sandbox> {
  const started = new Started()
  started.stopOnSignals()
  try {
    const { url, adminToken } = await startPixgate(started, { PIXGATE_SIMULATOR_PORT: '0' })
    return { url, operatorUrl: url, adminToken, openBank: simulatedBank, isOurs: true, stop: () => started.stop() }
  } catch (error) {
    await started.stop()
    throw error
  }
}
