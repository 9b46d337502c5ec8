import type { Caps } from '@pixgate/spec'
import type { State } from '../../src/engine/operation.ts'
import type { Limits } from '../../src/operations/caps.ts'
import type { MadeBy } from '../../src/operations/requests.ts'

/** Caps for tests: what is not given bounds nothing. */
export function capsOf(given: Partial<Caps>): Caps {
  return { paymentCents: null, hourCents: null, dayCents: null, nightCents: null, newRecipientCents: null, ...given }
}

/** Limits of the service for tests; a Pix key is new for a day. */
export function limitsOf(given: Partial<Caps> = {}): Limits {
  return { caps: capsOf(given), newRecipientMs: 24 * 60 * 60_000 }
}

/** Who asks in tests. */
export const MADE_BY: MadeBy = { caller: '0198c0de-0000-7000-8000-000000000001', address: '203.0.113.9' }

/** A state of which nothing was used yet, and in which nobody owes anything. */
export const NOTHING_USED: Pick<State, 'used' | 'usedSince' | 'recipient' | 'repaidBy'> = {
  used: () => new Map(),
  usedSince: () => 0n,
  recipient: () => ({ isKnown: false, paidCents: 0n }),
  repaidBy: () => [],
}

/** What a batch knows where it looks at no bound. */
export const NO_ALLOWANCES = { allowances: new Map(), recipients: new Map() } as const

/** The installation of tests that derive order ids without a database. */
export const INSTALLATION = '0b0e6e0c-2f4d-4d0e-9b57-0a5d6c1f7e21'

/** The terms of refunds. */
export function refundTerms(given: Partial<Caps> = {}) {
  return { installation: INSTALLATION, limits: limitsOf(given) }
}
