import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { verifyAudit } from '../../src/audit/chain.ts'
import { EVENTS_LOST, type TamperedWorld, tamperedWorld } from '../bank-statement/tampering-bank.ts'
import { decidingOver, shapeOf } from '../cases/without-operation/fixture.ts'
import { assertBooks, balances } from '../support/books.ts'
import { caseFacts, stands, statementEntries } from '../support/evidence.ts'
import { postEvent } from '../support/partner-events.ts'
import { minutes } from '../support/stepping.ts'
import type { Answer, World } from '../support/world.ts'

/** The bank's statement and the books differ in money that left: an operator decides, and what comes later is booked once. */

const STRANGER = '0198c0de7a11700080005f1d3c2b1a09'

/** R$ 900.00 are available, at a bank whose answers can be changed. */
async function funded(t: TestContext) {
  const pix = await tamperedWorld(t)
  await pix.balance(900_00)
  await minutes(pix, 2)
  /** Money that left is settled: our books are the bank's, and stay so while it is read again. */
  const assertSettled = async (expected: Record<string, bigint>, stood: Awaited<ReturnType<typeof stands>>) => {
    for (const wait of [0, 10, 60]) {
      await minutes(pix, wait)
      assert.deepEqual(await balances(pix.database), expected)
      assert.deepEqual(await stands(pix), stood)
      await pix.assertBooksAgree()
    }
    assert.deepEqual((await verifyAudit(pix.database, { keys: [] })).faults, [])
  }
  return { ...decidingOver(pix), pix: Object.assign(pix, { assertSettled }) }
}

function payoutLines(change: (entry: Answer['body']) => object[]): TamperedWorld['tamper'] {
  return (call, { status, body }) => {
    if (call !== 'GET /statement') return undefined
    const entries = body.entries.flatMap((entry: Answer['body']) =>
      entry.kind === 'PAYOUT_SENT' ? change(entry) : entry,
    )
    return { status, body: { ...body, entries } }
  }
}

async function lateEvents(pix: World): Promise<void> {
  const { pending } = (await pix.bank('GET', '/control/book')).body.events
  assert.ok(pending.length > 0)
  for (const event of pending) assert.equal(await postEvent(pix, event, { endpoint: 'cash-out' }), 200)
  await minutes(pix, 2)
}

test('[statement.6] [trip-wire.2] [cases.53] [cash-out.states.11] an unexplained debit is booked on its payout, and its repeated event and line change nothing', async (t) => {
  const { pix, ...deciding } = await funded(t)
  await pix.behave({ cashOut: 'manual', ...EVENTS_LOST })
  const { id } = await pix.cashOut()
  await pix.until(`/api/pix/cash-out/${id}`, ({ transactionId }) => transactionId !== null)
  const named = payoutLines((entry) => [{ ...entry, reference: STRANGER }])
  // The line names no party, and the bank gives no answer about the payout.
  pix.tamper = (call, answer) => (call.startsWith('GET /payouts') ? { status: 500, body: {} } : named(call, answer))
  const { endToEndId } = await pix.bankAction(`payouts/${id}/confirm`)
  await minutes(pix, 4)
  assert.deepEqual(await stands(pix), { isSuspended: false, cases: [], notified: ['PAID'] })
  await minutes(pix, 4)
  const found = { isSuspended: true, notified: ['PAID'] }
  assert.deepEqual(await stands(pix), { ...found, cases: ['unexplained_debit'] })
  const [facts] = await caseFacts(pix.database, 'unexplained_debit')
  assert.partialDeepStrictEqual(facts, { rule: 'statement.6', movementId: endToEndId, valueCents: 30_00 })
  assert.deepEqual(await balances(pix.database), { available: 870_00n, reserved: 30_00n, settlement: -900_00n })
  assert.equal((await pix.get(`/api/pix/cash-out/${id}`)).status, 'DISPATCHED')

  const { effects } = await deciding.decide('unexplained_debit', 'book', { operationId: id })
  assert.partialDeepStrictEqual(shapeOf(effects), { amountCents: 30_00, statuses: ['CONFIRMED'] })
  const payout = await pix.get(`/api/pix/cash-out/${id}`)
  assert.deepEqual([payout.status, payout.endToEndId, payout.valueCents], ['CONFIRMED', endToEndId, 30_00])
  const booked = { available: 870_00n, settlement: -870_00n }
  const ended = ['unexplained_debit (closed)']
  const known = { isSuspended: true, notified: ['PAID', 'CONFIRMED'] }
  await minutes(pix, 1)
  assert.deepEqual([await balances(pix.database), await stands(pix)], [booked, { ...known, cases: ended }])

  // The bank answers again, its event arrives, and the line is listed once more, now by the reference of the payout.
  pix.tamper = () => undefined
  await lateEvents(pix)
  assert.deepEqual(await stands(pix), { ...known, cases: [...ended, 'line_differs'] }, 'it was listed otherwise before')
  assert.deepEqual(await balances(pix.database), booked)
  assert.deepEqual(await deciding.offered('line_differs'), ['close'], 'no money differs')
  await deciding.decide('line_differs', 'close')
  await pix.assertSettled(booked, { ...known, cases: [...ended, 'line_differs (closed)'] })
  assert.ok((await statementEntries(pix.database)).includes(`PAYOUT_SENT ${endToEndId} MATCHED`))
})

