/** Where a charge of this bank is, without a scheme: what its Pix code says. */
export function locationOfCharge(transactionId: string): string {
  return `bank.example/qr/v2/${transactionId}`
}

/** Where a charge of another bank is. */
export function locationElsewhere(transactionId: string): string {
  return `other-bank.example/qr/v2/${transactionId}`
}
