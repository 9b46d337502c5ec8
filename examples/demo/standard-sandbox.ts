import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Environment } from '../../packages/server/src/platform/variables.ts'
import { type BankName, standardBank } from './bank.ts'
import { createClient } from './client.ts'
import { print } from './output.ts'
import { Started, startPixgate } from './processes.ts'
import type { Sandbox } from './sandbox.ts'

/** What the simulated bank says of itself as one of the Central Bank's standard. */
interface Listening {
  readonly port: number
  readonly apiPix: {
    readonly url: string
    readonly keys: readonly [string]
    readonly certificates: { readonly ca: string; readonly clientPkcs12: string }
  }
}

/** Anybody may know them: the money is not real, and nobody listens but this machine. */
const [CLIENT, PASSPHRASE, CONTROL_TOKEN] = ['pixgate', 'pixgate', 'pixgate']

/**
 * Starts the simulated bank as one of the Central Bank's API Pix, and a new sandbox that is connected to it as to a real one:
 * by its certificate, tokens and callbacks.
 * @throws Error where one of them does not start, or the way to the bank is not free
 */
export async function startStandardSandbox(name: Exclude<BankName, 'pixgate'>): Promise<Sandbox> {
  const started = new Started()
  try {
    const bank = await startBank(started)
    const { url: bankUrl, certificates } = bank.apiPix
    print('Bank', `the simulated one at ${bankUrl}, by ${name === 'efi' ? 'API Pix and as Efí' : 'API Pix alone'}`)
    const settings = settingsOf(name, bank)
    const { url, adminToken } = await startPixgate(started, settings)
    print('Certificate', `${certificates.clientPkcs12}, shown with each call (mTLS)`)
    await registerCallbacks({ ...settings, PIXGATE_BANK_CALLBACK_URL: url })
    const controls = createClient(`http://127.0.0.1:${bank.port}`, CONTROL_TOKEN)
    const openBank = () => standardBank(name, controls)
    return { url, operatorUrl: url, adminToken, openBank, isOurs: true, stop: () => started.stop() }
  } catch (error) {
    await started.stop()
    throw error
  }
}

async function startBank(started: Started): Promise<Listening> {
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

/** What would stand in `.env`. */
function settingsOf(name: BankName, { apiPix: { url, keys, certificates } }: Listening): Environment {
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

const BANK_CHECK = fileURLToPath(new URL('../../scripts/bank-check.ts', import.meta.url))

/** As an operator does: goes the way to the bank step by step, and tells it where to call. */
async function registerCallbacks(settings: Environment): Promise<void> {
  console.log('\n  npm run bank-check -- --register')
  const { stdout } = await promisify(execFile)(process.execPath, [BANK_CHECK, '--register'], { env: settings }).catch(
    ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }) => {
      throw new Error(`the way to the bank is not free:\n${stdout}${stderr}`)
    },
  )
  console.log(stdout.replaceAll(/^(?=.)/gm, '    '))
}
