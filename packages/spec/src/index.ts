/** The rules of the service as data: no input, no output, safe in a browser. */
import { deactivateAllApiKeys, deactivateApiKey, generateApiKey, listApiKeys } from './api-key.ts'
import { decideApproval, listApprovals } from './approvals.ts'
import { getBalance } from './balance.ts'
import { decideCase, decideCaseProposal, getCase, listCases, noteCase } from './case-endpoints.ts'
import {
  cancelCashIn,
  createCashIn,
  getCashIn,
  getCashInQrCode,
  listCashIns,
  listIncomingTransactions,
  listIncomingTransactionsShort,
} from './cash-in/index.ts'
import { createCashOut, createCashOutFromQrCode, getCashOut, listCashOuts } from './cash-out/index.ts'
import { exportCloseCsv, exportCloseOfx, exportStatement, getClose, listCloses } from './closes.ts'
import { consoleEndpoints } from './console.ts'
import { listEvents } from './events-feed.ts'
import { getHealth, getMetrics, getReadiness } from './health.ts'
import { getLedgerEntry, listLedgerEntries } from './ledger.ts'
import { createAdjustment, getCashOutSwitch, setCashOutSwitch } from './operator.ts'
import { createOperator, deactivateOperator, listOperators } from './operators.ts'
import { receiveCashInEvent, receiveCashOutEvent } from './partner.ts'
import { getPaymentPage, getPaymentState } from './payment-page.ts'
import { getCashInReceipt, getCashOutReceipt, getRefundInReceipt } from './receipts.ts'
import { createRefundIn, getRefundIn, listRefundIns } from './refund-in/index.ts'
import { sandboxEndpoints } from './sandbox.ts'
import {
  createSigningKey,
  getJwks,
  getPublicKey,
  listPublicKeys,
  listSigningKeys,
  promoteSigningKey,
  retireSigningKey,
} from './signing-key.ts'
import {
  createOperatorWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  pauseWebhook,
  resumeWebhook,
  rotateWebhookSecret,
} from './webhook.ts'
import { getWebhookDelivery, listWebhookDeliveries, testWebhook } from './webhook-delivery.ts'
import { recoverWebhook, resendWebhookDelivery, sendMissedToWebhook } from './webhook-resend.ts'

export * from './access.ts'
export * from './api-key.ts'
export * from './approvals.ts'
export * from './balance.ts'
export * from './caps.ts'
export * from './case-endpoints.ts'
export * from './cases.ts'
export * from './cash-in/index.ts'
export * from './cash-out/index.ts'
export * from './closes.ts'
export * from './console.ts'
export * from './document.ts'
export * from './endpoint.ts'
export * from './error-help.ts'
export * from './error-help-pt-br.ts'
export * from './errors.ts'
export * from './events.ts'
export * from './events-feed.ts'
export * from './health.ts'
export * from './ledger.ts'
export * from './limits.ts'
export * from './machine.ts'
export * from './money.ts'
export * from './operator.ts'
export * from './operators.ts'
export * from './order.ts'
export * from './partner.ts'
export * from './patterns.ts'
export * from './payment-page.ts'
export * from './pix-key.ts'
export * from './receipts.ts'
export * from './refund-in/index.ts'
export * from './releases.ts'
export * from './response-headers.ts'
export * from './sandbox.ts'
export * from './shapes.ts'
export * from './signing-key.ts'
export * from './tags.ts'
export * from './webhook.ts'
export * from './webhook-delivery.ts'
export * from './webhook-resend.ts'

const businessEndpoints = {
  generateApiKey,
  listApiKeys,
  deactivateApiKey,
  deactivateAllApiKeys,
  createCashIn,
  getCashIn,
  getCashInQrCode,
  getCashInReceipt,
  cancelCashIn,
  listCashIns,
  listIncomingTransactions,
  listIncomingTransactionsShort,
  getPaymentPage,
  getPaymentState,
  createCashOut,
  createCashOutFromQrCode,
  getCashOut,
  getCashOutReceipt,
  listCashOuts,
  createRefundIn,
  getRefundIn,
  getRefundInReceipt,
  listRefundIns,
  getBalance,
  getLedgerEntry,
  listLedgerEntries,
  createWebhook,
  listWebhooks,
  getWebhook,
  pauseWebhook,
  resumeWebhook,
  rotateWebhookSecret,
  testWebhook,
  deleteWebhook,
  listWebhookDeliveries,
  getWebhookDelivery,
  resendWebhookDelivery,
  recoverWebhook,
  sendMissedToWebhook,
  listEvents,
  getPublicKey,
  listPublicKeys,
  getJwks,
  getCashOutSwitch,
  setCashOutSwitch,
  createAdjustment,
  listSigningKeys,
  createSigningKey,
  promoteSigningKey,
  retireSigningKey,
  createOperatorWebhook,
  listApprovals,
  decideApproval,
  listCases,
  getCase,
  decideCase,
  decideCaseProposal,
  noteCase,
  createOperator,
  listOperators,
  deactivateOperator,
  listCloses,
  getClose,
  exportCloseCsv,
  exportCloseOfx,
  exportStatement,
  ...consoleEndpoints,
  receiveCashInEvent,
  receiveCashOutEvent,
} as const

const healthEndpoints = { getHealth, getReadiness, getMetrics } as const

/** Every endpoint of the service by its handler's name. */
export const serviceEndpoints = { ...businessEndpoints, ...healthEndpoints } as const

/** All endpoints including the sandbox's, in the order of the documents. */
export const endpoints = { ...businessEndpoints, ...sandboxEndpoints, ...healthEndpoints } as const
