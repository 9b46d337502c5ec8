import assert from 'node:assert/strict'
import test from 'node:test'
import { bankWithout } from '../support/bank-without.ts'
import { balances } from '../support/books.ts'
import { administer } from '../support/database.ts'
import { postEvent } from '../support/partner-events.ts'
import { twoGateways } from '../support/two-gateways.ts'
import { until } from '../support/until.ts'
import { ADMIN_TOKEN, type Answer } from '../support/world.ts'
import { caseWorld } from './fixture.ts'

const RETURN_ID = 'D9999900120261123135000000000001'
const NOBODY = '0198c0de-7a11-7000-8000-000000000404'
const KEY = { 'idempotency-key': 'decided-once' }

test('[cases.35] a case is decided over HTTP, and what was decided is booked at once', async (t) => {
  const pix = await caseWorld(t)
  const { id, chargeId } = await pix.paidTwice('10.00')
  const before = await balances(pix.database)
  const { status, body } = await pix.decide(id, 'write_off')
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(
    [body.outcome, body.caseId, body.decision, body.needsSecondPerson],
    ['decided', id, 'write_off', false],
  )
  assert.deepEqual([body.effects.amountCents, body.effects.closes], [1000, [id]])
  const after = await balances(pix.database)
  assert.equal((after.suspense_in ?? 0n) - (before.suspense_in ?? 0n), -1000n)
  for (const { account, changeCents } of body.effects.accounts) {
    const [from, to] = [before, after].map((all) => all[account as keyof typeof all] ?? 0n)
    assert.equal(Number((to ?? 0n) - (from ?? 0n)), changeCents, account)
  }
  const { state, steps, options, timeline } = await pix.read(`/${id}`)
  assert.deepEqual([state, options], ['closed', []])
  assert.deepEqual(
    steps.map(({ step, by, order }: { step: string; by: { name: string }; order: object }) => [step, by.name, order]),
    [['decided', 'Ana', { decision: 'write_off', reason: 'the tests', evidence: {} }]],
  )
  assert.equal(timeline.moves.at(-1).trigger, 'operator.written_off')
  assert.equal(timeline.moves.at(-1).evidence.reason, 'the tests')
  assert.deepEqual(await pix.audited(id), [
    ['case.decided', 'Ana', { decision: 'write_off', reason: 'the tests', valueCents: 1000, operationId: chargeId }],
  ])
  await pix.assertBooksAgree()
})

test('[cases.36] what changed after it was read is not decided, and nothing changes', async (t) => {
  const pix = await caseWorld(t)
  const { id } = await pix.paidTwice('10.00')
  const before = await balances(pix.database)
  const { version } = await pix.read(`/${id}`)
  const stale = await pix.decide(id, 'write_off', { version: String(Number(version) - 1) })
  assert.deepEqual([stale.status, stale.body.code], [409, 'case_changed'])
  assert.deepEqual(await balances(pix.database), before)

  const both = await Promise.all([
    pix.decide(id, 'write_off', { version }),
    pix.decide(id, 'return_to_payer', { version, amountCents: 1000 }),
    pix.decide(id, 'write_off', { version }),
  ])
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 409, 409])
  for (const { status, body } of both) if (status === 409) assert.equal(body.code, 'case_changed')
  const late = await pix.decide(id, 'write_off')
  assert.deepEqual([late.status, late.body.code], [409, 'not_possible_in_state'])
  assert.equal((await pix.audited(id)).length, 1)
  assert.equal((await pix.read(`/${id}`)).steps.length, 1)
})

