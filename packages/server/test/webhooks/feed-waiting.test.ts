import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import type { Database } from '../../src/platform/db/database.ts'
import { feedOf } from '../support/feed.ts'
import { webhookWorld } from '../support/webhook-world.ts'

/** A pause that the test ends. */
function steppedPause() {
  const pauses: (() => void)[] = []
  const begun: (() => void)[] = []
  return {
    for: () =>
      new Promise<void>((end) => {
        pauses.push(end)
        for (const tell of begun.splice(0)) tell()
      }),
    /** Resolves when so many pause. */
    begins: async (count = 1) => {
      while (pauses.length < count) await new Promise<void>((tell) => begun.push(tell))
    },
    end: () => pauses.shift()?.(),
    endAll: () => {
      for (const end of pauses.splice(0)) end()
    },
  }
}

const WAIT = { wait: limits.eventsWaitMaxSeconds }

test('[feed.6] who waits for events is answered as soon as there is one', async (t) => {
  const world = await webhookWorld(t)
  const pause = steppedPause()
  const feed = feedOf(world, world, pause)
  const waiting = feed.read(WAIT)
  await pause.begins()
  pause.end()
  await pause.begins()
  const id = await world.notify()
  await world.fanOut.processNext()
  pause.end()
  const { data } = await waiting
  assert.deepEqual(
    data.map((event) => event.id),
    [id],
  )
})

test('[feed.6] who waits for events of one type is not answered because of another', async (t) => {
  const world = await webhookWorld(t)
  const pause = steppedPause()
  const waiting = feedOf(world, world, pause).read({ ...WAIT, type: 'pix_cash_out' })
  await pause.begins()
  for (const type of ['pix_cash_in', 'pix_cash_out'] as const) {
    await world.notify(type)
    await world.fanOut.processNext()
    pause.end()
    await Promise.race([pause.begins(), waiting])
  }
  const { data, feed } = await waiting
  assert.deepEqual([data.map(({ position }) => position), feed.lastPosition], [[2], 2])
})

test('[feed.6] when the wait is over the answer is empty, and its cursor behind what was looked at', async (t) => {
  const world = await webhookWorld(t)
  const feed = feedOf(world, world)
  await world.notify()
  await world.fanOut.processNext()
  const { data, pagination } = await feed.read({ wait: 1, type: 'pix_cash_out' })
  assert.deepEqual([data, pagination.hasMore], [[], false])
  assert.deepEqual((await feed.read({ cursor: pagination.nextCursor })).data, [])
})

test('[feed.6] what is there is answered without a wait', async (t) => {
  const world = await webhookWorld(t)
  await world.notify()
  await world.fanOut.processNext()
  const pause = { for: () => assert.fail('nobody waits') }
  assert.equal((await feedOf(world, world, pause).read(WAIT)).data.length, 1)
})

test('[feed.6] [PL-2] a process that stops answers whoever waits, and lets nobody wait any more', async (t) => {
  const world = await webhookWorld(t)
  const pause = steppedPause()
  const feed = feedOf(world, world, pause)
  const waiting = feed.read(WAIT)
  await pause.begins()
  feed.close()
  pause.end()
  assert.deepEqual((await waiting).data, [])
  assert.deepEqual((await feed.read(WAIT)).data, [])
})

test('[feed.6] who went away is not waited for', async (t) => {
  const world = await webhookWorld(t)
  const pause = steppedPause()
  let isGone = false
  const waiting = feedOf(world, world, pause).read(WAIT, () => isGone)
  await pause.begins()
  isGone = true
  pause.end()
  assert.deepEqual((await waiting).data, [])
})

/** A database that fails from some moment on. */
function watched(database: Database) {
  const seen = { isAway: false }
  const rows: Database['rows'] = (query, parameters) => {
    return seen.isAway ? Promise.reject(new Error('away')) : database.rows(query, parameters)
  }
  return { seen, database: { ...database, rows } }
}

test('[feed.6] [NO-20] those who wait hold no connection, and are so many at most', async (t) => {
  const world = await webhookWorld(t)
  const pause = steppedPause()
  const feed = feedOf(world, world, pause)
  const asked = Array.from({ length: limits.eventsWaitingMax + 1 }, (_, index) =>
    feed.read(WAIT, () => false, `key ${index % 6}`),
  )
  // One is answered at once, as all the others wait by then.
  assert.deepEqual((await Promise.race(asked)).data, [])
  assert.equal(world.database.use().inUse, 0)
  await pause.begins(limits.eventsWaitingMax)
  await world.notify()
  await world.fanOut.processNext()
  pause.endAll()
  const answers = (await Promise.all(asked)).map(({ data }) => data.length)
  assert.deepEqual(
    [answers.filter((length) => length === 1).length, answers.length],
    [limits.eventsWaitingMax, asked.length],
  )
})

test('[feed.6] no API key has the places of all others: one more than it may is told so, until one of them has gone', async (t) => {
  const world = await webhookWorld(t)
  const pause = steppedPause()
  const feed = feedOf(world, world, pause)
  const gone = new Set<number>()
  const asked = Array.from({ length: limits.eventsWaitingOfKeyMax + 1 }, (_, index) =>
    feed
      .read(WAIT, () => gone.has(index), 'greedy')
      .then(
        ({ data }) => ({ index, events: data.length, refusal: undefined }),
        (refusal) => ({ index, events: undefined, refusal }),
      ),
  )
  // All the others wait by then.
  const { index: refused, refusal } = await Promise.race(asked)
  assert.deepEqual([refusal?.code, refusal?.retryAfterSeconds], ['rate_limited', 1])
  assert.deepEqual((await feed.read({}, () => false, 'greedy')).data, [], 'who does not wait is answered')
  const left = (refused + 1) % asked.length
  gone.add(left)
  await pause.begins(limits.eventsWaitingOfKeyMax)
  pause.endAll()
  assert.equal((await asked[left])?.events, 0)
  const next = feed.read(WAIT, () => false, 'greedy')
  const other = feed.read(WAIT, () => false, 'other')
  await pause.begins(limits.eventsWaitingOfKeyMax + 1)
  await world.notify()
  await world.fanOut.processNext()
  pause.endAll()
  assert.deepEqual([(await next).data.length, (await other).data.length], [1, 1])
  const answers = (await Promise.all(asked)).filter(({ events }) => events === 1)
  assert.equal(answers.length, limits.eventsWaitingOfKeyMax - 1)
})

test('[feed.6] while the database is away nobody is kept waiting for it', async (t) => {
  const world = await webhookWorld(t)
  const pause = steppedPause()
  const { seen, database } = watched(world.database)
  const waiting = feedOf({ database }, world, pause).read(WAIT)
  await pause.begins()
  seen.isAway = true
  const refused = assert.rejects(waiting, { message: 'away' })
  pause.end()
  await refused
})
