import { limits } from '@pixgate/spec'

/**
 * What came of an attempt, as far as it tells how a receiver is: it took the notification, answered something else, or did
 * not answer at all.
 */
export type Outcome = 'success' | 'refused' | 'unanswered'

/** How a receiver has answered lately. Known to one process and forgotten with it. */
export interface Trouble {
  /** In a row. */
  readonly unanswered: number
  /** Of the last minutes, the newest last. */
  readonly minutes: readonly Minute[]
}

interface Minute {
  /** Since the epoch. */
  readonly number: number
  readonly attempts: number
  readonly failures: number
}

/** Nothing is known. */
export const NO_TROUBLE: Trouble = { unanswered: 0, minutes: [] }

const MINUTE_MS = 60_000

/** @param endedAt of the attempt, epoch milliseconds */
export function troubleAfter({ unanswered, minutes }: Trouble, outcome: Outcome, endedAt: number): Trouble {
  const number = Math.floor(endedAt / MINUTE_MS)
  const recent = minutes.filter(
    (minute) => minute.number > number - limits.webhookTroubleMinutes && minute.number !== number,
  )
  const { attempts, failures } = minutes.find((minute) => minute.number === number) ?? { attempts: 0, failures: 0 }
  return {
    unanswered: outcome === 'unanswered' ? unanswered + 1 : 0,
    minutes: [...recent, { number, attempts: attempts + 1, failures: failures + (outcome === 'success' ? 0 : 1) }],
  }
}

/**
 * Why nothing more should be sent to a receiver than probes, where it should not: five attempts in a row were not answered, or
 * most of ten and more in five minutes failed.
 * @source rules#webhooks.13
 */
export function reasonForProbes({ unanswered, minutes }: Trouble): 'unanswered' | 'failing' | undefined {
  if (unanswered >= limits.webhookTroubleUnanswered) return 'unanswered'
  const attempts = minutes.reduce((sum, minute) => sum + minute.attempts, 0)
  const failures = minutes.reduce((sum, minute) => sum + minute.failures, 0)
  if (attempts < limits.webhookTroubleAttempts || failures < attempts * limits.webhookTroubleShare) return undefined
  return 'failing'
}
