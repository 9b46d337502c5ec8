import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { desk } from '../desk/fixture.ts'
import { assertBooks, balances } from '../support/books.ts'
import { testDatabase } from '../support/database.ts'
import { makeOperator } from '../support/operators.ts'
import { world } from '../support/world.ts'
import { operatedProcess } from './fixture.ts'

test('[adjustment.create.4] from the amount of the desk on an admin adjusts the balance, and no operator, either way', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' }, { isStepped: true })
  const [operator, admin] = [await makeOperator(pix, 'operator', 'Ana'), await makeOperator(pix, 'admin', 'Bia')]
  const adjust = (token: string, valueCents: number) =>
    pix.call('POST', '/operator/adjustments', { valueCents, reason: 'the tests' }, { authorization: `Bearer ${token}` })
  for (const valueCents of [1000, -1000, 5000]) {
    const { status, body } = await adjust(operator, valueCents)
    assert.deepEqual([status, body.code], [403, 'insufficient_role'])
  }
  assert.deepEqual(await balances(pix.database), {})
  assert.equal((await adjust(admin, 5000)).status, 201)
  assert.equal((await adjust(operator, -999)).status, 201)
  assert.deepEqual(await balances(pix.database), { available: 4001n, settlement: -4001n })
})

const FROM_25 = { PIXGATE_DESK_APPROVAL_FROM_CENTS: '2500' }
const HOURS_24 = 24 * 60 * 60_000

/** A world in which operators adjust and decide. */
async function adjusting(t: TestContext) {
  const pix = await desk(t, FROM_25)
  const adjust = (valueCents: number, headers: Record<string, string> = pix.ana) =>
    pix.call('POST', '/operator/adjustments', { valueCents, reason: 'the tests' }, headers)
  /** What was answered to each, in turn. */
  const adjustEach = async (...each: readonly Parameters<typeof adjust>[]) => {
    const answers = []
    for (const one of each) answers.push((await adjust(...one)).status)
    return answers
  }
  return { ...pix, adjust, adjustEach }
}

test('[adjustment.create.5] what one person adjusts within 24 hours is less than the amount of the desk, either way and under whichever name', async (t) => {
  const pix = await adjusting(t)
  const again = await pix.make('operator', 'ana')
  const eva = await pix.make('operator', 'Eva')
  assert.deepEqual(await pix.adjustEach([1000], [-1000, again], [499]), [201, 201, 201])
  for (const headers of [pix.ana, again]) {
    const { status, body } = await pix.adjust(1, headers)
    assert.deepEqual([status, body.code], [403, 'insufficient_role'])
  }
  assert.deepEqual(await balances(pix.database), { available: 499n, settlement: -499n })
  assert.equal((await pix.adjust(2499, eva)).status, 201, 'others have a sum of their own')
  pix.clock.advance(HOURS_24 + 16 * 60_000)
  assert.equal((await pix.adjust(2499)).status, 201)
  await assertBooks(pix.database)
})

test('[adjustment.create.5] [desk.49] what is decided at the desk and what is adjusted count in one sum', async (t) => {
  const pix = await adjusting(t)
  const eva = await pix.make('operator', 'Eva')
  const first = await pix.paidTwice('10.00')
  assert.equal((await pix.decide(first.id, 'credit')).body.outcome, 'decided')
  assert.deepEqual(await pix.adjustEach([1500], [1499]), [403, 201])
  assert.equal((await pix.adjust(1500, eva)).status, 201)
  const second = await pix.paidTwice('10.00')
  assert.equal((await pix.decide(second.id, 'credit', {}, eva)).body.outcome, 'proposed')
})

test('[adjustment.create.5] of two adjustments of one person at once that are too much together one is booked', async (t) => {
  const pix = await adjusting(t)
  const answers = await Promise.all([pix.adjust(1500), pix.adjust(1500)])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 403])
  assert.deepEqual(await balances(pix.database), { available: 1500n, settlement: -1500n })
})

test('[adjustment.create.5] [idempotency.2] what was booked is answered again, though the sum is used up', async (t) => {
  const pix = await adjusting(t)
  const keyed = { ...pix.ana, 'idempotency-key': 'k' }
  const booked = await pix.adjust(2499, keyed)
  const again = await pix.adjust(2499, keyed)
  assert.deepEqual([again.status, again.body], [201, booked.body])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
})

test('[adjustment.create.5] an admin’s adjustments are neither bounded nor counted', async (t) => {
  const pix = await adjusting(t)
  const admin = await pix.make('admin', 'Caio')
  assert.deepEqual(await pix.adjustEach([9000, admin], [2000, admin], [2000, admin]), [201, 201, 201])
  const { id } = await pix.paidTwice('10.00')
  assert.equal((await pix.decide(id, 'credit', {}, admin)).body.outcome, 'decided')
})

test('[adjustment.create.5] [desk.45] whoever was deactivated meanwhile adjusts nothing', async (t) => {
  const { url, database } = await testDatabase(t)
  const { adjust } = operatedProcess(t, url)
  const gone = { actor: '0198c0de-7a11-7000-8000-00000000000b', actorName: 'Rui' }
  await assert.rejects(adjust(100n, {}, gone), { code: 'unauthorized' })
  assert.deepEqual(await balances(database), {})
})
