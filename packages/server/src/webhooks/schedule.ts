import { type AttemptOutcome, limits } from '@pixgate/spec'
import { type Answer, retryAfterMs } from '../platform/http-client/post.ts'

/** The next step of a delivery after an attempt. Pure. */

/** Remaining attempts of a delivery. Those of a resend are used first. */
export interface AttemptsLeft {
  readonly scheduleLeft: number
  readonly resendLeft: number
}

export interface Attempted extends AttemptsLeft {
  /** The single attempt allowed by an open circuit breaker: it uses up nothing. */
  readonly isProbe: boolean
  /** Consecutive failed probes before this attempt. */
  readonly failedProbes: number
}

export interface NextStep extends AttemptsLeft {
  readonly result: 'delivered' | 'retry' | 'given_up'
  /** Epoch milliseconds; `null` unless it is retried. */
  readonly dueAt: number | null
}

/** Attempts of the schedule, including the first. @source rules#webhooks.6 */
export const SCHEDULE_ATTEMPTS = limits.webhookRetryDelaysMs.length + 1

/**
 * The next step: any 2xx delivers. A failed attempt uses one of a resend or of the schedule: all 14 for retryable
 * answers, the first 4 for others, including redirects. A failed probe uses none. Every wait starts at the end of the
 * attempt.
 * @param endedAt epoch milliseconds
 * @param random uniform in [0, 1)
 * @source rules#webhooks.6, rules#webhooks.7, rules#webhooks.13, rules#webhooks.21
 */
export function nextStep(answer: Answer, attempted: Attempted, endedAt: number, random: number): NextStep {
  const { scheduleLeft, resendLeft, isProbe, failedProbes } = attempted
  if (isSuccess(answer)) return { result: 'delivered', dueAt: null, scheduleLeft: 0, resendLeft: 0 }
  const retry = (baseMs: number, left: AttemptsLeft): NextStep => {
    const waitMs = Math.max(baseMs, requestedWaitMs(answer, baseMs, endedAt))
    return { result: 'retry', dueAt: Math.round(endedAt + waitMs + jitterMs(waitMs, random)), ...left }
  }
  if (isProbe) return { result: 'retry', dueAt: endedAt + probeDelayMs(failedProbes + 1), scheduleLeft, resendLeft }
  if (resendLeft > 1) {
    return retry(delayAfter(limits.webhookResendAttempts - resendLeft + 1), {
      scheduleLeft,
      resendLeft: resendLeft - 1,
    })
  }
  // The schedule continues after a resend.
  const used = SCHEDULE_ATTEMPTS - scheduleLeft + (resendLeft === 0 ? 1 : 0)
  if (used >= (resendLeft === 0 ? attemptsFor(answer) : SCHEDULE_ATTEMPTS)) {
    return { result: 'given_up', dueAt: null, scheduleLeft: 0, resendLeft: 0 }
  }
  return retry(delayAfter(Math.max(used, 1)), { scheduleLeft: SCHEDULE_ATTEMPTS - used, resendLeft: 0 })
}

function delayAfter(attempts: number): number {
  return limits.webhookRetryDelaysMs[attempts - 1] as number
}

/** Wait before the next probe after a number of failed ones. @source rules#webhooks.13 */
export function probeDelayMs(failedProbes: number): number {
  const delays = limits.webhookProbeDelaysMs
  return delays[Math.min(failedProbes, delays.length - 1)] as number
}

/** @source rules#webhooks.6 */
export function isSuccess(answer: Answer): boolean {
  return 'statusCode' in answer && answer.statusCode >= 200 && answer.statusCode < 300
}

/** @source rules#webhooks.17 */
export function outcomeOf(answer: Answer): AttemptOutcome {
  if ('failure' in answer) return answer.failure
  return isSuccess(answer) ? 'delivered' : 'refused'
}

/** The endpoint no longer exists: it is paused, and its deliveries are held. @source rules#webhooks.14 */
export const GONE = 410

const RETRIED: ReadonlySet<number> = new Set([...limits.webhookRetriedStatuses, GONE])

function attemptsFor(answer: Answer): number {
  if ('failure' in answer || answer.statusCode >= 500 || RETRIED.has(answer.statusCode)) return SCHEDULE_ATTEMPTS
  return limits.webhookShortScheduleAttempts
}

const ASKED_TO_WAIT: ReadonlySet<number> = new Set([429, 503])

/**
 * The wait requested by the endpoint: at most the larger of a minute and twice the schedule's own, and at most six
 * hours.
 */
function requestedWaitMs(answer: Answer, baseMs: number, endedAt: number): number {
  return Math.min(askedMs(answer, endedAt), Math.max(2 * baseMs, 60_000), 21_600_000)
}

/** End of the pause requested by the endpoint, in epoch milliseconds, if it requests one. @source rules#webhooks.12 */
export function heldUntil(answer: Answer, endedAt: number): number | null {
  const asked = askedMs(answer, endedAt)
  return asked > 0 ? endedAt + Math.min(asked, limits.webhookHoldMaxMs) : null
}

function askedMs(answer: Answer, endedAt: number): number {
  if ('failure' in answer || !ASKED_TO_WAIT.has(answer.statusCode) || answer.retryAfter === undefined) return 0
  return retryAfterMs(answer.retryAfter, endedAt) ?? 0
}

/** Spreads retries after an outage: at most a tenth of the wait, at least half a second, at most ten minutes. */
function jitterMs(waitMs: number, random: number): number {
  return Math.min(Math.max(random * 0.1 * waitMs, 500), 600_000)
}
