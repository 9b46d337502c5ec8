/** Caps on outgoing money in centavos; `null`: unlimited. @source rules#limits */
export interface Caps {
  /** One payout or refund. */
  readonly paymentCents: bigint | null
  /** Any 60 minutes. */
  readonly hourCents: bigint | null
  /** Any 24 hours. */
  readonly dayCents: bigint | null
  /** A night: 20:00 to 06:00 in São Paulo. */
  readonly nightCents: bigint | null
  /** A Pix key that was never paid before. */
  readonly newRecipientCents: bigint | null
}
