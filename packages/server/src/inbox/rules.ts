import type { BankEvent, ChargeEvent, Naming, PayoutEvent, ReadableEvent, RefundEvent } from '../banks/inbound.ts'
import type { CashInInput } from '../cash-in/index.ts'
import type { CashOutInput } from '../cash-out/index.ts'
import type { Match, ReportedMovement } from '../engine/operation-store.ts'
import { sha256 } from '../platform/crypto.ts'
import type { BankReturn, RefundInInput } from '../refund-in/index.ts'
import type { Callback } from './store.ts'

/**
 * What is to be done with an event of a bank. Pure.
 */

/**
 * The key under which an event is stored once: a list, so that no separator inside a field moves anything to the next.
 * @source rules#partner-inbox.3
 */
export function dedupeKeyOf(
  { endpoint, isProven }: Pick<Callback, 'endpoint' | 'isProven'>,
  { key }: BankEvent,
): string {
  // What anybody may have sent never stands in the way of what the bank did.
  return JSON.stringify([isProven ? endpoint : `${endpoint}, unproven`, ...key])
}

/** Tells whether two events of one key assert the same. @source rules#partner-inbox.7 */
export function contentHashOf({ content }: BankEvent): Buffer {
  return sha256(content)
}

/** What an event names; `undefined` where it could not be read, not even for that. */
export function namingOf(event: BankEvent): Naming | undefined {
  return event.kind === 'unreadable' ? event.named : event
}

/** Whether an event says that money moved. */
export function saysMoneyMoved(event: ReadableEvent): boolean {
  switch (event.kind) {
    case 'payment_received':
    case 'payout_settled':
    case 'payout_returned':
    case 'payment_returned':
      return true
    case 'changed':
      return event.saysMoneyMoved
    case 'failed':
    case 'in_progress':
      return false
  }
}

/** The money that an event tells of, by the bank's own id of it; `undefined` where there is no such. */
export function movementOf(event: ReadableEvent): ReportedMovement | undefined {
  switch (event.kind) {
    case 'payment_received':
      return { ...event.payment, returnId: null }
    case 'payout_settled':
      return { ...event.movement, returnId: null }
    case 'payout_returned':
    case 'payment_returned':
      return event.isUnnamed ? undefined : { ...event.returned, endToEndId: event.endToEndId ?? '' }
    case 'changed':
    case 'failed':
    case 'in_progress':
      return undefined
  }
}

/** The money that an event tells of, also where it tells it without an id, centavos; `null`: money may have moved, it tells no amount. */
export function reportedCents(event: ReadableEvent): bigint | null {
  switch (event.kind) {
    case 'payment_received':
      return event.payment.valueCents
    case 'payout_settled':
      return event.movement.valueCents
    case 'payout_returned':
    case 'payment_returned':
      return event.returned.valueCents
    case 'changed':
      return null
    case 'failed':
    case 'in_progress':
      return 0n
  }
}

/**
 * What an event is to its operation. `undefined`: it says that nothing has happened yet. `UNTOLD`: money moved, it does not
 * say enough to book it, and the bank cannot be asked.
 */
export type InputOf<Input> = Input | 'UNTOLD' | undefined

type WithoutMoney = Extract<ReadableEvent, { kind: 'failed' | 'in_progress' | 'changed' }>

/**
 * The input that an event is to any operation, where it names no movement of money. A failure is only taken as verified
 * where the bank cannot be asked; a question is of use only where it can: else what the event says is all there will be.
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
      return event.saysMoneyMoved && !canAsk ? 'UNTOLD' : ({ on: 'work.requested' } as const)
  }
}

/**
 * The input that an event is to a cash-in.
 * @source rules#partner-inbox.9
 */
export function cashInInput(event: ChargeEvent, canAsk: boolean): InputOf<CashInInput> {
  switch (event.kind) {
    case 'payment_received':
      return { on: 'partner.confirmed', transactionId: event.references.transactionId, payment: event.payment }
    default:
      return withoutMoney(event, canAsk)
  }
}

