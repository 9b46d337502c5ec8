import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { StatementEntry } from '../../../src/banks/port.ts'
import { verify } from '../../../src/ledger/verify/store.ts'
import { withSnapshot } from '../../../src/platform/db/snapshot.ts'
import { assertBooks, balances } from '../../support/books.ts'
import { administer } from '../../support/database.ts'
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
  assert.deepEqual(body.effects.accounts, [], 'no account has more or less by it')
  assert.deepEqual(await balances(pix.database), before)
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

/** Two payments, of which the bank tells the one with so much more and the other with so much less; all of that is in clearing. */
async function differing(t: TestContext, cents: bigint) {
  const more = new Map<string, bigint>()
  const entries = new Map<string, StatementEntry>()
  const pix = await desk(
    t,
    {},
    {
      bank: (simulated) => ({
        ...simulated,
        readStatement: async (query) => {
          const answer = await simulated.readStatement(query)
          if (answer.kind !== 'READ') return answer
          for (const entry of answer.page.entries) entries.set(entry.movementId, entry)
          // All of it in every page, as if it had been booked just now.
          const told = [...entries.values()].map((entry) => ({
            ...entry,
            valueCents: entry.valueCents + (more.get(entry.movementId) ?? 0n),
            occurredAt: query.to - 1,
          }))
          return { ...answer, page: { ...answer.page, entries: told } }
        },
      }),
    },
  )
  const paid = async (difference: bigint) => {
    const charge = await pix.charge('10.00')
    const { endToEndId } = await pix.bankAction(`charges/${charge.id}/pay`)
    more.set(endToEndId, difference)
    return String(endToEndId)
  }
  const [one, other] = [await paid(cents), await paid(-cents)]
  const minutes = async (count: number) => {
    for (let minute = 0; minute < count; minute += 1) await pix.later(60_000)
  }
  await minutes(8)
  for (const { id } of (await pix.read('?kind=statement_differs')).data) await pix.decide(id, 'clear')
  const inClearing = async (endToEndId: string): Promise<string | undefined> =>
    (await pix.read('?kind=in_clearing')).data.find(({ reference }: { reference: string }) =>
      reference.endsWith(endToEndId),
    )?.id
  const tellAsBooked = async (endToEndId: string) => {
    more.delete(endToEndId)
    await minutes(3)
    const [again, ...others] = (await pix.read('?kind=statement_differs')).data
    assert.ok(again && others.length === 0, 'it is a case that it is told otherwise again')
    assert.equal((await pix.decide(again.id, 'clear')).status, 200)
  }
  return { ...pix, one, other, minutes, inClearing, tellAsBooked }
}

for (const [told, direction] of [
  ['one', -100n],
  ['other', 100n],
] as const) {
  test(`[desk.55] [desk.56] what is told again of two that were closed against each other is in clearing with a case: ${told}`, async (t) => {
    const pix = await differing(t, 100n)
    const [id, against] = [await pix.inClearing(pix.one), await pix.inClearing(pix.other)]
    assert.ok(id && against)
    assert.equal((await pix.decide(id, 'close', { evidence: { reference: against } })).status, 200)
    await pix.tellAsBooked(pix[told])
    assert.equal((await balances(pix.database)).clearing, direction)
    const left = await pix.inClearing(pix[told])
    assert.ok(left, 'what is in clearing has an open case')
    await assertBooks(pix.database)
    assert.equal((await pix.decide(left, 'write_off')).status, 200)
    assert.deepEqual(
      [(await balances(pix.database)).clearing, (await balances(pix.database)).losses],
      [undefined, direction],
    )
    assert.deepEqual((await pix.read('?kind=in_clearing')).data, [])
    await assertBooks(pix.database)
  })
}

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
