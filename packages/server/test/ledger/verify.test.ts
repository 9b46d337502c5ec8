import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { caseKinds } from '@pixgate/spec'
import fc from 'fast-check'
import pg from 'pg'
import { pino } from 'pino'
import { type BankComparison, isUndecided } from '../../src/ledger/verify/bank.ts'
import { checks } from '../../src/ledger/verify/checks.ts'
import {
  type AccountTotal,
  createLedgerVerifier,
  EXAMPLES_MAX,
  reportJson,
  reportText,
  trialBalance,
  verify,
} from '../../src/ledger/verify/verifier.ts'
import type { Queries } from '../../src/platform/db/database.ts'
import { withSnapshot } from '../../src/platform/db/snapshot.ts'
import type { Pause } from '../../src/platform/jobs/pause.ts'
import { assertBooks, balances } from '../support/books.ts'
import { administer, planOf, testDatabase } from '../support/database.ts'
import { type TestEngine, testEngine } from '../support/engine.ts'
import { decideOperation } from '../support/machine-decisions.ts'
import { createOperation, type Kind, MACHINES, moveOperation } from '../support/machine-operations.ts'

/** Every way an operation can begin. */
const BEGINNINGS = (Object.keys(MACHINES) as Kind[]).flatMap((kind) =>
  MACHINES[kind].rows.filter(({ from }) => from === null).map(({ to }) => ({ kind, to })),
)

/** Rows that do more than ask again. */
function telling<Step extends { from: string | null; to: string; posts?: string }>(rows: readonly Step[]): Step[] {
  return rows.filter(({ from, to, posts }) => from !== to || posts)
}

async function leadTo(one: TestEngine, id: string | undefined, ...states: string[]): Promise<string> {
  assert.ok(id, 'there was money for it')
  for (const [step, state] of states.entries()) {
    const reached = await moveOperation(one, id, (rows) => rows.find(({ to }) => to === state), `E${step}`)
    assert.equal(reached, state)
  }
  return id
}

/** Books with something of everything: paid, under way, ended, in doubt, and a debt. */
async function fullBooks(t: TestContext) {
  const { url, database } = await testDatabase(t)
  const one = testEngine(t, url)
  const cashIns = await Promise.all(
    Array.from({ length: 5 }, async () => leadTo(one, await createOperation(one, 'cash_in', 'PENDING'), 'PAID')),
  )
  const payouts = {
    reserved: await leadTo(one, await createOperation(one, 'cash_out', 'RESERVED')),
    confirmed: await leadTo(one, await createOperation(one, 'cash_out', 'RESERVED'), 'DISPATCHED', 'CONFIRMED'),
    doubtful: await leadTo(
      one,
      await createOperation(one, 'cash_out', 'RESERVED'),
      'DISPATCHED',
      'RECONCILIATION_REQUIRED',
    ),
  }
  const refund = await leadTo(one, await createOperation(one, 'refund_in', 'PENDING'))
  const hold = (rows: readonly { posts?: string }[]) => rows.findIndex(({ posts }) => posts === 'return_held')
  await moveOperation(one, cashIns[0] ?? '', (rows) => rows[hold(rows)], 'D1')
  await createOperation(one, 'refund_in', 'CONFIRMED')
  await createOperation(one, 'refund_in', 'CONFIRMED')
  await assertBooks(database)
  return { url, database, one, cashIns, payouts, refund }
}

test('[ledger.verify.1] whatever ways operations take through their tables, and whatever operators decide, nothing is found', async (t) => {
  const move = fc.record({ at: fc.nat(24), choice: fc.nat(99) })
  let decisions = 0
  await fc.assert(
    fc.asyncProperty(fc.array(move, { minLength: 120, maxLength: 160 }), async (moves) => {
      const { url, database } = await testDatabase(t)
      const one = testEngine(t, url)
      for (let payment = 0; payment < 12; payment++)
        await leadTo(one, await createOperation(one, 'cash_in', 'PENDING'), 'PAID')
      const living: string[] = []
      for (const [number, { at, choice }] of moves.entries()) {
        const id = living[at]
        const isDecided =
          id !== undefined &&
          choice % 2 === 0 &&
          (await decideOperation(one, id, (offered) => offered[choice % offered.length], `E${number}`)) !== undefined
        if (isDecided) decisions += 1
        if (isDecided) continue
        if (id !== undefined)
          await moveOperation(one, id, (rows) => telling(rows)[choice % telling(rows).length], `E${number}`)
        else {
          const { kind, to } = BEGINNINGS[choice % BEGINNINGS.length] ?? assert.fail()
          const born = await createOperation(one, kind, to)
          if (born !== undefined) living.push(born)
        }
      }
      await assertBooks(database)
    }),
    // Shrinking would make a database for each of its tries.
    { numRuns: 6, endOnFailure: true },
  )
  assert.ok(decisions > 0)
})

