import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import test from 'node:test'
import { ADMIN_TOKEN, request, world } from '../support/world.ts'

/** Names and labels of metrics, as Prometheus wants them. */

/** Units that Prometheus has a base unit for, and words that belong to another type of metric. */
const UNUSUAL = /_(?:days|hours|minutes|milliseconds|ms|microseconds|percent|kilobytes|megabytes|bits)(?:_|$)/

const PROMTOOL = process.env.PIXGATE_TEST_PROMTOOL ?? 'promtool'

test('[metrics.1] metrics are named by base units; a summary alone has quantiles, a histogram buckets', async (t) => {
  const pix = await world(t)
  const text = String((await request(`${pix.url}/metrics`, ADMIN_TOKEN, 'GET')).body)
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]))
  assert.ok(types.size > 40)
  for (const [name, type] of types) {
    assert.match(name, /^[a-z][a-z0-9_]*$/)
    assert.doesNotMatch(name, UNUSUAL)
    assert.equal(name.endsWith('_total'), type === 'counter', name)
    if (type === 'gauge') assert.doesNotMatch(name, /_(?:count|sum|bucket|info)$/)
    assert.match(text, new RegExp(`^# HELP ${name} \\S`, 'm'))
  }
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)\{([^}]*)\}/gm)) {
    assert.doesNotMatch(labels, /(?:^|,)quantile=/, name)
    if (/(?:^|,)le=/.test(labels)) assert.match(name, /_bucket$/)
  }
})

test('[metrics.1] promtool finds nothing to say about them', async (t) => {
  if (spawnSync(PROMTOOL, ['--version']).status !== 0)
    return t.skip('promtool is on no PATH, nor PIXGATE_TEST_PROMTOOL')
  const pix = await world(t)
  const { body } = await request(`${pix.url}/metrics`, ADMIN_TOKEN, 'GET')
  const { status, stderr } = spawnSync(PROMTOOL, ['check', 'metrics'], { input: String(body) })
  assert.deepEqual([status, String(stderr)], [0, ''])
})
