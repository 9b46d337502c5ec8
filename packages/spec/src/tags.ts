/** Groups of endpoints, in the order of the documents. */
export const tags = {
  'API keys': 'Made and deactivated with the administrative token. A key opens the business endpoints.',
  'Cash-in': 'Charges: money comes in. A charge has a Pix code, which the payer scans or copies.',
  'Payment page': 'What a payer’s browser opens. Integrators hand out its address, `paymentUrl`.',
  Transactions: 'The incoming transactions under the path that aggregates them.',
  'Cash-out': 'Payouts: money goes out, to a Pix key or to what a QR code asks for.',
  'Refund-in': 'Refunds: all or part of a paid charge goes back to who paid it.',
  Balance: 'What is available, reserved and owed.',
  Ledger: 'Every movement of the available balance, and the balance after it.',
  Webhooks: 'Endpoints of notifications, and the key that verifies what they receive.',
  Notifications:
    'What the service sends to the registered endpoints, signed, at least once, in no certain order. Verify `Digital-Signature` over the raw bytes, answer 2xx within 5 seconds, and do the work afterwards.',
  Operator: 'What the operator does by hand, with the administrative token.',
  Console: 'Log-in and pages of the web console. Operators may use them with their token as well.',
  Partner: 'What the bank calls; integrators do not.',
  Sandbox: 'Controls of the simulated bank. Only the sandbox has them.',
  Health: 'For supervisors, load balancers and Prometheus.',
} as const
