import assert from 'node:assert/strict'
import test from 'node:test'
import { accounts } from '@pixgate/spec'
import { createExporter, csvLine, decimalText, ledgerCsv } from '../../src/closes/export.ts'
import { entryId } from '../../src/ledger/index.ts'
import type { Queries } from '../../src/platform/db/database.ts'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import { boundsOf, localTime } from '../../src/platform/sao-paulo.ts'
import { administer, connectionsEnd } from '../support/database.ts'
import { databaseLink } from '../support/database-link.ts'
import { minutes } from '../support/stepping.ts'
import { ADMIN_TOKEN, type Answer } from '../support/world.ts'
import { centsOf, readCsv } from './csv-reading.ts'
import { type CloseWorld, closeWorld } from './fixture.ts'
import { elementsOf, ofxFaults } from './ofx-reading.ts'

interface Booked {
  readonly account: string
  readonly public_id: string
  readonly version: bigint
  readonly amount_cents: bigint
  readonly balance_after_cents: bigint
  readonly at: number
}

function booked({ database }: CloseWorld): Promise<Booked[]> {
  return database.rows<[], Booked>(
    {
      name: 'test.booked',
      text: `SELECT a.code AS account, a.public_id, e.version, e.amount_cents, e.balance_after_cents, e.at
               FROM entry e JOIN account a ON a.id = e.account_id ORDER BY a.id, e.version`,
    },
    [],
  )
}

async function busyDay(pix: CloseWorld): Promise<string> {
  await pix.balance(100_00)
  await pix.cashOut({ value: 30.01 })
  const { id } = await pix.paid('25.50')
  await pix.refundIn(id, 5.5)
  await minutes(pix, 3)
  return pix.endDay()
}

test('[export.1] a line has ; between its cells, a comma before the centavos, and ends with CR LF', () => {
  assert.equal(csvLine(['a', 12, { cents: -123_456n }, null, 'b;"c']), 'a;12;-1234,56;;"b;""c"\r\n')
  assert.deepEqual(
    [0n, 5n, -5n, 100n, -9_223_372_036_854_775_807n].map((cents) => decimalText(cents, ',')),
    ['0,00', '0,05', '-0,05', '1,00', '-92233720368547758,07'],
  )
})

test('[export.2] what a spreadsheet would take for a formula is text', async (t) => {
  for (const begins of ['=', '+', '-', '@', '\t', '\r', '\n', ' =', ' \t@', '\uff1d', '\uff0b', '\uff0d', '\uff20']) {
    assert.match(csvLine([`${begins}cmd|' /C calc'!A0`]), /^"?'/, JSON.stringify(begins))
  }
  const pix = await closeWorld(t)
  const { id } = await pix.charge('1.00', { externalId: '=HYPERLINK("https://thief.example";"x")' })
  await pix.bankAction(`charges/${id}/pay`)
  await pix.becomes(id, 'PAID')
  const day = await pix.endDay()
  const { body } = await pix.operator('GET', `/operator/ledger/export?from=${day}&to=${day}`)
  const [entry] = readCsv(body).filter(({ line }) => line === 'ENTRY')
  assert.equal(entry?.external_id, `'=HYPERLINK("https://thief.example";"x")`)
})

test('[export.3] [export.1] [close.2] the ledger of a period is all of it, day after day, to the centavo, in UTF-8 that says so', async (t) => {
  const pix = await closeWorld(t)
  const first = await busyDay(pix)
  await pix.balance(12_34)
  const days = [first, await pix.endDay(), await pix.endDay()]
  const answer = await fetch(`${pix.operatorUrl}/operator/ledger/export?from=${first}&to=${days[2]}&format=csv`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  })
  assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8')
  const bytes = Buffer.from(await answer.arrayBuffer())
  assert.deepEqual([...bytes.subarray(0, 3)], [0xef, 0xbb, 0xbf])
  assert.ok(bytes.toString().endsWith('\r\n'))
  const rows = readCsv(bytes.toString())
  const entries = await booked(pix)
  assert.deepEqual(
    rows
      .filter(({ line }) => line === 'ENTRY')
      .map(({ account, debit, credit, balance, day: on, time, entry_id }) => {
        return { account, cents: centsOf(credit) - centsOf(debit), balance: centsOf(balance), on, time, entry_id }
      }),
    entries.map(({ account, public_id, version, amount_cents, balance_after_cents, at }) => {
      const { day: on, time } = localTime(at)
      const entry_id = entryId(public_id, version)
      return { account, cents: amount_cents, balance: balance_after_cents, on, time, entry_id }
    }),
  )
  for (const account of new Set(entries.map((entry) => entry.account))) {
    const cents = entries.filter((entry) => entry.account === account).map(({ amount_cents }) => amount_cents)
    const closing = rows.find((row) => row.account === account && row.line === 'CLOSING')
    assert.equal(
      centsOf(closing?.balance),
      cents.reduce((sum, each) => sum + each, 0n),
      account,
    )
  }
  const carried = new Map<string, bigint>()
  const listed: string[] = []
  for (const day of days) {
    const { accounts: closed } = await pix.close(day)
    const { body } = await pix.operator('GET', `/operator/ledger/export?from=${day}&to=${day}`)
    for (const { line, account = '', balance, entry_id = '' } of readCsv(body)) {
      if (line === 'ENTRY') listed.push(entry_id)
      if (line === 'OPENING') assert.equal(centsOf(balance), carried.get(account) ?? 0n, `${account} ${day}`)
      if (line !== 'CLOSING') continue
      carried.set(account, centsOf(balance))
      const figures = closed.find((row: Answer['body']) => row.account === account)
      assert.equal(BigInt(figures.closingCents), centsOf(balance), `${account} ${day}`)
    }
  }
  const known = entries.map(({ public_id, version }) => entryId(public_id, version))
  assert.deepEqual(listed.toSorted(), known.toSorted(), 'each entry is of one day')
})

