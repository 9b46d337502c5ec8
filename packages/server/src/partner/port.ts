/**
 * What a bank must offer. Adding a bank is adding one file that implements {@link Partner}.
 *
 * A bank's answer is a value; nothing here throws because of what a bank or the network does.
 * @source rules#partner.3
 */
export interface Partner {
  readonly capabilities: ReadonlySet<PartnerCapability>

  /**
   * Makes a payable charge: one try. `id` is ours and the idempotency key: the same on every attempt.
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

/**
 * What a bank may lack. Without `idempotent-charge` an unknown result is never sent again: it could make two payable
 * codes (failure-modes#CI-6).
 */
export type PartnerCapability = 'idempotent-charge' | 'query-charge' | 'cancel-charge'

/** What a bank must echo. */
export interface ChargeTerms {
  readonly valueCents: bigint
  /** Epoch milliseconds. */
  readonly expiresAt: number
}

/** A charge as we ask for it. The same operation always asks for the same. */
export interface ChargeRequest extends ChargeTerms {
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
  /** The BR Code, unverified. */
  readonly pixCode: string
  /** At least one where the status is `PAID`. Any other may have some too: money beats the status word. */
  readonly payments: readonly Payment[]
}

/** Money that arrived for a charge. */
export interface Payment {
  readonly endToEndId: string
  readonly valueCents: bigint
  /** The bank's word, epoch milliseconds. */
  readonly occurredAt: number
  readonly payer: {
    readonly name: string | undefined
    readonly document: string | undefined
    readonly ispb: string | undefined
  }
}

/** What came of asking for a charge. */
export type ChargeAnswer = Accepted | Final | Rejected | NotSent | Contradicted | Unknown

/** What came of asking about a charge. */
export type ChargeQueryAnswer = Accepted | Final | NotFound | NotSent | Contradicted | Unknown

/** What came of cancelling a charge. After `REJECTED` it may be paid: ask. */
export type CancelAnswer = Cancelled | Rejected | NotFound | NotSent | Unknown

/** The charge exists as asked and waits for its payment. */
export interface Accepted {
  readonly kind: 'ACCEPTED'
  readonly charge: Charge<'ACTIVE'>
}

/** The charge exists as asked and has ended. */
export interface Final {
  readonly kind: 'FINAL'
  readonly charge: Charge<FinalChargeStatus>
}

/** The bank cancelled the charge, or had done so before. */
export interface Cancelled {
  readonly kind: 'CANCELLED'
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
}

/** The bank has a charge under our id that is not the one asked for. `charge` is evidence and must not be shown. */
export interface Contradicted {
  readonly kind: 'CONTRADICTED'
  /** What differs, for people: `other valueCents`. */
  readonly reason: string
  readonly charge: Charge
}

/** It may have happened or not. Never a reason to release money or to ask under another id. */
export interface Unknown {
  readonly kind: 'UNKNOWN'
  /** A word for people: `timeout`, `HTTP 502`. */
  readonly reason: string
  /** Where the bank answered at all. A 401 or 429 means that further calls are useless for now. */
  readonly httpStatus: number | undefined
}
