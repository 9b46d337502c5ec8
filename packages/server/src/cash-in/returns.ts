import { type JournalKind, limits, min } from '@pixgate/spec'
import type { Target } from '../engine/follow.ts'
import type { Document } from '../engine/operation.ts'
import { own } from '../platform/own.ts'
import type { CashIn, CashInEvent, CashInFacts } from './cash-in.ts'

/** What of a cash-in is in suspense now, by the reference of its case. Pure. @source rules#cases.7 */

/** A payment that a charge receives from another one. */
export interface Received {
  readonly endToEndId: string
  readonly cents: bigint
  /** The charge at the bank by which it was paid. */
  readonly from: string
  /** What its case was opened with. */
  readonly facts: Document
}

/** What may be decided of a payment that arrived, centavos: nothing of it that is credited, or being returned. */
export function suspendedArrival(cashIn: CashIn, reference: string): bigint {
  const left = suspendedCents(cashIn, reference) - returningCents(cashIn, reference)
  return left > 0n ? left : 0n
}

/** Of a return, centavos. */
export function suspendedDeparture({ facts }: CashIn, reference: string): bigint {
  const known = own(facts.returns, reference)
  return known?.state === 'in_suspense' ? BigInt(known.cents) : 0n
}

/**
 * Money that went back of a charge's payments. Pure.
 *
 * Each return id has one row, in one state. A return that names none of our refunds is `in_doubt` while one of them may be
 * it. The bank's answers about those refunds end that, and the return is `booked`, as our refund or as the bank's own. After
 * 15 minutes a case is opened, and what is available of it is held. A doubt that rests on an event alone is dropped once no
 * refund can be it; a row stays, `released`, where money of it was held.
 *
 * A return that cannot be debited from the merchant is `in_suspense` until an operator has `decided` it; one of a payment
 * that is itself in suspense is taken `from_suspense`. A return without an id waits in suspense under an id made for it,
 * which becomes an `alias` when the bank tells the real one.
 *
 * Booking a return in doubt takes two moves of one decision: the first keeps the doubt as `wasInDoubt`, the second,
 * `return.known`, ends it and its hold.
 * @source rules#cash-in.returns, rules#cash-in.refunds, failure-modes#RF-12
 */
export type KnownReturn =
  | ReturnInDoubt
  /** Counts as gone back. */
  | { readonly state: 'booked'; readonly cents: number; readonly wasInDoubt?: ReturnInDoubt }
  /** Left, and a case decides who bears it. */
  | SuspendedReturn
  /** It reduced the suspense of this payment. */
  | {
      readonly state: 'from_suspense'
      readonly cents: number
      readonly endToEndId: string
      /** The refund that an operator ordered; absent where the bank gave it back by itself. */
      readonly refundId?: string
      readonly wasInDoubt?: ReturnInDoubt
    }
  /** It left for a refund of money in suspense, in a way that its case decides: the refund has it in suspense. */
  | { readonly state: 'at_refund'; readonly cents: number; readonly wasInDoubt?: ReturnInDoubt }
  /** An operator ended its suspense. Where that debited the merchant it counts as gone back. */
  | { readonly state: 'decided'; readonly cents: number; readonly isDebited: boolean }
  /** Another operation has it. */
  | { readonly state: 'elsewhere'; readonly cents: number; readonly wasInDoubt?: ReturnInDoubt }
  /** Another id of a return that has its own row. */
  | { readonly state: 'alias'; readonly cents: number }
  /** Only an event reported it; it was held, and none of our refunds was it. */
  | { readonly state: 'released' }

/** The rule that opens a case of a return without an id. */
export const UNNAMED = 'cash-in.refunds.10'

/** A return that may be one of our refunds: nothing of it is debited yet. Instants are epoch milliseconds. */
export type ReturnInDoubt = {
  readonly state: 'in_doubt'
  readonly cents: number
  /** By the bank's clock. */
  readonly occurredAt: number
  /** The bank's reference of the return, or of the payment. */
  readonly transactionId: string | null
  /** The end-to-end id of the payment that went back; absent where it is not known. */
  readonly payment?: string
  /** When it was first reported to us. */
  readonly since: number
  /** Refunds that are not it, by the bank's answers since. */
  readonly answered: readonly string[]
  /** Only an event reports it, and the bank can be asked about the charge. */
  readonly isUnverified?: boolean
  /** Centavos; absent before the 15 minutes are over. */
  readonly heldCents?: number
  /** It was held and released before. Each return is held once, as each journal is posted once. */
  readonly wasHeld?: boolean
  /** A case is open for it without a hold. */
  readonly isInCase?: boolean
}

