import { Refusal } from '@pixgate/spec'
import type { EventLoop, LoopMark } from './runtime.ts'

/**
 * The request of a client or an operator, while what it asks for is not decided yet: an order that nobody waits for any
 * more must not be carried out, because whoever gave it may have been refused elsewhere and relied on it.
 * @source rules#http.14, failure-modes#PL-5
 */
export interface LiveRequest {
  /**
   * Whether it may no longer be carried out: it is too old, its client is gone, or this process slept over it. Asked
   * right before each decision; true once, it stays true.
   */
  hasLapsed(): boolean
}

/**
 * How long a request may take from its last byte to its decision, and how long a caller waits for a commit: whoever was
 * told 503 was told so about something that is not decided later.
 */
export const PATIENCE_MS = 5_000

/** A request that is still arriving. */
export interface ArrivingRequest extends LiveRequest {
  /** Its last byte is here: it grows old from now on. */
  arrived(): void
  /** How long ago its headers were read, in milliseconds. */
  readonly ageMs: () => number
}

/** When a request was read that had to wait before anything was done about it. */
export interface Reading {
  /** The loop as it was then. */
  readonly mark: LoopMark
  /** By the loop's clock. */
  readonly at: number
  /** Whether its last byte is here as well by now. */
  readonly isWhole: boolean
}

/**
 * Follows a request.
 * @param isGone whether its client has closed the connection or lost it. Who has only finished sending is not gone.
 * @param reading when it was read, where that is not now
 */
export function followRequest(loop: EventLoop, isGone: () => boolean, reading?: Reading): ArrivingRequest {
  const mark = reading?.mark ?? loop.mark()
  const begunAt = reading?.at ?? loop.now()
  let since = begunAt
  return {
    ageMs: () => loop.now() - begunAt,
    arrived: () => {
      if (!reading?.isWhole) since = loop.now()
    },
    hasLapsed: () => isGone() || loop.hasStoodStillSince(mark) || loop.now() - since >= PATIENCE_MS,
  }
}

/** @throws Refusal `overloaded` (503) where a request has lapsed */
export function refuseLapsed(request: LiveRequest): void {
  if (request.hasLapsed()) throw lapsed()
}

/** What is told of a request that has lapsed, to whoever may still listen. */
export function lapsed(): Refusal {
  return new Refusal('overloaded', { retryAfterSeconds: 1 })
}
