import { min, nanosecondText, normaliseDocument, normaliseUntypedPixKey, type PixKeyType } from '@pixgate/spec'
import type { PaidRecipient, Party, PayoutReturn } from '../banks/port.ts'
import { draftNotification, type NotificationDraft } from '../engine/follow.ts'
import type { Document, MovementId, Operation, Ordered } from '../engine/operation.ts'
import type { SendFacts } from '../operations/attempts.ts'
import type { OrderInput, Result } from '../operations/orders.ts'
import { own } from '../platform/own.ts'
import type { Approval, ApprovalInput } from './approval.ts'

/** The client's request. Immutable, so that every attempt sends the same bytes. */
export interface CashOutDetail extends Document {
  readonly description: string | null
  readonly paymentType: 'key' | 'qrcode'
  readonly recipient: CashOutRecipient
  /** The code, and the id of the bank's decoding that every attempt names. */
  readonly qrCode: { readonly pixCode: string; readonly decodeId: string } | null
}

export type CashOutRecipient = {
  readonly name: string | null
  readonly document: string | null
  /** Normalised; {@link ERASED_PIX_KEY} after erasure. */
  readonly pixKey: string
  /** `null` for a QR code, as only its bank knows the type. */
  readonly pixKeyType: PixKeyType | null
}

/** Replaces the key of a failed payout after retention. Not a valid key. */
export const ERASED_PIX_KEY = '***'

/** Instants are epoch milliseconds. */
export interface CashOutFacts extends SendFacts, RepeatedReturns {
  /** Absent: no approval is needed. */
  readonly approval?: Approval
  /** Decoding at the approval; replaces the first one in every attempt. */
  readonly decodeId?: string
  readonly dispatchedAt?: number
  /** Booked debits: end-to-end id → centavos. */
  readonly movements?: Readonly<Record<string, number>>
  /** Credited returns: return id → centavos. */
  readonly returns?: Readonly<Record<string, number>>
  /** Returns in suspense: return id → centavos. */
  readonly suspendedReturns?: Readonly<Record<string, number>>
  /** Payments and returns of this payout that are booked on another operation, by their ids, centavos. */
  readonly elsewhere?: Readonly<Record<string, number>>
  readonly confirmedAt?: number
  readonly partnerFeeCents?: number | null
  /** First tariff on the statement, booked. */
  readonly tariffCents?: number
  /** Further tariffs: tariff id → centavos. */
  readonly moreTariffs?: Readonly<Record<string, number>>
  readonly recipientName?: string | null
  readonly recipientDocument?: string | null
  readonly recipientIspb?: string | null
  readonly failureCode?: string
  readonly failureReason?: string | null
  readonly isReleased?: boolean
  /** Amounts that operators moved out of suspense, centavos: debits by end-to-end id, returns by return id. */
  readonly decidedMovements?: Readonly<Record<string, number>>
  readonly decidedReturns?: Readonly<Record<string, number>>
  /** Written off by operators, centavos: debits minus later returns; negative: more was returned. */
  readonly lossCents?: number
  /** Reserved again after a debit that followed the release, centavos. */
  readonly heldAgainCents?: number
}

export type CashOut = Operation<'cash_out', CashOutDetail, CashOutFacts> & Ordered

export function isCashOut(operation: Operation | undefined): operation is CashOut {
  return operation?.kind === 'cash_out'
}

export interface Movement {
  readonly endToEndId: string
  readonly valueCents: bigint
  readonly occurredAt: number
  readonly feeCents: bigint | undefined
  readonly recipient: Party | null | undefined
  readonly recipientDiffers?: boolean
}

/** `isVerified`: the bank reported it in an answer, not only in an event. */
export type CashOutInput = OrderInput | ConfirmedInput | ReturnedInput | TariffInput | ApprovalInput

export interface ConfirmedInput {
  readonly on: 'partner.confirmed'
  readonly movement: Movement
  /** `null` if reported by the statement. */
  readonly transactionId: string | null
  readonly isVerified: boolean
}

export interface ReturnedInput {
  readonly on: 'partner.returned'
  readonly returned: PayoutReturn
  /** The bank gave no return id and has no queries: this one is derived from its report. */
  readonly isUnnamed?: boolean
  readonly isVerified: boolean
  /** The returned payment according to the event; absent or `null` if none is named. */
  readonly endToEndId?: string | null
}

export interface TariffInput {
  readonly on: 'partner.tariff'
  /** Distinguishes tariffs of one payout; empty: the first one. */
  readonly tariffId: string
  readonly tariffCents: bigint
}

export interface CashOutOutcome {
  readonly result: Result
  readonly cashOut: CashOut
}

