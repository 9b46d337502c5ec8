import { type EndpointReason, type EndpointState, limits } from '@pixgate/spec'
import type { Answer } from '../platform/http-client/post.ts'
import { GONE, heldUntil, isSuccess, probeDelayMs } from './schedule.ts'

/** Circuit breaker of an endpoint, and its automatic pause. Pure. */

/** State of an endpoint's deliveries. Instants are epoch milliseconds. */
export interface Circuit {
  /** `degraded`: the breaker is open; one probe is sent at `probeAt`. */
  readonly state: EndpointState
  readonly reason: EndpointReason | null
  readonly since: number
  /** Consecutive failures since the last success. */
  readonly failures: number
  /** Time of the first of these failures. */
  readonly failingSince: number | null
  readonly failedProbes: number
  readonly probeAt: number | null
  /** End of the pause that the endpoint requested. */
  readonly heldUntil: number | null
}

export interface Ended {
  readonly answer: Answer
  readonly isProbe: boolean
  readonly endedAt: number
  /** Start of the period in which its key signs. */
  readonly keySignsFrom: number
}

/** Maximum age of a receiver's cached keys. @source rules#signing-keys.2 */
export const KEYS_KNOWN_AFTER_MS = limits.publicKeyMaxAgeSeconds * 1_000 + limits.publishedKeysAgeMs

/**
 * The circuit after an attempt. A 401 from a receiver that may not know a new key yet says nothing about its health:
 * the schedule retries those deliveries.
 * @source rules#webhooks.12, rules#webhooks.13, rules#webhooks.14
 */
export function circuitAfter(before: Circuit, { answer, isProbe, endedAt, keySignsFrom }: Ended): Circuit {
  if (isSuccess(answer)) return afterSuccess(before, isProbe, endedAt)
  if (isUnknownKey(answer, endedAt, keySignsFrom)) {
    return isProbe && before.state === 'degraded' ? opened(before, before.reason ?? 'failing', 0, endedAt) : before
  }
  const failed: Circuit = {
    ...before,
    failures: before.failures + 1,
    failingSince: before.failingSince ?? endedAt,
    heldUntil: Math.max(before.heldUntil ?? 0, heldUntil(answer, endedAt) ?? 0) || null,
  }
  if (before.state === 'paused') return failed
  if ('statusCode' in answer && answer.statusCode === GONE) return paused(failed, 'gone', endedAt)
  if (hasFailedForDays(failed, endedAt)) return paused(failed, 'failing_for_days', endedAt)
  if (before.state === 'degraded') {
    return isProbe ? opened(failed, reasonOf(answer), before.failedProbes + 1, endedAt) : failed
  }
  return opens(failed, answer) ? opened(failed, reasonOf(answer), 0, endedAt) : failed
}

function afterSuccess(before: Circuit, isProbe: boolean, endedAt: number): Circuit {
  const well = { ...before, failures: 0, failingSince: null }
  if (!isProbe || before.state !== 'degraded') return well
  return { ...well, state: 'active', reason: null, since: endedAt, failedProbes: 0, probeAt: null }
}

function isUnknownKey(answer: Answer, endedAt: number, keySignsFrom: number): boolean {
  return 'statusCode' in answer && answer.statusCode === 401 && endedAt < keySignsFrom + KEYS_KNOWN_AFTER_MS
}

function isOutage(answer: Answer): boolean {
  return 'failure' in answer || answer.statusCode >= 500
}

function opens({ failures }: Circuit, answer: Answer): boolean {
  if ('failure' in answer && answer.failure === 'address_not_allowed') return true
  if (failures >= limits.webhookOpenAfterFailures) return true
  return isOutage(answer) && failures >= limits.webhookOpenAfterOutages
}

function reasonOf(answer: Answer): EndpointReason {
  if (!('failure' in answer)) return 'failing'
  return answer.failure === 'address_not_allowed' ? 'address_not_allowed' : 'unanswered'
}

function opened(circuit: Circuit, reason: EndpointReason, failedProbes: number, endedAt: number): Circuit {
  const since = circuit.state === 'degraded' ? circuit.since : endedAt
  return { ...circuit, state: 'degraded', reason, since, failedProbes, probeAt: endedAt + probeDelayMs(failedProbes) }
}

function paused(circuit: Circuit, reason: EndpointReason, endedAt: number): Circuit {
  return { ...circuit, state: 'paused', reason, since: endedAt, failedProbes: 0, probeAt: null }
}

function hasFailedForDays({ failures, failingSince }: Circuit, endedAt: number): boolean {
  if (failingSince === null || failures < limits.webhookPauseFailures) return false
  return endedAt - failingSince >= limits.webhookPauseAfterMs
}
