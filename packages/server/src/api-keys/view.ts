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

function keyView({ id, display, createdAt, deactivatedAt }: ListedKey): ApiKeyPage['data'][number] {
  return {
    id,
    display,
    createdAt: new Date(createdAt).toISOString(),
    deactivatedAt: deactivatedAt === null ? null : new Date(deactivatedAt).toISOString(),
  }
}