type SuspendedReturn = {
  readonly state: 'in_suspense'
  readonly cents: number
  /** Only of a return without an id: the payment that it is of, `null` where that is unclear. */
  readonly unnamedOf?: string | null
  readonly wasInDoubt?: ReturnInDoubt
}

/** A refund that a return may be: it is under way, or failed and may have arrived. */
export interface OpenRefund extends Document {
  readonly valueCents: number
  /** The bank's reference; `null` while unknown. */
  readonly transactionId: string | null
  /** The payment in suspense that goes back, by its end-to-end id; absent: the credited one. */
  readonly payment?: string
  /** It failed, and may have arrived: it returns nothing any more. */
  readonly hasFailed?: boolean
}

/** Facts of a charge about its refunds and returns. */
export type ReturnFacts = {
  /** Set aside by refunds under way, centavos. */
  readonly refundsOpenCents?: number
  /** By the refund's id. */
  readonly openRefunds?: Readonly<Record<string, OpenRefund>>
  /** By return id. */
  readonly returns?: Readonly<Record<string, KnownReturn>>
  /** How many refunds operators ordered of a payment in suspense, by its end-to-end id. */
  readonly returnOrders?: Readonly<Record<string, number>>
}

/**
 * An event of a refund, or of a return that names none. `refund.taken`: money went back that no refund under way had set
 * aside. `refund.answered`: the bank was asked about a refund, and none of these returns is it. `return.known`: it is
 * known whose the return is.
 */
export type RefundEvent =
  | { readonly on: 'refund.reserved'; readonly refundId: string; readonly valueCents: bigint }
  | {
      readonly on: 'refund.released'
      readonly refundId: string
      readonly valueCents: bigint
      /** See {@link OpenRefund.payment}. */
      readonly payment?: string
    }
  | {
      readonly on: 'refund.confirmed' | 'refund.taken'
      readonly refundId: string
      readonly returnId: string
      readonly valueCents: bigint
      readonly payment?: string
    }
  | {
      readonly on: 'refund.named'
      readonly refundId: string
      readonly transactionId: string
      readonly valueCents: bigint
      readonly payment?: string
    }
  | {
      readonly on: 'refund.answered'
      readonly refundId: string
      readonly returnIds: readonly string[]
      /** No later report can make it one of them. */
      readonly hasEnded: boolean
    }
  | ReportedReturn
  | {
      readonly on: 'return.unexplained'
      readonly returnId: string
      /** The part of it that is available. */
      readonly heldCents: bigint
      /** The refunds that it may be. */
      readonly refundIds: readonly string[]
    }
  | { readonly on: 'return.known'; readonly returnId: string }

/** A return as it is reported. */
export interface ReportedReturn {
  readonly on: 'return.told'
  readonly returnId: string
  readonly valueCents: bigint
  readonly occurredAt: number
  readonly transactionId: string | null
  /** When it was reported, epoch milliseconds. */
  readonly at: number
  /** The bank gave no return id: this one was made from its report. */
  readonly isUnnamed?: boolean
  /** The payment that went back, `null` where the bank names none; absent: the credited one. */
  readonly endToEndId?: string | null
  /** It was booked on another operation. */
  readonly isBookedElsewhere?: boolean
  /** Only an event reports it, and the bank can be asked about the charge. */
  readonly isUnverified?: boolean
  /** Open refunds that the cash-in does not list. */
  readonly alsoOpen: Readonly<Record<string, OpenRefund>>
}

/* The rows. */

type Charge = Pick<CashIn, 'facts'>

/** The amount booked under a return id, centavos: debited, in suspense, or under another id of it. */
export function bookedReturn({ facts }: Charge, returnId: string): bigint | undefined {
  const known = own(facts.returns, returnId)
  return known && known.state !== 'in_doubt' && known.state !== 'released' ? BigInt(known.cents) : undefined
}

/** The amount that counts as gone back under a return id, centavos. */
export function countedReturn({ facts }: Charge, returnId: string): bigint | undefined {
  const known = own(facts.returns, returnId)
  return known && isCounted(known) ? BigInt(known.cents) : undefined
}

