import assert from 'node:assert/strict'
import { createHash, createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import test from 'node:test'
import { createSealer } from '../../src/platform/sealing.ts'
import { Unreadable } from '../../src/webhooks/sealed.ts'
import { openTestDatabase, testDatabase } from '../support/database.ts'
import { keyringOf, placeOfKey, setPrivateKey, signerOf } from '../support/signing-keys.ts'

const keys = { current: 'an encryption key', previous: undefined }

test('[webhooks.8] the first start makes an ECDSA P-256 key whose id anyone can check', async (t) => {
  const { database } = await testDatabase(t)
  const signer = await signerOf(database, keys)
  const publicKey = createPublicKey(signer.publicPem)
  assert.match(signer.publicPem, /^-----BEGIN PUBLIC KEY-----\n/)
  assert.deepEqual([publicKey.asymmetricKeyType, publicKey.asymmetricKeyDetails?.namedCurve], ['ec', 'prime256v1'])
  const spki = publicKey.export({ format: 'der', type: 'spki' })
  assert.equal(signer.keyId, createHash('sha256').update(spki).digest('base64url').slice(0, 16))

  const bytes = Buffer.from('bytes')
  const signature = Buffer.from(signer.sign(bytes), 'base64')
  assert.equal(signature[0], 0x30)
  assert.ok(verify('sha256', bytes, publicKey, signature))
  assert.ok(!verify('sha256', Buffer.from('bytez'), publicKey, signature))
})

test('[webhooks.8] processes that start at once share one key, and keep it', async (t) => {
  const { url, database } = await testDatabase(t)
  const other = openTestDatabase(url)
  t.after(() => other.close())
  const signers = await Promise.all([database, other, database, other].map((pool) => signerOf(pool, keys)))
  const again = await signerOf(database, keys)
  assert.deepEqual(
    signers.map(({ keyId }) => keyId),
    signers.map(() => again.keyId),
  )
})

test('[encryption.2] a database that is restored under another encryption key is refused, by name', async (t) => {
  const { database } = await testDatabase(t)
  await signerOf(database, keys)
  for (const previous of [undefined, 'a third one']) {
    await assert.rejects(
      signerOf(database, { current: 'another one', previous }),
      (error) =>
        error instanceof Unreadable &&
        error.reason === 'another_key' &&
        error.message.includes('the webhook signing key'),
    )
  }
})

test('[encryption.1] the sealed private half of another key does not open in a row', async (t) => {
  const { url, database } = await testDatabase(t)
  const keyring = await keyringOf(database, keys)
  const { keyId } = keyring.signer()
  const sealer = createSealer(keys)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const plain = privateKey.export({ format: 'der', type: 'pkcs8' })
  for (const moved of [sealer.seal(plain, placeOfKey('another')), sealer.seal(plain, placeOfKey(keyId))]) {
    await setPrivateKey(url, keyId, moved)
    await assert.rejects(signerOf(database, keys), { name: 'Unreadable', reason: 'changed' })
  }
})
