import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { administer, openTestDatabase } from '../support/database.ts'
import { eventsIn, heldFanOut, positionsIn } from '../support/feed.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

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
async function held(t: TestContext, world: WebhookWorld, when: 'locked' | 'placed') {
  const database = openTestDatabase(world.url, 1)
  t.after(() => database.close())
  const reached = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const ended = heldFanOut({ ...world, database }, when, () => {
    reached.resolve()
    return goOn.promise
  })
  await reached.promise
  return { goOn: goOn.resolve, ended }
}

for (const when of ['locked', 'placed'] as const) {
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
