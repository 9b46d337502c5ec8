import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command, Context } from '../command.ts'
import { type Exit, Failure, failureOf, usageError } from '../failure.ts'
import { DEFAULT_PROFILE, isOfSandbox, readSecretFile, type Settings, saveProfile } from '../settings.ts'
import { webhookFaults } from '../webhook-faults.ts'

const verify: Command = {
  name: 'verify',
  says: 'verify a webhook whose body is on standard input, and say which part is wrong',
  more: [
    'The headers come from --headers (a file with lines such as webhook-id: …) or --header. With --secret-file it verifies',
    'webhook-signature; with digital-signature among the headers also that, by the public keys of PIXGATE_URL.',
  ],
  options: {
    headers: { kind: 'text', value: 'FILE', says: 'the headers as they came, a line each' },
    header: { kind: 'texts', value: 'LINE', says: 'a header, such as "webhook-id: …"; may be repeated' },
    'ignore-age': { kind: 'flag', says: 'for a webhook that you kept: its time may be long ago' },
  },
  examples: ['pixgate verify --secret-file $SECRET --headers $HEADERS < $BODY'],
  run: async (input, { settings, out, surroundings }) => {
    const file = input.text('secret-file')
    const secret = file === undefined ? undefined : readSecretFile(file)
    const lines = [...linesOf(surroundings.directory, input.text('headers')), ...input.texts('header')]
    const headers = Object.fromEntries(lines.flatMap(headerOf))
    const hasKeys = headers['digital-signature'] !== undefined && settings.url !== undefined
    if (secret === undefined && !hasKeys)
      throw usageError('there is nothing to verify with', 'Give --secret-file, or digital-signature and PIXGATE_URL.')
    const findings = await webhookFaults({
      headers,
      body: await surroundings.read(),
      secret,
      url: hasKeys ? settings.url : undefined,
      ignoresAge: input.flag('ignore-age'),
    })
    const isVerified = findings.every(({ isRight }) => isRight)
    if (out.isJson) out.show({ verified: isVerified, findings })
    else for (const { part, isRight, says } of findings) out.say(`${isRight ? 'right' : 'WRONG'}  ${part}: ${says}`)
    if (!isVerified) throw new Failure('the webhook is not verified', { exit: 'notFound', code: 'not_verified' })
  },
}

function linesOf(directory: string, file: string | undefined): string[] {
  if (file === undefined) return []
  const path = resolve(directory, file)
  if (!existsSync(path)) throw usageError('--headers names no file')
  return readFileSync(path, 'utf8').split(/\r?\n/)
}

function headerOf(line: string): [string, string][] {
  const [, name, value] = /^([\w-]+):\s*(.*?)\s*$/.exec(line) ?? []
  return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value]]
}

const open: Command = {
  name: 'open',
  says: 'open the console, the reference or a payment in a browser, and print the address',
  arguments: [
    { name: 'WHAT', says: 'console (the default), docs, or payment', isOptional: true },
    { name: 'ID', says: 'of the payment', isOptional: true },
  ],
  options: { print: { kind: 'flag', says: 'print the address only' } },
  examples: ['pixgate open docs --print', 'pixgate open payment $CHARGE --print --json'],
  run: async (input, { settings, out, surroundings }) => {
    const [what, id] = [input.optionalWord(0) ?? 'console', input.optionalWord(1)]
    const base = (what === 'docs' ? settings.url : (settings.operatorUrl ?? settings.url))?.replace(/\/+$/, '')
    if (base === undefined) throw usageError('the address of Pixgate is missing', 'Set PIXGATE_URL, or name a profile.')
    if (what === 'payment' && !id) throw usageError('ID is missing')
    const paths = { console: '/console', docs: '/docs', payment: `/console/payments/${encodeURIComponent(id ?? '')}` }
    if (!Object.hasOwn(paths, what)) throw usageError('there is no such page', 'Known: console, docs, payment.')
    const url = `${base}${paths[what as keyof typeof paths]}`
    if (out.isJson) out.show({ url })
    else out.say(url)
    if (surroundings.isTerminal && !input.flag('print')) await browse(url)
  },
}

