import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import { type CashOutRequest, decideCreate } from '../../src/cash-out/commands.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { assertBooks, balances } from '../support/books.ts'
import { switchPayouts } from '../support/controls.ts'
import { movesBy } from '../support/evidence.ts'
import { limitsOf, MADE_BY } from '../support/limits.ts'
import { cashOutFixture, type Process, refusalOf } from './fixture.ts'
import { cashOutAs, cashOutRequest, INPUTS, NOW, stateOf, TERMS } from './situations.ts'

const LIMITED = { ...TERMS, maxValueCents: 50_00n, limits: limitsOf({ paymentCents: 40_00n, dayCents: 35_00n }) }

function createIn(state: ReturnType<typeof stateOf>, given: Partial<CashOutRequest> = {}, terms = TERMS) {
  return decideCreate(cashOutRequest({ id: 'id', externalId: 'a', ...given }), terms, state, NOW)
}

function refusedIn(...given: Parameters<typeof createIn>): string | undefined {
  try {
    createIn(...given)
    return undefined
  } catch (error) {
    assert.ok(error instanceof Refusal)
    return error.code
  }
}

test('[cash-out.create.3] of everything that is wrong the first in order is reported', () => {
  const { detail } = cashOutRequest({ id: 'id', externalId: 'a' })
  const wrong = { ...detail, recipient: { ...detail.recipient, pixKey: null, document: 'nobody' } }
  const noDocument = { ...detail, recipient: { ...detail.recipient, document: 'nobody' } }
  const poor = { available: 1n, receivable: -1n }
  const steps: [string | undefined, Parameters<typeof createIn>][] = [
    ['cash_out_suspended', [stateOf(poor, { cash_out_switch: { enabled: false } }), { valueCents: 0n, detail: wrong }]],
    ['value_not_positive', [stateOf(poor), { valueCents: 0n, detail: wrong }]],
    ['value_too_large', [stateOf(poor), { valueCents: 50_01n, detail: wrong }]],
    ['pix_key_type_mismatch', [stateOf(poor), { valueCents: 50_00n, detail: wrong }]],
    ['invalid_document', [stateOf(poor), { valueCents: 50_00n, detail: noDocument }]],
    ['limit_exceeded', [stateOf(poor), { valueCents: 40_01n }]],
    ['limit_exceeded', [stateOf(poor), { valueCents: 35_01n }]],
    ['receivable_outstanding', [stateOf(poor), { valueCents: 35_00n }]],
    ['insufficient_balance', [stateOf({ available: 35_99n }), { valueCents: 35_00n }]],
    [undefined, [stateOf({ available: 36_00n }), { valueCents: 35_00n }]],
  ]
  for (const [code, [state, given]] of steps) assert.equal(refusedIn(state, given, LIMITED), code)
})

test('[cash-out.states.1] an accepted request is RESERVED with value and fee set aside, due at once', () => {
  const { outcome, journals, ...decision } = createIn(stateOf(), {
    id: cashOutAs('RESERVED').id,
    externalId: 'payout-1',
  })
  assert.deepEqual(outcome, {
    ...cashOutAs('RESERVED'),
    version: 1,
    exclusiveKey: null,
    bodyHash: outcome.bodyHash,
    facts: { madeBy: MADE_BY },
    dueAt: NOW,
    plan: { step: 'send', changesAt: NOW + 86_400_000 },
    createdAt: NOW,
    updatedAt: NOW,
  })
  assert.deepEqual(
    journals?.map(({ kind, amounts }) => [kind, amounts]),
    [['cash_out_reserved', { v: 30_00n, f: 1_00n }]],
  )
  assert.deepEqual(Object.keys(decision).toSorted(), ['allowances', 'creates', 'exact', 'recipients'], 'nobody is told')
})

test('[fees.3] [cash-out.states.1] the fee comes on top of the value and is set at the creation', () => {
  const feeOf = (valueCents: bigint, cents: bigint, basisPoints: bigint) =>
    createIn(stateOf({ available: 1_000_00n }), { valueCents }, { ...TERMS, fee: { cents, basisPoints } }).outcome
      .feeCents
  assert.equal(feeOf(100_00n, 10n, 99n), 109n)
  assert.equal(feeOf(50n, 0n, 100n), 1n)
  assert.equal(feeOf(1n, 5_00n, 0n), 5_00n, 'it may be more than the value: both must be there')
})

