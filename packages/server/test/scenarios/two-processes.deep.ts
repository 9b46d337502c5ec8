import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { limits } from '@pixgate/spec'
import { inbox } from '../support/evidence.ts'
import { assertExactlyOnce, assertShown, type Ended, paidCharge } from '../support/exactly-once.ts'
import { postEvent } from '../support/partner-events.ts'
import {
  ask,
  type Merchant,
  type Neighbour,
  type Order,
  type ProcessWorld,
  processWorld,
} from '../support/process-world.ts'
import { finished } from '../support/progress.ts'
import { wallNow } from '../support/wall-clock.ts'
import { ADMIN_TOKEN, type Answer } from '../support/world.ts'

/** Two processes of the service, A and B, work side by side on one database and one bank. */

test('[idempotency.2] [idempotency.3] an Idempotency-Key used at one process counts at the other', async (t) => {
  const { pix, a, b } = await twins(t)
  const order = { externalId: 'order-1', value: 10 }
  const first = await a.create(order, 'key-1')
  const again = await b.create(order, 'key-1')
  assert.deepEqual([first.status, again.status], [201, 201])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.deepEqual(again.body, first.body)
  assert.equal((await b.create({ ...order, value: 11 }, 'key-1')).body.code, 'idempotency_key_reused')

  for (let round = 2; round <= 10; round++) {
    const order = { externalId: `order-${round}`, value: 10 }
    const answers = await Promise.all([a, b, a, b].map((process) => process.create(order, `key-${round}`)))
    const fresh = answers.filter(({ status, headers }) => status === 201 && !headers.has('idempotent-replayed'))
    assert.equal(fresh.length, 1)
    for (const { status, body } of answers) {
      if (status === 201) assert.equal(body.id, fresh[0]?.body.id)
      else assert.equal(body.code, 'request_in_progress')
    }
    assert.equal((await pix.bank.book()).charges.length, round)
  }
})

test('[partner-inbox.3] [events.4] charges of A are paid once, however often and wherever the bank reports it', {
  timeout: 60_000,
}, async (t) => {
  const { pix, a, b } = await twins(t)
  pix.links.events.judge = () => 'cut'
  const orders = ordersOf('order', 20)
  const charges = await Promise.all(
    orders.map(async (order) => {
      const { id } = await pix.charge(order)
      await pix.end(id, 'pay')
      return paidCharge({ ...order, id })
    }),
  )
  const events = (await pix.bank.book()).events.pending
  assert.equal(events.length, charges.length)
  const postToAll = (...processes: readonly Process[]) =>
    Promise.all(events.flatMap((body) => processes.map(({ url }) => postEvent({ url, clock: { now: wallNow } }, body))))
  const answers = [...(await postToAll(b)), ...(await postToAll(a, b, a, b))]
  assert.deepEqual(new Set(answers), new Set([200]))
  // The bank itself has not got through yet: here it comes with the same once more.
  pix.links.events.judge = () => 'pass'
  await finished(pix)
  await assertExactlyOnce(pix, charges)
  await assertShown(pix, charges)
})

test('[api-keys.4] a key created at A works at B, and deactivated at A it is refused at B within 5 s', async (t) => {
  const { a, b } = await twins(t)
  const admin = (process: Process, method: string, path: string) => process.call(method, path, ADMIN_TOKEN)
  const { apiKey } = (await admin(a, 'POST', '/api-key/generate')).body
  const balance = (process: Process) => process.call('GET', '/organization/balance', apiKey)
  assert.equal((await balance(b)).status, 200)

  const [{ id }] = (await admin(b, 'GET', '/api-key')).body.data
  assert.equal((await admin(a, 'DELETE', `/api-key/${id}`)).status, 204)
  assert.equal((await balance(a)).status, 401)
  await b.server.advance(limits.apiKeyCacheMs)
  assert.equal((await balance(b)).status, 401)
})

test('[cash-in.work.2] [partner-inbox.3] A is killed in the middle of its work, B continues it and its own', {
  timeout: 60_000,
}, async (t) => {
  const { pix, b } = await twins(t)
  const selling = [pix, pix, pix, b, b, b].map((merchant, index) => sell(pix, merchant, ordersOf(`order-${index}`, 8)))
  await killWhileItBooks(pix)
  for (const link of [pix.links.api, pix.links.events]) link.target = b.port
  await b.server.advance(LATER_MS)

  const sold = (await Promise.all(selling)).flat()
  await finished(pix)
  await assertExactlyOnce(pix, sold)
  await assertShown(pix, sold)
  const takenUp = (await inbox(pix.database)).filter(({ attempts }) => attempts > 0)
  assert.notEqual(takenUp.length, 0, 'A has left nothing to carry on with')
})

/** Later than every lease that a dead process leaves. */
const LATER_MS = 90_000

/** One of the two, and a merchant's program that asks once. */
interface Process {
  readonly url: string
  call(method: string, path: string, token: string, body?: object, headers?: Record<string, string>): Promise<Answer>
  create(transaction: object, idempotencyKey?: string): Promise<Answer>
}

/** A is the first process of the world, B its neighbour. */
async function twins(t: TestContext): Promise<{ pix: ProcessWorld; a: Process; b: Process & Neighbour }> {
  const pix = await processWorld(t)
  const neighbour = await pix.startNeighbour()
  return { pix, a: processAt(pix.url, pix.apiKey), b: { ...neighbour, ...processAt(neighbour.url, pix.apiKey) } }
}

function processAt(url: string, apiKey: string): Process {
  const call: Process['call'] = async (method, path, token, body, headers) => {
    const answer = await ask(url + path, token, method, body, headers)
    assert.ok(answer, `${method} ${path} was not answered`)
    return answer
  }
  return {
    url,
    call,
    create: (transaction, key) =>
      call('POST', '/api/pix/cash-in', apiKey, { transaction }, key === undefined ? {} : { 'idempotency-key': key }),
  }
}

function ordersOf(name: string, count: number): Order[] {
  return Array.from({ length: count }, (_, index) => ({ externalId: `${name}-${index}`, valueCents: 1_00 + index }))
}

/** One order after the other, paid at once, with whatever patience it takes. */
async function sell({ end }: ProcessWorld, merchant: Merchant, orders: readonly Order[]): Promise<Ended[]> {
  const sold: Ended[] = []
  for (const order of orders) {
    const { id } = await merchant.charge(order)
    await end(id, 'pay')
    sold.push(paidCharge({ ...order, id }))
  }
  return sold
}

/** Lets A die when it is about to book for the fifth time: events are stored and claimed, and not applied. */
function killWhileItBooks({ links, server }: ProcessWorld): Promise<unknown> {
  let bookings = 0
  links.database.judge = (direction, bytes) => {
    if (direction === 'request' && bytes.includes('partner.confirmed')) bookings += 1
    if (bookings < 5) return 'pass'
    server.kill()
    return 'cut'
  }
  return server.gone
}
