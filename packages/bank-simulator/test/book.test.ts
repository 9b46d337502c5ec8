import assert from 'node:assert/strict'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'node:test'
import { Book } from '../src/book.ts'
import { bankDirectory, ID, startBank } from './support/bank.ts'
import { steppedClock } from './support/stepped-clock.ts'

test('[partner-protocol] a restart keeps every charge, payment, event and total', async (t) => {
  const clock = steppedClock()
  const bank = await startBank(t, { clock })
  for (const id of ['active', 'paid', 'cancelled', 'failed']) await bank.charge(id)
  await bank.call('POST', '/control/charges/paid/pay', { valueCents: 7 })
  await bank.call('POST', '/control/charges/paid/pay', { valueCents: 5 })
  await bank.call('DELETE', '/charges/cancelled')
  await bank.call('POST', '/control/charges/failed/fail')
  const before = [await bank.call('GET', '/control/book'), await bank.call('GET', '/statement')]
  await bank.stop()
  const again = await startBank(t, { clock, dataDirectory: bank.directory })
  assert.deepEqual([await again.call('GET', '/control/book'), await again.call('GET', '/statement')], before)

  const { receivedCents, charges, events } = before[0]?.body ?? {}
  assert.equal(receivedCents, 12)
  assert.deepEqual(
    charges.map(({ status }: { status: string }) => status),
    ['ACTIVE', 'PAID', 'CANCELLED', 'FAILED'],
  )
  assert.equal(events.pending.length, 3)
  assert.equal((await again.charge('active')).status, 200)
})

test('[partner-protocol] a book that cannot be read is not begun anew', async (t) => {
  const directory = await bankDirectory(t)
  await appendFile(join(directory, 'book.jsonl'), '{"fact":"charge paid","chargeId":"nobody","payment":{}}\n')
  await assert.rejects(Book.open(directory), /charge nobody before it was created/)
})

test('[partner-protocol] a fact that this bank does not know is not skipped', async (t) => {
  const directory = await bankDirectory(t)
  await appendFile(join(directory, 'book.jsonl'), '{"fact":"bank robbed"}\n')
  await assert.rejects(Book.open(directory), /does not know: \{"fact":"bank robbed"\}/)
})

test('[partner-protocol] when the disk refuses, no answer promises anything', async (t) => {
  const warnings: string[] = []
  const bank = await startBank(t, { warn: (warning) => warnings.push(warning) })
  await bank.charge()
  await bank.book.close()
  const { status } = await bank.charge('another')
  assert.equal(status, 500)
  assert.equal((await bank.call('GET', `/charges/${ID}`)).status, 500)
  assert.match(warnings.join(), /the bank failed/)
  await assert.rejects(bank.stop())
})
