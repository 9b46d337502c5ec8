import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import test from 'node:test'
import { ADMIN_TOKEN, world } from '../support/world.ts'

/** The collection, run by Newman itself. */

const NEWMAN = process.env.PIXGATE_TEST_NEWMAN ?? 'newman'

test('[reference.11] Newman runs the collection, and every assertion holds', async (t) => {
  if (spawnSync(NEWMAN, ['--version']).status !== 0) return t.skip('newman is on no PATH, nor PIXGATE_TEST_NEWMAN')
  const pix = await world(t)
  const variables = ['--env-var', `adminToken=${ADMIN_TOKEN}`]
  const run = spawn(NEWMAN, ['run', `${pix.url}/collection.json`, ...variables], { stdio: 'inherit' })
  const [code] = await once(run, 'exit')
  assert.equal(code, 0)
})
