import assert from 'node:assert/strict'
import test from 'node:test'
import { buildStaticBrCode } from '@pixgate/brcode'
import { type Chance, chanceOf } from '../fuzz/chance.ts'
import { assertBooks, balances } from '../support/books.ts'
import { type Request, twoServices } from '../support/two-services.ts'
import type { Answer } from '../support/world.ts'

/**
 * A thousand rounds in which many requests want the same at the same time, at two services of one database: one balance,
 * one refundable amount, one external id. What was set aside is carried out at the end, and the bank's book has it too.
 */

const LONG = { timeout: 120_000 }

test('[engine.5] [CO-5] in 400 rounds one balance is spent to the centavo and never twice', LONG, async (t) => {
  const chance = chanceOf(1)
  const pix = await twoServices(t, { PIXGATE_FEE_CASH_OUT_CENTS: String(FEE_CENTS) })
  let [available, reserved, sent, refusals] = [0, 0, 0, 0]
  for (let round = 0; round < 400; round++) {
    const paid = 1_00 + chance.below(50_00)
    await pix.paid(paid)
    available += paid
    const values = around(available - FEE_CENTS, 8 + chance.below(9), chance)
    const answers = await pix.race(values.map((cents, index) => cashOut(`payout-${round}-${index}`, cents)))

    const { accepted, refused } = sorted(values, answers, ['insufficient_balance'])
    const spent = sum(accepted) + accepted.length * FEE_CENTS
    available -= spent
    reserved += spent
    sent += accepted.length
    refusals += refused.length
    const known = await balances(pix.database)
    assert.deepEqual([known.available ?? 0n, known.reserved ?? 0n], [BigInt(available), BigInt(reserved)])
    for (const { cents } of refused) assert.ok(cents + FEE_CENTS > available, `${cents} would have fitted all the time`)
  }
  assert.ok(sent > 400 && refusals > 400, 'the balance was no matter of dispute')
  await assertBooks(pix.database)

  await pix.settle()
  assert.equal(pix.bank.book.payouts.size, sent)
  assert.equal((await balances(pix.database)).fees, BigInt(sent * FEE_CENTS))
})

test('[refund-in.create.2] [RF-2] in 300 rounds no more goes back of a payment than came in', LONG, async (t) => {
  const chance = chanceOf(2)
  const pix = await twoServices(t)
  const details: { readonly id: string; readonly valueCents: number; readonly refundedCents: number }[] = []
  let [available, reserved, sent] = [0, 0, 0]
  const refusals = { refund_exceeds_available: 0, insufficient_balance: 0 }
  for (let round = 0; round < 300; round++) {
    const valueCents = 1_00 + chance.below(50_00)
    const id = await pix.paid(valueCents)
    available += valueCents
    if (round % 3 === 0) {
      // The merchant has spent a part of what would have to go back.
      const spent = available - chance.below(valueCents)
      await pix.send(cashOut(`payout-${round}`, spent))
      available -= spent
      reserved += spent
    }
    const most = Math.min(valueCents, available)
    const values = around(most, 8 + chance.below(5), chance)
    const answers = await pix.race(values.map((cents, index) => refund(id, `refund-${round}-${index}`, cents)))

    const { accepted, refused } = sorted(values, answers, Object.keys(refusals))
    const refundedCents = sum(accepted)
    const refundableCents = valueCents - refundedCents
    details.push({ id, valueCents, refundedCents })
    available -= refundedCents
    reserved += refundedCents
    sent += accepted.length
    for (const { cents, code } of refused) {
      const left = code === 'insufficient_balance' ? available : refundableCents
      assert.ok(cents > left, `${cents} would have fitted all the time: ${code}`)
      refusals[code as keyof typeof refusals] += 1
    }
    if (most === valueCents) assert.ok(refused.every(({ code }) => code === 'refund_exceeds_available'))
    const detail = await pix.send({ path: `/api/pix/cash-in/${id}` })
    assert.deepEqual([detail.refundedCents, detail.refundableCents], [0, refundableCents])
    const known = await balances(pix.database)
    assert.deepEqual([known.available ?? 0n, known.reserved ?? 0n], [BigInt(available), BigInt(reserved)])
  }
  const disputes = [sent, refusals.refund_exceeds_available, refusals.insufficient_balance]
  assert.ok(Math.min(...disputes) > 100, 'too little was a matter of dispute')
  await assertBooks(pix.database)

  await pix.settle()
  assert.equal(pix.bank.book.refunds.size, sent)
  for (const { id, valueCents, refundedCents } of details) {
    const detail = await pix.send({ path: `/api/pix/cash-in/${id}` })
    assert.deepEqual([detail.refundedCents, detail.refundableCents], [refundedCents, valueCents - refundedCents])
  }
})