/**
 * The input that an event is to a cash-out.
 * @source rules#partner-inbox.9
 */
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

/**
 * The input that an event is to a refund of ours.
 * @source rules#partner-inbox.9
 */
export function refundInInput(event: RefundEvent, canAsk: boolean): InputOf<RefundInInput> {
  switch (event.kind) {
    case 'payment_returned': {
      const { returned, endToEndId, isUnnamed } = event
      if (isUnnamed && canAsk) return { on: 'work.requested' }
      const { transactionId } = event.references
      return { on: 'partner.confirmed', transactionId, returned, endToEndId, isUnnamed, isVerified: !canAsk }
    }
    default:
      return withoutMoney(event, canAsk)
  }
}

/** The input that an event is to the cash-in of which the bank gave something back by itself. */
export function bankReturnOf(event: Extract<RefundEvent, { kind: 'payment_returned' }>): BankReturn {
  const { returned, endToEndId, isUnnamed, references } = event
  return { ...returned, endToEndId, isUnnamed, transactionId: references.transactionId, isVerified: false }
}

/** Waits before an event that matched nothing is matched again. @source rules#partner-inbox.8 */
export const PARKING_DELAYS_MS = [1_000, 5_000, 30_000, 60_000, 300_000, 900_000] as const

/**
 * An event that could not be applied this often is not tried again: it waits for an operator. Waits do not count.
 * @source rules#partner-inbox.14, failure-modes#EV-12, failure-modes#EV-38
 */
export const POISON_FAILURES = 10

/**
 * Which operation an event means, by everything that its references name. Pure. References agree, or the event is applied to
 * none of what they name: one that is believed against another could move the money of somebody else.
 * @source rules#partner-inbox.12, failure-modes#EV-26, failure-modes#EV-34
 */

/** What an event could mean. */
export interface Meaning {
  /** The one operation on which all references agree; `undefined` where they name none, or several. */
  readonly id: string | undefined
  /** All that are named. */
  readonly among: readonly string[]
}

/** Nothing that we know. */
export const NOTHING: Meaning = { id: undefined, among: [] }

/** What an event could mean whose references name operations of one kind. */
export function meaningOf(matches: readonly Match[]): Meaning {
  return agreeing(distinct(withoutNamesakes(matches).map(({ id }) => id)))
}

/**
 * What a reversal of a cash-in could mean: a refund of ours, which its cash-in may be named beside; or else a cash-in, of
 * which the bank gave something back by itself, once or several times.
 * @source rules#partner-inbox.10
 */
export function meaningOfReversal(refunds: readonly Match[], cashIns: readonly Match[]): Meaning {
  const found = withoutNamesakes([...refunds, ...cashIns])
  const isRefund = (match: Match) => refunds.includes(match)
  const ours = distinct(found.filter((match) => isRefund(match) && !match.isBanks).map(({ id }) => id))
  // A refund of a payment to the bare Pix key is of no cash-in.
  const cashInIds = distinct(found.flatMap((match) => (isRefund(match) ? (match.of ?? []) : match.id)))
  if (cashInIds.length > 1 || ours.length > 1) {
    const ofOurs = found.filter(({ id }) => ours.includes(id)).map(({ of }) => of)
    return { id: undefined, among: [...ours, ...cashInIds.filter((id) => !ofOurs.includes(id))] }
  }
  return agreeing([...ours, ...cashInIds].slice(0, 1))
}

/** The order id stands where the client's reference may stand: an operation whose client called it the same is not meant. */
function withoutNamesakes(matches: readonly Match[]): readonly Match[] {
  return matches.some(({ by }) => by === 'orderId') ? matches.filter(({ by }) => by !== 'externalId') : matches
}

function agreeing(among: readonly string[]): Meaning {
  return { id: among.length === 1 ? among[0] : undefined, among }
}

function distinct(ids: readonly string[]): string[] {
  return [...new Set(ids)]
}
