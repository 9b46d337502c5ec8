import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { tamperedWorld } from '../bank-statement/tampering-bank.ts'
import { balances } from '../support/books.ts'
import { cases, notifiedStatuses, payoutSwitch } from '../support/evidence.ts'
import { makeOperator } from '../support/operators.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { PIX_KEY } from '../support/standard-bank.ts'
import { minutes, stepUntil } from '../support/stepping.ts'
import { ALONE, BANKS, codeOf, operatorOf } from '../support/suspense.ts'
import { type WorldOptions, world } from '../support/world.ts'

/** Money that nothing explains: a payment to the bare Pix key, and what an operator decides of it. */

const FORGOTTEN = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

interface Given {
  readonly bank?: WorldOptions['standard']
  readonly environment?: Record<string, string>
  readonly isTampered?: boolean
}

/** A payment of R$ 150.00 that names no charge of ours, held in suspense with a case. */
async function held(t: TestContext, { bank, environment = ALONE, isTampered = false }: Given = {}) {
  const options = { isStepped: true, ...(bank && { standard: bank }) }
  const tampered = isTampered ? await tamperedWorld(t, options, environment) : undefined
  const pix = tampered ?? (await world(t, environment, options))
  await pix.charge('10')
  await minutes(pix, 1)
  if (bank) await pix.bankAction('payments', { pixKey: PIX_KEY, valueCents: 150_00 })
  else {
    // As after a backup was restored: the bank has a charge that we have forgotten.
    const merchant = { pixKey: 'loja@example.com', name: 'Loja', city: 'Sao Paulo' }
    const terms = { valueCents: 150_00, expiresAt: new Date(pix.clock.now() + 3_600_000).toISOString(), merchant }
    assert.equal((await pix.bank('PUT', `/charges/${FORGOTTEN}`, terms)).status, 201)
    await pix.behave({ eventDelayMs: 3_600_000 })
    await pix.bankAction(`charges/${FORGOTTEN}/pay`)
  }
  await minutes(pix, bank ? 35 : 5)
  const ana = { authorization: `Bearer ${await makeOperator(pix, 'operator', 'Ana')}` }
  const list = async () => (await pix.call('GET', '/operator/cases?kind=unexplained_credit', undefined, ana)).body.data
  const [{ id: caseId }] = await list()
  const { decideOn } = operatorOf(pix, ana)
  return {
    pix,
    tampered,
    ana,
    caseId,
    minutes: (count: number) => minutes(pix, count),
    list,
    decide: (decision: string, given: object = {}) => decideOn(caseId, decision, given),
    refunds: async () => (await pix.call('GET', '/api/pix/refund')).body.data,
    ends: async (status: string) => {
      const [{ id }] = (await pix.call('GET', '/api/pix/refund')).body.data
      return stepUntil(pix, `/api/pix/refund/${id}`, status)
    },
    /** The kinds of what moved back, by the bank's own book, with the amounts, centavos. */
    sentBack: async () => {
      const { entries } = (await pix.bank('GET', '/control/book')).body
      return entries
        .filter(({ kind }: { readonly kind: string }) => kind === 'REFUND_SENT' || kind === 'PAYMENT_TAKEN_BACK')
        .map(({ kind, valueCents }: { readonly kind: string; readonly valueCents: number }) => [kind, valueCents])
    },
  }
}

const HELD = { suspense_in: 150_00n, settlement: -150_00n }

for (const bank of BANKS) {
  test(`[adjustment.held.6] [refund-in.detail.3] a payment that names no charge goes back to its payer, in two parts: ${bank ?? 'pixgate'}`, async (t) => {
    const { pix, decide, ends, refunds, sentBack, minutes, list } = await held(t, bank && { bank })
    assert.deepEqual(await balances(pix.database), HELD)
    const first = await decide('return_to_payer', { amountCents: 100_00 })
    assert.equal(first.status, 200, JSON.stringify(first.body))
    const refund = await ends('CONFIRMED')
    assert.deepEqual([refund.id, refund.cashInId, refund.origin], [first.body.refundId, null, 'OPERATOR'])
    assert.equal((await list())[0].amountCents, 150_00, 'what is left keeps the case open')
    assert.equal((await decide('return_to_payer', { amountCents: 50_00 })).status, 200)
    await ends('CONFIRMED')
    await minutes(10)
    assert.deepEqual(await sentBack(), [
      ['REFUND_SENT', 100_00],
      ['REFUND_SENT', 50_00],
    ])
    assert.equal((await refunds()).length, 2)
    assert.deepEqual(
      (await cases(pix.database)).filter((kind) => kind.startsWith('unexplained')),
      ['unexplained_credit (closed)'],
    )
    assert.deepEqual(await balances(pix.database), {})
    assert.deepEqual(await notifiedStatuses(pix.database), [], 'nobody is told of it')
    assert.equal((await payoutSwitch(pix.database)).isSuspended, false)
    await pix.assertBooksAgree()
  })
}