/** Whether a return id is booked or in doubt. */
export function isKnownReturn({ facts }: Charge, returnId: string): boolean {
  const known = own(facts.returns, returnId)
  return known !== undefined && known.state !== 'released'
}

/** The doubt about a return, where there is one. */
export function returnInDoubt({ facts }: Charge, returnId: string): ReturnInDoubt | undefined {
  return doubtOf(own(facts.returns, returnId))
}

/** All returns in doubt, each with its id. */
export function returnsInDoubt({ facts }: Charge): [returnId: string, ReturnInDoubt][] {
  return Object.entries(facts.returns ?? {}).flatMap(([returnId, known]): [string, ReturnInDoubt][] => {
    const inDoubt = doubtOf(known)
    return inDoubt ? [[returnId, inDoubt]] : []
  })
}

/** A return in suspense that was reported without its id. */
export function unnamedReturn({ facts }: Charge, returnId: string): SuspendedReturn | undefined {
  const known = own(facts.returns, returnId)
  return known?.state === 'in_suspense' && known.unnamedOf !== undefined ? known : undefined
}

function doubtOf(known: KnownReturn | undefined): ReturnInDoubt | undefined {
  if (known === undefined || known.state === 'in_doubt') return known
  return 'wasInDoubt' in known ? known.wasInDoubt : undefined
}

function isCounted(known: KnownReturn): known is Extract<KnownReturn, { state: 'booked' | 'decided' }> {
  return known.state === 'booked' || (known.state === 'decided' && known.isDebited)
}

/** Gone back so far, centavos. @source rules#cash-in.refunds.7 */
export function refundedCents({ facts }: Charge): bigint {
  return centsOf(Object.values(facts.returns ?? {}).filter(isCounted))
}

/** In doubt, centavos. */
export function inDoubtCents(cashIn: Charge): bigint {
  return centsOf(returnsInDoubt(cashIn).map(([, inDoubt]) => inDoubt))
}

/**
 * The most that a refund may be of now, centavos. Refunds under way count as gone, and so do returns in doubt.
 * @source rules#refund-in.create.4
 */
export function refundableCents(cashIn: CashIn): bigint {
  const left =
    paidCents(cashIn) - refundedCents(cashIn) - BigInt(cashIn.facts.refundsOpenCents ?? 0) - inDoubtCents(cashIn)
  return cashIn.status === 'PAID' && left > 0n ? left : 0n
}

/** The amount of the payment that was credited: the charge's value, or what an operator accepted, centavos. */
export function paidCents({ facts, valueCents }: Pick<CashIn, 'facts' | 'valueCents'>): bigint {
  return facts.acceptedCents === undefined ? valueCents : BigInt(facts.acceptedCents)
}

/** The fee that was booked with it, centavos. */
export function paidFeeCents(cashIn: Pick<CashIn, 'facts' | 'valueCents' | 'feeCents'>): bigint {
  return min(cashIn.feeCents, paidCents(cashIn))
}

/** The payment that the merchant was credited with and has; `null`: none, or an operator reversed the credit. */
export function creditedPayment({ facts, endToEndId }: Pick<CashIn, 'facts' | 'endToEndId'>): string | null {
  return endToEndId === null || own(facts.reversed, endToEndId) !== undefined ? null : endToEndId
}

/** The part of a payment that is in suspense, also while it is being returned to its payer, centavos. */
export function suspendedCents(
  cashIn: Pick<CashIn, 'facts' | 'valueCents' | 'endToEndId'>,
  endToEndId: string,
): bigint {
  const { payments, decidedPayments, reversed } = cashIn.facts
  const credited = endToEndId === creditedPayment(cashIn) ? paidCents(cashIn) : 0n
  const [arrived, ...ended] = [payments, decidedPayments, reversed].map((cents) => BigInt(own(cents, endToEndId) ?? 0))
  return ended.reduce((left, cents) => left - cents, arrived ?? 0n) - credited - goneBackCents(cashIn, endToEndId)
}

/** What went back of a payment out of suspense, centavos. */
function goneBackCents({ facts }: Charge, endToEndId: string): bigint {
  const returned = Object.values(facts.returns ?? {}).filter((known) => known.state === 'from_suspense')
  return centsOf(returned.filter((known) => known.endToEndId === endToEndId))
}

