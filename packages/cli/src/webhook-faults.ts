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
    const fault = await check(body, { secret })
    const change =
      fault?.code === 'signature_wrong' ? await changeOf(body, (bytes) => check(bytes, { secret })) : undefined
    findings.push(findingOf('webhook-signature', fault, change))
  }
  if (url !== undefined) {
    const keys = publicKeys(url)
    const fault = await check(body, { keys })
    const change =
      fault?.code === 'signature_wrong' ? await changeOf(body, (bytes) => check(bytes, { keys })) : undefined
    findings.push(findingOf('digital-signature', fault, change))
  }
  return findings
}

async function faultOf(
  body: Buffer,
  headers: Webhook['headers'],
  options: VerifyOptions,
): Promise<WebhookError | undefined> {
  // The age is a finding of its own.
  const dated = { 'webhook-timestamp': String(Math.floor((options.now ?? Date.now)() / 1_000)), ...headers }
  try {
    await verifyWebhook({ headers: dated, body }, options)
    return undefined
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error
    return error
  }
}

const LATEST_MS = 300_000

function ageOf(text: string | undefined, ignoresAge: boolean): Finding {
  const part = 'webhook-timestamp'
  if (text === undefined || !/^\d{1,12}$/.test(text))
    return {
      part,
      isRight: false,
      code: 'timestamp_invalid',
      says: 'the header is missing, or is not a number of seconds',
    }
  const ageMs = Date.now() - Number(text) * 1_000
  const says = `sent ${Math.abs(Math.round(ageMs / 1_000))} s ${ageMs < 0 ? 'in the future' : 'ago'}`
  if (ignoresAge || Math.abs(ageMs) <= LATEST_MS) return { part, isRight: true, says }
  return { part, isRight: false, code: 'timestamp_invalid', says: `${says}; more than five minutes are refused` }
}

function findingOf(part: Finding['part'], fault: WebhookError | undefined, change: string | undefined): Finding {
  if (fault === undefined) return { part, isRight: true, says: 'right' }
  const { code, message } = fault
  return { part, isRight: false, code, says: change ?? message.replace(`${code}: `, '') }
}

/** Ways in which bodies are changed on their way; one whose undoing makes the signature right is the cause. */
const CHANGES: readonly (readonly [says: string, undo: (text: string) => string])[] = [
  ['the body has a line break at its end that was not signed', (text) => text.replace(/\r?\n$/, '')],
  ['the body was parsed and written anew, with other spaces', (text) => JSON.stringify(JSON.parse(text))],
  ['the line breaks of the body were changed', (text) => text.replaceAll('\r\n', '\n')],
]

async function changeOf(
  body: Buffer,
  check: (body: Buffer) => Promise<WebhookError | undefined>,
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
