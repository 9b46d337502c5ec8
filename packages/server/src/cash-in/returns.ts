import { type JournalKind, limits, min } from '@pixgate/spec'
import type { Target } from '../engine/follow.ts'
import type { Document } from '../engine/operation.ts'
import { own } from '../platform/own.ts'
import type { CashIn, CashInEvent, CashInFacts } from './cash-in.ts'

/** Payments and returns in suspense, by the reference of their case. Pure. @source rules#cases.7 */

/** A payment that an operator attributes to another charge. */
export interface Received {
  readonly endToEndId: string
  readonly cents: bigint
  /** The charge that the payer paid. */
  readonly from: string
  readonly facts: Document
}

/** Suspense of a payment that an operator may decide, centavos: not credited, not being returned. */
export function suspendedArrival(cashIn: CashIn, reference: string): bigint {
  return positive(suspendedCents(cashIn, reference) - returningCents(cashIn, reference))
}

/** Part of it that may be returned to the payer: a return in suspense may have taken the rest. */
export function returnableArrival(cashIn: CashIn, reference: string): bigint {
  const gone = reference === cashIn.endToEndId ? beyondCredited(cashIn, departedCents(cashIn)) : 0n
  return positive(suspendedArrival(cashIn, reference) - gone)
}

function positive(cents: bigint): bigint {
  return cents > 0n ? cents : 0n
}

/** Part of a return beyond the rest of the credited payment, centavos. */
function beyondCredited(cashIn: CashIn, cents: bigint): bigint {
  return positive(cents - positive(paidCents(cashIn) - refundedCents(cashIn)))
}

/** All returns in suspense, centavos. */
function departedCents({ facts }: Charge): bigint {
  return centsOf(Object.values(facts.returns ?? {}).filter((known) => known.state === 'in_suspense'))
}

export function suspendedDeparture({ facts }: CashIn, reference: string): bigint {
  const known = own(facts.returns, reference)
  return known?.state === 'in_suspense' ? BigInt(known.cents) : 0n
}

/**
 * Returns of a charge's payments. Pure.
 * Each return id has one row, in one state. A return that names none of our refunds is `in_doubt` while one of them may
 * explain it. The bank's answers about those refunds end the doubt, and the return is `booked`, as our refund or as the
 * bank's own. After 15 minutes a case opens, and the available part is held. A doubt reported by an event only is
 * dropped once no refund explains it; if money was held, the row stays as `released`.
 * A return that cannot be debited from the merchant is `in_suspense` until an operator has `decided` it; a return of a
 * payment in suspense is taken `from_suspense`. A return without an id is in suspense under a generated id, which
 * becomes an `alias` when the real one is reported.
 * Booking a return in doubt takes two moves of one decision: the first keeps the doubt as `wasInDoubt`, the second,
 * `return.known`, ends it and its hold.
 * @source rules#cash-in.returns, rules#cash-in.refunds, failure-modes#RF-12
 */
export type KnownReturn =
  | ReturnInDoubt
  | { readonly state: 'booked'; readonly cents: number; readonly wasInDoubt?: ReturnInDoubt }
  /** In suspense; a case decides who bears it. */
  | SuspendedReturn
  /** Reduced the suspense of this payment. */
  | {
      readonly state: 'from_suspense'
      readonly cents: number
      readonly endToEndId: string
      /** The operator's refund; absent if the bank returned it by itself. */
      readonly refundId?: string
      readonly wasInDoubt?: ReturnInDoubt
    }
  /** Confirmed for a refund of money in suspense, in a way that needs a decision; the refund holds the suspense. */
  | { readonly state: 'at_refund'; readonly cents: number; readonly wasInDoubt?: ReturnInDoubt }
  /** An operator ended the suspense; a debited one counts as returned, less what others bore. */
  | ({ readonly state: 'decided'; readonly cents: number; readonly isDebited: boolean } & Borne)
  | { readonly state: 'elsewhere'; readonly cents: number; readonly wasInDoubt?: ReturnInDoubt }
  /** Another id of a return with its own row. */
  | { readonly state: 'alias'; readonly cents: number }
  /** Reported by an event only: was held, then no refund explained it. */
  | { readonly state: 'released' }

