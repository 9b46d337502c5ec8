import { limits } from '@pixgate/spec'
import type { CashIn, CashInFacts } from './cash-in.ts'

/** What it means that the bank says it does not know a charge. Pure. */

/**
 * Facts after the bank said so. What it was asked before an attempt proves nothing about that attempt.
 * @param askedAt when the status query was claimed
 */
export function notFound(facts: CashInFacts, askedAt: number): CashInFacts {
  if (askedAt < (facts.lastAttemptAt ?? 0)) return {}
  return { notFoundSince: facts.notFoundSince ?? askedAt, notFoundAt: askedAt }
}

/**
 * Whether, together with what the bank says now, it is proven that it has no such charge: said twice, a minute apart,
 * the last time five minutes after the last attempt began.
 * @source rules#cash-in.states.15, failure-modes#P6
 */
export function isProvenNotFound({ facts, createdAt }: CashIn, askedAt: number): boolean {
  const { notFoundSince, notFoundAt } = { ...facts, ...notFound(facts, askedAt) }
  if (notFoundSince == null || notFoundAt == null) return false
  const lastAttemptAt = facts.lastAttemptAt ?? createdAt + limits.abandonedIntentMs
  return (
    notFoundAt - notFoundSince >= limits.notFoundApartMs && notFoundAt - lastAttemptAt >= limits.notFoundAfterAttemptMs
  )
}
