import { min, normaliseDocument, normaliseUntypedPixKey, type PixKeyType } from '@pixgate/spec'
import type { PaidRecipient, Party, PayoutReturn } from '../banks/port.ts'
import type { Document, MovementId, Operation, Ordered } from '../engine/operation.ts'
import type { SendFacts } from '../operations/attempts.ts'
import type { OrderInput, Result } from '../operations/orders.ts'
import { own } from '../platform/own.ts'
import type { Approval, ApprovalInput } from './approval.ts'

/** A cash-out as the engine keeps it, and everything that can happen to it. */

/** What the client asked for and the bank is told: never changes, so that every attempt is the same. */
export interface CashOutDetail extends Document {
  readonly description: string | null
  readonly paymentType: 'key' | 'qrcode'
  readonly recipient: CashOutRecipient
  /** The code, and the bank's decoding of it that every attempt names. */
  readonly qrCode: { readonly pixCode: string; readonly decodeId: string } | null
}

/** Who is to be paid. */
export type CashOutRecipient = {
  readonly name: string | null
  readonly document: string | null
  /** Normalised; {@link ERASED_PIX_KEY} once it was erased. */
  readonly pixKey: string
  /** `null` for a QR code: its bank knows the type. */
  readonly pixKeyType: PixKeyType | null
}

/** What stands for the key of a payout that ended without money, once its time is over. No key is this. */
export const ERASED_PIX_KEY = '***'

/** What became known since. Instants are epoch milliseconds. */
export interface CashOutFacts extends SendFacts, RepeatedReturns {
  /** Who has yet to approve it, and who has; absent: nobody need. */
  readonly approval?: Approval
  /** Of the code as it was decoded when the payout was approved; every attempt names it in place of the one before. */
  readonly decodeId?: string
  readonly dispatchedAt?: number
  /** Money that left, and was booked: end-to-end id → centavos. */
  readonly movements?: Readonly<Record<string, number>>
  /** Money that came back, and was credited: return id → centavos. */
  readonly returns?: Readonly<Record<string, number>>
  /** Returns that are in suspense: return id → centavos. */
  readonly suspendedReturns?: Readonly<Record<string, number>>
  /** Payments and returns that the bank tells of it and another operation has, by their ids, centavos. */
  readonly elsewhere?: Readonly<Record<string, number>>
  readonly confirmedAt?: number
  /** What the bank says it took: evidence. */
  readonly partnerFeeCents?: number | null
  /** What the bank took for it by its statement, and was booked. */
  readonly tariffCents?: number
  /** Whatever else it took for it: tariff id → centavos. */
  readonly moreTariffs?: Readonly<Record<string, number>>
  readonly recipientName?: string | null
  readonly recipientDocument?: string | null
  readonly recipientIspb?: string | null
  readonly failureCode?: string
  readonly failureReason?: string | null
  /** The reservation was given back. */
  readonly isReleased?: boolean
  /** What operators took from suspense, centavos: of what left by end-to-end id, of what came back by return id. */
  readonly decidedMovements?: Readonly<Record<string, number>>
  readonly decidedReturns?: Readonly<Record<string, number>>
  /** What operators wrote off of it, centavos: of what left, less what came back since; negative: more came back. */
  readonly lossCents?: number
  /** What was reserved again after money had left nevertheless, centavos. */
  readonly heldAgainCents?: number
}

/** A cash-out as the engine keeps it. */
export type CashOut = Operation<'cash_out', CashOutDetail, CashOutFacts> & Ordered

/** Whether an operation is a cash-out. */
export function isCashOut(operation: Operation | undefined): operation is CashOut {
  return operation?.kind === 'cash_out'
}

/** Money that left. */
export interface Movement {
  readonly endToEndId: string
  readonly valueCents: bigint
  /** The partner's word. */
  readonly occurredAt: number
  readonly feeCents: bigint | undefined
  readonly recipient: Party | null | undefined
  /** It went to somebody else than asked for. */
  readonly recipientDiffers?: boolean
}

