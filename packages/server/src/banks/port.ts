import type { PartnerEntryKind, PixKeyType } from '@pixgate/spec'

/**
 * Calls to a bank. A connector implements all of them: {@link PartnerCapability} lists those that its bank supports,
 * `lacking` has the rest. A module depends only on the part it uses.
 *
 * Answers are values; nothing throws because of the bank or the network. Instants are epoch milliseconds of true time:
 * a connector removes the offset of its bank's timestamps.
 * @source rules#partner.3
 */
export interface Partner extends ChargePartner, PayoutPartner, RefundPartner, StatementPartner, BalancePartner {}

export type BankCall = Exclude<
  keyof Partner,
  'capabilities' | 'idempotencyWindowMs' | 'statementDelayMs' | 'clockOffset' | 'unlistedFees'
>

/**
 * Optional capabilities of a bank. Without `charge`, `payout`, `refund` or `decode-qr-code` a request that needs it is refused. Without `idempotent-…`
 * an order with an unknown result is never sent again, since that could create two payable codes (failure-modes#CI-6)
 * or pay twice. A charge that cannot be cancelled expires at the bank.
 * @source rules#partner.10
 */
export type PartnerCapability =
  | 'charge'
  | 'idempotent-charge'
  | 'query-charge'
  | 'cancel-charge'
  | 'payout'
  | 'idempotent-payout'
  | 'query-payout'
  | 'decode-qr-code'
  | 'refund'
  | 'idempotent-refund'
  | 'query-refund'
  | 'statement'
  | 'balance'

interface Capable {
  readonly capabilities: ReadonlySet<PartnerCapability>
}

interface OrderPartner extends Capable {
  /**
   * Time for which a bank with `idempotent-payout` or `idempotent-refund` recognises an id. An order that may have
   * arrived is not sent again later.
   * @source rules#cash-out.unknown.7
   */
  readonly idempotencyWindowMs: number
}

export interface ChargePartner extends Capable {
  /**
   * Creates a payable charge: one attempt. `id` is the order id and the idempotency key, the same on every attempt.
   * @param deadline ends the attempt early; before the first byte the answer is `NOT_SENT`
   */
  createCharge(id: string, request: ChargeRequest, deadline?: AbortSignal): Promise<ChargeAnswer>
  /** Queries our id. A charge on other terms is `CONTRADICTED`. */
  getCharge(id: string, terms: ChargeTerms, deadline?: AbortSignal): Promise<ChargeQueryAnswer>
  /** Makes a charge unpayable. After `REJECTED` it may already have been paid: query it. */
  cancelCharge(id: string, deadline?: AbortSignal): Promise<CancelAnswer>
}

export interface PayoutPartner extends OrderPartner {
  /**
   * Orders a payout: one attempt, like {@link ChargePartner.createCharge}.
   * @param window checked right before the first byte: once over, the answer is `NOT_SENT`
   */
  sendPayout(id: string, request: PayoutRequest, window?: SendWindow): Promise<PayoutAnswer>
  /** Queries our id. A payout on other terms is `CONTRADICTED`, even after execution. */
  getPayout(id: string, terms: PayoutTerms, deadline?: AbortSignal): Promise<PayoutQueryAnswer>
  /**
   * Decodes a QR code. Changes nothing at the bank, but each answer has its own `decodeId`: a payout is repeated with
   * that of its first attempt (failure-modes#QR-6).
   * @param asker the API key or operator; see {@link QrCodeAvailability}
   */
  decodeQrCode(pixCode: string, deadline?: AbortSignal, asker?: string): Promise<QrCodeAnswer>
}

export interface RefundPartner extends OrderPartner {
  /** Orders the full or partial return of a payment: one attempt, like {@link PayoutPartner.sendPayout}. */
  sendRefund(id: string, request: RefundRequest, window?: SendWindow): Promise<RefundAnswer>
  /** Queries our id. A refund on other terms is `CONTRADICTED`. */
  getRefund(id: string, terms: RefundTerms, deadline?: AbortSignal): Promise<RefundQueryAnswer>
}

/** The statement of our account: every movement, even without an event. */
export interface StatementPartner extends Capable {
  /**
   * Maximum delay of a movement in the statement, in milliseconds: many lists are late. A booked movement missing for
   * longer is a difference.
   * @source rules#statement.8
   */
  readonly statementDelayMs: StatementDelay
  /** Absent if the bank's timestamps have no offset from true time. */
  readonly clockOffset?: ClockOffset
  readStatement(query: StatementQuery, deadline?: AbortSignal): Promise<StatementAnswer>
}

