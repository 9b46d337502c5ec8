import assert from 'node:assert/strict'
import test from 'node:test'
import { payment } from '../support/engine.ts'
import { bookedMovements, caseFacts, cases, statementEntries } from '../support/evidence.ts'
import { pageOf, paymentOf, workshop } from './fixture.ts'

const STRANGER = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

test('[statement.6] [PL-11] what names no operation of ours is a case after five minutes, once', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  shop.bank.answer = () => pageOf([paymentOf(charge, 'E1', { reference: STRANGER })])
  await shop.sweep()
  await shop.minutes(4)
  assert.deepEqual(await cases(shop.database), [])
  await shop.minutes(1)
  assert.deepEqual(await cases(shop.database), ['statement_unexplained'])
  const [facts] = await caseFacts(shop.database, 'statement_unexplained')
  assert.partialDeepStrictEqual(facts, {
    entry: 'PAYMENT_RECEIVED',
    movementId: 'E1',
    reference: STRANGER,
    valueCents: 100_00,
  })
  await shop.minutes(10)
  assert.deepEqual(await cases(shop.database), ['statement_unexplained'])
})

test('[statement.6] its case closes by itself when our books have it after all', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  const entry = paymentOf(charge, 'E1', { reference: STRANGER })
  shop.bank.answer = () => pageOf([entry])
  await shop.sweep()
  await shop.minutes(6)
  const told = payment({ endToEndId: 'E1', occurredAt: entry.occurredAt })
  await shop.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: 'tx' })
  await shop.minutes(1)
  assert.deepEqual(await cases(shop.database), ['statement_unexplained (closed)'])
  assert.deepEqual(await statementEntries(shop.database), ['PAYMENT_RECEIVED E1 MATCHED'])
})

test('[statement.6] what its operation does not take is a case as well', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  const future = { occurredAt: shop.clock.now() + 86_400_000 }
  shop.bank.answer = () => pageOf([paymentOf(charge, 'E1', future)])
  await shop.sweep()
  await shop.minutes(6)
  assert.deepEqual(await cases(shop.database), ['statement_unexplained'])
  const [facts] = await caseFacts(shop.database, 'statement_unexplained')
  assert.partialDeepStrictEqual(facts, { operationId: charge.id, reason: 'its operation did not take it: IMPLAUSIBLE' })
})

test('[statement.7] [PL-11] a movement that our books have with another amount is a case, and booked as it was', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  const entry = paymentOf(charge, 'E1', { valueCents: 99_00n })
  const told = payment({ endToEndId: 'E1', occurredAt: entry.occurredAt })
  await shop.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: 'tx' })
  shop.bank.answer = () => pageOf([entry])
  await shop.sweep()
  await shop.minutes(4)
  assert.deepEqual(await cases(shop.database), [])
  await shop.minutes(10)
  assert.deepEqual(await cases(shop.database), ['statement_differs'])
  const [facts] = await caseFacts(shop.database, 'statement_differs')
  assert.partialDeepStrictEqual(facts, { valueCents: 99_00, booked: { operationId: charge.id, valueCents: 100_00 } })
  assert.deepEqual(await bookedMovements(shop.database), ['E1'])
})

test('[statement.7] [PL-11] a movement that our books have as another operation’s is a case', async (t) => {
  const shop = await workshop(t)
  const [right, wrong] = [await shop.charge(), await shop.charge()]
  const entry = paymentOf(right, 'E1')
  const told = payment({ endToEndId: 'E1', occurredAt: entry.occurredAt })
  await shop.apply(wrong.id, { on: 'partner.confirmed', payment: told, transactionId: 'tx' })
  shop.bank.answer = () => pageOf([entry])
  await shop.sweep()
  await shop.minutes(6)
  assert.deepEqual(await cases(shop.database), ['statement_differs'])
  const [facts] = await caseFacts(shop.database, 'statement_differs')
  assert.partialDeepStrictEqual(facts, { reference: right.id, booked: { operationId: wrong.id } })
})

test('[statement.4] [statement.7] an entry told twice is kept once; told otherwise, it is a case with both', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  const entry = paymentOf(charge, 'E1')
  shop.bank.answer = () => pageOf([entry, entry], null, [entry])
  await shop.sweep()
  await shop.minutes(3)
  assert.deepEqual(await statementEntries(shop.database), ['PAYMENT_RECEIVED E1 MATCHED'])
  assert.deepEqual(await cases(shop.database), [])
  shop.bank.answer = () => pageOf([{ ...entry, valueCents: 1n }])
  await shop.minutes(2)
  assert.deepEqual(await cases(shop.database), ['statement_differs'])
  const [facts] = await caseFacts(shop.database, 'statement_differs')
  assert.partialDeepStrictEqual(facts, { valueCents: 1, before: { valueCents: 100_00 } })
})

