import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import test, { type TestContext } from 'node:test'
import { follow, handle, reconcile } from '../../../examples/shop/pix.ts'
import { askOpen, openShop, weekBefore } from '../../../examples/shop/shop.ts'
import type { Order } from '../../../examples/shop/store.ts'
import { realPause } from '../../server/src/platform/jobs/pause.ts'
import { wallNow } from '../../server/test/support/wall-clock.ts'
import { world } from '../../server/test/support/world.ts'
import { Pixgate, type PixgateOptions } from '../src/index.ts'

const HOUR_MS = 3_600_000

function tamper(file: string, sql: string): void {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

/** The example's shop at a sandbox, with a customer. @param options of its client */
async function shopAt(t: TestContext, options: PixgateOptions = {}) {
  t.mock.method(console, 'error', () => undefined)
  const pix = await world(t)
  const folder = await mkdtemp(join(tmpdir(), 'pixgate-shop-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'shop.db')
  const pixgate = new Pixgate({ url: pix.url, apiKey: pix.apiKey, maxRetries: 0, ...options })
  const shop = await openShop({ pixgate, file, port: 0 })
  let closed: Promise<void> | undefined
  const close = () => {
    closed ??= shop.close()
    return closed
  }
  t.after(close)

  const post = async (path: string, form: Record<string, string>, headers: Record<string, string> = {}) => {
    const body = new URLSearchParams(form)
    return fetch(shop.url + path, { method: 'POST', body, headers, redirect: 'manual' })
  }
  const stored = (id: string) => shop.store.find(id) ?? assert.fail('the shop has the order')
  const becomes = async (id: string, holds: (order: Order) => boolean) => {
    while (!holds(stored(id))) await realPause.for(5)
    return stored(id)
  }
  return {
    ...shop,
    close,
    file,
    pix,
    post,
    becomes,
    /** Orders two, sending the form twice. */
    order: async () => {
      const form = { id: `shop-${crypto.randomUUID()}`, quantity: '2' }
      await post('/orders', form)
      const { status, headers } = await post('/orders', form)
      assert.deepEqual([status, headers.get('location')], [303, `/orders/${form.id}`])
      return stored(form.id)
    },
    read: async (path: string) => (await fetch(shop.url + path)).text(),
    pay: (order: Order) => pixgate.sandbox.pay(order.charge_id ?? ''),
    /** The endpoint takes nothing any more. */
    closeEndpoint: async () => {
      const { data } = await pixgate.webhooks.list()
      const { webhook_id = '' } = data.find(({ url }) => url === `${shop.url}/pix`) ?? {}
      await pixgate.webhooks.pause(webhook_id)
    },
    /** Follows the feed until this holds. */
    followUntil: async (id: string, holds: (order: Order) => boolean) => {
      const stop = new AbortController()
      const following = follow(shop, stop.signal, 5)
      await becomes(id, holds)
      stop.abort()
      await following
    },
    /** Changes the shop's database past the shop. */
    tamper: (sql: string) => tamper(file, sql),
  }
}

const isPaid = ({ status }: Order) => status === 'PAID'

test('the Pix code of the example is at most 80 lines', async () => {
  const text = await readFile(new URL('../../../examples/shop/pix.ts', import.meta.url), 'utf8')
  const lines = text.split('\n').filter((line) => !/^\s*($|\/\/|\/?\*)/.test(line))
  assert.ok(lines.length <= 80, `${lines.length} lines`)
})

test('[external-id.2] [webhooks.8] an order is charged once, is paid by webhook, and is refunded in part', async (t) => {
  const shop = await shopAt(t)
  const order = await shop.order()
  assert.deepEqual([order.status, order.value_cents], ['PENDING', 5_000])
  const page = await shop.read(`/orders/${order.id}`)
  assert.ok(page.includes(order.pix_code ?? 'no code'))
  assert.match(await shop.read(`/orders/${order.id}/qr`), /^<svg/)
  const { data } = await shop.pixgate.cashIns.list().page()
  assert.equal(data.length, 1)

  const forged = { event_type: 'pix_cash_in', event: { id: order.charge_id, external_id: order.id } }
  const answer = await fetch(`${shop.url}/pix`, { method: 'POST', body: JSON.stringify(forged) })
  assert.equal(answer.status, 401)
  await shop.pay(order)
  await shop.becomes(order.id, isPaid)

  const refund = { number: '1', amount: '12,34' }
  const path = `/orders/${order.id}/refund`
  assert.equal((await shop.post(path, refund, { 'sec-fetch-site': 'cross-site' })).status, 404)
  for (const amount of ['50,01', '0', '-1', '1,234', 'NaN']) await shop.post(path, { ...refund, amount })
  await Promise.all([shop.post(path, refund), shop.post(path, refund)])
  await shop.post(path, refund)
  const refunded = await shop.becomes(order.id, ({ refund_status }) => refund_status === 'CONFIRMED')
  assert.equal(refunded.refunded_cents, 1_234)
  await shop.post(path, refund)
  const refunds = await shop.pixgate.refunds.list().page()
  assert.deepEqual(
    refunds.data.map(({ externalId, valueCents }) => [externalId, valueCents]),
    [[`${order.id}-refund-1`, 1_234]],
  )
})

test('[feed.8] what the webhook missed is in the feed, and is read once', async (t) => {
  const shop = await shopAt(t)
  const order = await shop.order()
  await shop.closeEndpoint()
  await shop.pay(order)
  await shop.pix.becomes(order.charge_id ?? '', 'PAID')
  assert.equal(shop.store.find(order.id)?.status, 'PENDING')
  await shop.followUntil(order.id, isPaid)
  await shop.pix.until(`/api/pix/events?cursor=${shop.store.cursor}`, ({ data }) => data.length === 0)

  // A cursor of a database that was restored.
  shop.tamper(`UPDATE pixgate SET cursor = '${Buffer.from('v1:9:abcdefabcdef').toString('base64url')}'`)
  const next = await shop.order()
  await shop.pay(next)
  await shop.followUntil(next.id, isPaid)
})

test('[feed.8] a late reading and a repeated event change nothing', async (t) => {
  const shop = await shopAt(t)
  const order = await shop.order()
  const early = await shop.pixgate.cashIns.get(order.charge_id ?? '')
  await shop.pay(order)
  const paid = await shop.becomes(order.id, isPaid)
  shop.store.apply(early)
  assert.deepEqual(shop.store.find(order.id), paid)
  const { data } = await shop.pixgate.events.list().page()
  for (const { body } of [...data, ...data]) await handle(shop, JSON.parse(body))
  assert.deepEqual(shop.store.find(order.id), paid)

  const beforeRefund = await shop.pixgate.cashIns.get(order.charge_id ?? '')
  await shop.post(`/orders/${order.id}/refund`, { number: '1', amount: '10' })
  const refunded = await shop.becomes(order.id, ({ refund_status }) => refund_status === 'CONFIRMED')
  shop.store.apply(beforeRefund)
  shop.store.endRefund(`${order.id}-refund-1`, 'FAILED')
  assert.deepEqual(shop.store.find(order.id), refunded)
})

test('[webhook-secrets.3] a shop that starts again has one endpoint, and another secret if it lost its own', async (t) => {
  const shop = await shopAt(t)
  const { secret } = shop.store
  const order = await shop.order()
  const again = async () => {
    await shop.close()
    const opened = await openShop({ pixgate: shop.pixgate, file: shop.file, port: Number(new URL(shop.url).port) })
    t.after(() => opened.close())
    return opened
  }
  shop.tamper('UPDATE pixgate SET secret = NULL')
  const { store } = await again()
  assert.notEqual(store.secret ?? secret, secret)
  await shop.pay(order)
  while (store.find(order.id)?.status !== 'PAID') await realPause.for(5)
  const { data } = await shop.pixgate.webhooks.list()
  assert.equal(data.filter(({ url }) => url === `${shop.url}/pix`).length, 1)
})

test('[sdk.5] a refusal ends a charge or a refund only if there is none', async (t) => {
  const shop = await shopAt(t)
  const { id } = shop.store.add('shop-dear', 1_000_000_000_000)
  await askOpen(shop, new Date(wallNow()).toISOString())
  const { status, failure } = shop.store.find(id) ?? {}
  assert.deepEqual([status, failure], ['FAILED', 'value_too_large'])

  const order = await shop.order()
  await shop.pay(order)
  await shop.becomes(order.id, isPaid)
  shop.tamper(`UPDATE shop_order SET value_cents = 900000 WHERE id = '${order.id}'`)
  await shop.post(`/orders/${order.id}/refund`, { number: '1', amount: '9000' })
  const { refund_status, refunded_cents } = shop.store.find(order.id) ?? {}
  assert.deepEqual([refund_status, refunded_cents], ['FAILED', 0])
})

test('[sdk.5] lost answers: the charge and the refund are found, and made once', async (t) => {
  const lost: string[] = []
  // Carried out, and not answered; then nothing is answered at all.
  const losing: typeof fetch = async (url, request) => {
    const response = await fetch(url, request)
    const path = new URL(String(url)).pathname
    if (request?.method !== 'POST' || !/^\/api\/pix\/(cash-in|refund-in)/.test(path)) return response
    lost.push(path)
    throw new TypeError('the connection was lost')
  }
  const shop = await shopAt(t, { fetch: losing })
  const order = await shop.order()
  assert.equal(order.status, 'PENDING')
  await shop.pay(order)
  await shop.becomes(order.id, isPaid)
  await shop.post(`/orders/${order.id}/refund`, { number: '1', amount: '10' })
  await askOpen(shop, new Date(wallNow()).toISOString())
  const { refunded_cents } = await shop.becomes(order.id, ({ refund_status }) => refund_status === 'CONFIRMED')
  assert.equal(refunded_cents, 1_000)
  assert.ok(lost.length >= 2)
  assert.equal((await shop.pixgate.cashIns.list().page()).data.length, 1)
  assert.equal((await shop.pixgate.refunds.list().page()).data.length, 1)
})

test('[sdk.5] what never arrived is no refusal: it is sent again when the order is asked about', async (t) => {
  let isBroken = false
  const shop = await shopAt(t, {
    fetch: async (url, request) =>
      isBroken && request?.method === 'POST' ? Promise.reject(new TypeError('no connection')) : fetch(url, request),
  })
  const askAgain = async () => {
    isBroken = false
    await askOpen(shop, new Date(wallNow()).toISOString())
  }
  isBroken = true
  const { id } = await shop.order()
  assert.equal(shop.store.find(id)?.status, 'NEW')
  await askAgain()
  const order = shop.store.find(id) ?? assert.fail('the shop has the order')
  assert.equal(order.status, 'PENDING')

  await shop.pay(order)
  await shop.becomes(id, isPaid)
  isBroken = true
  await shop.post(`/orders/${id}/refund`, { number: '1', amount: '10' })
  assert.equal(shop.store.find(id)?.refund_status, 'PENDING')
  await askAgain()
  await shop.becomes(id, ({ refund_status }) => refund_status === 'CONFIRMED')
})

test('[webhooks.8] an event that is faster than the answer to the creation finds its order', async (t) => {
  let onCreated = async (_: string) => undefined as unknown
  const shop = await shopAt(t, {
    fetch: async (url, request) => {
      const response = await fetch(url, request)
      if (request?.method === 'POST' && String(url).endsWith('/cash-in')) {
        const { id, externalId } = (await response.clone().json()) as { id: string; externalId: string }
        await shop.pixgate.sandbox.pay(id)
        await onCreated(externalId)
      }
      return response
    },
  })
  onCreated = (id) => shop.becomes(id, isPaid)
  const form = { id: `shop-${crypto.randomUUID()}`, quantity: '1' }
  await shop.post('/orders', form)
  assert.equal(shop.store.find(form.id)?.status, 'PAID')
})

test('[cash-in.states.8] an order expires without a notification, and a later payment is in doubt', async (t) => {
  const shop = await shopAt(t)
  const order = await shop.order()
  shop.pix.clock.advance(2 * HOUR_MS)
  await askOpen(shop, new Date(wallNow() + 2 * HOUR_MS).toISOString())
  assert.equal(shop.store.find(order.id)?.status, 'EXPIRED')
  await shop.pay(order)
  await shop.pix.becomes(order.charge_id ?? '', 'RECONCILIATION_REQUIRED')
  await shop.read(`/orders/${order.id}`)
  assert.equal(shop.store.find(order.id)?.status, 'RECONCILIATION_REQUIRED')
})

test('[cash-in.list.1] the reconciliation finds every difference, and nothing else', async (t) => {
  const shop = await shopAt(t)
  const orders = [await shop.order(), await shop.order(), await shop.order()] as const
  for (const order of orders) {
    await shop.pay(order)
    await shop.becomes(order.id, isPaid)
  }
  const [forgotten, cheaper] = orders
  const found = async () => reconcile(shop, ...weekBefore(wallNow() + HOUR_MS))
  assert.deepEqual(await found(), [])
  const paidAt = new Date(wallNow()).toISOString()
  shop.tamper(`UPDATE shop_order SET status = 'PENDING', paid_at = NULL WHERE id = '${forgotten.id}';
    UPDATE shop_order SET value_cents = 1 WHERE id = '${cheaper.id}';
    INSERT INTO shop_order (id, value_cents, status, paid_at) VALUES ('shop-invented', 1, 'PAID', '${paidAt}')`)
  const ofPixgate = 'PAID 5000 0'
  assert.deepEqual(
    (await found()).toSorted((one, other) => one.here.localeCompare(other.here)),
    [
      { id: forgotten.id, here: 'not paid', there: ofPixgate },
      { id: cheaper.id, here: 'PAID 1 0', there: ofPixgate },
      { id: 'shop-invented', here: 'PAID 1 0', there: 'not paid' },
    ].toSorted((one, other) => one.here.localeCompare(other.here)),
  )
  assert.match(await shop.read('/reconciliation'), /shop-invented/)
})
