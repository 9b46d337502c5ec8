import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test from 'node:test'
import type { Refusal } from '@pixgate/spec'
import type { Engine } from '../../src/engine/engine.ts'
import { databaseLink } from '../support/database-link.ts'
import { notifiedStatuses } from '../support/evidence.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { type Answer, type World, world } from '../support/world.ts'

/** An overloaded service refuses requests with Retry-After; afterwards it continues by itself. */

test('[http.9] [health.2] [partner-inbox.3] while the database is away all requests that need it are 503; afterwards all work again', {
  timeout: 60_000,
}, async (t) => {
  const link = databaseLink(t)
  const pix = await world(t, {}, link)
  const paidMeanwhile = await pix.charge('1.00')

  link.interrupt()
  assert.equal((await pix.call('GET', '/readyz')).status, 503)
  assert.equal((await pix.call('GET', '/healthz')).status, 200)
  for (const answer of await createAll(pix, 20)) assertComeAgain(answer)
  assertComeAgain(await pix.call('GET', `/api/pix/cash-in/${paidMeanwhile.id}`))
  assert.equal(await postEvent(pix, paidEvent(paidMeanwhile, { eventId: 'lost', transactionId: 'of-no-charge' })), 503)
  const paid = await pix.bank('POST', `/control/charges/${paidMeanwhile.id}/pay`)
  assert.equal(paid.status, 202)

  link.restore()
  pix.clock.advance(1_000)
  assert.equal((await pix.call('GET', '/readyz')).status, 200)
  const created = await createAll(pix, 20)
  assert.deepEqual(new Set(created.map(({ status }) => status)), new Set([201]))
  await payAll(pix, created)
  // One of them is what the bank could not tell us of before.
  await assertEachPaidOnce(pix, 21)
})

for (const [lost, what] of [
  ['request', 'before a batch arrived'],
  ['response', 'when a batch was committed'],
] as const) {
  test(`[http.9] [engine.13] the database goes away ${what}; a retry finds each charge once`, {
    timeout: 60_000,
  }, async (t) => {
    const link = databaseLink(t)
    const pix = await world(t, {}, link)
    await pix.charge('1.00')
    const interrupted = link.interruptAt('engine.write', lost)
    const first = createAll(pix, 20)
    await interrupted
    link.restore()
    const answers = await first
    for (const answer of answers) if (answer.status !== 201) assertComeAgain(answer)

    // A charge stored before the call to the bank is resumed when it is due.
    pix.clock.advance(60_000)
    const again = await createAll(pix, 20)
    for (const [index, { status, body }] of again.entries()) {
      assert.ok(status === 409 || answers[index]?.status === 503, `${answers[index]?.status} and then ${status}`)
      if (status === 409) assert.equal(body.existing.samePayload, true)
    }
    await payAll(pix, again)
    await assertEachPaidOnce(pix, 20)
  })
}

test('[engine.11] [http.9] a full queue is 503 at once, reads continue, waiting requests are answered, and then there is room', {
  timeout: 60_000,
}, async (t) => {
  const link = databaseLink(t)
  const pix = await world(t, {}, link)
  await pix.charge('1.00')
  const release = link.hold('engine.')
  const stuck = outcomeOf(pix.service.engine)
  while (pix.service.engine.waiting > 0) assert.equal((await pix.call('GET', '/healthz')).status, 200)
  // More than connections could bring: one credential holds 500.
  const flood = Array.from({ length: 6_000 }, () => outcomeOf(pix.service.engine))

  for (const answer of await createAll(pix, 20)) assertComeAgain(answer)
  assert.equal((await pix.call('GET', '/api/pix/cash-in')).status, 200)

  release()
  assert.equal(await stuck, 'done')
  const outcomes = await Promise.all(flood)
  assert.equal(outcomes.filter((outcome) => outcome === 'overloaded').length, 6_000 - QUEUE_MAX)
  assert.equal(outcomes.filter((outcome) => outcome === 'done').length, QUEUE_MAX)
  const created = await createAll(pix, 20)
  assert.deepEqual(new Set(created.map(({ status }) => status)), new Set([201]))
  await payAll(pix, created)
  await assertEachPaidOnce(pix, 20)
})

const QUEUE_MAX = 5_000

/** Checks an answer that asks the client to come again. */
function assertComeAgain({ status, headers, body }: Answer): void {
  assert.deepEqual([status, body.code], [503, 'overloaded'])
  assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
}

function createAll(pix: World, count: number): Promise<Answer[]> {
  const create = (_: unknown, index: number) =>
    pix.call('POST', '/api/pix/cash-in', { transaction: { value: 1, externalId: `many-${index}` } })
  return Promise.all(Array.from({ length: count }, create))
}

/** Pays the created charges, each as soon as the bank knows it. */
async function payAll(pix: World, creates: readonly Answer[]): Promise<void> {
  for (const { body } of creates) {
    const pay = () => pix.bank('POST', `/control/charges/${body.id ?? body.existing.id}/pay`)
    let paid = await pay()
    while (paid.status === 404) paid = await pay()
    assert.equal(paid.status, 202)
  }
}

/**
 * Waits until the merchant was notified of every payment, and fails on any further notification.
 * @param count how many charges were paid
 */
async function assertEachPaidOnce(pix: World, count: number): Promise<void> {
  await pix.receiver.arrived(count)
  assert.deepEqual(await notifiedStatuses(pix.database), Array(count).fill('PAID'))
  assert.equal(new Set(pix.receiver.received.map(({ headers }) => headers['webhook-id'])).size, count)
  await pix.assertBooksAgree()
}

/** Outcome of a command that reads and changes nothing. */
function outcomeOf(engine: Engine): Promise<unknown> {
  const command = { reads: [randomUUID()], decide: () => ({ outcome: 'done' }) }
  return engine.execute(command).catch(({ code }: Refusal) => code)
}