/** A payment of which nobody has a doubt. */
const UNDOUBTED = `(
  SELECT id FROM operation
   WHERE status = 'PAID' AND id NOT IN (SELECT operation_id FROM "case" WHERE operation_id IS NOT NULL) ORDER BY id LIMIT 1)`

/** As deep as a body of 64 KiB can be: too deep for PostgreSQL. */
const DEEP = `${'['.repeat(32_000)}${']'.repeat(32_000)}`

/** An event of it that was applied, as the inbox says. */
function event(told: object, key = 'cash-in'): string {
  const body = JSON.stringify({ status: 'CONFIRMED', occurredAt: '2026-11-21T12:00:00Z', ...told })
  return `
    WITH stored AS (
      INSERT INTO inbox (id, endpoint, body, received_at)
      VALUES (gen_random_uuid(), 'cash-in', convert_to('${body}', 'UTF8'), now()) RETURNING id)
    INSERT INTO inbox_event
      (inbox_id, ordinal, dedupe_key, content_hash, state, outcome, operation_id, processed_at)
    SELECT stored.id, 0, '["${key}"]', 'x', 'DONE', 'APPLIED', o.id, now() FROM stored, ${UNDOUBTED} o`
}

/** An event that tells a return that is booked, as one of a payment of the operation that `payer` selects. */
function returnNaming(payer: string): string {
  return `
    WITH booked AS (SELECT id, operation_id, value_cents FROM movement WHERE direction = 'out' ORDER BY id LIMIT 1),
         named AS (UPDATE operation o SET end_to_end_id = 'E1' FROM booked b WHERE b.operation_id = o.id),
         another AS (INSERT INTO movement (direction, id, operation_id, value_cents)
                     SELECT 'in', 'E9', p.id, 1 FROM (${payer}) AS p (id)),
         stored AS (INSERT INTO inbox (id, endpoint, body, received_at)
                  SELECT gen_random_uuid(), 'cash-in', convert_to(jsonb_build_object(
                           'event', 'CashInReversal', 'status', 'CONFIRMED', 'returnId', id, 'endToEndId', 'E9',
                           'valueCents', value_cents, 'occurredAt', now())::text, 'UTF8'), now()
                    FROM booked RETURNING id)
    INSERT INTO inbox_event (inbox_id, ordinal, dedupe_key, content_hash, state, operation_id, processed_at)
    SELECT stored.id, 0, '["cash-in"]', 'x', 'DONE', booked.operation_id, now()
      FROM stored, booked`
}

/** A close with its row in the audit trail. */
const CLOSE = `INSERT INTO daily_close VALUES ('2026-11-20', '2026-11-21 03:10Z', '{"status": "BALANCED"}');
  INSERT INTO audit (id, at, actor, action, subject, address, facts)
  SELECT gen_random_uuid(), made_at, 'daily-close', 'day.closed', day::text, '',
         jsonb_build_object('hash', encode(sha256(content::bytea), 'hex'))
    FROM daily_close`

/**
 * What can go wrong in the tables and which checks tell. The rows are changed as only a superuser can who switches the
 * database's own guards off.
 */