/** Returns in doubt that may be of a payment, centavos. */
export function inDoubtOf(cashIn: Charge, endToEndId: string): bigint {
  const likely = returnsInDoubt(cashIn).filter(([, { payment = endToEndId }]) => payment === endToEndId)
  return centsOf(likely.map(([, inDoubt]) => inDoubt))
}

/** The part of it that refunds under way return to its payer, centavos. */
export function returningCents({ facts }: Charge, endToEndId: string): bigint {
  const refunds = Object.values(facts.openRefunds ?? {}).filter(
    ({ payment, hasFailed }) => payment === endToEndId && !hasFailed,
  )
  return refunds.reduce((sum, { valueCents }) => sum + BigInt(valueCents), 0n)
}

/** Whether all that was paid went back to its payers, and nothing was credited. @source rules#cash-in.cases.15 */
export function hasGoneBack(cashIn: CashIn): boolean {
  const payments = Object.entries(cashIn.facts.payments ?? {})
  const isBack = ([endToEndId, cents]: [string, number]) => goneBackCents(cashIn, endToEndId) === BigInt(cents)
  return creditedPayment(cashIn) === null && payments.length > 0 && payments.every(isBack)
}

function centsOf(returns: readonly { readonly cents: number }[]): bigint {
  return returns.reduce((sum, { cents }) => sum + BigInt(cents), 0n)
}

/* The payment of a return. */

/**
 * The payment that a return is of: its end-to-end id, `null` where it could be one of several, `undefined` where it is none
 * that is known here.
 * @param named the end-to-end id that the bank gives with the return
 * @source rules#cash-in.refunds.12, rules#cash-in.refunds.9
 */
export function returnedPayment({ facts }: Charge, named: string | null): string | null | undefined {
  const payments = Object.keys(facts.payments ?? {})
  if (named !== null) return payments.includes(named) ? named : undefined
  return payments.length > 1 ? null : payments[0]
}

/**
 * The payment that a return is of, by its end-to-end id, where an operator took that from suspense and the return is not booked
 * here: it may be another charge's by now. `undefined` where it is none such.
 * @source rules#cash-in.refunds.9
 */
export function decidedPaymentOf(
  cashIn: CashIn,
  { returnId, endToEndId }: { readonly returnId: string; readonly endToEndId?: string | null },
): string | undefined {
  const payment = returnedPayment(cashIn, endToEndId ?? null)
  const isDecided = payment != null && own(cashIn.facts.decidedPayments, payment) !== undefined
  return isDecided && bookedReturn(cashIn, returnId) === undefined ? payment : undefined
}

/**
 * The payment that the bank gave back where that is not the credited one, `null` where it could be one of several;
 * `undefined` where it is the credited one.
 */
export function uncreditedPayment(cashIn: CashIn, { endToEndId }: ReportedReturn): string | null | undefined {
  if (endToEndId === undefined) return undefined
  const payment = returnedPayment(cashIn, endToEndId)
  const isCredited = payment !== null && payment === cashIn.endToEndId
  return isCredited ? undefined : payment
}

/**
 * The return in suspense that was reported without its id and may be the one reported with its id now: of the same amount,
 * and not known to be of another payment.
 * @source rules#cash-in.refunds.10
 */
function unnamedLike(cashIn: CashIn, named: string | null, valueCents: bigint): string | undefined {
  const payment = returnedPayment(cashIn, named) ?? null
  return Object.keys(cashIn.facts.returns ?? {}).find((returnId) => {
    const { cents, unnamedOf = null } = unnamedReturn(cashIn, returnId) ?? {}
    return Number(valueCents) === cents && (unnamedOf === null || payment === null || unnamedOf === payment)
  })
}

/* A report. */

/** The fate of a reported return. `counted`: it is the bank's own. */
export type Fate = 'restated' | 'in_doubt' | 'counted'

/**
 * Decides the fate of a return that names no refund of ours.
 * @source rules#cash-in.returns.1
 */
export function fateOf(cashIn: CashIn, reported: ReportedReturn): Fate {
  const inDoubt = returnInDoubt(cashIn, reported.returnId)
  const known = bookedReturn(cashIn, reported.returnId) ?? (inDoubt && BigInt(inDoubt.cents))
  if (known !== undefined && known !== reported.valueCents) return 'restated'
  return explanationsOf(cashIn, doubtAbout(cashIn, reported), reported.alsoOpen).length > 0 ? 'in_doubt' : 'counted'
}

