import type { AlertLanguage } from './words.ts'

/** Settings of alerts, as the environment has them. Pure. */

export const alertWebhookKinds = ['slack', 'discord', 'teams'] as const

export type AlertWebhookKind = (typeof alertWebhookKinds)[number]

export interface AlertWebhook {
  readonly kind: AlertWebhookKind
  readonly url: string
}

export interface AlertEmail {
  readonly smtpUrl: string
  readonly from: string
  readonly to: readonly string[]
}

export interface AlertSettings {
  readonly email: AlertEmail | undefined
  readonly webhooks: readonly AlertWebhook[]
  readonly language: AlertLanguage
}

/** Hosts of which the kind is known. */
const HOSTS: Readonly<Record<AlertWebhookKind, RegExp>> = {
  slack: /^hooks\.slack(?:-gov)?\.com$/,
  discord: /^(?:(?:ptb|canary)\.)?discord(?:app)?\.com$/,
  teams: /\.(?:webhook\.office\.com|logic\.azure\.com|api\.powerplatform\.com)$/,
}

/** @returns webhooks of `PIXGATE_ALERT_WEBHOOK_URLS`; those with a fault are left out */
export function alertWebhooksOf(text: string): AlertWebhook[] {
  return itemsOf(text).flatMap((item) => {
    const webhook = webhookOf(item)
    return typeof webhook === 'string' ? [] : [webhook]
  })
}

/** Says what is wrong with which address, by its place: an address is a secret. @source rules#alerts.7 */
export function alertWebhooksFault(text: string): string | undefined {
  const faults = itemsOf(text).flatMap((item, index) => {
    const webhook = webhookOf(item)
    return typeof webhook === 'string' ? [`has as address ${index + 1} one that ${webhook}`] : []
  })
  return faults[0]
}

function itemsOf(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')
}

/** @returns the webhook, or its fault */
function webhookOf(item: string): AlertWebhook | string {
  const [, prefix, address = ''] = /^(?:(slack|discord|teams):)?(https?:\/\/.+)$/.exec(item) ?? []
  const url = URL.parse(address)
  if (url === null) return 'does not begin with https://, or with slack:https://, discord:https:// or teams:https://'
  if (url.username !== '' || url.password !== '' || url.href.includes('#')) return 'has a user, a password or a #'
  const kind = alertWebhookKinds.find((one) => (prefix === undefined ? HOSTS[one].test(url.hostname) : one === prefix))
  if (kind === undefined) return 'is of an unknown service: write slack:, discord: or teams: before it'
  return { kind, url: url.href }
}

/** The fault of `PIXGATE_ALERT_SMTP_URL`. Shows nothing of it: it has a password. @source rules#alerts.7 */
export function smtpUrlFault(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '') {
    return 'must be an address that begins with smtps:// or smtp://, with special characters of its password percent-encoded'
  }
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    return 'must end after the host or the port: TLS is always verified and has no options'
  }
  return isDecodable(url.username) && isDecodable(url.password) ? undefined : 'has a % that encodes nothing'
}

function isDecodable(text: string): boolean {
  return !/%(?![0-9a-f]{2})/i.test(text)
}

/** An address without a name, so that it cannot add a header or a recipient. */
export const EMAIL_PATTERN = '^[A-Za-z0-9.!#$%&*+/=?^_{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])$'