test('[statement.4] a tariff is kept beside its payout, and is nobody’s case yet', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  const payout = paymentOf(charge, 'E1', { kind: 'PAYOUT_SENT', direction: 'out', reference: STRANGER })
  const tariff = { ...payout, kind: 'TARIFF', movementId: STRANGER, valueCents: 50n } as const
  shop.bank.answer = () => pageOf([tariff])
  await shop.sweep()
  await shop.minutes(10)
  assert.deepEqual(await statementEntries(shop.database), [`TARIFF ${STRANGER} KEPT`])
  assert.deepEqual(await cases(shop.database), [])
})

test('[statement.8] [PL-14] what our books have and two readings do not is a case, closed when the statement has it', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  await shop.sweep()
  const entry = paymentOf(charge, 'E1')
  const told = payment({ endToEndId: 'E1', occurredAt: entry.occurredAt })
  await shop.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: 'tx' })
  await shop.minutes(5)
  assert.deepEqual(await cases(shop.database), [], 'missing in one reading')
  await shop.minutes(1)
  assert.deepEqual(await cases(shop.database), ['statement_missing'])
  const [facts] = await caseFacts(shop.database, 'statement_missing')
  assert.partialDeepStrictEqual(facts, {
    direction: 'in',
    movementId: 'E1',
    operationId: charge.id,
    valueCents: 100_00,
  })
  await shop.minutes(5)
  shop.bank.answer = () => pageOf([entry])
  await shop.minutes(1)
  assert.deepEqual(await cases(shop.database), ['statement_missing (closed)'])
  await shop.minutes(10)
  assert.deepEqual(await cases(shop.database), ['statement_missing (closed)'])
})

test('[statement.8] [PL-14] what moved before the statement was first read is not missed', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  shop.clock.advance(3 * 86_400_000)
  const told = payment({ endToEndId: 'E1', occurredAt: charge.createdAt + 1_000 })
  await shop.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: 'tx' })
  await shop.sweep()
  await shop.minutes(10)
  assert.deepEqual(await cases(shop.database), [])
})

test('[statement.8] a window that was not read whole misses nothing', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  await shop.sweep()
  const told = payment({ endToEndId: 'E1', occurredAt: charge.createdAt + 1_000 })
  await shop.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: 'tx' })
  shop.bank.answer = () => ({ kind: 'NOT_SENT', reason: 'ECONNREFUSED' })
  await shop.minutes(20)
  assert.deepEqual(await cases(shop.database), [])
})

test('[statement.8] [PL-14] while windows of the past are read nothing is missed that later ones have', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  await shop.sweep()
  shop.clock.advance(20 * 3_600_000)
  const entry = paymentOf(charge, 'E1', { occurredAt: shop.clock.now() })
  const told = payment({ endToEndId: 'E1', occurredAt: entry.occurredAt })
  await shop.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: 'tx' })
  shop.clock.advance(3_600_000)
  shop.bank.answer = ({ from, to }) => pageOf(from <= entry.occurredAt && entry.occurredAt < to ? [entry] : [])
  await shop.sweep()
  assert.ok(shop.bank.asked.length > 3)
  await shop.minutes(3)
  // The charge was paid after its expiry: that is what its one case is about.
  assert.deepEqual(await cases(shop.database), ['paid_after_expiry'])
})

test('[statement.8] [PL-42] a movement that has no id but ours is not missed: its own case tells of it', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  await shop.sweep()
  const told = payment({ endToEndId: 'unnamed 1', occurredAt: charge.createdAt + 1_000 })
  await shop.apply(charge.id, { on: 'partner.confirmed', payment: told, transactionId: 'tx' })
  await shop.minutes(8)
  assert.deepEqual(await cases(shop.database), [])
})

test('[statement.4] two entries that share an id are two where their kinds differ', async (t) => {
  const shop = await workshop(t)
  const charge = await shop.charge()
  const entry = paymentOf(charge, 'E1')
  shop.bank.answer = () => pageOf([entry, { ...entry, kind: 'PAYOUT_RETURNED' }])
  await shop.sweep()
  const kept = (await statementEntries(shop.database)).map((line) => line.split(' ').slice(0, 2).join(' '))
  assert.deepEqual(kept.toSorted(), ['PAYMENT_RECEIVED E1', 'PAYOUT_RETURNED E1'])
})
