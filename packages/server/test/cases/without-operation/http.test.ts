import assert from 'node:assert/strict'
import test from 'node:test'
import { paidEvent, postEvent } from '../../support/partner-events.ts'
import { ADMIN_TOKEN, type Answer, type World, world } from '../../support/world.ts'

/** Cases of no operation over HTTP, in the list and at the endpoint of all others. */

const PARKED = [0, 1_001, 5_001, 30_001, 60_001, 300_001, 900_001]

/** Calls the API as the operator. */
function operator(pix: World) {
  return async (path: string) => {
    const { status, body } = await pix.call('GET', `/operator/${path}`, undefined, {
      authorization: `Bearer ${ADMIN_TOKEN}`,
    })
    assert.equal(status, 200, JSON.stringify(body))
    return body
  }
}

test('[cases.50] [cases.57] an event that was set aside is in the list, with its bytes and what may be decided', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  const event = JSON.stringify(paidEvent({ id: 'nobody', valueCents: 1000, providerTransactionId: 'x' }))
  assert.equal(await postEvent(pix, event), 200)
  for (const wait of PARKED) await pix.later(wait)
  const read = operator(pix)
  const [{ id, kind, operation }] = (await read('cases')).data
  assert.deepEqual([kind, operation], ['event_set_aside', null])
  const whole = await read(`cases/${id}`)
  assert.equal(Buffer.from(whole.event.body, 'base64').toString(), event)
  assert.deepEqual(
    whole.options.map(({ decision, needs, needsSecondPerson }: Answer['body']) => [decision, needs, needsSecondPerson]),
    [
      ['book', ['operationId'], false],
      ['ask_again', [], false],
      ['close', [], false],
    ],
  )
})

test('[cases.50] [cases.53] money of the statement is in the list, and a dry run tells what each decision would do to the centavo', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  await pix.charge('10.00')
  const unknown = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
  const expiresAt = new Date(pix.clock.now() + 3_600_000).toISOString()
  const merchant = { pixKey: 'loja@example.com', name: 'Loja', city: 'Sao Paulo' }
  assert.equal((await pix.bank('PUT', `/charges/${unknown}`, { valueCents: 1000, expiresAt, merchant })).status, 201)
  await pix.bankAction(`charges/${unknown}/pay`)
  for (let minute = 0; minute < 10; minute += 1) await pix.later(60_000)
  const read = operator(pix)
  const [{ id, amountCents }] = (await read('cases?kind=unexplained_credit')).data
  assert.equal(amountCents, 1000)
  const { options, version } = await read(`cases/${id}`)
  const accounts: unknown[] = []
  for (const { decision, needs } of options) {
    if (needs.length > 0) continue
    const order = { decision, version, reason: 'the tests', dryRun: true }
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const { body } = await pix.call('POST', `/operator/cases/${id}/decisions`, order, headers)
    accounts.push([decision, body.effects.accounts])
  }
  const suspense = { account: 'suspense_in', changeCents: -1000 }
  assert.deepEqual(accounts, [
    ['credit', [suspense, { account: 'available', changeCents: 1000 }]],
    ['write_off', [suspense, { account: 'losses', changeCents: 1000 }]],
  ])
})
