import assert from 'node:assert/strict'
import test from 'node:test'
import { bounded, type FileDifference } from '../../src/bank-statement/import/bound/bound.ts'
import { decidingOver } from '../desk/loose/fixture.ts'
import { administer } from '../support/database.ts'
import { caseFacts, cases } from '../support/evidence.ts'
import type { CloseWorld } from './fixture.ts'
import { bring, fileOf, paperWorld, type Row } from './statement-file.ts'

/** Files that differ in everything: of another account, or made up. */

const MINUTE = 60_000
const ROWS = 300

async function minutes(pix: CloseWorld, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) await pix.later(MINUTE)
}

/** How many cases of each kind are open. */
async function open(pix: CloseWorld): Promise<Record<string, number>> {
  const kinds = (await cases(pix.database)).filter((kind) => !kind.endsWith('(closed)'))
  return Object.fromEntries([...new Set(kinds)].map((kind) => [kind, kinds.filter((one) => one === kind).length]))
}

/** Somebody closes one of them. */
function closeOne(pix: CloseWorld): Promise<void> {
  return administer(
    pix.databaseUrl,
    `UPDATE "case" SET closed_at = now()
      WHERE id = (SELECT id FROM "case" WHERE kind = 'statement_unexplained' AND closed_at IS NULL LIMIT 1)`,
  )
}

/** Another account's statement: so many payments, of 1 to so many centavos. */
function strangersFile(day: string): string {
  const rows = Array.from({ length: ROWS }, (_, at): Row => {
    const value = `${Math.floor((at + 1) / 100)},${String((at + 1) % 100).padStart(2, '0')}`
    return { kind: 'PAYMENT_RECEIVED', direction: 'in', value, endToEndId: `E-strange-${at}` }
  })
  return fileOf(day, '451,50', rows)
}

test('[import.7] a file has twenty cases at once, the largest first, and one that stands for the others', () => {
  const found = Array.from({ length: 50 }, (_, at): FileDifference => {
    const importId = at % 2 === 0 ? 'one' : 'other'
    return { kind: 'statement_unexplained', reference: `${at}`, facts: { valueCents: at }, isDanger: false, importId }
  })
  const { within, beyond } = bounded(found, new Map([['one', 18]]))
  assert.deepEqual(
    within.filter(({ importId }) => importId === 'one').map(({ reference }) => reference),
    ['48', '46'],
  )
  assert.equal(within.length, 22)
  assert.deepEqual([...beyond].toSorted(), ['one', 'other'])
})

test('[import.7] another account’s file does not fill the desk: the next ones become cases as others close, until it is given up', async (t) => {
  const pix = await paperWorld(t)
  pix.clock.advance(10 * MINUTE)
  await pix.paid('3.00')
  const day = await pix.endDay()
  assert.equal((await bring(pix, strangersFile(day))).body.onlyTheirs, ROWS)
  await minutes(pix, 7)
  assert.deepEqual(await open(pix), { statement_missing: 1, statement_unexplained: 19, import_differs: 1 })
  const [rest] = await caseFacts(pix.database, 'import_differs')
  assert.partialDeepStrictEqual(rest, {
    ...{ source: 'import', firstDay: day, lastDay: day, rows: ROWS, onlyTheirs: ROWS - 19, onlyOurs: 0 },
    onlyTheirsInCents: ((ROWS - 19) * (ROWS - 18)) / 2,
    onlyTheirsOutCents: 0,
  })
  assert.deepEqual(
    (await caseFacts(pix.database, 'statement_unexplained')).map((facts) => 'valueCents' in facts && facts.valueCents),
    Array.from({ length: 19 }, (_, at) => ROWS - at),
  )
  await closeOne(pix)
  await minutes(pix, 2)
  assert.deepEqual(await open(pix), { statement_missing: 1, statement_unexplained: 19, import_differs: 1 })
  await decidingOver(pix).decideByTwo('import_differs', 'close')
  await closeOne(pix)
  await minutes(pix, 3)
  assert.deepEqual(await open(pix), { statement_missing: 1, statement_unexplained: 18 })
})

test('[import.7] what a file lacks is bounded alike, and is no case where the file is given up', async (t) => {
  const pix = await paperWorld(t)
  const day = pix.today()
  await administer(
    pix.databaseUrl,
    `SET session_replication_role = replica;
     INSERT INTO movement (direction, id, operation_id, value_cents)
       SELECT 'in', 'E-ours-' || n, gen_random_uuid(), n FROM generate_series(1, 30) n;
     INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference, posting, at)
       SELECT a.id, 100 + m.value_cents, -m.value_cents, 0, m.operation_id, 'cash_in_paid', m.id, 0,
              '${new Date(pix.clock.now() + 10 * MINUTE).toISOString()}'
         FROM movement m, account a WHERE m.id LIKE 'E-ours-%' AND a.code = 'settlement'`,
  )
  await pix.endDay()
  assert.equal((await bring(pix, fileOf(day, '0,00', []))).body.onlyOurs, 30)
  assert.deepEqual(await open(pix), { statement_missing: 20, import_differs: 1 })
  const [rest] = await caseFacts(pix.database, 'import_differs')
  assert.partialDeepStrictEqual(rest, { onlyTheirs: 0, onlyOurs: 10, onlyOursCents: 55 })
  await decidingOver(pix).decideByTwo('import_differs', 'close')
  await administer(pix.databaseUrl, `UPDATE "case" SET closed_at = now() WHERE kind = 'statement_missing'`)
  await minutes(pix, 2)
  assert.deepEqual(await open(pix), {})
})

test('[import.6] what a file lacks does not keep the bank’s own statement from lacking it', async (t) => {
  const pix = await paperWorld(t)
  pix.clock.advance(10 * MINUTE)
  const { endToEndId } = await pix.paid('10.00')
  const day = await pix.endDay()
  await bring(pix, fileOf(day, '0,00', []))
  assert.deepEqual(await open(pix), { statement_missing: 1 })
  const gaps = await pix.database.rows<[], { own: bigint; filed: bigint }>(
    {
      name: 'test.gaps',
      text: `SELECT (SELECT count(*) FROM statement_gap) AS own, (SELECT count(*) FROM statement_import_gap) AS filed`,
    },
    [],
  )
  assert.deepEqual(gaps, [{ own: 0n, filed: 1n }])
  const [row] = await pix.database.rows<[], { reference: string }>(
    { name: 'test.reference', text: `SELECT reference FROM "case" WHERE kind = 'statement_missing'` },
    [],
  )
  assert.equal(row?.reference, `in ${endToEndId} in a file 1000`)
  // The bank's own statement is read now.
  await administer(pix.databaseUrl, 'UPDATE statement_mark SET matched_until = now()')
  assert.deepEqual(await decidingOver(pix).offered('statement_missing'), ['close'])
})