test('[adjustment.held.6] a return that the bank refuses changes nothing: it is ordered again, or credited', async (t) => {
  const { pix, decide, ends, minutes } = await held(t, { bank: 'efi' })
  await pix.behave({ refundIn: 'fail' })
  assert.equal((await decide('return_to_payer', { amountCents: 150_00 })).status, 200)
  await ends('FAILED')
  assert.deepEqual(await balances(pix.database), HELD)
  await pix.behave({ refundIn: 'auto' })
  assert.equal((await decide('return_to_payer', { amountCents: 50_00 })).status, 200)
  await ends('CONFIRMED')
  assert.equal((await decide('credit')).status, 200)
  await minutes(10)
  assert.deepEqual(await balances(pix.database), { available: 100_00n, settlement: -100_00n })
  assert.deepEqual(await cases(pix.database), ['unexplained_credit (closed)'])
  await pix.assertBooksAgree()
})

test('[adjustment.held.6] no more is returned than is left, and no other decision is made during a return', async (t) => {
  const { pix, decide } = await held(t)
  await pix.behave({ refundIn: 'manual' })
  assert.deepEqual(codeOf(await decide('return_to_payer')), [400, 'validation_error'])
  assert.deepEqual(codeOf(await decide('return_to_payer', { amountCents: 150_01 })), [409, 'not_possible_in_state'])
  assert.equal((await decide('return_to_payer', { amountCents: 100_00 })).status, 200)
  assert.deepEqual(codeOf(await decide('return_to_payer', { amountCents: 50_01 })), [409, 'not_possible_in_state'])
  for (const decision of ['credit', 'write_off', 'close', 'book']) {
    const given = decision === 'book' ? { operationId: (await pix.get('/api/pix/cash-in')).data[0].id } : {}
    assert.deepEqual(codeOf(await decide(decision, given)), [409, 'not_possible_in_state'], decision)
  }
  assert.deepEqual(await balances(pix.database), HELD)
})

for (const [decision, expected] of [
  ['credit', { available: 150_00n, settlement: -150_00n }],
  ['write_off', { losses: 150_00n, settlement: -150_00n }],
] as const) {
  test(`[adjustment.held.5] [adjustment.held.7] [api-pix.9] [cases.53] [PL-3] unexplained money: ${decision}`, async (t) => {
    const { pix, decide, minutes } = await held(t, { bank: 'api-pix' })
    assert.equal((await decide(decision)).status, 200)
    await minutes(10)
    assert.deepEqual(await balances(pix.database), expected)
    assert.deepEqual(await cases(pix.database), ['unexplained_credit (closed)'])
    await pix.assertBooksAgree()
  })
}

test('[adjustment.held.3] [cases.53] [PL-3] unexplained money is booked by the charge that the operator names', async (t) => {
  const { pix, decide, minutes } = await held(t, { bank: 'efi' })
  const charge = await pix.charge('150')
  const answer = await decide('book', { operationId: charge.id })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  await minutes(10)
  const { status } = await pix.get(`/api/pix/cash-in/${charge.id}`)
  assert.notEqual(status, 'PENDING')
  assert.equal((await balances(pix.database)).settlement, -150_00n)
  assert.ok((await cases(pix.database)).includes('unexplained_credit (closed)'))
  await pix.assertBooksAgree()
})

