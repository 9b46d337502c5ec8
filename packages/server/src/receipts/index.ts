import { setImmediate } from 'node:timers/promises'
import { type endpoints, limits, type ReceiptKind, Refusal, receiptStatuses } from '@pixgate/spec'
import pLimit from 'p-limit'
import { type CashIn, statusAt } from '../cash-in/index.ts'
import type { CashOut } from '../cash-out/index.ts'
import type { Operation } from '../engine/operation.ts'
import { found } from '../operations/requests.ts'
import type { Clock } from '../platform/clock.ts'
import type { HandlerInput, Handlers } from '../platform/http/handler.ts'
import type { RefundIn } from '../refund-in/index.ts'
import { receiptPdf } from './document.ts'
import { RECEIPT_POLICY, receiptPage } from './page.ts'
import { cashInReceipt, cashOutReceipt, type Merchant, type Receipt, refundReceipt } from './receipt.ts'

export { RECEIPT_STYLE } from './page.ts'

/** Receipts, made on demand. */

interface Store<Op extends Operation> {
  get(id: string): Promise<Op | undefined>
}

interface ReceiptNeeds {
  readonly cashIns: Store<CashIn>
  readonly cashOuts: Store<CashOut>
  readonly refunds: Store<RefundIn>
  readonly merchant: Merchant
  readonly clock: Clock
}

type ReceiptHandlers = Handlers<Pick<typeof endpoints, 'getCashInReceipt' | 'getCashOutReceipt' | 'getRefundInReceipt'>>

type Input = HandlerInput<typeof endpoints.getCashInReceipt>

/** @source rules#receipt.1, rules#receipt.2 */
export function createReceiptHandlers({ cashIns, cashOuts, refunds, merchant, clock }: ReceiptNeeds): ReceiptHandlers {
  const bounded = createBound()
  const of = (make: (id: string) => Promise<Receipt>) => (input: Input) =>
    bounded(async () => answer(await make(input.params.id), input))
  return {
    getCashInReceipt: of(async (id) => {
      const cashIn = await found(cashIns, id)
      assertReceipted('cash_in', { id: cashIn.id, status: statusAt(cashIn, clock.now()) })
      return cashInReceipt(cashIn, merchant)
    }),
    getCashOutReceipt: of(async (id) => {
      const cashOut = await found(cashOuts, id)
      assertReceipted('cash_out', cashOut)
      return cashOutReceipt(cashOut, merchant)
    }),
    getRefundInReceipt: of(async (id) => {
      const refund = await found(refunds, id)
      assertReceipted('refund_in', refund)
      const { cashInId, from = null } = refund.detail
      const holderId = cashInId ?? from
      return refundReceipt(refund, holderId === null ? undefined : await cashIns.get(holderId), merchant)
    }),
  }
}

/**
 * @throws not_possible_in_state (409) the money has not moved, or that is in doubt
 * @source rules#receipt.2
 */
function assertReceipted(kind: ReceiptKind, { id, status }: { readonly id: string; readonly status: string }): void {
  if (receiptStatuses[kind].includes(status)) return
  throw new Refusal('not_possible_in_state', {
    message: 'there is no receipt in this state; see existing for its status',
    existing: { id, status },
  })
}

/**
 * Makes few receipts at a time and lets other work in between.
 * @throws overloaded (503) enough are waiting
 * @source rules#receipt.7
 */
function createBound() {
  const limit = pLimit(limits.receiptsAtOnce)
  return <Made>(make: () => Promise<Made>): Promise<Made> => {
    if (limit.pendingCount >= limits.receiptsWaiting) throw new Refusal('overloaded', { retryAfterSeconds: 1 })
    return limit(async () => {
      await setImmediate()
      return make()
    })
  }
}

/** @source rules#receipt.5, rules#receipt.6 */
async function answer(receipt: Receipt, { query: { format }, context: { headers } }: Input) {
  const isPage = (format ?? /application\/pdf|text\/html/i.exec(headers.accept ?? '')?.[0].toLowerCase())?.endsWith(
    'html',
  )
  const type = isPage ? 'html' : 'pdf'
  return {
    status: 200,
    body: (isPage ? receiptPage(receipt) : await receiptPdf(receipt)) as string,
    headers: {
      'content-type': isPage ? 'text/html; charset=utf-8' : 'application/pdf',
      'content-disposition': `inline; filename="comprovante-${receipt.id}.${type}"`,
      vary: 'accept',
      ...(isPage && { 'content-security-policy': RECEIPT_POLICY }),
    },
  } as const
}