const DAMAGES: readonly (readonly [sql: string, found: readonly string[]])[] = [
  [
    "UPDATE entry SET amount_cents = amount_cents + 1 WHERE journal = 'cash_in_paid' AND posting = 2",
    ['journal-sums', 'journal-amounts', 'account-balance', 'account-chain', 'movements'],
  ],
  [
    "UPDATE entry SET account_id = 8, version = version + 1000 WHERE journal = 'cash_out_confirmed' AND posting = 5",
    ['entry-postings', 'account-balance', 'account-chain'],
  ],
  ["UPDATE entry SET shown = 'CASH_OUT' WHERE shown = 'CASH_OUT_RESERVE'", ['entry-postings']],
  [
    "UPDATE operation SET value_cents = value_cents + 1 WHERE status = 'CONFIRMED' AND kind = 'cash_out'",
    ['journal-amounts'],
  ],
  ["UPDATE operation SET fee_cents = fee_cents + 1 WHERE status = 'PAID'", ['journal-amounts']],
  ["UPDATE account SET balance_cents = balance_cents + 1 WHERE code = 'fees'", ['account-balance']],
  ["UPDATE account SET version = version + 1 WHERE code = 'settlement'", ['account-balance']],
  [
    'UPDATE entry SET balance_after_cents = balance_after_cents + 1 WHERE account_id = 3 AND version = 2',
    ['account-chain'],
  ],
  [
    'UPDATE entry SET version = version + 1 WHERE account_id = 4 AND version = (SELECT max(version) FROM entry WHERE account_id = 4)',
    ['account-chain'],
  ],
  [
    'UPDATE entry SET balance_after_cents = -1 WHERE account_id = 2 AND version = 1',
    ['account-chain', 'account-bounds'],
  ],
  [
    'UPDATE entry SET balance_after_cents = 1 WHERE account_id = 7 AND version = 1',
    ['account-chain', 'account-bounds'],
  ],
  ["UPDATE account SET balance_cents = 1 WHERE code = 'available'", ['account-balance', 'account-bounds']],
  [
    `UPDATE entry e SET operation_id = o.id
       FROM operation o WHERE e.journal = 'refund_in_reserved' AND o.status = 'CONFIRMED' AND o.kind = 'cash_out'`,
    ['holds', 'journals-explained'],
  ],
  [
    `UPDATE operation SET detail = detail || '{"origin":"OPERATOR"}' WHERE kind = 'refund_in' AND status = 'PENDING'`,
    ['journal-amounts', 'holds', 'journals-explained'],
  ],
  [
    "UPDATE operation SET status = 'RESERVED' WHERE kind = 'cash_out' AND status = 'CONFIRMED'",
    ['holds', 'operation-state'],
  ],
  [
    `UPDATE entry SET journal = 'left_after_release', posting = 1, amount_cents = amount_cents + 1
      WHERE journal = 'cash_out_confirmed' AND account_id = 2`,
    ['journal-sums', 'journal-amounts', 'account-balance', 'account-chain', 'holds', 'journals-explained'],
  ],
  [
    "UPDATE operation SET status = 'FAILED' WHERE kind = 'refund_in' AND status = 'PENDING'",
    ['holds', 'operation-state'],
  ],
  [
    'UPDATE entry SET amount_cents = -amount_cents WHERE account_id = 7',
    ['journal-sums', 'journal-amounts', 'account-balance', 'account-chain', 'debts'],
  ],
  ["UPDATE move SET version = version + 9 WHERE to_status = 'PAID'", ['move-chain', 'operation-state']],
  ["UPDATE move SET from_status = 'EXPIRED' WHERE to_status = 'PAID' AND from_status = 'PENDING'", ['move-chain']],
  [
    "UPDATE move SET trigger = 'partner.failed' WHERE to_status = 'PAID' AND from_status = 'PENDING'",
    ['moves-allowed', 'journals-explained', 'notifications'],
  ],
  ["UPDATE operation SET version = version + 1 WHERE status = 'RESERVED'", ['operation-state']],
  ["DELETE FROM move WHERE to_status = 'RESERVED'", ['move-chain', 'operation-state', 'journals-explained']],
  [
    "DELETE FROM entry WHERE journal = 'cash_in_paid'",
    ['account-balance', 'account-chain', 'journals-explained', 'movements'],
  ],
  [
    "UPDATE entry SET reference = 'E9' WHERE journal = 'cash_in_paid' AND posting < 2",
    ['journal-sums', 'journal-amounts', 'journals-explained'],
  ],
  ["DELETE FROM notification WHERE status = 'PAID'", ['notifications']],
  ["UPDATE notification SET status = 'FAILED' WHERE status = 'PAID'", ['notifications']],
  [
    `INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at)
     SELECT gen_random_uuid(), operation_id, event_type, status, 'again', body, created_at FROM notification`,
    ['notifications'],
  ],
  [
    `INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference, posting, at)
     SELECT a.id, a.version + 1, 5, a.balance_cents + 5, o.id, 'held_arrived', '', 1, now()
       FROM account a, operation o WHERE a.code = 'suspense_in' AND o.status = 'PENDING' LIMIT 1`,
    ['journal-sums', 'journal-amounts', 'account-balance', 'journals-explained', 'suspense'],
  ],
  ['UPDATE "case" SET closed_at = now()', ['doubts', 'suspense']],
  [`UPDATE "case" SET closed_at = now() WHERE kind = 'return_unexplained'`, ['doubts', 'suspense']],
  ["UPDATE operation SET facts = facts - 'returns' WHERE kind = 'cash_in' AND facts ? 'returns'", ['holds']],
  ["DELETE FROM operation WHERE status = 'PAID'", ['orphans']],
  ['UPDATE "case" SET operation_id = gen_random_uuid()', ['doubts', 'orphans', 'suspense']],
  [
    "UPDATE move SET operation_id = gen_random_uuid() WHERE version = 1 AND to_status = 'RESERVED'",
    ['move-chain', 'operation-state', 'journals-explained', 'orphans'],
  ],
  [
    `INSERT INTO delivery (id, notification_id, endpoint_id, created_at, due_at)
     VALUES (gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), now(), now())`,
    ['orphans'],
  ],
  [
    `INSERT INTO delivery_attempt (delivery_id, attempt, endpoint_id, outcome, started_at, ended_at)
     VALUES (gen_random_uuid(), 1, gen_random_uuid(), 'x', now(), now())`,
    ['orphans'],
  ],
  // What lacks its time was only a reason to ask the bank.
  [event({ event: 'CashIn', endToEndId: 'E9', valueCents: 1_000, occurredAt: undefined }), []],
  // What only JavaScript can read hides neither itself nor the others.
  [event({ event: 'CashIn', endToEndId: 'E9', valueCents: 1_000, x: '\0' }), ['events-readable']],
  [
    event({ event: 'CashIn', endToEndId: 'E9', valueCents: 1_000, x: 'deep' }).replace('"deep"', DEEP),
    ['events-readable'],
  ],
  [
    [
      event({ event: 'CashIn', endToEndId: 'E8', valueCents: 1_000, x: '\ud800' }, 'another'),
      event({ event: 'CashIn', endToEndId: 'E9', valueCents: 1_000 }),
    ].join(';'),
    ['events-readable', 'money-reported'],
  ],
  // What the bank told is in the books, and where it belongs.
  [event({ event: 'CashIn', endToEndId: 'E9', valueCents: 1_000 }), ['money-reported']],
  [event({ event: 'CashIn', status: 'CONCLUIDA', endToEndId: 'E9', valueCents: 1_000 }), ['money-reported']],
  [event({ event: 'CashInReversal', status: 'REFUNDED', returnId: 'D9', valueCents: 1_000 }), ['money-reported']],
  [event({ event: 'CashOutReversal', status: 'CONFIRMED', returnId: 'D9', valueCents: 10 }), ['money-reported']],
  [
    `INSERT INTO statement_entry (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at)
     VALUES ('out', 'D9', 'PAYMENT_TAKEN_BACK', 'E9', '', 10, now(), now() - interval '31 minutes')`,
    ['money-reported'],
  ],
  [
    `INSERT INTO statement_entry
       (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at, outcome, operation_id, settled_at)
     SELECT m.direction, m.id, 'PAYMENT_RECEIVED', m.id, '', m.value_cents + 1, now(), now(), 'MATCHED', o.id, now()
       FROM ${UNDOUBTED} o JOIN movement m ON m.operation_id = o.id`,
    ['money-reported'],
  ],
  [
    `UPDATE operation o SET facts = o.facts || '{"payments": {"E9": 1000}}' FROM ${UNDOUBTED} u WHERE u.id = o.id`,
    ['money-reported', 'suspense-amounts'],
  ],
  // A case that is closed explains nothing.
  [
    `WITH closed AS (INSERT INTO "case" (id, operation_id, kind, reference, facts, opened_at, closed_at)
                     SELECT gen_random_uuid(), id, 'charge_unclear', '', '{}', now(), now() FROM ${UNDOUBTED} u
                     RETURNING operation_id)
     UPDATE operation o SET facts = o.facts || '{"payments": {"E9": 1000}}' FROM closed c WHERE c.operation_id = o.id`,
    ['money-reported', 'suspense-amounts'],
  ],
  [
    `UPDATE operation o SET facts = o.facts || jsonb_build_object('payments', jsonb_build_object(m.id, m.value_cents))
       FROM ${UNDOUBTED} u, movement m WHERE u.id = o.id AND m.direction = 'in' AND m.operation_id <> o.id`,
    ['money-owners', 'suspense-amounts'],
  ],
  // By its facts a part of the payment is still in suspense; by its entries all of it was credited.
  [
    `UPDATE operation o
        SET end_to_end_id = m.id,
            facts = o.facts || jsonb_build_object('payments', jsonb_build_object(m.id, m.value_cents), 'acceptedCents', m.value_cents - 1)
       FROM ${UNDOUBTED} u JOIN movement m ON m.operation_id = u.id WHERE o.id = u.id`,
    ['suspense-amounts'],
  ],
  // A return that names another payment of ours than that of the operation it was booked on, its own one, nobody's.
  [returnNaming(`SELECT id FROM ${UNDOUBTED} o`), ['money-owners', 'movements']],
  [returnNaming('SELECT operation_id FROM booked'), ['movements']],
  [returnNaming('SELECT NULL::uuid WHERE false'), []],
  ["DELETE FROM movement WHERE direction = 'in'", ['movements']],
  ["UPDATE movement SET value_cents = value_cents + 1 WHERE direction = 'out'", ['movements']],
  [
    `INSERT INTO movement (direction, id, operation_id, value_cents) SELECT 'in', 'E9', id, 1 FROM ${UNDOUBTED} o`,
    ['movements'],
  ],
  ["UPDATE movement SET operation_id = gen_random_uuid() WHERE direction = 'in'", ['movements', 'orphans']],
  // Once more on the same operation, under another journal.
  [
    `INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference, posting, at)
     SELECT s.account_id, e.version + 1000, e.amount_cents * s.sign, 0, e.operation_id, 'arrived_unattributed', e.reference, s.posting, e.at
       FROM ${UNDOUBTED} o JOIN entry e ON e.operation_id = o.id AND e.journal = 'cash_in_paid' AND e.account_id = 3
      CROSS JOIN (VALUES (3, 1, 0), (5, -1, 1)) AS s (account_id, sign, posting)`,
    ['account-balance', 'account-chain', 'journals-explained', 'movements', 'suspense'],
  ],
  // A tariff that was looked at, and not booked.
  [
    `INSERT INTO statement_entry
       (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at, outcome, operation_id, settled_at)
     SELECT 'out', o.id::text, 'TARIFF', 'E9', o.id::text, 35, now(), now(), 'MATCHED', o.id, now() FROM ${UNDOUBTED} o`,
    ['tariffs'],
  ],
  // Two days of both kinds, and less than 24 hours.
  [
    `UPDATE operation o
        SET idempotency_key = 'again', created_at = timestamptz '2026-11-01 13:00Z' + (n.number - 1) * interval '23.5 hours'
       FROM (SELECT id, row_number() OVER (ORDER BY id) AS number FROM operation LIMIT 2) n WHERE n.id = o.id`,
    ['idempotency-keys'],
  ],
  [
    `INSERT INTO audit (id, at, actor, action, subject, address, facts)
     VALUES (gen_random_uuid(), now(), 'x', 'cash_out_switch.set', 'cash_out_switch', '', '{"enabled": false}')`,
    ['payout-switch'],
  ],
  ...[
    `UPDATE daily_close SET content = '{"status": "EXPLAINED"}'`,
    'UPDATE daily_close SET day = day - 30',
    `UPDATE daily_close SET made_at = made_at + interval '1 hour'`,
    'DELETE FROM daily_close',
    `DELETE FROM audit WHERE action = 'day.closed'`,
    `UPDATE audit SET facts = '{}' WHERE action = 'day.closed'`,
    `INSERT INTO audit SELECT gen_random_uuid(), at, actor, actor_name, action, subject, address, '{"hash": ""}' FROM audit WHERE action = 'day.closed'`,
  ].map((tampering) => [`${CLOSE}; ${tampering}`, ['closes']] as const),
]

