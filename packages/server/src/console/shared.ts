import type { endpoints, sandboxForOperators, sharedWithOperators } from '@pixgate/spec'
import { insertAudit, operatorOf } from '../audit/trail.ts'
import type { Clock } from '../platform/clock.ts'
import type { Database } from '../platform/db/database.ts'
import type { Handlers, RequestContext } from '../platform/http/handler.ts'
import type { Ids } from '../platform/ids.ts'

/** Endpoints of the merchant's API for operators: the same handlers, and an audit row where those write none. */

interface AuditNeeds {
  readonly database: Database
  readonly clock: Clock
  readonly ids: Ids
}

interface Ordered {
  readonly params?: unknown
  readonly context: RequestContext
}

/** Writes an audit row before the order, which remains whatever becomes of it. @source rules#console.5 */
function audited<Input extends Ordered, Result>(
  { database, clock, ids }: AuditNeeds,
  action: string,
  handle: (input: Input) => Promise<Result>,
): (input: Input) => Promise<Result> {
  return async (input) => {
    const operator = operatorOf(input.context)
    const subject = (input.params as { readonly id?: string } | undefined)?.id ?? operator.actor
    const facts = { correlationId: input.context.correlationId }
    await insertAudit(database, { ...operator, id: ids.uuid(), at: clock.now(), action, subject, facts })
    return handle(input)
  }
}

type OfMerchant = Handlers<typeof endpoints>

type Needed =
  | 'listWebhooks'
  | 'getWebhook'
  | 'deleteWebhook'
  | 'pauseWebhook'
  | 'resumeWebhook'
  | 'testWebhook'
  | 'rotateWebhookSecret'
  | 'recoverWebhook'
  | 'sendMissedToWebhook'
  | 'listWebhookDeliveries'
  | 'getWebhookDelivery'
  | 'resendWebhookDelivery'
  | 'listApiKeys'
  | 'generateApiKey'
  | 'deactivateApiKey'
  | 'listLedgerEntries'
  | 'getCashInQrCode'
  | 'getCashInReceipt'
  | 'getCashOutReceipt'
  | 'getRefundInReceipt'
  | 'cancelCashIn'

/** @source rules#console.5 */
export function createSharedHandlers(needs: AuditNeeds, of: Pick<OfMerchant, Needed>) {
  return {
    listOperatorWebhooks: of.listWebhooks,
    getOperatorWebhook: of.getWebhook,
    deleteOperatorWebhook: of.deleteWebhook,
    pauseOperatorWebhook: of.pauseWebhook,
    resumeOperatorWebhook: of.resumeWebhook,
    testOperatorWebhook: of.testWebhook,
    rotateOperatorWebhookSecret: of.rotateWebhookSecret,
    recoverOperatorWebhook: of.recoverWebhook,
    sendMissedToOperatorWebhook: of.sendMissedToWebhook,
    listOperatorDeliveries: of.listWebhookDeliveries,
    getOperatorDelivery: of.getWebhookDelivery,
    resendOperatorDelivery: of.resendWebhookDelivery,
    listOperatorApiKeys: of.listApiKeys,
    generateOperatorApiKey: of.generateApiKey,
    deactivateOperatorApiKey: of.deactivateApiKey,
    listOperatorLedger: of.listLedgerEntries,
    getOperatorQrCode: of.getCashInQrCode,
    getOperatorChargeReceipt: of.getCashInReceipt,
    getOperatorPayoutReceipt: of.getCashOutReceipt,
    getOperatorRefundReceipt: of.getRefundInReceipt,
    cancelOperatorCharge: audited(needs, 'cash_in.cancelled', of.cancelCashIn),
  } satisfies Handlers<typeof sharedWithOperators>
}

/** Orders that operators give in the sandbox only. @source rules#console.15 */
export function createSandboxHandlers(needs: AuditNeeds, of: Pick<OfMerchant, 'createCashIn' | 'createCashOut'>) {
  return {
    createOperatorCharge: audited(needs, 'cash_in.created', of.createCashIn),
    createOperatorPayout: audited(needs, 'cash_out.created', of.createCashOut),
  } satisfies Handlers<typeof sandboxForOperators>
}
