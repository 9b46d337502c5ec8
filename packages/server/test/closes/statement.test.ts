import assert from 'node:assert/strict'
import test from 'node:test'
import { type JournalTemplate, journals } from '@pixgate/spec'
import { csvLine, decimalText } from '../../src/closes/csv.ts'
import { ansi } from '../../src/closes/ofx.ts'
import { RESERVATIONS } from '../../src/closes/statement.ts'
import { boundsOf } from '../../src/platform/sao-paulo.ts'
import { decidingOver } from '../cases/without-operation/fixture.ts'
import { balances } from '../support/books.ts'
import { minutes } from '../support/stepping.ts'
import type { Answer } from '../support/world.ts'
import { centsOf, readCsv, shownByExcel } from './csv-reading.ts'
import { balancesOf, type CloseWorld, closeWorld, fileOf } from './fixture.ts'
import { elementsOf, ofxCents, ofxFaults, textOf, transactionsOf } from './ofx-reading.ts'

const FEES = { PIXGATE_FEE_CASH_IN_CENTS: '10', PIXGATE_FEE_CASH_OUT_CENTS: '25' }

/** The OFX file of a day, which is right by the standard. */
async function ofxOf(pix: CloseWorld, day: string) {
  const { name, type, bytes } = await fileOf(pix, `/operator/closes/${day}/ofx`)
  const text = textOf(bytes)
  assert.deepEqual([name, type, ofxFaults(text)], [`pixgate-${day}.ofx`, 'application/x-ofx', []])
  return { text, lines: transactionsOf(text), balance: ofxCents(elementsOf(text, 'BALAMT')[0]) }
}

/** A charge that this person paid. */
async function paidBy(pix: CloseWorld, payerName: string, value = '10.00', more: Record<string, unknown> = {}) {
  const { id } = await pix.charge(value, more)
  await pix.bankAction(`charges/${id}/pay`, { payerName })
  return pix.becomes(id, 'PAID')
}

test('[export.4] what is no line of the statement mirrors the reservations, in every journal', () => {
  for (const [kind, { postings }] of Object.entries(journals) as [string, JournalTemplate][]) {
    const sums = new Map<string, number>()
    for (const posting of postings) {
      const isMirror = posting.account === 'available' && RESERVATIONS.some((name) => name === posting.shown)
      if (!isMirror && posting.account !== 'reserved') continue
      for (const [term, sign] of Object.entries(posting.amount)) sums.set(term, (sums.get(term) ?? 0) + sign)
    }
    assert.ok(
      [...sums.values()].every((sum) => sum === 0),
      kind,
    )
    const shown = postings.flatMap((posting) => (posting.account === 'available' ? [posting.shown] : []))
    const lines = shown.filter((name) => name !== 'FEE' && !RESERVATIONS.some((one) => one === name))
    assert.ok(!shown.includes('FEE') || lines.length === 1, `${kind}: a fee has the line of its Pix`)
  }
})

test('[export.1] amounts and cells of both dialects', () => {
  assert.deepEqual(
    [0n, 5n, -5n, 100n, -9_223_372_036_854_775_807n].map((cents) => decimalText(cents, ',')),
    ['0,00', '0,05', '-0,05', '1,00', '-92233720368547758,07'],
  )
  const cells = [{ text: 'a "b", c' }, { cents: -123_456n }, { id: '0001' }, { text: null }, { id: null }]
  assert.equal(csvLine(cells, 'rfc4180'), '"a ""b"", c",-1234.56,0001,,\r\n')
  assert.equal(csvLine(cells, 'excel'), '"a ""b"", c";-1234,56;"=""0001""";;\r\n')
})

