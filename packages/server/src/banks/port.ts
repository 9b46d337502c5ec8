import type { PartnerEntryKind, PixKeyType } from '@pixgate/spec'

/**
 * What a bank is asked. A connector implements all of it, with {@link PartnerCapability} for what its bank can do and
 * `lacking.ts` for the rest; a module names the part that it uses.
 *
 * A bank's answer is a value; nothing here throws because of what a bank or the network does.
 * @source rules#partner.3
 */
export interface Partner extends ChargePartner, PayoutPartner, RefundPartner, StatementPartner, BalancePartner {}

/** Charges: money that is to come in. */
export interface ChargePartner extends Capable {
  /**
   * Makes a payable charge: one try. `id` is the order id and the idempotency key: the same on every attempt.
   * @param deadline ends the try early; passed before the first byte is sent, the answer is `NOT_SENT`
   */
  createCharge(id: string, request: ChargeRequest, deadline?: AbortSignal): Promise<ChargeAnswer>

  /**
   * Asks what the bank has under our id.
   * @param terms what was asked for; a charge on other terms is `CONTRADICTED`
   */
  getCharge(id: string, terms: ChargeTerms, deadline?: AbortSignal): Promise<ChargeQueryAnswer>

  /** Asks the bank to take no payment of a charge any more. */
  cancelCharge(id: string, deadline?: AbortSignal): Promise<CancelAnswer>
}

/** Payouts: money that goes out, to a Pix key or for somebody's QR code. */
export interface PayoutPartner extends OrderPartner {
  /**
   * Tells the bank to pay: one try, as {@link ChargePartner.createCharge}.
   * @param window looked at right before the first byte: where it is over the answer is `NOT_SENT`
   */
  sendPayout(id: string, request: PayoutRequest, window?: SendWindow): Promise<PayoutAnswer>

  /**
   * Asks what the bank has under our id.
   * @param terms what was asked for; a payout on other terms is `CONTRADICTED`, even one that has left: its `payout`
   * says what did
   */
  getPayout(id: string, terms: PayoutTerms, deadline?: AbortSignal): Promise<PayoutQueryAnswer>

  /**
   * Asks what a QR code asks for. Changes nothing at the bank, but each answer has its own `decodeId`: a payout is sent
   * again with the one it was first sent with (failure-modes#QR-6).
   */
  decodeQrCode(pixCode: string, deadline?: AbortSignal, asker?: string): Promise<QrCodeAnswer>
}

/** Refunds of payments that came in. */
export interface RefundPartner extends OrderPartner {
  /**
   * Tells the bank to give a payment back, or a part of it: one try, as {@link ChargePartner.createCharge}.
   * @param window as in {@link PayoutPartner.sendPayout}
   */
  sendRefund(id: string, request: RefundRequest, window?: SendWindow): Promise<RefundAnswer>

  /**
   * Asks what the bank has under our id.
   * @param terms what was asked for; a refund on other terms is `CONTRADICTED`
   */
  getRefund(id: string, terms: RefundTerms, deadline?: AbortSignal): Promise<RefundQueryAnswer>
}

/** The statement of our account: every centavo that moved, whoever was told of it. */
export interface StatementPartner extends Capable {
  /**
   * How long after a movement the statement may lack it, milliseconds, by kind: many lists are late. A booked movement that it lacks for
   * longer is a difference.
   * @source rules#statement.8
   */
  readonly listedWithinMs: ListedWithin
  /** How far the bank's stamps are from true time; absent where they cannot be off. */
  readonly stamps?: StampOffset
  /** Reads a page of a window. Reading changes nothing at the bank. */
  readStatement(query: StatementQuery, deadline?: AbortSignal): Promise<StatementAnswer>
}

/** See {@link StatementPartner.listedWithinMs}. */
export type ListedWithin = Readonly<Record<Exclude<StatementEntry['kind'], 'TARIFF'>, number>>

/** The offset of a bank's stamps, milliseconds: kept with the statement, for the next process. */
export interface StampOffset {
  /** As last measured; `undefined`: not yet, nor assumed. */
  offsetMs(): number | undefined
  /** Takes what was kept; what this process measured stays. */
  assume(offsetMs: number): void
}

