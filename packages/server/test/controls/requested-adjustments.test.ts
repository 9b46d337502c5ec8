import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createOperatorCommands } from '../../src/controls/commands.ts'
import { caseWorld } from '../cases/fixture.ts'
import { balances } from '../support/books.ts'
import { testDatabase } from '../support/database.ts'
import { ADMIN_TOKEN } from '../support/world.ts'
import { adjustmentRequest, caseNeeds, OPERATOR, operatedProcess } from './fixture.ts'

/** Adjustments that take a second person. */

/** A world in which operators adjust. */
async function adjusting(t: TestContext, fromCents: string) {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: fromCents })
  const adjust = (valueCents: number, headers: Record<string, string> = pix.ana, reason = 'opening balance') =>
    pix.call('POST', '/operator/adjustments', { valueCents, reason }, headers)
  /** Asks for an adjustment that takes a second person. */
  const request = async (valueCents: number, headers?: Record<string, string>): Promise<Requested> => {
    const { status, body } = await adjust(valueCents, headers)
    assert.equal(status, 202, JSON.stringify(body))
    return body
  }
  const approve = ({ caseId, proposalId }: Requested, headers?: Record<string, string>) =>
    pix.say(caseId, proposalId, true, headers)
  return { ...pix, adjust, request, approve }
}

interface Requested {
  readonly caseId: string
  readonly proposalId: string
}

test('[adjustment.create.4] from the amount on an adjustment is booked once another person approves it, an admin’s too, either way', async (t) => {
  const pix = await adjusting(t, '1000')
  const admin = await pix.make('admin', 'Caio')
  assert.equal((await pix.adjust(999)).status, 201)
  const top = await pix.request(5000, admin)
  const { kind, amountCents, facts, steps } = await pix.read(`/${top.caseId}`)
  assert.deepEqual(
    [kind, amountCents, facts],
    ['adjustment_requested', 5000, { direction: 'in', valueCents: 5000, rule: 'adjustment.create.4' }],
  )
  assert.deepEqual([steps[0].id, steps[0].isOpen], [top.proposalId, true])
  assert.deepEqual(await balances(pix.database), { available: 999n, settlement: -999n }, 'nothing of it is booked')
  const { status, body } = await pix.approve(top)
  assert.deepEqual([status, body.outcome, body.effects.amountCents], [200, 'approved', 5000])
  assert.equal((await pix.approve(await pix.request(-1000))).status, 200)
  assert.deepEqual(await balances(pix.database), { available: 4999n, settlement: -4999n })
  const { data } = await pix.get('/api/pix/ledger?operation=ADJUSTMENT')
  assert.deepEqual(
    data.map(({ description }: { description: string }) => description),
    Array(3).fill('opening balance'),
  )
  assert.deepEqual((await pix.read('')).data, [])
})

test('[adjustment.create.4] with the default of production one person adjusts nothing, whoever they are', async (t) => {
  const pix = await adjusting(t, '0')
  const refused = await pix.adjust(1, { authorization: `Bearer ${ADMIN_TOKEN}` })
  assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_role'])
  const requested = await pix.request(100_000)
  const [again, made] = [await pix.make('approver', 'ANA'), await pix.make('approver', 'Davi')]
  const same = await pix.approve(requested, again)
  assert.deepEqual([same.status, same.body.code], [403, 'approver_not_independent'])
  assert.deepEqual(await balances(pix.database), {})
  const answers = await Promise.all([pix.approve(requested), pix.approve(requested, made)])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409], 'of two who approve at once one does')
  assert.deepEqual(await balances(pix.database), { available: 100_000n, settlement: -100_000n })
})

test('[adjustment.create.5] withdrawn or refused, a requested adjustment is over: its case closes, and it is not approved', async (t) => {
  const pix = await adjusting(t, '0')
  for (const end of ['withdraw', 'refuse'] as const) {
    const { caseId, proposalId } = await pix.request(1000)
    const ended = await (end === 'withdraw' ? pix.withdraw(caseId, proposalId) : pix.say(caseId, proposalId, false))
    assert.deepEqual([ended.status, ended.body.outcome], [200, 'refused'])
    assert.equal((await pix.read(`/${caseId}`)).state, 'closed')
    const { status, body } = await pix.approve({ caseId, proposalId })
    assert.deepEqual([status, body.code], [409, 'proposal_void'])
  }
  assert.deepEqual(await balances(pix.database), {})
})

test('[adjustment.create.5] a request whose proposer was deactivated is proposed anew, or closed', async (t) => {
  const pix = await adjusting(t, '0')
  const rui = await pix.make('operator', 'Rui')
  const [requested, mistaken] = [await pix.request(1000, rui), await pix.request(2000, rui)]
  const { data } = (await pix.call('GET', '/operator/operators', undefined, pix.ana)).body
  const { id } = data.find(({ name }: { name: string }) => name === 'Rui')
  const admin = await pix.make('admin', 'Caio')
  assert.equal((await pix.call('DELETE', `/operator/operators/${id}`, undefined, admin)).status, 204)
  const late = await pix.approve(requested)
  assert.deepEqual([late.status, late.body.code], [409, 'proposal_void'])
  for (const [{ caseId }, decision] of [
    [requested, 'credit'],
    [mistaken, 'close'],
  ] as const) {
    const { body } = await pix.decide(caseId, decision)
    assert.equal(body.outcome, 'proposed')
    assert.equal((await pix.say(caseId, body.proposalId, true)).status, 200)
    assert.equal((await pix.read(`/${caseId}`)).state, 'closed')
  }
  assert.deepEqual(await balances(pix.database), { available: 1000n, settlement: -1000n })
})

test('[adjustment.create.2] [adjustment.create.4] a withdrawal of more than is available is not even requested', async (t) => {
  const pix = await adjusting(t, '0')
  const { status, body } = await pix.adjust(-1)
  assert.deepEqual([status, body.code], [422, 'insufficient_balance'])
  assert.deepEqual((await pix.read('')).data, [])
})

test('[idempotency.2] [adjustment.create.4] the same request of an adjustment is one case and one proposal', async (t) => {
  const pix = await adjusting(t, '0')
  const keyed = { ...pix.ana, 'idempotency-key': 'k' }
  const answers = await Promise.all([pix.adjust(1000, keyed), pix.adjust(1000, keyed)])
  const again = await pix.adjust(1000, keyed)
  assert.deepEqual(
    [...answers, again].map(({ status, body }) => [status, body]),
    Array(3).fill([202, again.body]),
  )
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.equal((await pix.read('')).data.length, 1)
  const other = await pix.adjust(1001, keyed)
  assert.deepEqual([other.status, other.body.code], [422, 'idempotency_key_reused'])
})

test('[idempotency.2] [adjustment.create.4] what was booked by one person is answered again, though it takes two by now', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url)
  const given = { idempotencyKey: 'admin createAdjustment k' }
  const { adjustment } = await process.adjust(100n, given)
  const strict = createOperatorCommands({ ...process, cases: caseNeeds(process, database, process.operators, 0) })
  const again = await strict.adjust(adjustmentRequest(process.ids.uuid(), 100n, given), OPERATOR)
  assert.deepEqual([again.adjustment?.id, again.isReplayed], [adjustment.id, true])
  const other = adjustmentRequest(process.ids.uuid(), 101n, given)
  await assert.rejects(strict.adjust(other, OPERATOR), { code: 'idempotency_key_reused' })
  assert.deepEqual(await balances(database), { available: 100n, settlement: -100n })
})
