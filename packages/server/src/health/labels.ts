import type { BreakerState } from '../banks/breaker.ts'
import { ORIGINS } from '../banks/inbound.ts'

/**
 * Values of labels, as far as they are known before anything happens. @source rules#metrics.2
 */

/** Where a breaker may stand. */
export const BREAKER_STATES = Object.keys({
  closed: true,
  half_open: true,
  open: true,
} satisfies Record<BreakerState, true>) as readonly BreakerState[]

/** What callbacks are counted by; `unreadable`: they did not arrive whole, or were too large. */
export const CALLBACK_ORIGINS = [...ORIGINS, 'unreadable'] as const

/** One of {@link CALLBACK_ORIGINS}. */
export type CallbackOrigin = (typeof CALLBACK_ORIGINS)[number]

/**
 * What can become of an event of the bank. `ignored`: it says nothing that is not known. `queried`: the bank is asked what it
 * means. `unproven`: anybody may have sent it, and it names nothing of ours. `contradicting`: it is kept beside one that says
 * something else.
 */
export const EVENT_OUTCOMES = [
  'applied',
  'ignored',
  'queried',
  'unproven',
  'parked',
  'retried',
  'quarantined',
  'given_up',
  'contradicting',
] as const

/** One of {@link EVENT_OUTCOMES}. */
export type EventOutcome = (typeof EVENT_OUTCOMES)[number]

/** What of personal data is erased when its time is over. */
export const ERASED = ['callbacks', 'notifications', 'deliveries', 'ended_operations'] as const
