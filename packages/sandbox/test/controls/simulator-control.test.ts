import assert from 'node:assert/strict'
import test from 'node:test'
import { getBankBehavior, Refusal } from '@pixgate/spec'
import { answer, closedPort, linkTo, scriptedBank } from '../../../server/test/banks/pixgate/scripted-bank.ts'
import { createSimulatorControl } from '../../src/controls/simulator-control.ts'

test('[sandbox.1] an action sends the order id and the parameters, and returns the EndToEndId', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 202, { accepted: true, endToEndId: 'E1' }))
  const result = await createSimulatorControl(bank.link).act('charges/pay', 'charge 1', { payerName: 'Maria' })
  assert.deepEqual(result, { endToEndId: 'E1' })
  const [pay] = bank.received
  assert.deepEqual(
    [pay?.method, pay?.path, pay?.body],
    ['POST', '/control/charges/charge%201/pay', '{"payerName":"Maria"}'],
  )
  assert.equal(pay?.headers.authorization, 'Bearer the token')
})

test('[sandbox.1] without parameters no body is sent; only the EndToEndId of the response is returned', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 202, { accepted: true, returnId: 'D1' }))
  assert.deepEqual(await createSimulatorControl(bank.link).act('refunds/confirm', 'r1'), {})
  const [confirm] = bank.received
  assert.deepEqual([confirm?.method, confirm?.path, confirm?.body], ['POST', '/control/refunds/r1/confirm', ''])
})

const BEHAVIOR = getBankBehavior.responses[200].example

test('[sandbox.6] the behaviour can be read and changed', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 200, BEHAVIOR))
  const control = createSimulatorControl(bank.link)
  assert.deepEqual(await control.behavior(), BEHAVIOR)
  assert.deepEqual(await control.changeBehavior({ eventCopies: 3 }), BEHAVIOR)
  assert.deepEqual(
    bank.received.map(({ method, path, body }) => [method, path, body]),
    [
      ['GET', '/control/behavior', ''],
      ['PUT', '/control/behavior', '{"eventCopies":3}'],
    ],
  )
})

test('[sandbox.6] a read of the behaviour is retried after a closed connection; a change is not', async (t) => {
  let calls = 0
  const bank = await scriptedBank(t, (response) => {
    calls += 1
    if (calls % 2 === 1) response.destroy()
    else answer(response, 200, BEHAVIOR)
  })
  const control = createSimulatorControl(bank.link)
  assert.deepEqual(await control.behavior(), BEHAVIOR)
  await assert.rejects(control.changeBehavior({ eventCopies: 3 }), refusal('partner_unavailable'))
  assert.equal(calls, 3)
})

for (const [status, body] of [
  [400, { errorCode: 'invalid_request' }],
  [404, { errorCode: 'not_found' }],
  [500, {}],
  [202, BEHAVIOR],
  [200, null],
  [200, {}],
  [200, { ...BEHAVIOR, cashIn: 'perhaps' }],
] as const) {
  test(`[sandbox.6] a bank that responds ${status} ${JSON.stringify(body)} to a query of the behaviour: partner_unavailable`, async (t) => {
    const bank = await scriptedBank(t, (response) => answer(response, status, body))
    await assert.rejects(createSimulatorControl(bank.link).behavior(), refusal('partner_unavailable'))
  })
}

for (const [status, body, code] of [
  [400, { errorCode: 'validation_error' }, 'validation_error'],
  [404, { errorCode: 'not_found' }, 'not_possible_in_state'],
  [409, { errorCode: 'not_possible' }, 'not_possible_in_state'],
  [401, {}, 'partner_unavailable'],
  [500, {}, 'partner_unavailable'],
  [307, {}, 'partner_unavailable'],
  [202, null, 'partner_unavailable'],
  [202, { accepted: true, endToEndId: 1 }, 'partner_unavailable'],
  [200, { accepted: true }, 'partner_unavailable'],
] as const) {
  test(`[sandbox.1] the simulator responds ${status} ${JSON.stringify(body)}: ${code}`, async (t) => {
    const bank = await scriptedBank(t, (response) => answer(response, status, body))
    await assert.rejects(createSimulatorControl(bank.link).act('charges/pay', 'c1', {}), refusal(code))
  })
}

test('[sandbox.1] an unreachable simulator: partner_unavailable', async (t) => {
  const control = createSimulatorControl(linkTo(t, await closedPort()))
  await assert.rejects(control.act('payouts/fail', 'p1'), refusal('partner_unavailable'))
  await assert.rejects(control.changeBehavior({}), refusal('partner_unavailable'))
})

function refusal(code: string) {
  return (error: unknown) => error instanceof Refusal && error.code === code
}
