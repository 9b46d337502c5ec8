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

/** Pays to a Pix key. Reusable and without expiry, whatever `pointOfInitiation` says. */
export interface StaticBrCode extends BrCodeMerchant {
  readonly kind: 'static'
  /** As written, of any key type; neither normalised nor checked. */
  readonly pixKey: string
  /** Centavos; absent where the payer chooses. Zero occurs in Pix Saque only. */
  readonly amountCents?: bigint
  /** As written; absent for `***`. Not always the `[A-Za-z0-9]{1,25}` of the manual. */
  readonly txid?: string
  readonly additionalInformation?: string
  /** Marks a Pix Saque: the ISPB of the withdrawal facilitator. */
  readonly withdrawalFacilitatorIspb?: string
  /** Offers a Pix Automático besides the payment. */
  readonly recurrenceUrl?: string
}

/** Points to a charge; amount, txid and expiry are what the URL answers, never what the code says besides. */
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

/** A Pix code that was read. */
export type BrCode = StaticBrCode | DynamicBrCode | RecurrenceBrCode
