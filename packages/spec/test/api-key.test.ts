import assert from 'node:assert/strict'
import test from 'node:test'
import { API_KEY_PATTERN } from '../src/api-key.ts'

test('[api-keys.2] scanners find a key by its prefix and its 49 characters', () => {
  const pattern = new RegExp(API_KEY_PATTERN)
  assert.match(`pix_test_${'0'.repeat(49)}`, pattern)
  assert.match(`pix_live_${'aZ9'.repeat(16)}x`, pattern)
  assert.doesNotMatch(`pix_prod_${'0'.repeat(49)}`, pattern)
  assert.doesNotMatch(`pix_test_${'0'.repeat(48)}`, pattern)
  assert.doesNotMatch(`pix_test_${'0'.repeat(48)}_`, pattern)
})