test('[statement.8] [cases.54] [cases.56] a payout that the statement lacks is credited back, and its later line is booked by a decision', async (t) => {
  const { pix, ...deciding } = await funded(t)
  pix.tamper = payoutLines(() => [])
  const { id } = await pix.cashOut()
  await pix.until(`/api/pix/cash-out/${id}`, ({ status }) => status === 'CONFIRMED')
  const { endToEndId } = await pix.get(`/api/pix/cash-out/${id}`)
  await minutes(pix, 7)
  const notified = ['PAID', 'CONFIRMED']
  assert.deepEqual(await stands(pix), { isSuspended: false, cases: ['line_missing'], notified })
  const [facts] = await caseFacts(pix.database, 'line_missing')
  assert.partialDeepStrictEqual(facts, { rule: 'statement.8', operationId: id, movementId: endToEndId })
  const left = { available: 870_00n, settlement: -870_00n }
  assert.deepEqual(await balances(pix.database), left)

  assert.deepEqual(await deciding.offered('line_missing'), ['credit', 'write_off'])
  const { effects } = await deciding.decide('line_missing', 'credit')
  assert.equal(effects?.amountCents, 30_00)
  const credited = { available: 900_00n, settlement: -900_00n }
  await minutes(pix, 1)
  assert.deepEqual(await balances(pix.database), credited)
  assert.deepEqual(await stands(pix), { isSuspended: false, cases: ['line_missing (closed)'], notified })
  assert.equal((await pix.get(`/api/pix/cash-out/${id}`)).status, 'CONFIRMED')
  await assertBooks(pix.database)

  pix.tamper = () => undefined
  await minutes(pix, 10)
  assert.deepEqual(await balances(pix.database), credited, 'nothing is undone in silence')
  const again = ['line_missing (closed)', 'unexplained_debit']
  assert.deepEqual(await stands(pix), { isSuspended: false, cases: again, notified })
  const refused = { code: 'not_possible_in_state' }
  await assert.rejects(deciding.decide('unexplained_debit', 'book', { operationId: id }), refused, 'the payout has it')
  await deciding.decide('unexplained_debit', 'debit')
  await pix.assertSettled(left, {
    isSuspended: false,
    cases: again.map((kind) => kind.replace(/t$/, 't (closed)')),
    notified,
  })
  assert.equal((await pix.get(`/api/pix/cash-out/${id}`)).status, 'CONFIRMED')
})
