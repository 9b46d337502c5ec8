/** What every code says besides how to pay. Names may be longer than the 25 and 15 characters of the manual. */
export interface BrCodeMerchant {
  readonly merchantName: string
  readonly merchantCity: string
  /** ISO 18245, four digits; `0000` where the merchant has none. */
  readonly merchantCategoryCode: string
  readonly postalCode?: string
  /** `11` reusable, `12` once. Advisory: tell static and dynamic apart by `kind`. */
  readonly pointOfInitiation?: '11' | '12'
}

/** What every code with a Pix key says. */
export interface PixKeyBrCode extends BrCodeMerchant {
  /** As written, of any key type; neither normalised nor checked. */
  readonly pixKey: string
  /** As written; absent for `***`. Not always the `[A-Za-z0-9]{1,25}` of the manual. */
  readonly txid?: string
  readonly additionalInformation?: string
  /** Offers a Pix Automático besides the payment. */
  readonly recurrenceUrl?: string
}

/** Pays to a Pix key. Reusable and without expiry, whatever `pointOfInitiation` says. */
export interface StaticBrCode extends PixKeyBrCode {
  readonly kind: 'static'
  /** Centavos, more than zero; absent where the payer chooses. */
  readonly amountCents?: bigint
}

/** A Pix Saque: pays to a Pix key to be handed cash there, which only a person at the counter can take. */
export interface WithdrawalBrCode extends PixKeyBrCode {
  readonly kind: 'withdrawal'
  readonly withdrawalFacilitatorIspb: string
  /** Centavos, zero or more. */
  readonly amountCents?: bigint
}

/**
 * Points to a charge; amount, txid and expiry are what the URL answers, never what the code says besides. Whether the
 * charge is a Pix Saque or a Pix Troco, too, only the URL's answer says.
 */
export interface DynamicBrCode extends BrCodeMerchant {
  readonly kind: 'dynamic'
  /** Without scheme; the payer's institution adds `https://`. */
  readonly url: string
  /** Offers a Pix Automático besides the payment. */
  readonly recurrenceUrl?: string
}

/** Offers a Pix Automático and no payment. */
export interface RecurrenceBrCode extends BrCodeMerchant {
  readonly kind: 'recurrence'
  /** Without scheme. */
  readonly recurrenceUrl: string
}

/** A Pix code that was read. `static` and `dynamic` are payments; `withdrawal` and `recurrence` ask for something else. */
export type BrCode = StaticBrCode | DynamicBrCode | WithdrawalBrCode | RecurrenceBrCode
