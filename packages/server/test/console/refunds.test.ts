import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { caseWorld } from '../cases/fixture.ts'
import { balances } from '../support/books.ts'
import { audit } from '../support/evidence.ts'
import { ADMIN_TOKEN } from '../support/world.ts'

/** Refunds that operators order. */

interface Requested {
  readonly caseId: string
  readonly proposalId: string
}

/** A world in which operators refund: from R$ 50,00 on with a second person. */
async function refunding(t: TestContext) {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '5000' })
  const order = (cashInId: string, valueCents: number, headers: Record<string, string> = pix.ana, more: object = {}) =>
    pix.call('POST', '/operator/refunds', { cashInId, valueCents, reason: 'Returned goods', ...more }, headers)
  /** Requests a refund that needs a second person. */
  const request = async (cashInId: string, valueCents: number, more: object = {}): Promise<Requested> => {
    const { status, body } = await order(cashInId, valueCents, pix.ana, more)
    assert.equal(status, 202, JSON.stringify(body))
    return body
  }
  const approve = ({ caseId, proposalId }: Requested, headers = pix.bia) => pix.say(caseId, proposalId, true, headers)
  const refunds = async () => (await pix.get('/api/pix/refund')).data
  const confirmed = (id: string) => pix.until(`/api/pix/refund/${id}`, ({ status }) => status === 'CONFIRMED')
  return { ...pix, order, request, approve, refunds, confirmed }
}

test('[console.14] below the threshold an operator refunds at once, and once under a repeated key', async (t) => {
  const pix = await refunding(t)
  const { id } = await pix.paid('100')
  const keyed = { ...pix.ana, 'idempotency-key': 'k' }
  const answers = [
    ...(await Promise.all([1, 2].map(() => pix.order(id, 4999, keyed)))),
    await pix.order(id, 4999, keyed),
  ]
  const [first] = answers
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.refundId]),
    Array(3).fill([201, first?.body.refundId]),
  )
  assert.equal(answers[2]?.headers.get('idempotent-replayed'), 'true')
  const other = await pix.order(id, 4998, keyed)
  assert.deepEqual([other.status, other.body.code], [422, 'idempotency_key_reused'])
  const refund = await pix.confirmed(first?.body.refundId)
  assert.deepEqual([refund.cashInId, refund.externalId, refund.reason], [id, refund.id, 'Returned goods'])
  const trail = (await audit(pix.database)).filter(({ action }) => action === 'refund.ordered')
  assert.deepEqual(
    trail.map(({ subject, actorName, facts }) => [subject, actorName, facts.valueCents]),
    [4999, 4999, 4999, 4998].map((cents) => [id, 'Ana', cents]),
  )
  assert.equal((await pix.refunds()).length, 1)
  await pix.assertBooksAgree()
})

test('[console.14] from the threshold on a refund is proposed, and ordered as it was requested once another approves', async (t) => {
  const pix = await refunding(t)
  const { id } = await pix.paid('100')
  const before = await balances(pix.database)
  const keyed = { ...pix.ana, 'idempotency-key': 'k' }
  const answers = [await pix.order(id, 5000, keyed, { externalId: 'r-1' })]
  answers.push(await pix.order(id, 5000, keyed, { externalId: 'r-1' }))
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body]),
    Array(2).fill([202, answers[0]?.body]),
  )
  const requested: Requested = answers[0]?.body
  const { kind, amountCents, facts, options, steps } = await pix.read(`/${requested.caseId}`)
  assert.deepEqual([kind, amountCents, facts.cashInId, facts.rule], ['refund_requested', 5000, id, 'console.14'])
  assert.deepEqual(
    options.map(({ decision }: { decision: string }) => decision),
    ['return_to_payer', 'close'],
  )
  assert.deepEqual([steps[0].id, steps[0].isOpen], [requested.proposalId, true])
  const dry = await pix.decide(requested.caseId, 'return_to_payer', { dryRun: true })
  assert.deepEqual(
    [dry.body.outcome, dry.body.effects.amountCents, dry.body.needsSecondPerson],
    ['dry_run', 5000, true],
  )
  assert.deepEqual(await balances(pix.database), before)
  assert.deepEqual(await pix.refunds(), [])
  const own = await pix.approve(requested, pix.ana)
  assert.deepEqual([own.status, own.body.code], [403, 'insufficient_role'])
  const { status, body } = await pix.approve(requested)
  assert.deepEqual([status, body.outcome, body.refundId], [200, 'approved', requested.caseId])
  const refund = await pix.confirmed(body.refundId)
  assert.deepEqual(
    [refund.cashInId, refund.valueCents, refund.reason, refund.externalId],
    [id, 5000, 'Returned goods', 'r-1'],
  )
  assert.equal((await pix.read(`/${requested.caseId}`)).state, 'closed')
  assert.deepEqual((await pix.order(id, 5000, keyed, { externalId: 'r-1' })).body, requested)
  assert.equal((await pix.refunds()).length, 1)
  await pix.assertBooksAgree()
})