export interface BalancePartner extends Capable {
  /** Upper bound of fees that are deducted from the balance but missing in the statement; absent: none. */
  readonly unlistedFees?: UnlistedFees
  readBalance(deadline?: AbortSignal): Promise<BalanceAnswer>
}

/**
 * Period in which an order may be sent. Checked in the turn in which the first byte is written, by a clock that goes on
 * while the process is suspended.
 * @source failure-modes#CO-40
 */
export interface SendWindow {
  isOver(): boolean
}

/** Keeps payouts and refunds unclaimed while the bank accepts none. */
export interface Availability {
  /** Number of orders to send at once: none during an outage or refusal, one to test the bank. */
  allowedSends(): number
}

/** Lets clients be answered without waiting while the bank creates no charges. */
export interface ChargeAvailability {
  /** Number of charges to request at once, like {@link Availability.allowedSends}. */
  allowedCharges(): number
}

/** Lets clients be answered without waiting while the bank decodes none of their QR codes. */
export interface QrCodeAvailability {
  /**
   * Number of decodings to request at once, like {@link Availability.allowedSends}.
   * @param asker the API key or operator; absent: the minimum over all
   */
  allowedQrCodes(asker?: string): number
}

/** Fields that the bank must echo. */
export interface ChargeTerms {
  readonly valueCents: bigint
  readonly expiresAt: number
  /** {@link Charge.stampOffsetMs}, if it was measured at the creation. */
  readonly stampOffsetMs?: number
}

/** A request for a charge, equal on every attempt except for its time. */
export interface ChargeRequest extends ChargeTerms {
  /** Time of this attempt by our clock. Banks that count seconds from their creation get those left at this time. */
  readonly askedAt: number
  /** An earlier attempt may have created the charge, so the bank's creation timestamp may be old. */
  readonly isRepeated?: boolean
  readonly description?: string
  readonly payer?: { readonly name: string; readonly document: string }
  readonly merchant: { readonly pixKey: string; readonly name: string; readonly city: string }
}

/** Status at the bank. Only `ACTIVE` can still change by itself. */
export type ChargeStatus = 'ACTIVE' | FinalChargeStatus
type FinalChargeStatus = 'PAID' | 'CANCELLED' | 'EXPIRED' | 'FAILED'

export interface Charge<Status extends ChargeStatus = ChargeStatus> extends ChargeTerms {
  readonly id: string
  readonly transactionId: string
  readonly status: Status
  /** The BR Code, unverified; an ended charge may have none. */
  readonly pixCode: string | undefined
  /** At least one for `PAID`. Other statuses may have some too; money takes precedence over the status. */
  readonly payments: readonly Payment[]
  /** Offset of the bank's timestamps in milliseconds, only in the answer that created the charge. */
  readonly stampOffsetMs?: number
}

export interface Payment {
  readonly endToEndId: string
  readonly valueCents: bigint
  /** Time reported by the bank. */
  readonly occurredAt: number
  readonly payer: Party
  /** Creation of its charge by the same clock of the bank, if known. */
  readonly chargedAt?: number
  /** Absent if unknown. */
  readonly returns?: readonly PaymentReturn[]
}

/** Full or partial return of a payment. */
export interface PaymentReturn extends PayoutReturn {
  readonly transactionId: string
  /** Initiator, according to the bank. */
  readonly origin: 'MERCHANT' | 'BANK'
}

/** Counterparty of a movement, as far as the bank names it. */
export interface Party {
  readonly name: string | undefined
  readonly document: string | undefined
  readonly ispb: string | undefined
}

/** Fields that the bank must echo; the key only if it names one. */
export interface PayoutTerms {
  readonly valueCents: bigint
  readonly pixKey?: string | undefined
}

/** A request for a payout, equal on every attempt. */
export type PayoutRequest = KeyPayoutRequest | QrCodePayoutRequest

interface AnyPayoutRequest {
  readonly valueCents: bigint
  readonly description?: string
}

export interface KeyPayoutRequest extends AnyPayoutRequest {
  readonly recipient: PayoutRecipient
}

/** A payout for a QR code, as the bank decoded it. */
export interface QrCodePayoutRequest extends AnyPayoutRequest {
  readonly pixCode: string
  readonly decodeId: string
}

/** A recipient. Given a document, a bank refuses a key of another owner. */
export interface PayoutRecipient {
  /** Normalised. */
  readonly pixKey: string
  readonly pixKeyType: PixKeyType
  readonly name?: string
  readonly document?: string
}

