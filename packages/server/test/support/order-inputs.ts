import type { OrderInput } from '../../src/operations/orders.ts'

/** One input of each kind that is the same for every order: work on it, and attempts of which nothing is known. */
export const ORDER_INPUTS = {
  'work.requested': { on: 'work.requested' },
  'work.claimed': { on: 'work.claimed', leaseMs: 60_000 },
  'work.done': { on: 'work.done' },
  'send.claimed': { on: 'send.claimed', leaseMs: 60_000 },
  'send.not_sent': { on: 'send.not_sent', attempt: 1, reason: 'ECONNREFUSED' },
  'send.unknown': { on: 'send.unknown', reason: 'timeout' },
  'clock.released': { on: 'clock.released' },
  'clock.overdue': { on: 'clock.overdue' },
} as const satisfies Partial<Readonly<Record<OrderInput['on'], OrderInput>>>
