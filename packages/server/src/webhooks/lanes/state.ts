import { type LaneReason, type LaneState, limits } from '@pixgate/spec'
import type { Outcome } from './trouble.ts'

/** What an attempt was claimed with: its lane as it was then. */
export interface LaneFacts {
  /** Counts the moves. */
  readonly version: number
  readonly state: LaneState
  readonly reason: LaneReason | null
  /** Since the last success. */
  readonly failures: number
  /** When the first of them ended, epoch milliseconds. */
  readonly failingSince: number | null
  /** In a row. */
  readonly failedProbes: number
  readonly goodProbes: number
}

/** An attempt that ended, as its lane sees it. */
export interface LaneAttempt {
  readonly outcome: Outcome
  readonly isGone: boolean
  readonly isAddressNotAllowed: boolean
  /** The one attempt of a degraded lane. */
  readonly isProbe: boolean
  /** Epoch milliseconds. */
  readonly endedAt: number
}

/** Another state of a lane, or another count of its probes. */
export interface LaneMove {
  readonly state: LaneState
  readonly reason: LaneReason | null
  readonly failedProbes: number
  readonly goodProbes: number
  /** Epoch milliseconds; where it is degraded. */
  readonly probeAt: number | null
}

const ACTIVE: LaneMove = { state: 'active', reason: null, failedProbes: 0, goodProbes: 0, probeAt: null }

/**
 * What an attempt makes of its lane; undefined where it stays as it is.
 * @param forProbes why this process would send nothing more but probes, where it would
 * @source rules#webhooks.13, rules#webhooks.14
 */
export function moveAfter(
  facts: LaneFacts,
  attempt: LaneAttempt,
  forProbes: 'unanswered' | 'failing' | undefined,
): LaneMove | undefined {
  if (attempt.isGone) return paused('gone')
  if (hasFailedForDays(facts, attempt)) return paused('failing_for_days')
  if (attempt.isProbe) return afterProbe(facts, attempt)
  const reason = attempt.isAddressNotAllowed ? 'address_not_allowed' : forProbes
  return facts.state === 'active' && reason !== undefined ? degraded(reason, 0, attempt.endedAt) : undefined
}

function paused(reason: LaneReason): LaneMove {
  return { state: 'paused', reason, failedProbes: 0, goodProbes: 0, probeAt: null }
}

function degraded(reason: LaneReason, failedProbes: number, endedAt: number): LaneMove {
  const delays = limits.webhookProbeDelaysMs
  const delay = delays[Math.min(failedProbes, delays.length - 1)] as number
  return { state: 'degraded', reason, failedProbes, goodProbes: 0, probeAt: endedAt + delay }
}

function hasFailedForDays({ failures, failingSince }: LaneFacts, { outcome, endedAt }: LaneAttempt): boolean {
  if (outcome === 'success' || failingSince === null) return false
  return failures + 1 >= limits.webhookPauseFailures && endedAt - failingSince >= limits.webhookPauseAfterMs
}

function afterProbe({ reason, failedProbes, goodProbes }: LaneFacts, { outcome, endedAt }: LaneAttempt): LaneMove {
  if (outcome !== 'success') return degraded(reason ?? 'failing', failedProbes + 1, endedAt)
  if (goodProbes + 1 >= limits.webhookGoodProbes) return ACTIVE
  return { state: 'degraded', reason, failedProbes, goodProbes: goodProbes + 1, probeAt: endedAt }
}
