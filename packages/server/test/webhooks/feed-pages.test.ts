import assert from 'node:assert/strict'
import test from 'node:test'
import { LOOKED_AT_MAX, selectPart } from '../../src/webhooks/feed.ts'
import { administer, notingTexts, planOf, testDatabase } from '../support/database.ts'
import { eraseEvents, feedOf, foreignCursor } from '../support/feed.ts'
import { webhookWorld } from '../support/webhook-world.ts'

type Page = Awaited<ReturnType<ReturnType<typeof feedOf>['read']>>

const positions = ({ data }: Page) => data.map(({ position }) => position)

test('[feed.3] pages are read one after the other, and the last cursor goes on with what comes later', async (t) => {
  const world = await webhookWorld(t)
  const feed = feedOf(world, world)
  const empty = await feed.read()
  assert.deepEqual(empty.data, [])
  assert.deepEqual(empty.feed, { firstPosition: 1, lastPosition: 0 })
  const ids = [await world.notify(), await world.notify('pix_cash_out'), await world.notify()]
  await world.fanOut.processNext()
  const first = await feed.read({ limit: 2, cursor: empty.pagination.nextCursor })
  assert.partialDeepStrictEqual(first.data, [
    { position: 1, id: ids[0], type: 'pix_cash_in', createdAt: '2026-11-21T13:00:00.000Z' },
    { position: 2, id: ids[1], type: 'pix_cash_out' },
  ])
  assert.deepEqual(first.feed, { firstPosition: 1, lastPosition: 3 })
  assert.equal(first.pagination.hasMore, true)
  const second = await feed.read({ limit: 2, cursor: first.pagination.nextCursor })
  assert.deepEqual([positions(second), second.pagination.hasMore], [[3], false])
  const none = await feed.read({ cursor: second.pagination.nextCursor })
  assert.deepEqual([positions(none), none.pagination.hasMore], [[], false])
  await world.notify()
  await world.fanOut.processNext()
  assert.deepEqual(positions(await feed.read({ cursor: none.pagination.nextCursor })), [4])
})

test('[feed.8] the cursor of an event goes on behind it, also within a page and of one type', async (t) => {
  const world = await webhookWorld(t)
  const feed = feedOf(world, world)
  await world.notifyMany(4)
  await world.fanOut.processNext()
  const { data, pagination } = await feed.read()
  assert.equal(data.at(-1)?.cursor, pagination.nextCursor)
  for (const type of [undefined, 'pix_cash_in'] as const) {
    const { cursor } = data[1] ?? assert.fail('there are four')
    assert.deepEqual(positions(await feed.read({ cursor, ...(type && { type }) })), [3, 4])
  }
})

test('[feed.3] a full page that is the end says that there is no more', async (t) => {
  const world = await webhookWorld(t)
  const feed = feedOf(world, world)
  await world.notifyMany(2)
  await world.fanOut.processNext()
  const page = await feed.read({ limit: 2 })
  assert.deepEqual([positions(page), page.pagination.hasMore], [[1, 2], false])
  assert.deepEqual(positions(await feed.read({ cursor: page.pagination.nextCursor })), [])
})

test('[feed.3] of one type only its events are read, and a page that found none goes on behind what it looked at', async (t) => {
  const world = await webhookWorld(t)
  const feed = feedOf(world, world)
  await world.notify('pix_cash_out')
  await world.fanOut.processNext()
  world.clock.advance(1)
  await world.notifyMany(LOOKED_AT_MAX)
  while (await world.fanOut.processNext());
  world.clock.advance(1)
  await world.notify('pix_cash_out')
  while (await world.fanOut.processNext());
  const first = await feed.read({ type: 'pix_cash_out', limit: 1 })
  assert.deepEqual([positions(first), first.pagination.hasMore], [[1], true])
  // Nobody waits, and nobody reads on for whom asked: the cursor goes on.
  const nothing = await feed.read({ type: 'pix_cash_out', cursor: first.pagination.nextCursor, wait: 20 })
  assert.deepEqual([positions(nothing), nothing.pagination.hasMore], [[], true])
  const second = await feed.read({ type: 'pix_cash_out', cursor: nothing.pagination.nextCursor })
  assert.deepEqual([positions(second), second.pagination.hasMore], [[LOOKED_AT_MAX + 2], false])
})

test('[feed.4] what is no cursor is 400', async (t) => {
  const world = await webhookWorld(t)
  const feed = feedOf(world, world)
  for (const text of [
    'v1:0:abcdefabcdef',
    'v1:1:',
    'v1:-1:',
    'v1:01:abcdefabcdef',
    'v2:0:',
    'v1:42',
    'v1:1:ABCDEFABCDEF',
  ]) {
    const cursor = Buffer.from(text).toString('base64url')
    await assert.rejects(feed.read({ cursor }), { code: 'validation_error' }, text)
  }
})

test('[feed.4] a cursor from before a restore, or of another installation, is refused and not read on from silently', async (t) => {
  const world = await webhookWorld(t)
  const feed = feedOf(world, world)
  await world.notifyMany(3)
  await world.fanOut.processNext()
  for (const position of [2, 3, 4]) {
    const refused = await feed.read({ cursor: foreignCursor(position) }).catch((error) => error)
    assert.deepEqual([refused.code, refused.readFrom?.position], ['cursor_unknown', 1])
    assert.deepEqual(positions(await feed.read({ cursor: refused.readFrom.cursor })), [1, 2, 3])
  }
})

test('[feed.5] [NO-19] a cursor behind which something is erased is refused, and told from where all is there', async (t) => {
  const world = await webhookWorld(t)
  const feed = feedOf(world, world)
  await world.notifyMany(5)
  await world.fanOut.processNext()
  const begin = (await feed.read({ limit: 1 })).pagination.nextCursor
  const third = (await feed.read({ limit: 3 })).pagination.nextCursor
  await eraseEvents(world.url, 3)
  for (const cursor of [begin, Buffer.from('v1:0:').toString('base64url')]) {
    const refused = await feed.read({ cursor }).catch((error) => error)
    assert.deepEqual([refused.code, refused.readFrom], ['events_erased', { cursor: third, position: 4 }])
  }
  assert.deepEqual(positions(await feed.read({ cursor: third })), [4, 5])
  const first = await feed.read()
  assert.deepEqual([positions(first), first.feed], [[4, 5], { firstPosition: 4, lastPosition: 5 }])
})

test('[database.8] on tables that nobody analysed a page reads the notifications of its places, and no other', async (t) => {
  const { url, database } = await testDatabase(t)
  await administer(
    url,
    `INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at)
     SELECT gen_random_uuid(), gen_random_uuid(), 'pix_cash_in', 'PAID', '', repeat('b', 500)::bytea, now()
       FROM generate_series(1, 10000) n`,
  )
  const { texts, noting } = notingTexts(database)
  await assert.rejects(selectPart(noting, null, null, 100), /no signing key is current/)
  const [text = ''] = texts
  assert.doesNotMatch(await planOf(url, text), /Seq Scan on notification/)
})
