import { sdkFixes } from './errors.ts'
import { type Followed, type FollowOptions, follow } from './follow.ts'
import { fixes } from './generated/errors.ts'
import {
  BalanceMethods,
  CashInsMethods,
  CashOutsMethods,
  DeliveriesMethods,
  EventsMethods,
  IncomingTransactionsMethods,
  LedgerMethods,
  PublicKeysMethods,
  RefundsMethods,
  SandboxMethods,
  WebhooksMethods,
} from './generated/methods.ts'
import type { CashIn, CashInStatus, CashOut, CashOutStatus, RefundIn, RefundInStatus } from './generated/types.ts'
import { type ClientOptions, environment, Transport } from './transport.ts'
import { type End, type WaitOptions, waitForEnd } from './wait.ts'

export { type Language, PixgateError, type PixgateErrorCode, type SdkErrorCode } from './errors.ts'
export type { Followed, FollowOptions } from './follow.ts'
export type { ErrorCode } from './generated/errors.ts'
export type * from './generated/types.ts'
export { type Cents, cents } from './money.ts'
export type { ClientOptions, Created, List, RequestOptions, Runtime } from './transport.ts'
export type { End, WaitOptions } from './wait.ts'

/** Options of {@link Pixgate}. */
export interface PixgateOptions extends ClientOptions {
  /** By default `PIXGATE_API_KEY`. */
  readonly apiKey?: string | undefined
}

/** A client for merchants. @source rules#sdk.1, rules#sdk.13 */
export class Pixgate {
  readonly cashIns: CashIns
  readonly cashOuts: CashOuts
  readonly refunds: Refunds
  readonly balance: BalanceMethods
  readonly ledger: LedgerMethods
  readonly incomingTransactions: IncomingTransactionsMethods
  readonly events: Events
  readonly webhooks: WebhooksMethods
  readonly deliveries: DeliveriesMethods
  readonly publicKeys: PublicKeysMethods
  /** Controls of the simulated bank; in a sandbox only. */
  readonly sandbox: SandboxMethods

  constructor(options: PixgateOptions = {}) {
    const token = options.apiKey ?? environment('PIXGATE_API_KEY') ?? ''
    const transport = new Transport(options, { token, fixes: { ...fixes, ...sdkFixes } })
    this.cashIns = new CashIns(transport)
    this.cashOuts = new CashOuts(transport)
    this.refunds = new Refunds(transport)
    this.balance = new BalanceMethods(transport)
    this.ledger = new LedgerMethods(transport)
    this.incomingTransactions = new IncomingTransactionsMethods(transport)
    this.events = new Events(transport)
    this.webhooks = new WebhooksMethods(transport)
    this.deliveries = new DeliveriesMethods(transport)
    this.publicKeys = new PublicKeysMethods(transport)
    this.sandbox = new SandboxMethods(transport)
  }
}

const chargeOutcomes = {
  PENDING: 'open',
  PAID: 'confirmed',
  // A payment in time that the bank reports late still makes it PAID.
  EXPIRED: 'open',
  FAILED: 'failed',
  PROVIDER_RESULT_UNKNOWN: 'open',
  RECONCILIATION_REQUIRED: 'open',
} as const satisfies Record<CashInStatus, End<CashIn>['outcome']>

const payoutOutcomes = {
  RESERVED: 'open',
  DISPATCHED: 'open',
  CONFIRMED: 'confirmed',
  FAILED: 'failed',
  // It arrived before it came back; `reversedCents` says how much.
  REVERSED: 'confirmed',
  RELEASED: 'failed',
  PROVIDER_RESULT_UNKNOWN: 'open',
  RECONCILIATION_REQUIRED: 'open',
} as const satisfies Record<CashOutStatus, End<CashOut>['outcome']>

const refundOutcomes = {
  PENDING: 'open',
  CONFIRMED: 'confirmed',
  FAILED: 'failed',
} as const satisfies Record<RefundInStatus, End<RefundIn>['outcome']>

/** Charges. */
export class CashIns extends CashInsMethods {
  /** Reads a charge until it is paid or cannot be paid any more. An expired one is `open`: a payment may be reported late. */
  waitForEnd(id: string, options?: WaitOptions): Promise<End<CashIn>> {
    return waitForEnd(this.transport.runtime, (rest) => this.get(id, rest), chargeOutcomes, options)
  }
}

/** Payouts. */
export class CashOuts extends CashOutsMethods {
  /** Reads a payout until it has ended. `open` after `timeoutMs` is no failure: never send it again as another payout. */
  waitForEnd(id: string, options?: WaitOptions): Promise<End<CashOut>> {
    return waitForEnd(this.transport.runtime, (rest) => this.get(id, rest), payoutOutcomes, options)
  }
}

/** Refunds of charges. */
export class Refunds extends RefundsMethods {
  /** Reads a refund until it has ended. `open` after `timeoutMs` is no failure: never send it again as another refund. */
  waitForEnd(id: string, options?: WaitOptions): Promise<End<RefundIn>> {
    return waitForEnd(this.transport.runtime, (rest) => this.get(id, rest), refundOutcomes, options)
  }
}

/** The feed of all notifications. */
export class Events extends EventsMethods {
  /**
   * All events in order, for ever, from a stored cursor on.
   * @throws PixgateError cursor_unknown · events_erased, both with `readFrom` · events_missing
   */
  follow(options?: FollowOptions): AsyncGenerator<Followed, void, undefined> {
    const { runtime } = this.transport
    const read = this.transport
    return follow(
      {
        runtime,
        read: (query, rest) => this.list(query, rest).page(),
        fail: (code, details) => read.error(code, details),
      },
      options,
    )
  }
}