/** Status at the bank. `PROCESSING` can still change by itself, and `CONFIRMED` can be returned. */
export type PayoutStatus = 'PROCESSING' | 'CONFIRMED' | 'FAILED' | 'RETURNED'

export interface Payout<Status extends PayoutStatus = PayoutStatus> extends OrderAtBank<Status> {
  /** The bank's own tariff: evidence. */
  readonly feeCents: bigint | undefined
  readonly endToEndId: string | undefined
  readonly recipient: PaidRecipient | undefined
  /** At least one for `RETURNED`; other statuses may have some too. */
  readonly returns: readonly PayoutReturn[]
}

interface OrderAtBank<Status> {
  readonly id: string
  readonly transactionId: string
  readonly status: Status
  readonly valueCents: bigint
  readonly errorCode: string | undefined
  /** Printable, at most 200 characters. */
  readonly errorMessage: string | undefined
  /** Time of the end. */
  readonly occurredAt: number | undefined
}

export interface PaidRecipient extends Party {
  readonly pixKey: string | undefined
}

export interface SettledPayout extends Payout<'CONFIRMED' | 'RETURNED'> {
  readonly endToEndId: string
  readonly occurredAt: number
}

export interface PayoutReturn {
  readonly returnId: string
  readonly valueCents: bigint
  /** Time reported by the bank. */
  readonly occurredAt: number
}

export interface QrCode {
  readonly decodeId: string
  /** `undefined` if the payer chooses. */
  readonly valueCents: bigint | undefined
  readonly txid: string
  /** Only `ACTIVE` can be paid. */
  readonly status: ChargeStatus
  readonly expiresAt: number | undefined
  /**
   * `pixKey` is spelled as in the code. The payout normalises it, so that caps see the same recipient as in a payout to
   * the key. A code without a valid key is not payable.
   * @source rules#cash-out.qrcode.7
   */
  readonly recipient: { readonly name: string; readonly document: string; readonly pixKey: string }
}

/** The value, which the bank must echo, and the end-to-end id of the payment, by which some banks find the refund. */
export interface RefundTerms {
  readonly valueCents: bigint
  readonly endToEndId: string
}

/** A request for a refund, equal on every attempt. */
export interface RefundRequest extends RefundTerms {
  readonly reason?: string
}

/** Status at the bank. Only `PROCESSING` can still change by itself. */
export type RefundStatus = 'PROCESSING' | 'CONFIRMED' | 'FAILED'

export interface Refund<Status extends RefundStatus = RefundStatus> extends OrderAtBank<Status> {
  readonly returnId: string | undefined
}

export interface SettledRefund extends Refund<'CONFIRMED'> {
  readonly returnId: string
  readonly occurredAt: number
}

export interface StatementQuery {
  /** By the bank's booking time, inclusive. */
  readonly from: number
  /** Exclusive. */
  readonly to: number
  /** `nextCursor` of the previous page; `null` for the first page. */
  readonly cursor: string | null
}

export interface StatementPage {
  readonly entries: readonly StatementEntry[]
  readonly nextCursor: string | null
  /** Name of the list, if the statement consists of several. */
  readonly list?: string
  readonly unreadable?: readonly UnreadableItem[]
  /** The list reaches further back than the window: movements before our first reading are ignored. */
  readonly reachesBeforeWindow?: boolean
}

/** Item of a list that the connector cannot read. */
export interface UnreadableItem {
  /** Name of the list, as {@link StatementPage.list}. */
  readonly list: string
  /** The item without personal data, shown in its case. */
  readonly json: string
  /** The member that is missing or invalid. */
  readonly member: string
}

export interface StatementEntry {
  readonly kind: PartnerEntryKind
  readonly direction: 'in' | 'out'
  /**
   * End-to-end id of a payment or payout, or the return id of a return. A connector gives a tariff the `reference` of its
   * payout; before it is stored, `withTariffNames` makes the id unique if the payout has several tariffs.
   */
  readonly movementId: string
  /** Of the payment or payout, also in its returns. */
  readonly endToEndId: string
  /** Our id, if the bank repeats it. */
  readonly reference: string
  readonly valueCents: bigint
  /** Time reported by the bank. */
  readonly occurredAt: number
}

export type StatementDelay = Readonly<Record<Exclude<StatementEntry['kind'], 'TARIFF'>, number>>

/** Offset of a bank's timestamps from true time in milliseconds; stored with the statement for the next process. */
export interface ClockOffset {
  /** The last measured offset, or else the stored one. */
  offsetMs(): number | undefined
  /** Sets the stored offset; a measured one takes precedence. */
  assume(offsetMs: number): void
}