/** Parts of a debited return that the merchant does not bear, centavos; absent: 0. */
type Borne = {
  /** Was still in suspense. */
  readonly suspendedCents?: number
  /** Had been booked as a gain of the house. */
  readonly gainCents?: number
}

/** Rule that opens the case of a return without an id. */
export const UNNAMED = 'cash-in.refunds.10'

/** A return that may be one of our refunds; nothing is debited yet. Instants are epoch milliseconds. */
export type ReturnInDoubt = {
  readonly state: 'in_doubt'
  readonly cents: number
  readonly occurredAt: number
  /** The bank's reference of the return, or of the payment. */
  readonly transactionId: string | null
  /** End-to-end id of the returned payment, if known. */
  readonly payment?: string
  /** First report. */
  readonly since: number
  /** Refunds excluded by later answers of the bank. */
  readonly answered: readonly string[]
  /** Reported by an event only, and the bank supports charge queries. */
  readonly isUnverified?: boolean
  /** Centavos; absent before the 15 minutes are over. */
  readonly heldCents?: number
  /** Held and released before. Each return is held once, as each journal is posted once. */
  readonly wasHeld?: boolean
  /** A case is open without a hold. */
  readonly isInCase?: boolean
}

type SuspendedReturn = {
  readonly state: 'in_suspense'
  readonly cents: number
  /** Only of a return without an id: its payment, `null` if unclear. */
  readonly unnamedOf?: string | null
  readonly wasInDoubt?: ReturnInDoubt
}

/** A refund that may explain a return: in flight, or failed and possibly executed. */
export interface OpenRefund extends Document {
  readonly valueCents: number
  /** The bank's reference; `null` while unknown. */
  readonly transactionId: string | null
  /** End-to-end id of the payment in suspense that it returns; absent: the credited one. */
  readonly payment?: string
  /** Failed, possibly executed; it returns nothing any more. */
  readonly hasFailed?: boolean
}

export type ReturnFacts = {
  /** Reserved by refunds in flight, centavos. */
  readonly refundsOpenCents?: number
  readonly openRefunds?: Readonly<Record<string, OpenRefund>>
  readonly returns?: Readonly<Record<string, KnownReturn>>
  /** Refunds ordered by operators, per end-to-end id of a payment in suspense. */
  readonly returnOrders?: Readonly<Record<string, number>>
}

/**
 * Events of refunds and returns. `refund.taken`: a return beyond the reserved amounts. `refund.answered`: the bank's
 * answer about a refund excludes these returns. `return.known`: the return is attributed.
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
      readonly hasEnded: boolean
    }
  | ReportedReturn
  | {
      readonly on: 'return.unexplained'
      readonly returnId: string
      readonly heldCents: bigint
      readonly refundIds: readonly string[]
    }
  | { readonly on: 'return.known'; readonly returnId: string }

export interface ReportedReturn {
  readonly on: 'return.told'
  readonly returnId: string
  readonly valueCents: bigint
  readonly occurredAt: number
  readonly transactionId: string | null
  readonly at: number
  /** The bank gave no return id; this one is derived from its report. */
  readonly isUnnamed?: boolean
  /** The returned payment, `null` if the bank names none; absent: the credited one. */
  readonly endToEndId?: string | null
  readonly isBookedElsewhere?: boolean
  /** Reported by an event only, and the bank supports charge queries. */
  readonly isUnverified?: boolean
  /** Open refunds missing from the cash-in's facts. */
  readonly alsoOpen: Readonly<Record<string, OpenRefund>>
}

/* The rows. */

type Charge = Pick<CashIn, 'facts'>

