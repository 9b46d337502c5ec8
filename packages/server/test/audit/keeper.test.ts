import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { anchorKey, anchorKeys, createAuditKeeper } from '../../src/audit/chain.ts'
import { capturedLog } from '../support/captured-log.ts'
import { openTestDatabase } from '../support/database.ts'
import { as, serverLogin } from '../support/logins.ts'
import { steppedClock } from '../support/stepped-clock.ts'
import { faultsOf, RECHAIN, rowId, trailOf } from './fixture.ts'

const HOUR_MS = 60 * 60 * 1_000

/** A trail, and a worker that keeps it with no more than the server's login. */
async function keptTrail(t: TestContext, rows: number) {
  const trail = await trailOf(t, rows)
  const databaseUrl = as(trail.url, await serverLogin(t))
  const encryptionKey = 'encryption-key-of-the-audit-tests-0123456789'
  const clock = steppedClock({ stands: true })
  const start = (encryptionKeys = { current: encryptionKey, previous: undefined as string | undefined }) => {
    const database = openTestDatabase(databaseUrl, 1)
    t.after(() => database.close())
    const log = capturedLog()
    return { ...createAuditKeeper({ databaseUrl, database, clock, encryptionKeys, logger: log.logger }), log }
  }
  return { ...trail, clock, start }
}

const said = ({ lines }: ReturnType<typeof capturedLog>) =>
  lines.map(({ level, head, row }) => [level, head ?? Number(row)])

test('[audit.3] the head is signed and logged where it has changed, by one of several workers', async (t) => {
  const { start, add, head, verify } = await keptTrail(t, 0)
  const [one, other] = [start(), start()]
  await one.processNext()
  assert.deepEqual(one.log.lines, [], 'there is nothing to sign')
  await add(2)
  await one.processNext()
  await one.processNext()
  await other.processNext()
  const { seq, hash } = await head()
  assert.deepEqual([...said(one.log), ...said(other.log)], [['info', `${seq}:${hash.toString('hex')}`]])
  const { anchors, unproven, faults } = await verify()
  assert.deepEqual([anchors, unproven, faults], [1, 0, []])
  await add(1)
  await other.processNext()
  assert.equal((await verify()).anchors, 2)
})

test('[audit.5] a trail that is rewritten under a worker, anchors and all, is an error and is not signed', async (t) => {
  const { start, tamper, verify, add } = await keptTrail(t, 5)
  const keeper = start()
  await keeper.processNext()
  assert.equal(keeper.standing()?.faults, 0)
  await tamper(`UPDATE audit SET actor = 'x' WHERE id = '${rowId(2)}'; ${RECHAIN}; DELETE FROM audit_anchor`)
  await add(1)
  assert.deepEqual(faultsOf(await verify()), [], 'all of it is consistent')
  await keeper.processNext()
  assert.equal(keeper.standing()?.faults, 1)
  assert.deepEqual(said(keeper.log).at(-1), ['error', 5])
  assert.equal((await verify()).anchors, 0)
  await keeper.processNext()
  assert.equal(keeper.standing()?.faults, 1, 'it is told for as long as it is so')
})

test('[audit.5] what was added is verified each minute, all of it at the start and each hour', async (t) => {
  const { start, tamper, add, clock } = await keptTrail(t, 5)
  const keeper = start()
  await keeper.processNext()
  await tamper(`UPDATE audit SET actor = 'x' WHERE id = '${rowId(2)}'`)
  await add(1)
  await keeper.processNext()
  assert.equal(keeper.standing()?.faults, 0)
  clock.advance(HOUR_MS)
  await keeper.processNext()
  assert.equal(keeper.standing()?.faults, 1)
  assert.deepEqual(said(keeper.log).at(-1), ['error', 2])
  await keeper.processNext()
  assert.equal(keeper.standing()?.faults, 1)
  const next = start()
  await next.processNext()
  assert.deepEqual(said(next.log)[0], ['error', 2])
  await tamper(`UPDATE audit SET actor = 'admin' WHERE id = '${rowId(2)}'`)
  await keeper.processNext()
  assert.equal(keeper.standing()?.faults, 0)
  await tamper(`DELETE FROM audit WHERE id = '${rowId(6)}'`)
  await add(1)
  await tamper(`UPDATE audit SET actor = 'x' WHERE id = '${rowId(7)}'`)
  await keeper.processNext()
  assert.deepEqual(said(keeper.log).at(-1), ['error', 7])
})

test('[audit.5] [metrics.6] a trail that was never verified is as old as the process, and of no process that does not keep it', async (t) => {
  const { start, clock } = await keptTrail(t, 1)
  const keeper = start()
  assert.equal(keeper.standing(), undefined)
  keeper.begin()
  assert.deepEqual(keeper.standing(), { at: clock.now(), faults: undefined })
  keeper.stop()
  assert.equal(await keeper.processNext(), false, 'a stop is no failure')
  assert.equal(keeper.standing()?.faults, undefined)
})

test('[audit.3] while the encryption key is exchanged heads of the one before are proven, and the present one signs the head anew', async (t) => {
  const { start, tamper, verify } = await keptTrail(t, 3)
  const [before, present] = [
    'encryption-key-of-the-audit-tests-0123456789',
    'encryption-key-of-the-year-after-0123456789',
  ]
  await start({ current: before, previous: undefined }).processNext()
  const exchanged = { current: present, previous: before }
  const keeper = start(exchanged)
  await keeper.processNext()
  assert.equal(keeper.standing()?.faults, 0)
  const proven = await verify([], anchorKeys(exchanged))
  assert.deepEqual([proven.anchors, proven.unproven, proven.faults], [2, 0, []])
  const afterwards = await verify([], anchorKeys({ current: present, previous: undefined }))
  assert.deepEqual([afterwards.anchors, afterwards.unproven], [2, 1], 'the head is proven by the present key alone')

  await tamper(
    `DELETE FROM audit_anchor WHERE key_id = '${anchorKey(present).id}'; UPDATE audit_anchor SET mac = sha256(mac)`,
  )
  const next = start(exchanged)
  await next.processNext()
  const [strange, signed] = next.log.lines
  assert.partialDeepStrictEqual(strange, { level: 'error', contradicting: 0, forged: 1 })
  assert.equal(typeof signed?.head, 'string', 'whatever somebody adds, the trail is signed on')
  assert.equal(next.standing()?.faults, 0)
})
