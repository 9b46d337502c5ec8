import { limits } from '@pixgate/spec'
import type { Answer } from '../../platform/http-client/post.ts'
import { isSuccess, type NextStep, nextAttempt } from '../deliveries/rules.ts'

/** As many are due within ten seconds, twice as many within the next ten, and so on: the pace at which a pause is drained. */
const IN_TEN_SECONDS = 144.2695

/**
 * When a delivery of a replay is due.
 * @param index its place in it, from 0
 * @param nowMs epoch milliseconds
 * @source rules#webhooks.23
 */
export function dueAtOf(index: number, nowMs: number): number {
  return nowMs + Math.round(10_000 * Math.log2(1 + index / IN_TEN_SECONDS))
}

/**
 * What becomes of a delivery of a replay after an attempt: as of any, but with the short schedule.
 * @param attempt of the replay, from 1
 * @param endedAt epoch milliseconds
 * @param random uniform in [0, 1)
 * @source rules#webhooks.23
 */
export function nextReplay(answer: Answer, attempt: number, endedAt: number, random: number): NextStep {
  if (!isSuccess(answer) && attempt >= limits.webhookShortScheduleAttempts) return { state: 'FAILED' }
  return nextAttempt(answer, attempt, endedAt, random)
}
