import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { hostname, tmpdir } from 'node:os'
import test, { type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createIds } from '../../src/platform/ids.ts'
import { createSealer, type EncryptionKeys } from '../../src/platform/sealing.ts'
import { openSigning } from '../../src/webhooks/index.ts'
import { adviseOn, rewrap as rewrapAll } from '../../src/webhooks/rewrap.ts'
import { unseal } from '../../src/webhooks/sealed.ts'
import { makeSecret, readSealedSecrets } from '../../src/webhooks/secrets.ts'
import { capturedLog } from '../support/captured-log.ts'
import { administer, testDatabase } from '../support/database.ts'
import { PROGRAM_ENVIRONMENT } from '../support/program-environment.ts'
import { auditOfKeys, placeOfKey, setPrivateKey, signerOf, signingKeyRows } from '../support/signing-keys.ts'
import { wallNow } from '../support/wall-clock.ts'
import { requestContext } from '../support/webhook-world.ts'

const OLD = 'the encryption key of last year, of 32 characters or more'
const NEW = 'the encryption key of this year, of 32 characters or more'

const old: EncryptionKeys = { current: OLD, previous: undefined }
const present: EncryptionKeys = { current: NEW, previous: undefined }
const both: EncryptionKeys = { current: NEW, previous: OLD }

const clock = { now: wallNow }
const ids = createIds(clock)

/** A database whose current and next signing keys were sealed with the old encryption key. */
async function sealedWithOld(t: TestContext) {
  const { url, database } = await testDatabase(t)
  const { keyring, handlers } = await openSigning({ database, clock, ids, logger: capturedLog().logger, keys: old })
  const { keyId: current } = keyring.signer()
  const input = { params: undefined, query: undefined, body: { reason: 'the tests' }, context: requestContext }
  const { id: next } = (await handlers.createSigningKey(input)).body
  const rewrap = async (keys: EncryptionKeys) =>
    (await rewrapAll({ database, clock, ids, keys })).map(({ outcome }) => outcome)
  return { url, database, current, next, rewrap }
}

test('[encryption.3] everything is sealed anew, once, with a row in the audit trail; the previous key is needed no more', async (t) => {
  const { database, current, next, rewrap } = await sealedWithOld(t)
  const signer = await signerOf(database, both)
  assert.deepEqual(await rewrap(both), ['rewrapped', 'rewrapped'])
  const after = await signerOf(database, present)
  assert.deepEqual([after.keyId, after.publicPem], [current, signer.publicPem])
  await assert.rejects(signerOf(database, old), { name: 'Unreadable' })
  for (const { id, privateKey } of await signingKeyRows(database)) {
    assert.equal(createSealer(present).open(privateKey ?? assert.fail(), placeOfKey(id)).by, 'current')
  }
  const rows = await signingKeyRows(database)
  assert.deepEqual(await rewrap(both), ['current_already', 'current_already'])
  assert.deepEqual(await signingKeyRows(database), rows)
  const by = { actor: 'rewrap-keys', address: hostname(), action: 'signing_key.rewrapped' }
  const rewrapped = (await auditOfKeys(database)).filter(({ action }) => action === by.action)
  assert.deepEqual(rewrapped, [
    { ...by, subject: current, facts: { openedBy: 'previous' } },
    { ...by, subject: next, facts: { openedBy: 'previous' } },
  ])
})

test('[encryption.3] ended halfway, it goes on where it was', async (t) => {
  const { database, rewrap } = await sealedWithOld(t)
  let transactions = 0
  const dying = {
    ...database,
    transaction: ((work) => {
      transactions += 1
      return transactions > 1 ? Promise.reject(new Error('killed')) : database.transaction(work)
    }) as typeof database.transaction,
  }
  await assert.rejects(rewrapAll({ database: dying, clock, ids, keys: both }), /killed/)
  assert.deepEqual(await rewrap(both), ['current_already', 'rewrapped'])
})

