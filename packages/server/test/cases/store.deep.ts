import assert from 'node:assert/strict'
import test from 'node:test'
import { caseKinds } from '@pixgate/spec'
import { statement } from '../../src/platform/db/database.ts'
import type { Answer } from '../support/world.ts'
import { caseWorld } from './fixture.ts'

const idsOf = ({ data }: Answer['body']) => data.map(({ id }: Answer['body']) => id)

test('[cases.30] [cases.31] cases are listed with what they mean, oldest first, by what they are narrowed to', async (t) => {
  const pix = await caseWorld(t)
  const first = await pix.paidTwice('10.00')
  await pix.later(60_000)
  const second = await pix.paidTwice('25.00')
  const { data, pagination } = await pix.read('')
  assert.deepEqual(
    data.map(({ kind, state, amountCents, operation }: Answer['body']) => [kind, state, amountCents, operation.id]),
    [
      ['payment_in_suspense', 'open', 1000, first.chargeId],
      ['payment_in_suspense', 'open', 2500, second.chargeId],
    ],
  )
  assert.equal(data[0].meaning, caseKinds.payment_in_suspense.meaning)
  assert.deepEqual([data[0].operation.kind, data[0].operation.status], ['cash_in', 'PAID'])
  assert.deepEqual(pagination, { limit: 20, hasMore: false, nextCursor: null })

  const [one, two] = idsOf({ data })
  for (const [query, expected] of [
    ['?kind=payment_in_suspense', [one, two]],
    ['?kind=debit_in_suspense', []],
    ['?state=closed', []],
    [`?operation_id=${second.chargeId}`, [two]],
    ['?min_cents=1001', [two]],
    ['?max_cents=1000', [one]],
    ['?min_cents=1000&max_cents=2500', [one, two]],
    [`?opened_from=${data[1].openedAt}`, [two]],
    [`?opened_before=${data[1].openedAt}`, [one]],
  ] as const) {
    assert.deepEqual(idsOf(await pix.read(query)), expected, query)
  }
  const page = await pix.read('?limit=1')
  assert.deepEqual([idsOf(page), page.pagination.hasMore], [[one], true])
  const rest = await pix.read(`?limit=1&cursor=${page.pagination.nextCursor}`)
  assert.deepEqual([idsOf(rest), rest.pagination], [[two], { limit: 1, hasMore: false, nextCursor: null }])
})

test('[cases.31] closed cases are listed apart, last closed first, in pages', async (t) => {
  const pix = await caseWorld(t)
  await pix.paidTwice('10.00')
  await pix.paidTwice('25.00')
  const [one, two] = idsOf(await pix.read(''))
  const close = statement<[id: string, seconds: number]>(
    'test.close',
    `UPDATE "case" SET closed_at = now() + $2 * interval '1 second' WHERE id = $1`,
  )
  await pix.database.rows(close, [two, 1])
  await pix.database.rows(close, [one, 2])
  assert.deepEqual(idsOf(await pix.read('')), [])
  const page = await pix.read('?state=closed&limit=1')
  assert.deepEqual([idsOf(page), page.data[0].state], [[one], 'closed'])
  assert.deepEqual(idsOf(await pix.read(`?state=closed&limit=1&cursor=${page.pagination.nextCursor}`)), [two])
  assert.deepEqual(idsOf(await pix.read(`?state=closed&cursor=${two}`)), [])
  await pix.database.rows(
    statement('test.reopen', `UPDATE "case" SET closed_at = NULL WHERE kind = 'payment_in_suspense'`),
    [],
  )
  const lost = await pix.call('GET', `/operator/cases?state=closed&cursor=${one}`, undefined, pix.ana)
  assert.deepEqual([lost.status, lost.body.errors[0]?.field], [400, 'cursor'])
})

test('[cases.30] a page of open cases is one walk along an index, whatever is closed', async (t) => {
  const pix = await caseWorld(t)
  const fill = statement(
    'test.fill',
    `INSERT INTO "case" (id, kind, reference, facts, amount_cents, opened_at, closed_at)
     SELECT gen_random_uuid(), 'event_set_aside', n::text, '{"valueCents": 5}', 5, now(), CASE WHEN n % 100 > 0 THEN now() END
       FROM generate_series(1, 20000) n`,
  )
  await pix.database.rows(fill, [])
  await pix.database.rows(statement('test.analyze', 'ANALYZE "case"'), [])
  const plan = statement<[], { 'QUERY PLAN': string }>(
    'test.plan',
    `EXPLAIN (COSTS off) SELECT c.* FROM "case" c
      WHERE c.closed_at IS NULL AND c.kind = 'event_set_aside' ORDER BY c.opened_at, c.id LIMIT 21`,
  )
  const text = (await pix.database.rows(plan, [])).map((row) => row['QUERY PLAN']).join('\n')
  assert.match(text, /Index Scan using case_list_open/)
  assert.doesNotMatch(text, /Sort|Seq Scan/)
  const { data } = await pix.read('?kind=event_set_aside&limit=1')
  assert.deepEqual(
    [data[0].operation, data[0].amountCents, data[0].meaning],
    [null, 5, caseKinds.event_set_aside.meaning],
  )
})