test('[cases.35] [cases.61] only what the table has is decided, with what it needs, and a dry run changes nothing', async (t) => {
  const pix = await caseWorld(t)
  const { id } = await pix.paidTwice('10.00')
  const before = await balances(pix.database)
  const { options } = await pix.read(`/${id}`)
  assert.partialDeepStrictEqual(
    options.filter(({ isOffered }: Answer['body']) => isOffered),
    [
      { decision: 'return_to_payer', needs: ['amountCents'], maxCents: 1000, needsSecondPerson: false },
      { decision: 'book', needs: ['operationId'] },
      { decision: 'write_off', needs: [], whyNot: [], needsSecondPerson: false },
    ],
  )
  for (const [decision, given, status, code] of [
    ['close', {}, 409, 'not_possible_in_state'],
    ['not_executed', {}, 409, 'not_possible_in_state'],
    ['accept', { amountCents: 1000 }, 409, 'not_possible_in_state'],
    ['return_to_payer', {}, 400, 'validation_error'],
    ['return_to_payer', { amountCents: 0 }, 400, 'validation_error'],
    ['return_to_payer', { amountCents: 1001 }, 409, 'not_possible_in_state'],
    ['book', {}, 400, 'validation_error'],
    ['book', { operationId: '' }, 400, 'validation_error'],
    ['write_off', { reason: 'no' }, 400, 'validation_error'],
    ['write_off', { amountCents: 1 }, 400, 'validation_error'],
    ['write_off', { operationId: NOBODY }, 400, 'validation_error'],
    ['book', { operationId: NOBODY, amountCents: 1 }, 400, 'validation_error'],
    ['write_off', { reason: 'x'.repeat(501) }, 400, 'validation_error'],
    ['nothing', {}, 400, 'validation_error'],
  ] as const) {
    const { status: answered, body } = await pix.decide(id, decision, given)
    assert.deepEqual([answered, body.code], [status, code], decision)
    if (decision === 'close') assert.equal(body.errors[0].field, 'decision')
  }
  const { status, body } = await pix.decide(
    id,
    'return_to_payer',
    { dryRun: true, amountCents: 700 },
    { ...pix.ana, ...KEY },
  )
  assert.deepEqual([status, body.outcome, body.effects.amountCents], [200, 'dry_run', 700])
  assert.deepEqual(await balances(pix.database), before)
  const { steps, state } = await pix.read(`/${id}`)
  assert.deepEqual([steps, state, await pix.audited(id)], [[], 'open', []])

  const viewer = await pix.make('viewer', 'Caio')
  for (const headers of [viewer, pix.bia]) {
    const refused = await pix.decide(id, 'write_off', {}, headers)
    assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_role'])
  }
})

test('[cases.17] an id of the bank is evidence only as the bank writes it', async (t) => {
  const bank = bankWithout('query-charge')
  const pix = await caseWorld(t, {}, bank)
  const id = await goneUnnamed(pix)
  const before = await balances(pix.database)
  for (const returnId of [
    `${RETURN_ID} `,
    ` ${RETURN_ID}`,
    RETURN_ID.toLowerCase(),
    RETURN_ID.slice(1),
    `E${RETURN_ID.slice(1)}`,
    `${RETURN_ID}0`,
    `D9999900120261123135é00000000001`,
    '=1+1',
  ]) {
    const { status, body } = await pix.decide(id, 'debit', { evidence: { returnId } })
    assert.deepEqual([status, body.code], [400, 'validation_error'], returnId)
    assert.equal(body.errors?.[0]?.field ?? body.fields?.[0]?.field, 'evidence.returnId')
  }
  const wrong = await pix.decide(id, 'debit', { evidence: { endToEndId: RETURN_ID } })
  assert.deepEqual([wrong.status, wrong.body.code], [400, 'validation_error'])
  assert.deepEqual(await balances(pix.database), before)
  // An ISPB may have capitals, as the CNPJ that it begins may, and the end small letters, as banks write them.
  for (const returnId of ['D12ABC345202611231350aB000000zZ9', 'D12ABC34z20261123135000000000001']) {
    const { status } = await pix.decide(id, 'debit', { dryRun: true, evidence: { returnId } })
    assert.equal(status, returnId.includes('z2') ? 400 : 200, returnId)
  }
  assert.equal((await pix.decide(id, 'debit', { evidence: { returnId: RETURN_ID } })).status, 200)
})

/** A charge of which the bank, that cannot be asked, told a return without its id: its case. */
async function goneUnnamed(pix: Awaited<ReturnType<typeof caseWorld>>): Promise<string> {
  const { id, providerTransactionId: transactionId, endToEndId } = await pix.paid('10.00')
  const occurredAt = new Date(pix.clock.now()).toISOString()
  const told = { event: 'CashInReversal', eventId: 'unnamed', status: 'CONFIRMED', valueCents: 400, occurredAt }
  await postEvent(pix, { ...told, transactionId, endToEndId })
  for (;;) {
    const [open] = (await pix.read(`?operation_id=${id}&kind=debit_in_suspense`)).data
    if (open) return open.id
    await pix.work()
  }
}

