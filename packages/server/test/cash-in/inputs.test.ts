import assert from 'node:assert/strict'
import test from 'node:test'
import type { Charge, PaymentReturn } from '../../src/banks/port.ts'
import { inputsOf, returnsIn } from '../../src/cash-in/cash-in.ts'
import { restingDueAt } from '../../src/cash-in/schedule.ts'
import { payment } from '../support/engine.ts'
import { PIX_CODE } from './fixture.ts'
import { cashInAs, IN_DOUBT, NOW, PAID, wentBack } from './situations.ts'

const CASH_IN = cashInAs('PAID', { facts: PAID })

function returned(returnId: string, valueCents = 30_00n): PaymentReturn {
  return { returnId, transactionId: `tx-${returnId}`, valueCents, occurredAt: NOW - 1_000, origin: 'BANK' }
}

/** A charge as the bank tells it, with what went back of the credited payment, and of another one. */
function answered(given: Partial<Charge> = {}, ofCredited = [returned('D1')], ofOther = [returned('D2')]) {
  const charge: Charge<'PAID'> = {
    id: CASH_IN.orderId,
    valueCents: CASH_IN.valueCents,
    expiresAt: CASH_IN.expiresAt ?? NOW,
    transactionId: 'tx',
    pixCode: PIX_CODE,
    payments: [
      { ...payment({ endToEndId: 'E1', occurredAt: NOW - 2_000 }), returns: ofCredited },
      { ...payment({ endToEndId: 'E2', occurredAt: NOW - 2_000 }), returns: ofOther },
    ],
    ...given,
    status: 'PAID',
  }
  return { kind: 'FINAL', charge } as const
}

test('[cash-in.returns.6] of an answer about this charge only returns that name the credited payment are applied', () => {
  assert.deepEqual(returnsIn(CASH_IN, answered()), [{ ...returned('D1'), endToEndId: 'E1' }])
  assert.deepEqual(returnsIn(CASH_IN, answered({ id: 'another' })), [])
  assert.deepEqual(returnsIn(CASH_IN, { kind: 'UNKNOWN', reason: 'timeout', httpStatus: undefined }), [])
})

test('[cash-in.returns.6] of an answer those returns are applied, too, that name a payment which an operator decided', () => {
  const facts = { payments: { E1: 60_00 }, decidedPayments: { E1: 60_00 } }
  const [returnOfIt, ...others] = returnsIn(cashInAs('FAILED', { facts }), answered())
  assert.deepEqual([returnOfIt?.returnId, others], ['D1', []])
})

test('[cash-in.returns.6] what is debited already is no news, and with another amount it is', () => {
  const booked = { ...CASH_IN, facts: { ...PAID, returns: wentBack({ D1: 30_00 }) } }
  assert.deepEqual(returnsIn(booked, answered()), [])
  assert.equal(returnsIn(booked, answered({}, [returned('D1', 29_99n)])).length, 1)
})

test('[cash-in.states.12] [P7] money in a contradicting answer belongs to this charge, unless the answer is about another', () => {
  const { charge } = answered()
  const inputs = (id: string) =>
    inputsOf(CASH_IN, { kind: 'CONTRADICTED', reason: 'other', charge: { ...charge, id } }, { now: NOW, isSwept: true })
  assert.deepEqual(
    inputs(CASH_IN.orderId).map(({ on }) => on),
    ['charge.contradicted', 'partner.confirmed', 'partner.confirmed'],
  )
  assert.deepEqual(
    inputs('another').map(({ on }) => on),
    ['charge.contradicted'],
  )
})

test('[cash-in.returns.4] what could not be done about a return is tried again after a minute, not at once', () => {
  const due = cashInAs('PAID', { facts: { ...PAID, openRefunds: {}, returns: { D1: IN_DOUBT } } })
  assert.equal(restingDueAt(due, NOW), NOW + 60_000)
})

test('[restored.5] [api-pix.17] the first answer tells the end of a charge, unless it differs by whole hours of a zone', () => {
  const before = cashInAs('PENDING', { transactionId: null })
  const end = before.expiresAt ?? NOW
  const adopted = (expiresAt: number, cashIn = before) => {
    const [first] = inputsOf(cashIn, answered({ expiresAt }), { now: NOW, isSwept: true })
    return first?.on === 'charge.accepted' ? first.expiresAt : undefined
  }
  assert.equal(adopted(end - 600_000), end - 600_000)
  assert.equal(adopted(end - 20 * 3_600_000), end - 20 * 3_600_000)
  assert.equal(adopted(end + 60_000), undefined, 'seconds are counted from the bank’s own beginning')
  assert.equal(adopted(end - 3 * 3_600_000 + 2_000), undefined, 'local time of São Paulo')
  assert.equal(adopted(end - 600_000, { ...before, transactionId: 'tx' }), undefined)
})