/** Whether a return is booked, or in doubt as before: then the report is nothing new. */
export function isReportedBefore(cashIn: CashIn, reported: ReportedReturn): boolean {
  if (bookedReturn(cashIn, reported.returnId) === reported.valueCents) return true
  // That it is of a payment in suspense is news, unless an operator has that returned.
  if (typeof uncreditedPayment(cashIn, reported) === 'string' && !mayBeOurs(cashIn, reported)) return false
  const inDoubt = returnInDoubt(cashIn, reported.returnId)
  // That the bank confirms what only an event told is news.
  if (inDoubt?.isUnverified && !reported.isUnverified) return false
  return inDoubt !== undefined && fateOf(cashIn, reported) === 'in_doubt'
}

/**
 * Whether a return may be a refund of ours: by the merchant of the credited payment, or by an operator of one in suspense. One of which it
 * is not told which payment went back may be the latter alone.
 * @source rules#cash-in.returns.1
 */
export function mayBeOurs(cashIn: CashIn, reported: ReportedReturn): boolean {
  if (fateOf(cashIn, reported) !== 'in_doubt') return false
  if (uncreditedPayment(cashIn, reported) !== null) return true
  const open = { ...reported.alsoOpen, ...cashIn.facts.openRefunds }
  const ids = explanationsOf(cashIn, doubtAbout(cashIn, reported), reported.alsoOpen)
  return ids.some((id) => own(open, id)?.payment !== undefined)
}

/**
 * Whether what the bank took back of the credited payment is of the part that the merchant has: all of it was accepted, or what is left of
 * it is still in suspense and less than that.
 * @source rules#cash-in.refunds.9
 */
export function isOfCreditedPart(cashIn: CashIn, valueCents: bigint): boolean {
  const { endToEndId, facts } = cashIn
  const paid = own(facts.payments, endToEndId ?? '')
  if (endToEndId === null || paid === undefined || BigInt(paid) === paidCents(cashIn)) return true
  const isDecided = own(facts.decidedPayments, endToEndId) !== undefined
  return !isDecided && valueCents <= paidCents(cashIn) - refundedCents(cashIn)
}

/** Whether a return of the same amount is known. */
export function isOfKnownAmount({ facts }: Charge, { valueCents }: ReportedReturn): boolean {
  return Object.values(facts.returns ?? {}).some((known) => 'cents' in known && known.cents === Number(valueCents))
}

/**
 * Whether a return that only an event reports waits for the bank's own answer. Nothing is taken from the merchant on the
 * word of an event; a return that may be a refund of ours is in doubt meanwhile, and one that is in suspense costs the
 * merchant nothing. Of each charge only so many are kept.
 * @source rules#cash-in.returns.9
 */
export function isToBeVerified(cashIn: CashIn, reported: ReportedReturn): boolean {
  if (!reported.isUnverified || bookedReturn(cashIn, reported.returnId) !== undefined) return false
  const inDoubt = returnInDoubt(cashIn, reported.returnId)
  if (inDoubt && !inDoubt.isUnverified) return false
  if (!inDoubt && returnCount(cashIn) >= limits.reportedReturnsMax) return true
  if (reported.isUnnamed || reported.isBookedElsewhere) return false
  return uncreditedPayment(cashIn, reported) === undefined && fateOf(cashIn, reported) === 'counted'
}

function returnCount({ facts }: Charge): number {
  return Object.values(facts.returns ?? {}).filter(({ state }) => state !== 'alias' && state !== 'released').length
}

/**
 * The returns of which it is known whose they are, now that one is booked: that one, if it was in doubt, and one in suspense
 * that was reported without an id and is the same.
 * @source rules#cash-in.returns.5, rules#cash-in.refunds.10
 */
export function returnsKnownBy(before: CashIn, after: CashIn, input: CashInEvent): string[] {
  if (!('returnId' in input) || bookedReturn(after, input.returnId) === undefined) return []
  const { returnId } = input
  const itself = returnInDoubt(after, returnId) ? [returnId] : []
  const isNew = bookedReturn(before, returnId) === undefined
  if (input.on !== 'return.told' || !isNew || input.isUnnamed || input.isBookedElsewhere) return itself
  const { endToEndId = after.endToEndId, valueCents } = input
  const unnamed = unnamedLike(after, endToEndId, valueCents)
  return unnamed === undefined ? itself : [...itself, unnamed]
}