test('[adjustment.held.8] [cases.53] [PL-3] [trip-wire.2] a return of it by the bank closes its case, and suspends nothing', async (t) => {
  const { pix, decide, ends, minutes, sentBack } = await held(t)
  assert.equal((await decide('return_to_payer', { amountCents: 50_00 })).status, 200)
  await ends('CONFIRMED')
  await pix.bankAction(`charges/${FORGOTTEN}/return`, { valueCents: 100_00, nature: 'MED_FRAUDE' })
  await minutes(10)
  assert.deepEqual(await sentBack(), [
    ['REFUND_SENT', 50_00],
    ['PAYMENT_TAKEN_BACK', 100_00],
  ])
  assert.deepEqual(await balances(pix.database), {})
  assert.ok((await cases(pix.database)).includes('unexplained_credit (closed)'))
  assert.equal((await payoutSwitch(pix.database)).isSuspended, false)
  await pix.assertBooksAgree()
})

test('[adjustment.held.8] a part of held money that the bank takes back is booked, and the rest is decided', async (t) => {
  const { pix, decide, minutes } = await held(t)
  await pix.bankAction(`charges/${FORGOTTEN}/return`, { valueCents: 40_00, nature: 'MED_FRAUDE' })
  await minutes(10)
  assert.deepEqual(await balances(pix.database), { suspense_in: 110_00n, settlement: -110_00n })
  assert.equal((await decide('credit')).status, 200)
  assert.deepEqual(await balances(pix.database), { available: 110_00n, settlement: -110_00n })
  assert.equal((await payoutSwitch(pix.database)).isSuspended, false)
  await pix.assertBooksAgree()
})

test('[cases.39] [cases.41] from the configured amount on two people decide, and the refund is ordered with the approval', async (t) => {
  const environment = { PIXGATE_DESK_APPROVAL_FROM_CENTS: '10000' }
  const { pix, caseId, decide, ends, refunds, sentBack } = await held(t, { environment, bank: 'efi' })
  const bia = { authorization: `Bearer ${await makeOperator(pix, 'approver', 'Bia')}` }
  const { status, body } = await decide('return_to_payer', { amountCents: 150_00 })
  assert.deepEqual([status, body.outcome, body.needsSecondPerson], [202, 'proposed', true], JSON.stringify(body))
  assert.deepEqual([body.effects.amountCents, await refunds()], [150_00, []])
  const said = { approved: true, reason: 'looked at it' }
  const approved = await pix.call('PUT', `/operator/cases/${caseId}/proposals/${body.proposalId}`, said, bia)
  assert.equal(approved.status, 200, JSON.stringify(approved.body))
  await ends('CONFIRMED')
  assert.deepEqual(await sentBack(), [['REFUND_SENT', 150_00]])
  assert.deepEqual(await balances(pix.database), {})
  await pix.assertBooksAgree()
})

test('[adjustment.held.6] [partner.1] a return whose answer is lost stays the same return, and is made once', async (t) => {
  const { pix, tampered, decide, ends, sentBack, minutes } = await held(t, { isTampered: true })
  assert.ok(tampered)
  tampered.tamper = (call) => (call.startsWith('PUT /refunds') ? { status: 500, body: {} } : undefined)
  assert.equal((await decide('return_to_payer', { amountCents: 150_00 })).status, 200)
  await minutes(3)
  tampered.tamper = () => undefined
  await ends('CONFIRMED')
  await minutes(3)
  assert.deepEqual(await sentBack(), [['REFUND_SENT', 150_00]])
  assert.deepEqual(await balances(pix.database), {})
  await pix.assertBooksAgree()
})

test('[adjustment.held.2] a charge that turns out to be paid by it books it, and its case closes', async (t) => {
  const { pix, minutes, caseId, ana } = await held(t)
  const charge = await pix.charge('150')
  const { entries } = (await pix.bank('GET', '/control/book')).body
  const { endToEndId } = entries.find(({ kind }: { readonly kind: string }) => kind === 'PAYMENT_RECEIVED')
  const occurredAt = new Date(pix.clock.now()).toISOString()
  assert.equal(await postEvent(pix, paidEvent(charge, { endToEndId, occurredAt })), 200)
  await minutes(3)
  const { state, operation } = (await pix.call('GET', `/operator/cases/${caseId}`, undefined, ana)).body
  assert.deepEqual([state, operation.status], ['closed', 'EXPLAINED'])
  assert.equal((await pix.read(charge.id)).status, 'PAID')
  assert.deepEqual(await balances(pix.database), { available: 150_00n, settlement: -150_00n })
})