/** Amount booked under a return id, centavos: debited, in suspense, or as an alias. */
export function bookedReturn({ facts }: Charge, returnId: string): bigint | undefined {
  const known = own(facts.returns, returnId)
  return known && known.state !== 'in_doubt' && known.state !== 'released' ? BigInt(known.cents) : undefined
}

/** Amount that counts as returned under a return id, centavos. */
export function countedReturn({ facts }: Charge, returnId: string): bigint | undefined {
  const known = own(facts.returns, returnId)
  return known && isCounted(known) ? BigInt(known.cents) : undefined
}

export function isKnownReturn({ facts }: Charge, returnId: string): boolean {
  const known = own(facts.returns, returnId)
  return known !== undefined && known.state !== 'released'
}

export function returnInDoubt({ facts }: Charge, returnId: string): ReturnInDoubt | undefined {
  return doubtOf(own(facts.returns, returnId))
}

export function returnsInDoubt({ facts }: Charge): [returnId: string, ReturnInDoubt][] {
  return Object.entries(facts.returns ?? {}).flatMap(([returnId, known]): [string, ReturnInDoubt][] => {
    const inDoubt = doubtOf(known)
    return inDoubt ? [[returnId, inDoubt]] : []
  })
}

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

function borneByOthers({ suspendedCents = 0, gainCents = 0 }: Borne): bigint {
  return BigInt(suspendedCents + gainCents)
}

/**
 * Who bears a return in suspense that is debited: the merchant up to the rest of its credited payment, then what of that payment
 * is in suspense, then what the house booked of it as a gain. Beyond that the merchant bears it.
 * @param payment returned payment, if known
 * @source rules#cash-in.cases.8
 */
export function sharesOf(cashIn: CashIn, leftCents: bigint, payment: string | undefined): { s: bigint; l: bigint } {
  const { endToEndId, facts } = cashIn
  if (endToEndId === null || (payment !== undefined && payment !== endToEndId)) return { s: 0n, l: 0n }
  const beyond = beyondCredited(cashIn, leftCents)
  const s = min(suspendedArrival(cashIn, endToEndId), beyond)
  const gained = Object.values(facts.returns ?? {}).reduce(
    (rest, known) => rest - (known.state === 'decided' ? BigInt(known.gainCents ?? 0) : 0n),
    BigInt(own(facts.decidedPayments, endToEndId) ?? 0),
  )
  return { s, l: min(gained, beyond - s) }
}

/** Returned so far, centavos. @source rules#cash-in.refunds.7 */
export function refundedCents({ facts }: Charge): bigint {
  return Object.values(facts.returns ?? {})
    .filter(isCounted)
    .reduce((sum, known) => sum + BigInt(known.cents) - (known.state === 'decided' ? borneByOthers(known) : 0n), 0n)
}

export function inDoubtCents(cashIn: Charge): bigint {
  return centsOf(returnsInDoubt(cashIn).map(([, inDoubt]) => inDoubt))
}

/**
 * Highest possible refund, centavos. Refunds in flight and returns in doubt or in suspense reduce it.
 * @source rules#refund-in.create.4
 */
export function refundableCents(cashIn: CashIn): bigint {
  const left =
    paidCents(cashIn) -
    refundedCents(cashIn) -
    BigInt(cashIn.facts.refundsOpenCents ?? 0) -
    inDoubtCents(cashIn) -
    departedCents(cashIn)
  return cashIn.status === 'PAID' ? positive(left) : 0n
}

/** Amount of the credited payment, centavos: the charge's value, or the amount that an operator accepted. */
export function paidCents({ facts, valueCents }: Pick<CashIn, 'facts' | 'valueCents'>): bigint {
  return facts.acceptedCents === undefined ? valueCents : BigInt(facts.acceptedCents)
}

export function paidFeeCents(cashIn: Pick<CashIn, 'facts' | 'valueCents' | 'feeCents'>): bigint {
  return min(cashIn.feeCents, paidCents(cashIn))
}

