import assert from 'node:assert/strict'
import test from 'node:test'
import { statementCsv } from '../../src/closes/csv.ts'
import { createExporter } from '../../src/closes/export.ts'
import type { Queries } from '../../src/platform/db/database.ts'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import { boundsOf } from '../../src/platform/sao-paulo.ts'
import { administer, connectionsEnd } from '../support/database.ts'
import { databaseLink } from '../support/database-link.ts'
import { ADMIN_TOKEN } from '../support/world.ts'
import { type CloseWorld, closeWorld } from './fixture.ts'

/** Exports as streams: their memory, and their ends. */

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

test('[export.3] a hundred thousand lines are exported page by page, and no more than two pages are held', async (t) => {
  const pix = await closeWorld(t)
  const count = 100_000
  await writeEntries(pix, count)
  let [read, sent, most] = [0, 0, 0]
  const counting = (queries: Queries): Queries => ({
    rows: async (asked, parameters) => {
      const rows = await queries.rows(asked, parameters)
      if (asked.name === 'closes.statement_lines') read += rows.length
      return rows
    },
  })
  const period = boundsOf(pix.today())
  const stream = await createExporter(pix.databaseUrl).stream((queries) =>
    statementCsv(counting(queries), period, 'rfc4180'),
  )
  for await (const chunk of stream) {
    // The header is counted too.
    sent += String(chunk).split('\n').length - 1
    most = Math.max(most, read - sent)
  }
  assert.equal(sent, 1 + count)
  assert.ok(most <= 4_000, `${most} lines were held at once`)
})

test('[export.3] an export of a database that is away is 503 before the first byte, and afterwards breaks off', async (t) => {
  const link = databaseLink(t)
  const pix = await closeWorld(t, { reach: link.reach })
  await writeEntries(pix, 100_000)
  const day = await pix.endDay()
  const url = `${pix.operatorUrl}/operator/statement?from=${day}&to=${day}`
  const answer = await fetch(url, AS_OPERATOR)
  assert.equal(answer.status, 200)
  const reader = answer.body?.getReader()
  await reader?.read()
  link.interrupt()
  await assert.rejects(async () => {
    while (!(await reader?.read())?.done);
  }, 'the body must not look whole')
  const refusals = [
    await pix.operator('GET', `/operator/statement?from=${day}&to=${day}`),
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
    exporter.stream((queries) => statementCsv(queries, boundsOf(pix.today()), 'rfc4180')),
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
