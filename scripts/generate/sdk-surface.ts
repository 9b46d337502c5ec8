import type { endpoints } from '@pixgate/spec'

/** A method of the SDK for an operation of the API. */
export interface SdkMethod {
  /** Resource and name: `cashIns.create`. */
  readonly name: `${string}.${string}`
  /** A POST that has no second effect when it is repeated. */
  readonly isRepeatable?: true
  /** Creates by `externalId`; the method of the same resource that reads what exists already. */
  readonly reads?: 'get'
  /** The method that finds out an unknown outcome. */
  readonly asks?: `${string}.${string}`
  /** The parameter for `{id}`, where it is not of this resource. */
  readonly id?: string
  /** Fields that the API leaves optional and the SDK demands. */
  readonly demands?: readonly string[]
}

type Name = keyof typeof endpoints

const merchant = {
  createCashIn: { name: 'cashIns.create', reads: 'get', asks: 'cashIns.list' },
  getCashIn: { name: 'cashIns.get' },
  getCashInQrCode: { name: 'cashIns.qrCode' },
  cancelCashIn: { name: 'cashIns.cancel', isRepeatable: true, asks: 'cashIns.get' },
  listCashIns: { name: 'cashIns.list' },
  listIncomingTransactions: { name: 'incomingTransactions.list' },
  createCashOut: { name: 'cashOuts.create', reads: 'get', asks: 'cashOuts.list' },
  createCashOutFromQrCode: { name: 'cashOuts.createFromQrCode', reads: 'get', asks: 'cashOuts.list' },
  getCashOut: { name: 'cashOuts.get' },
  listCashOuts: { name: 'cashOuts.list' },
  // Without one, a refund whose answer was lost is not recognised a day later.
  createRefundIn: {
    name: 'refunds.create',
    reads: 'get',
    asks: 'refunds.list',
    id: 'cashInId',
    demands: ['externalId'],
  },
  getRefundIn: { name: 'refunds.get' },
  getCashInReceipt: { name: 'cashIns.receipt' },
  getCashOutReceipt: { name: 'cashOuts.receipt' },
  getRefundInReceipt: { name: 'refunds.receipt' },
  listRefundIns: { name: 'refunds.list' },
  getBalance: { name: 'balance.get' },
  getLedgerEntry: { name: 'ledger.get' },
  listLedgerEntries: { name: 'ledger.list' },
  // A repetition would answer 409, and its secret would never be shown.
  createWebhook: { name: 'webhooks.create', asks: 'webhooks.list' },
  listWebhooks: { name: 'webhooks.list' },
  getWebhook: { name: 'webhooks.get' },
  pauseWebhook: { name: 'webhooks.pause', isRepeatable: true, asks: 'webhooks.get' },
  resumeWebhook: { name: 'webhooks.resume', isRepeatable: true, asks: 'webhooks.get' },
  rotateWebhookSecret: { name: 'webhooks.rotateSecret', asks: 'webhooks.get' },
  testWebhook: { name: 'webhooks.test', isRepeatable: true, asks: 'webhooks.get' },
  deleteWebhook: { name: 'webhooks.delete', asks: 'webhooks.list' },
  recoverWebhook: { name: 'webhooks.recover', isRepeatable: true, asks: 'webhooks.get' },
  sendMissedToWebhook: { name: 'webhooks.sendMissed', isRepeatable: true, asks: 'webhooks.get' },
  listWebhookDeliveries: { name: 'deliveries.list' },
  getWebhookDelivery: { name: 'deliveries.get' },
  resendWebhookDelivery: { name: 'deliveries.resend', isRepeatable: true, asks: 'deliveries.get' },
  listEvents: { name: 'events.list' },
  getPublicKey: { name: 'publicKeys.current' },
  listPublicKeys: { name: 'publicKeys.list' },
  getJwks: { name: 'publicKeys.jwks' },
  payCashIn: { name: 'sandbox.pay', id: 'cashInId', asks: 'cashIns.get' },
  failCashIn: { name: 'sandbox.failCashIn', id: 'cashInId', asks: 'cashIns.get' },
  returnCashIn: { name: 'sandbox.returnCashIn', id: 'cashInId', asks: 'cashIns.get' },
  confirmCashOut: { name: 'sandbox.confirmCashOut', id: 'cashOutId', asks: 'cashOuts.get' },
  failCashOut: { name: 'sandbox.failCashOut', id: 'cashOutId', asks: 'cashOuts.get' },
  reverseCashOut: { name: 'sandbox.reverseCashOut', id: 'cashOutId', asks: 'cashOuts.get' },
  confirmRefundIn: { name: 'sandbox.confirmRefund', id: 'refundId', asks: 'refunds.get' },
  failRefundIn: { name: 'sandbox.failRefund', id: 'refundId', asks: 'refunds.get' },
  closeToday: { name: 'sandbox.closeToday' },
  getBankBehavior: { name: 'sandbox.behavior' },
  getBankBook: { name: 'sandbox.book' },
  changeBankBehavior: { name: 'sandbox.changeBehavior', asks: 'sandbox.behavior' },
} as const satisfies Partial<Record<Name, SdkMethod>>

