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
  /** Where API keys are made: the same, but where `PIXGATE_OPERATOR_PORT` is set. */
  readonly operatorUrl: string
  readonly adminToken: string
  /** What the tour does at its bank. @param pix with the tour's API key */
  readonly openBank: (pix: Client) => DemoBank
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
  if (await isOpen(url, adminToken)) {
    return { url, operatorUrl, adminToken, openBank: simulatedBank, isOurs: false, stop: async () => undefined }
  }
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
