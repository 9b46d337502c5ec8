import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { COLUMNS } from '../../src/bank-statement/import/file.ts'
import { boundsOf, localTime } from '../../src/platform/sao-paulo.ts'
import { balances } from '../support/books.ts'
import { caseFacts, cases } from '../support/evidence.ts'
import { ADMIN_TOKEN, type Answer } from '../support/world.ts'
import { type CloseWorld, closeWorld } from './fixture.ts'

const MINUTE = 60_000
const HEADER = COLUMNS.join(';')

/** A movement of a file; what a test cares about is given. */
interface Row {
  readonly kind: string
  readonly direction: string
  readonly value: string
  readonly endToEndId: string
  readonly returnId?: string
  readonly reference?: string
}

/** A file of one day, whose movements account for its balances unless a test says otherwise. */
function fileOf(day: string, closing: string, rows: readonly Row[], opening = '0,00'): string {
  const lines = rows.map(({ kind, direction, value, endToEndId, returnId = '', reference = '' }) =>
    [day, '10:00:00', kind, direction, value, endToEndId, returnId, reference].join(';'),
  )
  return [
    HEADER,
    `${day};00:00:00;OPENING_BALANCE;;${opening};;;`,
    ...lines,
    `${day};23:59:59;CLOSING_BALANCE;;${closing};;;`,
    '',
  ].join('\r\n')
}

function bring(pix: CloseWorld, text: string, type = 'text/csv'): Promise<Answer> {
  return pix.operator('POST', '/operator/statement-imports', text, { 'content-type': type })
}

/** A world of a bank whose statement nobody can read but people. */
function paperWorld(t: TestContext): Promise<CloseWorld> {
  return closeWorld(t, {
    bank: (simulated) => {
      const capabilities = new Set(simulated.capabilities)
      capabilities.delete('statement')
      capabilities.delete('balance')
      return { ...simulated, capabilities } as typeof simulated
    },
  })
}

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

test('[import.5] where no statement is read, what only our books have is a case, which a later file closes, and the day takes its balance from the file', async (t) => {
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
  assert.deepEqual(await cases(pix.database), ['statement_missing (closed)'])
  pix.clock.advance(3_600_000)
  await pix.service.closeDays()
  const balanced = await pix.close(day)
  assert.deepEqual(
    [balanced.version, balanced.status, balanced.bank],
    [3, 'BALANCED', { closingCents: 10_00, source: 'import' }],
  )
  assert.equal(localTime(Date.parse(balanced.from)).day, day)
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
