import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { assertBooks, balances } from '../support/books.ts'
import { cases, inbox, notifiedStatuses, payoutSwitch } from '../support/evidence.ts'
import { IMPATIENT } from '../support/impatience.ts'
import { makeOperator } from '../support/operators.ts'
import { postEvent } from '../support/partner-events.ts'
import { backupOf } from '../support/restored-database.ts'
import { enable } from '../support/restored-orders.ts'
import { stepUntil } from '../support/stepping.ts'
import { ALONE, BANKS, codeOf, operatorOf, sentBack, suspended, turn } from '../support/suspense.ts'
import { until } from '../support/until.ts'
import { wallNow } from '../support/wall-clock.ts'
import { ADMIN_TOKEN, type Answer, type World, world } from '../support/world.ts'

/** Attempts to use money in suspense twice, to make the merchant pay for it, or to make it undecidable. */

const FRAUD = 'MED_FRAUDE'
const LATE_EVENTS = { eventDelayMs: 3_600_000 }

type Suspended = Awaited<ReturnType<typeof suspended>>

interface Refund {
  readonly transactionId: string
  readonly returnId: string
  readonly status: string
}

function isOk(answer: Answer): void {
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
}

/** The first refund that the bank has carried out. */
async function carriedOut(pix: World): Promise<Refund> {
  for (;;) {
    const { refunds } = (await pix.bank('GET', '/control/book')).body
    const done = refunds.find(({ status }: Refund) => status === 'CONFIRMED')
    if (done) return done
  }
}

/** The bank's event of a return that names no refund of ours, only the payment; applied when this resolves. */
async function tellByOwnIds(pix: World, returned: object): Promise<void> {
  const occurredAt = new Date(pix.clock.now()).toISOString()
  const event = { event: 'CashInReversal', eventId: 'event of it', status: 'CONFIRMED', ...returned, occurredAt }
  assert.equal(await postEvent(pix, event), 200)
  await until(async () => (await inbox(pix.database)).every(({ state }) => state !== 'NEW'))
}

/** The open case of this kind. */
async function openCaseOf({ casesOf }: Pick<Suspended, 'casesOf'>, operationId: string, kind: string) {
  const open: { readonly id: string; readonly kind: string }[] = await casesOf(operationId)
  const found = open.find((one) => one.kind === kind)
  assert.ok(found, JSON.stringify(open))
  return found
}

/** The bank takes so much of the payment back by itself. */
function takenBack({ pix, id }: Suspended, valueCents: number): Promise<Answer['body']> {
  return pix.bankAction(`charges/${id}/return`, { valueCents, nature: FRAUD })
}

/** Of 150 for 100 a return of 50 was sent, got no answer, and failed by an operator's word, though it may still arrive. */
async function givenUp(t: TestContext) {
  const story = await suspended(t, { payments: [150_00], environment: IMPATIENT })
  const { pix, decide, casesOf, decideOn, refunds, pass } = story
  const answers = (isReached: boolean) =>
    pix.bank('PUT', '/control/lies', { perThousand: isReached ? {} : { unavailable: 1_000 } })
  await pix.behave({ refundIn: 'timeout', ...LATE_EVENTS })
  isOk(await decide('return_to_payer', 50_00))
  const [{ id: refundId }] = await refunds()
  let [unknown] = await casesOf(refundId)
  for (let minute = 0; minute < 40 && !unknown; minute++) {
    await pass(1)
    ;[unknown] = await casesOf(refundId)
  }
  // No byte leaves any more: the last attempt gets older than 5 minutes.
  await answers(false)
  await turn(pix, false)
  let answer = await decideOn(unknown.id, 'not_executed')
  for (let minute = 0; minute < 10 && answer.status !== 200; minute++) {
    await pass(1)
    answer = await decideOn(unknown.id, 'not_executed')
  }
  isOk(answer)
  assert.equal((await pix.get(`/api/pix/refund/${refundId}`)).status, 'FAILED')
  await answers(true)
  await pix.behave({ refundIn: 'auto' })
  return { ...story, refundId, answers }
}

/** The call of the abandoned refund arrives after all, and the bank reports it by its own ids. */
async function arrives({ pix, refundId, casesOf, pass }: Awaited<ReturnType<typeof givenUp>>) {
  const { entries } = (await pix.bank('GET', '/control/book')).body
  const { endToEndId } = entries.find(({ kind }: { readonly kind: string }) => kind === 'PAYMENT_RECEIVED')
  await pix.bank('PUT', `/refunds/${await pix.orderIdOf(refundId)}`, { endToEndId, valueCents: 50_00 })
  const { transactionId, returnId } = await carriedOut(pix)
  await tellByOwnIds(pix, { transactionId, endToEndId, returnId, valueCents: 50_00 })
  await pass(3)
  return openCaseOf({ casesOf }, refundId, 'debit_in_suspense')
}

