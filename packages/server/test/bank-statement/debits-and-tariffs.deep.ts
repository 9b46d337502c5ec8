import assert from 'node:assert/strict'
import test from 'node:test'
import { assertBooks, balances } from '../support/books.ts'
import { administer } from '../support/database.ts'
import { caseFacts, cases, payoutSwitch, statementEntries, statementMark } from '../support/evidence.ts'
import { postEvent } from '../support/partner-events.ts'
import { ADMIN_TOKEN, type Answer, type World, type WorldOptions, world } from '../support/world.ts'
import { tamperedWorld } from './tampering-bank.ts'

const MINUTE = 60_000
const STEPPED = { isStepped: true }

/** So many minutes pass, each with a reading of the statement. */
async function minutes(pix: World, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) await pix.later(MINUTE)
}

async function stands({ database }: World) {
  return { ...(await payoutSwitch(database)), cases: await cases(database) }
}

async function adjust({ url }: World, valueCents: number): Promise<Answer['status']> {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ valueCents, reason: 'by hand' })
  return (await fetch(`${url}/operator/adjustments`, { method: 'POST', headers, body })).status
}

test('[trip-wire.1] [trip-wire.2] an ordinary day suspends nothing: payments, payouts that wait, tariffs, refunds, returns, adjustments', async (t) => {
  const pix = await world(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '10000000' }, STEPPED)
  // An opening balance, which the account at the bank need not have.
  assert.equal(await adjust(pix, 1_000_000), 201)
  const { id: cashInId } = await pix.paid('900.00')
  await minutes(pix, 2)
  await pix.behave({ cashOut: 'manual', refundIn: 'manual' })
  const payouts = await Promise.all([1, 2, 3].map(() => pix.cashOut()))
  const refund = await pix.refundIn(cashInId, 100)
  await minutes(pix, 8)
  for (const { id } of payouts) {
    await pix.bankAction(`payouts/${id}/confirm`, { feeCents: 35 })
    await minutes(pix, 1)
  }
  await pix.bankAction(`refunds/${refund.id}/confirm`)
  await pix.bankAction(`payouts/${payouts[0].id}/reverse`)
  await pix.bankAction(`charges/${cashInId}/return`, { valueCents: 5_000 })
  await pix.balance(20_000)
  await minutes(pix, 15)
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: false, cases: [] })
})

test('[cash-out.tariff.1] [statement.4] [CO-23] the bank’s tariffs of payouts are booked from its statement, once each, and the books agree with the bank', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.balance(90_000)
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut()
  const failed = await pix.cashOut()
  await pix.later(0)
  const before = (await balances(pix.database)).available
  await pix.bankAction(`payouts/${id}/confirm`, { feeCents: 35 })
  await pix.bankAction(`payouts/${failed.id}/fail`)
  await minutes(pix, 3)
  const { partner_fees, settlement, available } = await balances(pix.database)
  assert.equal(partner_fees, -35n)
  const { availableCents } = (await pix.bank('GET', '/control/book')).body
  assert.equal(settlement, -BigInt(availableCents))
  assert.ok((available ?? 0n) >= (before ?? 0n), 'the merchant pays the configured fee alone')
  await minutes(pix, 8)
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: false, cases: [] })
  await assertBooks(pix.database)
  // Another reading books nothing again.
  await administer(
    pix.databaseUrl,
    `UPDATE statement_entry SET settled_at = NULL, outcome = NULL WHERE kind = 'TARIFF'`,
  )
  await minutes(pix, 1)
  assert.equal((await balances(pix.database)).partner_fees, -35n)
  assert.ok((await statementEntries(pix.database)).includes(`TARIFF ${await pix.orderIdOf(id)} MATCHED`))
  await assertBooks(pix.database)
})

/** Adds another tariff of R$ 0,12 beside each that the statement has, a second later or at once. */
function withMoreTariffs({ status, body }: Pick<Answer, 'status' | 'body'>, laterMs: readonly number[]) {
  const tariffs = body.entries.filter(({ kind }: { kind: string }) => kind === 'TARIFF')
  const more = tariffs.flatMap((entry: { occurredAt: string }) =>
    laterMs.map((ms) => {
      const occurredAt = new Date(Date.parse(entry.occurredAt) + ms).toISOString()
      return { ...entry, valueCents: 12, occurredAt }
    }),
  )
  return { status, body: { ...body, entries: [...body.entries, ...more] } }
}

