import assert from 'node:assert/strict'
import test from 'node:test'
import { dayAfter } from '../../src/platform/sao-paulo.ts'
import { decidingOver } from '../cases/without-operation/fixture.ts'
import { assertBooks } from '../support/books.ts'
import { centsOf, readCsv } from './csv-reading.ts'
import { type CloseWorld, closeWorld, payUnknown } from './fixture.ts'
import { ofxFaults } from './ofx-reading.ts'

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

interface Sum {
  readonly account: string
  readonly cents: bigint
  readonly entries: number
}

/** What our books have of an account, before an instant. */
async function bookedBefore(pix: CloseWorld, before: string): Promise<Map<string, Sum>> {
  const rows = await pix.database.rows<[before: string], Sum>(
    {
      name: 'test.booked_before',
      text: `SELECT a.code AS account, coalesce(sum(e.amount_cents), 0)::bigint AS cents, count(e.version)::integer AS entries
               FROM account a LEFT JOIN entry e ON e.account_id = a.id AND e.at < $1::timestamptz GROUP BY a.code`,
    },
    [before],
  )
  return new Map(rows.map((row) => [row.account, row]))
}

type Row = Record<string, string>

const moved = (rows: readonly Row[]) => rows.reduce((sum, row) => sum + centsOf(row.credit) - centsOf(row.debit), 0n)

/** Reads the ledger of a period, and holds each account against itself. @returns its rows, and its ends by account */
async function ledgerOf(pix: CloseWorld, from: string, to: string) {
  const { status, body } = await pix.operator('GET', `/operator/ledger/export?from=${from}&to=${to}`)
  assert.equal(status, 200)
  const rows = readCsv(body)
  const ends = new Map<string, { opening: bigint; closing: bigint; entries: number }>()
  for (const account of new Set(rows.map((row) => row.account ?? ''))) {
    const own = rows.filter((row) => row.account === account)
    const [opening, entries, closing] = [own[0], own.slice(1, -1), own.at(-1)]
    assert.deepEqual([opening?.line, closing?.line], ['OPENING', 'CLOSING'])
    assert.equal(centsOf(opening?.balance) + moved(entries), centsOf(closing?.balance), `${account} ${from}`)
    let balance = centsOf(opening?.balance)
    for (const entry of entries) {
      balance += moved([entry])
      assert.equal(balance, centsOf(entry.balance), `${account} ${entry.entry_id}`)
    }
    ends.set(account, { opening: centsOf(opening?.balance), closing: balance, entries: entries.length })
  }
  return { rows, ends }
}

/** The elements of OFX, each of which has its end. */
function elementsOf(ofx: string, name: string): string[] {
  return [...ofx.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, text = '']) => text)
}

const ofxCents = (text = '') => BigInt(text.replace('.', ''))

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
  const month = await ledgerOf(pix, first, last)
  const closes = await Promise.all(days.map((day) => pix.close(day)))
  const own = await bookedBefore(pix, closes.at(-1).to)
  for (const [account, { opening, closing, entries }] of month.ends) {
    assert.deepEqual([opening, closing, entries], [0n, own.get(account)?.cents, own.get(account)?.entries], account)
  }
  assertIsBusy(month)

  const ids = new Set<string>()
  let [carried, available] = [new Map<string, bigint>(), 0n]
  for (const [at, day] of days.entries()) {
    const { ends } = await ledgerOf(pix, day, day)
    for (const [account, { opening, closing }] of ends) {
      assert.equal(opening, carried.get(account) ?? 0n, `${account} ${day} begins as the day before ended`)
      const figures = closes[at].accounts.find((row: { account: string }) => row.account === account)
      assert.deepEqual([BigInt(figures.openingCents), BigInt(figures.closingCents)], [opening, closing])
    }
    carried = new Map([...ends].map(([account, { closing }]) => [account, closing]))
    const ofx = (await pix.operator('GET', `/operator/closes/${day}/ofx`)).body
    assert.deepEqual(ofxFaults(ofx), [])
    available += elementsOf(ofx, 'TRNAMT').reduce((sum, amount) => sum + ofxCents(amount), 0n)
    assert.equal(ofxCents(elementsOf(ofx, 'BALAMT')[0]), available, `${day}: OFX`)
    for (const id of elementsOf(ofx, 'FITID')) {
      assert.ok(!ids.has(id), `${id} is twice in the month`)
      ids.add(id)
    }
  }
  assert.deepEqual(
    [...ids].toSorted(),
    month.rows
      .filter(({ line, account }) => line === 'ENTRY' && account === 'available')
      .map((row) => row.entry_id)
      .toSorted(),
  )
  assert.ok(
    month.rows.some(({ external_id }) => external_id === `'=pedido;"1"\u00e7`),
    'a name that looks like a formula is text',
  )
  await assertBooks(pix.database)
})

/** All kinds of movements are in it, and something is left where fees and losses are kept. */
function assertIsBusy({ rows, ends }: Awaited<ReturnType<typeof ledgerOf>>): void {
  const kinds = new Set(rows.map(({ journal }) => journal).filter((journal) => journal !== ''))
  for (const wanted of KINDS) assert.ok(kinds.has(wanted), `${wanted} is in the month: ${[...kinds]}`)
  for (const account of ['fees', 'losses', 'partner_fees']) {
    assert.ok(ends.get(account)?.closing, `${account} has something at the end of the month`)
  }
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
