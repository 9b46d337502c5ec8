import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { verify } from '../../../src/ledger/verify/store.ts'
import { withSnapshot } from '../../../src/platform/db/snapshot.ts'
import { balances } from '../../support/books.ts'
import { administer } from '../../support/database.ts'
import { desk } from '../fixture.ts'

/** Money in clearing leaves it by a decision: it never stays there without a case. */

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

test('[desk.55] [desk.61] what is in clearing is not closed: of two movements that cancel each other each is decided', async (t) => {
  const pix = await inClearing(t, [1000])
  const [arrived, left] = [await pix.one('in', 1000), await pix.one('out', 1000)]
  for (const id of [arrived, left]) {
    const { options } = await pix.read(`/${id}`)
    assert.ok(!options.some(({ decision }: { decision: string }) => decision === 'close'))
    const { status, body } = await pix.decide(id, 'close', { evidence: { reference: left } })
    assert.deepEqual([status, body.code, body.errors[0].field], [409, 'not_possible_in_state', 'decision'])
  }
  assert.equal((await pix.decide(arrived, 'credit')).status, 200)
  assert.equal((await pix.decide(left, 'debit')).status, 200)
  assert.deepEqual(await balances(pix.database), {})
  assert.deepEqual((await pix.read('?kind=in_clearing')).data, [])
  await pix.assertBooksAgree()
})

test('[desk.55] [ledger.verify.1] what is in clearing under a case that is closed is a fault', async (t) => {
  const pix = await inClearing(t, [1000])
  await administer(pix.databaseUrl, `UPDATE "case" SET closed_at = now() WHERE kind = 'in_clearing'`)
  const { drifts } = await withSnapshot({ url: pix.databaseUrl, name: 'test' }, verify)
  assert.deepEqual(
    drifts.map(({ name, count }) => [name, count]),
    [['clearing', 2]],
    'that they come to nothing together excuses neither',
  )
})
