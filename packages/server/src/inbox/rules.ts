import type { BankEvent, ChargeEvent, Naming, PayoutEvent, ReadableEvent, RefundEvent } from '../banks/inbound.ts'
import type { CashInInput } from '../cash-in/index.ts'
import type { CashOutInput } from '../cash-out/index.ts'
import type { Match, ReportedMovement } from '../engine/operation-store.ts'
import type { BankReturn, RefundInInput } from '../refund-in/index.ts'
import type { Callback } from './store.ts'

/** Rules for the bank's events. Pure. */

/**
 * Key under which an event is stored once: a list, so that no separator inside a field can shift content to the next.
 * @source rules#partner-inbox.3
 */
export function dedupeKeyOf(
  { endpoint, isProven }: Pick<Callback, 'endpoint' | 'isProven'>,
  { key }: BankEvent,
): string {
  // Unproven events get a key of their own, so that a forgery never shadows the bank's event.
  return JSON.stringify([isProven ? endpoint : `${endpoint}, unproven`, ...key])
}

/** References in an event, if they could be read. */
export function namingOf(event: BankEvent): Naming | undefined {
  return event.kind === 'unreadable' ? event.named : event
}

/** Amount and time of the money that an event reports, if it has both. */
function moneyOf(event: ReadableEvent) {
  switch (event.kind) {
    case 'payment_received':
      return event.payment
    case 'payout_settled':
      return event.movement
    case 'payout_returned':
    case 'payment_returned':
      return event.returned
    case 'changed':
    case 'failed':
    case 'in_progress':
      return undefined
  }
}

export function saysMoneyMoved(event: ReadableEvent): boolean {
  return event.kind === 'changed' ? event.saysMoneyMoved : moneyOf(event) !== undefined
}

/** The movement of an event by the bank's id, if it has one. */
export function movementOf(event: ReadableEvent): ReportedMovement | undefined {
  switch (event.kind) {
    case 'payment_received':
      return { ...event.payment, returnId: null }
    case 'payout_settled':
      return { ...event.movement, returnId: null }
    case 'payout_returned':
    case 'payment_returned':
      return event.isUnnamed ? undefined : { ...event.returned, endToEndId: event.endToEndId ?? '' }
    default:
      return undefined
  }
}

/** Amount of an event in centavos, even without an id. `null`: money may have moved, but the amount is missing. */
export function reportedCents(event: ReadableEvent): bigint | null {
  return event.kind === 'changed' ? null : (moneyOf(event)?.valueCents ?? 0n)
}

/**
 * Effect of an event on its operation. `undefined`: nothing has happened yet. `INCOMPLETE`: money moved, but data to book
 * it is missing and the bank cannot be queried.
 */
export type InputOf<Input> = Input | 'INCOMPLETE' | undefined

type WithoutMoney = Extract<ReadableEvent, { kind: 'failed' | 'in_progress' | 'changed' }>

/**
 * Input of an event without a movement, for any operation. A failure counts as verified only if the bank cannot be
 * queried. A query is only requested if it can: otherwise the event is the only evidence there will be.
 * @source rules#partner-inbox.6, failure-modes#P6
 */
function withoutMoney(event: WithoutMoney, canAsk: boolean) {
  switch (event.kind) {
    case 'failed': {
      const { transactionId } = event.references
      return { on: 'partner.failed', ...event.failure, transactionId, isVerified: !canAsk } as const
    }
    case 'in_progress':
      return undefined
    case 'changed':
      return event.saysMoneyMoved && !canAsk ? 'INCOMPLETE' : ({ on: 'work.requested' } as const)
  }
}

/** @source rules#partner-inbox.9 */
export function cashInInput(event: ChargeEvent, canAsk: boolean): InputOf<CashInInput> {
  if (event.kind !== 'payment_received') return withoutMoney(event, canAsk)
  return { on: 'partner.confirmed', transactionId: event.references.transactionId, payment: event.payment }
}

