import type {
  CancelAnswer,
  ChargeAnswer,
  ChargeAvailability,
  ChargePartner,
  ChargeQueryAnswer,
  ChargeRequest,
  ChargeTerms,
} from '../banks/port.ts'
import type { IsAskedFirst } from '../operations/first-order.ts'
import type { CashIn } from './cash-in.ts'

/** The calls to the bank about charges, as far as it can do them. */
export interface ChargeCalls {
  readonly canAsk: boolean
  /** Late money is found in the bank's statement. */
  readonly isSwept: boolean
  /** Asks for a charge: one try; none while the bank is away. @source rules#cash-in.create.7 */
  order(cashIn: CashIn, nowMs: number, deadline?: AbortSignal): Promise<ChargeAnswer>
  /** Asks what there is. */
  ask(cashIn: CashIn): Promise<ChargeQueryAnswer>
  /** Asks what there is under an id of which no terms are known: whatever it is comes back as evidence. */
  askAbout(id: string): Promise<ChargeQueryAnswer>
  /** Cancels a charge. One that cannot be cancelled ends at the bank by itself. @source rules#partner.10 */
  cancel(cashIn: CashIn): Promise<CancelAnswer>
  /** Whether asking for a charge, once more, makes no second one. @source failure-modes#CI-6 */
  isRepeatable(cashIn: CashIn): boolean
}

/** The bank is not called while it is away. */
export const BREAKER_OPEN = { kind: 'NOT_SENT', reason: 'the bank is away' } as const

/** The bank is never called for this. */
export const CANNOT_ASK = { kind: 'NOT_SENT', reason: 'the bank cannot be asked about a charge' } as const

/** Makes the calls to a bank. */
export function createChargeCalls(
  partner: ChargePartner & ChargeAvailability,
  isAskedFirst: IsAskedFirst = () => false,
): ChargeCalls {
  const { capabilities } = partner
  const canAsk = capabilities.has('query-charge')
  const ask = async (id: string, terms: ChargeTerms) => (canAsk ? partner.getCharge(id, terms) : CANNOT_ASK)
  return {
    canAsk,
    isSwept: capabilities.has('statement'),
    order: async (cashIn, nowMs, deadline) => {
      if (partner.chargesWanted() === 0) return BREAKER_OPEN
      const request = requestOf(cashIn, nowMs)
      if (canAsk && !request.isRepeated && isAskedFirst(cashIn.createdAt)) {
        const known = await partner.getCharge(cashIn.orderId, request, deadline)
        if (known.kind !== 'NOT_FOUND') return known
      }
      return partner.createCharge(cashIn.orderId, request, deadline)
    },
    ask: (cashIn) => ask(cashIn.orderId, termsOf(cashIn)),
    askAbout: (id) => ask(id, { valueCents: 0n, expiresAt: 0 }),
    cancel: async ({ orderId }) =>
      capabilities.has('cancel-charge') ? partner.cancelCharge(orderId) : { kind: 'CANCELLED' },
    isRepeatable: ({ facts }) => capabilities.has('idempotent-charge') || facts.unsent === 'claimed',
  }
}

function termsOf({ valueCents, expiresAt, createdAt, facts: { stampOffsetMs } }: CashIn): ChargeTerms {
  return { valueCents, expiresAt: expiresAt ?? createdAt, ...(stampOffsetMs !== undefined && { stampOffsetMs }) }
}

function requestOf(cashIn: CashIn, askedAt: number): ChargeRequest {
  const { description, payer, merchant } = cashIn.detail
  const { lastAttemptAt, unsent } = cashIn.facts
  return {
    ...termsOf(cashIn),
    askedAt,
    isRepeated: lastAttemptAt !== undefined && unsent !== 'claimed',
    merchant,
    ...(description === null ? {} : { description }),
    ...(payer === null ? {} : { payer: { name: payer.fullName, document: payer.document } }),
  }
}
