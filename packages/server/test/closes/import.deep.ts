import assert from 'node:assert/strict'
import test from 'node:test'
import { boundsOf, localTime } from '../../src/platform/sao-paulo.ts'
import { balances } from '../support/books.ts'
import { caseFacts, cases } from '../support/evidence.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { ADMIN_TOKEN, type Answer } from '../support/world.ts'
import { type CloseWorld, closeWorld } from './fixture.ts'
import { bring, fileOf, HEADER, paperWorld, type Row, worldWithout } from './statement-file.ts'

const MINUTE = 60_000

/** What lets a day be over, for files tell of whole days. */
async function nextDay(pix: CloseWorld): Promise<string> {
  return pix.endDay()
}

test('[import.1] [import.2] every fault of a file is told with its line, and nothing of it is kept', async (t) => {
  const pix = await closeWorld(t)
  const day = pix.today()
  await nextDay(pix)
  const good: Row = { kind: 'PAYMENT_RECEIVED', direction: 'in', value: '10,00', endToEndId: 'E1' }
  const faulty: readonly (readonly [Partial<Row>, string])[] = [
    [{ kind: 'GIFT' }, 'kind'],
    [{ direction: 'out' }, 'direction'],
    [{ value: '10.00' }, 'value'],
    [{ value: '-10,00' }, 'value'],
    [{ endToEndId: '' }, 'end_to_end_id'],
    [{ returnId: 'D1' }, 'return_id'],
    [{ kind: 'PAYOUT_RETURNED' }, 'return_id'],
    [{ kind: 'TARIFF', direction: 'out' }, 'reference'],
  ]
  const { status, body } = await bring(
    pix,
    fileOf(
      day,
      '10,00',
      faulty.map(([wrong]) => ({ ...good, ...wrong })),
    ),
  )
  assert.deepEqual([status, body.code], [400, 'validation_error'])
  assert.deepEqual(
    body.errors.map(({ field }: Answer['body']) => field),
    faulty.map(([, column], at) => `lines[${at + 3}].${column}`),
  )
  const others: readonly (readonly [string, string])[] = [
    ['kind;value\r\n', 'lines[1].header'],
    [HEADER, 'lines[2].kind'],
    [fileOf(day, '10,01', [good]), 'lines[4].value'],
    [fileOf(day, '20,00', [good, good]), 'lines[4].row'],
    [fileOf(day, '10,00', [good]).replace(`${day};10:00:00`, '2026-02-30;25:00:00'), 'lines[3].day'],
    [fileOf(day, '10,00', [good]).replace(`${day};10:00:00`, '2025-01-01;10:00:00'), 'lines[4].day'],
    [fileOf(pix.today(), '10,00', [good]), 'lines'],
    [fileOf(day, '10,00', [good]).replace(';in;', ';'), 'lines[3].row'],
  ]
  for (const [text, field] of others) {
    const { status: refused, body: problem } = await bring(pix, text)
    assert.deepEqual([refused, problem.errors?.[0]?.field], [400, field])
  }
  const [kept] = await pix.database.rows<[], { rows: number }>(
    {
      name: 'test.kept',
      text: 'SELECT ((SELECT count(*) FROM statement_import) + (SELECT count(*) FROM statement_import_entry))::integer AS rows',
    },
    [],
  )
  assert.equal(kept?.rows, 0)
})

test('[import.1] another type, bytes that are no UTF-8, and more than 4 MiB are refused', async (t) => {
  const pix = await closeWorld(t)
  const post = async (body: string | Uint8Array<ArrayBuffer>, type: string) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': type }
    const answer = await fetch(`${pix.operatorUrl}/operator/statement-imports`, { method: 'POST', headers, body })
    const { code } = (await answer.json()) as { code: string }
    return [answer.status, code]
  }
  assert.deepEqual(await post('{}', 'application/json'), [400, 'content_type_required'])
  assert.deepEqual(await post('a', 'text/csv; charset=latin1'), [400, 'content_type_required'])
  assert.deepEqual(await post(new Uint8Array([0xff, 0xfe]), 'text/csv'), [400, 'validation_error'])
  assert.deepEqual(await post('', 'text/csv'), [400, 'validation_error'])
  assert.deepEqual(await post('x'.repeat(4_194_305), 'text/csv'), [413, 'body_too_large'])
})

