/** Refusal codes of the bank, with their HTTP status. */
export const refusalStatuses = {
  invalid_request: 400,
  unauthorized: 401,
  not_found: 404,
  already_paid: 409,
  conflict: 409,
  not_possible: 409,
  amount_mismatch: 422,
  charge_refused: 422,
  exceeds_payment: 422,
  insufficient_balance: 422,
  payment_not_found: 422,
  payout_refused: 422,
  pix_code_not_payable: 422,
  refund_refused: 422,
  unknown_decoding: 422,
  internal_error: 500,
} as const

/** A code of {@link refusalStatuses}. */
export type RefusalCode = keyof typeof refusalStatuses

/**
 * A refusal: nothing was executed, except that `internal_error` leaves it open, and that the lie `falseRefusal` refuses what
 * it executed.
 * @source partner-protocol#answers
 */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly errorCode: RefusalCode
  /** Further fields of the response. */
  readonly details: object

  constructor(errorCode: RefusalCode, message: string, details: object = {}) {
    super(message)
    this.errorCode = errorCode
    this.details = details
  }
}
