import assert from 'node:assert/strict'
import test from 'node:test'
import { makeOperator } from '../support/operators.ts'
import { ADMIN_TOKEN, ENCRYPTION_KEY, type World, world } from '../support/world.ts'

/** A world with a reader of the console. */
async function consoleWorld(t: test.TestContext, environment: Record<string, string> = {}) {
  const pix = await world(t, environment)
  const authorization = `Bearer ${await makeOperator(pix, 'viewer', 'Vera Lima')}`
  const read = async (path: string) => {
    const { status, body } = await pix.call('GET', `/operator/${path}`, undefined, { authorization })
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
  return { pix, read }
}

/** The overview once it is read anew. */
async function overviewOf(pix: World, read: (path: string) => Promise<World['read']>) {
  pix.clock.advance(2_000)
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on it.
  return (await read('overview')) as any
}

test('[console.9] the overview has balances, the money of today and the work for people', async (t) => {
  const { pix, read } = await consoleWorld(t)
  const { id } = await pix.paid('150')
  const payout = await pix.cashOut({ value: 30 })
  await pix.until(`/api/pix/cash-out/${payout.id}`, ({ status }) => status === 'CONFIRMED')
  const refund = await pix.refundIn(id, 20)
  await pix.until(`/api/pix/refund/${refund.id}`, ({ status }) => status === 'CONFIRMED')
  const { accounts, today, hours, needsPerson, health } = await overviewOf(pix, read)
  const balance = (code: string) => accounts.find(({ account }: { account: string }) => account === code).balanceCents
  assert.equal(balance('available'), 10_000)
  assert.equal(balance('settlement'), -10_000)
  assert.deepEqual(today.in, { count: 1, cents: 15_000 })
  assert.deepEqual(today.out, { count: 1, cents: 3_000 })
  assert.deepEqual(today.refunded, { count: 1, cents: 2_000 })
  assert.deepEqual(today.failed, { count: 0, cents: 0 })
  assert.equal(hours.length, 24)
  assert.deepEqual(
    hours.reduce(
      ([paid, out]: number[], hour: { inCents: number; outCents: number }) => [
        (paid ?? 0) + hour.inCents,
        (out ?? 0) + hour.outCents,
      ],
      [0, 0],
    ),
    [15_000, 5_000],
  )
  assert.deepEqual(needsPerson.cases, { count: 0, oldestAt: null })
  assert.equal(health.bank.status, 'ok')
  assert.equal(health.cashOut.enabled, true)
})

test('[console.9] an overpaid charge is a case in the overview, and a failed payout is counted', async (t) => {
  const { pix, read } = await consoleWorld(t)
  const { id } = await pix.charge('10')
  await pix.bankAction(`charges/${id}/pay`, { valueCents: 1_500 })
  await pix.until('/api/pix/cash-in', ({ data }) => data[0].status === 'RECONCILIATION_REQUIRED')
  await pix.balance(10_000)
  await pix.behave({ cashOut: 'fail' })
  const payout = await pix.cashOut({ value: 30 })
  await pix.until(`/api/pix/cash-out/${payout.id}`, ({ status }) => status === 'FAILED')
  const { needsPerson, today } = await overviewOf(pix, read)
  assert.equal(needsPerson.cases.count, 1)
  assert.deepEqual(today.failed, { count: 1, cents: 3_000 })
  assert.deepEqual(today.unknown, { count: 1, cents: 1_000 })
})

test('[console.10] a waiting console hears of a payment, and an old cursor begins anew', async (t) => {
  const { pix, read } = await consoleWorld(t)
  const first = await read('changes')
  assert.deepEqual([first.changes, first.isReset], [[], false])
  const waiting = read(`changes?cursor=${first.cursor}&wait=25`)
  const { id } = await pix.charge('10')
  const heard = await waiting
  assert.equal(heard.isReset, false)
  assert.deepEqual(
    heard.changes.map((change: { id: string }) => change.id),
    [id],
  )
  const paying = read(`changes?cursor=${heard.cursor}&wait=25`)
  await pix.bankAction(`charges/${id}/pay`)
  assert.deepEqual(
    (await paying).changes.map((change: { kind: string }) => change.kind),
    ['cash_in'],
  )
  pix.clock.advance(61_000)
  assert.equal((await read(`changes?cursor=${heard.cursor}`)).isReset, true)
  const authorization = `Bearer ${ADMIN_TOKEN}`
  const wrong = await pix.call('GET', '/operator/changes?cursor=eA', undefined, { authorization })
  assert.deepEqual([wrong.status, wrong.body.errors[0].field], [400, 'cursor'])
})

test('[console.11] the audit trail is read backwards, by pages, and by who did what', async (t) => {
  const { pix, read } = await consoleWorld(t)
  await makeOperator(pix, 'operator', 'Otto Reis')
  const { data, pagination } = await read('audit?limit=1&action=operator.created')
  assert.deepEqual([data[0].facts.name, pagination.hasMore], ['Otto Reis', true])
  const next = await read(`audit?limit=1&action=operator.created&cursor=${pagination.nextCursor}`)
  assert.deepEqual(
    next.data.map(({ facts }: { facts: { name: string } }) => facts.name),
    ['Vera Lima'],
  )
  assert.deepEqual((await read('audit?actor=nobody')).data, [])
})

test('[console.12] decisions that wait for a second person are listed until one answers', async (t) => {
  const { pix, read } = await consoleWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const operator = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Otto Reis')}` }
  const approver = { authorization: `Bearer ${await makeOperator(pix, 'approver', 'Alba Dias')}` }
  const order = { valueCents: 5_000, reason: 'Opening balance' }
  const { body } = await pix.call('POST', '/operator/adjustments', order, operator)
  const [proposal] = (await read('proposals')).data
  assert.partialDeepStrictEqual(proposal, {
    ...body,
    caseKind: 'adjustment_requested',
    decision: 'credit',
    amountCents: 5_000,
    by: { name: 'Otto Reis' },
  })
  const path = `/operator/cases/${body.caseId}/proposals/${body.proposalId}`
  assert.equal((await pix.call('PUT', path, { approved: true, reason: 'Checked' }, approver)).status, 200)
  assert.deepEqual((await read('proposals')).data, [])
})

test('[console.13] the system shows limits with their use and no secret', async (t) => {
  const { pix, read } = await consoleWorld(t, { PIXGATE_DAY_MAX_CENTS: '100000' })
  await pix.balance(10_000)
  await pix.cashOut({ value: 30 })
  const system = await read('system')
  const day = system.limits.find(({ name }: { name: string }) => name === 'day')
  assert.deepEqual([day.maxCents, day.usedCents], [100_000, 3_000])
  const named = (wanted: string) => system.settings.find(({ name }: { name: string }) => name === wanted)
  assert.deepEqual(named('PIXGATE_DAY_MAX_CENTS'), { name: 'PIXGATE_DAY_MAX_CENTS', value: '100000', isSet: true })
  assert.equal(named('PIXGATE_ADMIN_TOKEN').value, null)
  assert.equal(named('DATABASE_URL').value, null)
  for (const secret of [ADMIN_TOKEN, ENCRYPTION_KEY]) assert.ok(!JSON.stringify(system).includes(secret))
})