/** What the bank holds for us, whatever its statement says. */
export interface BalancePartner extends Capable {
  /** Fees that are deducted from the balance and are not in the statement, at most; absent: there are none. */
  readonly unlistedFees?: UnlistedFees
  /** Reads the balance of our account. Reading changes nothing at the bank. */
  readBalance(deadline?: AbortSignal): Promise<BalanceAnswer>
}

/** Fees of movements, whichever way they went. */
export interface UnlistedFees {
  readonly centsPerMovement: bigint
  /** Of what was moved. */
  readonly percent: bigint
}

/**
 * Until when an order may leave. Asked in the turn in which the first byte is written, by a clock that goes on while the
 * process sleeps.
 * @source failure-modes#CO-40
 */
export interface SendWindow {
  isOver(): boolean
}

/** Whether it is worth while to send payouts and refunds now, or better to leave them unclaimed. */
export interface Availability {
  /** How many to send at once: none while the bank refuses our calls or takes none, one to see whether it does again. */
  sendsWanted(): number
}

/** Whether it is worth while to ask for charges now, or better to answer clients without waiting. */
export interface ChargeAvailability {
  /** How many charges to ask for at once: none while the bank answers none, one to see whether it does again. */
  chargesWanted(): number
}

/** Whether it is worth while to have a QR code decoded now, or better to answer clients without waiting. */
export interface QrCodeAvailability {
  /**
   * How many QR codes to ask about at once, as {@link ChargeAvailability.chargesWanted}.
   * @param asker the API key or operator that asks; absent: what is left of whoever may ask least
   */
  qrCodesWanted(asker?: string): number
}

interface Capable {
  readonly capabilities: ReadonlySet<PartnerCapability>
}

interface OrderPartner extends Capable {
  /**
   * For how long after it first got an order the bank takes the same one under the same id for a repeat, where it is
   * `idempotent-payout` or `idempotent-refund`. Nothing that may have arrived is sent again later.
   * @source rules#cash-out.unknown.7
   */
  readonly idempotencyWindowMs: number
}

/**
 * What a bank may lack, or, in `verify-every-credit`, demand: that no payment is booked on the word of its events. Without
 * `charge`, `payout`, `refund` or `decode-qr-code` what needs it is refused at its creation. Without `idempotent-…` an
 * unknown result is never sent again: it could make two payable codes (failure-modes#CI-6) or pay twice. A charge that cannot
 * be cancelled ends at the bank by itself.
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
  | 'verify-every-credit'

/** What a bank must echo. */
export interface ChargeTerms {
  readonly valueCents: bigint
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** {@link Charge.stampOffsetMs} of when it was made, where that was measured. */
  readonly stampOffsetMs?: number
}

/** A charge as we ask for it. The same operation always asks for the same, but for when it does. */
export interface ChargeRequest extends ChargeTerms {
  /**
   * When this attempt is made, by our clock: the seconds that a bank is to count from its own beginning of the charge are
   * those that are left now. Epoch milliseconds.
   */
  readonly askedAt: number
  /** An earlier attempt may have made the charge: the bank's stamp of its creation need not be of now. */
  readonly isRepeated?: boolean
  readonly description?: string
  readonly payer?: { readonly name: string; readonly document: string }
  readonly merchant: { readonly pixKey: string; readonly name: string; readonly city: string }
}

/** Where a charge stands at the bank. Only `ACTIVE` can still change by itself. */
export type ChargeStatus = 'ACTIVE' | FinalChargeStatus
/** See {@link ChargeStatus}. */
export type FinalChargeStatus = 'PAID' | 'CANCELLED' | 'EXPIRED' | 'FAILED'

/** A charge as the bank tells it. */
export interface Charge<Status extends ChargeStatus = ChargeStatus> extends ChargeTerms {
  readonly id: string
  /** The bank's reference. */
  readonly transactionId: string
  readonly status: Status
  /** The BR Code, unverified; one that has ended may have none that leads to it any more. */
  readonly pixCode: string | undefined
  /** At least one where the status is `PAID`. Any other may have some too: money beats the status word. */
  readonly payments: readonly Payment[]
  /**
   * How far the bank's stamps are from true time, milliseconds, in the answer that made the charge; absent in any other. All
   * times that a connector tells are true: this is taken off.
   */
  readonly stampOffsetMs?: number
}

