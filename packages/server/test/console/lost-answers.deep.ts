import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'node:test'
import { caseWorld } from '../cases/fixture.ts'
import { type Chance, chanceOf } from '../fuzz/chance.ts'
import { SEED } from '../support/seed.ts'
import type { Answer } from '../support/world.ts'

/** Orders of the console whose answers are lost, and which are then sent again: each counts once. */

const ROUNDS = 40
const SENT = 5

interface Order {
  readonly method: string
  readonly path: string
  readonly body: object
  readonly headers: Readonly<Record<string, string>>
}

/** Sends an order on a connection that breaks in the middle of it, after it, or at the first byte of the answer. */
async function sendAndBreak(url: string, { method, path, body, headers }: Order, chance: Chance): Promise<void> {
  const { port, host } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined)
  const content = JSON.stringify(body)
  const lines = Object.entries({ ...headers, host, 'content-type': 'application/json' })
  const head = [`${method} ${path} HTTP/1.1`, ...lines.map((line) => line.join(': '))].join('\r\n')
  const whole = `${head}\r\ncontent-length: ${Buffer.byteLength(content)}\r\n\r\n${content}`
  const breaks = chance.pick(['within', 'after', 'answer'] as const)
  await new Promise((resolve) => socket.write(breaks === 'within' ? whole.slice(0, -5) : whole, resolve))
  if (breaks === 'answer') await once(socket, 'data')
  socket.destroy()
}

test('[console.14] [cases.37] 1,000 double clicks, reloads and lost answers order each refund, decision, approval and cancellation once', async (t) => {
  const chance = chanceOf(SEED)
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '1000' })

  /** Sends the order several times, most of them without an answer. @returns the last answer */
  async function insist(order: Order): Promise<Answer> {
    const lost = Array.from({ length: SENT - 1 }, () => sendAndBreak(pix.operatorUrl, order, chance))
    if (chance.bool(0.5)) await Promise.all(lost)
    const { method, path, body, headers } = order
    const answer = await pix.call(method, path, body, headers)
    await Promise.all(lost)
    return answer
  }
  const keyed = () => ({ ...pix.ana, 'idempotency-key': crypto.randomUUID() })
  const orderRefund = (cashInId: string, valueCents: number) =>
    insist({
      method: 'POST',
      path: '/operator/refunds',
      body: { cashInId, valueCents, reason: 'the tests' },
      headers: keyed(),
    })
  const say = (caseId: string, proposalId: string) =>
    insist({
      method: 'PUT',
      path: `/operator/cases/${caseId}/proposals/${proposalId}`,
      body: { approved: true, reason: 'the tests' },
      headers: pix.bia,
    })
  const refundsOf = async (id: string) =>
    (await pix.get(`/api/pix/refund?cash_in_id=${id}`)).data.map(({ valueCents }: Answer['body']) => valueCents)

  for (let round = 0; round < ROUNDS; round += 1) {
    const { id } = await pix.paid('30.00')
    assert.equal((await orderRefund(id, 900)).status, 201)
    assert.deepEqual(await refundsOf(id), [900])
    const { status, body } = await orderRefund(id, 1100)
    assert.equal(status, 202, JSON.stringify(body))
    assert.equal((await say(body.caseId, body.proposalId)).body.outcome, 'approved')
    assert.deepEqual((await refundsOf(id)).sort(), [1100, 900])
    const charge = await pix.charge('5')
    const cancel = { method: 'POST', path: `/operator/cash-ins/${charge.id}/cancel`, body: {}, headers: pix.ana }
    assert.ok([200, 202].includes((await insist(cancel)).status))
    await pix.until(`/api/pix/cash-in/${charge.id}`, ({ status }) => status === 'FAILED')
    const twice = await pix.paidTwice('8.00')
    const { version } = await pix.read(`/${twice.id}`)
    const decision = { decision: 'write_off', reason: 'the tests', version }
    const path = `/operator/cases/${twice.id}/decisions`
    const decided = await insist({ method: 'POST', path, body: decision, headers: keyed() })
    assert.deepEqual([decided.status, decided.body.outcome], [200, 'decided'], JSON.stringify(decided.body))
    const { steps } = await pix.read(`/${twice.id}`)
    assert.equal(steps.length, 1)
    await pix.later(1_000)
  }
  await pix.assertBooksAgree()
})
