import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { weaknessOf } from '../../src/platform/secrets.ts'

const GUESSABLE = /^is too easy to guess, .+ openssl rand -hex 32$/
const PLACEHOLDER = /^is a placeholder of a document: .+ openssl rand -hex 32$/

test('[production.2] secrets that repeat, count or name themselves are refused', () => {
  for (const secret of [
    'a'.repeat(64),
    'ab'.repeat(20),
    'aZ1!'.repeat(9),
    'deadbeef'.repeat(5),
    '12345678901234567890123456789012',
    'fedcba9876543210fedcba9876543210',
    '0123456789abcdef0123456789abcdef',
    'aabbccddeeff00112233445566778899',
    '13579bdfhjlnprtvxz02468acegikmoq',
    'qwertyuiopasdfghjklzxcvbnm123456',
    'QWERTYUIOPASDFGHJKLZXCVBNM!!!!!!',
    'password123password123password123',
    'Pixgate-Partner-Secret-Production-2026',
    'admin-token-of-the-tests-0123456789abcdef',
  ]) {
    assert.match(weaknessOf(secret) ?? '', GUESSABLE, secret)
  }
})

test('[production.2] placeholders of documents are refused', () => {
  const random = 'kV3xO9d2mTqLr8ZyBnWcJf5uHs1aEgPi'
  assert.equal(weaknessOf(random), undefined)
  for (const words of [
    'changeme',
    'Change-Me',
    'CHANGE_IT',
    'choose-one',
    'replace this',
    'your-secret',
    'placeholder',
  ]) {
    assert.match(weaknessOf(`${words}-${random}`) ?? '', PLACEHOLDER, words)
  }
})

test('[production.2] generated secrets of 16 bytes or more are accepted', () => {
  for (let made = 0; made < 20_000; made += 1) {
    const bytes = createHash('sha256')
      .update(`${made}`)
      .digest()
      .subarray(0, 16 + (made % 17))
    for (const encoding of ['hex', 'base64', 'base64url'] as const) {
      const secret = bytes.toString(encoding)
      assert.equal(weaknessOf(secret), undefined, secret)
    }
    const uuid = bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
    assert.equal(weaknessOf(uuid), undefined, uuid)
  }
})