/** Money that arrived for a charge. */
export interface Payment {
  readonly endToEndId: string
  readonly valueCents: bigint
  /** The bank's word, epoch milliseconds. */
  readonly occurredAt: number
  readonly payer: Party
  /** When the bank made the charge that it is told with, by the same clock of the bank; absent where it does not tell. */
  readonly chargedAt?: number
  /** What went back of it; absent where the bank does not tell. */
  readonly returns?: readonly PaymentReturn[]
}

/** Money of a payment that went back, all of it or a part. */
export interface PaymentReturn {
  readonly returnId: string
  /** The bank's reference of this return. */
  readonly transactionId: string
  readonly valueCents: bigint
  /** The bank's word, epoch milliseconds. */
  readonly occurredAt: number
  /** Who had it given back, as the bank sees it. */
  readonly origin: 'MERCHANT' | 'BANK'
}

/** Who stands at the other end of a movement, as far as the bank tells. */
export interface Party {
  readonly name: string | undefined
  readonly document: string | undefined
  readonly ispb: string | undefined
}

/** What a bank must echo: the value, and the key where it tells one. */
export interface PayoutTerms {
  readonly valueCents: bigint
  readonly pixKey?: string | undefined
}

/** A payout as we ask for it. The same operation always asks for the same. */
export type PayoutRequest = KeyPayoutRequest | QrCodePayoutRequest

interface AnyPayoutRequest {
  readonly valueCents: bigint
  readonly description?: string
}

/** A payout to a key. */
export interface KeyPayoutRequest extends AnyPayoutRequest {
  readonly recipient: PayoutRecipient
}

/** A payout for a QR code, by the bank's decoding of it. */
export interface QrCodePayoutRequest extends AnyPayoutRequest {
  readonly pixCode: string
  readonly decodeId: string
}

/** Who is to be paid. A bank that gets a document refuses a key that belongs to somebody else. */
export interface PayoutRecipient {
  /** Normalised, of the type that `pixKeyType` says. */
  readonly pixKey: string
  readonly pixKeyType: PixKeyType
  readonly name?: string
  readonly document?: string
}

/** Where a payout stands at the bank. Only `PROCESSING` can still change by itself, and `CONFIRMED` be returned. */
export type PayoutStatus = 'PROCESSING' | 'CONFIRMED' | 'FAILED' | 'RETURNED'

/** A payout as the bank tells it. */
export interface Payout<Status extends PayoutStatus = PayoutStatus> {
  readonly id: string
  /** The bank's reference. */
  readonly transactionId: string
  readonly status: Status
  readonly valueCents: bigint
  /** What the bank says it took for it: evidence. */
  readonly feeCents: bigint | undefined
  readonly endToEndId: string | undefined
  readonly recipient: PaidRecipient | undefined
  readonly errorCode: string | undefined
  /** Printable, at most 200 characters. */
  readonly errorMessage: string | undefined
  /** At least one where the status is `RETURNED`. Any other may have some too: money beats the status word. */
  readonly returns: readonly PayoutReturn[]
  /** When it ended, epoch milliseconds. */
  readonly occurredAt: number | undefined
}

/** Who was paid, as far as the bank tells. */
export interface PaidRecipient extends Party {
  readonly pixKey: string | undefined
}

/** A payout whose money left. */
export interface SettledPayout extends Payout<'CONFIRMED' | 'RETURNED'> {
  readonly endToEndId: string
  readonly occurredAt: number
}

/** Money of a payout that came back, all of it or a part. */
export interface PayoutReturn {
  readonly returnId: string
  readonly valueCents: bigint
  /** The bank's word, epoch milliseconds. */
  readonly occurredAt: number
}

/** What a QR code asks for, as the bank decoded it. */
export interface QrCode {
  /** Names this decoding in the payout for it. */
  readonly decodeId: string
  /** `undefined` where the payer chooses. */
  readonly valueCents: bigint | undefined
  readonly txid: string
  /** Where it stands at its own bank: only `ACTIVE` can be paid. */
  readonly status: ChargeStatus
  /** Epoch milliseconds. */
  readonly expiresAt: number | undefined
  /**
   * `pixKey` in whatever spelling the code or its bank has: whoever pays it normalises it, so that it is the recipient that a
   * payout to the key has. What is a key of no type is not payable.
   * @source rules#cash-out.qrcode.7
   */
  readonly recipient: { readonly name: string; readonly document: string; readonly pixKey: string }
}

