import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { compareWithBank } from '../../src/ledger/verify/bank.ts'
import { withSnapshot } from '../../src/platform/db/snapshot.ts'
import { verifyLedger } from '../../src/verify-ledger.ts'
import { decidingOver } from '../cases/without-operation/fixture.ts'
import { type CloseWorld, closeWorld, payUnknown } from '../closes/fixture.ts'
import { bankWithout } from '../support/bank-without.ts'
import { administer, testDatabase } from '../support/database.ts'
import { cases } from '../support/evidence.ts'
import { as, login } from '../support/logins.ts'

/** What `verify-ledger` says of the bank, and how it ends. */

const OPENING_CENTS = 5_000_00

/** Runs the program as somebody who may read, and nothing else. */
async function verifying(t: TestContext, pix: CloseWorld) {
  const url = as(pix.databaseUrl, await login(t, 'IN ROLE pg_read_all_data'))
  const run = async (...parameters: string[]) => {
    const printed = t.mock.method(console, 'log', () => undefined)
    const code = await verifyLedger(parameters, 'verify-ledger', async () => ({
      url,
      keys: undefined,
      stop: async () => undefined,
    }))
    const output = String(printed.mock.calls[0]?.arguments[0])
    printed.mock.restore()
    return { code, output }
  }
  return {
    text: () => run(),
    json: async () => {
      const { code, output } = await run('--json')
      return { code, ...JSON.parse(output) }
    },
  }
}

async function minutes(pix: CloseWorld, count: number): Promise<void> {
  for (let minute = 0; minute < count; minute += 1) await pix.later(60_000)
}

async function adjust(pix: CloseWorld, valueCents: number): Promise<void> {
  const { status } = await pix.operator('POST', '/operator/adjustments', { valueCents, reason: 'opening balance' })
  assert.equal(status, 201)
}

