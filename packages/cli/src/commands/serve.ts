import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createConnection } from 'node:net'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Command, Context, Surroundings } from '../command.ts'
import { Failure, usageError } from '../failure.ts'
import { DEFAULT_PROFILE, readProfiles, saveProfile } from '../settings.ts'

const BANKS = ['efi', 'api-pix'] as const

/** Flags of Node.js, as in `npm start`. */
const SANDBOX_FLAGS = ['--disable-proto=delete', '--max-semi-space-size=16', '--max-old-space-size=512']

/** Flags of Node.js, as in `deploy/pixgate`. */
const SERVER_FLAGS = [
  '--disable-sigusr1',
  '--disable-proto=delete',
  '--max-semi-space-size=8',
  '--max-old-space-size=512',
]

const NEEDS_NODE = 24

const dev: Command = {
  name: 'dev',
  says: 'run a sandbox with the console: server, database and simulated bank, all in .pixgate',
  more: [
    'Needs Node.js 24. It keeps its address, an API key and the operator’s token as the profile dev, which the other commands use by themselves.',
    'With --bank the bank is connected like a real one: by API Pix, or as Efí.',
  ],
  options: {
    bank: { kind: 'text', value: 'BANK', says: 'efi or api-pix' },
    port: { kind: 'text', value: 'PORT', says: 'of the API; 8080' },
  },
  examples: ['pixgate dev', 'pixgate dev --bank efi'],
  run: async (input, context) => {
    const bank = input.text('bank')
    if (bank !== undefined && !BANKS.some((known) => known === bank))
      throw usageError('there is no such bank', `Known: ${BANKS.join(', ')}.`)
    const sandbox = installed('@pixgate/sandbox')
    const port = input.number('port', 8_080)
    if (await isTaken(port))
      throw usageError(`port ${port} is in use`, 'Stop what listens there, or name another --port.')
    const url = `http://127.0.0.1:${port}`
    await using started = new AsyncDisposableStack()
    const settings = bank === undefined ? {} : await startBank(bank, context, started)
    const env = { ...context.surroundings.env, ...settings, PORT: String(port) }
    const child = start([...SANDBOX_FLAGS, sandbox], context, { env })
    started.defer(() => stop(child))
    await Promise.race([ready(url, child, context.signal), ended(child)])
    if (bank !== undefined) await registerCallbacks({ ...env, PIXGATE_BANK_CALLBACK_URL: url }, context)
    await keepProfile(url, env, context)
    await ended(child, context.signal)
  },
}

const server: Command = {
  name: 'server',
  says: 'start what an installation consists of: all, api, worker, migrate, doctor and others',
  more: ['Needs Node.js 24. All words are passed on; pixgate server --help has them.'],
  arguments: [{ name: 'WORD', says: 'all, api, worker, migrate, verify-ledger, …', isOptional: true, isRest: true }],
  examples: ['pixgate server --help'],
  isPassedOn: true,
  run: async (input, context) => {
    const args = [...SERVER_FLAGS, installed('@pixgate/server/bin'), ...input.words]
    const child = start(args, context, { hasResult: true })
    return exitOf(child, context.signal)
  },
}

export const serverCommands: readonly Command[] = [dev, server]

/**
 * Path of a program of another package. The sandbox has brought all others, perhaps where only it finds them.
 * @throws Failure where it is not installed, or Node.js is too old for it
 * @source rules#cli.11
 */
function installed(name: string): string {
  if (Number.parseInt(process.versions.node, 10) < NEEDS_NODE)
    throw usageError(`this is Node.js ${process.version}`, `Install Node.js ${NEEDS_NODE} or newer for this command.`)
  const here = createRequire(import.meta.url)
  const path = found(here, name) ?? found(createRequire(found(here, '@pixgate/sandbox') ?? import.meta.url), name)
  if (path !== undefined) return path
  const [scope, part] = name.split('/')
  throw usageError(`${scope}/${part} is not installed`, `Install ${scope}/${part} beside @pixgate/cli.`)
}

function found(from: NodeJS.Require, name: string): string | undefined {
  try {
    return from.resolve(name)
  } catch {
    return undefined
  }
}

/** @param hasResult whether it writes the result of the command, of which standard output has nothing else with --json */
function start(
  args: readonly string[],
  { out, surroundings }: Context,
  { env = surroundings.env, hasResult = false } = {},
): ChildProcess {
  return spawn(process.execPath, args, { env, stdio: ['inherit', out.isJson && !hasResult ? 2 : 'inherit', 'inherit'] })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill()
  await once(child, 'exit')
}

async function exitOf(child: ChildProcess, signal: AbortSignal): Promise<number> {
  signal.addEventListener('abort', () => child.kill())
  const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
  return code ?? 1
}