/** What a refund is of, by which some banks find it, and the value, which a bank must echo. */
export interface RefundTerms {
  readonly valueCents: bigint
  /** Of the payment that is given back. */
  readonly endToEndId: string
}

/** A refund as we ask for it. The same operation always asks for the same. */
export interface RefundRequest extends RefundTerms {
  readonly reason?: string
}

/** Where a refund stands at the bank. Only `PROCESSING` can still change by itself. */
export type RefundStatus = 'PROCESSING' | 'CONFIRMED' | 'FAILED'

/** A refund as the bank tells it. */
export interface Refund<Status extends RefundStatus = RefundStatus> {
  readonly id: string
  /** The bank's reference. */
  readonly transactionId: string
  readonly status: Status
  readonly valueCents: bigint
  readonly returnId: string | undefined
  readonly errorCode: string | undefined
  /** Printable, at most 200 characters. */
  readonly errorMessage: string | undefined
  /** When it ended, epoch milliseconds. */
  readonly occurredAt: number | undefined
}

/** A refund whose money left. */
export interface SettledRefund extends Refund<'CONFIRMED'> {
  readonly returnId: string
  readonly occurredAt: number
}

/** Which entries are wanted. */
export interface StatementQuery {
  /** When the bank booked them, by its own time: epoch milliseconds, inclusive. */
  readonly from: number
  /** Exclusive. */
  readonly to: number
  /** The `nextCursor` of the page before; `null` for the first page. */
  readonly cursor: string | null
}

/** A page of a window. */
export interface StatementPage {
  readonly entries: readonly StatementEntry[]
  /** `null` on the last page. */
  readonly nextCursor: string | null
  /** The list that the page is of, where the statement is made of several. */
  readonly list?: string
  /** What stands on the page and cannot be read. */
  readonly unreadable?: readonly UnreadableItem[]
  /** It is of a list that reaches further back than the window: what moved before we began to read is no news. */
  readonly looksBack?: boolean
}

/** An item of a statement that cannot be read. */
export interface UnreadableItem {
  /** The list that it stands in. */
  readonly list: string
  /** The item, as JSON. */
  readonly json: string
  /** The member that is missing or wrong, as a JSON pointer. */
  readonly member: string
}

/** Money that moved on our account, as the bank's statement tells it. */
export interface StatementEntry {
  readonly kind: PartnerEntryKind
  readonly direction: 'in' | 'out'
  /**
   * The end-to-end id of a payment or payout, the return id of a return. A tariff has none of its own: the reference of
   * what it was taken for, until it is kept; then a name that tells it from the others of its payout.
   */
  readonly movementId: string
  /** Of the payment or payout, also in its returns. */
  readonly endToEndId: string
  /** What the bank names as what the money moved for: our id, where it does as it should. */
  readonly reference: string
  readonly valueCents: bigint
  /** When the money moved, the bank's word, epoch milliseconds. */
  readonly occurredAt: number
}

/** What came of reading a page. */
export type StatementAnswer = { readonly kind: 'READ'; readonly page: StatementPage } | NotSent | Unknown

/** What the bank holds for us. */
export interface BankBalance {
  /** What could be paid out, centavos; a bank that sets money aside for orders under way has taken it off. */
  readonly availableCents: bigint
  /** When that was, by the time of booking of the bank's statement, epoch milliseconds; `null`: the bank does not say. */
  readonly asOf: number | null
  /** What it has blocked by itself (for a court, a contested payment) and may have taken off, centavos; absent: nothing. */
  readonly blockedCents?: bigint
}

/** What came of reading the balance. */
export type BalanceAnswer = { readonly kind: 'READ'; readonly balance: BankBalance } | NotSent | Unknown

