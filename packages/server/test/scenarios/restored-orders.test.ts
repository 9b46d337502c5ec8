import assert from 'node:assert/strict'
import test from 'node:test'
import { enable, forgotten, type Story, tellRestored } from '../support/restored-orders.ts'
import { minutes } from '../support/stepping.ts'

/** Some of the stories; the others are in restored-orders.deep.ts. */
const STORIES: readonly Story[] = [
  { connector: 'pixgate', kind: 'cash_out', isNoticed: true },
  { connector: 'pixgate', kind: 'cash_out', isNoticed: false, other: 'amount' },
  { connector: 'pixgate', kind: 'cash_out', isNoticed: true, other: 'recipient' },
  { connector: 'pixgate', kind: 'cash_in', isNoticed: false },
  { connector: 'efi', kind: 'refund_in', isNoticed: false },
]

for (const story of STORIES) {
  const { connector, kind, isNoticed, other } = story
  const how = `${isNoticed ? 'noticed' : 'unnoticed'}, with ${other === undefined ? 'the same terms' : `another ${other}`}`
  test(`[ids.4] [restored.4] [restored.5] [DB-46] at ${connector}: a forgotten ${kind} is ordered again, ${how}`, (t) =>
    tellRestored(t, story))
}

test('[ids.4] [DB-46] two simultaneous requests for a forgotten order make one operation, which is adopted', async (t) => {
  const { order, settled, made, assertBooksAgree } = await forgotten(t, {
    connector: 'pixgate',
    kind: 'cash_out',
    isNoticed: false,
  })
  const answers = await Promise.all([order(), order()])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 409])
  const id = answers.find(({ status }) => status === 201)?.body.id
  assert.equal((await settled(id)).status, 'CONFIRMED')
  assert.equal(await made(), 1)
  await assertBooksAgree()
})

test('[ids.4] [restored.5] [DB-46] a forgotten payout with a case from the statement is adopted, and its case closes', async (t) => {
  const { pix, order, settled, made, openCases, assertBooksAgree } = await forgotten(t, {
    connector: 'pixgate',
    kind: 'cash_out',
    isNoticed: true,
  })
  const kinds = async () => (await openCases()).map(({ kind }) => kind)
  await minutes(pix, 8)
  assert.deepEqual(await kinds(), ['unexplained_debit'])
  await enable(pix)
  const { status, body } = await order()
  assert.equal(status, 201, JSON.stringify(body))
  assert.equal((await settled(body.id)).status, 'CONFIRMED')
  await minutes(pix, 8)
  assert.deepEqual(await kinds(), [])
  assert.equal(await made(), 1, 'the bank was not told a second time')
  await assertBooksAgree()
})