/** What can happen to a cash-out after its creation. `isVerified`: the bank said it when asked, not only in an event. */
export type CashOutInput = OrderInput | ConfirmedInput | ReturnedInput | TariffInput | ApprovalInput

/** Money of a payout left. */
export interface ConfirmedInput {
  readonly on: 'partner.confirmed'
  readonly movement: Movement
  /** `null` where the statement tells it. */
  readonly transactionId: string | null
  readonly isVerified: boolean
}

/** Money of a payout came back. */
export interface ReturnedInput {
  readonly on: 'partner.returned'
  readonly returned: PayoutReturn
  /** The bank told no return id, and cannot be asked: the one here was made of what it told. */
  readonly isUnnamed?: boolean
  readonly isVerified: boolean
  /** Of the payment that an event says came back; absent or `null` where none is named. */
  readonly endToEndId?: string | null
}

/** The statement shows what the bank took for a payout. */
export interface TariffInput {
  readonly on: 'partner.tariff'
  /** Tells the tariffs of one payout apart; empty: the first that its statement showed. */
  readonly tariffId: string
  readonly tariffCents: bigint
}

/** What became of a cash-out by an input. */
export interface CashOutOutcome {
  readonly result: Result
  /** The cash-out as it is now. */
  readonly cashOut: CashOut
}

/** The movements that inputs tell of. */
export function movementsOf(inputs: readonly CashOutInput[]): MovementId[] {
  return inputs.flatMap((input): MovementId[] => {
    if (input.on === 'partner.confirmed') return [{ direction: 'out', id: input.movement.endToEndId }]
    return input.on === 'partner.returned' ? [{ direction: 'in', id: input.returned.returnId }] : []
  })
}

/** Whether an event tells a return, of this payout by its other references, by the end-to-end id of another payment. */
export function isOfAnotherPayment(cashOut: CashOut, input: CashOutInput): boolean {
  if (input.on !== 'partner.returned' || input.endToEndId == null || cashOut.endToEndId === null) return false
  return input.endToEndId !== cashOut.endToEndId && bookedReturn(cashOut, input.returned.returnId) === undefined
}

/** Whether a return is told to be of the payment by which the payout was confirmed. */
export function namesPayout(cashOut: CashOut, { endToEndId = null }: ReturnedInput): boolean {
  return endToEndId !== null && endToEndId === cashOut.endToEndId
}

/**
 * Whether a payment went to somebody else than the document of its recipient says: the one that a code was decoded to, or
 * that the client gave. Many banks tell a masked one, which proves nothing.
 * @source rules#cash-out.states.12
 */
export function paidElsewhere({ detail }: CashOut, { recipient }: Movement): boolean {
  const [wanted, paid] = documentsOf(detail.recipient, recipient)
  return wanted != null && paid != null && wanted !== paid
}

/**
 * Whether the bank paid another recipient than a code was decoded to: by the document, or by the key where a document is missing or
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

/** Whether the bank tells the document of the recipient, whole. */
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

/** What was booked before under a return's id, centavos: credited, or in suspense. */
export function bookedReturn({ facts }: CashOut, returnId: string): bigint | undefined {
  const cents = own(facts.returns, returnId) ?? own(facts.suspendedReturns, returnId)
  return cents === undefined ? undefined : BigInt(cents)
}

/**
 * Whether a return that is told without its id may be one that was booked, or one told with its id may be one that was
 * booked without.
 * @source rules#cash-out.reversal.5
 */
export function mayBeBooked({ facts }: CashOut, { returned, isUnnamed }: ReturnedInput): boolean {
  const { returns, suspendedReturns, unnamedReturns } = facts
  const likely = isUnnamed ? { ...returns, ...suspendedReturns } : unnamedReturns
  return Object.values(likely ?? {}).includes(Number(returned.valueCents))
}

/** What was booked before under an end-to-end id, centavos. */
export function bookedMovement({ facts }: CashOut, endToEndId: string): bigint | undefined {
  const cents = own(facts.movements, endToEndId)
  return cents === undefined ? undefined : BigInt(cents)
}

