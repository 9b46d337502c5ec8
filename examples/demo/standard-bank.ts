import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Environment } from '../../packages/server/src/platform/variables.ts'
import type { BankName } from './bank.ts'
import { type Client, createClient } from './client.ts'
import type { Started } from './processes.ts'

/** Line that the simulated bank prints when it is ready with API Pix. */
export interface Listening {
  readonly port: number
  readonly apiPix: {
    readonly url: string
    readonly keys: readonly [string]
    readonly certificates: { readonly ca: string; readonly clientPkcs12: string }
  }
}

/** Well-known secrets are safe here: no real money moves, and the bank listens on loopback. */
const [CLIENT, PASSPHRASE, CONTROL_TOKEN] = ['pixgate', 'pixgate', 'pixgate']

/** Starts the simulated bank with API Pix, on free ports. */
export async function startStandardBank(started: Started): Promise<Listening> {
  const directory = await started.directory()
  const ports = {
    PIXGATE_SIMULATOR_PORT: '0',
    PIXGATE_SIMULATOR_API_PIX_PORT: '0',
    PIXGATE_SIMULATOR_PAYLOAD_PORT: '0',
  }
  return started.program(
    ['bank-simulator/src/main.ts', '--api-pix'],
    directory,
    { ...ports, PIXGATE_SIMULATOR_DATA_DIR: directory },
    (line) => JSON.parse(line) as Listening,
  )
}

/** Settings of the sandbox as in `.env`, except the callback URL. */
export function settingsOf(
  name: BankName,
  { apiPix: { url, keys, certificates } }: Listening,
): Readonly<Record<string, string>> {
  return {
    PIXGATE_BANK: name,
    PIXGATE_BANK_ENVIRONMENT: 'sandbox',
    PIXGATE_BANK_API_URL: `${url}/v2`,
    PIXGATE_BANK_TOKEN_URL: `${url}/oauth/token`,
    PIXGATE_BANK_CLIENT_ID: CLIENT,
    PIXGATE_BANK_CLIENT_SECRET: CLIENT,
    PIXGATE_BANK_CERTIFICATE: certificates.clientPkcs12,
    PIXGATE_BANK_CERTIFICATE_PASSPHRASE: PASSPHRASE,
    PIXGATE_BANK_CA: certificates.ca,
    PIXGATE_BANK_CALLBACK_SECRET: randomBytes(32).toString('hex'),
    PIXGATE_MERCHANT_PIX_KEY: keys[0],
    ...(name === 'efi' && { PIXGATE_BANK_PAYS_QR_CODES: 'true' }),
  }
}

/** Client of the simulated bank's controls, for example to pay a charge. */
export function controlsOf({ port }: Pick<Listening, 'port'>): Client {
  return createClient(`http://127.0.0.1:${port}`, CONTROL_TOKEN)
}

const BANK_CHECK = fileURLToPath(new URL('../../scripts/bank-check.ts', import.meta.url))

/**
 * Runs `bank-check --register`, as an operator does: checks the connection to the bank and registers the callback URL.
 * @returns its output, one line per step
 * @throws Error where the way is not free
 */
export async function registerCallbacks(settings: Environment): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [BANK_CHECK, '--register'], { env: settings }).catch(
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => {
      throw new Error(`bank-check failed:\n${stdout}${stderr}`)
    },
  )
  return stdout
}
