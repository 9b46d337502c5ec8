import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { buildStaticBrCode } from '@pixgate/brcode'
import { type Chance, chanceOf } from '../fuzz/chance.ts'
import { assertBooks, balances } from '../support/books.ts'
import { type Request, type TwoGateways, twoGateways } from '../support/two-gateways.ts'
import type { Answer } from '../support/world.ts'

/**
 * Rounds of requests that compete at two services of one database: for one balance, one refundable amount, one external id.
 * In the end the reserved money is sent, and the bank's book agrees.
 */

/** Payouts that compete for one balance: it is spent to the centavo and never twice. */
export async function spendOneBalance(t: TestContext, seed: number, rounds: number): Promise<void> {
  const chance = chanceOf(seed)
  const pix = await twoGateways(t, { PIXGATE_FEE_CASH_OUT_CENTS: String(FEE_CENTS) })
  let [available, reserved, sent, refusals] = [0, 0, 0, 0]
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      const paid = 1_00 + chance.below(100_00)
      await pix.paid(paid)
      available += paid
    }
    const values = around(available - FEE_CENTS, 8 + chance.below(9), chance)
    const answers = await pix.race(values.map((cents, index) => cashOut(`payout-${round}-${index}`, cents)))

    const { accepted, refused } = sorted(values, answers, ['insufficient_balance'])
    const spent = sum(accepted) + accepted.length * FEE_CENTS
    available -= spent
    reserved += spent
    sent += accepted.length
    refusals += refused.length
    await assertMoney(pix, available, reserved)
    for (const { cents } of refused) assert.ok(cents + FEE_CENTS > available, `${cents} would have fitted all the time`)
  }
  assert.ok(sent > rounds && refusals > rounds, 'the balance was no matter of dispute')
  await assertBooks(pix.database)

  await pix.settle()
  assert.equal(pix.bank.book.payouts.size, sent)
  assert.equal((await balances(pix.database)).fees, BigInt(sent * FEE_CENTS))
}

/** Refunds that compete for one payment: no more goes back than came in. */
export async function refundOnePayment(t: TestContext, seed: number, rounds: number): Promise<void> {
  const chance = chanceOf(seed)
  const pix = await twoGateways(t)
  const values = Array.from({ length: rounds }, () => 1_00 + chance.below(50_00))
  const ids: string[] = []
  const refunded: number[] = []
  const refusals = { refund_exceeds_available: 0, insufficient_balance: 0 }
  let [available, reserved, sent] = [0, 0, 0]
  for (const [round, valueCents] of values.entries()) {
    if (round % 3 === 0) {
      const next = values.slice(round, round + 3)
      ids.push(...(await pix.paid(...next)))
      available += sum(next)
    }
    if (round % 3 === 2) {
      // The merchant has spent a part of what would have to go back.
      const spent = available - chance.below(valueCents)
      await pix.send(cashOut(`payout-${round}`, spent))
      available -= spent
      reserved += spent
    }
    const id = ids[round] as string
    const limit = Math.min(valueCents, available)
    const asked = around(limit, 8 + chance.below(5), chance)
    const answers = await pix.race(asked.map((cents, index) => refund(id, `refund-${round}-${index}`, cents)))

    const reasons = limit < valueCents ? Object.keys(refusals) : ['refund_exceeds_available']
    const { accepted, refused } = sorted(asked, answers, reasons)
    refunded.push(sum(accepted))
    available -= sum(accepted)
    reserved += sum(accepted)
    sent += accepted.length
    const refundableCents = valueCents - sum(accepted)
    for (const { cents, code } of refused) {
      const left = code === 'insufficient_balance' ? available : refundableCents
      assert.ok(cents > left, `${cents} would have fitted all the time: ${code}`)
      refusals[code as keyof typeof refusals] += 1
    }
    const detail = await pix.send({ path: `/api/pix/cash-in/${id}` })
    assert.deepEqual([detail.refundedCents, detail.refundableCents], [0, refundableCents])
    await assertMoney(pix, available, reserved)
  }
  const disputes = [sent, refusals.refund_exceeds_available, refusals.insufficient_balance]
  assert.ok(Math.min(...disputes) > rounds / 2, `too little was a matter of dispute: ${disputes}`)
  await assertBooks(pix.database)

  await pix.settle()
  assert.equal(pix.bank.book.refunds.size, sent)
  const details = await Promise.all(ids.map((id) => pix.send({ path: `/api/pix/cash-in/${id}` })))
  assert.deepEqual(
    details.map(({ refundedCents, refundableCents }) => [refundedCents, refundableCents]),
    values.map((valueCents, round) => [refunded[round], valueCents - (refunded[round] as number)]),
  )
}