test('[cases.37] the same Idempotency-Key gets the same answer, and decides once', async (t) => {
  const pix = await caseWorld(t)
  const { id } = await pix.paidTwice('10.00')
  const { version } = await pix.read(`/${id}`)
  const headers = { ...pix.ana, ...KEY }
  const all = await Promise.all([1, 2, 3].map(() => pix.decide(id, 'write_off', { version }, headers)))
  const again = await pix.decide(id, 'write_off', { version }, headers)
  for (const { status, body } of all) assert.deepEqual([status, body], [200, again.body])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.equal(all.filter((answer) => answer.headers.get('idempotent-replayed') === null).length, 1)
  const other = await pix.decide(id, 'write_off', { version, reason: 'another one' }, headers)
  assert.deepEqual([other.status, other.body.code], [422, 'idempotency_key_reused'])
  assert.equal((await pix.audited(id)).length, 1)
})

test('[cases.37] one Idempotency-Key decides one case, also where it comes for two at the same moment', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '2000' })
  for (const value of ['10.00', '20.00']) {
    const [one, other] = [await pix.paidTwice(value), await pix.paidTwice(value)]
    const headers = { ...pix.ana, 'idempotency-key': `for-two-of-${value}` }
    const both = await Promise.all([one, other].map(({ id }) => pix.decide(id, 'write_off', {}, headers)))
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [value === '20.00' ? 202 : 200, 422])
    assert.equal(both.find(({ status }) => status === 422)?.body.code, 'idempotency_key_reused')
    const steps = await Promise.all([one, other].map(async ({ id }) => (await pix.read(`/${id}`)).steps.length))
    assert.deepEqual(steps.toSorted(), [0, 1])
    const loser = both[0]?.status === 422 ? one : other
    assert.equal((await pix.decide(loser.id, 'write_off', {}, headers)).status, 422, 'nor is it answered alike later')
  }
})

test('[cases.35] a case of no operation, or that is not there, is not decided', async (t) => {
  const pix = await caseWorld(t)
  const body = { decision: 'close', reason: 'the tests', version: 'open' }
  for (const id of ['nothing', '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f']) {
    const { status, body: problem } = await pix.call('POST', `/operator/cases/${id}/decisions`, body, pix.ana)
    assert.deepEqual([status, problem.code], [404, 'not_found'])
  }
})

test('[cases.39] from the amount on another person approves what was proposed, and exactly that is done', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' })
  const small = await pix.paidTwice('9.99')
  assert.equal((await pix.decide(small.id, 'write_off')).body.outcome, 'decided')

  const { id, chargeId } = await pix.paidTwice('10.00')
  const before = await balances(pix.database)
  const option = (await pix.read(`/${id}`)).options.find(
    ({ decision }: { decision: string }) => decision === 'write_off',
  )
  assert.equal(option.needsSecondPerson, true)
  const proposed = await pix.decide(id, 'write_off', {}, { ...pix.ana, ...KEY })
  assert.deepEqual([proposed.status, proposed.body.outcome, proposed.body.needsSecondPerson], [202, 'proposed', true])
  assert.deepEqual(await balances(pix.database), before)
  const { proposalId } = proposed.body
  const again = await pix.decide(id, 'write_off', {}, { ...pix.ana, ...KEY })
  assert.deepEqual([again.body, again.headers.get('idempotent-replayed')], [proposed.body, 'true'])
  const [step] = (await pix.read(`/${id}`)).steps
  assert.deepEqual(
    [step.id, step.step, step.isOpen, step.whyVoid, step.amountCents],
    [proposalId, 'proposed', true, null, 1000],
  )

  const approved = await pix.say(id, proposalId, true)
  assert.deepEqual([approved.status, approved.body.outcome, approved.body.proposalId], [200, 'approved', proposalId])
  assert.deepEqual(approved.body.effects.closes, [id])
  assert.deepEqual((await pix.say(id, proposalId, true)).body, approved.body, 'whoever says it again is answered alike')
  const { state, steps, timeline } = await pix.read(`/${id}`)
  assert.deepEqual([state, steps.map((one: { step: string }) => one.step)], ['closed', ['proposed', 'approved']])
  const { evidence } = timeline.moves.at(-1)
  assert.deepEqual([evidence.operator, evidence.approver], [steps[0].by.id, steps[1].by.id])
  const facts = { decision: 'write_off', valueCents: 1000, operationId: chargeId, proposalId }
  assert.deepEqual(await pix.audited(id), [
    ['case.proposed', 'Ana', { ...facts, reason: 'the tests' }],
    ['case.approved', 'Bia', { ...facts, reason: 'looked at it' }],
  ])
  await pix.assertBooksAgree()
})