export function movementsOf(inputs: readonly CashOutInput[]): MovementId[] {
  return inputs.flatMap((input): MovementId[] => {
    if (input.on === 'partner.confirmed') return [{ direction: 'out', id: input.movement.endToEndId }]
    return input.on === 'partner.returned' ? [{ direction: 'in', id: input.returned.returnId }] : []
  })
}

/** An event reports a return of this payout under another payment's end-to-end id. */
export function isOfAnotherPayment(cashOut: CashOut, input: CashOutInput): boolean {
  if (input.on !== 'partner.returned' || input.endToEndId == null || cashOut.endToEndId === null) return false
  return input.endToEndId !== cashOut.endToEndId && bookedReturn(cashOut, input.returned.returnId) === undefined
}

export function namesPayout(cashOut: CashOut, { endToEndId = null }: ReturnedInput): boolean {
  return endToEndId !== null && endToEndId === cashOut.endToEndId
}

/**
 * The paid document differs from the recipient's, as decoded or given. Many banks mask it, which proves nothing.
 * @source rules#cash-out.states.12
 */
export function paidElsewhere({ detail }: CashOut, { recipient }: Movement): boolean {
  const [wanted, paid] = documentsOf(detail.recipient, recipient)
  return wanted != null && paid != null && wanted !== paid
}

/**
 * The bank paid another recipient than the decoded one: by the document, or by the key if a document is missing or
 * masked. A masked key proves nothing.
 * @source rules#cash-out.qrcode.9
 */
export function isOtherRecipient(wanted: CashOutRecipient, paid: PaidRecipient | undefined): boolean {
  const [wantedDocument, paidDocument] = documentsOf(wanted, paid)
  if (wantedDocument != null && paidDocument != null) return wantedDocument !== paidDocument
  if (paid?.pixKey === undefined || paid.pixKey === wanted.pixKey || wanted.pixKey === ERASED_PIX_KEY) return false
  const paidKey = normaliseUntypedPixKey(paid.pixKey, wantedDocument ?? null)
  return paidKey !== null && paidKey !== wanted.pixKey
}

/** The bank reports the recipient's complete document. */
export function isSameDocument(
  wanted: Pick<CashOutRecipient, 'document'>,
  paid: Pick<Party, 'document'> | undefined,
): boolean {
  const [wantedDocument, paidDocument] = documentsOf(wanted, paid)
  return wantedDocument != null && wantedDocument === paidDocument
}

function documentsOf(wanted: Pick<CashOutRecipient, 'document'>, paid: Pick<Party, 'document'> | null | undefined) {
  return [wanted.document, paid?.document].map((text) => normaliseDocument(text ?? ''))
}

/** Amount booked under a return id, credited or in suspense, centavos. */
export function bookedReturn({ facts }: CashOut, returnId: string): bigint | undefined {
  const cents = own(facts.returns, returnId) ?? own(facts.suspendedReturns, returnId)
  return cents === undefined ? undefined : BigInt(cents)
}

/**
 * A return without an id may equal a booked one, and one with an id may equal one booked without.
 * @source rules#cash-out.reversal.5
 */
export function mayBeBooked({ facts }: CashOut, { returned, isUnnamed }: ReturnedInput): boolean {
  const { returns, suspendedReturns, unnamedReturns } = facts
  const likely = isUnnamed ? { ...returns, ...suspendedReturns } : unnamedReturns
  return Object.values(likely ?? {}).includes(Number(returned.valueCents))
}

/** Amount booked under an end-to-end id, centavos. */
export function bookedMovement({ facts }: CashOut, endToEndId: string): bigint | undefined {
  const cents = own(facts.movements, endToEndId)
  return cents === undefined ? undefined : BigInt(cents)
}

