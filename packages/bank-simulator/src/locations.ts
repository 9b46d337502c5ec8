/** Host in the locations of this bank's charges. It does not resolve; the simulator's payload listener serves them. */
export const LOCATION_HOST = 'bank.example'

/** Location of a charge of this bank, without scheme, as in its Pix code. */
export function locationOfCharge(transactionId: string): string {
  return `${LOCATION_HOST}/qr/v2/${transactionId}`
}

/** Location of a charge of another bank, without scheme. */
export function locationAtOtherBank(transactionId: string): string {
  return `other-bank.example/qr/v2/${transactionId}`
}