const create = (process: Process, given: Partial<CashOutRequest> & { externalId: string }) =>
  process.commands.create(cashOutRequest({ id: process.ids.uuid(), ...given }))

test('[cash-out.create.2] [CO-1] [CO-4] a retry after a lost 201 gets 409 with `existing`, not 422, even if that payout drained the balance', async (t) => {
  const fixture = await cashOutFixture(t)
  const { cashOut } = await create(fixture, { externalId: 'all', valueCents: 100_00n })
  for (const process of [fixture, fixture.another()]) {
    const again = await refusalOf(create(process, { externalId: 'all', valueCents: 100_00n }))
    assert.equal(again.code, 'duplicate_external_id')
    assert.deepEqual(again.existing, { id: cashOut.id, status: 'RESERVED', samePayload: true })
    const other = await refusalOf(create(process, { externalId: 'all', valueCents: 0n }))
    assert.deepEqual([other.code, other.existing?.samePayload], ['duplicate_external_id', false])
    assert.equal((await refusalOf(create(process, { externalId: 'more' }))).code, 'insufficient_balance')
  }
  await switchPayouts(fixture.database, false)
  assert.equal((await refusalOf(create(fixture, { externalId: 'all' }))).code, 'duplicate_external_id')
  assert.deepEqual(await balances(fixture.database), { reserved: 100_00n, settlement: -100_00n })
})

test('[cash-out.create.2] [idempotency.2] the same key is answered with the same payout; another body with it is refused', async (t) => {
  const fixture = await cashOutFixture(t)
  const keyed = { externalId: 'a', idempotencyKey: 'caller createCashOut key' }
  const first = await create(fixture, keyed)
  assert.equal(first.isReplayed, false)
  for (const process of [fixture, fixture.another()]) {
    const again = await create(process, keyed)
    assert.deepEqual([again.isReplayed, again.cashOut.id], [true, first.cashOut.id])
    const other = { ...keyed, externalId: 'b', bodyHash: sha256('other') }
    assert.equal((await refusalOf(create(process, other))).code, 'idempotency_key_reused')
    const known = { ...cashOutRequest({ id: 'id', ...keyed }), document: null, assertPayable: () => undefined }
    assert.equal((await process.commands.findRepeated(known))?.id, first.cashOut.id)
    assert.equal(
      (await refusalOf(process.commands.findRepeated({ ...known, ...other }))).code,
      'idempotency_key_reused',
    )
    const free = { ...known, externalId: 'c', idempotencyKey: null }
    assert.equal(await process.commands.findRepeated(free), undefined)
  }
  assert.equal((await balances(fixture.database)).reserved, 30_00n)
})

test('[cash-out.states.1] [CO-5] two hundred creates over one balance from two processes reserve what is available, to the centavo', async (t) => {
  const fixture = await cashOutFixture(t)
  const processes = [fixture, fixture.another()]
  const results = await Promise.allSettled(
    Array.from({ length: 200 }, (_, index) =>
      create(processes[index % 2] ?? fixture, { externalId: `p${index}`, valueCents: 3_00n }),
    ),
  )
  const refused = results.filter(({ status }) => status === 'rejected')
  for (const result of refused) {
    assert.ok(result.status === 'rejected' && result.reason instanceof Refusal)
    assert.equal(result.reason.code, 'insufficient_balance')
  }
  assert.equal(results.length - refused.length, 33)
  assert.deepEqual(await balances(fixture.database), { available: 1_00n, reserved: 99_00n, settlement: -100_00n })
  await assertBooks(fixture.database)
})

