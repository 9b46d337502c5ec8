import { type AttemptOutcome, limits } from '@pixgate/spec'
import { type Answer, retryAfterMs } from '../platform/http-client/post.ts'

/** The next step of a delivery after an attempt. Pure. */

/** Attempts left of a delivery. Those of a resend are used first. */
export interface AttemptsLeft {
  readonly scheduleLeft: number
  readonly resendLeft: number
}

/** A delivery that was attempted. */
export interface Attempted extends AttemptsLeft {
  /** The one attempt that an open circuit breaker lets through: it uses up nothing. */
  readonly isProbe: boolean
  /** Probes before it in a row that failed. */
  readonly failedProbes: number
}

/** What an attempt makes of its delivery. */
export interface NextStep extends AttemptsLeft {
  readonly result: 'delivered' | 'retry' | 'given_up'
  /** Epoch milliseconds; `null` unless it is tried again. */
  readonly dueAt: number | null
}

/** Attempts of the schedule, the first one included. @source rules#webhooks.6 */
export const SCHEDULE_ATTEMPTS = limits.webhookRetryDelaysMs.length + 1

/**
 * The next step: any 2xx delivers. A failed attempt uses one of a resend, or one of the schedule: all 14 for what a retry may change,
 * the first 4 for other answers, redirects among them. A failed probe uses none. Every wait starts when the attempt ended.
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
  // What a resend leaves of the schedule goes on after it.
  const used = SCHEDULE_ATTEMPTS - scheduleLeft + (resendLeft === 0 ? 1 : 0)
  if (used >= (resendLeft === 0 ? attemptsFor(answer) : SCHEDULE_ATTEMPTS)) {
    return { result: 'given_up', dueAt: null, scheduleLeft: 0, resendLeft: 0 }
  }
  return retry(delayAfter(Math.max(used, 1)), { scheduleLeft: SCHEDULE_ATTEMPTS - used, resendLeft: 0 })
}

function delayAfter(attempts: number): number {
  return limits.webhookRetryDelaysMs[attempts - 1] as number
}

/** The wait before the next probe, after so many failed. @source rules#webhooks.13 */
export function probeDelayMs(failedProbes: number): number {
  const delays = limits.webhookProbeDelaysMs
  return delays[Math.min(failedProbes, delays.length - 1)] as number
}

/** Whether the endpoint has taken the notification. @source rules#webhooks.6 */
export function isSuccess(answer: Answer): boolean {
  return 'statusCode' in answer && answer.statusCode >= 200 && answer.statusCode < 300
}

/** The outcome of an attempt, in one word. @source rules#webhooks.17 */
export function outcomeOf(answer: Answer): AttemptOutcome {
  if ('failure' in answer) return answer.failure
  return isSuccess(answer) ? 'delivered' : 'refused'
}

/** The endpoint is no longer there: it is paused, and its deliveries are held. @source rules#webhooks.14 */
export const GONE = 410

const RETRIED: ReadonlySet<number> = new Set([...limits.webhookRetriedStatuses, GONE])

function attemptsFor(answer: Answer): number {
  if ('failure' in answer || answer.statusCode >= 500 || RETRIED.has(answer.statusCode)) return SCHEDULE_ATTEMPTS
  return limits.webhookShortScheduleAttempts
}

const ASKED_TO_WAIT: ReadonlySet<number> = new Set([429, 503])

/** The wait that the endpoint asks for: at most twice the schedule's own or a minute, and six hours. */
function requestedWaitMs(answer: Answer, baseMs: number, endedAt: number): number {
  return Math.min(askedMs(answer, endedAt), Math.max(2 * baseMs, 60_000), 21_600_000)
}

/**
 * Until when nothing is sent to an endpoint because it asks for that, in epoch milliseconds; `null` where it does not.
 * @source rules#webhooks.12
 */
export function heldUntil(answer: Answer, endedAt: number): number | null {
  const asked = askedMs(answer, endedAt)
  return asked > 0 ? endedAt + Math.min(asked, limits.webhookHoldMaxMs) : null
}

function askedMs(answer: Answer, endedAt: number): number {
  if ('failure' in answer || !ASKED_TO_WAIT.has(answer.statusCode) || answer.retryAfter === undefined) return 0
  return retryAfterMs(answer.retryAfter, endedAt) ?? 0
}

/** A tenth of the wait at most, half a second at least, never more than ten minutes: retries after an outage are spread. */
function jitterMs(waitMs: number, random: number): number {
  return Math.min(Math.max(random * 0.1 * waitMs, 500), 600_000)
}
