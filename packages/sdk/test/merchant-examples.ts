import type { MerchantMethod } from '../../../scripts/generate/sdk-surface.ts'
import { type CashIn, type CashOut, cents, type Pixgate, type RefundIn, type WebhookCreated } from '../src/index.ts'

/** What the examples of merchants begin with. They stand in the documentation of the methods, and run as one story. */
export interface MerchantStory {
  readonly pixgate: Pixgate
  /** Paid. */
  readonly charge: CashIn
  /** Not paid, in this order for the examples that end one. */
  readonly unpaid: readonly [CashIn, CashIn, CashIn]
  readonly payout: CashOut
  /** At the bank, which waits. */
  readonly waitingPayouts: readonly [CashOut, CashOut]
  readonly refund: RefundIn
  readonly waitingRefunds: readonly [RefundIn, RefundIn]
  readonly webhook: WebhookCreated
  readonly receiverUrl: string
}

export const merchantExamples = {
  'cashIns.create': async ({ pixgate }) => {
    const charge = await pixgate.cashIns.create({ externalId: 'order-1002', value: cents(150_00) })
    console.log(charge.pixCode)
  },
  'cashIns.get': async ({ pixgate, charge }) => {
    const { status, payerName } = await pixgate.cashIns.get(charge.id)
    console.log(status, payerName)
  },
  'cashIns.qrCode': async ({ pixgate, unpaid: [charge] }) => {
    const svg = await (await pixgate.cashIns.qrCode(charge.id)).text()
    console.log(svg.length)
  },
  'cashIns.receipt': async ({ pixgate, charge }) => {
    const pdf = await pixgate.cashIns.receipt(charge.id)
    console.log(pdf.size)
  },
  'cashIns.cancel': async ({ pixgate, unpaid: [charge] }) => {
    const { status } = await pixgate.cashIns.cancel(charge.id)
    console.log(status)
  },
  'cashIns.list': async ({ pixgate }) => {
    for await (const charge of pixgate.cashIns.list({ status: 'PAID', paid_from: '2026-11-01' })) {
      console.log(charge.externalId, charge.valueCents)
    }
  },
  'incomingTransactions.list': async ({ pixgate }) => {
    for await (const { operation, externalId } of pixgate.incomingTransactions.list())
      console.log(operation, externalId)
  },
  'cashOuts.create': async ({ pixgate }) => {
    const payout = await pixgate.cashOuts.create({
      externalId: 'payroll-12-ana',
      value: cents(30_00),
      recipient: { pixKey: 'ana@example.com', pixKeyType: 'email' },
    })
    const { outcome } = await pixgate.cashOuts.waitForEnd(payout.id)
    console.log(outcome)
  },
  'cashOuts.createFromQrCode': async ({ pixgate }) => {
    const pixCode =
      '00020126580014br.gov.bcb.pix0136123e4567-e12b-12d1-a456-4266554400005204000053039865802BR5913Fulano de Tal6008BRASILIA62070503***63041D3D'
    const payout = await pixgate.cashOuts.createFromQrCode({ externalId: 'invoice-77', pixCode, value: cents(30_00) })
    console.log(payout.recipient.name)
  },
  'cashOuts.get': async ({ pixgate, payout }) => {
    const { status, endToEndId } = await pixgate.cashOuts.get(payout.id)
    console.log(status, endToEndId)
  },
  'cashOuts.receipt': async ({ pixgate, payout }) => {
    const pdf = await pixgate.cashOuts.receipt(payout.id)
    console.log(pdf.size)
  },
  'cashOuts.list': async ({ pixgate }) => {
    const { data, pagination } = await pixgate.cashOuts.list({ external_id: 'payroll-12-ana' }).page()
    console.log(data[0]?.status, pagination.total)
  },
  'refunds.create': async ({ pixgate, charge }) => {
    const refund = await pixgate.refunds.create(charge.id, { externalId: 'refund-3001', refundValue: cents(50_00) })
    const { outcome } = await pixgate.refunds.waitForEnd(refund.id)
    console.log(outcome)
  },
  'refunds.get': async ({ pixgate, refund }) => {
    const { status, returnId } = await pixgate.refunds.get(refund.id)
    console.log(status, returnId)
  },
  'refunds.receipt': async ({ pixgate, refund }) => {
    const pdf = await pixgate.refunds.receipt(refund.id)
    console.log(pdf.size)
  },
  'refunds.list': async ({ pixgate, charge }) => {
    for await (const { status, valueCents } of pixgate.refunds.list({ cash_in_id: charge.id })) {
      console.log(status, valueCents)
    }
  },
  'balance.get': async ({ pixgate }) => {
    const [balance] = await pixgate.balance.get()
    console.log(balance?.amount, balance?.reservedCents)
  },
  'ledger.list': async ({ pixgate, charge }) => {
    for await (const entry of pixgate.ledger.list({ reference_id: charge.id })) console.log(entry.type, entry.id)
  },
  'ledger.get': async ({ pixgate }) => {
    const { data } = await pixgate.ledger.list({ limit: 1 }).page()
    for (const { id } of data) console.log((await pixgate.ledger.get(id)).type)
  },
  'webhooks.create': async ({ pixgate, receiverUrl }) => {
    const { webhook_id, secret } = await pixgate.webhooks.create({ url: receiverUrl, events: ['pix_cash_in'] })
    console.log(webhook_id, secret)
  },
  'webhooks.list': async ({ pixgate }) => {
    const { data } = await pixgate.webhooks.list()
    for (const { webhook_id, url } of data) console.log(webhook_id, url)
  },
  'webhooks.get': async ({ pixgate, webhook }) => {
    const { delivery } = await pixgate.webhooks.get(webhook.webhook_id)
    console.log(delivery.state, delivery.pending)
  },
  'webhooks.pause': async ({ pixgate, webhook }) => {
    await pixgate.webhooks.pause(webhook.webhook_id)
  },
  'webhooks.resume': async ({ pixgate, webhook }) => {
    await pixgate.webhooks.resume(webhook.webhook_id)
  },
  'webhooks.rotateSecret': async ({ pixgate, webhook }) => {
    const { secret, previousExpiresAt } = await pixgate.webhooks.rotateSecret(webhook.webhook_id)
    console.log(secret, previousExpiresAt)
  },
  'webhooks.test': async ({ pixgate, webhook }) => {
    const { outcome, explanation } = await pixgate.webhooks.test(webhook.webhook_id)
    console.log(outcome, explanation)
  },
  'webhooks.recover': async ({ pixgate, webhook }) => {
    const { deliveries } = await pixgate.webhooks.recover(webhook.webhook_id, { since: '2026-11-21T00:00:00Z' })
    console.log(deliveries)
  },
  'webhooks.sendMissed': async ({ pixgate, webhook }) => {
    const { deliveries } = await pixgate.webhooks.sendMissed(webhook.webhook_id, { since: '2026-11-21T00:00:00Z' })
    console.log(deliveries)
  },
  'deliveries.list': async ({ pixgate, charge }) => {
    for await (const { id, state } of pixgate.deliveries.list({ operation_id: charge.id })) console.log(id, state)
  },
  'deliveries.get': async ({ pixgate }) => {
    const { data } = await pixgate.deliveries.list({ limit: 1 }).page()
    for (const { id } of data) console.log((await pixgate.deliveries.get(id)).attempts)
  },
  'deliveries.resend': async ({ pixgate }) => {
    const { data } = await pixgate.deliveries.list({ limit: 1 }).page()
    for (const { id } of data) console.log((await pixgate.deliveries.resend(id)).state)
  },
  'webhooks.delete': async ({ pixgate, webhook }) => {
    await pixgate.webhooks.delete(webhook.webhook_id)
  },
  'events.list': async ({ pixgate }) => {
    for await (const { position, type, body } of pixgate.events.list()) console.log(position, type, JSON.parse(body))
  },
  'publicKeys.list': async ({ pixgate }) => {
    const { data } = await pixgate.publicKeys.list()
    for (const { id, state } of data) console.log(id, state)
  },
  'publicKeys.current': async ({ pixgate }) => {
    const pem = await (await pixgate.publicKeys.current()).text()
    console.log(pem)
  },
  'publicKeys.jwks': async ({ pixgate }) => {
    const { keys } = await pixgate.publicKeys.jwks()
    console.log(keys.length)
  },
  'sandbox.pay': async ({ pixgate, unpaid: [, charge] }) => {
    await pixgate.sandbox.pay(charge.id, { payerName: 'Maria da Silva' })
    const { outcome } = await pixgate.cashIns.waitForEnd(charge.id)
    console.log(outcome)
  },
  'sandbox.failCashIn': async ({ pixgate, unpaid: [, , charge] }) => {
    await pixgate.sandbox.failCashIn(charge.id)
  },
  'sandbox.returnCashIn': async ({ pixgate, charge }) => {
    await pixgate.sandbox.returnCashIn(charge.id, { valueCents: cents(5_00) })
  },
  'sandbox.confirmCashOut': async ({ pixgate, waitingPayouts: [payout] }) => {
    await pixgate.sandbox.confirmCashOut(payout.id)
  },
  'sandbox.failCashOut': async ({ pixgate, waitingPayouts: [, payout] }) => {
    await pixgate.sandbox.failCashOut(payout.id)
  },
  'sandbox.reverseCashOut': async ({ pixgate, payout }) => {
    await pixgate.sandbox.reverseCashOut(payout.id, { valueCents: cents(10_00) })
  },
  'sandbox.confirmRefund': async ({ pixgate, waitingRefunds: [refund] }) => {
    await pixgate.sandbox.confirmRefund(refund.id)
  },
  'sandbox.failRefund': async ({ pixgate, waitingRefunds: [, refund] }) => {
    await pixgate.sandbox.failRefund(refund.id)
  },
  'sandbox.closeToday': async ({ pixgate }) => {
    const { status } = await pixgate.sandbox.closeToday()
    console.log(status)
  },
  'sandbox.behavior': async ({ pixgate }) => {
    const { cashOut, latencyMs } = await pixgate.sandbox.behavior()
    console.log(cashOut, latencyMs)
  },
  'sandbox.book': async ({ pixgate }) => {
    const { balanceCents, entries } = await pixgate.sandbox.book()
    console.log(balanceCents, entries.length)
  },
  'sandbox.changeBehavior': async ({ pixgate }) => {
    await pixgate.sandbox.changeBehavior({ eventCopies: 3, eventsShuffled: true })
  },
} satisfies Readonly<Record<MerchantMethod, (story: MerchantStory) => Promise<void>>>