const operator = {
  generateApiKey: { name: 'apiKeys.create', asks: 'apiKeys.list' },
  listApiKeys: { name: 'apiKeys.list' },
  deactivateApiKey: { name: 'apiKeys.deactivate', asks: 'apiKeys.list' },
  deactivateAllApiKeys: { name: 'apiKeys.deactivateAll', isRepeatable: true, asks: 'apiKeys.list' },
  getCashOutSwitch: { name: 'cashOutSwitch.get' },
  setCashOutSwitch: { name: 'cashOutSwitch.set', asks: 'cashOutSwitch.get' },
  createAdjustment: { name: 'adjustments.create', asks: 'ledger.list' },
  refundPayment: { name: 'refunds.create', asks: 'operations.search' },
  listSigningKeys: { name: 'signingKeys.list' },
  createSigningKey: { name: 'signingKeys.create', asks: 'signingKeys.list' },
  promoteSigningKey: { name: 'signingKeys.promote', asks: 'signingKeys.list' },
  retireSigningKey: { name: 'signingKeys.retire', asks: 'signingKeys.list' },
  createOperatorWebhook: { name: 'webhooks.create', asks: 'webhooks.list' },
  listOperatorWebhooks: { name: 'webhooks.list' },
  getOperatorWebhook: { name: 'webhooks.get' },
  deleteOperatorWebhook: { name: 'webhooks.delete', asks: 'webhooks.list' },
  pauseOperatorWebhook: { name: 'webhooks.pause', isRepeatable: true, asks: 'webhooks.get' },
  resumeOperatorWebhook: { name: 'webhooks.resume', isRepeatable: true, asks: 'webhooks.get' },
  testOperatorWebhook: { name: 'webhooks.test', isRepeatable: true, asks: 'webhooks.get' },
  rotateOperatorWebhookSecret: { name: 'webhooks.rotateSecret', asks: 'webhooks.get' },
  recoverOperatorWebhook: { name: 'webhooks.recover', isRepeatable: true, asks: 'webhooks.get' },
  sendMissedToOperatorWebhook: { name: 'webhooks.sendMissed', isRepeatable: true, asks: 'webhooks.get' },
  listOperatorDeliveries: { name: 'deliveries.list' },
  getOperatorDelivery: { name: 'deliveries.get' },
  resendOperatorDelivery: { name: 'deliveries.resend', isRepeatable: true, asks: 'deliveries.get' },
  listApprovals: { name: 'approvals.list' },
  decideApproval: { name: 'approvals.decide', asks: 'operations.get' },
  listCases: { name: 'cases.list' },
  getCase: { name: 'cases.get' },
  decideCase: { name: 'cases.decide', asks: 'cases.get' },
  decideCaseProposal: { name: 'cases.decideProposal', asks: 'cases.get' },
  noteCase: { name: 'cases.note', asks: 'cases.get' },
  listProposals: { name: 'proposals.list' },
  createOperator: { name: 'operators.create', asks: 'operators.list' },
  listOperators: { name: 'operators.list' },
  deactivateOperator: { name: 'operators.deactivate', asks: 'operators.list' },
  listSessions: { name: 'sessions.list' },
  revokeSession: { name: 'sessions.revoke', asks: 'sessions.list' },
  listCloses: { name: 'closes.list' },
  getClose: { name: 'closes.get' },
  exportCloseCsv: { name: 'closes.csv' },
  exportCloseOfx: { name: 'closes.ofx' },
  exportStatement: { name: 'statement.csv' },
  listOperations: { name: 'operations.list' },
  getOperation: { name: 'operations.get' },
  searchOperations: { name: 'operations.search' },
  getOperatorQrCode: { name: 'cashIns.qrCode' },
  getOperatorChargeReceipt: { name: 'cashIns.receipt' },
  getOperatorPayoutReceipt: { name: 'cashOuts.receipt' },
  getOperatorRefundReceipt: { name: 'refunds.receipt' },
  cancelOperatorCharge: { name: 'cashIns.cancel', isRepeatable: true, asks: 'operations.get' },
  listOperatorLedger: { name: 'ledger.list' },
  listEntries: { name: 'ledger.entries' },
  getReconciliation: { name: 'reconciliation.get' },
  getOverview: { name: 'overview.get' },
  listChanges: { name: 'changes.list' },
  listAudit: { name: 'audit.list' },
  getSystem: { name: 'system.get' },
  getHealth: { name: 'health.live' },
  getReadiness: { name: 'health.ready' },
  getMetrics: { name: 'health.metrics' },
} as const satisfies Partial<Record<Name, SdkMethod>>

/** Operations that are no methods, with the reason. */
const left = {
  listIncomingTransactionsShort: 'incomingTransactions.list under another path',
  listOperatorApiKeys: 'apiKeys.list under another path',
  generateOperatorApiKey: 'apiKeys.create under another path',
  deactivateOperatorApiKey: 'apiKeys.deactivate under another path',
  startSession: 'the log-in of the console, by cookie',
  getSession: 'the log-in of the console, by cookie',
  endSession: 'the log-in of the console, by cookie',
  getPaymentPage: 'opened by the payer’s browser',
  getPaymentState: 'asked by the script of the payment page',
  receiveCashInEvent: 'called by the bank',
  receiveCashOutEvent: 'called by the bank',
} as const satisfies Partial<Record<Name, string>>

/** A line for every operation of the API; one without a line is a type error. */
export const surface: Readonly<Record<Name, SdkMethod | string>> = { ...merchant, ...operator, ...left }

export const surfaces: Readonly<Record<'merchant' | 'operator', Readonly<Partial<Record<Name, SdkMethod>>>>> = {
  merchant,
  operator,
}

export type MerchantMethod = (typeof merchant)[keyof typeof merchant]['name']
export type OperatorMethod = (typeof operator)[keyof typeof operator]['name']