test('[import.3] [import.4] a file that agrees is matched, twice the same is one import, and its row stands in the audit trail', async (t) => {
  const pix = await closeWorld(t)
  const { endToEndId, id } = await pix.paid('10.00')
  const day = await pix.endDay()
  const text = fileOf(day, '10,00', [
    { kind: 'PAYMENT_RECEIVED', direction: 'in', value: '10,00', endToEndId, reference: id },
  ])
  const first = await bring(pix, text)
  assert.equal(first.status, 200, JSON.stringify(first.body))
  assert.partialDeepStrictEqual(first.body, {
    rows: 1,
    matched: 1,
    different: 0,
    onlyTheirs: 0,
    onlyOurs: 0,
    firstDay: day,
    lastDay: day,
    closingCents: 10_00,
  })
  const [one, other] = await Promise.all([bring(pix, text), bring(pix, text)])
  assert.deepEqual([one.body, other.body], [first.body, first.body])
  const audits = await pix.database.rows<[], { subject: string }>(
    { name: 'test.imports', text: `SELECT subject FROM audit WHERE action = 'statement.imported'` },
    [],
  )
  assert.deepEqual(audits, [{ subject: first.body.id }])
  assert.deepEqual(await cases(pix.database), [])
})

test('[import.3] a forged file moves no money: the bank is asked, and what it does not confirm is a case', async (t) => {
  for (const open of [closeWorld, paperWorld]) {
    const pix = await open(t)
    await pix.paid('3.00')
    await pix.later(MINUTE)
    const { id } = await pix.charge('50.00', { expirationTime: 172_800 })
    const day = pix.today()
    await pix.endDay()
    const before = await balances(pix.database)
    const forged = { kind: 'PAYMENT_RECEIVED', direction: 'in', value: '50,00', endToEndId: 'E-forged', reference: id }
    assert.equal((await bring(pix, fileOf(day, '50,00', [forged]))).body.onlyTheirs, 1)
    for (let minutes = 0; minutes < 20; minutes += 1) await pix.later(MINUTE)
    assert.deepEqual(await balances(pix.database), before)
    assert.equal((await pix.read(id)).status, 'PENDING')
    assert.ok((await cases(pix.database)).includes('statement_unexplained'))
    const [facts] = await caseFacts(pix.database, 'statement_unexplained')
    assert.partialDeepStrictEqual(facts, { source: 'import', operationId: id, valueCents: 50_00 })
    const [theSwitch] = await pix.database.rows<[], { enabled: boolean }>(
      {
        name: 'test.switch',
        text: `SELECT (value ->> 'enabled')::boolean AS enabled FROM control WHERE name = 'cash_out_switch'`,
      },
      [],
    )
    assert.equal(theSwitch?.enabled, true, 'nor does it stop payouts')
  }
})

test('[import.3] a payment whose event was lost is booked by the answer of the bank, which a file only makes us ask', async (t) => {
  const pix = await paperWorld(t)
  const { id } = await pix.charge('10.00', { expirationTime: 172_800 })
  await pix.later(MINUTE)
  await pix.behave({ eventDelayMs: 3_600_000 })
  const day = pix.today()
  pix.clock.advance(boundsOf(day).to - 10 * MINUTE - pix.clock.now())
  const { endToEndId } = await pix.bankAction(`charges/${id}/pay`)
  pix.clock.advance(boundsOf(day).to - pix.clock.now())
  const paid = { kind: 'PAYMENT_RECEIVED', direction: 'in', value: '10,00', endToEndId, reference: id }
  assert.equal((await pix.read(id)).status, 'PENDING')
  const text = fileOf(day, '10,00', [paid])
  assert.equal((await bring(pix, text)).body.onlyTheirs, 1)
  await pix.later(MINUTE)
  assert.equal((await pix.read(id)).status, 'PAID')
  await pix.later(MINUTE)
  assert.equal((await bring(pix, text)).body.matched, 1)
  assert.deepEqual(await cases(pix.database), [])
})

