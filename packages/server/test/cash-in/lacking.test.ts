import assert from 'node:assert/strict'
import test from 'node:test'
import type { PartnerCapability } from '../../src/banks/port.ts'
import { assertBooks } from '../support/books.ts'
import { payment } from '../support/engine.ts'
import { cases } from '../support/evidence.ts'
import { MADE_BY } from '../support/limits.ts'
import {
  ACCEPTED,
  CANCELLED,
  cashInFixture,
  NOT_FOUND,
  PAID,
  PIX_CODE,
  REJECTED,
  TIMEOUT,
  UNREACHABLE,
} from './fixture.ts'

/** Charges at banks that cannot be asked about them, or cannot cancel them. */

const CHARGE = { on: 'charge.accepted', transactionId: 'tx', pixCode: PIX_CODE } as const
const TOLD = { on: 'partner.confirmed', payment: payment({ endToEndId: 'E1' }), transactionId: 'tx' } as const
const OVER_MS = 62_001

const without = (...missing: PartnerCapability[]) =>
  new Set<PartnerCapability>(
    (['charge', 'idempotent-charge', 'query-charge', 'cancel-charge', 'statement'] as const).filter(
      (name) => !missing.includes(name),
    ),
  )

test('[partner.10] [PL-61] a charge that cannot be cancelled ends by itself when its time is over', async (t) => {
  const fixture = await cashInFixture(t, { capabilities: without('cancel-charge') })
  await fixture.apply(CHARGE)
  await fixture.later(OVER_MS)
  assert.equal((await fixture.read()).status, 'EXPIRED')
  assert.deepEqual(fixture.partner.asked, ['GET'])
})

test('[partner.10] [PL-61] nor is one cancelled that contradicts, or that the bank denies', async (t) => {
  const fixture = await cashInFixture(t, { capabilities: without('cancel-charge') })
  await fixture.apply(CHARGE)
  fixture.partner.query = NOT_FOUND
  for (let minute = 0; minute < 10; minute++) await fixture.later(OVER_MS)
  assert.ok(!fixture.partner.asked.includes('DELETE'))
})

test('[partner.10] [PL-61] a charge that cannot be asked about is cancelled when its time is over', async (t) => {
  const fixture = await cashInFixture(t, { capabilities: without('query-charge') })
  await fixture.apply(CHARGE)
  await fixture.later(OVER_MS)
  assert.equal((await fixture.read()).status, 'EXPIRED')
  assert.deepEqual(fixture.partner.asked, ['DELETE'])
})

test('[partner.10] [PL-61] one that may be paid, as the bank does not cancel it, waits for its event', async (t) => {
  const fixture = await cashInFixture(t, { capabilities: without('query-charge'), cancel: REJECTED })
  await fixture.apply(CHARGE)
  await fixture.later(OVER_MS)
  assert.equal((await fixture.read()).status, 'PENDING')
  await fixture.apply(TOLD)
  assert.equal((await fixture.read()).status, 'PAID')
  await assertBooks(fixture.database)
})

test('[partner.10] [PL-61] at a bank that can do neither it has expired, and late money counts', async (t) => {
  const fixture = await cashInFixture(t, { capabilities: without('query-charge', 'cancel-charge') })
  await fixture.apply(CHARGE)
  await fixture.later(OVER_MS)
  assert.equal((await fixture.read()).status, 'EXPIRED')
  assert.deepEqual(fixture.partner.asked, [])
  await fixture.apply(TOLD)
  assert.equal((await fixture.read()).status, 'PAID')
  await assertBooks(fixture.database)
})

for (const [status, word] of [
  ['PAID', TOLD],
  ['FAILED', { on: 'charge.rejected', errorCode: 'limit', errorMessage: null }],
  ['EXPIRED', undefined],
] as const) {
  for (const cancel of [REJECTED, CANCELLED]) {
    test(`[partner.10] [PL-61] told that a charge changed that is ${status}, a bank that cannot be asked is left in peace: ${cancel.kind}`, async (t) => {
      const fixture = await cashInFixture(t, { capabilities: without('query-charge', 'statement'), cancel: CANCELLED })
      await fixture.apply(CHARGE)
      if (word) await fixture.apply(word)
      await fixture.later(OVER_MS)
      assert.equal((await fixture.read()).status, status)
      fixture.partner.cancel = cancel
      await fixture.apply({ on: 'work.requested' })
      for (let day = 0; day < 3; day++) await fixture.later(86_400_001)
      assert.equal((await fixture.read()).dueAt, null)
    })
  }
}

