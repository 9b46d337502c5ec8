import { type AttemptOutcome, limits } from '@pixgate/spec'
import type { Answer } from '../../platform/http-client/post.ts'
import { retryAfterMs } from '../../platform/http-client/retry-after.ts'

/** What becomes of a delivery after an attempt. */
export type NextStep =
  | { readonly state: 'DELIVERED' | 'FAILED' }
  | { readonly state: 'PENDING'; readonly nextAttemptAt: number }

/**
 * Judges an attempt: any 2xx delivers; whatever a retry may change gets the whole schedule; other answers, redirects
 * among them, the first few attempts. An address that is not allowed may be a name server's wrong answer of this moment:
 * what can never be allowed was refused when it was registered. Every wait starts when the attempt ended.
 * @param attempt the number of the attempt that ended, from 1
 * @param endedAt epoch milliseconds
 * @param random uniform in [0, 1)
 * @source rules#webhooks.6, rules#webhooks.7
 */
export function nextAttempt(answer: Answer, attempt: number, endedAt: number, random: number): NextStep {
  if (isSuccess(answer)) return { state: 'DELIVERED' }
  const baseMs = limits.webhookRetryDelaysMs[attempt - 1]
  if (baseMs === undefined || attempt >= attemptsFor(answer)) return { state: 'FAILED' }
  const waitMs = Math.max(baseMs, requestedWaitMs(answer, baseMs, endedAt))
  return { state: 'PENDING', nextAttemptAt: Math.round(endedAt + waitMs + jitterMs(waitMs, random)) }
}

/** Whether the receiver has taken the notification. @source rules#webhooks.6 */
export function isSuccess(answer: Answer): boolean {
  return 'statusCode' in answer && answer.statusCode >= 200 && answer.statusCode < 300
}

/** Whether the receiver took longer than it may. @source rules#webhooks.5 */
export function isTimeout(answer: Answer): boolean {
  return 'failure' in answer && answer.failure === 'timeout'
}

/** What came of an attempt, in one word. @source rules#webhooks.17 */
export function outcomeOf(answer: Answer): AttemptOutcome {
  if ('failure' in answer) return answer.failure
  return isSuccess(answer) ? 'delivered' : 'refused'
}

const WORTH_THE_WHOLE_SCHEDULE: ReadonlySet<number> = new Set(limits.webhookRetriedStatuses)

/** The receiver says that it is no longer there: it is paused, and what it has not had is held for it. @source rules#webhooks.14 */
export const GONE = 410

function attemptsFor(answer: Answer): number {
  if ('failure' in answer) return Number.POSITIVE_INFINITY
  if (answer.statusCode >= 500 || answer.statusCode === GONE) return Number.POSITIVE_INFINITY
  if (WORTH_THE_WHOLE_SCHEDULE.has(answer.statusCode)) return Number.POSITIVE_INFINITY
  return limits.webhookShortScheduleAttempts
}

const ASKED_TO_WAIT: ReadonlySet<number> = new Set([429, 503])

/** How long the receiver asks us to wait, no longer than twice the schedule's own wait or a minute, nor six hours. */
function requestedWaitMs(answer: Answer, baseMs: number, endedAt: number): number {
  return Math.min(askedMs(answer, endedAt), Math.max(2 * baseMs, 60_000), 21_600_000)
}

/**
 * Until when a receiver gets nothing at all because it asks for it, in epoch milliseconds; null where it does not.
 * @source rules#webhooks.6
 */
export function heldUntil(answer: Answer, endedAt: number): number | null {
  const asked = askedMs(answer, endedAt)
  return asked > 0 ? endedAt + Math.min(asked, limits.webhookLaneHeldMaxMs) : null
}

function askedMs(answer: Answer, endedAt: number): number {
  if ('failure' in answer || !ASKED_TO_WAIT.has(answer.statusCode) || answer.retryAfter === undefined) return 0
  return retryAfterMs(answer.retryAfter, endedAt) ?? 0
}

/** Up to a tenth of the wait, at least half a second, at most ten minutes: retries after an outage do not come in step. */
function jitterMs(waitMs: number, random: number): number {
  return Math.min(Math.max(random * 0.1 * waitMs, 500), 600_000)
}
