import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { bankWithout } from '../../support/bank-without.ts'
import { assertBooks, balances } from '../../support/books.ts'
import { audit, cases, inbox } from '../../support/evidence.ts'
import { failedEvent, paidEvent, postEvent } from '../../support/partner-events.ts'
import { ADMIN_TOKEN, type WorldOptions, world } from '../../support/world.ts'
import { caseWorld } from '../fixture.ts'
import { decidingOver, shapeOf } from './fixture.ts'

/** Events of the bank that were set aside, and what an operator decides of them. */

/** Each wait after which what is parked is tried again, until it is given up. */
const PARKED = [0, 1_001, 5_001, 30_001, 60_001, 300_001, 900_001]

/** A bank that cannot be asked about charges: what its events tell of them is booked. */
const BELIEVED = bankWithout('query-charge', 'statement')

/** A charge, and an event that names none and is given up. */
async function setAside(t: TestContext, options: WorldOptions = {}, environment: Record<string, string> = {}) {
  const pix = await world(t, environment, { isStepped: true, ...options })
  const made = await pix.charge('10.00')
  const body = JSON.stringify(paidEvent({ ...made, id: 'nobody', valueCents: 1000, providerTransactionId: 'x' }))
  const waits = async () => {
    for (const wait of PARKED) await pix.later(wait)
  }
  const { read: readCase, ...deciding } = decidingOver(pix)
  assert.equal(await postEvent(pix, body), 200)
  await waits()
  assert.deepEqual(await cases(pix.database), ['event_set_aside'])
  return {
    ...pix,
    made,
    body,
    waits,
    ...deciding,
    readCase,
    outcomes: async () => (await inbox(pix.database)).map(wordsOf),
  }
}

function wordsOf({ state, outcome }: { readonly state: string; readonly outcome: string | null }): string {
  return `${state} ${outcome}`
}

test('[cases.57] a set-aside event is read with its bytes as they came, and what may be decided of it', async (t) => {
  const pix = await setAside(t)
  const { event } = await pix.readCase('event_set_aside')
  assert.equal(Buffer.from(event.body, 'base64').toString(), pix.body)
  assert.deepEqual(await pix.offered('event_set_aside'), ['book', 'ask_again', 'close'])
})

test('[cases.58] [EV-7] an event is applied to the charge that the operator names, and its case closes by itself', async (t) => {
  const pix = await setAside(t, BELIEVED)
  const order = await pix.order('event_set_aside', 'book', { operationId: pix.made.id })
  await pix.send(order)
  await pix.later(0)
  assert.equal((await pix.read(pix.made.id)).status, 'PAID')
  assert.deepEqual(await pix.outcomes(), ['DONE APPLIED'])
  assert.deepEqual(await cases(pix.database), ['event_set_aside (closed)'])
  await assert.rejects(pix.send(order), { code: 'case_changed' })
  const decided = (await audit(pix.database)).filter(({ action }) => action === 'case.decided')
  assert.deepEqual(
    decided.map(({ subject, facts }) => [subject, facts.decision, facts.valueCents]),
    [[order.caseId, 'book', 1000]],
  )
  await assertBooks(pix.database)
})

test('[cases.34] [cases.52] the order to apply an event counts with its money, and books nothing by itself', async (t) => {
  for (const options of [BELIEVED, {}]) {
    const pix = await setAside(t, options)
    const order = await pix.order('event_set_aside', 'book', { operationId: pix.made.id })
    const dry = await pix.send({ ...order, dryRun: true })
    assert.deepEqual(shapeOf(dry.effects), {
      amountCents: 1000,
      accounts: [],
      journals: [],
      statuses: [],
    })
    assert.deepEqual(dry.effects?.closes, [], 'its case closes when it was applied')
    assert.deepEqual(await balances(pix.database), {})
    assert.deepEqual((await pix.send(order)).effects, dry.effects)
    await pix.later(0)
    const isBooked = options === BELIEVED
    assert.deepEqual(await balances(pix.database), isBooked ? { settlement: -1000n, available: 1000n } : {})
  }
})

test('[cases.52] an event and its order are one commit: what is refused leaves no step, and the same key the same answer', async (t) => {
  const pix = await setAside(t, BELIEVED)
  const order = await pix.order('event_set_aside', 'book', { operationId: '0198c0de-7a11-7000-8000-5f1d3c2b1a09' })
  const { caseId, ...body } = order
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'idempotency-key': 'one' }
  const path = `/operator/cases/${caseId}/decisions`
  for (const _ of [1, 2]) {
    const { status, body: problem } = await pix.call('POST', path, body, headers)
    assert.deepEqual([status, problem.errors.map(({ field }: { field: string }) => field)], [400, ['operationId']])
  }
  assert.deepEqual((await pix.readCase('event_set_aside')).steps, [])
  assert.deepEqual(await pix.outcomes(), ['PARKED CASE_OPENED'])
})