test('[export.3] a period that is none is 400 with the field, and no export begins', async (t) => {
  const pix = await closeWorld(t)
  for (const [query, field] of [
    ['from=2026-02-30&to=2026-03-01', 'from'],
    ['from=2026-03-02&to=2026-03-01', 'to'],
    ['from=2025-01-01&to=2026-03-01', 'to'],
    ['from=1626-03-01', 'from'],
  ]) {
    const { status, body } = await pix.operator('GET', `/operator/ledger/export?${query}`)
    assert.deepEqual([status, body.code, body.errors[0].field], [400, 'validation_error', field], query)
  }
})

/** Writes so many entries of a centavo on the merchant's account, as if they had been booked now. */
function writeEntries(pix: CloseWorld, count: number): Promise<void> {
  return administer(
    pix.databaseUrl,
    `SET session_replication_role = replica;
     INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference, posting, shown, at)
     SELECT 1, n, 1, n, gen_random_uuid(), 'cash_in_paid', '', 0, 'CASH_IN', '${new Date(pix.clock.now()).toISOString()}'
       FROM generate_series(1, ${count}) n;
     UPDATE account SET version = ${count}, balance_cents = ${count} WHERE id = 1`,
  )
}

const AS_OPERATOR = { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } }

test('[export.3] a hundred thousand entries are exported page by page, and no more than two pages are held', async (t) => {
  const pix = await closeWorld(t)
  const count = 100_000
  await writeEntries(pix, count)
  let [read, sent, most] = [0, 0, 0]
  const counting = (queries: Queries): Queries => ({
    rows: async (asked, parameters) => {
      const rows = await queries.rows(asked, parameters)
      if (asked.name === 'closes.export_entries') read += rows.length
      return rows
    },
  })
  const period = boundsOf(pix.today())
  const stream = await createExporter(pix.databaseUrl).stream((queries) => ledgerCsv(counting(queries), period))
  for await (const chunk of stream) {
    // Lines that are no entries are counted too: the balances of each account, and the header.
    sent += String(chunk).split('\n').length - 1
    most = Math.max(most, read - sent)
  }
  assert.equal(sent, 1 + Object.keys(accounts).length * 2 + count)
  assert.ok(most <= 4_000, `${most} entries were held at once`)
})

test('[export.3] an export of a database that is away is 503 before the first byte, and afterwards breaks off', async (t) => {
  const link = databaseLink(t)
  const pix = await closeWorld(t, { reach: link.reach })
  await writeEntries(pix, 100_000)
  const day = await pix.endDay()
  const url = `${pix.operatorUrl}/operator/ledger/export?from=${day}&to=${day}`
  const answer = await fetch(url, AS_OPERATOR)
  assert.equal(answer.status, 200)
  const reader = answer.body?.getReader()
  await reader?.read()
  link.interrupt()
  await assert.rejects(async () => {
    while (!(await reader?.read())?.done);
  }, 'the body must not look whole')
  const refusals = [
    await pix.operator('GET', `/operator/ledger/export?from=${day}&to=${day}`),
    await pix.operator('GET', `/operator/closes/${day}/ofx`),
  ]
  for (const { status, body } of refusals) assert.deepEqual([status, body.code], [503, 'overloaded'])
  link.restore()
})