test('[ledger.verify.6] incoming money that nothing explains is listed and ends with 1, until it is decided', async (t) => {
  const pix = await closeWorld(t)
  const verify = await verifying(t, pix)
  await pix.balance(100_00)
  await minutes(pix, 2)
  const clean = await verify.text()
  assert.equal(clean.code, 0, clean.output)
  assert.match(clean.output, /compared with the bank's statement from \S+ to \S+: 1 movement, no difference$/m)

  const endToEndId = await payUnknown(pix, 50_00)
  await minutes(pix, 8)
  const { code, output } = await verify.text()
  assert.equal(code, 1, output)
  assert.match(output, /: no drift$/m)
  assert.match(output, /: 2 movements, 1 difference$/m)
  assert.match(output, new RegExp(`^    R\\$ 50,00: PAYMENT_RECEIVED ${endToEndId}, case \\S+ open since `, 'm'))
  const { statement } = await verify.json()
  assert.partialDeepStrictEqual(statement.differences, [
    { kind: 'unexplained_credit', reference: `PAYMENT_RECEIVED ${endToEndId}`, operationId: null, cents: 50_00 },
  ])

  await decidingOver(pix).decide('unexplained_credit', 'credit', { evidence: { endToEndId } })
  await minutes(pix, 2)
  const decided = await verify.text()
  assert.equal(decided.code, 0, decided.output)
  assert.match(decided.output, /: 2 movements, no difference$/m)
})

test('[ledger.verify.6] a false opening balance is not compared before the first close, and ends with 1 after it, until it is decided or taken back', async (t) => {
  const pix = await closeWorld(t, {}, { PIXGATE_DESK_APPROVAL_FROM_CENTS: String(OPENING_CENTS + 1) })
  const verify = await verifying(t, pix)
  await pix.balance(100_00)
  await adjust(pix, OPENING_CENTS)
  await minutes(pix, 2)
  const before = await verify.text()
  assert.equal(before.code, 0, before.output)
  assert.match(before.output, /^Books not compared with the bank's balance: no daily close knows it$/m)
  assert.match(before.output, /^Not compared with the bank: 1 adjustment, R\$ 5\.000,00 together$/m)

  const day = await pix.endDay()
  const { code, output } = await verify.text()
  assert.equal(code, 1, output)
  const compared = `balance at the end of ${day} (${(await pix.close(day)).to}): bank R$ 100,00, books R$ 5.100,00, difference -R$ 5.000,00`
  assert.ok(output.includes(compared), output)
  assert.match(output, /^✘ close_differs: -R\$ 5\.000,00, case /m)
  assert.doesNotMatch(output, /Not compared/)

  await decidingOver(pix).decide('close_differs', 'close', { evidence: { reference: 'letter 7' } })
  assert.equal((await verify.text()).code, 0)
  await pix.endDay()
  assert.partialDeepStrictEqual(await verify.json(), {
    code: 0,
    bankBalance: { compared: { unexplainedCents: -OPENING_CENTS, isDecided: true } },
  })

  await adjust(pix, -OPENING_CENTS)
  assert.match(
    (await verify.text()).output,
    /^Not compared with the bank since \S+: 1 adjustment, -R\$ 5\.000,00 together$/m,
  )
  await pix.endDay()
  assert.partialDeepStrictEqual(await verify.json(), {
    code: 0,
    bankBalance: { compared: { differenceCents: 0, caseId: null }, adjustmentsSince: { count: 0 } },
  })
  await adjust(pix, OPENING_CENTS)
  await pix.endDay()
  assert.equal((await verify.text()).code, 1, 'the same amount again is another case')
  assert.deepEqual(await cases(pix.database), ['close_differs (closed)', 'close_differs'])
})

test('[ledger.verify.6] a bank whose statement is never read confirms nothing', async (t) => {
  const pix = await closeWorld(t, bankWithout('statement'))
  const verify = await verifying(t, pix)
  await pix.balance(100_00)
  await pix.endDay()
  const { code, output } = await verify.text()
  assert.equal(code, 0, output)
  assert.match(output, /^Books not compared with the bank's statement: it was never read$/m)
  assert.match(output, /^Books not compared with the bank's balance: no daily close knows it$/m)
})

const CASES: readonly (readonly [kind: string, facts: object, amountCents: number | null, cents: bigint | null])[] = [
  ['statement_unreadable', { list: 'received' }, 7, null],
  ['line_missing', { valueCents: 90 }, 90, 90n],
  ['unexplained_credit', { valueCents: 70 }, 70, 70n],
  ['unexplained_debit', { valueCents: 65 }, 65, 65n],
  ['line_differs', { valueCents: 100, booked: { valueCents: 160 }, before: { valueCents: 1 } }, 160, 60n],
  // Booked on another operation: all of it.
  ['line_differs', { valueCents: 50, booked: { valueCents: 50 } }, 50, 50n],
  ['line_differs', { valueCents: 100, before: { valueCents: 140 } }, 140, 40n],
  ['line_differs', { valueCents: 'x', booked: [] }, 30, 30n],
]

test('[ledger.verify.6] every open case about the statement is a difference, with what differs, and no other case is', async (t) => {
  const { url } = await testDatabase(t)
  const insert = (kind: string, reference: string, facts: object, cents: number | null) => `
    INSERT INTO "case" (id, operation_id, kind, reference, facts, amount_cents, opened_at)
    VALUES (gen_random_uuid(), NULL, '${kind}', '${reference}',
            '${JSON.stringify(facts)}', ${cents}, now())`
  for (const [index, [kind, facts, amount]] of CASES.entries()) {
    await administer(url, insert(kind, String(index), facts, amount))
    await administer(url, insert(kind, `closed ${index}`, facts, amount))
  }
  for (const kind of ['event_set_aside', 'ledger_drift', 'close_differs']) {
    await administer(url, insert(kind, 'other', { valueCents: 1_000 }, 1_000))
  }
  // Of an operation: what it tells of is booked, on another one.
  await administer(url, insert('movement_elsewhere', 'other', {}, 1_000).replace('NULL,', 'gen_random_uuid(),'))
  await administer(url, `UPDATE "case" SET closed_at = now() WHERE reference LIKE 'closed %'`)
  const { differences } = await withSnapshot({ url, name: 'test' }, compareWithBank)
  assert.deepEqual(
    differences.map(({ kind, reference, cents }) => [kind, reference, cents]),
    CASES.map(([kind, , , cents], index) => [kind, String(index), cents]),
  )
})
