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