test('[encryption.3] what no key opens is told, and stays as it is; the rest is sealed anew', async (t) => {
  const { url, database, current, rewrap } = await sealedWithOld(t)
  const foreign = createSealer({ current: 'a third key', previous: undefined }).seal(
    Buffer.from('x'),
    placeOfKey(current),
  )
  await setPrivateKey(url, current, foreign)
  assert.deepEqual(await rewrap(both), ['unreadable', 'rewrapped'])
  assert.deepEqual(await rewrap(present), ['unreadable', 'current_already'])
  assert.deepEqual((await signingKeyRows(database))[0]?.privateKey, foreign)
})

test('[encryption.3] a key that signs no more meanwhile is not brought back', async (t) => {
  const { database, next } = await sealedWithOld(t)
  const racing = {
    ...database,
    transaction: (async (work) => {
      const retire = `UPDATE signing_key SET retires_at = now() WHERE id = '${next}' AND retires_at IS NULL`
      await database.rows({ name: '', text: retire }, [])
      return database.transaction(work)
    }) as typeof database.transaction,
  }
  const results = await rewrapAll({ database: racing, clock, ids, keys: both })
  assert.deepEqual(
    results.map(({ outcome }) => outcome),
    ['rewrapped', 'gone'],
  )
  assert.equal((await signingKeyRows(database)).find(({ id }) => id === next)?.privateKey, null)
})

test('[encryption.4] a start says which encryption key is needed still, and which is set for nothing', async (t) => {
  const sealed = await sealedWithOld(t)
  const { database, rewrap } = sealed
  const said = async (keys: EncryptionKeys) => {
    const { logger, lines } = capturedLog()
    await openSigning({ database, clock, ids, logger, keys })
    return lines.map(({ level, msg }) => `${level}: ${msg}`)
  }
  assert.deepEqual(await said(both), [
    'warn: PIXGATE_ENCRYPTION_KEY_PREVIOUS is needed by 2 of 2 sealed secrets: run `npm run rewrap-keys`',
  ])
  await rewrap(both)
  assert.deepEqual(await said(both), ['warn: PIXGATE_ENCRYPTION_KEY_PREVIOUS is no longer needed; remove it'])
  assert.deepEqual(await said(present), [])
})

/** An endpoint with two secrets that sign, sealed with the old encryption key, beside the signing keys. */
async function withSecrets({ url, database }: Awaited<ReturnType<typeof sealedWithOld>>) {
  const endpointId = ids.uuid()
  await administer(
    url,
    `INSERT INTO endpoint (id, url, events, created_at, since)
     VALUES ('${endpointId}', 'https://shop.example/', '{pix_cash_in}', now(), now())`,
  )
  const needs = { ids, sealer: createSealer(old) }
  await makeSecret(needs, database, endpointId, clock.now(), 0)
  await makeSecret(needs, database, endpointId, clock.now(), 3_600)
  const opened = async (keys: EncryptionKeys) =>
    (await readSealedSecrets(database)).map((value) => unseal(value, createSealer(keys)).plain.toString('hex'))
  return { endpointId, opened }
}

test('[encryption.3] [encryption.4] the secrets of endpoints are sealed anew, too, and open as before', async (t) => {
  const sealed = await sealedWithOld(t)
  const { database, rewrap } = sealed
  const { opened } = await withSecrets(sealed)
  const before = await opened(old)
  assert.equal(new Set(before).size, 2)
  assert.deepEqual(await adviseOn(database, both), [
    'PIXGATE_ENCRYPTION_KEY_PREVIOUS is needed by 4 of 4 sealed secrets: run `npm run rewrap-keys`',
  ])
  assert.deepEqual(await rewrap(both), ['rewrapped', 'rewrapped', 'rewrapped', 'rewrapped'])
  assert.deepEqual(await opened(present), before)
  await assert.rejects(opened(old), { name: 'Unreadable' })
  const actions = (await auditOfKeys(database)).map(({ action }) => action)
  assert.deepEqual(actions.filter((action) => action === 'webhook_secret.rewrapped').length, 2)
})

