import { apiKeyScopes, type EndpointInput, type generateApiKey, Refusal } from '@pixgate/spec'
import { isNetwork } from '../platform/networks.ts'
import type { KeyTerms } from './store.ts'

/** What a key is to be for, as a request says it. */
export type KeyRequest = EndpointInput<typeof generateApiKey>['body']

/** The last instant that is written with a year of four digits. */
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * What a key is to be for; what is left out bounds nothing.
 * @throws Refusal validation_error (400) a network that is none, or an expiry that is over, or beyond the year 9999
 * @source rules#api-keys.8, rules#api-keys.9, rules#api-keys.10, rules#api-keys.13
 */
export function termsOf({ name, scopes, cidrs, expiresAt, caps = {} }: KeyRequest, nowMs: number): KeyTerms {
  const wrong = cidrs?.findIndex((text) => !isNetwork(text)) ?? -1
  if (wrong >= 0)
    throw faulty(`cidrs[${wrong}]`, 'format', 'must be an IP address, or one with its prefix: 203.0.113.0/24')
  const expiry = expiresAt === undefined ? null : Date.parse(expiresAt)
  if (expiry !== null && (expiry <= nowMs || expiry > LATEST)) {
    throw faulty('expiresAt', 'out_of_range', 'must be in the future, and no later than the year 9999 in UTC')
  }
  return {
    name: name ?? null,
    scopes: scopes ?? apiKeyScopes,
    cidrs: cidrs ?? null,
    expiresAt: expiry,
    paymentCents: centsOrNull(caps.paymentCents),
    hourCents: centsOrNull(caps.hourCents),
    dayCents: centsOrNull(caps.dayCents),
    nightCents: centsOrNull(caps.nightCents),
    newRecipientCents: centsOrNull(caps.newRecipientCents),
  }
}

/** The same as the audit trail has it. */
export function shownTerms({ name, scopes, cidrs, expiresAt, ...caps }: KeyTerms): Readonly<Record<string, unknown>> {
  const { paymentCents, hourCents, dayCents, nightCents, newRecipientCents } = caps
  const given = Object.entries({ paymentCents, hourCents, dayCents, nightCents, newRecipientCents })
  return {
    name,
    scopes,
    cidrs,
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
    caps: Object.fromEntries(given.map(([cap, cents]) => [cap, cents === null ? null : Number(cents)])),
  }
}

function faulty(field: string, code: string, rule: string): Refusal {
  const message = `${field} ${rule}`
  return new Refusal('validation_error', { message, fields: [{ field, code, message }] })
}

function centsOrNull(cents: number | undefined): bigint | null {
  return cents === undefined ? null : BigInt(cents)
}
