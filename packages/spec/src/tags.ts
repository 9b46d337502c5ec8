/** Groups of endpoints, in the order of the documents. */
export const tags = {
  'API keys': 'Made and deactivated with the administrative token. A key opens the business endpoints.',
  'Cash-in': 'Charges: money comes in. A charge has a Pix code, which the payer scans or copies.',
  'Payment page': 'The page that a payer’s browser opens, at the charge’s `paymentUrl`.',
  Transactions: 'The incoming transactions under the path that aggregates them.',
  'Cash-out': 'Payouts: money goes out, to a Pix key or to what a QR code asks for.',
  'Refund-in': 'Refunds: all or part of a paid charge goes back to who paid it.',
  Balance: 'Available, reserved and owed amounts.',
  Ledger: 'Every movement of the available balance, and the balance after it.',
  Webhooks: 'Endpoints of notifications, and the key that verifies what they receive.',
  Notifications:
    'Notifications that the service sends to the registered endpoints: signed, at least once, in any order. Verify `Digital-Signature` over the raw bytes, answer 2xx within 5 seconds, and do the work afterwards.',
  Operator: 'Actions of operators, with an operator’s or the administrative token.',
  Console: 'Log-in and pages of the web console. Operators may use them with their token as well.',
  Partner: 'Callbacks of the bank; integrators do not call them.',
  Sandbox: 'Controls of the simulated bank. Only the sandbox has them.',
  Health: 'For supervisors, load balancers and Prometheus.',
} as const
