import assert from 'node:assert/strict'
import test from 'node:test'
import { secretsEqual } from '../../src/platform/crypto.ts'

test('[http.6] secrets are equal or not, of whatever lengths', () => {
  assert.equal(secretsEqual('secret', 'secret'), true)
  assert.equal(secretsEqual('secret', Buffer.from('secret')), true)
  for (const other of ['', 'secre', 'secret ', 'Secret', 'x'.repeat(10_000)]) {
    assert.equal(secretsEqual('secret', other), false)
  }
})