test('[cases.32] [cases.33] a case is read with the whole timeline of its operation', async (t) => {
  const pix = await caseWorld(t)
  const { chargeId } = await pix.paidTwice('10.00')
  const [id] = idsOf(await pix.read(''))
  const before = await pix.read(`/${id}`)
  const { timeline, version, facts, reference } = before
  assert.equal(facts.valueCents, 1000)
  assert.equal(version, '1')
  assert.deepEqual(
    [timeline.request.valueCents, timeline.request.detail.description, timeline.truncated],
    [1000, null, []],
  )
  assert.match(timeline.request.apiKeyId, /^[0-9a-f-]{36}$/)
  assert.deepEqual(
    timeline.moves.map(({ trigger }: Answer['body']) => trigger).filter((on: string) => /^(create|partner)/.test(on)),
    ['create', 'partner.confirmed', 'partner.confirmed'],
  )
  assert.equal(timeline.calls.stated.length, 2)
  assert.ok(timeline.calls.counted.some(({ trigger }: Answer['body']) => trigger === 'charge.accepted'))

  assert.deepEqual(
    timeline.events.map(({ body }: Answer['body']) => JSON.parse(Buffer.from(body, 'base64').toString()).valueCents),
    [1000, 1000],
  )
  assert.deepEqual(
    timeline.journals.map(({ journal, reference: of }: Answer['body']) => [journal, of === reference]),
    [
      ['cash_in_paid', false],
      ['arrived_unattributed', true],
    ],
  )
  for (const { entries } of timeline.journals) {
    assert.equal(
      entries.reduce((sum: number, { amountCents }: Answer['body']) => sum + amountCents, 0),
      0,
    )
  }
  assert.deepEqual(
    timeline.notifications.map(({ status, deliveries }: Answer['body']) => [status, Array.isArray(deliveries)]),
    [['PAID', true]],
  )
  assert.deepEqual(timeline.otherCases, [])

  await pix.bankAction(`charges/${chargeId}/pay`)
  while ((await pix.read(`?operation_id=${chargeId}`)).data.length < 2) await pix.work()
  const after = await pix.read(`/${id}`)
  assert.equal(after.timeline.otherCases.length, 1)
  assert.notEqual(after.version, version, 'something became known')
})

test('[cases.31] an instant whose offset leads out of the years that there are narrows as the end of those years', async (t) => {
  const pix = await caseWorld(t)
  await pix.paidTwice('10.00')
  const first = '0001-01-01T00:00:00%2B00:01'
  const last = '9999-12-31T23:59:59-00:01'
  for (const [query, count] of [
    [`?opened_from=${first}`, 1],
    [`?opened_before=${last}`, 1],
    [`?opened_from=${last}`, 0],
    [`?opened_before=${first}`, 0],
  ] as const) {
    assert.equal((await pix.read(query)).data.length, count, query)
  }
})

test('[cases.32] what is not there is 404, a case about no operation has no timeline', async (t) => {
  const pix = await caseWorld(t)
  for (const id of ['nothing', '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f']) {
    const { status, body } = await pix.call('GET', `/operator/cases/${id}`, undefined, pix.bia)
    assert.deepEqual([status, body.code], [404, 'not_found'])
  }
  const insert = statement(
    'test.loose',
    `INSERT INTO "case" (id, kind, reference, facts, amount_cents, opened_at)
     VALUES ('0198c0f2-3f00-7000-8000-7a8b9c0d1e2f', 'close_differs', 'x', '{"valueCents": 7}', 7, now())`,
  )
  await pix.database.rows(insert, [])
  const found = await pix.read('/0198c0f2-3f00-7000-8000-7a8b9c0d1e2f')
  assert.deepEqual([found.timeline, found.operation, found.amountCents], [null, null, 7])
})