test('[encryption.1] [webhook-secrets.4] a secret of an endpoint opens nowhere else; one that was changed is reported at the start, and stops nothing', async (t) => {
  const sealed = await sealedWithOld(t)
  const { url, database } = sealed
  const { endpointId } = await withSecrets(sealed)
  await administer(
    url,
    `UPDATE webhook_secret s SET secret = (SELECT secret FROM webhook_secret o WHERE o.id <> s.id)
      WHERE expires_at IS NULL`,
  )
  const [newest, earlier] = await readSealedSecrets(database)
  assert.ok(newest && earlier && unseal(earlier, createSealer(old)))
  assert.throws(() => unseal(newest, createSealer(old)), { name: 'Unreadable', reason: 'changed' })
  await administer(url, "UPDATE webhook_secret SET secret = secret || '\\x00'")
  const log = capturedLog()
  const { keyring } = await openSigning({ database, clock, ids, logger: log.logger, keys: old })
  assert.ok(keyring.signer().sign(Buffer.from('told')))
  const named = new RegExp(`of the webhook endpoint ${endpointId} cannot be opened`)
  assert.ok(log.lines.some(({ level, msg }) => level === 'warn' && named.test(String(msg))))
})

test('[encryption.2] a secret of an endpoint that no configured key opens refuses the start, by name', async (t) => {
  const sealed = await sealedWithOld(t)
  const { url, database } = sealed
  const { endpointId } = await withSecrets(sealed)
  const { seal } = createSealer({ current: 'a key that nobody has any more', previous: undefined })
  const secret = seal(Buffer.alloc(32), { table: 'webhook_secret', row: 'x', column: 'secret' }).toString('hex')
  await administer(url, `UPDATE webhook_secret SET secret = '\\x${secret}'`)
  const refused = {
    name: 'Unreadable',
    message: new RegExp(`of the webhook endpoint ${endpointId} cannot be opened: PIXGATE_ENCRYPTION_KEY`),
  }
  await assert.rejects(openSigning({ database, clock, ids, logger: capturedLog().logger, keys: old }), refused)
})

const PROGRAM = fileURLToPath(new URL('../../bin/pixgate.mjs', import.meta.url))

/** Runs the program of an installation. */
function run(environment: Record<string, string>): Promise<{ status: number; output: string }> {
  const options = { env: { ...PROGRAM_ENVIRONMENT, ...environment }, cwd: tmpdir(), encoding: 'utf8' } as const
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, 'rewrap-keys'], options, (_, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, output: stdout + stderr }),
    )
  })
}

test('[encryption.3] the program says what it did, and ends with 0, 1 or 2', async (t) => {
  const { url, database, current, next } = await sealedWithOld(t)
  const environment = { DATABASE_URL: url, PIXGATE_ENCRYPTION_KEY: NEW }
  const neither =
    'PIXGATE_ENCRYPTION_KEY is not the one it was stored with, nor is PIXGATE_ENCRYPTION_KEY_PREVIOUS: put that one back'
  assert.deepEqual(await run(environment), {
    status: 1,
    output: [
      ...[current, next].map(
        (id) => `✘ signing_key ${id}  the webhook signing key ${id} cannot be opened: ${neither}\n`,
      ),
      '2 cannot be opened and are unchanged\n',
    ].join(''),
  })
  const done =
    'All sealed values open with PIXGATE_ENCRYPTION_KEY: PIXGATE_ENCRYPTION_KEY_PREVIOUS is no longer needed; remove it\n'
  assert.deepEqual(await run({ ...environment, PIXGATE_ENCRYPTION_KEY_PREVIOUS: OLD }), {
    status: 0,
    output: [
      ...[current, next].map((id) => `✔ signing_key ${id}  is sealed anew, with PIXGATE_ENCRYPTION_KEY\n`),
      done,
    ].join(''),
  })
  assert.deepEqual(await run(environment), {
    status: 0,
    output: [
      ...[current, next].map((id) => `✔ signing_key ${id}  was sealed with PIXGATE_ENCRYPTION_KEY already\n`),
      done,
    ].join(''),
  })
  assert.equal((await signerOf(database, present)).keyId, current)
  assert.deepEqual(await run({ ...environment, DATABASE_URL: 'postgres://pixgate:canary@127.0.0.1:9/pixgate' }), {
    status: 2,
    output: 'rewrap-keys: DATABASE_URL: the database at 127.0.0.1:9 refuses connections\n',
  })
  const { status, output } = await run({ DATABASE_URL: url })
  assert.equal(status, 2)
  assert.match(output, /PIXGATE_ENCRYPTION_KEY/)
})