/** Requests with one external id: one operation is made, and the others get its id, though too little is left for another. */
export async function createOneOperation(t: TestContext, seed: number, rounds: number): Promise<void> {
  const chance = chanceOf(seed)
  const pix = await twoGateways(t)
  const cashInIds = await pix.paid(...Array.from({ length: rounds }, () => 2_02))
  /** Each with a rival of the same external id; a refund leaves too little for another one. */
  const creates: ((externalId: string, cashInId: string) => readonly [Request, Request])[] = [
    (externalId) => [cashOut(externalId, 1_00), cashOut(externalId, 1_01)],
    (externalId) => [byCode(externalId, 1_00), byCode(externalId, 1_01)],
    (externalId) => [cashOut(externalId, 1_00), byCode(externalId, 1_00)],
    (externalId, cashInId) => [refund(cashInId, externalId, 2_02), refund(cashInId, externalId, 2_01)],
  ]
  let reserved = 0
  for (const [round, cashInId] of cashInIds.entries()) {
    const create = creates[round % creates.length] as (typeof creates)[number]
    const variants = create(`order-${round}`, cashInId)
    const headers = chance.bool(0.5) ? { 'idempotency-key': `key-${round}` } : {}
    const count = 6 + chance.below(5)
    const requests = Array.from({ length: count }, () => ({ ...variants[chance.bool(0.3) ? 1 : 0], headers }))

    const { valueCents } = assertOne(requests, await pix.race(requests))
    reserved += valueCents
    assert.equal((await balances(pix.database)).reserved, BigInt(reserved))
  }
  await assertBooks(pix.database)

  await pix.settle()
  assert.equal(pix.bank.book.payouts.size + pix.bank.book.refunds.size, rounds)
}

const FEE_CENTS = 7

const PIX_CODE = buildStaticBrCode({ pixKey: 'loja@example.com', merchantName: 'Loja', merchantCity: 'Recife' })

/** Amounts of which one, or all, or some number between fit into `cents` together; at times everybody wants all of it. */
function around(cents: number, count: number, chance: Chance): number[] {
  const allCents = Math.max(1, cents)
  if (chance.bool(0.1)) return Array.from({ length: count }, () => allCents)
  const limit = Math.ceil((2 * allCents) / (1 + chance.below(count)))
  return Array.from({ length: count }, () => 1 + chance.below(limit))
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

async function assertMoney({ database }: TwoGateways, available: number, reserved: number): Promise<void> {
  const known = await balances(database)
  assert.deepEqual([known.available ?? 0n, known.reserved ?? 0n], [BigInt(available), BigInt(reserved)])
}

function sum(values: readonly number[]): number {
  return values.reduce((total, cents) => total + cents, 0)
}

/** One request was executed, and each other one got its id. @returns the created operation */
function assertOne(requests: readonly Request[], answers: readonly Answer[]): Answer['body'] {
  const first = answers.findIndex(({ status, headers }) => status === 201 && !headers.has('idempotent-replayed'))
  const [request, created] = [requests[first], answers[first]]
  assert.ok(request && created, JSON.stringify(answers))
  for (const [index, answer] of answers.entries()) {
    const other = requests[index]
    const samePayload = isDeepStrictEqual(other?.body, request.body)
    // A key counts for its route.
    const isSameKey = other?.headers?.['idempotency-key'] !== undefined && other.path === request.path
    if (index === first) continue
    if (!isSameKey) assertDuplicate(answer, created, samePayload)
    else if (samePayload) assertReplayed(answer, created)
    else assert.deepEqual([answer.status, answer.body.code], [422, 'idempotency_key_reused'])
  }
  return created.body
}

function assertDuplicate({ status, body }: Answer, created: Answer, samePayload: boolean): void {
  assert.deepEqual([status, body.code], [409, 'duplicate_external_id'])
  assert.deepEqual([body.existing.id, body.existing.samePayload], [created.body.id, samePayload])
}

/** The first answer again, or a word that there will be one. */
function assertReplayed({ status, headers, body }: Answer, created: Answer): void {
  if (status === 409) {
    assert.equal(body.code, 'request_in_progress')
  } else {
    assert.deepEqual([status, headers.get('idempotent-replayed')], [201, 'true'])
    assert.deepEqual(body, created.body)
  }
}

function cashOut(externalId: string, cents: number): Request {
  const recipient = { pixKey: 'joao@example.com', pixKeyType: 'email' }
  return post('/api/pix/cash-out', { transaction: { value: cents / 100, externalId }, recipient })
}

function byCode(externalId: string, cents: number): Request {
  return post('/api/pix/cash-out-qrcode', { transaction: { pixCode: PIX_CODE, value: cents / 100, externalId } })
}

function refund(cashInId: string, externalId: string, cents: number): Request {
  return post(`/api/pix/refund-in/${cashInId}`, { refundValue: cents / 100, externalId })
}

function post(path: string, body: object): Request {
  return { method: 'POST', path, body }
}