/** A session whose changes no guard of the database sees. */
async function asSuperuser<Result>(url: string, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('SET session_replication_role = replica')
    return await work(client)
  } finally {
    await client.end()
  }
}

test('[ledger.verify.1] [ledger.verify.5] [close.5] [DB-45] every check finds what it is for, and only that', async (t) => {
  const { url } = await fullBooks(t)
  const proven = new Set<string>()
  await asSuperuser(url, async (client) => {
    const queries: Queries = {
      rows: async ({ text }, parameters) => (await client.query(text, [...parameters])).rows,
    }
    for (const [sql, expected] of DAMAGES) {
      await client.query('BEGIN')
      const results = [await client.query(sql)].flat()
      assert.ok(
        results.every(({ rowCount }) => rowCount),
        `${sql}: changed something`,
      )
      const { drifts } = await verify(queries)
      await client.query('ROLLBACK')
      assert.deepEqual(
        drifts.map(({ name }) => name),
        checks.map(({ name }) => name).filter((name) => expected.includes(name)),
        `${sql}\n${JSON.stringify(drifts, null, 2)}`,
      )
      for (const { name } of drifts) proven.add(name)
    }
  })
  assert.deepEqual([...proven].sort(), checks.map(({ name }) => name).sort(), 'every check was proven')
})