test('[export.2] ids, formulas and words with digits are the same text in Excel, and ids are unchanged for parsers', () => {
  const ids = ['0001234', '12345678901234567890', '1E10', '10-11', '=1+1', '+55', '-1', '@x', '"";"=cmd', 'a,b;c']
  for (const id of ids) {
    const [row] = readCsv(`id\r\n${csvLine([{ id }], 'excel')}`, ';')
    assert.equal(shownByExcel(row?.id ?? ''), id)
    assert.equal(readCsv(`id\r\n${csvLine([{ id }], 'rfc4180')}`)[0]?.id, id)
  }
  for (const begins of ['=', '+', '-', '@', '\t=', ' =', ' \t@', '\uff1d', '\uff0b', '\uff0d', '\uff20']) {
    const text = `${begins}cmd|' /C calc'!A0`
    assert.match(csvLine([{ text }], 'excel'), /^"=""/, JSON.stringify(begins))
    assert.equal(csvLine([{ text }], 'rfc4180'), `'${text}\r\n`)
  }
  for (const text of ['0001234', '12345678901234567890', '1E5', '10/11', 'mar/25', '00:30', '1,5', '5%', 'R$ 10']) {
    const [row] = readCsv(`text\r\n${csvLine([{ text }], 'excel')}`, ';')
    assert.equal(row?.text, `="${text}"`, 'Excel would make it a number, a date or a time')
    assert.equal(readCsv(`text\r\n${csvLine([{ text }], 'rfc4180')}`)[0]?.text, text)
  }
  assert.equal(csvLine([{ moment: '2026-11-22' }, { moment: '10:00:00' }], 'excel'), '2026-11-22;10:00:00\r\n')
})

test('[export.5] text is of characters of Windows-1252, never a question mark', () => {
  for (const [given, shown] of [
    ['João D’Ávila – Ç€', 'João D’Ávila – Ç€'],
    ['Joa\u0303o', 'João'],
    ['Łukasz Dvořák Şahin Nguyễn', 'Lukasz Dvorák Sahin Nguyen'],
    ['Loja 🛒 do Zé', 'Loja do Zé'],
    ['🎉', ''],
    ['Ana\r\n\tMaria\u0000\u0085\u200b', 'Ana Maria'],
    ['ＡＢ\u2009ﬁ\u2212', 'AB fi-'],
    ['\ud800x', 'x'],
  ] as const) {
    assert.equal(ansi(given), shown)
  }
})

/** Money of all kinds moves on one day: fees, an overpayment, payouts that arrive, fail and come back, refunds, MED, adjustments. */
async function busyDay(pix: CloseWorld): Promise<string> {
  const cases = decidingOver(pix)
  const { id } = await paidBy(pix, 'João D’Ávila', '200.00', { externalId: '0001234' })
  const over = await pix.charge('100.00')
  await pix.bankAction(`charges/${over.id}/pay`, { valueCents: 150_00 })
  await minutes(pix, 2)
  await cases.decide('payment_in_suspense', 'accept', { amountCents: 100_00 })
  await cases.decide('payment_in_suspense', 'return_to_payer', { amountCents: 50_00 })
  await pix.behave({ cashOut: 'manual' })
  for (const action of ['confirm', 'fail', 'confirm'] as const) {
    const payout = await pix.cashOut({ value: 20.05 })
    await pix.later(0)
    await pix.bankAction(`payouts/${payout.id}/${action}`)
    await minutes(pix, 1)
    if (payout.id && action === 'confirm') await pix.bankAction(`payouts/${payout.id}/reverse`, { valueCents: 5_00 })
  }
  const refund = await pix.refundIn(id, 5.5)
  await pix.until(`/api/pix/refund/${refund.id}`, ({ status }) => status === 'CONFIRMED')
  await pix.bankAction(`charges/${id}/return`, { valueCents: 1_01, nature: 'MED_FRAUDE' })
  for (const valueCents of [3_33, -2_22]) {
    const { status } = await pix.operator('POST', '/operator/adjustments', { valueCents, reason: 'Ajuste mensal' })
    assert.equal(status, 201)
  }
  await pix.bank('POST', '/control/debits', { valueCents: 4_56 })
  await minutes(pix, 8)
  await cases.decide('unexplained_debit', 'write_off')
  // What was booked by hand is not at the bank, and suspends payouts.
  const order = { enabled: true, reason: 'known' }
  assert.equal((await pix.operator('PUT', '/operator/cash-out-switch', order)).status, 200)
  await pix.cashOut({ value: 7 })
  await minutes(pix, 1)
  const day = await pix.endDay()
  // A balance of the bank that an open order may explain is awaited for an hour.
  pix.clock.advance(3_600_000)
  await pix.closing()
  return day
}

test('[export.1] [export.4] [close.14] on a busy day there is a line for each Pix, fees apart, and the sum is the change of the balance', async (t) => {
  const pix = await closeWorld(t, {}, FEES)
  await pix.balance(50_00)
  const before = await pix.close(await pix.endDay())
  const day = await busyDay(pix)
  const close = await pix.close(day)
  const held = (which: 'openingCents' | 'closingCents') => {
    const { available = 0, reserved = 0 } = balancesOf(close, which)
    return BigInt(available + reserved)
  }
  const { text, lines, balance } = await ofxOf(pix, day)
  const sum = lines.reduce((total, { cents }) => total + cents, 0n)
  assert.deepEqual([sum, balance], [held('closingCents') - held('openingCents'), held('closingCents')])
  assert.deepEqual(balancesOf(before, 'closingCents').available, Number(held('openingCents')))
  assert.deepEqual(close.reservations, { count: 1, cents: 7_25 })
  assert.deepEqual(lines.map(({ type, cents, name }) => `${type} ${cents} ${name}`).toSorted(), [
    'CREDIT 10000 Pix recebido',
    'CREDIT 20000 Pix recebido – João D’Ávila',
    'CREDIT 333 Ajuste – Ajuste mensal',
    'CREDIT 500 Devolução recebida – João Pereir',
    'CREDIT 500 Devolução recebida – João Pereir',
    'DEBIT -101 Devolução pelo banco – João D’Áv',
    'DEBIT -2005 Pix enviado – João Pereira',
    'DEBIT -2005 Pix enviado – João Pereira',
    'DEBIT -222 Ajuste – Ajuste mensal',
    'DEBIT -550 Devolução enviada – João D’Ávila',
    'FEE -10 Tarifa de Pix recebido',
    'FEE -10 Tarifa de Pix recebido',
    'FEE -25 Tarifa de Pix enviado',
    'FEE -25 Tarifa de Pix enviado',
  ])
  for (const [at, { type, refnum }] of lines.entries()) {
    if (type === 'FEE') assert.equal(lines[at - 1]?.refnum, refnum, 'a fee follows its Pix')
  }
  assert.ok(lines.every((line) => line.day === day))
  assert.equal(new Set(lines.map(({ fitid }) => fitid)).size, lines.length)
  assert.equal((await ofxOf(pix, day)).text, text, 'the same file each time')
  await assertCsv(pix, day, lines)
})

/** The CSV of a day has the same lines, with each fee beside its Pix. */
async function assertCsv(
  pix: CloseWorld,
  day: string,
  lines: readonly { fitid: string; cents: bigint; type: string }[],
) {
  const { name, type, bytes } = await fileOf(pix, `/operator/closes/${day}/csv`)
  assert.deepEqual([name, type], [`pixgate-${day}.csv`, 'text/csv; charset=utf-8'])
  const rows = readCsv(bytes.toString())
  assert.deepEqual(
    rows.map((row) => [row['ID do lançamento'], centsOf(row.Valor)]),
    lines.filter(({ type }) => type !== 'FEE').map(({ fitid, cents }) => [fitid, cents]),
  )
  let balance = centsOf(rows[0]?.Saldo) - centsOf(rows[0]?.Valor) - centsOf(rows[0]?.Tarifa)
  for (const row of rows) {
    balance += centsOf(row.Valor) + centsOf(row.Tarifa)
    assert.equal(centsOf(row.Saldo), balance)
    assert.equal(row.Data, day)
  }
  const paid = rows.find((row) => row['ID externo'] === '0001234')
  const { data } = await pix.get('/api/pix/cash-in')
  const charge = data.find(({ externalId }: Answer['body']) => externalId === '0001234')
  assert.partialDeepStrictEqual(paid, {
    ...{ Tipo: 'Pix recebido', Nome: 'João D’Ávila', Documento: charge.payerDocument },
    ...{ 'ID E2E': charge.endToEndId, 'ID externo': '0001234', txid: charge.providerTransactionId },
  })
  assert.match(paid?.Documento ?? '', /^\*\*\*\.\d{3}\.\d{3}-\*\*$/)
  const returns = rows.filter((row) => row['ID da devolução'] !== '').map(({ Tipo }) => Tipo)
  assert.deepEqual(returns.toSorted(), [
    ...['Devolução enviada', 'Devolução pelo banco'],
    ...['Devolução recebida', 'Devolução recebida'],
  ])
  const excel = await fileOf(pix, `/operator/closes/${day}/csv?dialect=excel`)
  assert.deepEqual([excel.name, ...excel.bytes.subarray(0, 3)], [`pixgate-${day}-excel.csv`, 0xef, 0xbb, 0xbf])
  const [first] = readCsv(excel.bytes.toString(), ';')
  assert.deepEqual([first?.Valor, shownByExcel(first?.['ID externo'] ?? '')], ['200,00', '0001234'])
  const month = await fileOf(pix, `/operator/statement?from=${day}&to=${day}`)
  assert.deepEqual([month.name, month.bytes], [`pixgate-${day}-${day}.csv`, bytes])
}

test('[export.4] a Pix stands on the São Paulo day on which it was booked, whenever it was created', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(100_00)
  await pix.behave({ cashOut: 'manual' })
  const [last, late] = [await pix.cashOut({ value: 20 }), await pix.cashOut({ value: 30 })]
  await pix.later(0)
  const first = pix.today()
  pix.clock.advance(boundsOf(first).to - 1 - pix.clock.now())
  await pix.bankAction(`payouts/${last.id}/confirm`)
  await pix.until(`/api/pix/cash-out/${last.id}`, ({ status }) => status === 'CONFIRMED')
  pix.clock.advance(1)
  await pix.bankAction(`payouts/${late.id}/confirm`)
  await pix.until(`/api/pix/cash-out/${late.id}`, ({ status }) => status === 'CONFIRMED')
  await pix.closing()
  const second = await pix.endDay()
  const quiet = await pix.endDay()
  const posted = []
  for (const day of [first, second, quiet]) {
    const { text, lines, balance } = await ofxOf(pix, day)
    posted.push([lines.map((line) => [line.day, line.cents]), balance])
    const noon = `${day.replaceAll('-', '')}120000[-3:BRT]`
    assert.deepEqual(
      ['DTSTART', 'DTEND', 'DTASOF'].map((name) => elementsOf(text, name)[0]),
      [noon, noon, noon],
    )
  }
  assert.deepEqual(posted, [
    [
      [
        [first, 100_00n],
        [first, -20_00n],
      ],
      80_00n,
    ],
    [[[second, -30_00n]], 50_00n],
    [[], 50_00n],
  ])
})

