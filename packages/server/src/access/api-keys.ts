import { apiKeyScopes, type EndpointInput, type generateApiKey, type listApiKeys, Refusal } from '@pixgate/spec'
import type { Static } from 'typebox'
import { isNetwork } from '../platform/networks.ts'
import { instantOf, type KeyTerms, type ListedKey } from './credentials.ts'

export type KeyRequest = EndpointInput<typeof generateApiKey>['body']

/** The last instant with a four-digit year. */
const LATEST = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * Validates the requested terms; omitted ones limit nothing.
 * @throws Refusal validation_error (400) for an invalid network, or an expiry in the past or beyond the year 9999
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

/** The terms for the audit trail. */
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

type ListedApiKey = Static<(typeof listApiKeys)['responses'][200]['schema']>['data'][number]

export function keyView(key: ListedKey): ListedApiKey {
  const { id, display, name, scopes, cidrs, createdAt, createdBy, expiresAt, lastUsedAt, deactivatedAt } = key
  return {
    id,
    display,
    name,
    scopes: [...scopes],
    cidrs: cidrs && [...cidrs],
    caps: {
      paymentCents: centsOf(key.paymentCents),
      hourCents: centsOf(key.hourCents),
      dayCents: centsOf(key.dayCents),
      nightCents: centsOf(key.nightCents),
      newRecipientCents: centsOf(key.newRecipientCents),
    },
    createdAt: new Date(createdAt).toISOString(),
    createdBy,
    expiresAt: instantOf(expiresAt),
    lastUsedAt: instantOf(lastUsedAt),
    deactivatedAt: instantOf(deactivatedAt),
  }
}

function centsOf(cents: bigint | null): number | null {
  return cents === null ? null : Number(cents)
}
