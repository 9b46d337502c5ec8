import assert from 'node:assert/strict'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { Book } from '../src/book.ts'
import { bankDirectory, ID, startBank } from './support/bank.ts'
import { runningClock } from './support/clocks.ts'

test('[partner-protocol] a restart keeps all charges, payouts, refunds, events and totals', async (t) => {
  // It runs: a stepped one would be put forward by every try to deliver the events, past the end of the charge.
  const clock = runningClock()
  const bank = await startBank(t, { clock })
  await bank.behave({ cashOut: 'manual', refundIn: 'manual' })
  for (const id of ['active', 'paid', 'cancelled', 'failed']) await bank.charge(id)
  const { endToEndId } = (await bank.call('POST', '/control/charges/paid/pay', { valueCents: 7 })).body
  await bank.call('POST', '/control/charges/paid/pay', { valueCents: 5 })
  await bank.call('DELETE', '/charges/cancelled')
  await bank.call('POST', '/control/charges/failed/fail')
  for (const id of ['processing', 'confirmed', 'failed']) {
    await bank.payout(id)
    await bank.refund(endToEndId, 1, id)
  }
  await bank.call('POST', '/control/payouts/confirmed/confirm', { feeCents: 3 })
  await bank.call('POST', '/control/payouts/confirmed/reverse', { valueCents: 1_000 })
  await bank.call('POST', '/control/payouts/failed/fail')
  await bank.call('POST', '/control/refunds/confirmed/confirm')
  await bank.call('POST', '/control/refunds/failed/fail')
  await bank.call('POST', '/control/charges/paid/return', { valueCents: 2 })
  const { pixCode } = (await bank.call('POST', '/control/qr-codes', { valueCents: 9 })).body
  const { decodeId } = (await bank.call('POST', '/qr-codes/decode', { pixCode })).body
  const before = [await bank.call('GET', '/control/book'), await bank.call('GET', '/statement')]
  await bank.stop()
  const again = await startBank(t, { clock, dataDirectory: bank.directory })
  assert.deepEqual([await again.call('GET', '/control/book'), await again.call('GET', '/statement')], before)

  const { availableCents, charges, payouts, refunds, entries, events } = before[0]?.body ?? {}
  assert.equal(availableCents, 7 + 5 - 4_000 - 3 + 1_000 - 1 - 2)
  const statuses = (records: { status: string }[]) => records.map(({ status }) => status)
  assert.deepEqual(statuses(charges), ['ACTIVE', 'PAID', 'CANCELLED', 'FAILED'])
  assert.deepEqual(statuses(payouts), ['PROCESSING', 'CONFIRMED', 'FAILED'])
  assert.deepEqual(statuses(refunds), ['PROCESSING', 'CONFIRMED', 'FAILED'])
  assert.equal(entries.length, 7)
  assert.equal(events.pending.length, 9)
  assert.equal((await again.charge('active')).status, 200)
  assert.equal((await again.payout('failed')).status, 200)
  assert.equal((await again.payout('by code', { valueCents: 9, pixCode, decodeId })).status, 202)
})

test('[partner-protocol] an unreadable book is not replaced by a new one', async (t) => {
  const directory = await bankDirectory(t)
  await appendFile(join(directory, 'book.jsonl'), '{"fact":"charge paid","chargeId":"nobody","payment":{}}\n')
  await assert.rejects(Book.open(directory), /charge nobody before it was created/)
})

test('[partner-protocol] an unknown fact in the book is an error', async (t) => {
  const directory = await bankDirectory(t)
  await appendFile(join(directory, 'book.jsonl'), '{"fact":"bank robbed"}\n')
  await assert.rejects(Book.open(directory), /does not know: \{"fact":"bank robbed"\}/)
})

test('[partner-protocol] if a write to disk fails, no request succeeds', async (t) => {
  const warnings: string[] = []
  const bank = await startBank(t, { warn: (warning) => warnings.push(warning) })
  await bank.charge()
  await bank.book.close()
  const { status } = await bank.charge('another')
  assert.equal(status, 500)
  assert.equal((await bank.call('GET', `/charges/${ID}`)).status, 500)
  assert.notEqual(warnings.length, 0)
  await assert.rejects(bank.stop())
})
