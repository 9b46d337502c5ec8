import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiPix, Exchange } from '@pixgate/bank-simulator'
import { certificatesIn } from '../../../bank-simulator/src/api-pix/certificates.ts'
import { record } from '../../../bank-simulator/test/support/api-pix-recording.ts'
import { faultsOf } from '../../../bank-simulator/test/support/api-pix-schemas.ts'
import { CALLBACK_PATH, SECRET_PARAMETER } from '../../src/banks/api-pix/inbound.ts'
import { readConfig } from '../../src/config.ts'
import { examineBank } from '../../src/doctor/doctor.ts'
import type { Clock } from '../../src/platform/clock.ts'
import { reportOf } from '../../src/platform/finding.ts'
import type { Environment } from '../../src/platform/variables.ts'
import { requestFaults } from './standard-requests.ts'

/** The simulated bank as the standard has it: over mTLS, with tokens, and callbacks that nobody signed. */

const CLIENT = { id: 'client-of-the-tests', secret: 'client-secret-of-the-tests' }
const PASSPHRASE = 'passphrase-of-the-tests'

/** The merchant's key at this bank. */
export const PIX_KEY = 'financeiro@loja.example'
const CALLBACK_SECRET = 'callback-secret-of-the-tests-0123456789'

/** What the bank is started with besides its port and where its certificates are. */
export const LISTENING = { passphrase: PASSPHRASE, client: CLIENT, keys: [PIX_KEY] } as const

let certificates: Promise<string> | undefined

/** A directory with the bank's certificates, which all worlds of this process share: their keys took half a second of each. */
export function certificatesDirectory(): Promise<string> {
  certificates ??= makeCertificates()
  return certificates
}

async function makeCertificates(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-certificates-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  await certificatesIn(directory, { passphrase: PASSPHRASE })
  return directory
}

/** On a machine that is busy with other tests the bank may answer too late: then it is examined again, so often at most. */
const LATE = 'does not answer'
const TRIES = 5

/** How it listens, what connects it, and how it is told where to call. */
export function standardBank(name: 'api-pix' | 'efi', serviceUrl: string) {
  const faults = new Set<string>()
  const onExchange = (exchange: Exchange) => {
    record(exchange)
    const { method, path, status, answer } = exchange
    const isCut = answer === '' && String(exchange.headers['content-type']).includes('json')
    const ofAnswer = path === '/oauth/token' || isCut ? [] : faultsOf(method, path, status, answer)
    // What was answered before its body was read, nobody can judge.
    const isRead = exchange.body !== undefined || method === 'GET'
    for (const fault of [...(isRead ? requestFaults(exchange) : []), ...ofAnswer]) faults.add(fault)
  }
  return {
    listening: { port: 0, ...LISTENING, onExchange },
    /** Whether all that was asked and answered is as the documents have it. */
    assertOfTheStandard: () => assert.deepEqual([...faults], []),
    /** @param reach the address that leads to it, where that is not its own */
    environment: <Bank extends Pick<ApiPix, 'url' | 'files'>>(
      apiPix: Bank | undefined,
      reach: (apiPix: Bank) => string = ({ url }) => url,
    ): Environment => {
      assert.ok(apiPix, 'the bank listens for API Pix')
      const url = reach(apiPix)
      return {
        PIXGATE_BANK: name,
        PIXGATE_BANK_ENVIRONMENT: 'sandbox',
        PIXGATE_BANK_API_URL: `${url}/v2`,
        PIXGATE_BANK_TOKEN_URL: `${url}/oauth/token`,
        PIXGATE_BANK_CLIENT_ID: CLIENT.id,
        PIXGATE_BANK_CLIENT_SECRET: CLIENT.secret,
        PIXGATE_BANK_CERTIFICATE: apiPix.files.clientPkcs12,
        PIXGATE_BANK_CERTIFICATE_PASSPHRASE: PASSPHRASE,
        PIXGATE_BANK_CA: apiPix.files.ca,
        PIXGATE_BANK_CALLBACK_URL: serviceUrl,
        PIXGATE_BANK_CALLBACK_SECRET: CALLBACK_SECRET,
        PIXGATE_MERCHANT_PIX_KEY: PIX_KEY,
      }
    },
    registerWebhook: async (environment: Environment, clock: Clock) => {
      const examine = () => examineBank(readConfig(environment).bank, clock, { registers: true })
      let findings = await examine()
      for (let tries = 1; tries < TRIES && reportOf(findings).includes(LATE); tries++) findings = await examine()
      assert.ok(
        findings.every(({ isOk }) => isOk),
        reportOf(findings),
      )
    },
  }
}

/** Where the bank calls a service: with the secret, or with what somebody shows in its place; `null`: nothing. */
export function callbackAddress(serviceUrl: string, shown: string | null = CALLBACK_SECRET): string {
  const query = shown === null ? '' : `?${new URLSearchParams({ [SECRET_PARAMETER]: shown })}`
  return `${serviceUrl}${CALLBACK_PATH}/pix${query}`
}
