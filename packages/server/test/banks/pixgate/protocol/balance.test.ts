import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { createHttpPartner } from '../../../../src/banks/pixgate/bank.ts'
import { answer, scriptedBank } from '../scripted-bank.ts'

/** Outcome of a bank's answer to a reading of the balance. */
async function read(t: TestContext, status: number, body: unknown) {
  const bank = await scriptedBank(t, (response) => answer(response, status, body))
  return { told: await createHttpPartner(bank.link).readBalance(), received: bank.received }
}

test('[close.11] a balance is read, below zero too, with its time if the bank sends one', async (t) => {
  const asOf = '2026-11-22T12:00:00.250Z'
  const { told, received } = await read(t, 200, { availableCents: -150, asOf, blockedCents: 1 })
  assert.deepEqual(told, { kind: 'READ', balance: { availableCents: -150n, asOf: Date.parse(asOf) } })
  assert.deepEqual([received[0]?.method, received[0]?.path], ['GET', '/balance'])
  const untimed = (await read(t, 200, { availableCents: 1 })).told
  assert.deepEqual(untimed, { kind: 'READ', balance: { availableCents: 1n, asOf: null } })
})

for (const body of [
  {},
  [],
  null,
  { availableCents: '1' },
  { availableCents: 0.5 },
  { availableCents: 1, asOf: 'now' },
]) {
  test(`[close.11] ${JSON.stringify(body)} is no balance`, async (t) => {
    const { told } = await read(t, 200, body)
    assert.deepEqual(told, { kind: 'UNKNOWN', reason: 'unreadable body', httpStatus: 200 })
  })
}

for (const status of [204, 302, 401, 404, 429, 500]) {
  test(`[close.11] a balance answered with ${status} is UNKNOWN`, async (t) => {
    const { told } = await read(t, status, { availableCents: 1 })
    // A 204 has no body.
    assert.deepEqual([told.kind, 'httpStatus' in told && told.httpStatus], ['UNKNOWN', status])
  })
}
