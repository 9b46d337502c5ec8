/**
 * Why a code was refused, or why one cannot be built. Stable: safe to store, to branch on and to translate.
 * The README has one row for each.
 */
export type BrCodeRefusal =
  | 'too_long'
  | 'invalid_characters'
  | 'payload_format_missing'
  | 'crc_missing'
  | 'crc_mismatch'
  | 'malformed_tlv'
  | 'length_overrun'
  | 'duplicate_field'
  | 'field_missing'
  | 'field_malformed'
  | 'pix_account_missing'
  | 'two_pix_accounts'
  | 'two_recurrences'
  | 'key_and_url'
  | 'key_or_url_missing'
  | 'url_malformed'
  | 'currency_not_brl'
  | 'country_not_br'
  | 'amount_malformed'
  | 'amount_zero'

/** Where the fault is; what is unknown or has no place stays out. */
export interface BrCodeFault {
  /** Reading: ids from the outside in, as `54` or `26-01`. Building: the name of the option, as `txid`. */
  readonly field?: string | undefined
  /** Reading only: index into the code without its outer white space. */
  readonly position?: number | undefined
}

/**
 * The only error this package throws on purpose. `message` is English, names field and position, and never repeats
 * what the code holds (a Pix key is personal data), so it may be logged.
 */
export class BrCodeError extends Error {
  override readonly name = 'BrCodeError'
  readonly reason: BrCodeRefusal
  readonly field: string | undefined
  readonly position: number | undefined

  constructor(reason: BrCodeRefusal, explanation: string, { field, position }: BrCodeFault = {}) {
    super(position === undefined ? explanation : `${explanation} (position ${position})`)
    this.reason = reason
    this.field = field
    this.position = position
  }
}