test('[export.3] an export that cannot read its first statement is 503 too', async (t) => {
  const link = databaseLink(t)
  const pix = await closeWorld(t)
  const exporter = createExporter(await link.reach(pix.databaseUrl))
  const interrupted = link.interruptAt('closes.accounts', 'response')
  const isOver = assert.rejects(
    exporter.stream((queries) => ledgerCsv(queries, boundsOf(pix.today()))),
    DatabaseUnavailable,
  )
  await Promise.race([interrupted, isOver])
  link.restore()
  await isOver
})

test('[export.3] whoever goes away ends the export and its snapshot; a third one that waits too long is 503', async (t) => {
  const pix = await closeWorld(t)
  await pix.balance(10_00)
  const exporter = createExporter(pix.databaseUrl, 1)
  async function* endless() {
    for (;;) yield 'x'.repeat(100_000)
  }
  const [one, other] = [await exporter.stream(endless), await exporter.stream(endless)]
  await assert.rejects(exporter.stream(endless), { code: 'overloaded' })
  for (const stream of [one, other]) {
    stream.on('error', () => undefined)
    stream.destroy()
  }
  await connectionsEnd(pix.databaseUrl, 'pixgate export')
  const third = await exporter.stream(async function* () {
    yield 'done'
  })
  assert.equal(Buffer.concat(await third.toArray()).toString(), 'done')
  await assert.rejects(
    exporter.stream(async function* () {
      yield ''
      throw new Error('nothing could be read')
    }),
    /nothing could be read/,
  )
})

test('[export.4] OFX has every entry of the merchant’s account, under the id of the ledger, and its balance', async (t) => {
  const pix = await closeWorld(t)
  const day = await busyDay(pix)
  const { headers, body } = await pix.operator('GET', `/operator/closes/${day}/ofx`)
  assert.equal(headers.get('content-type'), 'application/x-ofx')
  assert.ok(body.startsWith('OFXHEADER:100\r\nDATA:OFXSGML\r\nVERSION:102\r\n'))
  assert.deepEqual(ofxFaults(body), [])
  assert.deepEqual(elementsOf(body, 'CURDEF'), ['BRL'])
  const entries = (await booked(pix)).filter(({ account }) => account === 'available')
  const posted = elementsOf(body, 'STMTTRN').map((text) => {
    const [fitid, amount = '', at] = ['FITID', 'TRNAMT', 'DTPOSTED'].map((name) => elementsOf(text, name)[0])
    return { fitid, cents: BigInt(amount.replace('.', '')), at }
  })
  assert.deepEqual(
    posted,
    entries.map(({ public_id, version, amount_cents, at }) => {
      const { day: on, time } = localTime(at)
      return {
        fitid: entryId(public_id, version),
        cents: amount_cents,
        at: `${on.replaceAll('-', '')}${time.replaceAll(':', '')}[-3:BRT]`,
      }
    }),
  )
  const [balance = ''] = elementsOf(body, 'BALAMT')
  assert.equal(
    BigInt(balance.replace('.', '')),
    posted.reduce((sum, { cents }) => sum + cents, 0n),
  )
  assert.equal(new Set(posted.map(({ fitid }) => fitid)).size, posted.length)
  assert.equal((await pix.operator('GET', `/operator/closes/${day}/ofx`)).body, body)
  const quiet = (await pix.operator('GET', `/operator/closes/${await pix.endDay()}/ofx`)).body
  assert.deepEqual([elementsOf(quiet, 'STMTTRN'), elementsOf(quiet, 'BALAMT')], [[], [balance]])
})

test('[export.1] a close as CSV has the figures of the close', async (t) => {
  const pix = await closeWorld(t)
  const day = await busyDay(pix)
  const close = await pix.close(day)
  const { body } = await pix.operator('GET', `/operator/closes/${day}/csv`)
  const rows = readCsv(body)
  const of = (name: string) => rows.filter(({ line }) => line === name)
  assert.deepEqual(
    of('CLOSING').map(({ account, amount }) => [account, centsOf(amount)]),
    close.accounts.map(({ account, closingCents }: Answer['body']) => [account, BigInt(closingCents)]),
  )
  assert.deepEqual(
    of('MOVEMENT').map(({ name, account, count, amount }) => [name, account, Number(count), centsOf(amount)]),
    close.journals.flatMap(({ journal, count, accounts }: Answer['body']) =>
      accounts.map(({ account, cents }: Answer['body']) => [journal, account, count, BigInt(cents)]),
    ),
  )
  const text = (name: string) => of(name)[0]?.text
  assert.deepEqual([text('STATUS'), text('HASH'), text('BANK')], ['BALANCED', close.hash, ''])
  assert.equal(centsOf(of('BANK')[0]?.amount), BigInt(close.bank.closingCents))
})