test('[refund-in.cases.5] [cases.7] once the money of a failed return is written off, the rest in suspense can be decided', async (t) => {
  const story = await givenUp(t)
  const { pix, decide, decideOn, pass, read } = story
  const debit = await arrives(story)
  const { options } = await read(debit.id)
  const executed = options.find(({ decision }: { readonly decision: string }) => decision === 'executed')
  assert.equal(executed.isOffered, true)
  isOk(await decideOn(debit.id, 'write_off'))
  await pass(30)
  isOk(await decide('accept', 100_00))
  isOk(await decide('write_off'))
  assert.deepEqual(await balances(pix.database), { available: 100_00n, settlement: -100_00n })
  await pix.assertBooksAgree()
})

test('[refund-in.cases.3] [cases.7] money in suspense that a refund under way returns is not taken by another refund', async (t) => {
  const story = await givenUp(t)
  const { pix, decide, decideOn, refunds, pass } = story
  isOk(await decide('accept', 100_00))
  await turn(pix, true)
  await pix.behave({ refundIn: 'manual' })
  isOk(await decide('return_to_payer', 50_00))
  await pix.later(1_000)
  const [{ id: second }] = await refunds()
  await pix.behave({ refundIn: 'auto' })
  const debit = await arrives(story)
  assert.deepEqual(codeOf(await decideOn(debit.id, 'executed')), [409, 'not_possible_in_state'])
  await pix.bankAction(`refunds/${second}/confirm`)
  await stepUntil(pix, `/api/pix/refund/${second}`, 'CONFIRMED')
  await pass(10)
  const books = { available: 100_00n, settlement: -50_00n, suspense_out: -50_00n }
  assert.deepEqual(await balances(pix.database), books, 'the bank has sent it twice: a loss to be decided')
  await pix.assertBooksAgree()
})

test('[cash-in.cases.10] [cases.7] a decision about a return of a silent bank leaves the rest of the payment to be decided', async (t) => {
  const story = await givenUp(t)
  const { pix, id, caseId, decideOn, pass, answers } = story
  const { returnId, endToEndId } = await takenBack(story, 50_00)
  const { pending } = (await pix.bank('GET', '/control/book')).body.events
  const { transactionId } = pending.find((one: { readonly returnId?: string }) => one.returnId === returnId)
  await answers(false)
  await tellByOwnIds(pix, { transactionId, endToEndId, returnId, valueCents: 50_00 })
  await pass(25)
  await assertBooks(pix.database)
  const unexplained = await openCaseOf(story, id, 'return_unexplained')
  isOk(await decideOn(unexplained.id, 'book'))
  await pass(3)
  await assertBooks(pix.database)
  await answers(true)
  await pass(60)
  assert.deepEqual(await balances(pix.database), { suspense_in: 100_00n, settlement: -100_00n })
  isOk(await decideOn(caseId, 'write_off'))
  await pix.assertBooksAgree()
})

test('[cash-in.returns.1] a refund of the merchant is not taken from money in suspense of the same payment', async (t) => {
  const { pix, id, decide, charge, pass } = await suspended(t, { payments: [150_00] })
  isOk(await decide('accept', 100_00))
  const { endToEndId } = await charge()
  await pix.behave({ refundIn: 'lost-response', ...LATE_EVENTS })
  const { id: refundId } = await pix.refundIn(id, 30)
  await pix.later(100)
  const { transactionId, returnId } = await carriedOut(pix)
  await tellByOwnIds(pix, { transactionId, endToEndId, returnId, valueCents: 30_00 })
  await pix.behave({ refundIn: 'auto', eventDelayMs: 0 })
  await pass(10)
  assert.equal((await pix.get(`/api/pix/refund/${refundId}`)).status, 'CONFIRMED')
  const books = { available: 70_00n, settlement: -120_00n, suspense_in: 50_00n }
  assert.deepEqual(await balances(pix.database), books)
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense'])
  await pix.assertBooksAgree()
})

test('[cash-in.cases.5] a payment of which a part was accepted is not handed over to another charge', async (t) => {
  const { pix, caseId, decide, decideOn } = await suspended(t, { payments: [150_00] })
  const { id: operationId } = await pix.charge('50')
  isOk(await decide('accept', 100_00))
  assert.deepEqual(codeOf(await decideOn(caseId, 'book', { operationId })), [409, 'not_possible_in_state'])
  assert.equal((await pix.get(`/api/pix/cash-in/${operationId}`)).status, 'PENDING')
  isOk(await decide('write_off'))
})

