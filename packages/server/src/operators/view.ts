import type { listOperators } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { ListedOperator } from './store.ts'

type OperatorPage = Static<(typeof listOperators)['responses'][200]['schema']>

/**
 * The envelope of a page.
 * @param operators one more than the limit where there are more
 */
export function operatorPage(operators: readonly ListedOperator[], limit: number): OperatorPage {
  const data = operators.slice(0, limit).map(operatorView)
  const hasMore = operators.length > limit
  return { data, pagination: { limit, hasMore, nextCursor: hasMore ? (data.at(-1)?.id ?? null) : null } }
}

function operatorView({ createdAt, lastUsedAt, deactivatedAt, ...operator }: ListedOperator) {
  return {
    ...operator,
    createdAt: new Date(createdAt).toISOString(),
    lastUsedAt: instantOf(lastUsedAt),
    deactivatedAt: instantOf(deactivatedAt),
  }
}

function instantOf(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
