import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { limits } from '@pixgate/spec'
import { KEYS_KNOWN_AFTER_MS } from '../../src/webhooks/breaker.ts'
import { administer } from '../support/database.ts'
import { ALIVE, lapsing } from '../support/live-request.ts'
import { auditOfKeys, signingKeyRows } from '../support/signing-keys.ts'
import { requestContext, type WebhookWorld, webhookWorld } from '../support/webhook-world.ts'

const context = { ...requestContext, caller: { credential: 'admin', id: 'admin' } } as const
const rest = { params: undefined, query: undefined }

/** The operator's endpoints of one process. */
function operatorOf({ handlers }: Pick<WebhookWorld, 'handlers'>) {
  const change = (key_id: string, more: { reason?: string; force?: boolean }) => ({
    ...{ ...rest, context, params: { key_id }, body: { reason: 'the tests', ...more } },
  })
  return {
    list: async () => (await handlers.listSigningKeys()).body.data,
    make: async (live = ALIVE) =>
      (await handlers.createSigningKey({ ...rest, body: { reason: 'yearly' }, context: { ...context, live } })).body,
    promote: async (id: string, more = {}) => (await handlers.promoteSigningKey(change(id, more))).body,
    retire: async (id: string, more = {}) => (await handlers.retireSigningKey(change(id, more))).body,
  }
}

async function keyWorld(t: TestContext) {
  const world = await webhookWorld(t)
  return { ...world, ...operatorOf(world), first: world.keyring.signer().keyId }
}

const states = (keys: readonly { readonly id: string; readonly state: string }[]) =>
  Object.fromEntries(keys.map(({ id, state }) => [id, state]))

test('[signing-keys.1] a key is published as the next one, signs, is published still, and is retired', async (t) => {
  const { clock, database, first, list, make, promote, retire } = await keyWorld(t)
  const startedAt = new Date(clock.now()).toISOString()
  assert.partialDeepStrictEqual(await list(), [
    { id: first, state: 'current', createdAt: startedAt, promotedAt: startedAt, replacedAt: null, mayMoveAt: null },
  ])

  clock.advance(1_000)
  const createdAt = new Date(clock.now()).toISOString()
  const next = await make()
  const mayMoveAt = new Date(clock.now() + KEYS_KNOWN_AFTER_MS).toISOString()
  assert.partialDeepStrictEqual(next, { state: 'next', createdAt, promotedAt: null, mayMoveAt })
  assert.deepEqual(states(await list()), { [first]: 'current', [next.id]: 'next' })

  clock.advance(KEYS_KNOWN_AFTER_MS)
  const promotedAt = new Date(clock.now()).toISOString()
  assert.partialDeepStrictEqual(await promote(next.id), { id: next.id, state: 'current', promotedAt, mayMoveAt: null })
  const [, previous] = await list()
  assert.partialDeepStrictEqual(previous, { id: first, state: 'previous', replacedAt: promotedAt, retiredAt: null })

  clock.advance(KEYS_KNOWN_AFTER_MS)
  const retiredAt = new Date(clock.now()).toISOString()
  assert.partialDeepStrictEqual(await retire(first), { state: 'retired', replacedAt: promotedAt, retiredAt })
  const rows = await signingKeyRows(database)
  const canSign = Object.fromEntries(rows.map(({ id, privateKey }) => [id, privateKey !== null]))
  assert.deepEqual(canSign, { [first]: false, [next.id]: true }, 'the private half of what signs no more is gone')
})

test('[signing-keys.2] a next key is not promoted before every cache has it, and a previous one not retired while one may lack the new', async (t) => {
  const { clock, first, list, make, promote, retire } = await keyWorld(t)
  const { id } = await make()
  clock.advance(KEYS_KNOWN_AFTER_MS - 1)
  await assert.rejects(promote(id), { code: 'signing_key_too_soon' })
  assert.deepEqual(states(await list()), { [first]: 'current', [id]: 'next' })
  clock.advance(1)
  await promote(id)
  clock.advance(KEYS_KNOWN_AFTER_MS - 1)
  await assert.rejects(retire(first), { code: 'signing_key_too_soon' })
  assert.deepEqual(states(await list()), { [first]: 'previous', [id]: 'current' })
  clock.advance(1)
  await retire(first)
})

test('[signing-keys.1] a replaced key is published for thirty days, unless it is retired before', async (t) => {
  const { clock, first, handlers, list, make, promote } = await keyWorld(t)
  const { id } = await make()
  await promote(id, { force: true })
  const published = async () => {
    clock.advance(limits.publishedKeysAgeMs)
    const { body } = await handlers.listPublicKeys({ ...rest, params: undefined, body: undefined, context })
    return body?.data.map((key) => key.id) ?? []
  }
  clock.advance(limits.signingKeyPreviousMs - 2 * limits.publishedKeysAgeMs)
  assert.deepEqual((await published()).toSorted(), [first, id].toSorted())
  assert.deepEqual(await published(), [id])
  assert.deepEqual(states(await list()), { [first]: 'retired', [id]: 'current' })
})