test('[import.3] the case about a row closes by itself when an adjustment explains it', async (t) => {
  const pix = await paperWorld(t)
  const { id } = await pix.charge('10.00', { expirationTime: 172_800 })
  const day = pix.today()
  await pix.endDay()
  const lost = {
    kind: 'PAYMENT_RECEIVED',
    direction: 'in',
    value: '10,00',
    endToEndId: 'E-of-the-file',
    reference: 'nobody',
  }
  await bring(pix, fileOf(day, '10,00', [lost]))
  for (let minutes = 0; minutes < 7; minutes += 1) await pix.later(MINUTE)
  assert.ok((await cases(pix.database)).includes('statement_unexplained'))
  const adjustment = await pix.operator('POST', '/operator/adjustments', {
    valueCents: 10_00,
    reason: 'The bank credited it',
  })
  assert.equal(adjustment.status, 201)
  await pix.later(MINUTE)
  assert.deepEqual(
    (await cases(pix.database)).filter((name) => name.startsWith('statement')),
    ['statement_unexplained (closed)'],
  )
  assert.equal((await pix.read(id)).status, 'PENDING')
})

test('[import.5] where no statement is read, what only our books have is a case, which a later file closes; the day has no balance where the two tell other ones', async (t) => {
  const pix = await paperWorld(t)
  pix.clock.advance(60 * MINUTE)
  const { endToEndId, id } = await pix.paid('10.00')
  const day = await pix.endDay()
  assert.equal((await pix.close(day)).status, 'UNCONFIRMED')
  const empty = await bring(pix, fileOf(day, '0,00', []))
  assert.deepEqual([empty.body.rows, empty.body.onlyOurs], [0, 1])
  assert.deepEqual(await cases(pix.database), ['statement_missing'])
  pix.clock.advance(3_600_000)
  await pix.service.closeDays()
  const differing = await pix.close(day)
  assert.deepEqual([differing.version, differing.status, differing.differenceCents], [2, 'EXPLAINED', -10_00])

  const paid = { kind: 'PAYMENT_RECEIVED', direction: 'in', value: '10,00', endToEndId, reference: id }
  const right = await bring(pix, fileOf(day, '10,00', [paid]))
  assert.deepEqual([right.body.matched, right.body.onlyOurs], [1, 0])
  assert.deepEqual(await cases(pix.database), ['statement_missing (closed)', 'statement_differs'])
  pix.clock.advance(3_600_000)
  await pix.service.closeDays()
  const contradicted = await pix.close(day)
  assert.deepEqual([contradicted.version, contradicted.status, contradicted.bank], [3, 'UNCONFIRMED', null])
  assert.equal(localTime(Date.parse(contradicted.from)).day, day)
})

test('[import.3] a row that our books, or another statement, have otherwise is different, and a case', async (t) => {
  const pix = await closeWorld(t)
  const { endToEndId, id } = await pix.paid('10.00')
  const day = await pix.endDay()
  const row = { kind: 'PAYMENT_RECEIVED', direction: 'in', value: '11,00', endToEndId, reference: id }
  const { body } = await bring(pix, fileOf(day, '11,00', [row]))
  assert.deepEqual([body.matched, body.different], [0, 1])
  assert.deepEqual(await cases(pix.database), ['statement_differs'])
  const second = await bring(pix, fileOf(day, '12,00', [{ ...row, value: '12,00' }]))
  assert.equal(second.body.different, 2)
})