test(
  '[external-id.2] [external-id.3] [idempotency.2] in 300 rounds one external id makes one operation',
  LONG,
  async (t) => {
    const chance = chanceOf(3)
    const pix = await twoServices(t)
    const cashInId = await pix.paid(100_000_00)
    const pixCode = buildStaticBrCode({
      pixKey: 'padaria@example.com',
      merchantName: 'Padaria',
      merchantCity: 'Recife',
    })
    /** Each with a rival of the same external id. */
    const creates: ((externalId: string) => readonly [Request, Request])[] = [
      (externalId) => [cashOut(externalId, 1_00), cashOut(externalId, 1_01)],
      (externalId) => [byCode(pixCode, externalId, 1_00), byCode(pixCode, externalId, 1_01)],
      (externalId) => [cashOut(externalId, 1_00), byCode(pixCode, externalId, 1_00)],
      (externalId) => [refund(cashInId, externalId, 1_00), refund(cashInId, externalId, 1_01)],
    ]
    let reserved = 0
    for (let round = 0; round < 300; round++) {
      const variants = (creates[round % creates.length] as (typeof creates)[number])(`order-${round}`)
      const key = chance.happens(0.5) ? { 'idempotency-key': `key-${round}` } : {}
      const requests = Array.from({ length: 6 + chance.below(5) }, () => {
        const request = variants[chance.happens(0.3) ? 1 : 0]
        return { ...request, headers: key }
      })
      const answers = await pix.race(requests)

      const first = answers.findIndex(isFresh)
      const [winner, request] = [answers[first], requests[first]]
      assert.ok(winner && request, JSON.stringify(answers))
      reserved += winner.body.valueCents
      for (const [index, answer] of answers.entries()) {
        if (index === first) continue
        const samePayload = requests[index]?.body === request.body
        // Where the routes differ the keys do too.
        const isSameKey = 'idempotency-key' in key && requests[index]?.path === request.path
        if (!isSameKey) assertDuplicate(answer, winner, samePayload)
        else if (samePayload) assertReplayed(answer, winner)
        else assert.deepEqual([answer.status, answer.body.code], [422, 'idempotency_key_reused'])
      }
      assert.equal((await balances(pix.database)).reserved, BigInt(reserved))
    }
    await assertBooks(pix.database)

    await pix.settle()
    assert.equal(pix.bank.book.payouts.size + pix.bank.book.refunds.size, 300)
  },
)

/** The fee of each cash-out. */
const FEE_CENTS = 7

/** Amounts of which about one, or about all, or some number between fit into `cents` together; at times one takes all. */
function around(cents: number, count: number, chance: Chance): number[] {
  const most = Math.max(1, cents)
  const fitting = 1 + chance.below(count)
  const limit = Math.ceil((2 * most) / fitting)
  return Array.from({ length: count }, () => (chance.happens(0.05) ? most : 1 + chance.below(limit)))
}

/** Which amounts were accepted and which were refused, and why: for one of these reasons, or the test fails. */
function sorted(values: readonly number[], answers: readonly Answer[], reasons: readonly string[]) {
  const accepted: number[] = []
  const refused: { readonly cents: number; readonly code: string }[] = []
  for (const [index, { status, body }] of answers.entries()) {
    const cents = values[index] as number
    if (status === 201) {
      assert.equal(body.valueCents, cents)
      accepted.push(cents)
    } else {
      assert.ok(status === 422 && reasons.includes(body.code), JSON.stringify(body))
      refused.push({ cents, code: body.code })
    }
  }
  return { accepted, refused }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, cents) => total + cents, 0)
}

function isFresh({ status, headers }: Answer): boolean {
  return status === 201 && !headers.has('idempotent-replayed')
}

function assertDuplicate({ status, body }: Answer, winner: Answer, samePayload: boolean): void {
  assert.deepEqual([status, body.code], [409, 'duplicate_external_id'])
  assert.deepEqual([body.existing.id, body.existing.samePayload], [winner.body.id, samePayload])
}

/** The first answer again, or a word that there will be one. */
function assertReplayed({ status, headers, body }: Answer, winner: Answer): void {
  if (status === 409) return assert.equal(body.code, 'request_in_progress')
  assert.deepEqual([status, headers.get('idempotent-replayed')], [201, 'true'])
  assert.deepEqual(body, winner.body)
}

function cashOut(externalId: string, cents: number): Request {
  const recipient = { pixKey: 'joao@example.com', pixKeyType: 'email' }
  return post('/api/pix/cash-out', { transaction: { value: cents / 100, externalId }, recipient })
}

function byCode(pixCode: string, externalId: string, cents: number): Request {
  return post('/api/pix/cash-out-qrcode', { transaction: { pixCode, value: cents / 100, externalId } })
}

function refund(cashInId: string, externalId: string, cents: number): Request {
  return post(`/api/pix/refund-in/${cashInId}`, { refundValue: cents / 100, externalId })
}

function post(path: string, body: object): Request {
  return { method: 'POST', path, body }
}