/** Payment credited to the merchant; `null`: none, or the credit was reversed. */
export function creditedPayment({ facts, endToEndId }: Pick<CashIn, 'facts' | 'endToEndId'>): string | null {
  return endToEndId === null || own(facts.reversed, endToEndId) !== undefined ? null : endToEndId
}

/** Part of a payment in suspense, including what is being returned, centavos. */
export function suspendedCents(
  cashIn: Pick<CashIn, 'facts' | 'valueCents' | 'endToEndId'>,
  endToEndId: string,
): bigint {
  const { payments, decidedPayments, reversed } = cashIn.facts
  const credited = endToEndId === creditedPayment(cashIn) ? paidCents(cashIn) : 0n
  const [arrived, ...ended] = [payments, decidedPayments, reversed].map((cents) => BigInt(own(cents, endToEndId) ?? 0))
  return ended.reduce((left, cents) => left - cents, arrived ?? 0n) - credited - goneBackCents(cashIn, endToEndId)
}

function goneBackCents(
  { facts, endToEndId: credited }: Pick<CashIn, 'facts' | 'endToEndId'>,
  endToEndId: string,
): bigint {
  return Object.values(facts.returns ?? {}).reduce((sum, known) => {
    if (known.state === 'from_suspense' && known.endToEndId === endToEndId) return sum + BigInt(known.cents)
    if (known.state === 'decided' && credited === endToEndId) return sum + BigInt(known.suspendedCents ?? 0)
    return sum
  }, 0n)
}

export function inDoubtOf(cashIn: Charge, endToEndId: string): bigint {
  const likely = returnsInDoubt(cashIn).filter(([, { payment = endToEndId }]) => payment === endToEndId)
  return centsOf(likely.map(([, inDoubt]) => inDoubt))
}

/** Part of a payment that refunds in flight return to the payer, centavos. */
export function returningCents({ facts }: Charge, endToEndId: string): bigint {
  const refunds = Object.values(facts.openRefunds ?? {}).filter(
    ({ payment, hasFailed }) => payment === endToEndId && !hasFailed,
  )
  return refunds.reduce((sum, { valueCents }) => sum + BigInt(valueCents), 0n)
}

/** All payments went back to their payers, and none was credited. @source rules#cash-in.cases.15 */
export function hasGoneBack(cashIn: CashIn): boolean {
  const payments = Object.entries(cashIn.facts.payments ?? {})
  const isBack = ([endToEndId, cents]: [string, number]) => goneBackCents(cashIn, endToEndId) === BigInt(cents)
  return creditedPayment(cashIn) === null && payments.length > 0 && payments.every(isBack)
}

function centsOf(returns: readonly { readonly cents: number }[]): bigint {
  return returns.reduce((sum, { cents }) => sum + BigInt(cents), 0n)
}

/**
 * End-to-end id of the returned payment; `null` if it could be one of several, `undefined` if it is not a payment of
 * this charge.
 * @param named the end-to-end id reported with the return
 * @source rules#cash-in.refunds.12, rules#cash-in.refunds.9
 */
export function returnedPayment({ facts }: Charge, named: string | null): string | null | undefined {
  const payments = Object.keys(facts.payments ?? {})
  if (named !== null) return payments.includes(named) ? named : undefined
  return payments.length > 1 ? null : payments[0]
}

/**
 * The returned payment, if an operator moved it out of suspense and the return is not booked here: the payment may
 * belong to another charge by now.
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
 * The returned payment where it is not the credited one; `null` if it could be one of several, `undefined` if it is the
 * credited one.
 */
export function uncreditedPayment(cashIn: CashIn, { endToEndId }: ReportedReturn): string | null | undefined {
  if (endToEndId === undefined) return undefined
  const payment = returnedPayment(cashIn, endToEndId)
  const isCredited = payment !== null && payment === creditedPayment(cashIn)
  return isCredited ? undefined : payment
}