test('[ledger.verify.1] of many faults all are counted and some are reported', async (t) => {
  const { url, one } = await fullBooks(t)
  await Promise.all(Array.from({ length: EXAMPLES_MAX }, () => createOperation(one, 'cash_in', 'PENDING')))
  await asSuperuser(url, (client) => client.query('UPDATE operation SET version = version + 1'))
  const { faults, drifts } = await withSnapshot({ url, name: 'test' }, verify)
  const [drift] = drifts
  assert.deepEqual([drifts.length, drift?.name, drift?.count], [1, 'operation-state', faults])
  assert.ok(faults > EXAMPLES_MAX)
  assert.equal(drift?.examples.length, EXAMPLES_MAX)
})

test('[ledger.verify.1] nothing is found while the books are written, and nothing is written', async (t) => {
  const { url, one } = await fullBooks(t)
  let isWriting = true
  const writing = Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let turn = 0; turn < 25; turn++) {
        await leadTo(one, await createOperation(one, 'cash_in', 'PENDING'), 'PAID')
        const payout = await createOperation(one, 'cash_out', 'RESERVED')
        if (payout !== undefined) await leadTo(one, payout, 'DISPATCHED', 'FAILED')
      }
    }),
  ).finally(() => {
    isWriting = false
  })
  while (isWriting) assert.deepEqual((await withSnapshot({ url, name: 'test' }, verify)).drifts, [])
  await writing
  await assert.rejects(
    withSnapshot({ url, name: 'test' }, (queries) =>
      queries.rows({ name: 'test.write', text: 'UPDATE account SET version = version' }, []),
    ),
    /read-only transaction/,
  )
})

