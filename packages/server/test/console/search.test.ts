import assert from 'node:assert/strict'
import test from 'node:test'
import { administer, notingTexts, planOf, testDatabase } from '../support/database.ts'
import { audit } from '../support/evidence.ts'
import { copyOperation } from '../support/payout-copies.ts'
import { consoleOn, payoutTo, store } from './fixture.ts'

const E2E = 'E9999901020261121131500aB3dE5fG7'

test('[console.8] a text finds operations by every kind of id, person, amount and day, and says which', async (t) => {
  const { url, database } = await testDatabase(t)
  const { search } = consoleOn(database)
  const [charge = '', other = ''] = await store(url, [
    {
      external_id: 'order-1001',
      end_to_end_id: E2E,
      transaction_id: 'txid-1',
      correlation_id: 'checkout-77',
      value_cents: 1234_56,
      facts: { payerName: 'MARIA JOSÉ da Conceição', payerDocument: '52998224725' },
    },
    {
      external_id: 'order-1002',
      end_to_end_id: null,
      transaction_id: null,
      correlation_id: 'c',
      value_cents: 1_00,
      facts: { payerDocument: '***.982.247-**' },
    },
  ])
  const [payout = ''] = await store(url, [
    {
      kind: 'cash_out',
      status: 'RESERVED',
      detail: payoutTo('ana@example.com', 'Ana'),
      created_at: '2026-11-19T13:00:00Z',
    },
  ])
  await administer(url, `INSERT INTO movement VALUES ('in', 'D-return', '${payout}', 1)`)
  const matched: [text: string, match: string, ids: string[]][] = [
    [charge.toUpperCase(), 'id', [charge]],
    ['order-1001', 'external_id', [charge]],
    [E2E, 'end_to_end_id', [charge]],
    ['D-return', 'end_to_end_id', [payout]],
    ['txid-1', 'transaction_id', [charge]],
    ['checkout-77', 'correlation_id', [charge]],
    ['529.982.247-25', 'document', [other, charge]],
    [' ANA@example.com ', 'pix_key', [payout]],
    ['maria jose', 'name', [charge]],
    ['R$ 1.234,56', 'amount', [charge]],
    ['1234,56', 'amount', [charge]],
    ['19/11/2026', 'day', [payout]],
    ['2026-11-19', 'day', [payout]],
    ['31/02/2026', 'none', []],
    ['', 'none', []],
  ]
  for (const [text, match, ids] of matched) {
    const found = await search(text)
    assert.deepEqual(
      found.map(({ match, operation }: { match: string; operation: { id: string } }) => [match, operation.id]),
      ids.map((id) => [match, id]),
      text,
    )
  }
})

test('[console.8] the whole name comes before its beginning, then the newest, and of a common one the newest of all', async (t) => {
  const { url, database } = await testDatabase(t)
  const { search } = consoleOn(database)
  const named = (payerName: string, day: string, status = 'PAID') => ({
    ...{ facts: { payerName }, created_at: `2026-11-${day}T00:00:00Z`, status },
  })
  const [whole = '', common = ''] = await store(url, [named('João', '01'), named('Joao Souza', '02')])
  await copyOperation(url, common, 2_500, {})
  const [newest = ''] = await store(url, [named('Joaozinho', '03')])
  const [open = ''] = await store(url, [named('JOÃO', '01', 'PENDING')])
  const found = await search('joão')
  const [first, second, third] = found.map(({ operation }: { operation: { id: string } }) => operation.id)
  assert.deepEqual([first, second, third, found.length], [open, whole, newest, 20])
})

test('[console.8] a search by a document or a Pix key leaves a row without either; by an id it leaves none', async (t) => {
  const { url, database } = await testDatabase(t)
  const { search } = consoleOn(database)
  const [id = ''] = await store(url, [{ kind: 'cash_in' }])
  for (const text of [id, 'order-1', 'Maria', '150,00']) await search(text)
  assert.deepEqual(await audit(database), [])
  for (const text of ['52998224725', 'ana@example.com', '0198c0de-7a11-7000-8000-5f1d3c2b1a09']) await search(text)
  const rows = await audit(database)
  assert.deepEqual(
    rows.map(({ action, facts }) => [action, facts]),
    ['document', 'pix_key', 'pix_key'].map((by) => ['operation.searched', { by }]),
  )
  assert.doesNotMatch(JSON.stringify(rows), /52998224725|example/)
})

test('[console.8] names and references are found by their indexes', async (t) => {
  const { url, database } = await testDatabase(t)
  const [id = ''] = await store(url, [{ status: 'PAID', facts: { payerName: 'Maria' } }])
  await copyOperation(url, id, 5_000, { end_to_end_id: 'gen_random_uuid()::text' })
  const { texts, noting } = notingTexts(database)
  await consoleOn(noting).search('Maria')
  const plans = await Promise.all(texts.map((text) => planOf(url, text)))
  for (const plan of plans) assert.doesNotMatch(plan, /Seq Scan on operation/, plan)
  assert.match(plans.join(), /operation_person_name/)
  assert.match(plans.join(), /operation_end_to_end_id/)
})
