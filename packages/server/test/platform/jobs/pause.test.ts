import assert from 'node:assert/strict'
import test from 'node:test'
import { realPause } from '../../../src/platform/jobs/pause.ts'

test('[engine.7] a jittered pause lasts between half of its time and all of it', async () => {
  // One clock tick of tolerance: timers count whole milliseconds.
  for (let pauses = 0; pauses < 5; pauses++) {
    const startedAt = performance.now()
    await realPause.jittered(20)
    assert.ok(performance.now() - startedAt >= 9)
  }
})

test('[engine.13] a pause ends early when it is aborted', async () => {
  const impatience = new AbortController()
  const pause = realPause.for(3_600_000, impatience.signal)
  impatience.abort()
  await assert.rejects(pause, { name: 'AbortError' })
})
