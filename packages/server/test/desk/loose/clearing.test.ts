import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { balances } from '../../support/books.ts'
import { desk } from '../fixture.ts'

/** Money in clearing leaves it, or is cancelled by other money in clearing: it never stays there without a case. */

const STRANGER = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

/** A payment that nothing explains, and debits of the bank that nobody ordered, all of them in clearing. */
async function inClearing(t: TestContext, debits: readonly number[], from = '100000') {
  const pix = await desk(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: from })
  const expiresAt = new Date(pix.clock.now() + 3_600_000).toISOString()
  const merchant = { pixKey: 'loja@example.com', name: 'Loja', city: 'Sao Paulo' }
  await pix.bank('PUT', `/charges/${STRANGER}`, { valueCents: 1000, expiresAt, merchant })
  await pix.bankAction(`charges/${STRANGER}/pay`)
  for (const valueCents of debits) await pix.bank('POST', '/control/debits', { valueCents })
  for (let minute = 0; minute < 10; minute += 1) await pix.later(60_000)
  for (const { id } of (await pix.read('?kind=statement_unexplained')).data) {
    const { body } = await pix.decide(id, 'clear')
    if (body.outcome === 'proposed') await pix.say(id, body.proposalId, true)
  }
  const open: { readonly id: string; readonly amountCents: number }[] = (await pix.read('?kind=in_clearing')).data
  const one = async (wanted: 'in' | 'out', cents: number) => {
    for (const { id, amountCents } of open) {
      const { facts } = await pix.read(`/${id}`)
      if (amountCents === cents && facts.direction === wanted) return id
    }
    return assert.fail(`${wanted} ${cents} is not in clearing`)
  }
  return { ...pix, one }
}

test('[desk.55] what is in clearing is closed with the case that cancels it to the centavo, and with no other', async (t) => {
  const pix = await inClearing(t, [1000, 999])
  const [arrived, left, nearly] = [await pix.one('in', 1000), await pix.one('out', 1000), await pix.one('out', 999)]
  const { options } = await pix.read(`/${arrived}`)
  const close = options.find(({ decision }: { decision: string }) => decision === 'close')
  assert.deepEqual([close.isOffered, close.needs, close.effects], [true, ['reference'], null])
  const before = await balances(pix.database)
  for (const evidence of [{}, { reference: 'letter 7' }, { reference: arrived }, { reference: nearly }]) {
    const { status, body } = await pix.decide(arrived, 'close', { evidence })
    assert.deepEqual([status, body.code, body.errors[0].field], [400, 'validation_error', 'evidence.reference'])
  }
  const { status, body } = await pix.decide(arrived, 'close', { evidence: { reference: left } })
  assert.equal(status, 200, JSON.stringify(body))
  assert.deepEqual(body.effects.closes.toSorted(), [arrived, left].toSorted())
  assert.deepEqual(await balances(pix.database), before, 'no money is booked')
  assert.deepEqual(
    (await pix.read('?kind=in_clearing')).data.map(({ id }: { id: string }) => id),
    [nearly],
  )
  const late = await pix.decide(nearly, 'close', { evidence: { reference: left } })
  assert.equal(late.status, 400, 'what is closed cancels nothing more')
  await pix.assertBooksAgree()
})

test('[desk.46] what is closed in clearing counts with its amount', async (t) => {
  const pix = await inClearing(t, [1000], '1000')
  const [arrived, left] = [await pix.one('in', 1000), await pix.one('out', 1000)]
  const { body } = await pix.decide(arrived, 'close', { evidence: { reference: left } })
  assert.deepEqual([body.outcome, body.effects.amountCents], ['proposed', 1000])
  assert.equal((await pix.say(arrived, body.proposalId, true)).body.outcome, 'approved')
  assert.deepEqual((await pix.read('?kind=in_clearing')).data, [])
})