test('[statement.4] several tariffs of one payout are each booked, in any window, and the reading goes on', async (t) => {
  const pix = await tamperedWorld(t)
  await pix.balance(90_000)
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut()
  await pix.later(0)
  // Two say the same of themselves.
  pix.tamper = (call, answer) => (call === 'GET /statement' ? withMoreTariffs(answer, [0, 0, 1_000]) : undefined)
  await pix.bankAction(`payouts/${id}/confirm`, { feeCents: 35 })
  await minutes(pix, 20)
  assert.equal((await balances(pix.database)).partner_fees, -71n)
  const tariffs = (await statementEntries(pix.database)).filter((entry) => entry.startsWith('TARIFF'))
  assert.deepEqual([tariffs.length, tariffs.filter((entry) => entry.endsWith(' MATCHED')).length], [4, 4])
  assert.ok(((await statementMark(pix.database)).matchedUntil ?? 0) >= pix.clock.now() - 6 * MINUTE)
  await assertBooks(pix.database)
})

test('[statement.4] a tariff that was kept, or matched without a booking, is processed again', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.balance(90_000)
  const { id } = await pix.cashOut()
  await minutes(pix, 1)
  const orderId = await pix.orderIdOf(id)
  const named = `'TARIFF', 'E1', '${orderId}', '2026-11-22', '2026-11-22', transaction_timestamp()`
  await administer(
    pix.databaseUrl,
    `INSERT INTO statement_entry (direction, id, outcome, operation_id, kind, end_to_end_id, reference, occurred_at, seen_at, settled_at, value_cents)
     VALUES ('out', '${orderId}', 'KEPT', NULL, ${named}, 35), ('out', '${orderId} E1', 'MATCHED', '${id}', ${named}, 12)`,
  )
  await minutes(pix, 1)
  assert.equal((await balances(pix.database)).partner_fees, -47n)
  await assertBooks(pix.database)
})

test('[trip-wire.2] [PL-52] an unknown withdrawal suspends payouts; an operator’s adjustment explains one', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await pix.balance(90_000)
  await minutes(pix, 2)
  const { endToEndId } = (await pix.bank('POST', '/control/debits', { valueCents: 40_000 })).body
  await minutes(pix, 5)
  assert.equal((await stands(pix)).isSuspended, false)
  await minutes(pix, 2)
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: true, cases: ['unexplained_debit'] })
  const [facts] = await caseFacts(pix.database, 'unexplained_debit')
  assert.partialDeepStrictEqual(facts, { movementId: endToEndId, valueCents: 40_000, direction: 'out' })
  assert.equal(await adjust(pix, -40_000), 201)
  await minutes(pix, 2)
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: true, cases: ['unexplained_debit (closed)'] })
  await pix.assertBooksAgree()
})

/** Sends the return of a payout that never came back, signed as the bank signs, and lets eight minutes pass. */
async function madeUpReturn(pix: World): Promise<void> {
  await pix.balance(90_000)
  const { id } = await pix.cashOut({ value: 800 })
  const { endToEndId, providerTransactionId } = await pix.until(
    `/api/pix/cash-out/${id}`,
    ({ status }) => status === 'CONFIRMED',
  )
  const occurredAt = new Date(pix.clock.now()).toISOString()
  const told = { transactionId: providerTransactionId ?? 'tx', externalId: id, endToEndId, valueCents: 80_000 }
  const event = {
    event: 'CashOutReversal',
    eventId: 'forged',
    status: 'CONFIRMED',
    returnId: 'D1',
    occurredAt,
    ...told,
  }
  assert.equal(await postEvent(pix, event, { endpoint: 'cash-out' }), 200)
  await minutes(pix, 8)
}

test('[cash-out.reversal.6] [PL-50] a forged return of a payout credits nothing: the bank, queried, knows none', async (t) => {
  const pix = await world(t, {}, STEPPED)
  await madeUpReturn(pix)
  assert.deepEqual(await balances(pix.database), { available: 10_000n, settlement: -10_000n })
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: false, cases: [] })
  await pix.assertBooksAgree()
})

test('[trip-wire.1] [PL-50] at a bank without queries of payouts it is booked, and the wire suspends payouts', async (t) => {
  const bank: WorldOptions['bank'] = (simulated) => ({
    ...simulated,
    capabilities: new Set([...simulated.capabilities].filter((capability) => capability !== 'query-payout')),
  })
  const pix = await world(t, {}, { ...STEPPED, bank })
  await madeUpReturn(pix)
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: true, cases: ['line_missing'] })
})

test('[trip-wire.2] [PL-52] in a shared account the debits of others are cases', async (t) => {
  const pix = await world(t, { PIXGATE_BANK_ACCOUNT_SHARED: 'true' }, STEPPED)
  await pix.balance(90_000)
  await pix.bank('POST', '/control/debits', { valueCents: 40_000 })
  await minutes(pix, 15)
  assert.partialDeepStrictEqual(await stands(pix), { isSuspended: false, cases: ['unexplained_debit'] })
})
