import { limits } from '@pixgate/spec'
import type { Dispatcher } from 'undici'
import { within } from '../platform/clock.ts'
import { sha256Hex } from '../platform/crypto.ts'
import { post } from '../platform/http-client/post.ts'
import type { AlertEmail, AlertWebhook, AlertWebhookKind } from './settings.ts'
import type { AlertText } from './words.ts'

/** Channels of alerts: e-mail, and webhooks of chat services. */

export interface AlertMessage extends AlertText {
  readonly id: string
  readonly madeAt: number
}

export interface Channel {
  /** Stored with each message; says nothing of an address. */
  readonly name: string
  readonly kind: 'email' | AlertWebhookKind
  /** Sends a message once. Never throws. @returns why it was not sent, in a word or two without texts of others */
  send(message: AlertMessage): Promise<string | undefined>
}

export interface EmailOptions extends Omit<AlertEmail, 'to'> {
  readonly to: string
  /** The server must offer TLS, unless it is on this machine. */
  readonly isProduction: boolean
  /** Of an attempt, from the look-up of the server's address to its last answer. */
  readonly timeoutMs: number
  /** Ends attempts under way. */
  readonly closing: AbortSignal
}

/** Loaded by the first mail: 30 MB and 70 ms that a service without e-mail does not need. */
async function openTransport({ smtpUrl, isProduction }: Pick<EmailOptions, 'smtpUrl' | 'isProduction'>) {
  const { createTransport } = await import('nodemailer')
  const { protocol, hostname, port, username, password } = new URL(smtpUrl)
  const isSecure = protocol === 'smtps:'
  const host = hostname.replace(/^\[(.+)\]$/, '$1')
  const isHere = /^(?:localhost|::1|127(?:\.\d+){3})$/.test(host)
  return createTransport({
    host,
    port: port === '' ? (isSecure ? 465 : 587) : Number(port),
    secure: isSecure,
    requireTLS: isProduction && !isHere,
    ignoreTLS: isHere,
    tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2' },
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

/** Mails to one person, so that a refused address holds up no other. Every attempt has the same Message-ID. @source rules#alerts.4, rules#alerts.8 */
export function createEmail({ from, to, timeoutMs, closing, ...server }: EmailOptions): Channel {
  let transport: ReturnType<typeof openTransport> | undefined
  const domain = from.slice(from.lastIndexOf('@') + 1)
  return {
    name: nameOf('email', to),
    kind: 'email',
    send: async (message) => {
      try {
        transport ??= openTransport(server)
        const opened = await transport
        // The library's own time-outs begin again with every byte.
        await within(timeoutMs, (deadline) =>
          opened.sendMail({
            ...{ from, to, subject: message.title, text: plainOf(message), html: htmlOf(message) },
            messageId: `<${message.id}@${domain}>`,
            date: new Date(message.madeAt),
            headers: { 'Auto-Submitted': 'auto-generated' },
            signal: AbortSignal.any([deadline, closing]),
          }),
        )
        return undefined
      } catch (error) {
        return closing.aborted ? 'stopped' : faultOf(error)
      }
    },
  }
}

function nameOf(kind: Channel['kind'], address: string): string {
  return `${kind} ${sha256Hex(address).slice(0, 12)}`
}

/** Codes of the client and the server. The server's text may repeat addresses. */
function faultOf(error: unknown): string {
  const { code, responseCode } = error as { readonly code?: string; readonly responseCode?: number }
  if (code === 'EABORT') return 'timeout'
  return [code ?? 'failed', responseCode].filter((part) => part !== undefined).join(' ')
}

/** @param dispatcher connects only to what receivers of webhooks may be @source rules#alerts.7, rules#alerts.8 */
export function createWebhook({ kind, url }: AlertWebhook, dispatcher: Dispatcher, timeoutMs: number): Channel {
  return {
    name: nameOf(kind, url),
    kind,
    send: async (message) => {
      const { answer } = await post(dispatcher, {
        url,
        headers: { 'content-type': 'application/json', 'user-agent': 'Pixgate' },
        body: Buffer.from(JSON.stringify(BODIES[kind](message))),
        timeoutMs,
        responseMaxBytes: limits.webhookResponseMaxBytes,
        responseTimeoutMs: 1_000,
      })
      if ('failure' in answer) return answer.code ?? answer.failure
      return answer.statusCode >= 200 && answer.statusCode < 300 ? undefined : `HTTP ${answer.statusCode}`
    },
  }
}

const DISCORD_MAX_LENGTH = 2_000

const BODIES: Readonly<Record<AlertWebhookKind, (message: AlertText) => object>> = {
  slack: (message) => ({ text: `${message.title}\n${plainOf(message)}` }),
  discord: (message) => ({
    content: `**${message.title}**\n${plainOf(message)}`.slice(0, DISCORD_MAX_LENGTH),
    allowed_mentions: { parse: [] },
  }),
  teams: (message) => ({
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [
            { type: 'TextBlock', text: message.title, weight: 'Bolder', size: 'Medium', wrap: true },
            { type: 'TextBlock', text: plainOf(message).replaceAll('\n', '\n\n'), wrap: true },
          ],
        },
      },
    ],
  }),
}

function plainOf({ advice, lines, more, at, page }: AlertText): string {
  const listed = lines.map((line) => (line.page === undefined ? `- ${line.text}` : `- ${line.text}: ${line.page}`))
  return [advice, ...listed, more, page, at].filter((line) => line !== undefined).join('\n')
}

function htmlOf({ title, advice, lines, more, at, page }: AlertText): string {
  const link = (address: string, text: string) => `<a href="${escaped(address)}">${escaped(text)}</a>`
  const items = lines.map(
    (line) => `<li>${line.page === undefined ? escaped(line.text) : link(line.page, line.text)}</li>`,
  )
  return [
    `<p><strong>${escaped(title)}</strong></p><p>${escaped(advice)}</p>`,
    items.length > 0 ? `<ul>${items.join('')}</ul>` : '',
    more === undefined ? '' : `<p>${escaped(more)}</p>`,
    page === undefined ? '' : `<p>${link(page, page)}</p>`,
    `<p>${escaped(at)}</p>`,
  ].join('')
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