test('[cases.46] what closes a case of an operation and moves nothing counts with the amount of the case; asking the bank counts nothing', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' })
  const { id, chargeId } = await pix.paidTwice('10.00')
  await administer(
    pix.databaseUrl,
    `INSERT INTO "case" (id, operation_id, kind, reference, facts, amount_cents, opened_at)
     SELECT gen_random_uuid(), operation_id, 'bank_contradicts', 'E1', '{"valueCents": 1000}', 1000, now() FROM "case" WHERE id = '${id}'`,
  )
  const { data } = await pix.read(`?kind=bank_contradicts&operation_id=${chargeId}`)
  const closed = await pix.decide(data[0].id, 'close')
  assert.deepEqual(
    [closed.body.outcome, closed.body.effects?.amountCents],
    ['proposed', 1000],
    JSON.stringify(closed.body),
  )
  const { options } = await pix.read(`/${data[0].id}`)
  assert.deepEqual(
    options.map(({ decision, needsSecondPerson }: Answer['body']) => [decision, needsSecondPerson]),
    [
      ['ask_again', false],
      ['close', true],
    ],
  )
  const asked = await pix.decide(data[0].id, 'ask_again')
  assert.deepEqual([asked.body.outcome, asked.body.effects?.amountCents], ['decided', 0], 'it stays open')
})

test('[cases.40] a proposal names a person, and one waits at a time', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' })
  const { id } = await pix.paidTwice('10.00')
  const nobody = await pix.decide(id, 'write_off', {}, { authorization: `Bearer ${ADMIN_TOKEN}` })
  assert.deepEqual([nobody.status, nobody.body.code], [403, 'insufficient_role'])
  assert.deepEqual((await pix.read(`/${id}`)).steps, [])
  const { version } = await pix.read(`/${id}`)
  const both = await Promise.all([1, 2].map(() => pix.decide(id, 'write_off', { version })))
  assert.deepEqual(both.map(({ status }) => status).toSorted(), [202, 409])
  const proposal = both.find(({ status }) => status === 202)?.body.proposalId
  const second = await pix.decide(id, 'return_to_payer', { amountCents: 1000 })
  assert.deepEqual([second.status, second.body.code], [409, 'not_possible_in_state'])
  assert.equal((await pix.withdraw(id, proposal)).body.outcome, 'refused')
  assert.equal((await pix.decide(id, 'write_off')).body.outcome, 'proposed')
})

test('[cases.41] who proposed it does not approve it, under no other token of theirs either', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' })
  const { id } = await pix.paidTwice('10.00')
  const { proposalId } = (await pix.decide(id, 'write_off')).body
  const anaAgain = await pix.make('approver', 'ANA')
  const same = await pix.say(id, proposalId, true, anaAgain)
  assert.deepEqual([same.status, same.body.code], [403, 'approver_not_independent'])
  const operator = await pix.make('operator', 'Caio')
  for (const headers of [operator, { authorization: `Bearer ${ADMIN_TOKEN}` }]) {
    const refused = await pix.say(id, proposalId, true, headers)
    assert.deepEqual([refused.status, refused.body.code], [403, 'insufficient_role'])
  }
  assert.equal((await pix.read(`/${id}`)).state, 'open')
  assert.equal((await pix.say(id, proposalId, true)).status, 200)
})

