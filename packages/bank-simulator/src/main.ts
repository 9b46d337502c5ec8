#!/usr/bin/env node
import './node-version.ts'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ApiPix, type ApiPixOptions, type SimulatorOptions, startSimulator } from './index.ts'

/**
 * Runs the simulated bank as a process. When ready, it prints one line of JSON to standard output:
 * `{"ready":true,"port":8081}`. It exits on SIGTERM and SIGINT. If PIXGATE_SIMULATOR_EXIT_WITH_PARENT is 1, it also
 * exits when standard input closes, because its parent is gone. With `--api-pix` it also serves API Pix, and the line
 * has the URLs and the paths of the certificates.
 * @source rules#sandbox.20
 */
async function main(): Promise<void> {
  const hasApiPix = process.argv.includes('--api-pix')
  const simulator = await startSimulator(readOptions(process.env, hasApiPix))
  let stopping = false
  async function stop(): Promise<void> {
    if (stopping) return
    stopping = true
    await simulator.stop()
    process.exit(0)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  if (process.env.PIXGATE_SIMULATOR_EXIT_WITH_PARENT === '1') process.stdin.resume().on('close', stop)
  const { port, apiPix } = simulator
  process.stdout.write(`${JSON.stringify({ ready: true, port, ...(apiPix && { apiPix: apiPixLine(apiPix) }) })}\n`)
}

/** Defaults with `--api-pix`. Well-known secrets are safe here: no real money moves. */
const DEFAULTS = {
  PIXGATE_SIMULATOR_DATA_DIR: '.pixgate-bank',
  PIXGATE_PARTNER_TOKEN: 'pixgate',
  PIXGATE_PARTNER_SECRET: 'pixgate',
}

function readOptions(given: NodeJS.ProcessEnv, hasApiPix: boolean): SimulatorOptions {
  const environment: NodeJS.ProcessEnv = hasApiPix ? { ...DEFAULTS, ...given } : given
  function required(name: string): string {
    const value = environment[name]
    if (!value) throw new Error(`${name} is not set`)
    return value
  }
  const dataDirectory = required('PIXGATE_SIMULATOR_DATA_DIR')
  const eventsUrl = hasApiPix ? environment.PIXGATE_SIMULATOR_EVENTS_URL : required('PIXGATE_SIMULATOR_EVENTS_URL')
  return {
    port: portIn(environment, 'PIXGATE_SIMULATOR_PORT', 8_081),
    ...(environment.PIXGATE_SIMULATOR_HOST && { host: environment.PIXGATE_SIMULATOR_HOST }),
    dataDirectory,
    token: required('PIXGATE_PARTNER_TOKEN'),
    secret: required('PIXGATE_PARTNER_SECRET'),
    ...(eventsUrl && { eventsUrl }),
    hasIdempotentOrders: environment.PIXGATE_PARTNER_IDEMPOTENT_ORDERS !== 'false',
    hasOverdraft: (environment.PIXGATE_SIMULATOR_OVERDRAFT || String(!hasApiPix)) === 'true',
    ...(hasApiPix && { apiPix: apiPixOptions(environment, dataDirectory) }),
  }
}

function apiPixOptions(environment: NodeJS.ProcessEnv, dataDirectory: string): ApiPixOptions {
  const callbackCa = environment.PIXGATE_SIMULATOR_CALLBACK_CA
  const keys = listIn(environment, 'PIXGATE_SIMULATOR_PIX_KEYS')
  return {
    port: portIn(environment, 'PIXGATE_SIMULATOR_API_PIX_PORT', 8_443),
    payloadPort: portIn(environment, 'PIXGATE_SIMULATOR_PAYLOAD_PORT', 8_444),
    certificatesDirectory: resolve(
      environment.PIXGATE_SIMULATOR_CERTIFICATES_DIR || join(dataDirectory, 'certificates'),
    ),
    // An empty passphrase is one too: Efí's Node SDK has no other.
    passphrase: environment.PIXGATE_SIMULATOR_PASSPHRASE ?? 'pixgate',
    certificateNames: listIn(environment, 'PIXGATE_SIMULATOR_CERTIFICATE_NAMES'),
    pathPrefix: pathPrefixIn(environment),
    client: {
      id: environment.PIXGATE_SIMULATOR_CLIENT_ID || 'pixgate',
      secret: environment.PIXGATE_SIMULATOR_CLIENT_SECRET || 'pixgate',
    },
    ...(keys.length > 0 && { keys }),
    ...(callbackCa && { callbackCa: readFileSync(callbackCa, 'utf8') }),
  }
}

/** Items of a comma-separated list. */
function listIn(environment: NodeJS.ProcessEnv, name: string): readonly string[] {
  return (environment[name] ?? '').split(',').flatMap((item) => item.trim() || [])
}

function pathPrefixIn({ PIXGATE_SIMULATOR_PATH_PREFIX: prefix = '' }: NodeJS.ProcessEnv): string {
  if (/^(?:\/[\w.-]+)*$/.test(prefix)) return prefix
  throw new Error('PIXGATE_SIMULATOR_PATH_PREFIX is not a path such as /pix')
}

function portIn(environment: NodeJS.ProcessEnv, name: string, byDefault: number): number {
  const text = environment[name] || String(byDefault)
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`${name} is not a port`)
  return port
}

/** Data that a client of API Pix needs, except its secret. */
function apiPixLine({ url, payloadUrl, keys, files }: ApiPix) {
  return { url, payloadUrl, keys, certificates: files }
}

await main().catch((error: Error) => {
  process.stderr.write(`bank-simulator: ${error.message}\n`)
  process.exit(1)
})
