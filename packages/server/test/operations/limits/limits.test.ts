import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { type Caps, type ExceededLimit, Refusal } from '@pixgate/spec'
import type { CashOut } from '../../../src/cash-out/cash-out.ts'
import { forgetPast } from '../../../src/engine/engine.ts'
import { realPause } from '../../../src/platform/jobs/pause.ts'
import { INPUTS } from '../../cash-out/situations.ts'
import { operatedProcess, type Process } from '../../controls/fixture.ts'
import { assertBooks, balances } from '../../support/books.ts'
import { administer, testDatabase } from '../../support/database.ts'
import { allowancesUsed, madeBy } from '../../support/evidence.ts'
import { capsOf, limitsOf, MADE_BY } from '../../support/limits.ts'
import { copyOperation, operationsRead } from '../../support/payout-copies.ts'
import { steppedClock } from '../../support/stepped-clock.ts'

const EXCEEDED = { code: 'limit_exceeded' }
const MINUTE = 60_000
const HOUR = 60 * MINUTE

/** The limit that refused. */
async function limitOf(payout: Promise<unknown>): Promise<ExceededLimit> {
  const error = await payout.then(
    () => assert.fail('it was not refused'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof Refusal, String(error))
  assert.equal(error.code, 'limit_exceeded')
  assert.ok(error.limit)
  return error.limit
}

/** A process whose time passes only where a test says so. */
function standing(t: TestContext, url: string, caps: Partial<Caps>): Process {
  return operatedProcess(t, url, { limits: limitsOf(caps) }, realPause, steppedClock({ stands: true }))
}

test('[fees.3] value and fee are set aside together, and both must be there', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url, { fee: { cents: 50n, basisPoints: 100n } })
  await process.adjust(101_49n)
  await assert.rejects(process.payOut(100_00n), { code: 'insufficient_balance' })
  await process.adjust(1n)
  const { valueCents, feeCents } = await process.payOut(100_00n)
  assert.deepEqual([valueCents, feeCents], [100_00n, 1_50n])
  assert.deepEqual(await balances(database), { reserved: 101_50n, settlement: -101_50n })
  await assertBooks(database)
})

test('[limits.1] the cap on one payment is judged before the balance, and reached exactly', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url, { limits: limitsOf({ paymentCents: 50_00n }) })
  assert.deepEqual(await limitOf(process.payOut(50_01n)), {
    name: 'payment',
    owner: 'service',
    maxCents: 50_00n,
    usedCents: 0n,
    freesAt: null,
  })
  await assert.rejects(process.payOut(50_00n), { code: 'insufficient_balance' })
  await process.adjust(200_00n)
  await assert.rejects(process.payOut(50_01n), EXCEEDED)
  for (let payout = 0; payout < 3; payout++) await process.payOut(50_00n)
  assert.equal((await balances(database)).reserved, 150_00n)
})

for (const [span, windowMs, bucketMs] of [
  ['hour', HOUR, MINUTE],
  ['day', 24 * HOUR, 15 * MINUTE],
] as const) {
  test(`[limits.2] [limits.8] no window of an ${span} has more than its cap; when it frees is told, and true`, async (t) => {
    const { url } = await testDatabase(t)
    const process = standing(t, url, { [`${span}Cents`]: 50_00n })
    await process.adjust(500_00n)
    await process.payOut(30_00n)
    process.clock.advance(windowMs / 2)
    await process.payOut(20_00n)
    const { freesAt, ...limit } = await limitOf(process.payOut(1n))
    assert.deepEqual(limit, { name: span, owner: 'service', maxCents: 50_00n, usedCents: 50_00n })
    const waitMs = Date.parse(freesAt ?? '') - process.clock.now()
    assert.ok(waitMs > windowMs / 2 - bucketMs && waitMs <= windowMs / 2 + bucketMs, String(waitMs))
    process.clock.advance(waitMs - 1)
    await assert.rejects(process.payOut(30_00n), EXCEEDED)
    process.clock.advance(1)
    await assert.rejects(process.payOut(30_01n), EXCEEDED)
    await process.payOut(30_00n)
    await assert.rejects(process.payOut(1n), EXCEEDED)
  })
}