/**
 * An unnamed return in suspense that may be the reported one: same amount, and no other payment is known for it.
 * @source rules#cash-in.refunds.10
 */
function unnamedLike(cashIn: CashIn, named: string | null, valueCents: bigint): string | undefined {
  const payment = returnedPayment(cashIn, named) ?? null
  return Object.keys(cashIn.facts.returns ?? {}).find((returnId) => {
    const { cents, unnamedOf = null } = unnamedReturn(cashIn, returnId) ?? {}
    return Number(valueCents) === cents && (unnamedOf === null || payment === null || unnamedOf === payment)
  })
}

/** `counted`: the bank's own return. */
export type Fate = 'restated' | 'in_doubt' | 'counted'

/** Classifies a return that names none of our refunds. @source rules#cash-in.returns.1 */
export function fateOf(cashIn: CashIn, reported: ReportedReturn): Fate {
  const inDoubt = returnInDoubt(cashIn, reported.returnId)
  const known = bookedReturn(cashIn, reported.returnId) ?? (inDoubt && BigInt(inDoubt.cents))
  if (known !== undefined && known !== reported.valueCents) return 'restated'
  return explanationsOf(cashIn, doubtAbout(cashIn, reported), reported.alsoOpen).length > 0 ? 'in_doubt' : 'counted'
}

/** The report adds nothing: the return is booked, or in doubt as before. */
export function isReportedBefore(cashIn: CashIn, reported: ReportedReturn): boolean {
  if (bookedReturn(cashIn, reported.returnId) === reported.valueCents) return true
  // News: it concerns a payment in suspense, unless an operator ordered that refund.
  if (typeof uncreditedPayment(cashIn, reported) === 'string' && !mayBeOurs(cashIn, reported)) return false
  const inDoubt = returnInDoubt(cashIn, reported.returnId)
  // News: the bank confirms a return that only an event reported.
  if (inDoubt?.isUnverified && !reported.isUnverified) return false
  return inDoubt !== undefined && fateOf(cashIn, reported) === 'in_doubt'
}

/**
 * The return may be one of our refunds. If the returned payment is unknown, only an operator's refund of money in
 * suspense qualifies.
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
 * The merchant's credited part covers this return. True if the whole payment was accepted, or if the rest is still in
 * suspense and the return fits into the accepted part, less refunds in flight.
 * @source rules#cash-in.refunds.9
 */
export function isOfCreditedPart(cashIn: CashIn, valueCents: bigint): boolean {
  const { endToEndId, facts } = cashIn
  const paid = own(facts.payments, endToEndId ?? '')
  if (endToEndId === null || paid === undefined || BigInt(paid) === paidCents(cashIn)) return true
  const isDecided = own(facts.decidedPayments, endToEndId) !== undefined
  return !isDecided && valueCents <= paidCents(cashIn) - refundedCents(cashIn) - BigInt(facts.refundsOpenCents ?? 0)
}

export function isOfKnownAmount({ facts }: Charge, { valueCents }: ReportedReturn): boolean {
  return Object.values(facts.returns ?? {}).some((known) => 'cents' in known && known.cents === Number(valueCents))
}

/**
 * A return reported by an event only needs the bank's confirmation before the merchant is debited. Returns in doubt or
 * in suspense debit nothing and are recorded at once, up to a limit per charge.
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
 * Returns attributed by this booking: the booked one if it was in doubt, and an unnamed return in suspense that matches
 * it.
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

/**
 * A reference that identifies the return. The payment's own reference does not, as all its returns carry it.
 * @source rules#refund-in.returns.4
 */
export function ownReference(reported: string | null, { transactionId }: Pick<CashIn, 'transactionId'>): string | null {
  return reported === transactionId ? null : reported
}