test('[close.3] [import.5] a bank whose statement promises no balance leaves a day unconfirmed, and a file of that day confirms it', async (t) => {
  const pix = await worldWithout(t, 'balance')
  const { endToEndId, id } = await pix.paid('10.00')
  const day = await pix.endDay()
  const first = await pix.close(day)
  assert.deepEqual([first.status, first.bank, first.differenceCents], ['UNCONFIRMED', null, null])
  assert.deepEqual(await cases(pix.database), [], 'that nobody said it is no difference')
  const paid = { kind: 'PAYMENT_RECEIVED', direction: 'in', value: '10,00', endToEndId, reference: id }
  assert.equal((await bring(pix, fileOf(day, '10,00', [paid]))).body.matched, 1)
  pix.clock.advance(3_600_000)
  await pix.service.closeDays()
  const second = await pix.close(day)
  assert.deepEqual([second.version, second.status, second.changed], [2, 'BALANCED', ['bank', 'differenceCents']])
  assert.deepEqual(second.bank, { closingCents: 10_00, source: 'import' })
  const next = await pix.close(await pix.endDay())
  assert.equal(next.status, 'UNCONFIRMED', 'a file confirms the days that it is of, and no other')
})

test('[import.5] a file of several days confirms each of them, as far as its own rows are all that is known of them', async (t) => {
  const pix = await paperWorld(t)
  const one = await pix.paid('10.00')
  const first = await pix.endDay()
  const other = await pix.paid('5.00')
  const second = await pix.endDay()
  const row = (endToEndId: string, reference: string, value: string): Row => ({
    ...{ kind: 'PAYMENT_RECEIVED', direction: 'in', value, endToEndId, reference },
  })
  const text = fileOf(first, '15,00', [row(one.endToEndId, one.id, '10,00'), row(other.endToEndId, other.id, '5,00')])
    .replace(`${first};23:59:59;CLOSING`, `${second};23:59:59;CLOSING`)
    .replace(`${first};10:00:00;PAYMENT_RECEIVED;in;5,00`, `${second};10:00:00;PAYMENT_RECEIVED;in;5,00`)
  assert.equal((await bring(pix, text)).status, 200)
  pix.clock.advance(3_600_000)
  await pix.service.closeDays()
  const bankOf = async (day: string) => (await pix.close(day)).bank
  assert.deepEqual(await bankOf(first), { closingCents: 10_00, source: 'import' })
  assert.deepEqual(await bankOf(second), { closingCents: 15_00, source: 'import' })

  // Another file has another balance at the end of the first day: which of the two is right nobody can tell.
  await bring(pix, fileOf(first, '1,00', [row('E-more', '', '1,00')]))
  pix.clock.advance(3_600_000)
  await pix.service.closeDays()
  assert.equal(await bankOf(first), null, 'neither counts')
  assert.deepEqual(await bankOf(second), { closingCents: 15_00, source: 'import' })
})

test('[import.3] of two files that come at once and have a row otherwise one is kept, and the other is told as a case', async (t) => {
  const pix = await closeWorld(t)
  const { endToEndId, id } = await pix.paid('10.00')
  const day = await pix.endDay()
  const row = { kind: 'PAYMENT_RECEIVED', direction: 'in', endToEndId, reference: id }
  const holder = await openHolder(pix.databaseUrl)
  await holder.hold('LOCK TABLE statement_import_entry IN SHARE ROW EXCLUSIVE MODE')
  const both = Promise.all(['10,00', '12,00'].map((value) => bring(pix, fileOf(day, value, [{ ...row, value }]))))
  await holder.waiting(2)
  await holder.release()
  for (const { status } of await both) assert.equal(status, 200)
  const contradicting = await pix.database.rows<[], { contradicting: number }>(
    { name: 'test.contradicting', text: 'SELECT contradicting FROM statement_import ORDER BY contradicting' },
    [],
  )
  assert.deepEqual(contradicting, [{ contradicting: 0 }, { contradicting: 1 }])
  const facts = await caseFacts(pix.database, 'statement_differs')
  const told = facts.map((one) => ('valueCents' in one ? one.valueCents : 'balances'))
  assert.ok(told.includes(12_00) && told.includes('balances'), 'whichever came first')
})