test('[cash-in.refunds.12] a return by the bank is taken from suspense once our return has failed', async (t) => {
  const story = await suspended(t, { payments: [150_00] })
  const { pix, decide, refunds, ends, pass, charge } = story
  await pix.behave({ refundIn: 'manual' })
  isOk(await decide('return_to_payer', 150_00))
  await pix.later(1_000)
  const [{ id: refundId }] = await refunds()
  await takenBack(story, 150_00)
  await pass(3)
  await pix.bankAction(`refunds/${refundId}/fail`)
  await ends('FAILED')
  await pass(30)
  assert.deepEqual(await balances(pix.database), {})
  const { status, failureCode } = await charge()
  assert.deepEqual([status, failureCode], ['FAILED', 'returned_to_payer'])
  assert.equal(
    (await cases(pix.database)).every((one) => one.endsWith('(closed)')),
    true,
  )
  await pix.assertBooksAgree()
})

test('[cash-in.refunds.9] the merchant does not pay a return of a partly written-off payment', async (t) => {
  const story = await suspended(t, { payments: [150_00] })
  const { pix, decide, pass } = story
  isOk(await decide('accept', 100_00))
  isOk(await decide('write_off'))
  await takenBack(story, 50_00)
  await pass(10)
  const { available, suspense_out } = await balances(pix.database)
  assert.deepEqual([available, suspense_out], [100_00n, -50_00n])
  assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)', 'debit_in_suspense'])
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  await pix.assertBooksAgree()
})

for (const bank of BANKS) {
  const at = bank ?? 'pixgate'
  const given = bank ? { bank } : {}

  test(`[cash-in.refunds.12] the bank takes the rest back while a return of a part is under way: ${at}`, async (t) => {
    const story = await suspended(t, { payments: [150_00], ...given })
    const { pix, decide, refunds, ends, pass } = story
    await pix.behave({ refundIn: 'manual' })
    isOk(await decide('return_to_payer', 50_00))
    await pix.later(1_000)
    await takenBack(story, 100_00)
    await pass(8)
    const [{ id: refundId }] = await refunds()
    await pix.bankAction(`refunds/${refundId}/confirm`)
    await ends('CONFIRMED')
    await pass(12)
    assert.deepEqual(await balances(pix.database), {})
    assert.equal((await payoutSwitch(pix.database)).isSuspended, false)
    await pix.assertBooksAgree()
  })

  test(`[cash-in.returns.2] a return of the accepted part by the bank is debited at once, and not refunded again: ${at}`, async (t) => {
    const story = await suspended(t, { payments: [150_00], ...given })
    const { pix, id, charge, decide, pass } = story
    isOk(await decide('accept', 100_00))
    await takenBack(story, 100_00)
    await pass(8)
    assert.deepEqual(await balances(pix.database), { suspense_in: 50_00n, settlement: -50_00n })
    assert.deepEqual(await cases(pix.database), ['payment_in_suspense'])
    assert.equal((await charge()).refundableCents, 0)
    const again = await pix.call('POST', `/api/pix/refund-in/${id}`, { refundValue: 100 })
    assert.deepEqual(codeOf(again), [422, 'refund_exceeds_available'])
    isOk(await decide('return_to_payer', 50_00))
    await pass(12)
    assert.deepEqual(await balances(pix.database), {})
    assert.equal((await payoutSwitch(pix.database)).isSuspended, false)
    await pix.assertBooksAgree()
  })

  test(`[cash-in.returns.1] a merchant's refund and an operator's return of one amount and payment are two: ${at}`, async (t) => {
    const { pix, id, decide, pass } = await suspended(t, { payments: [130_00], ...given })
    isOk(await decide('accept', 100_00))
    await pix.behave({ refundIn: 'lost-response' })
    isOk(await decide('return_to_payer', 30_00))
    await pix.refundIn(id, 30)
    await pass(12)
    assert.deepEqual(await balances(pix.database), { available: 70_00n, settlement: -70_00n })
    assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
    assert.equal((await payoutSwitch(pix.database)).isSuspended, false)
    await pix.assertBooksAgree()
  })
}

for (const bank of [undefined, 'efi'] as const) {
  test(`[close.3] [statement.8] a day with returns to the payer closes without a difference: ${bank ?? 'pixgate'}`, async (t) => {
    const { pix, decide, ends } = await suspended(t, { payments: [150_00], ...(bank && { bank }) })
    isOk(await decide('return_to_payer', 20_00))
    await ends('CONFIRMED')
    isOk(await decide('accept', 100_00))
    isOk(await decide('return_to_payer', 30_00))
    await ends('CONFIRMED')
    for (let step = 0; step < 90; step++) await pix.later(20 * 60_000)
    assert.deepEqual(await cases(pix.database), ['payment_in_suspense (closed)'])
    assert.equal((await payoutSwitch(pix.database)).isSuspended, false)
    await pix.assertBooksAgree()
  })
}