/** The existing doubt about a return, or a new one. */
function doubtAbout(cashIn: CashIn, reported: ReportedReturn): ReturnInDoubt {
  const { returnId, valueCents, occurredAt, transactionId, at, isUnverified, endToEndId } = reported
  const payment = endToEndId === undefined ? undefined : returnedPayment(cashIn, endToEndId)
  const known = returnInDoubt(cashIn, returnId)
  if (known) {
    const { isUnverified: wasUnverified, ...kept } = known
    return {
      ...kept,
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
 * Our refunds that may explain a return: open, same amount and payment, and not excluded by a reference or an answer of
 * the bank.
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

/** The open refund whose reference the return carries. @source rules#cash-in.returns.2 */
export function namedRefund(cashIn: CashIn, { transactionId, cents }: ReturnInDoubt): string | undefined {
  const reference = ownReference(transactionId, cashIn)
  const open = Object.entries(cashIn.facts.openRefunds ?? {})
  return reference === null
    ? undefined
    : open.find(([, refund]) => refund.transactionId === reference && refund.valueCents === cents)?.[0]
}

/** `book`: none of our refunds can explain it. */
export type ReturnStep = 'wait' | 'confirm' | 'book' | 'hold'

/** @source rules#cash-in.returns.2, rules#cash-in.returns.4 */
export function returnStep(cashIn: CashIn, inDoubt: ReturnInDoubt, nowMs: number): ReturnStep {
  if (namedRefund(cashIn, inDoubt) !== undefined) return 'confirm'
  if (explanationsOf(cashIn, inDoubt).length === 0) return 'book'
  return mayBeHeld(inDoubt) && nowMs >= overdueAt(inDoubt) ? 'hold' : 'wait'
}

export function hasReturnStep(cashIn: CashIn, nowMs: number): boolean {
  return returnsInDoubt(cashIn).some(([, inDoubt]) => returnStep(cashIn, inDoubt, nowMs) !== 'wait')
}

/** Time of the next step; `null` if there are no returns in doubt, or all are held. */
export function returnsDueAt(cashIn: CashIn, nowMs: number): number | null {
  const dues = returnsInDoubt(cashIn).flatMap(([, inDoubt]) => {
    if (returnStep(cashIn, inDoubt, nowMs) !== 'wait') return [nowMs]
    return mayBeHeld(inDoubt) ? [overdueAt(inDoubt)] : []
  })
  return dues.length > 0 ? Math.min(...dues) : null
}

/**
 * Returns that the bank's answer about a refund excludes, as the query was made after they were reported.
 * @source rules#cash-in.returns.3
 */
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

export function returnOrdersOf({ facts }: Charge, payment: string): number {
  return own(facts.returnOrders, payment) ?? 0
}

/** @source rules#cash-in.refunds, rules#cash-in.returns */
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

/** Money in suspense is not the merchant's: it does not count as returned, and the refund holds the suspense. */
function taken(cashIn: CashIn, gone: Gone): KnownReturn {
  if (gone.payment === undefined) return booked(cashIn, gone)
  return { state: 'at_refund', cents: Number(gone.valueCents), ...keptDoubt(cashIn, gone.returnId) }
}

/** A refund of money in suspense reserves nothing of the merchant's. */
function freed(
  { valueCents, payment }: { readonly valueCents: bigint; readonly payment?: string },
  refundsOpenCents: number,
): ReturnFacts {
  return payment === undefined ? { refundsOpenCents: refundsOpenCents - Number(valueCents) } : {}
}

/** A return of a payment in suspense reduces that suspense; the merchant is not debited. */
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

/** The row after attribution. A return reported without its id has another row by now. */
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

/** Replaces a row; `undefined` removes it. */
export function withReturn({ facts }: Charge, returnId: string, known: KnownReturn | undefined): ReturnFacts {
  return { returns: known ? { ...facts.returns, [returnId]: known } : without(facts.returns, returnId) }
}

function without<Value>(record: Readonly<Record<string, Value>> | undefined, id: string): Record<string, Value> {
  const { [id]: _, ...others } = record ?? {}
  return others
}
