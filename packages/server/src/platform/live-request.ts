import { Refusal } from '@pixgate/spec'
import type { EventLoop, LoopMark } from './runtime.ts'

/**
 * A request of a client or operator that is not decided yet. After a request lapses its order must not be carried out:
 * the caller may have been refused elsewhere and relied on that.
 * @source rules#http.14, failure-modes#PL-5
 */
export interface LiveRequest {
  /**
   * Whether the request may no longer be carried out: too old, client gone, or the process was suspended. Checked right
   * before each decision; never becomes false again.
   */
  hasLapsed(): boolean
}

/**
 * Time from a request's last byte to its decision, and a caller's wait for a commit. A request answered with 503 is
 * never carried out later.
 */
export const PATIENCE_MS = 5_000

export interface ArrivingRequest extends LiveRequest {
  /** Notes that the last byte has arrived. */
  markArrived(): void
  readonly ageMs: () => number
}

/** Reading time of a request that had to wait for its turn. */
export interface Reading {
  readonly mark: LoopMark
  readonly at: number
  /** Whether the last byte has arrived too. */
  readonly isWhole: boolean
}

/**
 * Follows a request.
 * @param isGone whether the client has closed or lost the connection. A client that has only finished sending is not
 * gone.
 * @param reading time of reading, if not now
 */
export function followRequest(loop: EventLoop, isGone: () => boolean, reading?: Reading): ArrivingRequest {
  const mark = reading?.mark ?? loop.mark()
  const begunAt = reading?.at ?? loop.now()
  let since = begunAt
  return {
    ageMs: () => loop.now() - begunAt,
    markArrived: () => {
      if (!reading?.isWhole) since = loop.now()
    },
    hasLapsed: () => isGone() || loop.hasStoodStillSince(mark) || loop.now() - since >= PATIENCE_MS,
  }
}

/** @throws Refusal `overloaded` (503) for a lapsed request */
export function refuseLapsed(request: LiveRequest): void {
  if (request.hasLapsed()) throw lapsed()
}

export function lapsed(): Refusal {
  return new Refusal('overloaded', { retryAfterSeconds: 1 })
}
