import type { JournalKind } from '@pixgate/spec'
import type { Target } from '../engine/follow.ts'
import { own } from '../platform/own.ts'
import { type CashIn, type CashInFacts, type RefundEvent, returnedPayment, unnamedReturn } from './cash-in.ts'
import type { AwaitedReturn, OpenRefund } from './return-facts.ts'
import { awaitedOf, type ReportedReturn } from './returns.ts'

/** What becomes known of a cash-in by its refunds and returns. Pure. */

/** What a refund, or a return that names none, changes of what is known. @source rules#cash-in.refunds, rules#cash-in.returns */
export function factsOfRefunds(cashIn: CashIn, input: RefundEvent, row: Target<CashIn>): CashInFacts {
  const { refundsOpenCents = 0, openRefunds, returns, awaitedReturns } = cashIn.facts
  switch (input.on) {
    case 'refund.reserved': {
      const cents = Number(input.valueCents)
      const opened: OpenRefund = { valueCents: cents, transactionId: null }
      return { refundsOpenCents: refundsOpenCents + cents, openRefunds: { ...openRefunds, [input.refundId]: opened } }
    }
    case 'refund.released':
      return {
        refundsOpenCents: refundsOpenCents - Number(input.valueCents),
        openRefunds: without(openRefunds, input.refundId),
      }
    case 'refund.confirmed': {
      const cents = Number(input.valueCents)
      return {
        refundsOpenCents: refundsOpenCents - cents,
        openRefunds: without(openRefunds, input.refundId),
        returns: { ...returns, [input.returnId]: cents },
      }
    }
    case 'refund.taken':
      // What was booked first stays; an operator compares.
      return { returns: { [input.returnId]: Number(input.valueCents), ...returns } }
    case 'refund.undone':
      return { returns: without(returns, input.returnId) }
    case 'refund.named':
      return { openRefunds: { ...openRefunds, [input.refundId]: namedOf(input) } }
    case 'refund.answered':
      return {
        awaitedReturns: answered(awaitedReturns, input),
        ...(input.hasEnded ? { openRefunds: without(openRefunds, input.refundId) } : {}),
      }
    case 'return.told':
      return factsOfReported(cashIn, input, row)
    case 'return.unexplained':
      return { awaitedReturns: held(awaitedReturns, input.returnId, input.heldCents) }
    case 'return.known':
      return {
        awaitedReturns: without(awaitedReturns, input.returnId),
        ...released(cashIn.facts, input.returnId),
        ...named(cashIn, input.returnId),
      }
  }
}

/** The table's row says what becomes of it. */
function factsOfReported(cashIn: CashIn, told: ReportedReturn, { when, posts, opens }: Target<CashIn>): CashInFacts {
  if (posts !== undefined) return suspended(cashIn, told, posts)
  if (opens === 'return_restated' || opens === 'return_unnamed') return {}
  const { returns, awaitedReturns, openRefunds } = cashIn.facts
  if (when.includes('a refund may explain it')) {
    return {
      openRefunds: { ...told.alsoOpen, ...openRefunds },
      awaitedReturns: { ...awaitedReturns, [told.returnId]: awaitedOf(cashIn, told) },
    }
  }
  return { returns: { ...returns, [told.returnId]: Number(told.valueCents) } }
}

/** It was not debited from the merchant: what was of a payment in suspense is taken from that. */
function suspended(
  cashIn: CashIn,
  { returnId, valueCents, endToEndId = null, isUnnamed }: ReportedReturn,
  posts: JournalKind,
): CashInFacts {
  const payment = posts === 'arrival_returned' ? (returnedPayment(cashIn, endToEndId) ?? null) : null
  const { suspendedReturns } = cashIn.facts
  const unnamed = isUnnamed ? { unnamedOf: returnedPayment(cashIn, endToEndId) ?? null } : {}
  const returned = { endToEndId: payment, cents: Number(valueCents), ...unnamed }
  return { suspendedReturns: { ...suspendedReturns, [returnId]: returned } }
}

/** The return that was told without its id is in suspense no more; told so again it is nothing new. */
function named(cashIn: CashIn, returnId: string): CashInFacts {
  const unnamed = unnamedReturn(cashIn, returnId)
  if (!unnamed) return {}
  const { suspendedReturns, namedReturns } = cashIn.facts
  return {
    suspendedReturns: without(suspendedReturns, returnId),
    namedReturns: { ...namedReturns, [returnId]: unnamed.cents },
  }
}

function namedOf({ valueCents, transactionId }: Extract<RefundEvent, { on: 'refund.named' }>): OpenRefund {
  return { valueCents: Number(valueCents), transactionId }
}

function answered(
  awaited: CashInFacts['awaitedReturns'],
  { refundId, returnIds }: Extract<RefundEvent, { on: 'refund.answered' }>,
) {
  const after = returnIds.flatMap((returnId): [string, AwaitedReturn][] => {
    const before = own(awaited, returnId)
    return before ? [[returnId, { ...before, answered: [...before.answered, refundId] }]] : []
  })
  return { ...awaited, ...Object.fromEntries(after) }
}

function held(awaited: CashInFacts['awaitedReturns'], returnId: string, heldCents: bigint) {
  const before = own(awaited, returnId)
  return before ? { ...awaited, [returnId]: { ...before, heldCents: Number(heldCents) } } : { ...awaited }
}

/** What an event alone told, and was held, may yet be told by the bank: that it was held is kept. */
function released({ awaitedReturns, releasedReturns = [] }: CashInFacts, returnId: string): CashInFacts {
  const { isUnverified, heldCents } = own(awaitedReturns, returnId) ?? {}
  return isUnverified && heldCents !== undefined ? { releasedReturns: [...releasedReturns, returnId] } : {}
}

function without<Value>(record: Readonly<Record<string, Value>> | undefined, id: string): Record<string, Value> {
  const { [id]: _, ...others } = record ?? {}
  return others
}