test('[ledger.verify.2] the trial balance sums to zero at every instant and ends at the balances', async (t) => {
  const { url, database } = await fullBooks(t)
  const at = (instant: number | null) =>
    withSnapshot({ url, name: 'test' }, (queries) => trialBalance(queries, instant))
  const now = await at(null)
  assert.deepEqual(
    Object.fromEntries(now.filter(({ balanceCents }) => balanceCents !== 0n).map((it) => [it.code, it.balanceCents])),
    await balances(database),
  )
  const { rows } = await asSuperuser(url, (client) =>
    client.query<{ at: Date; available: string }>(
      `SELECT at, sum(sum(amount_cents) FILTER (WHERE account_id = 1)) OVER (ORDER BY at) AS available
         FROM entry GROUP BY at ORDER BY at`,
    ),
  )
  for (const { at: instant, available } of rows) {
    const totals = await at(instant.getTime())
    const sum = (of: (total: AccountTotal) => bigint) => totals.reduce((all, total) => all + of(total), 0n)
    assert.equal(
      sum(({ balanceCents }) => balanceCents),
      0n,
    )
    assert.equal(
      sum(({ debitCents }) => debitCents),
      sum(({ creditCents }) => creditCents),
    )
    assert.equal(totals.find(({ code }) => code === 'available')?.balanceCents, BigInt(available))
  }
  const before = await at((rows[0]?.at.getTime() ?? 0) - 1)
  assert.ok(before.every(({ debitCents, creditCents }) => debitCents === 0n && creditCents === 0n))
})

const TOTALS: readonly AccountTotal[] = [
  { code: 'available', debitCents: 0n, creditCents: 123_456_00n, balanceCents: 123_456_00n },
  { code: 'settlement', debitCents: 123_456_00n, creditCents: 0n, balanceCents: -123_456_00n },
]
const AT = Date.parse('2026-11-21T00:00:00Z')

/** Nothing is known of the bank. */
const NEVER: BankComparison = {
  statement: null,
  differences: [],
  balance: null,
  adjustmentsSince: { count: 0, cents: 0n },
}

/** An unexplained payment, another amount of a payout, an item that cannot be read, and a false opening balance. */
const DIFFERING: BankComparison = {
  statement: { from: AT - 86_400_000, until: AT, movements: 7 },
  differences: [
    { ...difference('c1', 'unexplained_credit', 'PAYMENT_RECEIVED E1'), cents: 50_00n },
    { ...difference('c2', 'line_differs', 'PAYOUT_SENT E2'), operationId: 'o2', cents: 1n },
    { ...difference('c3', 'statement_unreadable', 'received 5'), cents: null },
  ],
  balance: {
    ...{ day: '2026-11-20', at: AT, bankCents: 100_00n, booksCents: 5_090_00n, differenceCents: -4_990_00n },
    ...{ unexplainedCents: -5_000_00n, caseId: 'c4', isDecided: false },
  },
  adjustmentsSince: { count: 1, cents: -7_00n },
}

function difference(caseId: string, kind: string, reference: string) {
  return { caseId, kind, reference, operationId: null, openedAt: AT }
}

/** The lines of the report about the bank. */
function bankLines(bank: BankComparison): string[] {
  return reportText({ at: AT, faults: 0, drifts: [], bank }, TOTALS, AT).split('\n').slice(7)
}

