import type { listApiKeys } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { ListedKey } from './store.ts'

type ApiKeyPage = Static<(typeof listApiKeys)['responses'][200]['schema']>

/**
 * The envelope of a page.
 * @param keys one more than the limit where there are more
 */
export function keyPage(keys: readonly ListedKey[], limit: number): ApiKeyPage {
  const data = keys.slice(0, limit).map(keyView)
  const hasMore = keys.length > limit
  return { data, pagination: { limit, hasMore, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null } }
}

function keyView(key: ListedKey): ApiKeyPage['data'][number] {
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

function instantOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
