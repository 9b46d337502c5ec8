import assert from 'node:assert/strict'
import test from 'node:test'
import type { ChargeAvailability, ChargePartner, ChargeQueryAnswer } from '../../src/banks/port.ts'
import { createChargeCalls } from '../../src/cash-in/jobs.ts'
import { ACCEPTED, CANCELLED, CONTRADICTED, NOT_FOUND, PAID, TIMEOUT } from './fixture.ts'
import { cashInAs, NOW } from './situations.ts'

/** Orders a charge of which the bank has this. @returns its answer, and the calls */
async function ordered(query: ChargeQueryAnswer, facts = {}, isNear = true, canAsk = true) {
  const calls: string[] = []
  const partner: ChargePartner & ChargeAvailability = {
    capabilities: new Set(canAsk ? ['charge', 'query-charge'] : ['charge']),
    allowedCharges: () => 64,
    createCharge: async (id) => {
      calls.push(`PUT ${id}`)
      return ACCEPTED
    },
    getCharge: async (id) => {
      calls.push(`GET ${id}`)
      return query
    },
    cancelCharge: async () => CANCELLED,
  }
  const cashIn = cashInAs('PENDING', { transactionId: null, facts })
  const answer = await createChargeCalls(partner, () => isNear).order(cashIn, NOW)
  return { answer, calls: calls.map((call) => call.replace(cashIn.orderId, 'order id')) }
}

test('[restored.4] after a restore the bank is asked about a charge before it is ordered, and what it has counts', async () => {
  for (const known of [ACCEPTED, PAID, CONTRADICTED, TIMEOUT]) {
    assert.deepEqual(await ordered(known), { answer: known, calls: ['GET order id'] })
  }
  assert.deepEqual(await ordered(NOT_FOUND), { answer: ACCEPTED, calls: ['GET order id', 'PUT order id'] })
})

test('[restored.4] a charge that may have been ordered here, or of another time, or at a bank without queries is ordered straight', async () => {
  const straight = { answer: ACCEPTED, calls: ['PUT order id'] }
  assert.deepEqual(await ordered(PAID, { lastAttemptAt: NOW }), straight)
  assert.deepEqual(await ordered(PAID, {}, false), straight)
  assert.deepEqual(await ordered(PAID, {}, true, false), straight)
})
