import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import { createSimulatorControl } from '../../src/partner/simulator-control.ts'
import { answer, closedPort, linkTo, scriptedBank } from './scripted-bank.ts'

test('[sandbox.2] paying tells the end-to-end id', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 202, { accepted: true, endToEndId: 'E1' }))
  const { endToEndId } = await createSimulatorControl(bank.link).pay('charge 1', { payerName: 'Maria' })
  assert.equal(endToEndId, 'E1')
  const [pay] = bank.received
  assert.deepEqual(
    [pay?.method, pay?.path, pay?.body],
    ['POST', '/control/charges/charge%201/pay', '{"payerName":"Maria"}'],
  )
  assert.equal(pay?.headers.authorization, 'Bearer the token')
})

test('[sandbox.3] failing sends no body', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 202, { accepted: true }))
  await createSimulatorControl(bank.link).fail('c1')
  const [fail] = bank.received
  assert.deepEqual([fail?.method, fail?.path, fail?.body], ['POST', '/control/charges/c1/fail', ''])
})

test('[sandbox.1] the behaviour is read and changed', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 200, { cashIn: 'reject', latencyMs: 0 }))
  const control = createSimulatorControl(bank.link)
  assert.deepEqual(await control.getBehavior(), { cashIn: 'reject', latencyMs: 0 })
  assert.deepEqual(await control.putBehavior({ cashIn: 'reject' }), { cashIn: 'reject', latencyMs: 0 })
  assert.deepEqual(
    bank.received.map(({ method, path, body }) => [method, path, body]),
    [
      ['GET', '/control/behavior', ''],
      ['PUT', '/control/behavior', '{"cashIn":"reject"}'],
    ],
  )
})

for (const [status, body, code] of [
  [400, { errorCode: 'validation_error' }, 'validation_error'],
  [404, { errorCode: 'not_found' }, 'not_found'],
  [409, { errorCode: 'not_possible' }, 'not_possible_in_state'],
  [401, {}, 'partner_unavailable'],
  [500, {}, 'partner_unavailable'],
  [307, {}, 'partner_unavailable'],
  [202, null, 'partner_unavailable'],
  [202, { accepted: true }, 'partner_unavailable'],
] as const) {
  test(`[sandbox.1] the simulator answers ${status} ${JSON.stringify(body)}: ${code}`, async (t) => {
    const bank = await scriptedBank(t, (response) => answer(response, status, body))
    await assert.rejects(createSimulatorControl(bank.link).pay('c1', {}), refusal(code))
  })
}

test('[sandbox.1] no simulator: partner_unavailable', async (t) => {
  const control = createSimulatorControl(linkTo(t, await closedPort()))
  await assert.rejects(control.fail('c1'), refusal('partner_unavailable'))
})

function refusal(code: string) {
  return (error: unknown) => error instanceof Refusal && error.code === code
}