test('[limits.3] the cap on a night counts what leaves in it, from 20:00 to 06:00; by day there is none', async (t) => {
  const { url } = await testDatabase(t)
  const process = standing(t, url, { nightCents: 50_00n })
  await process.adjust(500_00n)
  const { clock } = process
  clock.advance(nextAt(clock.now(), '19:59'))
  await process.payOut(60_00n)
  clock.advance(MINUTE)
  await process.payOut(50_00n)
  const { freesAt, name } = await limitOf(process.payOut(1n))
  assert.equal(name, 'night')
  clock.advance(Date.parse(freesAt ?? '') - clock.now() - 1)
  await assert.rejects(process.payOut(1n), EXCEEDED)
  clock.advance(1)
  await process.payOut(60_00n)
  clock.advance(14 * HOUR)
  await process.payOut(50_00n)
  await assert.rejects(process.payOut(1n), EXCEEDED)
})

/** How long until it is that time in São Paulo, which is three hours behind UTC, milliseconds. */
function nextAt(nowMs: number, time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number)
  const wanted = (hour + 3) * HOUR + minute * MINUTE
  return (wanted - (nowMs % (24 * HOUR)) + 24 * HOUR) % (24 * HOUR)
}

test('[limits.4] a Pix key is new until a payout to it was confirmed and its time is over; so is a QR code’s', async (t) => {
  const { url } = await testDatabase(t)
  const process = operatedProcess(t, url, { limits: limitsOf({ newRecipientCents: 50_00n }) })
  await process.adjust(1_000_00n)
  const first = await process.payOut(30_00n)
  assert.deepEqual(await limitOf(process.payOut(20_01n)), {
    name: 'new_recipient',
    owner: 'service',
    maxCents: 50_00n,
    usedCents: 30_00n,
    freesAt: null,
  })
  await process.payOut(20_00n)
  const recipient = { name: null, document: null, pixKey: 'maria@example.com', pixKeyType: null }
  const qrCode = { pixCode: '000201', decodeId: 'd' }
  const another = { description: null, paymentType: 'qrcode', recipient, qrCode } as const
  await process.payOut(50_00n, { detail: another })
  await assert.rejects(process.payOut(1n, { detail: another }), EXCEEDED)

  const movement = { ...INPUTS['partner.confirmed'].movement, occurredAt: process.clock.now() }
  await process.payouts.apply(first.id, [INPUTS['send.claimed'], { ...INPUTS['partner.confirmed'], movement }])
  process.clock.advance(24 * HOUR - 1_000)
  await assert.rejects(process.payOut(1n), EXCEEDED)
  process.clock.advance(1_001)
  await process.payOut(400_00n)
  await assert.rejects(process.payOut(1n, { detail: another }), EXCEEDED, 'nothing to it was confirmed')
})

test('[limits.4] what came back of a payout no longer counts; one that came back in part makes its key known', async (t) => {
  const { url } = await testDatabase(t)
  const process = operatedProcess(t, url, { limits: limitsOf({ newRecipientCents: 40_00n }) })
  await process.adjust(1_000_00n)
  const sent = async (cents: bigint, pixKey: string, returnedCents: bigint) => {
    const recipient = { name: null, document: null, pixKey, pixKeyType: 'email' } as const
    const detail = { description: null, paymentType: 'key', recipient, qrCode: null } as const
    const { id } = await process.payOut(cents, { detail })
    const occurredAt = process.clock.now()
    const movement = {
      ...INPUTS['partner.confirmed'].movement,
      endToEndId: `E-${pixKey}`,
      valueCents: cents,
      occurredAt,
    }
    await process.payouts.apply(id, [INPUTS['send.claimed'], { ...INPUTS['partner.confirmed'], movement }])
    const back = { returnId: `D-${pixKey}`, valueCents: returnedCents, occurredAt }
    await process.payouts.apply(id, [{ ...INPUTS['partner.returned'], returned: back }])
    return (more: bigint) => process.payOut(more, { detail })
  }
  const whole = await sent(40_00n, 'whole@example.com', 40_00n)
  const part = await sent(40_00n, 'part@example.com', 1n)
  await whole(40_00n)
  await assert.rejects(whole(1n), EXCEEDED)
  await assert.rejects(part(2n), EXCEEDED)
  process.clock.advance(24 * HOUR + 1)
  await assert.rejects(whole(1n), EXCEEDED, 'nothing stayed there')
  await part(50_00n)
})

