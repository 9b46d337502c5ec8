import { setTimeout } from 'node:timers/promises'
import { cents, type Notification, type Pixgate, PixgateError } from '@pixgate/sdk'
import { expressWebhook, type WebhookTest } from '@pixgate/sdk/webhooks'
import { type Order, refundIdOf, type Store } from './store.ts'

/** Everything of the shop that calls Pixgate or reacts to it. Each function may run again at any time. */
export interface Shop {
  readonly pixgate: Pixgate
  readonly store: Store
}

/** Registers the endpoint once; its secret is shown once, so the shop stores it. @returns the handler of its requests */
export async function receiver(shop: Shop, url: string) {
  const { webhooks } = shop.pixgate
  const known = (await webhooks.list()).data.find((endpoint) => endpoint.url === url)
  let { secret } = shop.store
  if (known === undefined)
    ({ secret } = await webhooks.create({ url, events: ['pix_cash_in', 'pix_cash_in_reversal'] }))
  else if (secret === null) ({ secret } = await webhooks.rotateSecret(known.webhook_id))
  shop.store.secret = secret
  return expressWebhook({ secret }, (event) => handle(shop, event))
}

/** Charges an order once. Whatever became of the answer, the list shows whether there is a charge. */
async function charge({ pixgate, store }: Shop, { id, value_cents }: Order): Promise<void> {
  const order = { externalId: id, value: cents(value_cents), description: 'Café', expirationTime: 3_600 }
  const refusal = await pixgate.cashIns.create(order).then(() => undefined, refusalOf)
  const [found] = (await pixgate.cashIns.list({ external_id: id }).page()).data
  if (found) store.apply(found)
  else if (refusal) store.refuse(id, refusal)
}

/** Sends the refund that the store has begun, once. */
async function refund({ pixgate, store }: Shop, order: Order, chargeId: string): Promise<void> {
  const sent = { externalId: refundIdOf(order), refundValue: cents(order.refund_cents) }
  const refusal = await pixgate.refunds.create(chargeId, sent).then(() => undefined, refusalOf)
  const [found] = (await pixgate.refunds.list({ external_id: sent.externalId }).page()).data
  store.apply(await pixgate.cashIns.get(chargeId))
  if (found || refusal) store.endRefund(sent.externalId, found?.status ?? 'FAILED')
}

/** Brings an order forward: charges it, refunds it, or finds out what no notification reports (expiry, doubts). */
export async function ask(shop: Shop, order: Order): Promise<void> {
  if (order.charge_id === null) await charge(shop, order)
  else if (order.refund_status === 'PENDING') await refund(shop, order, order.charge_id)
  else shop.store.apply(await shop.pixgate.cashIns.get(order.charge_id))
}

/** The QR code of an order, as an image. */
export function qrCode({ pixgate }: Shop, { charge_id }: Order): Promise<Blob> {
  return pixgate.cashIns.qrCode(`${charge_id}`)
}

/** Reads the charge of an event, so duplicates and late or early events do no harm. */
export async function handle(
  { pixgate, store }: Shop,
  { event_type, event }: Notification | WebhookTest,
): Promise<void> {
  if (event_type !== 'pix_cash_in' && event_type !== 'pix_cash_in_reversal') return
  if (!store.has(event.external_id, event.id)) return
  store.apply(await pixgate.cashIns.get(event.id))
  if (event_type === 'pix_cash_in_reversal') store.endRefund(event.external_id, event.status)
}

/** Reads the feed from the stored cursor on, for ever: everything that the webhook may have missed. */
export async function follow(shop: Shop, signal: AbortSignal, pauseMs = 5_000): Promise<void> {
  while (!signal.aborted) {
    try {
      for await (const { event, cursor } of shop.pixgate.events.follow({ cursor: shop.store.cursor, signal })) {
        await handle(shop, event)
        shop.store.cursor = cursor
      }
    } catch (error) {
      console.error('feed', error)
      // Pixgate was restored from a backup, or the shop was off for 90 days: reconcile() shows what is missing.
      if (error instanceof PixgateError && error.readFrom) shop.store.cursor = error.readFrom.cursor
      else await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
    }
  }
}

/** Compares orders with charges by the time of their payment. @returns those that differ */
export async function reconcile({ pixgate, store }: Shop, paid_from: string, paid_to: string) {
  const there = new Map<string, string>()
  for await (const charge of pixgate.cashIns.list({ paid_from, paid_to }))
    there.set(charge.externalId, `${charge.status} ${charge.valueCents} ${charge.refundedCents}`)
  const here = new Map(
    store.paid(paid_from, paid_to).map((it) => [it.id, `${it.status} ${it.value_cents} ${it.refunded_cents}`]),
  )
  const ids = [...new Set([...there.keys(), ...here.keys()])]
  const both = ids.map((id) => ({ id, here: here.get(id) ?? 'not paid', there: there.get(id) ?? 'not paid' }))
  return both.filter((it) => it.here !== it.there)
}

/** The code of a final refusal; `undefined` where the outcome is unknown, or the same call may succeed later. */
function refusalOf(error: unknown): string | undefined {
  if (!(error instanceof PixgateError)) throw error
  return error.outcome === 'unknown' || error.isSafeToRetry ? undefined : error.code
}