test('[ledger.verify.2] the printed report has reais in columns, and what was found', () => {
  const clean = reportText({ at: AT, faults: 0, drifts: [], bank: NEVER }, TOTALS, AT)
  assert.deepEqual(clean.split('\n'), [
    'Trial balance at 2026-11-21T00:00:00.000Z',
    'account             debit         credit         balance',
    'available         R$ 0,00  R$ 123.456,00   R$ 123.456,00',
    'settlement  R$ 123.456,00        R$ 0,00  -R$ 123.456,00',
    'total       R$ 123.456,00  R$ 123.456,00         R$ 0,00',
    '',
    `Books compared with themselves: ${checks.length} checks at 2026-11-21T00:00:00.000Z: no drift`,
    ...bankLines(NEVER),
  ])
  const drift = { name: 'holds', meaning: 'This must hold.', count: 3, examples: ['one', 'another'] }
  const drifted = reportText({ at: AT, faults: 3, drifts: [drift], bank: NEVER }, TOTALS, AT)
  assert.deepEqual(drifted.split('\n').slice(6), [
    `Books compared with themselves: ${checks.length} checks at 2026-11-21T00:00:00.000Z: 3 faults`,
    '✘ holds: 3. Violated: This must hold.',
    '    one',
    '    another',
    '    … and 1 more',
    ...bankLines(NEVER),
  ])
})

test('[ledger.verify.6] the printed report says what was compared with the bank, and lists every difference', () => {
  assert.deepEqual(bankLines(NEVER), [
    "Books not compared with the bank's statement: it was never read",
    "Books not compared with the bank's balance: no daily close knows it",
  ])
  const uncompared = { ...NEVER, adjustmentsSince: { count: 2, cents: 5_000_00n } }
  assert.equal(bankLines(uncompared).at(-1), 'Not compared with the bank: 2 adjustments, R$ 5.000,00 together')
  assert.deepEqual(bankLines(DIFFERING), [
    "Books compared with the bank's statement from 2026-11-20T00:00:00.000Z to 2026-11-21T00:00:00.000Z: 7 movements, 3 differences",
    `✘ unexplained_credit: 1. ${caseKinds.unexplained_credit.meaning}`,
    '    R$ 50,00: PAYMENT_RECEIVED E1, case c1 open since 2026-11-21T00:00:00.000Z',
    `✘ line_differs: 1. ${caseKinds.line_differs.meaning}`,
    '    R$ 0,01: PAYOUT_SENT E2 of o2, case c2 open since 2026-11-21T00:00:00.000Z',
    `✘ statement_unreadable: 1. ${caseKinds.statement_unreadable.meaning}`,
    '    unknown amount: received 5, case c3 open since 2026-11-21T00:00:00.000Z',
    "Books compared with the bank's balance at the end of 2026-11-20 (2026-11-21T00:00:00.000Z): bank R$ 100,00, " +
      'books R$ 5.090,00, difference -R$ 4.990,00, unexplained -R$ 5.000,00',
    `✘ close_differs: -R$ 5.000,00, case c4. ${caseKinds.close_differs.meaning}`,
    'Not compared with the bank since 2026-11-21T00:00:00.000Z: 1 adjustment, -R$ 7,00 together',
  ])
  const decided = DIFFERING.balance && { ...DIFFERING.balance, isDecided: true }
  const lines = bankLines({ ...DIFFERING, balance: decided })
  assert.equal(lines.at(-2), 'An operator has decided what is unexplained, case c4')
})

test('[ledger.verify.6] what is undecided ends with 1, what an operator has decided does not', () => {
  const { differences, balance } = DIFFERING
  assert.ok(balance)
  assert.equal(isUndecided(NEVER), false)
  assert.equal(isUndecided({ ...NEVER, differences }), true)
  assert.equal(isUndecided({ ...NEVER, balance }), true)
  assert.equal(isUndecided({ ...NEVER, balance: { ...balance, isDecided: true } }), false)
  assert.equal(isUndecided({ ...NEVER, balance: { ...balance, unexplainedCents: 0n } }), false)
})

/** A wait that ends when the test says so, and tells how long it would have been. */
function stepped() {
  const waits: { ms: number; end: () => void }[] = []
  const pause: Pause = {
    for: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.throwIfAborted()
        waits.push({ ms, end: resolve })
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
    jittered: () => assert.fail('nothing here is tried again'),
  }
  return { pause, waits }
}