test('[limits.4] [limits.9] caps of the key and of the service on one recipient bound it together, and what fits is taken', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url, { limits: limitsOf({ newRecipientCents: 40_00n }) })
  await process.adjust(100_00n)
  const key = { madeBy: { ...MADE_BY, caller: 'key' }, caps: capsOf({ newRecipientCents: 50_00n }) }
  await process.payOut(30_00n, key)
  await process.payOut(10_00n, key)
  assert.equal((await limitOf(process.payOut(1n, key))).owner, 'service')
  assert.equal((await balances(database)).reserved, 40_00n)
})

test('[limits.11] what failed or came back costs nothing to look at, and of a thousand payouts at most anything is read', async (t) => {
  const { url } = await testDatabase(t)
  const process = operatedProcess(t, url, { limits: limitsOf({ newRecipientCents: 50_00n }) })
  await process.adjust(1_000_00n)
  const { id, detail } = await process.payOut(1n)
  const paidTo = `SELECT paid_to('${detail.recipient.pixKey}')`
  await copyOperation(url, id, 3_000, { status: `'FAILED'` })
  await copyOperation(url, id, 3_000, { status: `'RELEASED'` })
  await copyOperation(url, id, 3_000, { status: `'REVERSED'`, facts: `facts || '{"returns":{"D1":"1"}}'` })
  assert.ok((await operationsRead(url, paidTo)) < 10)
  await process.payOut(1n)

  await copyOperation(url, id, 998, {})
  await process.payOut(1n)
  assert.deepEqual(await limitOf(process.payOut(1n)), {
    name: 'new_recipient',
    owner: 'service',
    maxCents: 50_00n,
    usedCents: 50_00n,
    freesAt: null,
  })
  await copyOperation(url, id, 3_000, {})
  assert.ok((await operationsRead(url, paidTo)) < 3_000)
})

test('[limits.4] [limits.6] what was given back to a new recipient may be sent again', async (t) => {
  const { url } = await testDatabase(t)
  const process = operatedProcess(t, url, { limits: limitsOf({ newRecipientCents: 50_00n }) })
  await process.adjust(100_00n)
  await process.giveBack(await process.payOut(50_00n))
  await process.payOut(50_00n)
})

test('[limits.5] two processes at once send no centavo more than any cap; what fits is not refused', async (t) => {
  for (const given of [{ hourCents: 50_00n }, { dayCents: 50_00n }, { newRecipientCents: 50_00n }]) {
    const { url, database } = await testDatabase(t)
    const terms = { limits: limitsOf(given), fee: { cents: 7n, basisPoints: 0n } }
    const processes = [operatedProcess(t, url, terms), operatedProcess(t, url, terms)]
    await processes[0]?.adjust(1_000_00n)
    const payouts = processes.flatMap((process) => Array.from({ length: 128 }, () => process.payOut(1_00n)))
    const results = await Promise.allSettled(payouts)
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    assert.deepEqual(refused, Array(206).fill('limit_exceeded'))
    assert.equal((await balances(database)).reserved, 50n * 1_07n)
    await assertBooks(database)
  }
})

test('[limits.6] what is given back no longer counts; what was accepted before there was a cap does', async (t) => {
  const { url } = await testDatabase(t)
  const before = operatedProcess(t, url)
  await before.adjust(100_00n)
  await before.payOut(45_00n)
  await before.giveBack(await before.payOut(10_00n))
  const process = operatedProcess(t, url, { limits: limitsOf({ hourCents: 50_00n, dayCents: 50_00n }) })
  await assert.rejects(process.payOut(5_01n), EXCEEDED)
  const payout = await process.payOut(5_00n)
  await assert.rejects(process.payOut(1n), EXCEEDED)
  await process.giveBack(payout)
  await process.payOut(5_00n)
  await assert.rejects(process.payOut(1n), EXCEEDED)
})