/* The doubt. */

/**
 * A reference that tells a return from others. The payment's own does not: each of its returns would have it.
 * @source rules#refund-in.returns.4
 */
export function ownReference(reported: string | null, { transactionId }: Pick<CashIn, 'transactionId'>): string | null {
  return reported === transactionId ? null : reported
}

/** The doubt about a reported return: as it was, or a new one. */
function doubtAbout(cashIn: CashIn, reported: ReportedReturn): ReturnInDoubt {
  const { returnId, valueCents, occurredAt, transactionId, at, isUnverified, endToEndId } = reported
  const payment = endToEndId === undefined ? undefined : returnedPayment(cashIn, endToEndId)
  const known = returnInDoubt(cashIn, returnId)
  if (known) {
    const { isUnverified: wasUnverified, ...told } = known
    return {
      ...told,
      ...(payment == null ? {} : { payment }),
      ...(wasUnverified && isUnverified ? { isUnverified } : {}),
    }
  }
  return {
    state: 'in_doubt',
    cents: Number(valueCents),
    occurredAt,
    transactionId,
    ...(payment == null ? {} : { payment }),
    since: at,
    answered: [],
    ...(isUnverified ? { isUnverified } : {}),
    ...(own(cashIn.facts.returns, returnId)?.state === 'released' ? { wasHeld: true } : {}),
  }
}

/**
 * The refunds of ours that a return may be: open, of its very amount and payment, and neither a reference nor an answer of
 * the bank tells otherwise.
 * @source rules#cash-in.returns.1
 */
export function explanationsOf(
  cashIn: CashIn,
  inDoubt: ReturnInDoubt,
  alsoOpen: Readonly<Record<string, OpenRefund>> = {},
): string[] {
  const reference = ownReference(inDoubt.transactionId, cashIn)
  const open = { ...alsoOpen, ...cashIn.facts.openRefunds }
  return Object.keys(open).filter((id) => {
    const { valueCents, transactionId, payment = cashIn.endToEndId } = open[id] as OpenRefund
    const isAnother = transactionId !== null && reference !== null && transactionId !== reference
    const isOfIt = inDoubt.payment === undefined || payment === inDoubt.payment
    return valueCents === inDoubt.cents && isOfIt && !isAnother && !inDoubt.answered.includes(id)
  })
}

/** The open refund that a return names, now that the bank told the reference of it. @source rules#cash-in.returns.2 */
export function namedRefund(cashIn: CashIn, { transactionId, cents }: ReturnInDoubt): string | undefined {
  const reference = ownReference(transactionId, cashIn)
  const open = Object.entries(cashIn.facts.openRefunds ?? {})
  return reference === null
    ? undefined
    : open.find(([, refund]) => refund.transactionId === reference && refund.valueCents === cents)?.[0]
}

/** The next step about a return in doubt. `book`: nothing of ours can be it any more. */
export type ReturnStep = 'wait' | 'confirm' | 'book' | 'hold'

/** @source rules#cash-in.returns.2, rules#cash-in.returns.4 */
export function returnStep(cashIn: CashIn, inDoubt: ReturnInDoubt, nowMs: number): ReturnStep {
  if (namedRefund(cashIn, inDoubt) !== undefined) return 'confirm'
  if (explanationsOf(cashIn, inDoubt).length === 0) return 'book'
  return mayBeHeld(inDoubt) && nowMs >= overdueAt(inDoubt) ? 'hold' : 'wait'
}

/** Whether something is to be done about some return in doubt now. */
export function hasReturnStep(cashIn: CashIn, nowMs: number): boolean {
  return returnsInDoubt(cashIn).some(([, inDoubt]) => returnStep(cashIn, inDoubt, nowMs) !== 'wait')
}

/** When a worker must look at the returns in doubt; `null` where there are none, or all are held. */
export function returnsDueAt(cashIn: CashIn, nowMs: number): number | null {
  const dues = returnsInDoubt(cashIn).flatMap(([, inDoubt]) => {
    if (returnStep(cashIn, inDoubt, nowMs) !== 'wait') return [nowMs]
    return mayBeHeld(inDoubt) ? [overdueAt(inDoubt)] : []
  })
  return dues.length > 0 ? Math.min(...dues) : null
}