test('[export.5] names are in Windows-1252, within 32 characters and whole in MEMO, and markup is text', async (t) => {
  const pix = await closeWorld(t)
  const long = `${'Maria '.repeat(23)}Sá`
  for (const name of ['Loja 🛒 Ação & <Cia>', long, '🎉', 'Łukasz Dvořák', '李']) await paidBy(pix, name)
  const { bytes } = await fileOf(pix, `/operator/closes/${await pix.endDay()}/ofx`)
  assert.ok(bytes.includes(Buffer.from('Pix recebido \x96 Loja A\xe7\xe3o &amp; &lt;Cia', 'latin1')))
  const lines = transactionsOf(textOf(bytes))
  assert.deepEqual(
    lines.map(({ name }) => name),
    [
      'Pix recebido – Loja Ação & <Cia>',
      'Pix recebido – Maria Maria Maria',
      'Pix recebido',
      'Pix recebido – Lukasz Dvorák',
      'Pix recebido',
    ],
  )
  for (const { name, memo, refnum } of lines) {
    assert.ok(name.length <= 32 && memo.length <= 255 && memo.includes(`; ID ${refnum}; ref. `), memo)
  }
  assert.ok(lines[1]?.memo.startsWith(`Pix recebido – ${long}; ID E`))
})

test('[export.5] OFX names the configured bank, branch and account', async (t) => {
  for (const [account, expected] of [
    ['341/12345-6', [['341'], [], ['12345-6']]],
    ['260/0001/9876543', [['260'], ['0001'], ['9876543']]],
  ] as const) {
    const pix = await closeWorld(t, {}, { PIXGATE_OFX_ACCOUNT: account })
    await pix.balance(1_00)
    const { text } = await ofxOf(pix, await pix.endDay())
    assert.deepEqual(
      ['BANKID', 'BRANCHID', 'ACCTID'].map((name) => elementsOf(text, name)),
      expected,
    )
  }
})

