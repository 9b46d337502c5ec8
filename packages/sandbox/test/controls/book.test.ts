import assert from 'node:assert/strict'
import test from 'node:test'
import { getBankBook } from '@pixgate/spec'
import { answer, scriptedBank } from '../../../server/test/banks/pixgate/scripted-bank.ts'
import { world } from '../../../server/test/support/world.ts'
import { createSimulatorControl } from '../../src/controls/simulator-control.ts'

test('[sandbox.23] the book has the balance and the newest movements first, with their signs', async (t) => {
  const pix = await world(t)
  const { id } = await pix.paid('150')
  await pix.call('POST', `/sandbox/cash-in/${id}/return`, { valueCents: 20_00 })
  const { status, body } = await pix.call('GET', '/sandbox/book')
  const { endToEndId } = await pix.get(`/api/pix/cash-in/${id}`)
  assert.equal(status, 200)
  assert.equal(body.balanceCents, 130_00)
  assert.deepEqual(
    body.entries.map((entry: Record<string, unknown>) => [entry.kind, entry.valueCents, entry.endToEndId]),
    [
      ['PAYMENT_TAKEN_BACK', -20_00, endToEndId],
      ['PAYMENT_RECEIVED', 150_00, endToEndId],
    ],
  )
  assert.deepEqual(
    body.entries.map(({ returnId }: { returnId: string | null }) => returnId?.[0]),
    ['D', undefined],
  )
})

test('[sandbox.23] a book that the bank answers in another shape is no answer', async (t) => {
  const bank = await scriptedBank(t, (response) => answer(response, 200, { balanceCents: '1' }))
  await assert.rejects(createSimulatorControl(bank.link).book(), { code: 'partner_unavailable' })
  const { example } = getBankBook.responses[200]
  const good = await scriptedBank(t, (response) => answer(response, 200, example))
  assert.deepEqual(await createSimulatorControl(good.link).book(), example)
})
