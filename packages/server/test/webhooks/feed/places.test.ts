import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { administer, openTestDatabase } from '../../support/database.ts'
import { eventsIn, fanOutWithoutPlaces, heldFanOut, positionsIn } from '../../support/feed.ts'
import { openHolder } from '../../support/waiting-backends.ts'
import { type WebhookWorld, webhookWorld } from '../../support/webhook-world.ts'

const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('[feed.1] several processes give places without a gap, to everything once, and nobody ever reads a gap', async (t) => {
  const world = await webhookWorld(t)
  const processes = [world, await world.anotherProcess(), await world.anotherProcess()]
  const reader = openTestDatabase(world.url)
  t.after(() => reader.close())
  const made: string[] = []
  let isMade = false
  const notifying = async () => {
    await Promise.all(upTo(40).map(async () => made.push(await world.notify())))
    await Promise.all(upTo(40).map(async () => made.push(await world.notify('pix_cash_out'))))
    isMade = true
  }
  const fanningOut = async ({ fanOut }: (typeof processes)[number]) => {
    do await fanOut.processNext()
    while (!isMade)
    await fanOut.processNext()
  }
  const reading = async () => {
    let longest = 0
    while (longest < 80) {
      const positions = await positionsIn(reader)
      assert.deepEqual(positions, upTo(positions.length))
      assert.ok(positions.length >= longest)
      longest = positions.length
    }
  }
  await Promise.all([notifying(), reading(), ...processes.map(fanningOut)])
  const events = await eventsIn(world.database)
  assert.deepEqual(events.map(({ id }) => id).sort(), made.sort())
})

/** A process that fans out and is held on the way. */
async function held(t: TestContext, world: WebhookWorld, when: 'claimed' | 'placed') {
  const database = openTestDatabase(world.url, 1)
  t.after(() => database.close())
  const reached = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const ended = heldFanOut(database, world.boundsOfNothing(), when, () => {
    reached.resolve()
    return goOn.promise
  })
  await reached.promise
  return { goOn: goOn.resolve, ended }
}

for (const when of ['claimed', 'placed'] as const) {
  test(`[feed.1] the older of two notifications has the earlier place, also where who has it is slow (${when})`, async (t) => {
    const world = await webhookWorld(t)
    const observer = await openHolder(world.url)
    const older = await world.notify()
    const slow = await held(t, world, when)
    world.clock.advance(1)
    const newer = await world.notify()
    const fast = world.fanOut.processNext()
    await observer.waiting(1)
    assert.deepEqual(await positionsIn(world.database), [], 'nobody reads the second place before the first')
    slow.goOn()
    await Promise.all([slow.ended, fast])
    await observer.release()
    assert.deepEqual(
      (await eventsIn(world.database)).map(({ id }) => id),
      [older, newer],
    )
  })
}

test('[feed.1] [NO-18] a process that dies while it gives places leaves no gap and takes no event with it', async (t) => {
  const world = await webhookWorld(t)
  const before = await world.notify()
  await world.fanOut.processNext()
  const dying = await world.notify()
  const dead = await held(t, world, 'placed')
  const ended = assert.rejects(dead.ended)
  await administer(
    world.url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND state = 'idle in transaction'`,
  )
  dead.goOn()
  await ended
  await world.fanOut.processNext()
  const events = await eventsIn(world.database)
  assert.deepEqual(
    events.map(({ id, position }) => [id, Number(position)]),
    [
      [before, 1],
      [dying, 2],
    ],
  )
})

test('[feed.1] nothing but the next place is ever given, and none is changed, by the database itself', async (t) => {
  const world = await webhookWorld(t)
  await world.notify()
  await world.fanOut.processNext()
  for (const change of [
    'UPDATE notification SET position = 7',
    'UPDATE notification SET position = NULL',
    'UPDATE feed SET last_position = 0',
    'DELETE FROM feed',
  ]) {
    await assert.rejects(administer(world.url, change), { code: '42501' }, change)
  }
  await administer(world.url, 'UPDATE notification SET fanned_out_at = now()')
})

test('[feed.2] what was fanned out before there was a feed has the first places in its order, and delays no delivery', async (t) => {
  const world = await webhookWorld(t)
  const old = [await world.notify()]
  world.clock.advance(1)
  old.push(await world.notify())
  await fanOutWithoutPlaces(world.database, world.clock.now())
  await administer(world.url, 'UPDATE feed SET is_behind = true')
  await world.subscribe('http://127.0.0.1:9/')
  const fresh = await world.notify()
  await world.fanOut.processNext()
  assert.equal((await world.deliveries()).length, 1, 'it is delivered at once')
  assert.deepEqual(await positionsIn(world.database), [], 'it waits for its place behind the old ones')
  await world.housekeeping.processNext()
  const last = await world.notify()
  await world.fanOut.processNext()
  assert.deepEqual(
    (await eventsIn(world.database)).map(({ id }) => id),
    [...old, fresh, last],
  )
})

test('[feed.1] [feed.2] what is fanned out while the last of the old ones get places has its own before what comes next', async (t) => {
  const world = await webhookWorld(t)
  const other = await world.anotherProcess()
  const observer = await openHolder(world.url)
  await administer(world.url, 'UPDATE feed SET is_behind = true')
  const first = await world.notify()
  const slow = await held(t, world, 'placed')
  const placing = other.housekeeping.processNext()
  await Promise.race([observer.waiting(1), placing])
  world.clock.advance(1)
  const second = await world.notify()
  slow.goOn()
  await Promise.all([slow.ended, placing])
  await observer.release()
  await world.fanOut.processNext()
  while (await world.housekeeping.processNext());
  assert.deepEqual(
    (await eventsIn(world.database)).map(({ id }) => id),
    [first, second],
  )
})

test('[feed.2] so has what a process of the version before fans out beside this one, however much it is', async (t) => {
  const world = await webhookWorld(t)
  await world.notify()
  await world.fanOut.processNext()
  await world.notifyMany(4_001)
  await fanOutWithoutPlaces(world.database, world.clock.now())
  assert.equal(await world.housekeeping.processNext(), true)
  assert.equal(await world.housekeeping.processNext(), true)
  assert.equal(await world.housekeeping.processNext(), false)
  assert.deepEqual(await positionsIn(world.database), upTo(4_002))
})