async function browse(url: string): Promise<void> {
  const { spawn } = await import('node:child_process')
  const program = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open'
  // Without a browser the printed address is left.
  spawn(program, [url], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref()
}

interface Checked {
  readonly check: string
  readonly isOk: boolean
  readonly says: string
  readonly fix?: string | undefined
  readonly exit?: Exit
}

const doctor: Command = {
  name: 'doctor',
  says: 'check address, secrets, clock and feed, and say what to do',
  examples: ['pixgate doctor', 'pixgate doctor --json'],
  run: async (_, context) => {
    const checks: Checked[] = []
    for (const [check, examine] of Object.entries(EXAMINATIONS)) checks.push(await examined(check, examine, context))
    const { out } = context
    if (out.isJson) out.show(checks)
    else
      for (const { isOk, check, says, fix } of checks)
        out.say(`${isOk ? 'ok   ' : 'WRONG'}  ${check}: ${says}${fix ? `\n       ${fix}` : ''}`)
    const wrong = checks.find(({ isOk }) => !isOk)
    if (wrong) throw new Failure(`${wrong.check} is wrong`, { exit: wrong.exit ?? 'refused', code: 'doctor' })
  },
}

type Examine = (context: Context) => Promise<string>

const EXAMINATIONS: Readonly<Record<string, Examine>> = {
  address: async ({ settings, signal }) => {
    const { url } = settings
    if (url === undefined) throw usageError('it is missing', 'Set PIXGATE_URL, or run pixgate dev, or pixgate login.')
    // Used below too: under Node.js 22.12 `any` alone does not keep a time-out alive.
    const deadline = AbortSignal.timeout(5_000)
    const response = await fetch(`${url.replace(/\/+$/, '')}/readyz`, {
      signal: AbortSignal.any([signal, deadline]),
    }).catch(() => undefined)
    if (!response)
      throw new Failure(`${url} does not answer${deadline.aborted ? ' within 5 s' : ''}`, {
        exit: 'notReachable',
        code: 'unreachable',
        fix: 'Start Pixgate, or correct the address.',
      })
    const { status, reasons } = (await response.json().catch(() => ({}))) as { status?: string; reasons?: string[] }
    if (status === undefined)
      throw new Failure(`${url} is not Pixgate`, {
        exit: 'notReachable',
        code: 'unreachable',
        fix: 'Correct the address.',
      })
    const skewMs = Date.parse(response.headers.get('date') ?? '') - Date.now()
    if (Math.abs(skewMs) > 60_000)
      throw new Failure(`the clocks differ by ${Math.round(skewMs / 1_000)} s`, {
        exit: 'refused',
        code: 'clock',
        fix: 'Set the clock of this machine.',
      })
    return [url, status, ...(reasons ?? [])].join(', ')
  },
  'API key': async (context) => {
    const { balance } = await context.merchant()
    await balance.get({ signal: context.signal })
    return isOfSandbox(context.settings.apiKey ?? '') ? 'works, sandbox' : 'works, LIVE: real money'
  },
  feed: async (context) => {
    const { events } = await context.merchant()
    const { feed } = await events.list({ limit: 1 }, { signal: context.signal }).page()
    return `${feed.lastPosition} events`
  },
  'operator token': async (context) => {
    if (!context.settings.adminToken) return 'none; only needed by the commands of operators'
    const { version, mode, bank } = await (await context.operator()).system.get({ signal: context.signal })
    return `works; Pixgate ${version}, ${mode}, bank ${bank}`
  },
}

async function examined(check: string, examine: Examine, context: Context): Promise<Checked> {
  try {
    return { check, isOk: true, says: await examine(context) }
  } catch (error) {
    const failure = failureOf(error)
    if (!failure) throw error
    return { check, isOk: false, says: failure.message, fix: failure.details.fix, exit: failure.exit }
  }
}

const login: Command = {
  name: 'login',
  says: 'keep an address and a secret as a profile that only you can read',
  more: ['The API key, or the token of an operator, is read from standard input or from --secret-file.'],
  options: {
    url: { kind: 'text', value: 'URL', says: 'address of Pixgate', isRequired: true },
    'operator-url': { kind: 'text', value: 'URL', says: 'address for operators, if it differs' },
  },
  examples: ['pixgate login --url $URL --profile till < $KEYFILE'],
  run: async (input, { out, surroundings }) => {
    const file = input.text('secret-file')
    const secret = file === undefined ? (await surroundings.read()).toString('utf8').trim() : readSecretFile(file)
    if (!/^[!-~]+$/.test(secret)) throw usageError('the secret is missing', 'Give it on standard input.')
    out.hide([secret])
    for (const option of ['url', 'operator-url'] as const) {
      const address = input.text(option)
      if (address !== undefined && !/^https?:\/\//.test(address))
        throw usageError(`--${option} must be an http(s) address`)
    }
    const profile = input.text('profile') ?? DEFAULT_PROFILE
    const isKey = /^pix_(?:test|live)_/.test(secret)
    const settings: Settings = { url: input.needed('url'), ...(isKey ? { apiKey: secret } : { adminToken: secret }) }
    const operatorUrl = input.text('operator-url')
    const path = saveProfile(surroundings, profile, { ...settings, ...(operatorUrl && { operatorUrl }) })
    out.show({ profile, path, holds: isKey ? 'API key' : 'operator token', live: !isOfSandbox(secret) })
  },
}

/** @source rules#cli.10 */
const init: Command = {
  name: 'init',
  says: 'write an environment file for production with fresh secrets, and say what is missing',
  arguments: [{ name: 'FILE', says: 'where; pixgate.env', isOptional: true }],
  examples: ['pixgate init', 'pixgate init other.env --json'],
  run: async (input, { out, surroundings }) => {
    const path = resolve(surroundings.directory, input.optionalWord(0) ?? 'pixgate.env')
    const password = secretText()
    try {
      writeFileSync(path, environmentFile(password), { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw usageError(`${path} cannot be written`)
      throw usageError(`${path} exists already`, 'Secrets are never overwritten: name another file.')
    }
    if (out.isJson) out.show({ path, missing: MISSING.map(([name]) => name) })
    else {
      out.say(`Wrote ${path}, which only you can read. Fill in:`)
      for (const [name, says] of MISSING) out.say(`  ${name.padEnd(26)}  ${says}`)
      out.say('Then: pixgate server doctor. The guide: docs/guides/operator.md, Starting it for real.')
    }
  },
}

/** Without the characters that end a part of a URL. */
function secretText(): string {
  return randomBytes(32).toString('base64url')
}

const MISSING = [
  ['DATABASE_URL', 'host of PostgreSQL; give the login pixgate_server the password in it'],
  ['PIXGATE_BANK', 'pixgate, efi or api-pix, with the settings of the bank (docs/guides/banks.md)'],
  ['PIXGATE_MERCHANT_PIX_KEY', 'the Pix key that receives'],
  ['PIXGATE_MERCHANT_NAME', 'at most 25 characters'],
  ['PIXGATE_MERCHANT_CITY', 'at most 15 characters'],
  ['PIXGATE_PAYMENT_MAX_CENTS', 'the most that one payout may be, in centavos, or none'],
  ['PIXGATE_HOUR_MAX_CENTS', 'the same for any hour'],
  ['PIXGATE_DAY_MAX_CENTS', 'the same for any day'],
  ['PIXGATE_NIGHT_MAX_CENTS', 'the same for any night'],
  ['PIXGATE_TRUST_PROXY', 'addresses of the proxy that ends TLS, or none'],
] as const

function environmentFile(password: string): string {
  const database = `postgres://pixgate_server:${password}@HOST/pixgate_live?sslmode=verify-full`
  const missing = MISSING.slice(1).map(([name, says]) => `# ${says}\n${name}=''\n`)
  return `# Production settings of Pixgate. Keep PIXGATE_ENCRYPTION_KEY apart from backups of the database.

PIXGATE_MODE='production'
PIXGATE_ADMIN_TOKEN='${secretText()}'
PIXGATE_ENCRYPTION_KEY='${secretText()}'

# ${MISSING[0][1]}
DATABASE_URL='${database}'

${missing.join('\n')}`
}

export const localCommands: readonly Command[] = [verify, login, doctor, open, init]