/** What came of asking for a charge. */
export type ChargeAnswer = SendAnswer<ReportedCharge>
/** What came of asking about a charge. */
export type ChargeQueryAnswer = QueryAnswer<ReportedCharge>
/** What came of cancelling a charge. After `REJECTED` it may be paid: ask. */
export type CancelAnswer = Cancelled | Rejected | NotFound | NotSent | Unknown
/** A charge in an answer. */
export type ReportedCharge =
  | Accepted<{ readonly charge: Charge<'ACTIVE'> }>
  | Final<{ readonly charge: Charge<FinalChargeStatus> }>
  | Contradicted<{ readonly charge: Charge }>

/** What came of sending a payout. */
export type PayoutAnswer = SendAnswer<ReportedPayout> & {
  /** It came of its QR code, read before anything was ordered: it says nothing of whether the bank takes orders. */
  readonly isOfOrderAlone?: true
}
/** What came of asking about a payout. */
export type PayoutQueryAnswer = QueryAnswer<ReportedPayout>
/** A payout in an answer. */
export type ReportedPayout =
  | Accepted<{ readonly payout: Payout<'PROCESSING'> }>
  | Final<{ readonly payout: SettledPayout | Payout<'FAILED'> }>
  | Contradicted<{ readonly payout: Payout }>

/** What came of having a QR code decoded. */
export type QrCodeAnswer = Decoded | Rejected | NotSent | Unknown

/** What came of sending a refund. */
export type RefundAnswer = SendAnswer<ReportedRefund>
/** What came of asking about a refund. */
export type RefundQueryAnswer = QueryAnswer<ReportedRefund>
/** A refund in an answer. */
export type ReportedRefund =
  | Accepted<{ readonly refund: Refund<'PROCESSING'> }>
  | Final<{ readonly refund: SettledRefund | Refund<'FAILED'> }>
  | Contradicted<{ readonly refund: Refund }>

/** What came of asking for something to be done. */
export type SendAnswer<Report extends AnyReported> = (Report & FoundEarlier) | Rejected | NotSent | Unknown
/** What came of asking about it. */
export type QueryAnswer<Report extends AnyReported> = Report | NotFound | NotSent | Unknown
/** How an order came to be at the bank. */
export interface FoundEarlier {
  /** The bank had it under this id before this try, and was asked what it is. */
  readonly isEarlier?: true
}
/** Any {@link ReportedCharge}, {@link ReportedPayout} or {@link ReportedRefund}. */
export interface AnyReported {
  readonly kind: 'ACCEPTED' | 'FINAL' | 'CONTRADICTED'
}

/** It exists as asked and has not ended. */
export type Accepted<Report> = { readonly kind: 'ACCEPTED' } & Report

/** It exists as asked and has ended. */
export type Final<Report> = { readonly kind: 'FINAL' } & Report

/** The bank has something under our id that is not what was asked for. It is evidence, and must not be shown. */
export type Contradicted<Report> = {
  readonly kind: 'CONTRADICTED'
  /** What differs, for people: `other valueCents`. */
  readonly reason: string
} & Report

/** The bank cancelled the charge, or had done so before. */
export interface Cancelled {
  readonly kind: 'CANCELLED'
}

/** The bank read the code. Whether it can still be paid its `status` and `expiresAt` say. */
export interface Decoded {
  readonly kind: 'DECODED'
  readonly qrCode: QrCode
}

/** The bank refuses, definitely: nothing happened there. */
export interface Rejected {
  readonly kind: 'REJECTED'
  readonly errorCode: string
  /** Printable, at most 200 characters. */
  readonly errorMessage: string | undefined
}

/** The bank never saw this id. */
export interface NotFound {
  readonly kind: 'NOT_FOUND'
}

/** Not one byte of this try left: it has no effect. */
export interface NotSent {
  readonly kind: 'NOT_SENT'
  /** A word for people: `ECONNREFUSED`, `timeout`. */
  readonly reason: string
  /** With which the bank refused to let us in, before the call: further calls are useless for now. */
  readonly httpStatus?: number | undefined
  /** What is left of the time for which the bank asked us to wait, milliseconds; absent where that is not the reason. */
  readonly retryAfterMs?: number
}

/** It may have happened or not. Never a reason to release money or to ask under another id. */
export interface Unknown {
  readonly kind: 'UNKNOWN'
  /** A word for people: `timeout`, `HTTP 502`. */
  readonly reason: string
  /** Where the bank answered at all. A 401 or 429 means that further calls are useless for now. */
  readonly httpStatus: number | undefined
}
