import assert from 'node:assert/strict'
import test from 'node:test'
import { forgotten, type Story, tellRestored } from '../support/restored-orders.ts'

/** Some of the stories; the others are in restored-orders.deep.ts. */
const STORIES: readonly Story[] = [
  { connector: 'pixgate', kind: 'cash_out', isNoticed: true },
  { connector: 'pixgate', kind: 'cash_out', isNoticed: false, isOther: true },
  { connector: 'pixgate', kind: 'cash_in', isNoticed: false },
  { connector: 'efi', kind: 'refund_in', isNoticed: false },
]

for (const story of STORIES) {
  const { connector, kind, isNoticed, isOther } = story
  const how = `${isNoticed ? 'noticed' : 'unnoticed'}, with ${isOther ? 'other' : 'the same'} terms`
  test(`[ids.4] [restored.4] [restored.5] [DB-46] at ${connector}: a forgotten ${kind} is ordered again, ${how}`, (t) =>
    tellRestored(t, story))
}

test('[ids.4] [DB-46] of two that order at the same moment what was forgotten, one operation is made and adopted', async (t) => {
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
