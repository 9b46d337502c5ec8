import assert from 'node:assert/strict'
import test from 'node:test'
import { closedPort } from '../../../server/test/banks/pixgate/scripted-bank.ts'
import { balances } from '../../../server/test/support/books.ts'
import { notifiedStatuses } from '../../../server/test/support/evidence.ts'
import { until } from '../../../server/test/support/until.ts'
import { world } from '../../../server/test/support/world.ts'

const STEPPED = { isStepped: true }

test('[sandbox.1] [sandbox.2] pay makes the bank report a payment by a signed event, each with its own id', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id } = await pix.charge('10.00')
  const ids: string[] = []
  for (const order of [{ payerName: 'João' }, {}, { valueCents: 5 }]) {
    const { status, body } = await pix.call('POST', `/sandbox/cash-in/${id}/pay`, order)
    assert.equal(status, 202)
    assert.equal(body.accepted, true)
    ids.push(body.endToEndId)
  }
  assert.equal(new Set(ids).size, 3)
  const detail = await pix.becomes(id, 'PAID')
  assert.ok(ids.includes(detail.endToEndId))
  await until(async () => (await balances(pix.database)).settlement === -2005n)
  assert.deepEqual(await notifiedStatuses(pix.database), ['PAID'])
  await pix.assertBooksAgree()
})

test('[sandbox.2] pay needs no body and also pays an expired charge', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id } = await pix.charge('10.00', { expirationTime: 1 })
  await pix.later(3_001)
  assert.equal((await pix.read(id)).status, 'EXPIRED')
  assert.equal((await pix.call('POST', `/sandbox/cash-in/${id}/pay`)).status, 202)
  await pix.becomes(id, 'PAID')
})

test('[sandbox.3] fail fails a charge, and gets 409 if the charge cannot fail any more', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const [failed, paid] = [await pix.charge('10.00'), await pix.charge('10.00')]
  const fail = async (id: string) => {
    const { status, body } = await pix.call('POST', `/sandbox/cash-in/${id}/fail`)
    return [status, body.code ?? body.accepted]
  }
  assert.deepEqual(await fail(failed.id), [202, true])
  await pix.becomes(failed.id, 'FAILED')
  assert.deepEqual(await fail(failed.id), [409, 'not_possible_in_state'])
  await pix.call('POST', `/sandbox/cash-in/${paid.id}/pay`)
  assert.deepEqual(await fail(paid.id), [409, 'not_possible_in_state'])
  const { status } = await pix.call('POST', `/sandbox/cash-in/${failed.id}/pay`)
  assert.equal(status, 409, 'and a failed charge is not paid either')
})

test('[sandbox.1] an unknown cash-in gets 404, an invalid order 400, a missing key 401', async (t) => {
  const pix = await world(t, {}, STEPPED)
  const { id, providerTransactionId } = await pix.charge('10.00')
  for (const control of ['pay', 'fail']) {
    for (const other of [providerTransactionId, 'order-1', '0198c0de-7a11-7000-8000-5f1d3c2b1a09']) {
      assert.equal((await pix.call('POST', `/sandbox/cash-in/${other}/${control}`)).status, 404, other)
    }
    const stranger = await pix.call('POST', `/sandbox/cash-in/${id}/${control}`, undefined, {
      authorization: 'Bearer x',
    })
    assert.equal(stranger.status, 401)
  }
  for (const order of [
    { valueCents: 0 },
    { valueCents: 1.5 },
    { valueCents: '1' },
    { payerName: 7 },
    { status: 'PAID' },
  ]) {
    assert.equal((await pix.call('POST', `/sandbox/cash-in/${id}/pay`, order)).status, 400, JSON.stringify(order))
  }
})

test('[sandbox.1] a bank that does not respond causes 503', async (t) => {
  const short = { PIXGATE_PARTNER_TIMEOUT_MS: '200', PIXGATE_PARTNER_CREATE_BUDGET_MS: '200' }
  const pix = await world(t, short, { ...STEPPED, bankUrl: await closedPort() })
  const { id } = await pix.charge('10.00')
  for (const control of ['pay', 'fail']) {
    const { status, body } = await pix.call('POST', `/sandbox/cash-in/${id}/${control}`)
    assert.deepEqual([status, body.code], [503, 'partner_unavailable'])
  }
})
