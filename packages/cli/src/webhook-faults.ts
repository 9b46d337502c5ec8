import { publicKeys, type VerifyOptions, verifyWebhook, WebhookError } from '@pixgate/sdk/webhooks'

export interface Webhook {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly secret: string | undefined
  /** Of Pixgate, to verify Digital-Signature by its public keys. */
  readonly url: string | undefined
  readonly ignoresAge: boolean
}

export interface Finding {
  readonly part: 'webhook-timestamp' | 'webhook-signature' | 'digital-signature'
  readonly isRight: boolean
  readonly code?: string
  readonly says: string
}

/** Looks at each part of a webhook on its own. @source rules#cli.9 */
export async function webhookFaults(webhook: Webhook): Promise<Finding[]> {
  const { headers, body, secret, url, ignoresAge } = webhook
  const sentAt = Number(headers['webhook-timestamp']) * 1_000
  // Signatures are judged apart from their age.
  const options = Number.isFinite(sentAt) ? { now: () => sentAt } : {}
  const check = (bytes: Buffer, more: VerifyOptions) => faultOf(bytes, headers, { ...options, ...more })
  const findings: Finding[] = [ageOf(headers['webhook-timestamp'], ignoresAge)]
  if (secret !== undefined) {
    const code = await check(body, { secret })
    const says = code === 'signature_wrong' ? await changeOf(body, (bytes) => check(bytes, { secret })) : undefined
    findings.push(findingOf('webhook-signature', code, says))
  }
  if (url !== undefined) {
    const keys = publicKeys(url)
    const code = await check(body, { keys })
    const says = code === 'signature_wrong' ? await changeOf(body, (bytes) => check(bytes, { keys })) : undefined
    findings.push(findingOf('digital-signature', code, says))
  }
  return findings
}

async function faultOf(body: Buffer, headers: Webhook['headers'], options: VerifyOptions): Promise<string | undefined> {
  // The age is a finding of its own.
  const dated = { 'webhook-timestamp': String(Math.floor((options.now ?? Date.now)() / 1_000)), ...headers }
  try {
    await verifyWebhook({ headers: dated, body }, options)
    return undefined
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error
    return error.code
  }
}

const LATEST_MS = 300_000

function ageOf(text: string | undefined, ignoresAge: boolean): Finding {
  const part = 'webhook-timestamp'
  if (text === undefined || !/^\d{1,12}$/.test(text))
    return { part, isRight: false, code: 'timestamp_invalid', says: 'the header is missing or is no number of seconds' }
  const ageMs = Date.now() - Number(text) * 1_000
  const says = `sent ${Math.abs(Math.round(ageMs / 1_000))} s ${ageMs < 0 ? 'in the future' : 'ago'}`
  if (ignoresAge || Math.abs(ageMs) <= LATEST_MS) return { part, isRight: true, says }
  return { part, isRight: false, code: 'timestamp_invalid', says: `${says}; more than five minutes are refused` }
}

const SENTENCES: Readonly<Record<string, string>> = {
  body_not_json: 'right, but the body is no JSON',
  key_unknown:
    'Pixgate publishes no key with the id in digital-signature-key-id: it is of another installation, or retired',
  keys_unavailable: 'the public keys could not be read from PIXGATE_URL',
  secret_invalid: 'the secret is not whsec_ and Base64',
  signature_missing: 'the header is missing',
  signature_wrong: 'signed with another secret or key, or id, time or body are not those that were signed',
  timestamp_invalid: 'cannot be judged without webhook-timestamp',
}

function findingOf(part: Finding['part'], code: string | undefined, change: string | undefined): Finding {
  if (code === undefined) return { part, isRight: true, says: 'right' }
  return { part, isRight: false, code, says: change ?? SENTENCES[code] ?? code }
}

/** Ways in which bodies are changed on their way; one whose undoing makes the signature right is the cause. */
const CHANGES: readonly (readonly [says: string, undo: (text: string) => string])[] = [
  ['the body has a line break at its end that was not signed', (text) => text.replace(/\r?\n$/, '')],
  ['the body was parsed and written anew, with other spaces', (text) => JSON.stringify(JSON.parse(text))],
  ['the line breaks of the body were changed', (text) => text.replaceAll('\r\n', '\n')],
]

async function changeOf(
  body: Buffer,
  check: (body: Buffer) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (const [says, undo] of CHANGES) {
    const before = undone(body.toString('utf8'), undo)
    if (before !== undefined && (await check(Buffer.from(before))) === undefined)
      return `${says}: verify the bytes as they came`
  }
  return undefined
}

function undone(text: string, undo: (text: string) => string): string | undefined {
  try {
    const before = undo(text)
    return before === text ? undefined : before
  } catch {
    return undefined
  }
}