test('[console.14] a person approves no refund that they proposed under another token', async (t) => {
  const pix = await refunding(t)
  const { id } = await pix.paid('100')
  const requested = await pix.request(id, 5000)
  const { status, body } = await pix.approve(requested, await pix.make('approver', 'ANA'))
  assert.deepEqual([status, body.code], [403, 'approver_not_independent'])
  assert.deepEqual(await pix.refunds(), [])
})

test('[console.14] a refused request of a refund is over, and orders nothing', async (t) => {
  const pix = await refunding(t)
  const { id } = await pix.paid('100')
  const requested = await pix.request(id, 5000)
  assert.equal((await pix.say(requested.caseId, requested.proposalId, false)).body.outcome, 'refused')
  assert.equal((await pix.read(`/${requested.caseId}`)).state, 'closed')
  const { status, body } = await pix.approve(requested)
  assert.deepEqual([status, body.code], [409, 'proposal_void'])
  assert.deepEqual(await pix.refunds(), [])
})

test('[console.14] a refund that is not possible any more is answered with its error when approved, and nothing changes', async (t) => {
  const pix = await refunding(t)
  const { id } = await pix.paid('100')
  const [spent, named] = [await pix.request(id, 8000), await pix.request(id, 5000, { externalId: 'r-1' })]
  await pix.refundIn(id, 30, { externalId: 'r-1' })
  const before = await balances(pix.database)
  for (const [requested, status, code] of [
    [spent, 422, 'refund_exceeds_available'],
    [named, 409, 'duplicate_external_id'],
  ] as const) {
    const answer = await pix.approve(requested)
    assert.deepEqual([answer.status, answer.body.code], [status, code])
    const { state, steps } = await pix.read(`/${requested.caseId}`)
    assert.deepEqual([state, steps.length, steps[0].isOpen], ['open', 1, true])
  }
  assert.deepEqual(await balances(pix.database), before)
  const again = await pix.order(id, 5000, pix.ana, { externalId: 'r-1' })
  assert.deepEqual([again.status, again.body.code], [409, 'duplicate_external_id'])
  const more = await pix.order(id, 7001)
  assert.deepEqual([more.status, more.body.code], [422, 'refund_exceeds_available'])
  assert.deepEqual(
    more.body.errors?.map(({ field }: { field: string }) => field),
    ['valueCents'],
  )
  assert.equal((await pix.read('')).data.length, 2)
})

test('[console.14] viewers order no refund, and the administrative token proposes none', async (t) => {
  const pix = await refunding(t)
  const { id } = await pix.paid('100')
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  for (const [headers, cents] of [
    [await pix.make('viewer', 'Vera'), 100],
    [admin, 5000],
  ] as const) {
    const { status, body } = await pix.order(id, cents, headers)
    assert.deepEqual([status, body.code], [403, 'insufficient_role'])
  }
  assert.deepEqual([(await pix.refunds()).length, (await pix.read('')).data.length], [0, 0])
  assert.equal((await pix.order(id, 4999, admin)).status, 201)
})