test('[cases.58] an operator’s word alone makes no money: what the bank does not confirm stays a case', async (t) => {
  const pix = await setAside(t)
  await pix.decide('event_set_aside', 'book', { operationId: pix.made.id })
  await pix.waits()
  assert.equal((await pix.read(pix.made.id)).status, 'PENDING')
  assert.deepEqual(await balances(pix.database), {})
  assert.deepEqual(await pix.outcomes(), ['PARKED CASE_OPENED'])
  assert.deepEqual(await cases(pix.database), ['event_set_aside'])
  assert.deepEqual(await pix.offered('event_set_aside'), ['book', 'ask_again', 'close'])
})

test('[cases.58] what the bank confirms of the charge that was named is booked by its word, once', async (t) => {
  const pix = await setAside(t)
  await pix.behave({ eventDelayMs: 3_600_000 })
  const { endToEndId } = await pix.bankAction(`charges/${pix.made.id}/pay`)
  const event = paidEvent({ ...pix.made, id: 'nobody', providerTransactionId: 'y' }, { endToEndId, valueCents: 1000 })
  await pix.decide('event_set_aside', 'close')
  assert.equal(await postEvent(pix, event), 200)
  await pix.waits()
  assert.equal((await pix.read(pix.made.id)).status, 'PAID', 'the statement had it')
  await pix.decide('event_set_aside', 'book', { operationId: pix.made.id })
  await pix.later(0)
  assert.deepEqual((await pix.outcomes()).at(-1), 'DONE KNOWN')
  assert.deepEqual(await cases(pix.database), ['event_set_aside (closed)', 'event_set_aside (closed)'])
  await pix.assertBooksAgree()
})

test('[cases.58] an operation of another kind, or none, is refused and the event stays as it is', async (t) => {
  const pix = await setAside(t)
  for (const operationId of ['0198c0de-7a11-7000-8000-5f1d3c2b1a09', 'nobody', undefined]) {
    const given = operationId === undefined ? {} : { operationId }
    await assert.rejects(pix.decide('event_set_aside', 'book', given), { code: 'validation_error' })
  }
  assert.deepEqual(await pix.outcomes(), ['PARKED CASE_OPENED'])
})

test('[cases.57] an event that is replayed is matched again, as it stands', async (t) => {
  const pix = await setAside(t, BELIEVED)
  const { id } = await pix.charge('10.00', { externalId: 'nobody' })
  await pix.decide('event_set_aside', 'ask_again')
  await pix.later(0)
  assert.deepEqual(await pix.outcomes(), ['DONE APPLIED'])
  assert.equal((await pix.read(id)).status, 'RECONCILIATION_REQUIRED', 'it is dated before the charge')
  assert.deepEqual(await cases(pix.database), ['event_set_aside (closed)', 'payment_in_suspense'])
  await assertBooks(pix.database)
})

test('[cases.57] an event that is replayed and matches nothing is given up again, with the same case', async (t) => {
  const pix = await setAside(t)
  await pix.decide('event_set_aside', 'ask_again')
  await pix.waits()
  assert.deepEqual(await pix.outcomes(), ['PARKED CASE_OPENED'])
  assert.deepEqual(await cases(pix.database), ['event_set_aside'])
})

test('[cases.57] an event that is dismissed is applied to nothing and kept', async (t) => {
  const pix = await setAside(t)
  const order = await pix.order('event_set_aside', 'close')
  await pix.send(order)
  await pix.waits()
  assert.deepEqual(await pix.outcomes(), ['PARKED CASE_OPENED'])
  assert.deepEqual(await cases(pix.database), ['event_set_aside (closed)'])
  await assert.rejects(pix.send(order), { code: 'case_changed' })
  await assertBooks(pix.database)
})

test('[cases.51] of an event replayed, attributed and dismissed at once, one decision counts', async (t) => {
  const pix = await setAside(t)
  const order = await pix.order('event_set_aside', 'ask_again', { operationId: pix.made.id })
  const decisions = (['ask_again', 'book', 'close'] as const).map((decision) => pix.send({ ...order, decision }))
  const results = await Promise.allSettled(decisions)
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected', 'rejected'])
  const decided = (await audit(pix.database)).filter(({ action }) => action === 'case.decided')
  assert.equal(decided.length, 1)
})

