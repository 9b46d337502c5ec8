import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import { createIds } from '../../src/platform/ids.ts'
import { fanOut } from '../../src/webhooks/feed.ts'
import { caseWorld } from '../cases/fixture.ts'
import { consoleOn } from './fixture.ts'

test('[console.7] a paid charge is shown with the rule of every move, its events, journals and notifications', async (t) => {
  const pix = await caseWorld(t)
  const { detail } = consoleOn(pix.database, pix.clock)
  const { id, correlationId } = await pix.paid('150')
  await fanOut(pix.database, pix.clock.now(), 500, createIds(pix.clock).uuid())
  const shown = await detail(id)
  assert.deepEqual(
    [shown.kind, shown.status, shown.correlationId, shown.valueCents],
    ['cash_in', 'PAID', correlationId, 150_00],
  )
  const { moves, events, journals, notifications } = shown.timeline
  assert.equal(moves.length, shown.version)
  assert.deepEqual([events.length, journals.length, notifications.length], [1, 1, 1])
  for (const { version } of moves) assert.ok(shown.rules[version].length > 0, `the rule of move ${version}`)
  const paid = moves.find(({ to, from }: { to: string; from: string }) => to === 'PAID' && from !== 'PAID')
  assert.deepEqual(
    shown.rules[paid.version].map(({ id }: { id: string }) => id),
    ['cash-in.states.7'],
  )
  const [notification] = notifications
  assert.equal(JSON.parse(shown.bodies[notification.id]).event.status, 'PAID')
  assert.equal(shown.deliveryIds[notification.id].length, 1)
  assert.ok(shown.apiKey.id)
  assert.deepEqual([paid.facts.payerName, paid.facts.payerDocument], [shown.name, shown.document])
})

test('[console.7] a refund has the payer of its charge', async (t) => {
  const pix = await caseWorld(t)
  const { detail, list } = consoleOn(pix.database, pix.clock)
  const { id } = await pix.paid('150')
  const refund = await pix.refundIn(id, 50)
  const { name, document } = await detail(id)
  assert.ok(name)
  for (const shown of [await detail(refund.id), (await list({ kind: 'refund_in' })).data[0]]) {
    assert.deepEqual([shown.id, shown.name, shown.document], [refund.id, name, document])
  }
})

type Action = Readonly<Record<'action' | 'whyNot' | 'maxCents' | 'needsSecondPerson', unknown>>

test('[console.7] a charge offers its refund and cancellation, or the error that each would answer', async (t) => {
  const pix = await caseWorld(t)
  const reads = consoleOn(pix.database, pix.clock)
  const offered = async (id: string, from = reads) =>
    (await from.detail(id)).actions.map(({ action, whyNot, maxCents, needsSecondPerson }: Action) => [
      ...[action, whyNot, maxCents, needsSecondPerson],
    ])
  const open = await pix.charge('10')
  const noMore = ['cancel', 'not_possible_in_state', null, false]
  assert.deepEqual(await offered(open.id), [
    ['refund', 'cash_in_not_paid', 0, false],
    ['cancel', null, null, false],
  ])
  const { id } = await pix.paid('150')
  assert.deepEqual(await offered(id), [['refund', null, 150_00, true], noMore])
  const refund = await pix.refundIn(id, 100)
  assert.deepEqual(await offered(id), [['refund', null, 50_00, false], noMore])
  const left = await reads.detail(id)
  assert.deepEqual(
    [left.related, (await reads.detail(refund.id)).related].map(([{ id }]) => id),
    [refund.id, id],
  )
  const bare = consoleOn(pix.database, pix.clock, { capabilities: new Set() })
  assert.deepEqual(
    (await offered(open.id, bare)).map(([action, whyNot]: unknown[]) => [action, whyNot]),
    [
      ['refund', 'not_supported_by_bank'],
      ['cancel', 'not_supported_by_bank'],
    ],
  )
  await pix.refundIn(id, 50, { externalId: 'rest' })
  assert.deepEqual(await offered(id), [['refund', 'refund_exceeds_available', 0, false], noMore])
  const { id: late } = await pix.paid('150', { externalId: 'late' })
  pix.clock.advance(limits.refundDeadlineDays * 86_400_000 + 1)
  assert.deepEqual(await offered(late), [['refund', 'refund_deadline_exceeded', 150_00, true], noMore])
})

test('[console.7] a charge in doubt names all its cases, the open ones first; an unknown id is not found', async (t) => {
  const pix = await caseWorld(t)
  const { detail } = consoleOn(pix.database, pix.clock)
  const { id, chargeId } = await pix.paidTwice('20')
  const shown = await detail(chargeId)
  assert.deepEqual(
    shown.cases.map((one: { id: string; kind: string }) => [one.id, one.kind]),
    [[id, 'payment_in_suspense']],
  )
  for (const unknown of ['x', '0198c0de-7a11-7000-8000-5f1d3c2b1a09']) {
    await assert.rejects(detail(unknown), { code: 'not_found' })
  }
})
