import assert from 'node:assert/strict'
import test from 'node:test'
import { verifyAudit } from '../../../server/src/audit/chain.ts'
import { dayAfter } from '../../../server/src/platform/sao-paulo.ts'
import { centsOf, readCsv } from '../../../server/test/closes/csv-reading.ts'
import { balancesOf, closeWorld } from '../../../server/test/closes/fixture.ts'

test('[sandbox.22] [close.13] today is closed now, once; the next day begins there and is closed as any other', async (t) => {
  const pix = await closeWorld(t)
  const closeToday = () => pix.call('POST', '/sandbox/close')
  const refused = async () => {
    const { status, body } = await closeToday()
    assert.deepEqual([status, body.code], [409, 'not_possible_in_state'])
  }
  await refused()
  await pix.balance(10_00)
  await pix.later(1)
  const today = pix.today()
  const made = await closeToday()
  assert.deepEqual([made.status, made.body.id, made.body.status], [201, today, 'UNCONFIRMED'])
  await refused()
  await pix.balance(5_00)
  const early = await pix.close(today)
  assert.equal(early.hash, made.body.hash)
  assert.deepEqual(balancesOf(early, 'closingCents'), { available: 10_00, settlement: -10_00 })

  await pix.endDay()
  const next = await pix.close(await pix.endDay())
  assert.deepEqual([next.id, next.from, next.status], [dayAfter(today), early.to, 'BALANCED'])
  assert.deepEqual(balancesOf(next, 'openingCents'), balancesOf(early, 'closingCents'))
  const amounts = []
  for (const day of [today, next.id]) {
    const { body } = await pix.operator('GET', `/operator/closes/${day}/csv`)
    amounts.push(readCsv(body).map(({ Data, Valor }) => [Data, centsOf(Valor)]))
  }
  assert.deepEqual(amounts, [[[today, 10_00n]], [[today, 5_00n]]])
  const { data } = (await pix.operator('GET', '/operator/closes')).body
  assert.deepEqual(
    data.map(({ id }: { id: string }) => id),
    [next.id, today],
  )
  assert.deepEqual((await verifyAudit(pix.database, { keys: [] })).faults, [])
  await pix.assertBooksAgree()
})

test('[close.13] a day is not closed before the days before it', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(10_00)
  pix.clock.advance(86_400_000)
  const { status, body } = await pix.call('POST', '/sandbox/close')
  assert.deepEqual([status, body.code], [409, 'not_possible_in_state'])
})
