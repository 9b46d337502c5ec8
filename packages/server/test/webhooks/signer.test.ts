import assert from 'node:assert/strict'
import { createHash, createPublicKey, verify } from 'node:crypto'
import test from 'node:test'
import { openSigner, SigningKeyUnreadable } from '../../src/webhooks/signer.ts'
import { openTestDatabase, testDatabase } from '../support/database.ts'

const clock = { now: () => Date.parse('2026-11-21T13:00:00Z') }
const encryptionKey = 'an encryption key'

test('[webhooks.8] the first start makes an ECDSA P-256 key whose id anyone can check', async (t) => {
  const { database } = await testDatabase(t)
  const signer = await openSigner({ database, clock, encryptionKey })
  const publicKey = createPublicKey(signer.publicPem)
  assert.match(signer.publicPem, /^-----BEGIN PUBLIC KEY-----\n/)
  assert.deepEqual([publicKey.asymmetricKeyType, publicKey.asymmetricKeyDetails?.namedCurve], ['ec', 'prime256v1'])
  const spki = publicKey.export({ format: 'der', type: 'spki' })
  assert.equal(signer.keyId, createHash('sha256').update(spki).digest('base64url').slice(0, 16))

  const bytes = Buffer.from('bytes')
  const signature = Buffer.from(await signer.sign(bytes), 'base64')
  assert.equal(signature[0], 0x30)
  assert.ok(verify('sha256', bytes, publicKey, signature))
  assert.ok(!verify('sha256', Buffer.from('bytez'), publicKey, signature))
})

test('[webhooks.8] processes that start at once share one key, and keep it', async (t) => {
  const { url, database } = await testDatabase(t)
  const other = openTestDatabase(url)
  t.after(() => other.close())
  const signers = await Promise.all(
    [database, other, database, other].map((pool) => openSigner({ database: pool, clock, encryptionKey })),
  )
  const again = await openSigner({ database, clock, encryptionKey })
  assert.deepEqual(
    signers.map(({ keyId }) => keyId),
    signers.map(() => again.keyId),
  )
})

test('[webhooks.8] another encryption key is refused, by name', async (t) => {
  const { database } = await testDatabase(t)
  await openSigner({ database, clock, encryptionKey })
  await assert.rejects(
    openSigner({ database, clock, encryptionKey: 'another one' }),
    (error) => error instanceof SigningKeyUnreadable && error.message.includes('PIXGATE_ENCRYPTION_KEY'),
  )
})