/** Returns that the bank's answer about a refund settles: it was asked after they were reported. @source rules#cash-in.returns.3 */
export function returnsAnswered(cashIn: CashIn, refundId: string, hasEnded: boolean, nowMs: number): string[] {
  return returnsInDoubt(cashIn)
    .filter(([, inDoubt]) => explanationsOf(cashIn, inDoubt).includes(refundId))
    .filter(([, { since }]) => hasEnded || nowMs - since >= limits.returnDeniedAfterMs)
    .map(([returnId]) => returnId)
}

function mayBeHeld({ heldCents, isInCase }: ReturnInDoubt): boolean {
  return heldCents === undefined && !isInCase
}

function overdueAt({ since }: ReturnInDoubt): number {
  return since + limits.unknownResultEscalationMs
}

/** A refund of money in suspense that an operator orders. */
export function factsOfReturnOrder(
  { facts }: Charge,
  payment: string,
  refundId: string,
  valueCents: bigint,
): ReturnFacts {
  const opened: OpenRefund = { valueCents: Number(valueCents), transactionId: null, payment }
  return {
    openRefunds: { ...facts.openRefunds, [refundId]: opened },
    returnOrders: { ...facts.returnOrders, [payment]: returnOrdersOf({ facts }, payment) + 1 },
  }
}

/** How many refunds operators ordered of a payment in suspense. */
export function returnOrdersOf({ facts }: Charge, payment: string): number {
  return own(facts.returnOrders, payment) ?? 0
}

/* Facts after each event. */

/** The facts after an event of a refund or a return. @source rules#cash-in.refunds, rules#cash-in.returns */
export function factsOfRefunds(cashIn: CashIn, input: RefundEvent, row: Target<CashIn>): CashInFacts {
  const { refundsOpenCents = 0, openRefunds } = cashIn.facts
  switch (input.on) {
    case 'refund.reserved': {
      const cents = Number(input.valueCents)
      const opened: OpenRefund = { valueCents: cents, transactionId: null }
      return { refundsOpenCents: refundsOpenCents + cents, openRefunds: { ...openRefunds, [input.refundId]: opened } }
    }
    case 'refund.released':
      return { ...freed(input, refundsOpenCents), openRefunds: without(openRefunds, input.refundId) }
    case 'refund.confirmed':
      return {
        ...freed(input, refundsOpenCents),
        openRefunds: without(openRefunds, input.refundId),
        ...withReturn(cashIn, input.returnId, booked(cashIn, input)),
      }
    case 'refund.taken':
      // The first booking stays; an operator compares.
      return bookedReturn(cashIn, input.returnId) === undefined
        ? withReturn(cashIn, input.returnId, taken(cashIn, input))
        : {}
    case 'refund.named': {
      const { transactionId, payment, refundId, valueCents } = input
      const known = own(openRefunds, refundId) ?? { valueCents: Number(valueCents), ...(payment && { payment }) }
      const named: OpenRefund = { ...known, transactionId }
      return { openRefunds: { ...openRefunds, [input.refundId]: named } }
    }
    case 'refund.answered':
      return {
        ...afterAnswer(cashIn, input),
        ...(input.hasEnded ? { openRefunds: without(openRefunds, input.refundId) } : {}),
      }
    case 'return.told':
      return factsOfReported(cashIn, input, row)
    case 'return.unexplained': {
      const known = own(cashIn.facts.returns, input.returnId)
      if (known?.state !== 'in_doubt') return {}
      const after = known.wasHeld ? { isInCase: true } : { heldCents: Number(input.heldCents) }
      return withReturn(cashIn, input.returnId, { ...known, ...after })
    }
    case 'return.known':
      return withReturn(cashIn, input.returnId, afterDoubt(cashIn, input.returnId))
  }
}

