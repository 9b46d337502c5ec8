import { limits } from '@pixgate/spec'
import { type Html, html, prose } from './html.ts'

const ANSWER_SECONDS = limits.webhookTimeoutMs / 1_000
const KEY_MINUTES = limits.publicKeyMaxAgeSeconds / 60
const RETRIED = limits.webhookRetriedStatuses.join(', ')

/** What a receiver does, in its order. */
const STEPS = [
  'Keep the bytes of the body as they came: the signature is over them. Do not parse the body and write it again.',
  `Verify. \`Digital-Signature\` is the Base64 of the DER form of an ECDSA P-256 signature with SHA-256. The key is the one of \`GET /public-keys\`, PEM, without a token, that \`Digital-Signature-Key-Id\` names; keep them for ${KEY_MINUTES} minutes and no longer. Where it names none of them, fetch them once more, at most once a second; where it still does not, or the signature does not verify, answer 401. \`GET /public-key\` is the current one alone: fetch it again where a signature does not verify.`,
  'Or verify `webhook-signature` with the `secret` that `POST /webhook` answered, as any library of Standard Webhooks does: it covers the id and the time too, and what is sent again after five minutes is refused.',
  `Answer any 2xx within ${ANSWER_SECONDS} seconds, with or without a body, and do the work afterwards.`,
  'Act once on each `webhook-id`: the same notification may come again, with the same id and the same bytes. It may also come before or after others; GET by id is the authoritative view.',
]

const VERIFYING = `import { createPublicKey, verify } from 'node:crypto'

// pem: the publicKey that Digital-Signature-Key-Id names; rawBody: a Buffer with the bytes of the body
const signature = Buffer.from(request.headers['digital-signature'], 'base64')
const isAuthentic = verify('sha256', rawBody, createPublicKey(pem), signature)`

/** What becomes of an answer, by what it is. @source rules#webhooks.6, rules#webhooks.7 */
function attempts(): readonly (readonly [answer: string, becomes: string])[] {
  const waits = limits.webhookRetryDelaysMs.map(durationText)
  const hours = Math.round(limits.webhookRetryDelaysMs.reduce((sum, delay) => sum + delay, 0) / 3_600_000)
  return [
    ['any 2xx', 'delivered'],
    [
      `5xx, no connection, more than ${ANSWER_SECONDS} seconds, or ${RETRIED}`,
      `${waits.length + 1} attempts over about ${hours} hours: at once, then after ${waits.join(', ')}`,
    ],
    ['another 4xx, or a 3xx, which is never followed', `the first ${limits.webhookShortScheduleAttempts} of these`],
  ]
}

/** `90000` → `90 s`, `120000` → `2 min`, `3600000` → `1 h`. */
function durationText(ms: number): string {
  if (ms % 3_600_000 === 0) return `${ms / 3_600_000} h`
  return ms % 60_000 === 0 ? `${ms / 60_000} min` : `${ms / 1_000} s`
}

/**
 * All that is needed to write a receiver of notifications, besides their bodies.
 * @param headers the table of the headers that a notification has
 * @source rules#reference.10
 */
export function receiverSection(headers: Html | undefined): Html {
  return html`<ol>${STEPS.map((step) => html`<li>${prose(step)}</li>\n`)}</ol>
<p>With Node:</p>
<pre><code>${VERIFYING}</code></pre>
${headers}
<table><tr><th>Your answer</th><th>what becomes of it</th></tr>
${attempts().map(([answer, becomes]) => html`<tr><td>${answer}</td><td>${becomes}</td></tr>\n`)}</table>
<p>Each wait begins when the attempt before has ended, and is up to a tenth longer. <code>Retry-After</code> of a 429 or 503 is
heeded.</p>
`
}
