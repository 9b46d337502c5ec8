import { sdkFixes } from './errors.ts'
import { fixes } from './generated/errors.ts'
import { operatorFixes } from './generated/operator-errors.ts'
import * as resources from './generated/operator-methods.ts'
import { type ClientOptions, environment, Transport } from './transport.ts'

export { PixgateError } from './errors.ts'
export { type Cents, cents } from './money.ts'

/** Options of {@link PixgateOperator}. */
export interface PixgateOperatorOptions extends ClientOptions {
  /** By default `PIXGATE_OPERATOR_URL`, else `PIXGATE_URL`. */
  readonly url?: string | undefined
  /** Of an operator; by default `PIXGATE_ADMIN_TOKEN`. */
  readonly token?: string | undefined
}

/** A client for operators, with the rights of their role. @source rules#sdk.14 */
export class PixgateOperator {
  readonly apiKeys: resources.ApiKeysMethods
  readonly cashOutSwitch: resources.CashOutSwitchMethods
  readonly adjustments: resources.AdjustmentsMethods
  readonly refunds: resources.RefundsMethods
  readonly signingKeys: resources.SigningKeysMethods
  readonly webhooks: resources.WebhooksMethods
  readonly deliveries: resources.DeliveriesMethods
  readonly approvals: resources.ApprovalsMethods
  readonly cases: resources.CasesMethods
  readonly proposals: resources.ProposalsMethods
  readonly operators: resources.OperatorsMethods
  readonly sessions: resources.SessionsMethods
  readonly closes: resources.ClosesMethods
  readonly statement: resources.StatementMethods
  readonly operations: resources.OperationsMethods
  readonly cashIns: resources.CashInsMethods
  readonly cashOuts: resources.CashOutsMethods
  readonly ledger: resources.LedgerMethods
  readonly reconciliation: resources.ReconciliationMethods
  readonly overview: resources.OverviewMethods
  readonly changes: resources.ChangesMethods
  readonly audit: resources.AuditMethods
  readonly system: resources.SystemMethods
  readonly health: resources.HealthMethods

  constructor(options: PixgateOperatorOptions = {}) {
    const url = options.url ?? environment('PIXGATE_OPERATOR_URL')
    const token = options.token ?? environment('PIXGATE_ADMIN_TOKEN') ?? ''
    const transport = new Transport({ ...options, url }, { token, fixes: { ...fixes, ...operatorFixes, ...sdkFixes } })
    this.apiKeys = new resources.ApiKeysMethods(transport)
    this.cashOutSwitch = new resources.CashOutSwitchMethods(transport)
    this.adjustments = new resources.AdjustmentsMethods(transport)
    this.refunds = new resources.RefundsMethods(transport)
    this.signingKeys = new resources.SigningKeysMethods(transport)
    this.webhooks = new resources.WebhooksMethods(transport)
    this.deliveries = new resources.DeliveriesMethods(transport)
    this.approvals = new resources.ApprovalsMethods(transport)
    this.cases = new resources.CasesMethods(transport)
    this.proposals = new resources.ProposalsMethods(transport)
    this.operators = new resources.OperatorsMethods(transport)
    this.sessions = new resources.SessionsMethods(transport)
    this.closes = new resources.ClosesMethods(transport)
    this.statement = new resources.StatementMethods(transport)
    this.operations = new resources.OperationsMethods(transport)
    this.cashIns = new resources.CashInsMethods(transport)
    this.cashOuts = new resources.CashOutsMethods(transport)
    this.ledger = new resources.LedgerMethods(transport)
    this.reconciliation = new resources.ReconciliationMethods(transport)
    this.overview = new resources.OverviewMethods(transport)
    this.changes = new resources.ChangesMethods(transport)
    this.audit = new resources.AuditMethods(transport)
    this.system = new resources.SystemMethods(transport)
    this.health = new resources.HealthMethods(transport)
  }
}