test('[limits.6] what left counts, whatever amount the bank tells: after its release, a second time, and what is more than was asked for', async (t) => {
  const { url } = await testDatabase(t)
  const process = standing(t, url, { dayCents: 50_00n })
  await process.adjust(500_00n)
  const left = (payout: CashOut, endToEndId: string, valueCents: bigint) => {
    const movement = {
      ...INPUTS['partner.confirmed'].movement,
      occurredAt: process.clock.now(),
      endToEndId,
      valueCents,
    }
    return process.payouts.apply(payout.id, [{ ...INPUTS['partner.confirmed'], movement }])
  }
  const usedCents = async () => (await limitOf(process.payOut(50_01n))).usedCents
  const lost = await process.payOut(30_00n)
  await process.giveBack(lost)
  await left(lost, 'E1', 29_99n)
  assert.equal(await usedCents(), 29_99n)
  const payout = await process.payOut(5_00n)
  await process.payouts.apply(payout.id, [INPUTS['send.claimed']])
  await left(payout, 'E2', 4_00n)
  assert.equal(await usedCents(), 34_99n, 'no more left than was asked for')
  await left(payout, 'E3', 2_00n)
  assert.equal(await usedCents(), 35_99n, 'a centavo is counted once')
  await left(payout, 'E1', 7_00n)
  assert.equal(await usedCents(), 35_99n, 'what is of another payout counts there')
  await left(payout, 'E4', 7_00n)
  assert.equal(await usedCents(), 42_99n)
  await left(payout, 'E5', 20_00n)
  assert.equal(await usedCents(), 62_99n, 'above the cap, too')
})

test('[limits.7] who asked, and from where, stands on the operation and on the move that made it', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url)
  await process.adjust(100_00n)
  const { id } = await process.payOut(1_00n)
  assert.deepEqual(await madeBy(database, id), { operation: MADE_BY, move: MADE_BY })
})

test('[limits.9] caps of an API key bound what it sends itself, beside those of all', async (t) => {
  const { url } = await testDatabase(t)
  const process = operatedProcess(t, url, { limits: limitsOf({ hourCents: 50_00n }) })
  await process.adjust(200_00n)
  const narrow = { madeBy: { ...MADE_BY, caller: 'narrow' }, caps: capsOf({ hourCents: 20_00n, paymentCents: 15_00n }) }
  assert.equal((await limitOf(process.payOut(15_01n, narrow))).owner, 'api_key')
  const payout = await process.payOut(15_00n, narrow)
  const { name, owner, usedCents } = await limitOf(process.payOut(5_01n, narrow))
  assert.deepEqual([name, owner, usedCents], ['hour', 'api_key', 15_00n])
  await process.payOut(30_00n)
  assert.equal((await limitOf(process.payOut(5_01n))).owner, 'service')
  await process.giveBack(payout)
  await process.payOut(15_00n, narrow)
  await process.payOut(5_00n, narrow)
  assert.equal((await limitOf(process.payOut(1n, narrow))).owner, 'api_key')
})

test('[limits.5] what no window reaches any more is forgotten, and nothing else', async (t) => {
  const { url, database } = await testDatabase(t)
  const process = operatedProcess(t, url)
  await process.adjust(100_00n)
  await process.payOut(1_00n)
  await administer(
    url,
    `INSERT INTO allowance (scope, span, bucket, used_cents)
     SELECT 'all', span, bucket - 3 * per_day, 5 FROM allowance
       JOIN (VALUES ('hour', 1440), ('day', 96), ('night', 1)) AS s (span, per_day) USING (span)`,
  )
  await forgetPast(database)
  const left = new Set(await allowancesUsed(database))
  assert.deepEqual([...left], [1_00n])
})