/** All that was booked as having left, centavos. */
export function leftCents({ movements }: CashOutFacts): bigint {
  return Object.values(movements ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

/** What came back so far and was credited, centavos. */
export function reversedCents({ returns }: CashOutFacts): bigint {
  return Object.values(returns ?? {}).reduce((sum, cents) => sum + BigInt(cents), 0n)
}

/** Returns that the bank may have reported twice, first without an id and then with one: in a case, not in the books. */

/** The facts in which the database keeps them, under their names of the first version. @see docs/adr/0021 */
export type RepeatedReturns = {
  /** Returns in suspense that were reported without an id, and not with one since: the name that stands for it → centavos. */
  readonly unnamedReturns?: Readonly<Record<string, number>>
  /** What may be one of the returns without an id, reported with its id, and is in a case only: return id → centavos. */
  readonly returnsToldAgain?: Readonly<Record<string, number>>
}

/** What was reported before under a return's id and is in a case only, centavos. */
export function repeatedReturn({ returnsToldAgain }: RepeatedReturns, returnId: string): number | undefined {
  return own(returnsToldAgain, returnId)
}

/** Facts after a return that may be one that was reported without its id; the next one of this amount is another. */
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

/** What of a payout is in suspense and set aside now. Pure. @source rules#cases.7 */

/** Of money that left by this end-to-end id, centavos: nothing where it confirmed the payout. */
export function suspendedDeparture({ endToEndId, facts }: CashOut, reference: string): bigint {
  if (reference === endToEndId) return 0n
  return leftOver(facts.movements, facts.decidedMovements, reference)
}

/** Of money that came back by this return id, centavos. */
export function suspendedArrival({ facts }: CashOut, reference: string): bigint {
  return leftOver(facts.suspendedReturns, facts.decidedReturns, reference)
}

/** Whether any money that left for it is in suspense. */
export function hasSuspended(cashOut: CashOut): boolean {
  return Object.keys(cashOut.facts.movements ?? {}).some((id) => suspendedDeparture(cashOut, id) > 0n)
}

/** What is set aside of it now, centavos. */
export function heldCents({ endToEndId, valueCents, feeCents, facts }: CashOut): bigint {
  if (endToEndId !== null || facts.isReleased) return 0n
  return facts.heldAgainCents === undefined ? valueCents + feeCents : BigInt(facts.heldAgainCents)
}

/** The rule that opens a case of money that left after its release. */
export const LEFT_AFTER_RELEASE = 'cash-out.ended.2'

/** What was held again for the money of a case, centavos: it is free where that came back or is a loss. */
export function heldAgainCents(cashOut: CashOut, rule: string): bigint {
  return rule === LEFT_AFTER_RELEASE ? heldCents(cashOut) : 0n
}

/** What confirming by money in suspense takes of it and of the fee now: what is free and held pays. */
export function takenNow(cashOut: CashOut, leftCents: bigint, availableCents: bigint) {
  const there = availableCents + heldCents(cashOut)
  const d = min(there, leftCents)
  return { d, g: min(there - d, cashOut.feeCents) }
}

/**
 * Whether crediting this would make more come back than left as the payout, which is another amount than its value where an
 * operator confirmed it so.
 * @source rules#cash-out.reversal.2
 */
export function exceedsPayout({ endToEndId, valueCents, facts }: CashOut, cents: bigint): boolean {
  const leftCents = own(facts.movements, endToEndId ?? '')
  return reversedCents(facts) + cents > (leftCents === undefined ? valueCents : BigInt(leftCents))
}

/** Whether what comes back of it may pay back another payment of it, which was written off. @source rules#cash-out.reversal.2 */
export function hasLoss({ facts: { lossCents = 0 } }: CashOut): boolean {
  return lossCents > 0
}

function leftOver(booked: CashOutFacts['movements'], decided: CashOutFacts['movements'], reference: string): bigint {
  return BigInt((own(booked, reference) ?? 0) - (own(decided, reference) ?? 0))
}
