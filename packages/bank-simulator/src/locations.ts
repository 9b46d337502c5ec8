/** The host of every charge of this bank; whoever wants to see one asks the simulator's listener for payloads. */
export const LOCATION_HOST = 'bank.example'

/** Where a charge of this bank is, without a scheme: what its Pix code says. */
export function locationOfCharge(transactionId: string): string {
  return `${LOCATION_HOST}/qr/v2/${transactionId}`
}

/** Where a charge of another bank is. */
export function locationElsewhere(transactionId: string): string {
  return `other-bank.example/qr/v2/${transactionId}`
}
