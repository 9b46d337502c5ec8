import assert from 'node:assert/strict'
import test from 'node:test'
import { hmacSha256, secretsEqual, sha256 } from '../../src/platform/crypto.ts'

test('[partner-inbox.1] SHA-256 and HMAC-SHA-256 are those of the standards', () => {
  assert.equal(sha256('abc').toString('hex'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
  // RFC 4231, test case 2.
  assert.equal(
    hmacSha256('Jefe', Buffer.from('what do ya want for nothing?')).toString('hex'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
})

test('[http.6] secrets are equal or not, of whatever lengths', () => {
  assert.equal(secretsEqual('secret', 'secret'), true)
  assert.equal(secretsEqual('secret', Buffer.from('secret')), true)
  for (const other of ['', 'secre', 'secret ', 'Secret', 'x'.repeat(10_000)]) {
    assert.equal(secretsEqual('secret', other), false)
  }
})
