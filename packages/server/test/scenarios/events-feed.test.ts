import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import { ADMIN_TOKEN, type Answer, type World, world } from '../support/world.ts'

/** Asks for what comes behind all that is in the feed. @returns the answer, which is kept back until something does */
async function waiting(pix: World): Promise<{ readonly answer: Promise<Answer> }> {
  const { pagination } = await pix.get('/api/pix/events')
  const path = `/api/pix/events?wait=${limits.eventsWaitMaxSeconds}&cursor=${pagination.nextCursor}`
  const answer = pix.call('GET', path)
  // Asked later, and answered meanwhile.
  await pix.get('/organization/balance')
  return { answer }
}

test('[feed.3] [feed.6] a payment is in the feed as at the receiver, and a waiting request gets it', async (t) => {
  const pix = await world(t)
  const { answer } = await waiting(pix)
  const { id } = await pix.paid('10.00')
  const { status, body } = await answer
  assert.equal(status, 200)
  await pix.receiver.arrived(1)
  const [delivered] = pix.receiver.received
  const [event] = body.data
  assert.equal(event.body, String(delivered?.body))
  assert.deepEqual([event.id, event.position], [delivered?.headers['webhook-id'], 1])
  assert.equal(JSON.parse(event.body).event.id, id)
})

test('[feed.6] [api-keys.4] a key deactivated while it waits gets no event', async (t) => {
  const pix = await world(t)
  const charge = await pix.charge('10.00')
  const { answer } = await waiting(pix)
  const asAdmin = { authorization: `Bearer ${ADMIN_TOKEN}` }
  const { body } = await pix.call('GET', '/api-key', undefined, asAdmin)
  for (const { id } of body.data) await pix.call('DELETE', `/api-key/${id}`, undefined, asAdmin)
  await pix.bankAction(`charges/${charge.id}/pay`)
  assert.equal((await answer).status, 401)
})

test('[feed.3] parameters of the feed are validated, each by its name', async (t) => {
  const pix = await world(t, {}, { isStepped: true })
  for (const query of ['wait=21', 'wait=-1', 'type=pix', 'limit=101', 'cursor=', 'cursor=%20', 'position=1']) {
    const { status, body } = await pix.call('GET', `/api/pix/events?${query}`)
    assert.deepEqual([status, body.code], [400, 'validation_error'], query)
    assert.equal(body.errors[0].field, query.split('=')[0])
  }
})
