import assert from 'node:assert/strict'
import test from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { createBatcher, type Settled } from '../../../src/platform/jobs/batcher.ts'

const BOUNDS = { batchMax: 3, queueMax: 5 }

/** Work that goes on until it is ended, batch by batch. */
function gate() {
  const batches: (readonly string[])[] = []
  const waiting: (() => void)[] = []
  return {
    batches,
    run: async (items: readonly string[]): Promise<Settled<string>[]> => {
      batches.push(items)
      await new Promise<void>((resolve) => waiting.push(resolve))
      return items.map((item) => ({ result: `${item} done` }))
    },
    /** Lets the batch that runs end, once there is one. */
    endBatch: async () => {
      while (waiting.length === 0) await turn()
      waiting.shift()?.()
    },
  }
}

/** A batcher whose first batch, of one item, runs until it is ended. */
async function runningBatcher() {
  const gated = gate()
  const batcher = createBatcher(gated.run, BOUNDS)
  const running = batcher.submit('running')
  await turn()
  return { ...gated, batcher, running }
}

test('[engine.2] what arrives in one turn of the event loop is one batch; what arrives while it runs is the next, in order', async () => {
  const { batches, run, endBatch } = gate()
  const batcher = createBatcher(run, BOUNDS)
  const submitLater = new Promise<Promise<string>>((resolve) => setImmediate(() => resolve(batcher.submit('b'))))
  const first = [batcher.submit('a'), submitLater.then((later) => later)]
  await turn()
  const second = ['c', 'd', 'e', 'f'].map((item) => batcher.submit(item))
  assert.equal(batcher.waiting, 4)
  for (let batch = 0; batch < 3; batch++) await endBatch()
  assert.deepEqual(
    await Promise.all([...first, ...second]),
    ['a', 'b', 'c', 'd', 'e', 'f'].map((it) => `${it} done`),
  )
  assert.deepEqual(batches, [['a', 'b'], ['c', 'd', 'e'], ['f']])
})

test('[engine.9] each item gets its own outcome; where the work itself fails all get the error', async () => {
  const batcher = createBatcher<string, string>(async (items) => {
    if (items.includes('all')) throw new Error('everything')
    return items.map((item) => (item === 'bad' ? { error: new Error('only this') } : { result: item }))
  }, BOUNDS)
  const outcomes = await Promise.allSettled(['one', 'bad', 'two'].map((item) => batcher.submit(item)))
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : outcome.reason.message)),
    ['one', 'only this', 'two'],
  )
  for (const item of ['all', 'other'].map((item) => batcher.submit(item))) {
    await assert.rejects(item, /everything/)
  }
  assert.equal(await batcher.submit('after'), 'after')
})

test('[engine.9] an item without a result is an error', async () => {
  const batcher = createBatcher<string, string>(async () => [{ result: 'first' }], BOUNDS)
  const [first, second] = [batcher.submit('a'), batcher.submit('b')]
  assert.equal(await first, 'first')
  await assert.rejects(second, /lost an item/)
})

test('[engine.13] abandon drops what waits and rejects what runs, which goes on', async () => {
  const { batcher, running, batches, endBatch } = await runningBatcher()
  const waiting = batcher.submit('waiting')
  batcher.abandon(new Error('come back later'))
  await assert.rejects(running, /come back later/)
  await assert.rejects(waiting, /come back later/)
  const next = batcher.submit('next')
  await endBatch()
  await endBatch()
  assert.equal(await next, 'next done')
  assert.deepEqual(batches, [['running'], ['next']])
})

test('[engine.13] an item dropped before its batch begins starts no batch', async () => {
  const { batches, run, endBatch } = gate()
  const batcher = createBatcher(run, BOUNDS)
  const dropped = batcher.submit('dropped')
  batcher.abandon(new Error('come back later'))
  await assert.rejects(dropped, /come back later/)
  await batcher.drained()
  const next = batcher.submit('next')
  await endBatch()
  assert.equal(await next, 'next done')
  assert.deepEqual(batches, [['next']])
})

test('[PL-2] drained waits for what runs and what waits, and for nothing where there is nothing', async () => {
  const { run, endBatch } = gate()
  const batcher = createBatcher(run, BOUNDS)
  await batcher.drained()
  const items = ['a', 'b', 'c', 'd'].map((item) => batcher.submit(item))
  let isDrained = false
  const drained = batcher.drained().then(() => {
    isDrained = true
  })
  await endBatch()
  await items[0]
  assert.equal(isDrained, false)
  await endBatch()
  await drained
  await Promise.all(items)
})

test('[engine.2] a paced batcher begins no batch before its time, and one that comes alone does not wait', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  let nowMs = 1_000
  t.mock.method(performance, 'now', () => nowMs)
  const { batches, run, endBatch } = gate()
  const batcher = createBatcher(run, { ...BOUNDS, paceMs: 10 })
  const first = batcher.submit('a')
  await endBatch()
  await first
  nowMs += 4
  const more = ['b', 'c'].map((item) => batcher.submit(item))
  await settled()
  t.mock.timers.tick(5)
  await settled()
  assert.deepEqual(batches, [['a']])
  t.mock.timers.tick(1)
  await endBatch()
  await Promise.all(more)
  assert.deepEqual(batches, [['a'], ['b', 'c']])
  const full = ['d', 'e', 'f'].map((item) => batcher.submit(item))
  await endBatch()
  await Promise.all(full)
  assert.equal(batches.length, 3, 'a full one waits for nothing')
})

/** Lets promises that are settled run on. */
async function settled(): Promise<void> {
  await turn()
  await turn()
}