test('[partner.10] [PL-61] a paid charge is not cancelled at a bank that cannot be asked', async (t) => {
  const fixture = await cashInFixture(t, { capabilities: without('query-charge') })
  await fixture.apply(CHARGE)
  await fixture.apply(TOLD)
  await fixture.later(OVER_MS)
  await fixture.apply({ on: 'work.requested' })
  await fixture.later(1_000)
  assert.deepEqual(fixture.partner.asked, [])
})

test('[partner.10] [PL-61] [CI-6] a lost order is repeated where that makes no second charge', async (t) => {
  const fixture = await cashInFixture(t, { capabilities: without('query-charge'), create: TIMEOUT })
  await fixture.jobs.requestCharge(await fixture.read())
  fixture.partner.create = ACCEPTED
  await fixture.later(5_001)
  assert.deepEqual([(await fixture.read()).status, fixture.partner.asked], ['PENDING', ['PUT', 'PUT']])
})

test('[partner.10] [PL-61] [CI-6] where it could, the result is unknown, and in the end a case', async (t) => {
  const fixture = await cashInFixture(t, {
    capabilities: without('query-charge', 'idempotent-charge'),
    create: TIMEOUT,
  })
  await fixture.jobs.requestCharge(await fixture.read())
  for (const wait of [5_001, 15_001, 30_001]) await fixture.later(wait)
  assert.equal((await fixture.read()).status, 'PROVIDER_RESULT_UNKNOWN')
  for (let minute = 0; minute < 16; minute++) await fixture.later(60_001)
  assert.deepEqual([fixture.partner.asked, (await cases(fixture.database)).length], [['PUT'], 1])
  await fixture.apply(TOLD)
  assert.equal((await fixture.read()).status, 'PAID')
})

for (const capabilities of [without('idempotent-charge'), without('idempotent-charge', 'query-charge')]) {
  test(`[cash-in.create.7] [CI-6] an order that never left is made at such a bank, too: ${[...capabilities]}`, async (t) => {
    const fixture = await cashInFixture(t, { capabilities, create: UNREACHABLE, query: NOT_FOUND }, 3_600)
    const cashIn = await fixture.jobs.requestCharge(await fixture.read())
    assert.equal(cashIn.status, 'PENDING')
    fixture.partner.create = ACCEPTED
    await fixture.later(60_001)
    assert.equal((await fixture.read()).facts.pixCode, PIX_CODE)
    assert.equal(fixture.partner.asked.at(-1), 'PUT')
  })
}

test('[partner-inbox.8] [partner.10] a bank that cannot be asked is not asked about an unmatched event either', async (t) => {
  const fixture = await cashInFixture(t, { capabilities: without('query-charge'), query: PAID })
  assert.partialDeepStrictEqual(await fixture.jobs.atPartner('0198c0de-7a11-7000-8000-000000000001'), {
    kind: 'NOT_SENT',
  })
  assert.deepEqual(fixture.partner.asked, [])
})

test('[cash-in.cancel.4] [partner.10] a charge that cannot be asked about is cancelled by the bank’s answer alone', async (t) => {
  for (const [cancel, status] of [
    [CANCELLED, 'FAILED'],
    [REJECTED, 'PENDING'],
    [TIMEOUT, 'PENDING'],
  ] as const) {
    const fixture = await cashInFixture(t, { capabilities: without('query-charge'), cancel })
    await fixture.apply(CHARGE)
    const cashIn = await fixture.jobs.cancel(await fixture.read(), MADE_BY)
    assert.deepEqual([cashIn.status, fixture.partner.asked], [status, ['DELETE']])
  }
})

test('[cash-in.cancel.4] [partner.10] a cancellation is not confirmed by a bank that lost the ability to cancel', async (t) => {
  const fixture = await cashInFixture(t, { capabilities: without('cancel-charge') })
  await fixture.apply(CHARGE, { on: 'cancel.requested', by: MADE_BY })
  await fixture.later(0)
  assert.equal((await fixture.read()).status, 'PENDING')
})