test('[signing-keys.1] [signing-keys.2] a revoked key is published by no process any more, and never again', async (t) => {
  const { anotherProcess, clock, first, make, promote, retire, url } = await keyWorld(t)
  const other = await anotherProcess()
  const { id } = await make()
  await promote(id, { force: true })
  await retire(first, { force: true, reason: 'it has leaked' })
  clock.advance(limits.publishedKeysAgeMs)
  const { body } = await other.handlers.listPublicKeys({ ...rest, params: undefined, body: undefined, context })
  assert.deepEqual(
    body?.data.map((key) => key.id),
    [id],
  )
  const undo = `UPDATE signing_key SET revoked_at = NULL WHERE id = '${first}'`
  await assert.rejects(administer(url, undo), { code: '23000' })
})

test('[signing-keys.3] a key does not go where its life does not lead', async (t) => {
  const { clock, first, make, promote, retire } = await keyWorld(t)
  await assert.rejects(retire(first, { force: true }), { code: 'signing_key_state_conflict' })
  const { id } = await make()
  await assert.rejects(make(), { code: 'next_signing_key_exists' })
  await promote(id, { force: true })
  await assert.rejects(promote(first, { force: true }), { code: 'signing_key_state_conflict' })
  clock.advance(KEYS_KNOWN_AFTER_MS)
  await retire(first)
  await assert.rejects(promote(first, { force: true }), { code: 'signing_key_state_conflict' })
  for (const unknown of ['0123456789abcdef', '', "' OR true --", '\0', '\ud800', '0123456789abcde\0']) {
    await assert.rejects(promote(unknown), { code: 'not_found' })
    await assert.rejects(retire(unknown), { code: 'not_found' })
  }
  const unwanted = await make()
  assert.equal((await retire(unwanted.id)).state, 'retired', 'a next one that signed nothing waits for nothing')
})

test('[signing-keys.3] who asks again because an answer was lost changes nothing', async (t) => {
  const { database, first, make, promote, retire } = await keyWorld(t)
  const { id } = await make()
  const promoted = await promote(id, { force: true })
  assert.deepEqual(await promote(id), promoted)
  const retired = await retire(first, { force: true })
  assert.deepEqual(await retire(first), retired)
  assert.equal((await auditOfKeys(database)).length, 3)
})

test('[signing-keys.2] [signing-keys.6] a leaked key is replaced at once, by force; every change is audited: who, from where, why', async (t) => {
  const { database, first, list, make, promote, retire } = await keyWorld(t)
  const { id } = await make()
  await promote(id, { force: true, reason: 'leaked' })
  await retire(first, { force: true, reason: 'leaked' })
  assert.deepEqual(states(await list()), { [first]: 'retired', [id]: 'current' })
  const by = { actor: 'admin', address: '127.0.0.1' }
  assert.deepEqual(await auditOfKeys(database), [
    { ...by, action: 'signing_key.made', subject: id, facts: { reason: 'yearly' } },
    { ...by, action: 'signing_key.promoted', subject: id, facts: { reason: 'leaked', force: true, replaced: first } },
    { ...by, action: 'signing_key.retired', subject: first, facts: { reason: 'leaked', force: true, was: 'previous' } },
  ])
})

test('[signing-keys.1] of two operators at two processes one makes the next key, and a promotion happens once', async (t) => {
  const { anotherProcess, database, list, make, promote } = await keyWorld(t)
  const other = operatorOf(await anotherProcess())
  const made = await Promise.allSettled([make(), other.make(), make(), other.make()])
  const next = made.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  assert.equal(next.length, 1)
  for (const result of made) {
    assert.ok(result.status === 'fulfilled' || result.reason.code === 'next_signing_key_exists')
  }
  const { id } = next[0] as { id: string }
  assert.equal((await list()).length, 2)
  await Promise.all([promote(id, { force: true }), other.promote(id, { force: true })])
  assert.deepEqual(
    (await auditOfKeys(database)).map(({ action }) => action),
    ['signing_key.made', 'signing_key.promoted'],
  )
})

test('[signing-keys.6] a request that has lapsed changes nothing', async (t) => {
  const { list, make } = await keyWorld(t)
  const request = lapsing()
  request.lapse()
  await assert.rejects(make(request), { code: 'overloaded' })
  assert.equal((await list()).length, 1)
})

test('[signing-keys.1] the database itself lets no key sign again, nor two be current', async (t) => {
  const { url, database, first, make, promote } = await keyWorld(t)
  const { id } = await make()
  await promote(id, { force: true })
  for (const [key, change] of [
    [first, 'retires_at = NULL'],
    [first, "retires_at = retires_at + interval '1 s'"],
    [first, 'signs_from = now()'],
    [id, 'signs_from = NULL'],
    [id, "revoked_at = NULL, signs_from = signs_from - interval '1 s'"],
  ]) {
    await assert.rejects(administer(url, `UPDATE signing_key SET ${change} WHERE id = '${key}'`), { code: '23000' })
  }
  const asServer = (text: string) => database.rows({ name: '', text }, [])
  await assert.rejects(asServer(`UPDATE signing_key SET public_pem = 'x'`), /permission denied/)
  await assert.rejects(asServer('DELETE FROM signing_key'), /permission denied/)
  await assert.rejects(asServer('UPDATE signing_key SET private_key = NULL'), /permission denied/)
  await asServer(`SELECT reseal_signing_key(id, private_key, 'garbage') FROM signing_key`)
  assert.ok(!(await signingKeyRows(database)).some(({ privateKey }) => privateKey?.equals(Buffer.from('garbage'))))
})
