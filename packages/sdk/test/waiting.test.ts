import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { eraseEvents, foreignCursor } from '../../server/test/support/feed.ts'
import { world } from '../../server/test/support/world.ts'
import { cents, Pixgate, PixgateError } from '../src/index.ts'
import { answers, breaks, hangs, refuses, scripted } from './support/script.ts'

const payout = (status: string) => answers(200, { id: 'p1', status })

test('[sdk.9] a wait ends with the end of the operation, however it is called', async () => {
  for (const [status, outcome] of [
    ['CONFIRMED', 'confirmed'],
    ['REVERSED', 'confirmed'],
    ['FAILED', 'failed'],
    ['RELEASED', 'failed'],
  ] as const) {
    const { pixgate, sent } = scripted([payout('RESERVED'), payout('DISPATCHED'), payout(status)])
    const end = await pixgate.cashOuts.waitForEnd('p1')
    assert.deepEqual([end.outcome, end.operation.status, sent.length], [outcome, status, 3])
  }
})

test('[sdk.9] what has no end in time is open, also in a state of a newer Pixgate, and is no failure', async () => {
  for (const status of ['RESERVED', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED', 'SOMETHING_NEW']) {
    const { pixgate, slept } = scripted([payout(status)])
    const { outcome, operation } = await pixgate.cashOuts.waitForEnd('p1', { timeoutMs: 10_000 })
    assert.deepEqual([outcome, operation.status], ['open', status])
    const waitedMs = slept.reduce((sum, ms) => sum + ms, 0)
    assert.ok(waitedMs >= 10_000 && waitedMs < 15_000)
  }
  const { pixgate } = scripted([answers(200, { id: 'c1', status: 'EXPIRED' })])
  assert.equal((await pixgate.cashIns.waitForEnd('c1', { timeoutMs: 0 })).outcome, 'open')
})

test('[sdk.9] an outage does not end a wait, and a refusal does', async () => {
  const outage = [...Array(8)].map(() => breaks('ECONNREFUSED'))
  const { pixgate } = scripted([payout('RESERVED'), ...outage, payout('CONFIRMED')])
  assert.equal((await pixgate.cashOuts.waitForEnd('p1')).outcome, 'confirmed')
  const refused = scripted([refuses(404, 'not_found')])
  await assert.rejects(refused.pixgate.cashOuts.waitForEnd('p1'), { code: 'not_found' })
  const never = scripted([breaks('ECONNREFUSED')])
  await assert.rejects(never.pixgate.cashOuts.waitForEnd('p1', { timeoutMs: 100 }), { code: 'connection_failed' })
})

const ANSWERS_NOTHING = [
  ['a Retry-After of an hour', refuses(503, 'overloaded', {}, { 'retry-after': '3600' })],
  ['a Retry-After of years', refuses(503, 'overloaded', {}, { 'retry-after': '99999999' })],
  ['a connection that went silent', hangs],
  ['a restart that closed a kept connection', breaks('UND_ERR_SOCKET')],
  ['a page of a proxy', (): Response => new Response('<html>')],
] as const

/** Makes time-outs short. @returns those that were asked for */
function shortTimeouts(t: TestContext): readonly number[] {
  const asked: number[] = []
  const timeout = AbortSignal.timeout.bind(AbortSignal)
  t.mock.method(AbortSignal, 'timeout', (ms: number) => {
    asked.push(ms)
    return timeout(1)
  })
  return asked
}

for (const [name, failure] of ANSWERS_NOTHING) {
  test(`[sdk.9] after ${name} the next read comes within half a minute`, async (t) => {
    const timeouts = shortTimeouts(t)
    const { pixgate, slept } = scripted([failure, failure, payout('CONFIRMED')])
    assert.equal((await pixgate.cashOuts.waitForEnd('p1', { timeoutMs: 7_200_000 })).outcome, 'confirmed')
    assert.equal(slept.length, 2)
    assert.ok(Math.max(...slept) <= 30_000)
    assert.equal(Math.max(...timeouts), 10_000)
  })
}

const event = (position: number) => {
  const body = JSON.stringify({ event_type: 'pix_cash_in', event: { id: `c${position}` } })
  return { position, id: `e${position}`, cursor: `after-${position}`, type: 'pix_cash_in', body }
}

const page = (positions: readonly number[], hasMore: boolean) =>
  answers(200, {
    data: positions.map(event),
    pagination: { limit: 100, hasMore, nextCursor: `after-${positions.at(-1) ?? 'all'}` },
  })

test('[sdk.10] the feed is followed from a cursor on, waits at its end, and each event has its cursor', async () => {
  const { pixgate, sent } = scripted([page([4, 5], true), page([6], false), page([], false), page([7], false)])
  const stop = new AbortController()
  const seen: string[] = []
  for await (const { event, cursor, position } of pixgate.events.follow({ cursor: 'after-3', signal: stop.signal })) {
    seen.push(`${event.event.id} ${cursor}`)
    if (position === 7) stop.abort()
  }
  assert.deepEqual(seen, ['c4 after-4', 'c5 after-5', 'c6 after-6', 'c7 after-7'])
  const query = (cursor: string, wait: number) => `/api/pix/events?cursor=${cursor}&wait=${wait}&limit=100`
  const asked = [query('after-3', 0), query('after-5', 0), query('after-6', 20), query('after-all', 20)]
  assert.deepEqual(
    sent.map(({ path }) => path),
    asked,
  )
})

test('[sdk.10] an outage of any length is outlasted, with back-off; the signal ends it', async () => {
  const outage = [...Array(12)].map(() => refuses(503, 'overloaded', {}, { 'retry-after': '1' }))
  const { pixgate, slept } = scripted([page([1], false), ...outage, page([2], false)])
  const stop = new AbortController()
  const failed: string[] = []
  const options = { signal: stop.signal, onRetry: ({ code }: PixgateError) => failed.push(code) }
  for await (const { position } of pixgate.events.follow(options)) if (position === 2) stop.abort()
  assert.equal(failed.length, 12)
  assert.deepEqual(slept.slice(0, 3), [1_250, 1_500, 2_000])
  assert.equal(slept.at(-1), 16_000, 'Retry-After and half of half a minute')
})

for (const [name, failure] of ANSWERS_NOTHING) {
  test(`[sdk.10] after ${name} the next read of the feed comes within a minute`, async (t) => {
    const timeouts = shortTimeouts(t)
    const { pixgate, slept } = scripted([page([1], false), ...Array(12).fill(failure), page([2], false)])
    for await (const { position } of pixgate.events.follow()) if (position === 2) break
    assert.equal(slept.length, 12)
    assert.ok(Math.max(...slept) <= 60_000)
    assert.equal(Math.max(...timeouts), 30_000, 'the wait of a read and some more')
  })
}

test('[sdk.10] where a connection breaks before the end of a page, pages get smaller until one arrives', async () => {
  const stop = new AbortController()
  const { pixgate, sent } = scripted([
    (request) => {
      if (sent.length === 50) stop.abort()
      const { searchParams } = new URL(request.path, 'http://pixgate.test')
      const [after = 0, limit = 0] = ['cursor', 'limit'].map((name) =>
        Number(/\d+/.exec(searchParams.get(name) ?? '0')),
      )
      if (limit > 10) return breaks('UND_ERR_SOCKET')(request)
      return page(
        Array.from({ length: limit }, (_, place) => after + place + 1),
        true,
      )(request)
    },
  ])
  let last = 0
  for await (const { position } of pixgate.events.follow({ signal: stop.signal })) last = position
  assert.ok(last > 20)
})

test('[sdk.10] [sdk.9] a refusal ends following and waiting', async () => {
  for (const [status, code] of [
    [401, 'unauthorized'],
    [403, 'insufficient_scope'],
  ] as const) {
    const { pixgate, sent } = scripted([refuses(status, code)])
    await assert.rejects(pixgate.events.follow().next(), { code, status })
    await assert.rejects(pixgate.cashOuts.waitForEnd('p1'), { code, status })
    assert.equal(sent.length, 2)
  }
})

test('[sdk.10] a gap is an error, unless one type is read', async () => {
  const read = async (type?: 'pix_cash_in') => {
    const { pixgate } = scripted([page([1, 2], true), page([4], false)])
    const seen: number[] = []
    for await (const { position } of pixgate.events.follow({ type })) if (seen.push(position) === 3) break
    return seen
  }
  await assert.rejects(read(), { code: 'events_missing' })
  assert.deepEqual(await read('pix_cash_in'), [1, 2, 4])
})

test('[sdk.10] a cursor that does not hold says where to read on', async (t) => {
  const pix = await world(t)
  const pixgate = new Pixgate({ url: pix.url, apiKey: pix.apiKey })
  await pix.paid('1')
  const first = async (cursor?: string) => {
    for await (const followed of pixgate.events.follow({ cursor })) return followed
    return assert.fail('the feed has an event')
  }
  const { cursor, event } = await first()
  assert.equal(event.event_type, 'pix_cash_in')
  const foreign = await first(foreignCursor(1)).catch((error: unknown) => error)
  assert.ok(foreign instanceof PixgateError && foreign.code === 'cursor_unknown')
  assert.equal((await first(foreign.readFrom.cursor)).event.event.id, event.event.id)

  await pix.paid('2')
  await pix.until('/api/pix/events', ({ feed }) => feed.lastPosition === 2)
  await eraseEvents(pix.databaseUrl, 2)
  const erased = await first(cursor).catch((error: unknown) => error)
  assert.ok(erased instanceof PixgateError && erased.code === 'events_erased')
  assert.equal(erased.readFrom.position, 3)
})

test('[sdk.9] [sdk.4] charge, payout and refund at a real Pixgate', async (t) => {
  const pix = await world(t)
  const pixgate = new Pixgate({ url: pix.url, apiKey: pix.apiKey })
  const charge = await pixgate.cashIns.create({ externalId: 'order-1001', value: cents(150_25) })
  await pixgate.sandbox.pay(charge.id)
  const paid = await pixgate.cashIns.waitForEnd(charge.id)
  assert.deepEqual([paid.outcome, paid.operation.receivedCents], ['confirmed', 150_25])
  const order = {
    externalId: 'payout-1',
    value: cents(30_10),
    recipient: { pixKey: 'a@example.com', pixKeyType: 'email' },
  }
  const payout = await pixgate.cashOuts.create(order)
  assert.equal((await pixgate.cashOuts.waitForEnd(payout.id)).outcome, 'confirmed')
  const again = await pixgate.cashOuts.create(order)
  assert.deepEqual([again.id, again.status, again.replayed], [payout.id, 'CONFIRMED', true])
  const refund = await pixgate.refunds.create(charge.id, { externalId: 'refund-1', refundValue: cents(1) })
  assert.equal((await pixgate.refunds.waitForEnd(refund.id)).operation.valueCents, 1)
})