export interface BankBalance {
  /** Without money that the bank reserves for orders in progress. */
  readonly availableCents: bigint
  /** By the statement's booking time, if known. */
  readonly asOf: number | null
  /** Blocked by the bank (a court, a contested payment) and perhaps already deducted. */
  readonly blockedCents?: bigint
}

export interface UnlistedFees {
  readonly centsPerMovement: bigint
  readonly percent: bigint
}

export type ChargeAnswer = SendAnswer<ReportedCharge>
export type ChargeQueryAnswer = QueryAnswer<ReportedCharge>
export type CancelAnswer = { readonly kind: 'CANCELLED' } | Rejected | NotFound | NotSent | Unknown
export type PayoutAnswer = SendAnswer<ReportedPayout> & {
  /** The QR code could not be decoded or paid: says nothing about whether the bank accepts orders. */
  readonly isQrCodeFault?: true
}
export type PayoutQueryAnswer = QueryAnswer<ReportedPayout>
export type QrCodeAnswer = { readonly kind: 'DECODED'; readonly qrCode: QrCode } | Rejected | NotSent | Unknown
export type RefundAnswer = SendAnswer<ReportedRefund>
export type RefundQueryAnswer = QueryAnswer<ReportedRefund>
export type StatementAnswer = { readonly kind: 'READ'; readonly page: StatementPage } | NotSent | Unknown
export type BalanceAnswer = { readonly kind: 'READ'; readonly balance: BankBalance } | NotSent | Unknown

export type SendAnswer<Report extends AnyReported> = (Report & FoundEarlier) | Rejected | NotSent | Unknown
export type QueryAnswer<Report extends AnyReported> = Report | NotFound | NotSent | Unknown

/** Origin of an order at the bank. */
export interface FoundEarlier {
  /** It existed under this id before this attempt: a query found it. */
  readonly alreadyExisted?: true
}

export interface AnyReported {
  readonly kind: 'ACCEPTED' | 'FINAL' | 'CONTRADICTED'
}
export type ReportedCharge = Reported<
  { readonly charge: Charge<'ACTIVE'> },
  { readonly charge: Charge<FinalChargeStatus> },
  { readonly charge: Charge }
>
export type ReportedPayout = Reported<
  { readonly payout: Payout<'PROCESSING'> },
  { readonly payout: SettledPayout | Payout<'FAILED'> },
  { readonly payout: Payout }
>
export type ReportedRefund = Reported<
  { readonly refund: Refund<'PROCESSING'> },
  { readonly refund: SettledRefund | Refund<'FAILED'> },
  { readonly refund: Refund }
>

/**
 * The order exists as requested, in progress or ended; or another one exists, which is evidence and must not be shown.
 */
type Reported<Open, Ended, Other> =
  | ({ readonly kind: 'ACCEPTED' } & Open)
  | ({ readonly kind: 'FINAL' } & Ended)
  /** `reason` is for people: `other valueCents`. */
  | ({ readonly kind: 'CONTRADICTED'; readonly reason: string } & Other)

/** A definite refusal: nothing happened at the bank. */
export interface Rejected {
  readonly kind: 'REJECTED'
  readonly errorCode: string
  /** Printable, at most 200 characters. */
  readonly errorMessage: string | undefined
}

/** The bank has never seen this id. */
export interface NotFound {
  readonly kind: 'NOT_FOUND'
}

/** No byte of this attempt was sent: it has no effect. */
export interface NotSent {
  readonly kind: 'NOT_SENT'
  /** `ECONNREFUSED`, `timeout`. */
  readonly reason: string
  /** Status with which the bank refused a token: further calls are useless for now. */
  readonly httpStatus?: number | undefined
  /** Remaining pause requested by the bank in milliseconds, if that is the reason. */
  readonly retryAfterMs?: number
}

/** Executed or not. Never a reason to release money or to order under another id. */
export interface Unknown {
  readonly kind: 'UNKNOWN'
  /** `timeout`, `HTTP 502`. */
  readonly reason: string
  /** Status, if the bank answered. After a 401 or 429 further calls are useless for now. */
  readonly httpStatus: number | undefined
}

/** The fields of any answer that breaker, log and metrics read. */
export interface AnyAnswer {
  readonly kind: string
  readonly reason?: string
  readonly errorCode?: string
  readonly httpStatus?: number | undefined
  readonly retryAfterMs?: number
  readonly isQrCodeFault?: boolean
}
