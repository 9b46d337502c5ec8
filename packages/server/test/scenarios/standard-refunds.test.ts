import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { Told } from '../support/lying-bank.ts'
import { lyingEfi, withFields } from '../support/lying-efi.ts'
import { stepUntil } from '../support/stepping.ts'

/** Charges and refunds at a bank of the standard that loses answers, never ends, and says otherwise afterwards. */

const HELD = { available: 7_000n, reserved: 3_000n, settlement: -10_000n }
const REFUNDED = { available: 7_000n, settlement: -7_000n }
const FREE = { available: 10_000n, settlement: -10_000n }
const HOUR_MS = 3_600_000

const isRefund = ({ path }: Told) => path.includes('/devolucao/')

const lost = [
  ['which the bank carried out', { errorAfterExecuting: 1_000 }],
  ['which the bank never had', { unavailable: 1_000 }],
] as const

async function paid(t: TestContext) {
  const pix = await lyingEfi(t)
  const { id } = await pix.charge('100')
  await pix.bankAction(`charges/${id}/pay`)
  await pix.until(`/api/pix/cash-in/${id}`, ({ status }) => status === 'PAID')
  /** A refund that the bank received, and that it settles by its behaviour. */
  const refund = async () => {
    const { id: refundId } = await pix.refundIn(id, 30)
    await pix.later(1_000)
    return { refundId, path: `/api/pix/refund/${refundId}`, atBank: `refunds/${refundId}` }
  }
  return { ...pix, refund }
}

for (const [name, perThousand] of lost) {
  test(`[AP-15] [CI-6] at efi: a charge whose answer is lost, and ${name}, exists once`, async (t) => {
    const pix = await lyingEfi(t)
    await pix.bank('PUT', '/control/lies', { perThousand })
    const { id, pixCode } = await pix.charge('100')
    assert.equal(pixCode, undefined)
    const path = `/api/pix/cash-in/${id}`
    assert.equal((await pix.get(path)).status, 'PROVIDER_RESULT_UNKNOWN')
    await pix.bank('PUT', '/control/lies', {})
    await stepUntil(pix, path, 'PENDING', 5_001)
    assert.equal(typeof (await pix.get(path)).pixCode, 'string')
    const { charges } = (await pix.bank('GET', '/control/book')).body
    assert.equal(charges.length, 1)
    await pix.bankAction(`charges/${id}/pay`)
    await pix.until(path, ({ status }) => status === 'PAID')
    await pix.assertBooksAgree()
  })

  test(`[AP-16] [RF-6] at efi: a refund whose answer is lost, and ${name}, is made once, and held until that is known`, async (t) => {
    const pix = await paid(t)
    await pix.bank('PUT', '/control/lies', { perThousand })
    const { path } = await pix.refund()
    assert.deepEqual((await pix.stands(path)).balances, HELD)
    await pix.bank('PUT', '/control/lies', {})
    await stepUntil(pix, path, 'CONFIRMED', 5_001)
    const { refunds } = (await pix.bank('GET', '/control/book')).body
    assert.equal(refunds.length, 1)
    const { balances, cases, notified } = await pix.stands(path)
    assert.deepEqual([balances, cases, notified], [REFUNDED, [], ['PAID', 'CONFIRMED']])
    await pix.assertBooksAgree()
  })
}

test('[AP-17] [CO-22] at efi: a refund that is EM_PROCESSAMENTO for ever is held, and a case after a day; its end closes it', async (t) => {
  const pix = await paid(t)
  await pix.behave({ refundIn: 'manual' })
  const { path, atBank } = await pix.refund()
  await pix.pass(23 * HOUR_MS, HOUR_MS)
  const held = { status: 'PENDING', balances: HELD, notified: ['PAID'] }
  assert.deepEqual(await pix.stands(path), { ...held, cases: [] })
  await pix.pass(2 * HOUR_MS, HOUR_MS)
  assert.deepEqual(await pix.stands(path), { ...held, cases: ['outcome_unknown'] })
  await pix.bankAction(`${atBank}/confirm`)
  await pix.until(path, ({ status }) => status === 'CONFIRMED')
  const { balances, cases } = await pix.stands(path)
  assert.deepEqual([balances, cases], [REFUNDED, []])
  await pix.assertBooksAgree()
})

test('[AP-18] [RF-8] at efi: a refund that is NAO_REALIZADO and then DEVOLVIDO is free, and held again with a case', async (t) => {
  const pix = await paid(t)
  await pix.behave({ refundIn: 'fail' })
  const { path, atBank } = await pix.refund()
  await pix.until(path, ({ status }) => status === 'FAILED')
  assert.deepEqual((await pix.stands(path)).balances, FREE)
  await pix.bankAction(`${atBank}/confirm`, { despiteFailure: true })
  await pix.pass(600_000)
  assert.deepEqual(await pix.stands(path), {
    status: 'FAILED',
    balances: { ...HELD, settlement: -7_000n, suspense_out: -3_000n },
    cases: ['debit_in_suspense'],
    notified: ['PAID', 'FAILED'],
  })
  await pix.decide('debit_in_suspense', 'executed')
  const { balances, cases, notified } = await pix.stands(path)
  assert.deepEqual([balances, cases, notified], [REFUNDED, [], ['PAID', 'FAILED', 'CONFIRMED']])
  await pix.assertBooksAgree()
})

test('[AP-19] [RF-9] at efi: a refund that is DEVOLVIDO and then NAO_REALIZADO is a case, and nothing is given back', async (t) => {
  const pix = await paid(t)
  const { path, refundId } = await pix.refund()
  await pix.until(path, ({ status }) => status === 'CONFIRMED')
  pix.tell(withFields(isRefund, { status: 'NAO_REALIZADO', motivo: 'AC07' }))
  await pix.callBack({ txid: 'a'.repeat(32), devolucoes: [{ id: refundId, status: 'NAO_REALIZADO' }] })
  await pix.pass(600_000)
  const { balances, cases, notified } = await pix.stands(path)
  assert.deepEqual([balances, cases], [REFUNDED, ['bank_contradicts']])
  assert.deepEqual(notified, ['PAID', 'CONFIRMED'])
  await pix.assertBooksAgree()
})