/** @source rules#partner-inbox.9 */
export function cashOutInput(event: PayoutEvent, canAsk: boolean): InputOf<CashOutInput> {
  switch (event.kind) {
    case 'payout_settled': {
      const { references, movement } = event
      return { on: 'partner.confirmed', transactionId: references.transactionId, movement, isVerified: !canAsk }
    }
    case 'payout_returned': {
      const { returned, endToEndId, isUnnamed } = event
      if (isUnnamed && canAsk) return { on: 'work.requested' }
      return { on: 'partner.returned', returned, endToEndId, isUnnamed, isVerified: !canAsk }
    }
    default:
      return withoutMoney(event, canAsk)
  }
}

/** @source rules#partner-inbox.9 */
export function refundInInput(event: RefundEvent, canAsk: boolean): InputOf<RefundInInput> {
  if (event.kind !== 'payment_returned') return withoutMoney(event, canAsk)
  const { returned, endToEndId, isUnnamed } = event
  if (isUnnamed && canAsk) return { on: 'work.requested' }
  const { transactionId } = event.references
  return { on: 'partner.confirmed', transactionId, returned, endToEndId, isUnnamed, isVerified: !canAsk }
}

/** Input for the cash-in whose payment the bank returned by itself. */
export function bankReturnOf(event: Extract<RefundEvent, { kind: 'payment_returned' }>): BankReturn {
  const { returned, endToEndId, isUnnamed, references } = event
  return { ...returned, endToEndId, isUnnamed, transactionId: references.transactionId, isVerified: false }
}

/** Delays before an unmatched event is matched again. @source rules#partner-inbox.8 */
export const PARKING_DELAYS_MS = [1_000, 5_000, 30_000, 60_000, 300_000, 900_000] as const

/**
 * Failures after which an event is no longer retried and waits for an operator. Parking does not count.
 * @source rules#partner-inbox.14, failure-modes#EV-12, failure-modes#EV-38
 */
export const POISON_FAILURES = 10

/**
 * The operation an event means, from all its references. If they disagree, the event is applied to none of the named
 * operations: trusting one against another could move someone else's money.
 * @source rules#partner-inbox.12, failure-modes#EV-26, failure-modes#EV-34
 */
export interface Meaning {
  /** The single operation on which all references agree, if any. */
  readonly id: string | undefined
  readonly among: readonly string[]
}

export const NOTHING: Meaning = { id: undefined, among: [] }

export function meaningOf(matches: readonly Match[]): Meaning {
  return agreeing(distinct(withoutNamesakes(matches).map(({ id }) => id)))
}

/**
 * Meaning of a reversal of a cash-in: one of our refunds, possibly named together with its cash-in; or else a cash-in
 * whose payment the bank returned by itself, once or several times.
 * @source rules#partner-inbox.10
 */
export function meaningOfReversal(refunds: readonly Match[], cashIns: readonly Match[]): Meaning {
  const found = withoutNamesakes([...refunds, ...cashIns])
  const isRefund = (match: Match) => refunds.includes(match)
  const ours = distinct(found.filter((match) => isRefund(match) && !match.isBanks).map(({ id }) => id))
  // A refund of a payment to the bare Pix key has no cash-in.
  const cashInIds = distinct(found.flatMap((match) => (isRefund(match) ? (match.of ?? []) : match.id)))
  if (cashInIds.length > 1 || ours.length > 1) {
    const ofOurs = found.filter(({ id }) => ours.includes(id)).map(({ of }) => of)
    return { id: undefined, among: [...ours, ...cashInIds.filter((id) => !ofOurs.includes(id))] }
  }
  return agreeing([...ours, ...cashInIds].slice(0, 1))
}

/**
 * The order id may stand in place of the client's reference: an operation whose client reference has the same text is
 * not meant.
 */
function withoutNamesakes(matches: readonly Match[]): readonly Match[] {
  return matches.some(({ by }) => by === 'orderId') ? matches.filter(({ by }) => by !== 'externalId') : matches
}

function agreeing(among: readonly string[]): Meaning {
  return { id: among.length === 1 ? among[0] : undefined, among }
}

function distinct(ids: readonly string[]): string[] {
  return [...new Set(ids)]
}
