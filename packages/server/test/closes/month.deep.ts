import assert from 'node:assert/strict'
import test from 'node:test'
import { dayAfter } from '../../src/platform/sao-paulo.ts'
import { decidingOver } from '../cases/without-operation/fixture.ts'
import { assertBooks } from '../support/books.ts'
import type { Answer } from '../support/world.ts'
import { centsOf, readCsv } from './csv-reading.ts'
import { balancesOf, type CloseWorld, closeWorld, fileOf, payUnknown } from './fixture.ts'
import { elementsOf, ofxCents, ofxFaults, textOf, transactionsOf } from './ofx-reading.ts'

/** A month of everything that moves money, as a finance department takes it out of the books. */

const MINUTE = 60_000
const DAYS = 30
const BUSY_DAYS = 12

async function minutes(pix: CloseWorld, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) await pix.later(MINUTE)
}

/** What happens on a day: each kind on days of its own. */
async function happen(pix: CloseWorld, day: number): Promise<void> {
  const { id } = await pix.paid(`${40 + day}.${10 + day}`, { externalId: `=pedido;"${day}"\u00e7` })
  if (day % 3 === 0) await pix.refundIn(id, 5.5)
  if (day % 4 === 0) await pix.bankAction(`charges/${id}/return`, { valueCents: 1_01, nature: 'MED_FRAUDE' })
  if (day % 2 === 0) await paidOut(pix, day)
  if (day % 5 === 0) {
    const valueCents = day % 10 === 0 ? -7_77 : 3_33
    const adjusted = await pix.operator('POST', '/operator/adjustments', { valueCents, reason: '+ajuste; "mensal"' })
    assert.equal(adjusted.status, 201)
  }
  if (day === 7) await payUnknown(pix, 12_34)
  // It suspends payouts: nothing is paid after it.
  if (day === BUSY_DAYS) await pix.bank('POST', '/control/debits', { valueCents: 4_56 })
  if (day === 7 || day === BUSY_DAYS) {
    await minutes(pix, 8)
    await decidingOver(pix).decide(day === 7 ? 'unexplained_credit' : 'unexplained_debit', 'write_off')
  }
}

/** A payout with the bank's tariff; some come back. */
async function paidOut(pix: CloseWorld, day: number): Promise<void> {
  await pix.behave({ cashOut: 'manual' })
  const { id } = await pix.cashOut({ value: 20.05 })
  await pix.later(0)
  await pix.bankAction(`payouts/${id}/${day % 8 === 0 ? 'fail' : 'confirm'}`, day % 8 === 0 ? {} : { feeCents: 35 })
  await minutes(pix, 1)
  if (day % 6 === 0 && day % 8 !== 0) await pix.bankAction(`payouts/${id}/reverse`)
}

test('[export.1] [export.3] [export.4] [close.2] the exports of a busy month add up to the ledger, day after day', async (t) => {
  const pix = await closeWorld(t, {}, { PIXGATE_FEE_CASH_IN_CENTS: '10', PIXGATE_FEE_CASH_OUT_CENTS: '25' })
  const days: string[] = []
  for (let day = 1; day <= BUSY_DAYS; day += 1) {
    await happen(pix, day)
    await minutes(pix, 2)
    days.push(await pix.endDay())
    // What was credited by hand is not at the bank.
    const order = { enabled: true, reason: 'credited by hand' }
    assert.equal((await pix.operator('PUT', '/operator/cash-out-switch', order)).status, 200)
  }
  // The others are closed by a worker that was away.
  pix.clock.advance((DAYS - BUSY_DAYS) * 86_400_000)
  await pix.closing()
  while (days.length < DAYS) days.push(dayAfter(days.at(-1) ?? ''))
  const [first = '', last = ''] = [days[0], days.at(-1)]
  const { body } = await pix.operator('GET', `/operator/statement?from=${first}&to=${last}`)
  const month = readCsv(body)
  const closes = await Promise.all(days.map((day) => pix.close(day)))
  assertIsBusy(closes)

  const listed: string[] = []
  let [ofx, csv] = [0n, 0n]
  for (const [at, day] of days.entries()) {
    const file = textOf((await fileOf(pix, `/operator/closes/${day}/ofx`)).bytes)
    assert.deepEqual(ofxFaults(file), [])
    const lines = transactionsOf(file)
    assert.ok(lines.every((line) => line.day === day))
    ofx += lines.reduce((sum, { cents }) => sum + cents, 0n)
    const rows = readCsv((await pix.operator('GET', `/operator/closes/${day}/csv`)).body)
    csv += rows.reduce((sum, { Valor, Tarifa }) => sum + centsOf(Valor) + centsOf(Tarifa), 0n)
    const { available = 0, reserved = 0 } = balancesOf(closes[at], 'closingCents')
    const balance = BigInt(available + reserved)
    assert.deepEqual([ofxCents(elementsOf(file, 'BALAMT')[0]), ofx, csv], [balance, balance, balance], day)
    assert.equal(closes[at].reservations.cents, reserved)
    listed.push(...lines.map(({ fitid }) => fitid))
  }
  assert.equal(new Set(listed).size, listed.length, 'each id once in the month')
  assert.deepEqual(
    month.map((row) => row['ID do lançamento']),
    listed.filter((id) => month.some((row) => row['ID do lançamento'] === id)),
  )
  const fees = month.filter(({ Tarifa }) => Tarifa !== '0.00').length
  assert.equal(listed.length, month.length + fees)
  assert.equal(centsOf(month.at(-1)?.Saldo), ofx)
  assert.ok(month.some((row) => row['ID externo'] === '=pedido;"1"\u00e7'))
  await assertBooks(pix.database)
})

/** All kinds of movements are in it, and something is left where fees and losses are kept. */
function assertIsBusy(closes: readonly Answer['body'][]): void {
  const kinds = new Set(closes.flatMap(({ journals }) => journals.map(({ journal }: { journal: string }) => journal)))
  for (const wanted of KINDS) assert.ok(kinds.has(wanted), `${wanted} is in the month: ${[...kinds]}`)
  const ends = balancesOf(closes.at(-1), 'closingCents')
  for (const account of ['fees', 'losses', 'partner_fees']) assert.ok(ends[account], `${account} has something`)
}

/** What a month has at least. */
const KINDS = [
  ...[
    'cash_in_paid',
    'cash_out_reserved',
    'cash_out_confirmed',
    'cash_out_released',
    'cash_out_returned',
    'tariff_deducted',
  ],
  ...['refund_in_reserved', 'refund_in_confirmed', 'taken_by_bank', 'adjustment_credited', 'adjustment_debited'],
  ...['held_arrived', 'arrival_written_off', 'debit_written_off'],
]