test('[cash-out.qrcode.6] [QR-8] of creates for one code at the same time from two processes one is a payout', async (t) => {
  const fixture = await cashOutFixture(t)
  const processes = [fixture, fixture.another()]
  const claim = (index: number) =>
    create(processes[index % 2] ?? fixture, { externalId: `p${index}`, valueCents: 1_00n, exclusiveKey: 'pix-code a' })
  const results = await Promise.allSettled(Array.from({ length: 20 }, (_, index) => claim(index)))
  const [made, ...more] = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.cashOut] : []))
  assert.ok(made)
  assert.equal(more.length, 0)
  for (const result of results) {
    if (result.status === 'fulfilled') continue
    assert.ok(result.reason instanceof Refusal)
    assert.deepEqual([result.reason.code, result.reason.existing?.id], ['pix_code_in_use', made.id])
  }
  assert.equal((await balances(fixture.database)).reserved, 1_00n)

  await fixture.commands.apply(made.id, [INPUTS['send.claimed'], INPUTS['send.rejected']])
  const next = await claim(21)
  await fixture.commands.apply(next.cashOut.id, [INPUTS['send.claimed'], { ...INPUTS['partner.confirmed'] }])
  assert.equal((await refusalOf(claim(22))).code, 'pix_code_in_use', 'what was paid once is paid')
})

test('[cash-out.create.3] what is refused leaves the externalId free', async (t) => {
  const fixture = await cashOutFixture(t)
  assert.equal(
    (await refusalOf(create(fixture, { externalId: 'a', valueCents: 100_01n }))).code,
    'insufficient_balance',
  )
  assert.equal((await refusalOf(create(fixture, { externalId: 'a', valueCents: 0n }))).code, 'value_not_positive')
  assert.deepEqual(await balances(fixture.database), { available: 100_00n, settlement: -100_00n })
  assert.equal((await create(fixture, { externalId: 'a', valueCents: 100_00n })).isReplayed, false)
})

test('[cash-out.create.2] an input to a cash-out that does not exist changes nothing', async (t) => {
  const fixture = await cashOutFixture(t)
  assert.equal(await fixture.commands.apply(fixture.ids.uuid(), [INPUTS['work.requested']]), undefined)
})

const CLAIM = { on: 'send.claimed', leaseMs: 5_500 } as const

test('[cash-out.work.7] a payout can be claimed with the change that makes it: both moves are kept, and no worker finds it due', async (t) => {
  const fixture = await cashOutFixture(t)
  const request = cashOutRequest({ id: fixture.ids.uuid(), externalId: 'a' })
  const { cashOut, claimed } = await fixture.commands.create(request, CLAIM)
  assert.equal(claimed, cashOut)
  const { status, version, facts, dueAt } = await fixture.read(request.id)
  assert.deepEqual([status, version, facts.attempts, dueAt], ['DISPATCHED', 2, 1, facts.leaseEndsAt])
  assert.deepEqual(await movesBy(fixture.database, 'send.claimed'), { moves: 1n, batches: 1n })
  await fixture.later(0)
  assert.deepEqual(fixture.partner.asked, [])
  await fixture.later(6_000)
  assert.deepEqual(fixture.partner.asked, ['GET'], 'should its process have died, the bank is asked')
  await assertBooks(fixture.database)
})

test('[cash-out.work.7] [cash-out.approval.1] what is to be approved is not claimed as it is made, and of what is refused nothing is', async (t) => {
  const fixture = await cashOutFixture(t, {}, { approvalFromCents: 30_00n })
  const request = cashOutRequest({ id: fixture.ids.uuid(), externalId: 'a' })
  const { cashOut, claimed } = await fixture.commands.create(request, CLAIM)
  assert.deepEqual([claimed, cashOut.status, (await fixture.read(request.id)).version], [undefined, 'RESERVED', 1])
  const again = {
    ...cashOutRequest({ id: fixture.ids.uuid(), externalId: 'b', valueCents: 1_00n }),
    idempotencyKey: 'k',
  }
  await fixture.commands.create(again)
  const repeated = await fixture.commands.create({ ...again, id: fixture.ids.uuid() }, CLAIM)
  assert.deepEqual([repeated.isReplayed, repeated.claimed, repeated.cashOut.status], [true, undefined, 'RESERVED'])
  await switchPayouts(fixture.database, false)
  const refused = cashOutRequest({ id: fixture.ids.uuid(), externalId: 'c' })
  assert.equal((await refusalOf(fixture.commands.create(refused, CLAIM))).code, 'cash_out_suspended')
})