test('[cases.59] the case of an event closes by itself when the same event comes again and is applied', async (t) => {
  const pix = await setAside(t, BELIEVED)
  await pix.charge('10.00', { externalId: 'nobody' })
  assert.equal(await postEvent(pix, pix.body), 200)
  await pix.later(0)
  assert.deepEqual(await pix.outcomes(), ['PARKED CASE_OPENED', 'DONE APPLIED'])
  assert.deepEqual(await cases(pix.database), ['event_set_aside (closed)', 'payment_in_suspense'])
})

test('[cases.47] [cases.57] what cannot be read is dismissed, or read again by a later version, by two people, and attributed to nothing', async (t) => {
  const pix = await caseWorld(t)
  const { id } = await pix.charge('10.00')
  assert.equal(
    await postEvent(pix, { ...paidEvent({ id, valueCents: 1000, providerTransactionId: 'x' }), valueCents: -1 }),
    200,
  )
  await pix.later(0)
  const [{ id: caseId }] = (await pix.read('?kind=event_set_aside')).data
  const { options } = await pix.read(`/${caseId}`)
  assert.deepEqual(
    options.map(({ decision, needsSecondPerson }: Record<string, unknown>) => [decision, needsSecondPerson]),
    [
      ['ask_again', true],
      ['close', true],
    ],
  )
  const decide = async (decision: string) => {
    const { body } = await pix.decide(caseId, decision)
    assert.equal((await pix.say(caseId, body.proposalId, true)).body.outcome, 'approved')
  }
  await decide('ask_again')
  await pix.later(0)
  assert.deepEqual(await cases(pix.database), ['event_set_aside'])
  await decide('close')
  assert.deepEqual(await cases(pix.database), ['event_set_aside (closed)'])
})

test('[cases.58] [CI-10] [EV-34] an event whose references name two charges is applied to the one that the operator names', async (t) => {
  const pix = await world(t, {}, { isStepped: true, ...BELIEVED })
  const [one, other] = [await pix.charge('10.00'), await pix.charge('10.00')]
  assert.equal(await postEvent(pix, paidEvent({ ...one, valueCents: 1000 }, { externalId: other.id })), 200)
  for (const wait of PARKED) await pix.later(wait)
  assert.deepEqual(await cases(pix.database), ['event_set_aside'])
  assert.deepEqual(await balances(pix.database), {})
  await decidingOver(pix).decide('event_set_aside', 'book', { operationId: other.id })
  await pix.later(0)
  assert.deepEqual([(await pix.read(one.id)).status, (await pix.read(other.id)).status], ['PENDING', 'PAID'])
  assert.deepEqual(await cases(pix.database), ['event_set_aside (closed)'])
  await assertBooks(pix.database)
})

test('[cases.52] the money of an event that is attributed counts in the amount from which on it takes a second person', async (t) => {
  const pix = await setAside(t, BELIEVED, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' })
  const attributed = pix.decide('event_set_aside', 'book', { operationId: pix.made.id })
  await assert.rejects(attributed, { code: 'insufficient_role' }, 'nobody is named who could propose it')
  assert.deepEqual(await pix.outcomes(), ['PARKED CASE_OPENED'])
  await assert.rejects(pix.decide('event_set_aside', 'close'), { code: 'insufficient_role' })
})

test('[cases.47] [cases.52] an event that tells no money may end an operation: it is applied by two people, and dismissed by one', async (t) => {
  const pix = await caseWorld(t, {}, BELIEVED)
  const made = await pix.charge('10.00')
  assert.equal(
    await postEvent(pix, failedEvent({ ...made, id: 'nobody', valueCents: 1000, providerTransactionId: 'x' })),
    200,
  )
  for (const wait of PARKED) await pix.later(wait)
  const [{ id }] = (await pix.read('?kind=event_set_aside')).data
  const { options } = await pix.read(`/${id}`)
  assert.deepEqual(
    options.map(({ decision, needsSecondPerson }: Record<string, unknown>) => [decision, needsSecondPerson]),
    [
      ['book', true],
      ['ask_again', true],
      ['close', false],
    ],
  )
  for (const [decision, given, outcome] of [
    ['book', { operationId: made.id }, 'proposed'],
    ['close', { dryRun: true }, 'dry_run'],
  ] as const) {
    const { body } = await pix.decide(id, decision, given)
    assert.deepEqual([body.outcome, body.needsSecondPerson], [outcome, outcome === 'proposed'])
  }
})