test('[export.1] [export.3] a dialect or period that does not exist is 400 with the field, and no export begins', async (t) => {
  const pix = await closeWorld(t)
  const day = await pix.paid('1.00').then(() => pix.endDay())
  for (const [path, field] of [
    [`closes/${day}/csv?dialect=xls`, 'dialect'],
    [`closes/${day}/csv?dialekt=excel`, 'dialekt'],
    ['statement?dialect=EXCEL', 'dialect'],
    ['statement?from=2026-02-30&to=2026-03-01', 'from'],
    ['statement?from=2026-03-02&to=2026-03-01', 'to'],
    ['statement?from=2025-01-01&to=2026-03-01', 'to'],
    ['statement?from=1626-03-01', 'from'],
  ]) {
    const { status, body } = await pix.operator('GET', `/operator/${path}`)
    assert.deepEqual([status, body.code, body.errors?.[0].field], [400, 'validation_error', field], path)
  }
})

test('[close.14] a close has the number and the amount of open reservations, as they are carried from day to day', async (t) => {
  const pix = await closeWorld(t, {}, FEES)
  await pix.balance(200_00)
  await pix.behave({ cashOut: 'manual' })
  const [first] = [await pix.cashOut({ value: 20 }), await pix.cashOut({ value: 30 })]
  await pix.later(0)
  const reservations = async () => (await pix.close(await pix.endDay())).reservations
  assert.deepEqual(await reservations(), { count: 2, cents: 50_50 })
  assert.deepEqual(await reservations(), { count: 2, cents: 50_50 })
  await pix.bankAction(`payouts/${first.id}/confirm`)
  const failed = await pix.cashOut({ value: 40 })
  await pix.later(0)
  await pix.bankAction(`payouts/${failed.id}/fail`)
  await minutes(pix, 2)
  assert.deepEqual(await reservations(), { count: 1, cents: 30_25 })
  assert.equal((await balances(pix.database)).reserved, 30_25n)
})