/** Follows the row of the table. */
function factsOfReported(
  cashIn: CashIn,
  reported: ReportedReturn,
  { when, posts, opens }: Target<CashIn>,
): CashInFacts {
  const { returnId } = reported
  if (posts !== undefined) return withReturn(cashIn, returnId, suspended(cashIn, reported, posts))
  if (opens === 'bank_contradicts' && !when.includes('returns exceed the payment')) return {}
  if (opens === 'movement_elsewhere') {
    const cents = Number(reported.valueCents)
    return withReturn(cashIn, returnId, { state: 'elsewhere', cents, ...keptDoubt(cashIn, returnId) })
  }
  if (!when.includes('a refund may explain it')) return withReturn(cashIn, returnId, booked(cashIn, reported))
  return {
    openRefunds: { ...reported.alsoOpen, ...cashIn.facts.openRefunds },
    ...withReturn(cashIn, returnId, doubtAbout(cashIn, reported)),
  }
}

type Gone = {
  readonly returnId: string
  readonly valueCents: bigint
  readonly payment?: string
  readonly refundId?: string
}

function booked(cashIn: CashIn, { returnId, valueCents, payment, refundId }: Gone): KnownReturn {
  const known = { cents: Number(valueCents), ...keptDoubt(cashIn, returnId) }
  return payment === undefined || refundId === undefined
    ? { state: 'booked', ...known }
    : { state: 'from_suspense', endToEndId: payment, refundId, ...known }
}

/** Money in suspense is not the merchant's: it does not count as gone back, and the refund has it in suspense. */
function taken(cashIn: CashIn, gone: Gone): KnownReturn {
  if (gone.payment === undefined) return booked(cashIn, gone)
  return { state: 'at_refund', cents: Number(gone.valueCents), ...keptDoubt(cashIn, gone.returnId) }
}

/** A refund of money in suspense sets nothing of the merchant's aside. */
function freed(
  { valueCents, payment }: { readonly valueCents: bigint; readonly payment?: string },
  refundsOpenCents: number,
): ReturnFacts {
  return payment === undefined ? { refundsOpenCents: refundsOpenCents - Number(valueCents) } : {}
}

/** It is not debited from the merchant: of a payment in suspense it is taken from that. */
function suspended(
  cashIn: CashIn,
  { returnId, valueCents, endToEndId = null, isUnnamed }: ReportedReturn,
  posts: JournalKind,
): KnownReturn {
  const payment = returnedPayment(cashIn, endToEndId) ?? null
  const left = { cents: Number(valueCents), ...keptDoubt(cashIn, returnId) }
  if (posts === 'arrival_returned' && payment !== null) return { state: 'from_suspense', endToEndId: payment, ...left }
  return { state: 'in_suspense', ...left, ...(isUnnamed ? { unnamedOf: payment } : {}) }
}

function keptDoubt(cashIn: CashIn, returnId: string): { readonly wasInDoubt?: ReturnInDoubt } {
  const wasInDoubt = returnInDoubt(cashIn, returnId)
  return wasInDoubt ? { wasInDoubt } : {}
}

function afterAnswer(
  { facts }: CashIn,
  { refundId, returnIds }: Extract<RefundEvent, { on: 'refund.answered' }>,
): ReturnFacts {
  const after = returnIds.flatMap((returnId): [string, KnownReturn][] => {
    const known = own(facts.returns, returnId)
    return known?.state === 'in_doubt' ? [[returnId, { ...known, answered: [...known.answered, refundId] }]] : []
  })
  return { returns: { ...facts.returns, ...Object.fromEntries(after) } }
}

/** The row once it is known whose the return is: one that was reported without its id has another row by now. */
function afterDoubt(cashIn: CashIn, returnId: string): KnownReturn | undefined {
  const known = own(cashIn.facts.returns, returnId)
  if (known?.state === 'in_doubt') {
    return known.heldCents === undefined && !known.wasHeld ? undefined : { state: 'released' }
  }
  const unnamed = unnamedReturn(cashIn, returnId)
  if (unnamed) return { state: 'alias', cents: unnamed.cents }
  if (!known || !('wasInDoubt' in known)) return known
  const { wasInDoubt: _, ...settled } = known
  return settled
}

/** The facts with a row as it is now; `undefined`: without it. */
export function withReturn({ facts }: Charge, returnId: string, known: KnownReturn | undefined): ReturnFacts {
  return { returns: known ? { ...facts.returns, [returnId]: known } : without(facts.returns, returnId) }
}

function without<Value>(record: Readonly<Record<string, Value>> | undefined, id: string): Record<string, Value> {
  const { [id]: _, ...others } = record ?? {}
  return others
}
