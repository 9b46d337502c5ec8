import assert from 'node:assert/strict'
import test from 'node:test'
import type { Database } from '../../src/platform/db/database.ts'
import { dayOf } from '../../src/platform/sao-paulo.ts'
import { administer, openTestDatabase, planOf, testDatabase } from '../support/database.ts'
import { wallNow } from '../support/wall-clock.ts'
import { consoleOn } from './fixture.ts'

/** Reads of the console with a million operations: prints figures, and compares plans. */

const OPERATIONS = 1_000_000
const ROUNDS = 30

const FIRST = ['Maria', 'João', 'Ana', 'José', 'Paulo', 'Lúcia', 'Pedro', 'Rita']

/** A year of charges, a third paid, and payouts with their moves and entries. */
const MILLION = `
  SET session_replication_role = replica;
  INSERT INTO operation (id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash, detail,
                         facts, transaction_id, end_to_end_id, expires_at, created_at, updated_at)
  SELECT lpad(to_hex(n), 32, '0')::uuid, kind, 'order-' || n, md5(n::text), status, 3, 100 + n % 50000, 0, 'checkout-' || n, '',
         CASE kind WHEN 'cash_in' THEN '{"description": null, "generateQrCode": true, "payer": null, "merchant": {}}'::jsonb
                   ELSE jsonb_build_object('description', NULL, 'paymentType', 'key', 'qrCode', NULL, 'recipient', jsonb_build_object(
                          'name', NULL, 'document', NULL, 'pixKey', 'key' || n % 20000 || '@example.com', 'pixKeyType', 'email')) END,
         CASE WHEN status = 'PAID' THEN jsonb_build_object('paidAt', floor(extract(epoch FROM at) * 1000)::bigint + 30000,
                          'payerName', (ARRAY['${FIRST.join("','")}'])[1 + n % 8] || ' ' || md5((n / 8)::text),
                          'payerDocument', lpad((n % 300000)::text, 11, '0'))
              ELSE '{}' END,
         'txid-' || n, CASE WHEN status IN ('PAID', 'CONFIRMED') THEN 'E' || n END, at + interval '1 hour', at, at
    FROM (SELECT n, now() - (${OPERATIONS} - n) * interval '30 seconds' AS at,
                 CASE WHEN n % 4 = 0 THEN 'cash_out' ELSE 'cash_in' END AS kind,
                 CASE WHEN n % 4 = 0 THEN 'CONFIRMED' WHEN n % 4 = 1 THEN 'EXPIRED' ELSE 'PAID' END AS status
            FROM generate_series(1, ${OPERATIONS}) n) made;
  INSERT INTO move SELECT lpad(to_hex(n), 32, '0')::uuid, 1, 'cash_in', 'create', NULL, 'PENDING', '{}', NULL, gen_random_uuid(),
         now() - (${OPERATIONS} - n) * interval '1 second' FROM generate_series(1, ${OPERATIONS}) n;
  INSERT INTO entry SELECT 3, n, -100, -100 * n, lpad(to_hex(n), 32, '0')::uuid, 'cash_in_paid', '', 0, NULL,
         now() - (${OPERATIONS} - n) * interval '1 second' FROM generate_series(1, ${OPERATIONS}) n;
  UPDATE account SET version = ${OPERATIONS} WHERE id = 3;
  ANALYZE`

test('every read of the console is by index with a million operations', async (t) => {
  const { url } = await testDatabase(t)
  await administer(url, MILLION)
  for (const table of ['operation', 'move', 'entry']) await administer(url, `VACUUM ${table}`)
  const pool = openTestDatabase(url, 2)
  t.after(() => pool.close())
  const texts = new Set<string>()
  const noting: Database = {
    ...pool,
    rows: (query, values) => {
      texts.add(query.text)
      return pool.rows(query, values)
    },
  }
  const { list, search, detail, overview, entries, reconciliation, changes, auditTrail, clock } = consoleOn(noting)
  const id = (n: number) =>
    n
      .toString(16)
      .padStart(32, '0')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  const earlyMs = wallNow() - 11 * 24 * 60 * 60 * 1_000
  const deep = (await list({ limit: 100, to: '2026-01-15' })).pagination.nextCursor
  const reads: Readonly<Record<string, (round: number) => Promise<unknown>>> = {
    list: () => list(),
    'list, deep': () => list({ cursor: deep }),
    'list by status': () => list({ status: 'PAID' }),
    'list by day and amount': () =>
      list({ from: '2026-06-01', to: '2026-06-30', min_cents: 150_37, max_cents: 150_37 }),
    'list by a rare amount': () => list({ min_cents: 99_999_999 }),
    'list by day of payment': () => list({ paid_from: '2026-06-01', paid_to: '2026-06-30' }),
    'list by key': (n) => list({ key: `key${n * 4}@example.com` }),
    'search an id': (n) => search(id(n * 30_000 + 2)),
    'search an end-to-end id': (n) => search(`E${n * 30_000 + 2}`),
    'search an external id': (n) => search(`order-${n * 30_000 + 2}`),
    'search a common name': () => search('maria'),
    'search a rare name': (n) => search(`joao ${n.toString(16).padStart(3, 'a')}`),
    'search an amount': (n) => search(`${100 + n},37`),
    'search a day': () => search('15/06/2026'),
    'search nothing': (n) => search(`unknown-${n}`),
    detail: (n) => detail(id(n * 30_000 + 2)),
    overview: async () => {
      clock.advance(2_000)
      await overview()
    },
    changes: async () => {
      clock.advance(500)
      await changes({})
    },
    audit: () => auditTrail(),
    entries: () => entries({ account: 'settlement', limit: 100 }),
    'entries of an early day': () =>
      entries({ account: 'settlement', from: dayOf(earlyMs), to: dayOf(earlyMs), limit: 100 }),
    'entries of an operation': (n) => entries({ account: 'settlement', operation_id: id(n * 30_000 + 2) }),
    reconciliation: () => reconciliation(),
  }
  for (const [name, read] of Object.entries(reads)) {
    t.diagnostic(`${name}: ${await measured(read)}`)
  }
  for (const text of texts) assert.doesNotMatch(await planOf(url, text), /Seq Scan on (?:operation|move|entry)\b/, text)
})

/** First, median and 95th percentile of the rounds, milliseconds. */
async function measured(read: (round: number) => Promise<unknown>): Promise<string> {
  const times: number[] = []
  for (let round = 1; round <= ROUNDS; round += 1) {
    const startedAt = performance.now()
    await read(round)
    times.push(performance.now() - startedAt)
  }
  const sorted = times.slice(1).toSorted((one, other) => one - other)
  const [first = 0, half = 0, p95 = 0] = [times[0], sorted[ROUNDS >> 1], sorted[Math.floor(sorted.length * 0.95)]]
  return `first ${first.toFixed(0)} ms, median ${half.toFixed(1)}, p95 ${p95.toFixed(1)}`
}
