import assert from 'node:assert/strict'
import test from 'node:test'
import { hmacSha256, seal, secretsEqual, sha256, unseal } from '../../src/platform/crypto.ts'

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

const KEY = 'the configured encryption key'

test('[webhooks.8] what was sealed is opened by the same secret only', () => {
  const plain = Buffer.from('a private key')
  const sealed = seal(KEY, plain)
  assert.deepEqual(unseal(KEY, sealed), plain)
  assert.ok(!sealed.includes(plain))
  assert.throws(() => unseal(`${KEY} `, sealed))
  assert.deepEqual(unseal(KEY, seal(KEY, Buffer.alloc(0))), Buffer.alloc(0))
})

test('[webhooks.8] the same thing sealed twice looks different', () => {
  const plain = Buffer.from('a private key')
  assert.notDeepEqual(seal(KEY, plain), seal(KEY, plain))
})

test('[webhooks.8] a sealed thing that was changed anywhere, or cut, does not open', () => {
  const sealed = seal(KEY, Buffer.from('a private key'))
  for (const index of sealed.keys()) {
    const forged = Buffer.from(sealed)
    forged[index] = (forged[index] ?? 0) ^ 1
    assert.throws(() => unseal(KEY, forged), `byte ${index}`)
  }
  for (const length of [0, 11, 12, 27, 28, sealed.length - 1]) {
    assert.throws(() => unseal(KEY, sealed.subarray(0, length)), `${length} bytes`)
  }
  const nothing = seal(KEY, Buffer.alloc(0))
  assert.throws(() => unseal(KEY, nothing.subarray(0, -4)), 'a part of the proof is no proof')
})
