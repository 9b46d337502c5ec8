import assert from 'node:assert/strict'
import test from 'node:test'
import { API_KEY_PATTERN, generateApiKey } from '@pixgate/spec'
import fc from 'fast-check'
import { apiKeyFormat, SECRET_BYTES } from '../../src/access/credentials.ts'

const secret = fc.uint8Array({ minLength: SECRET_BYTES, maxLength: SECRET_BYTES }).map((bytes) => Buffer.from(bytes))
const mode = fc.constantFrom('sandbox' as const, 'production' as const)

/** Computed once, elsewhere: base62 with digits, capitals, small letters; CRC-32 of zlib over all that stands before. */
const vectors = [
  ['sandbox', Buffer.alloc(32, 0), 'pix_test_00000000000000000000000000000000000000000003RooSo'],
  ['production', Buffer.alloc(32, 0xff), 'pix_live_yhjskwdA6OZ1AL1YmHWZWm8LLG7HjnuCA2j5rOw8Xp10GdSc6'],
  [
    'sandbox',
    Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex'),
    'pix_test_003aUlTJC7tjlCTQj2uNU3MFagCXG9LRKRcwGkBIDlf2f2Z50',
  ],
] as const

for (const [mode, bytes, key] of vectors) {
  test(`[api-keys.2] the ${mode} key of ${bytes.toString('hex')}`, () => {
    assert.equal(apiKeyFormat.format(mode, bytes), key)
    assert.equal(apiKeyFormat.modeOf(key), mode)
  })
}

test('[api-keys.2] every key has the published form and shows its mode', () => {
  fc.assert(
    fc.property(mode, secret, (mode, bytes) => {
      const key = apiKeyFormat.format(mode, bytes)
      assert.match(key, new RegExp(API_KEY_PATTERN))
      assert.ok(key.startsWith(mode === 'sandbox' ? 'pix_test_' : 'pix_live_'))
      assert.equal(apiKeyFormat.modeOf(key), mode)
    }),
  )
})

test('[api-keys.2] no bit of the secret is lost', () => {
  fc.assert(
    fc.property(mode, secret, (mode, bytes) => {
      const digits = [...apiKeyFormat.format(mode, bytes).slice(9, 52)].map((digit) => BigInt(digitValue(digit)))
      const value = digits.reduce((sum, digit) => sum * 62n + digit, 0n)
      assert.equal(value.toString(16).padStart(64, '0'), bytes.toString('hex'))
    }),
  )
})

test('[api-keys.2] a key with any one character changed is no key', () => {
  fc.assert(
    fc.property(mode, secret, fc.nat(57), fc.integer({ min: 0x20, max: 0x7e }), (mode, bytes, at, code) => {
      const key = apiKeyFormat.format(mode, bytes)
      const changed = key.slice(0, at) + String.fromCharCode(code) + key.slice(at + 1)
      fc.pre(changed !== key)
      assert.equal(apiKeyFormat.modeOf(changed), undefined)
    }),
    { numRuns: 2_000 },
  )
})

test('[api-keys.2] a key with two neighbours swapped, cut, or with more behind it is no key', () => {
  const key = apiKeyFormat.format('sandbox', vectors[2][1])
  for (let at = 0; at + 1 < key.length; at++) {
    const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2)
    if (swapped !== key) assert.equal(apiKeyFormat.modeOf(swapped), undefined, swapped)
    assert.equal(apiKeyFormat.modeOf(key.slice(0, at)), undefined)
  }
  for (const text of ['', `${key}0`, `${key}\n`, ` ${key}`, generateApiKey.responses[201].example.apiKey]) {
    assert.equal(apiKeyFormat.modeOf(text), undefined, JSON.stringify(text))
  }
})

test('[api-keys.2] a right checksum does not make a key of another text', () => {
  assert.equal(apiKeyFormat.modeOf('pix_prod_00000000000000000000000000000000000000000001xE9Zo'), undefined)
})

test('[api-keys.3] what is kept to distinguish keys is eight characters of the secret', () => {
  assert.equal(apiKeyFormat.displayOf('pix_test_aBcDeFgHiJ'), 'aBcDeFgH')
})

function digitValue(digit: string): number {
  return '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.indexOf(digit)
}
