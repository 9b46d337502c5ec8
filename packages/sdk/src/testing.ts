import { PixgateError } from './errors.ts'
import { examples } from './generated/examples.ts'
import type { Notification, WebhookTest } from './generated/types.ts'
import { Pixgate } from './index.ts'
import { PixgateOperator } from './operator.ts'
import { environment } from './transport.ts'
import { hmacKey } from './verify.ts'

export type { Notification, WebhookTest } from './generated/types.ts'

type Sample = Notification | WebhookTest

type EventFields<Type extends Sample['event_type']> = Extract<Sample, { readonly event_type: Type }>['event']

/** A notification as Pixgate sends it, with the given fields of its `event`. */
export function exampleEvent<const Type extends Sample['event_type']>(
  type: Type,
  fields: Partial<EventFields<Type>> = {},
) {
  const { event_type, event } = examples[type]
  return { event_type, event: { ...event, ...fields } } as unknown as Extract<Sample, { readonly event_type: Type }>
}

/** Headers and body, as your receiver gets them. */
export interface SignedWebhook {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface SignOptions {
  /** `whsec_…`; several sign as during a change. */
  readonly secret: string | readonly string[]
  readonly webhookId?: string | undefined
  /** Epoch milliseconds of sending; now. */
  readonly sentAt?: number | undefined
}

/** Signs a notification as Pixgate does, with `webhook-signature`. */
export async function signTestWebhook(event: object | string, options: SignOptions): Promise<SignedWebhook> {
  const { secret, webhookId = crypto.randomUUID(), sentAt = Date.now() } = options
  const body = typeof event === 'string' ? event : JSON.stringify(event)
  const timestamp = String(Math.floor(sentAt / 1_000))
  const signed = new TextEncoder().encode(`${webhookId}.${timestamp}.${body}`)
  const signatures = [secret].flat().map(async (one) => {
    const bytes = new Uint8Array(await crypto.subtle.sign('HMAC', await hmacKey(one, 'sign'), signed))
    return `v1,${btoa(String.fromCharCode(...bytes))}`
  })
  const headers = {
    'content-type': 'application/json',
    'webhook-id': webhookId,
    'webhook-timestamp': timestamp,
    'webhook-signature': (await Promise.all(signatures)).join(' '),
  }
  return { headers, body }
}

/** A running sandbox, and clients of it. */
export interface Sandbox extends AsyncDisposable {
  readonly url: string
  readonly apiKey: string
  readonly adminToken: string
  readonly pixgate: Pixgate
  readonly operator: PixgateOperator
  stop(): Promise<void>
}

export interface SandboxOptions {
  /** Folder of a checkout of Pixgate after `npm ci`; by default `PIXGATE_CHECKOUT`, else the package `@pixgate/sandbox` is run. */
  readonly checkout?: string | undefined
}

/**
 * Starts the real sandbox, of the package `@pixgate/sandbox` or of a checkout, with its own database, simulated bank and free
 * ports; its data goes with it. Takes some seconds, and needs Node.js 24.
 * @throws PixgateError invalid_argument, connection_failed
 */
export async function startSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { spawn } = await import('node:child_process')
  const { existsSync } = await import('node:fs')
  const { chmod, mkdtemp, readFile, rm } = await import('node:fs/promises')
  const { tmpdir } = await import('node:os')
  const { join } = await import('node:path')
  const { default: process } = await import('node:process')
  const { createInterface } = await import('node:readline')

  const fail = (code: 'invalid_argument' | 'connection_failed', detail: string) =>
    new PixgateError(code, { operation: 'startSandbox', detail })
  const checkout = options.checkout ?? environment('PIXGATE_CHECKOUT')
  const program = checkout === undefined ? await installedSandbox() : join(checkout, 'packages/sandbox/src/main.ts')
  if (!existsSync(program)) throw fail('invalid_argument', 'install @pixgate/sandbox, or name a checkout of Pixgate')
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-sandbox-'))
  // PostgreSQL does not run as root; its own user must be able to enter.
  await chmod(directory, 0o711)
  const node = checkout === undefined ? process.execPath : join(checkout, 'scripts/node')
  const child = spawn(node, [program], {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: environment('PATH'), PIXGATE_DATA_DIR: directory, PORT: '0', PIXGATE_SIMULATOR_PORT: '0' },
  })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  // A program that exits without stopping the sandbox leaves none running.
  const kill = () => child.kill()
  process.once('exit', kill)
  const stop = async () => {
    process.off('exit', kill)
    kill()
    await ended
    await rm(directory, { recursive: true, force: true })
  }
  try {
    const port = await new Promise<number>((resolve, reject) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const { msg, port } = line.startsWith('{') ? JSON.parse(line) : {}
        if (msg === 'ready') resolve(port)
      })
      void ended.then(() => reject(fail('connection_failed', 'the sandbox ended before it was ready')))
    })
    const url = `http://127.0.0.1:${port}`
    const secrets = JSON.parse(await readFile(join(directory, 'sandbox-secrets.json'), 'utf8'))
    const adminToken: string = secrets.adminToken
    const operator = new PixgateOperator({ url, token: adminToken })
    const { apiKey } = await operator.apiKeys.create()
    const pixgate = new Pixgate({ url, apiKey })
    return { url, apiKey, adminToken, pixgate, operator, stop, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function installedSandbox(): Promise<string> {
  const { createRequire } = await import('node:module')
  try {
    return createRequire(import.meta.url).resolve('@pixgate/sandbox')
  } catch {
    return ''
  }
}