/** Ends with the signal. @throws Failure where the program ends without it */
async function ended(child: ChildProcess, signal?: AbortSignal): Promise<void> {
  const exited = once(child, 'exit').then(([code]) => {
    if (signal?.aborted || code === 0) return
    throw new Failure('the sandbox has ended', { exit: 'refused', code: 'sandbox_ended' })
  })
  if (child.exitCode !== null) throw new Failure('the sandbox has ended', { exit: 'refused', code: 'sandbox_ended' })
  const aborted = signal && once(signal, 'abort').then(() => undefined)
  await Promise.race([exited, ...(aborted ? [aborted] : [])])
}

async function isTaken(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1')
  const answer = await Promise.race([
    once(socket, 'connect').then(() => true),
    new Promise<boolean>((no) => socket.once('error', () => no(false))),
  ]).catch(() => false)
  socket.destroy()
  return answer
}

async function ready(url: string, child: ChildProcess, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && child.exitCode === null && child.signalCode === null) {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
    if (response?.ok) return
    await sleep(100)
  }
}

/**
 * Keeps an API key, so that other commands need no settings: the one of the profile while it is accepted, as the place and
 * the secret of `listen` belong to it.
 */
async function keepProfile(url: string, env: Surroundings['env'], { out, surroundings }: Context): Promise<void> {
  const folder = resolve(surroundings.directory, env.PIXGATE_DATA_DIR || '.pixgate')
  const adminToken: string =
    env.PIXGATE_ADMIN_TOKEN || JSON.parse(await readFile(join(folder, 'sandbox-secrets.json'), 'utf8')).adminToken
  out.hide([adminToken])
  const known = readProfiles(surroundings)[DEFAULT_PROFILE]
  const isAccepted = known?.adminToken === adminToken && (await accepts(url, known.apiKey))
  const apiKey = isAccepted ? known.apiKey : await createKey(url, adminToken)
  const path = saveProfile(surroundings, DEFAULT_PROFILE, { url, apiKey, adminToken })
  out.item(
    { url, profile: DEFAULT_PROFILE, path },
    `Ready. In another terminal, in any folder:\n\n  pixgate trigger cash-in.paid\n  pixgate listen --forward-to localhost:3000/pix\n  pixgate open console\n`,
  )
}

async function accepts(url: string, apiKey: string | undefined): Promise<boolean> {
  if (apiKey === undefined) return false
  const { Pixgate } = await import('@pixgate/sdk')
  return new Pixgate({ url, apiKey }).balance.get().then(
    () => true,
    () => false,
  )
}

async function createKey(url: string, token: string): Promise<string> {
  const { PixgateOperator } = await import('@pixgate/sdk/operator')
  return (await new PixgateOperator({ url, token }).apiKeys.create({ name: 'pixgate dev' })).apiKey
}

interface Listening {
  readonly apiPix: {
    readonly url: string
    readonly keys: readonly [string]
    readonly certificates: { readonly ca: string; readonly clientPkcs12: string }
  }
}

/** The simulated bank as a bank of its own. Its secrets are known: no real money moves, and it listens on loopback. */
async function startBank(bank: string, { surroundings }: Context, started: AsyncDisposableStack) {
  const folder = resolve(surroundings.directory, surroundings.env.PIXGATE_DATA_DIR || '.pixgate', bank)
  const child = spawn(process.execPath, [installed('@pixgate/bank-simulator/main'), '--api-pix'], {
    env: {
      PIXGATE_SIMULATOR_DATA_DIR: folder,
      PIXGATE_SIMULATOR_PORT: '0',
      PIXGATE_SIMULATOR_API_PIX_PORT: '0',
      PIXGATE_SIMULATOR_PAYLOAD_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  started.defer(() => stop(child))
  const line = once(createInterface({ input: child.stdout }), 'line')
  const [text] = (await Promise.race([line, ended(child)])) ?? []
  const { apiPix }: Listening = JSON.parse(text)
  return {
    PIXGATE_DATA_DIR: folder,
    PIXGATE_BANK: bank,
    PIXGATE_BANK_ENVIRONMENT: 'sandbox',
    PIXGATE_BANK_API_URL: `${apiPix.url}/v2`,
    PIXGATE_BANK_TOKEN_URL: `${apiPix.url}/oauth/token`,
    PIXGATE_BANK_CLIENT_ID: 'pixgate',
    PIXGATE_BANK_CLIENT_SECRET: 'pixgate',
    PIXGATE_BANK_CERTIFICATE: apiPix.certificates.clientPkcs12,
    PIXGATE_BANK_CERTIFICATE_PASSPHRASE: 'pixgate',
    PIXGATE_BANK_CA: apiPix.certificates.ca,
    PIXGATE_BANK_CALLBACK_SECRET: randomBytes(32).toString('hex'),
    PIXGATE_MERCHANT_PIX_KEY: apiPix.keys[0],
    ...(bank === 'efi' && { PIXGATE_BANK_PAYS_QR_CODES: 'true' }),
  }
}

async function registerCallbacks(env: Surroundings['env'], context: Context): Promise<void> {
  const child = start([installed('@pixgate/server/bin'), 'bank-check', '--register'], context, { env })
  if ((await exitOf(child, context.signal)) !== 0)
    throw new Failure('the callback address was not registered at the bank', { exit: 'refused', code: 'bank_check' })
}