export function leftCents({ movements }: CashOutFacts): bigint {
  return Object.values(movements ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

export function reversedCents({ returns }: CashOutFacts): bigint {
  return Object.values(returns ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

/** Returns that the bank may have reported twice, without an id and then with one: in a case, not booked. */

/** Stored under the names of the first version. @see docs/adr/0021 */
export type RepeatedReturns = {
  /** Returns in suspense reported without an id only: derived id → centavos. */
  readonly unnamedReturns?: Readonly<Record<string, number>>
  /** Possible repetitions of those with an id, in a case only: return id → centavos. */
  readonly returnsToldAgain?: Readonly<Record<string, number>>
}

export function repeatedReturn({ returnsToldAgain }: RepeatedReturns, returnId: string): number | undefined {
  return own(returnsToldAgain, returnId)
}

/** Records the repetition of a return reported without an id; another return of this amount is a new one. */
export function afterRepeatedReturn(
  { unnamedReturns = {}, returnsToldAgain }: RepeatedReturns,
  returned: { readonly returnId: string; readonly valueCents: bigint },
): RepeatedReturns {
  const cents = Number(returned.valueCents)
  const likely = Object.keys(unnamedReturns).find((name) => own(unnamedReturns, name) === cents)
  return {
    unnamedReturns: Object.fromEntries(Object.entries(unnamedReturns).filter(([name]) => name !== likely)),
    returnsToldAgain: { ...returnsToldAgain, [returned.returnId]: cents },
  }
}

/** Suspense and reservation of a payout. Pure. @source rules#cases.7 */

/** Suspense of a debit, centavos; zero for the one that confirmed the payout. */
export function suspendedDeparture({ endToEndId, facts }: CashOut, reference: string): bigint {
  if (reference === endToEndId) return 0n
  return leftOver(facts.movements, facts.decidedMovements, reference)
}

export function suspendedArrival({ facts }: CashOut, reference: string): bigint {
  return leftOver(facts.suspendedReturns, facts.decidedReturns, reference)
}

export function hasSuspended(cashOut: CashOut): boolean {
  return Object.keys(cashOut.facts.movements ?? {}).some((id) => suspendedDeparture(cashOut, id) > 0n)
}

/** Reserved now, centavos. */
export function heldCents({ endToEndId, valueCents, feeCents, facts }: CashOut): bigint {
  if (endToEndId !== null || facts.isReleased) return 0n
  return facts.heldAgainCents === undefined ? valueCents + feeCents : BigInt(facts.heldAgainCents)
}

/** Rule that opens the case of a debit after the release. */
export const LEFT_AFTER_RELEASE = 'cash-out.ended.2'

/** Reserved again for the case's debit, centavos; released when the debit is returned or written off. */
export function heldAgainCents(cashOut: CashOut, rule: string): bigint {
  return rule === LEFT_AFTER_RELEASE ? heldCents(cashOut) : 0n
}

/** Debits now when a payout is confirmed from suspense: available and held money pays. */
export function takenNow(cashOut: CashOut, leftCents: bigint, availableCents: bigint) {
  const there = availableCents + heldCents(cashOut)
  const d = min(there, leftCents)
  return { d, g: min(there - d, cashOut.feeCents) }
}

/**
 * Crediting this would exceed the amount that left as the payout, which may differ from its value if an operator
 * confirmed it.
 * @source rules#cash-out.reversal.2
 */
export function exceedsPayout({ endToEndId, valueCents, facts }: CashOut, cents: bigint): boolean {
  const leftCents = own(facts.movements, endToEndId ?? '')
  return reversedCents(facts) + cents > (leftCents === undefined ? valueCents : BigInt(leftCents))
}

/** A return may recover another payment that was written off. @source rules#cash-out.reversal.2 */
export function hasLoss({ facts: { lossCents = 0 } }: CashOut): boolean {
  return lossCents > 0
}

function leftOver(booked: CashOutFacts['movements'], decided: CashOutFacts['movements'], reference: string): bigint {
  return BigInt((own(booked, reference) ?? 0) - (own(decided, reference) ?? 0))
}

/**
 * Notification of a payout's end or return, whether the bank reported it or an operator decided it. A release is
 * notified as `FAILED`.
 * @param changed what is not on the payout yet; a return has its id and amount
 * @source rules#events.3, rules#events.5, rules#cases.8
 */
export function cashOutNotification(
  cashOut: CashOut,
  isConfirmed: boolean,
  changed: {
    readonly occurredAt: number
    readonly endToEndId?: string | undefined
    readonly transactionId?: string | null
    readonly returned?: { readonly returnId: string; readonly valueCents: bigint } | undefined
  },
): NotificationDraft {
  const { returned } = changed
  const event = {
    id: cashOut.id,
    correlation_id: cashOut.correlationId,
    external_id: cashOut.externalId,
    transaction_id: cashOut.transactionId ?? changed.transactionId ?? null,
    status: isConfirmed ? 'CONFIRMED' : 'FAILED',
    value_cents: Number(returned?.valueCents ?? cashOut.valueCents),
    end_to_end_id: changed.endToEndId ?? cashOut.endToEndId,
    fee_amount_cents: isConfirmed ? Number(cashOut.feeCents) : 0,
    confirmed_at: nanosecondText(changed.occurredAt),
    created_at: nanosecondText(cashOut.createdAt),
  } as const
  return returned
    ? draftNotification('pix_cash_out_reversal', { ...event, status: 'REVERSED' }, returned.returnId)
    : draftNotification('pix_cash_out', event)
}
