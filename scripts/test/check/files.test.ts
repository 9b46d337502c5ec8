import assert from 'node:assert/strict'
import test from 'node:test'
import { placeProblems } from '../../check/places.ts'
import { testClockProblems, timeAndChanceProblems } from '../../check/time-and-chance.ts'

test('time, chance, network and environment come from the platform', () => {
  const count = (path: string, text: string) => timeAndChanceProblems([{ path, text }]).length
  const rules = 'packages/server/src/cash-in/rules.ts'

  for (const used of ['Date.now()', 'new Date()', 'Math.random()', 'setTimeout(f, 1)', "await fetch('/')"]) {
    assert.equal(count(rules, used), 1, used)
    assert.equal(count('packages/server/src/platform/clock.ts', used), 0, used)
    assert.equal(count('packages/server/src/process.ts', used), 0, used)
  }
  assert.equal(count(rules, 'process.env.PORT'), 1)
  assert.equal(count('packages/server/src/platform/clock.ts', 'process.env.PORT'), 1)
  assert.equal(count('packages/server/src/process.ts', 'process.env'), 0)
  assert.equal(count(rules, 'new Date(at).toISOString(); cache.fetch(id)'), 0)
  assert.equal(count(rules, ' * Not Date.now(): the clock is injected.'), 0)
})

test('no test reads the wall clock beside a fixed date', () => {
  const problems = (path: string, text: string) => testClockProblems([{ path, text }]).length
  const date = "const NOW = Date.parse('2026-11-21T13:00:00Z')"
  for (const read of ['Date.now()', 'new Date()']) {
    assert.equal(problems('packages/server/test/a.test.ts', read), 1, read)
    assert.equal(problems('packages/server/test/support/wall-clock.ts', read), 0, read)
  }
  assert.equal(problems('packages/server/test/a.test.ts', 'wallNow() - 1'), 0)
  assert.equal(problems('packages/server/test/a.test.ts', `${date}; new Date(NOW)`), 0)
  assert.equal(problems('packages/server/test/a.test.ts', `${date}; wallNow()`), 1)
})

test('nothing names a machine or a registry', () => {
  const count = (text: string) => placeProblems([{ path: 'README.md', text }]).length
  assert.equal(count(`see /${'work'}/notes.md`), 1)
  assert.equal(count(`see /${'home'}/maria/pixgate`), 1)
  assert.equal(count(`from https://registry.npmjs.${'org'}/pg`), 1)
  assert.equal(count('the /work of a worker, and https://example.com/home/'), 0)
})
