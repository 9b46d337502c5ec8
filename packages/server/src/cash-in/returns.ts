import { limits } from '@pixgate/spec'
import { own } from '../platform/own.ts'
import { bookedReturn, type CashIn, type RefundEvent } from './cash-in.ts'
import type { AwaitedReturn, OpenRefund } from './return-facts.ts'

/**
 * Whose a return of a payment is that names no refund of ours: one of ours that is under way, or the bank's own. Pure.
 * @source rules#cash-in.returns, failure-modes#RF-12
 */

/** A return as it is told. */
export type ReportedReturn = Extract<RefundEvent, { readonly on: 'return.told' }>

/** What becomes of a return that is told. `counted`: it is the bank's own. */
export type Fate = 'restated' | 'awaited' | 'counted'

/**
 * A reference that tells a return from others. The payment's own does not: each of its returns would have it.
 * @source rules#refund-in.returns.4
 */
export function ownReference(told: string | null, { transactionId }: Pick<CashIn, 'transactionId'>): string | null {
  return told === transactionId ? null : told
}

/**
 * What becomes of a return that names no refund of ours.
 * @source rules#cash-in.returns.1
 */
export function fateOf(cashIn: CashIn, told: ReportedReturn): Fate {
  const awaited = own(cashIn.facts.awaitedReturns, told.returnId)?.valueCents
  const known = bookedReturn(cashIn, told.returnId) ?? (awaited === undefined ? undefined : BigInt(awaited))
  if (known !== undefined && known !== told.valueCents) return 'restated'
  return explanationsOf(cashIn, awaitedOf(cashIn, told), told.alsoOpen).length > 0 ? 'awaited' : 'counted'
}

/** A return as it waits: told for the first time, or as it was. */
export function awaitedOf({ facts }: CashIn, told: ReportedReturn): AwaitedReturn {
  const { valueCents, occurredAt, transactionId, at, isUnverified } = told
  return (
    own(facts.awaitedReturns, told.returnId) ?? {
      valueCents: Number(valueCents),
      occurredAt,
      transactionId,
      since: at,
      answered: [],
      ...(isUnverified ? { isUnverified } : {}),
      ...(facts.releasedReturns?.includes(told.returnId) ? { wasHeld: true } : {}),
    }
  )
}

/**
 * The refunds of ours that a return may be: open, of its very amount, and neither a reference nor an answer of the bank
 * tells otherwise.
 * @source rules#cash-in.returns.1
 */
export function explanationsOf(
  cashIn: CashIn,
  awaited: AwaitedReturn,
  alsoOpen: Readonly<Record<string, OpenRefund>> = {},
): string[] {
  const reference = ownReference(awaited.transactionId, cashIn)
  const open = { ...alsoOpen, ...cashIn.facts.openRefunds }
  return Object.keys(open).filter((id) => {
    const { valueCents, transactionId } = open[id] as OpenRefund
    const isAnother = transactionId !== null && reference !== null && transactionId !== reference
    return valueCents === awaited.valueCents && !isAnother && !awaited.answered.includes(id)
  })
}

/** The open refund that a return names, now that the bank told the reference of it. @source rules#cash-in.returns.2 */
export function namedRefund(cashIn: CashIn, { transactionId, valueCents }: AwaitedReturn): string | undefined {
  const reference = ownReference(transactionId, cashIn)
  const open = Object.entries(cashIn.facts.openRefunds ?? {})
  return reference === null
    ? undefined
    : open.find(([, refund]) => refund.transactionId === reference && refund.valueCents === valueCents)?.[0]
}

/** Whether it is not known of some return whose it is. */
export function awaitsReturns({ facts }: CashIn): boolean {
  return Object.keys(facts.awaitedReturns ?? {}).length > 0
}

/** What is to be done about an awaited return. `book`: nothing of ours can be it any more. */
export type ReturnStep = 'wait' | 'confirm' | 'book' | 'hold'

/** @source rules#cash-in.returns.2, rules#cash-in.returns.4 */
export function returnStep(cashIn: CashIn, awaited: AwaitedReturn, nowMs: number): ReturnStep {
  if (namedRefund(cashIn, awaited) !== undefined) return 'confirm'
  if (explanationsOf(cashIn, awaited).length === 0) return 'book'
  return mayBeHeld(awaited) && nowMs >= overdueAt(awaited) ? 'hold' : 'wait'
}

/** One that the bank's own word brings back after an event's was let go waits: a hold has its journals, and each is posted once. */
function mayBeHeld({ heldCents, wasHeld }: AwaitedReturn): boolean {
  return heldCents === undefined && !wasHeld
}

/** Whether something is to be done about some awaited return now. */
export function hasReturnStep(cashIn: CashIn, nowMs: number): boolean {
  return Object.values(cashIn.facts.awaitedReturns ?? {}).some(
    (awaited) => returnStep(cashIn, awaited, nowMs) !== 'wait',
  )
}

/** When a worker must look at the returns that a cash-in awaits; `null` where it awaits none, or all are held. */
export function returnsDueAt(cashIn: CashIn, nowMs: number): number | null {
  const dues = Object.values(cashIn.facts.awaitedReturns ?? {}).flatMap((awaited) => {
    if (returnStep(cashIn, awaited, nowMs) !== 'wait') return [nowMs]
    return mayBeHeld(awaited) ? [overdueAt(awaited)] : []
  })
  return dues.length > 0 ? Math.min(...dues) : null
}

/** Returns that the bank's answer about a refund settles: it was asked after they were told. @source rules#cash-in.returns.3 */
export function returnsAnswered(cashIn: CashIn, refundId: string, hasEnded: boolean, nowMs: number): string[] {
  return Object.entries(cashIn.facts.awaitedReturns ?? {})
    .filter(([, awaited]) => explanationsOf(cashIn, awaited).includes(refundId))
    .filter(([, { since }]) => hasEnded || nowMs - since >= limits.returnDeniedAfterMs)
    .map(([returnId]) => returnId)
}

function overdueAt({ since }: AwaitedReturn): number {
  return since + limits.unknownResultEscalationMs
}