test('[import.1] a file of too many lines or days, and an amount that is too large, are refused before anything is looked for', async (t) => {
  const pix = await closeWorld(t)
  const day = await pix.endDay()
  const faults: readonly (readonly [string, string])[] = [
    [`${HEADER}\n${'a\n'.repeat(2_000_000)}`, 'lines'],
    [fileOf('2020-01-01', '0,00', []).replace('2020-01-01;23', `${day};23`), 'lines[3].day'],
    [fileOf(day, '999999999999999,99', [], '999999999999999,99'), 'lines[2].value'],
    [fileOf(day, '0,00', []).replace('\r\n', `\r\n${';'.repeat(4_000_000)}\r\n`), 'lines[2].row'],
    [fileOf(day, '0,00', []).replace('\r\n', `\r\n"${'""'.repeat(2_000_000)}"\r\n`), 'lines[2].row'],
  ]
  for (const [text, field] of faults) {
    const { status, body } = await bring(pix, text)
    assert.deepEqual([status, body.errors?.[0]?.field], [400, field])
  }
})

test('[import.3] files of days that overlap count each movement once, and what only the later one has is looked for', async (t) => {
  const pix = await paperWorld(t)
  const one = await pix.paid('10.00')
  const first = await pix.endDay()
  const other = await pix.paid('5.00')
  const second = await pix.endDay()
  const line = (endToEndId: string, reference: string, value: string): Row => ({
    ...{ kind: 'PAYMENT_RECEIVED', direction: 'in', value, endToEndId, reference },
  })
  await bring(pix, fileOf(first, '10,00', [line(one.endToEndId, one.id, '10,00')]))
  const rows = [line(one.endToEndId, one.id, '10,00'), line(other.endToEndId, other.id, '5,00')]
  const text = fileOf(first, '15,00', rows)
    .replace(`${first};23:59:59`, `${second};23:59:59`)
    .replace(`${first};10:00:00;PAYMENT_RECEIVED;in;5,00`, `${second};10:00:00;PAYMENT_RECEIVED;in;5,00`)
  const { body } = await bring(pix, text)
  assert.partialDeepStrictEqual(body, { rows: 2, matched: 2, different: 0, onlyTheirs: 0, onlyOurs: 0 })
  const [kept] = await pix.database.rows<[], { rows: number }>(
    { name: 'test.kept_once', text: 'SELECT count(*)::integer AS rows FROM statement_import_entry' },
    [],
  )
  assert.equal(kept?.rows, 2)
  assert.deepEqual(await cases(pix.database), [])
})

test('[import.1] reading ends with the hundredth fault', async (t) => {
  const pix = await closeWorld(t)
  const day = await pix.endDay()
  const { status, body } = await bring(
    pix,
    fileOf(day, '0,00', []).replace('\r\n', `\r\n${';;;;;;;\r\n'.repeat(50_000)}`),
  )
  assert.deepEqual([status, body.errors.length, body.errors.at(-1).field.startsWith('lines[')], [400, 100, true])
})

test('[import.1] a file of many rows is imported', async (t) => {
  const pix = await closeWorld(t)
  const day = await pix.endDay()
  const rows = Array.from({ length: 20_000 }, (_, at) => ({
    ...{ kind: 'PAYMENT_RECEIVED', direction: 'in', value: '0,01' },
    endToEndId: `E${String(at).padStart(7, '0')}`,
  }))
  const { status, body } = await bring(pix, fileOf(day, '200,00', rows))
  assert.deepEqual([status, body.rows, body.onlyTheirs], [200, 20_000, 20_000])
})