test('[ledger.verify.4] the service verifies its books every hour and logs each fault as an error', async (t) => {
  const { url } = await fullBooks(t)
  const lines: { level: number; check: string; what: string }[] = []
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) })
  const { pause, waits } = stepped()
  const verifier = createLedgerVerifier({ databaseUrl: url, logger, pause, clock: { now: () => AT } })
  assert.equal(verifier.standing(), undefined)
  verifier.start()
  assert.deepEqual(verifier.standing(), { at: AT, faults: undefined }, 'how old the books are is known from the start')
  const next = async () => {
    const wait = waits.shift() ?? assert.fail('it waits')
    wait.end()
    while (waits.length === 0) await turn()
    return wait.ms
  }
  assert.equal(await next(), 60_000, 'not while the process starts')
  assert.equal(verifier.standing()?.faults, 0)
  assert.equal(lines.length, 0)

  await asSuperuser(url, (client) =>
    client.query("UPDATE account SET balance_cents = balance_cents + 1 WHERE code = 'fees'"),
  )
  assert.equal(await next(), 3_600_000)
  assert.equal(verifier.standing()?.faults, 1)
  assert.deepEqual(
    lines.map(({ level, check, what }) => [level, check, what.split(' ')[0]]),
    [[50, 'account-balance', 'fees']],
  )
  await verifier.stop()
})

test('[ledger.verify.4] a database that does not answer is tried again; a stop ends a verification under way', async (t) => {
  const { url } = await fullBooks(t)
  const lines: { msg: string }[] = []
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line)) })
  const broken = stepped()
  const clock = { now: () => AT }
  const nowhere = createLedgerVerifier({
    ...{ databaseUrl: 'postgres://127.0.0.1:1/none', logger, clock },
    pause: broken.pause,
  })
  nowhere.start()
  broken.waits.shift()?.end()
  while (broken.waits.length === 0) await turn()
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['the ledger could not be verified; it is tried again in a minute'],
  )
  assert.equal(broken.waits[0]?.ms, 60_000, 'not in an hour')
  assert.deepEqual(nowhere.standing(), { at: AT, faults: undefined })
  await nowhere.stop()

  const { pause, waits } = stepped()
  const verifier = createLedgerVerifier({ databaseUrl: url, logger, pause, clock })
  await asSuperuser(url, async (client) => {
    await client.query('BEGIN')
    await client.query('LOCK TABLE entry')
    verifier.start()
    waits.shift()?.end()
    const waiting = "SELECT FROM pg_locks WHERE relation = 'entry'::regclass AND NOT granted"
    while ((await client.query(waiting)).rowCount === 0) await turn()
    await verifier.stop()
  })
  assert.equal(verifier.standing()?.faults, undefined)
  assert.equal(lines.length, 1, 'who was stopped has nothing to tell')
})

test('[ledger.verify.3] machines read JSON, amounts in centavos', () => {
  const drift = { name: 'holds', meaning: 'This must hold.', count: 1, examples: ['one'] }
  assert.deepEqual(JSON.parse(reportJson({ at: AT, faults: 1, drifts: [drift], bank: DIFFERING }, TOTALS, AT)), {
    verifiedAt: '2026-11-21T00:00:00.000Z',
    faults: 1,
    drifts: [drift],
    statement: {
      from: '2026-11-20T00:00:00.000Z',
      until: '2026-11-21T00:00:00.000Z',
      movements: 7,
      differences: DIFFERING.differences.map((one) => ({
        ...one,
        cents: one.cents === null ? null : Number(one.cents),
        openedAt: '2026-11-21T00:00:00.000Z',
      })),
    },
    bankBalance: {
      compared: {
        day: '2026-11-20',
        at: '2026-11-21T00:00:00.000Z',
        bankCents: 10000,
        booksCents: 509000,
        differenceCents: -499000,
        unexplainedCents: -500000,
        caseId: 'c4',
        isDecided: false,
      },
      adjustmentsSince: { count: 1, cents: -700 },
    },
    at: '2026-11-21T00:00:00.000Z',
    trialBalance: [
      { account: 'available', debitCents: 0, creditCents: 12345600, balanceCents: 12345600 },
      { account: 'settlement', debitCents: 12345600, creditCents: 0, balanceCents: -12345600 },
      { account: 'total', debitCents: 12345600, creditCents: 12345600, balanceCents: 0 },
    ],
  })
})

test('[ledger.verify.1] no check looks through all movements for each that was told', async (t) => {
  const { url } = await testDatabase(t)
  await administer(
    url,
    `INSERT INTO movement SELECT 'in', n::text, gen_random_uuid(), 1 FROM generate_series(1, 5000) n`,
  )
  for (const { name, sql } of checks) {
    assert.doesNotMatch(await planOf(url, sql), /SubPlan \d+\n *-> {2}Seq Scan on movement/, name)
  }
})