test('[cases.42] where the case changed, or its operator was deactivated, a proposal is void, as it is read too', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' })
  const voidOf = async (id: string, proposalId: string) => {
    const { steps } = await pix.read(`/${id}`)
    const { isOpen, whyVoid } = steps.find((step: { id: string }) => step.id === proposalId)
    const { status, body } = await pix.say(id, proposalId, true)
    assert.deepEqual([isOpen, status, body.code], [false, 409, 'proposal_void'])
    assert.equal(body.detail, whyVoid)
    return whyVoid
  }
  const changed = await pix.paidTwice('10.00')
  const first = (await pix.decide(changed.id, 'write_off')).body.proposalId
  await pix.bankAction(`charges/${changed.chargeId}/pay`)
  while ((await pix.read(`?operation_id=${changed.chargeId}`)).data.length < 2) await pix.work()
  const before = await balances(pix.database)
  assert.equal(await voidOf(changed.id, first), 'the case changed after it was proposed')
  const second = await pix.decide(changed.id, 'write_off')
  assert.equal(second.body.outcome, 'proposed', 'a void one is in nobody’s way')

  const gone = await pix.paidTwice('20.00')
  const eva = await pix.make('operator', 'Eva')
  const third = (await pix.decide(gone.id, 'write_off', {}, eva)).body.proposalId
  const admin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const { data } = (await pix.call('GET', '/operator/operators', undefined, admin)).body
  const { id: evaId } = data.find(({ name }: { name: string }) => name === 'Eva')
  assert.equal((await pix.call('DELETE', `/operator/operators/${evaId}`, undefined, admin)).status, 204)
  assert.equal(await voidOf(gone.id, third), 'the proposer was deactivated')
  assert.equal((await balances(pix.database)).losses, before.losses)
})

test('[cases.43] a proposal that was withdrawn or refused is not approved, and ends once', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' })
  const { id } = await pix.paidTwice('10.00')
  const proposal = async () => (await pix.decide(id, 'write_off')).body.proposalId
  const first = await proposal()
  const gone = await pix.withdraw(id, first)
  assert.deepEqual([gone.status, gone.body.outcome, gone.body.effects], [200, 'refused', null])
  assert.deepEqual((await pix.withdraw(id, first)).body, gone.body)
  const late = await pix.say(id, first, true)
  assert.deepEqual([late.status, late.body.code], [409, 'proposal_void'])

  const second = await proposal()
  const refused = await pix.say(id, second, false)
  assert.deepEqual([refused.status, refused.body.outcome], [200, 'refused'])
  const withdrawn = await pix.withdraw(id, second)
  assert.deepEqual([withdrawn.status, withdrawn.body.code], [409, 'proposal_void'])

  const third = await proposal()
  const [yes, no] = await Promise.all([pix.say(id, third, true), pix.withdraw(id, third)])
  assert.deepEqual([yes.status, no.status].toSorted(), [200, 409])
  const { state, steps } = await pix.read(`/${id}`)
  assert.equal(state, yes.status === 200 ? 'closed' : 'open')
  assert.equal(steps.filter((step: { proposalId: string | null }) => step.proposalId === third).length, 1)
  for (const other of [NOTHING, 'nothing']) {
    assert.equal((await pix.withdraw(id, other)).status, 404)
    assert.equal((await pix.say(id, other, true)).status, 404)
  }
})

const NOTHING = '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f'

test('[cash-in.cases.3] [cases.36] two operators at two services return the whole at once: the bank is ordered one refund', async (t) => {
  const pix = await twoGateways(t)
  const as = (token: string) => ({ authorization: `Bearer ${token}` })
  const make = async (name: string) => {
    const body = { name, role: 'operator' }
    return as((await pix.send({ method: 'POST', path: '/operator/operators', body, headers: as(ADMIN_TOKEN) })).token)
  }
  const [ana, eva] = [await make('Ana'), await make('Eva')]
  const [chargeId] = await pix.paid(100_00)
  await pix.atTheBank({ method: 'POST', path: `/control/charges/${chargeId}/pay`, body: {} })
  const open = async () =>
    (await pix.send({ path: `/operator/cases?operation_id=${chargeId}`, headers: ana })).data[0]?.id
  await until(async () => (await open()) !== undefined)
  const path = `/operator/cases/${await open()}`
  const { version } = await pix.send({ path, headers: ana })
  const body = { decision: 'return_to_payer', reason: 'the tests', version, amountCents: 100_00 }
  const answers = await pix.race(
    [ana, eva].map((headers) => ({ method: 'POST', path: `${path}/decisions`, body, headers })),
  )
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 409])
  assert.equal(answers.find(({ status }) => status === 409)?.body.code, 'case_changed')
  await pix.settle()
  const { data } = await pix.send({ path: '/api/pix/refund' })
  assert.deepEqual(
    data.map(({ id, status, valueCents }: Answer['body']) => [id, status, valueCents]),
    [[answers.find(({ status }) => status === 200)?.body.refundId, 'CONFIRMED', 100_00]],
  )
  assert.equal(pix.bank.book.refunds.size, 1)
  assert.equal((await pix.send({ path, headers: ana })).state, 'closed')
})