for (const names of [
  ['Bia', 'Carla'],
  ['Bia', 'Bia'],
] as const) {
  test(`[cases.36] [cases.40] [cases.41] a return that two people decide is ordered once: approved by ${names.join(' and ')}`, async (t) => {
    const environment = { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' }
    const { pix, caseId, ana, read, refunds } = await suspended(t, { payments: [150_00], environment })
    const tokens = new Map<string, string>()
    for (const name of new Set(names)) tokens.set(name, await makeOperator(pix, 'approver', name))
    const path = `/operator/cases/${caseId}`
    const { version } = await read(caseId)
    const asked = { decision: 'return_to_payer', version, reason: 'overpaid', amountCents: 50_00 }
    const ask = (headers: Record<string, string>) => pix.call('POST', `${path}/decisions`, asked, headers)
    const nobody = await ask({ authorization: `Bearer ${ADMIN_TOKEN}` })
    assert.deepEqual(codeOf(nobody), [403, 'insufficient_role'])
    const keyed = { ...ana, 'idempotency-key': 'return-of-50' }
    const proposed = await ask(keyed)
    assert.equal(proposed.status, 202)
    const approve = (authorization: string) =>
      pix.call(
        'PUT',
        `${path}/proposals/${proposed.body.proposalId}`,
        { approved: true, reason: 'checked' },
        { authorization },
      )
    assert.equal((await approve(ana.authorization)).status, 403)
    const both = await Promise.all(names.map((name) => approve(`Bearer ${tokens.get(name)}`)))
    assert.ok(
      both.some(({ status }) => status === 200),
      JSON.stringify(both.map(codeOf)),
    )
    assert.deepEqual(codeOf(await ask(ana)), [409, 'case_changed'])
    assert.deepEqual((await ask(keyed)).body, proposed.body, 'the same answer')
    await approve(`Bearer ${tokens.get(names[0])}`)
    assert.equal((await refunds()).length, 1)
  })
}

test('[restored.4] [cash-in.cases.3] near a restore nothing in suspense is returned: a return may have been forgotten', async (t) => {
  const { pix: before, id, ana, decide, refunds, ends } = await suspended(t, { payments: [150_00] })
  const backup = await backupOf(t, before.databaseUrl)
  // Refused before it is sent: the bank never learns of it, and the next return has another number.
  isOk(await decide('return_to_payer', 60_00))
  const bia = { authorization: `Bearer ${await makeOperator(before, 'approver', 'Bia')}` }
  const [{ id: refused }] = await refunds()
  const refusal = { approved: false, reason: 'a wrong amount' }
  isOk(await before.call('PUT', `/operator/approvals/${refused}`, refusal, bia))
  isOk(await decide('return_to_payer', 50_00))
  await ends('CONFIRMED')
  before.clock.advance(Math.max(0, wallNow() - before.clock.now()))

  const pix = await world(t, ALONE, { isStepped: true, bankUrl: before.bankUrl, reach: async () => backup })
  await enable(pix)
  const { casesOf, decideOn } = operatorOf(pix, ana)
  const [{ id: caseId }] = await casesOf(id)
  const again = await decideOn(caseId, 'return_to_payer', { amountCents: 50_00 })
  assert.deepEqual(codeOf(again), [409, 'not_possible_in_state'])
  assert.deepEqual(await sentBack(before), [50_00])
})

for (const isTried of [false, true]) {
  test(`[refund-in.states.12] [refund-in.states.6] a refund made impossible by the bank’s own return ends: ${isTried ? 'tried in vain' : 'never tried'} before`, async (t) => {
    const { pix, id, decide, refunds, pass } = await suspended(t, { payments: [150_00] })
    if (isTried) await pix.behave({ refundIn: 'timeout' })
    assert.equal((await decide('return_to_payer', 30_00)).status, 200)
    if (isTried) await pix.later(1_000)
    else await turn(pix, false)
    await pix.bankAction(`charges/${id}/return`, { valueCents: 140_00, nature: 'MED_FRAUDE' })
    await pass(10)
    await pix.behave({ refundIn: 'auto' })
    if (!isTried) await turn(pix, true)
    for (let hour = 0; hour < 30; hour++) await pix.later(3_600_000)
    const [{ status }] = await refunds()
    assert.equal(status, 'FAILED')
    isOk(await decide('write_off'))
    assert.deepEqual(await balances(pix.database), { settlement: -10_00n, losses: 10_00n })
    assert.deepEqual(await sentBack(pix), [])
    await pix.assertBooksAgree()
  })
}
