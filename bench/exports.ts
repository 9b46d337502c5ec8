import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import pg from 'pg'
import { createExporter, ledgerCsv, statementOfx } from '../packages/server/src/closes/export.ts'
import type { Queries } from '../packages/server/src/platform/db/database.ts'
import { boundsOf } from '../packages/server/src/platform/sao-paulo.ts'
import type { After, Benchmark } from './benchmark.ts'
import { inRounds, median } from './measure.ts'
import { startPostgres } from './postgres.ts'

const ROUNDS = 3

/** Each books four entries: two on the merchant's account. */
const PAYMENTS = 250_000

const DAY = '2026-11-22'
const PERIOD = boundsOf(DAY)
const ACCOUNT = { account: 'available' as const, openingCents: 0, closingCents: 0 }
const CLOSE = { day: DAY, madeAt: PERIOD.to, content: { accounts: [ACCOUNT] } }

/** What a finance department takes of a day, by the same code as the endpoints. */
const EXPORTS = {
  ledger: (queries: Queries) => ledgerCsv(queries, PERIOD),
  OFX: (queries: Queries) => statementOfx(queries, CLOSE),
} as const

/** How long a day of a million entries takes to export. */
export const exports: Benchmark = {
  name: 'exports',
  summary: 'a day of 1,000,000 entries as CSV and as OFX, beside PostgreSQL that makes the same rows into text',
  run: async (after) => {
    const url = await (await startPostgres(after))('exports')
    await fill(url)
    const reader = await connect(url, after)
    const rounds = await inRounds(ROUNDS, async () => ({
      yardstick: await seconds(() => reader.query(YARDSTICK)),
      ledger: await exported(url, 'ledger'),
      OFX: await exported(url, 'OFX'),
    }))
    const of = (name: keyof typeof EXPORTS, figure: keyof Exported) =>
      median(rounds.map((round) => round[name][figure]))
    const yardstick = median(rounds.map((round) => round.yardstick))
    const names = Object.keys(EXPORTS) as (keyof typeof EXPORTS)[]
    return {
      figures: [
        { what: 'PostgreSQL alone', seconds: yardstick },
        ...names.map((name) => ({
          what: name,
          seconds: of(name, 'seconds'),
          'CPU seconds': of(name, 'cpuSeconds'),
          MB: of(name, 'megabytes'),
          'MB more memory': of(name, 'memoryMegabytes'),
        })),
      ],
      targets: names.flatMap((name) => [
        { what: `${name}: seconds`, value: of(name, 'seconds'), atMost: 60 },
        {
          what: `${name}: megabytes of memory beyond those before it`,
          value: of(name, 'memoryMegabytes'),
          atMost: 250,
        },
        {
          what: `${name}: seconds of the processor here for each that PostgreSQL takes alone`,
          value: median(rounds.map((round) => round[name].cpuSeconds / round.yardstick)),
          atMost: 3,
        },
      ]),
    }
  },
}

/** What an export took. */
interface Exported {
  readonly seconds: number
  /** Of this process; PostgreSQL's is beside it. */
  readonly cpuSeconds: number
  readonly megabytes: number
  readonly memoryMegabytes: number
}

async function exported(url: string, name: keyof typeof EXPORTS): Promise<Exported> {
  let [bytes, most] = [0, 0]
  const before = process.memoryUsage.rss()
  const used = process.cpuUsage()
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      bytes += chunk.length
      most = Math.max(most, process.memoryUsage.rss())
      done()
    },
  })
  const took = await seconds(async () => pipeline(await createExporter(url).stream(EXPORTS[name]), sink))
  const { user, system } = process.cpuUsage(used)
  assert.ok(bytes > PAYMENTS * 100, `${bytes} bytes are no day of ${PAYMENTS} payments`)
  return {
    seconds: took,
    cpuSeconds: (user + system) / 1_000_000,
    megabytes: bytes / 1_000_000,
    memoryMegabytes: Math.max(0, most - before) / 1_000_000,
  }
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1_000
}

async function connect(url: string, after: After): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  after(() => client.end())
  return client
}

const YARDSTICK = `
  SELECT sum(length((e.*, o.kind, o.external_id, o.end_to_end_id)::text))
    FROM entry e LEFT JOIN operation o ON o.id = e.operation_id`

/** Payments of R$ 1,00, each with a fee of a centavo, one after the other through the day. */
const FILL = `
  SET session_replication_role = replica;
  CREATE TEMP TABLE payment AS
    SELECT n, gen_random_uuid() AS id, 'E99999010202611221200' || lpad(n::text, 11, '0') AS e2e,
           '${DAY}T03:00:00Z'::timestamptz + n * interval '0.3 seconds' AS at
      FROM generate_series(1, ${PAYMENTS}) n;
  INSERT INTO operation (id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash, end_to_end_id,
                         detail, facts, created_at, updated_at)
    SELECT id, 'cash_in', 'order-' || n, md5(id::text), 'PAID', 2, 100, 1, id::text, '', e2e, '{}', '{}', at, at FROM payment;
  INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference, posting, shown, at)
    SELECT a.id, l.version, l.cents, l.balance, l.id, l.journal, l.reference, l.posting, l.shown, l.at
      FROM (SELECT 'settlement' AS code, n AS version, -100 AS cents, -100 * n AS balance, id, 'cash_in_paid' AS journal,
                   e2e AS reference, 0 AS posting, NULL AS shown, at FROM payment
            UNION ALL SELECT 'available', 2 * n - 1, 100, 99 * n + 1, id, 'cash_in_paid', e2e, 1, 'CASH_IN', at FROM payment
            UNION ALL SELECT 'available', 2 * n, -1, 99 * n, id, 'cash_in_fee', e2e, 0, 'FEE', at FROM payment
            UNION ALL SELECT 'fees', n, 1, n, id, 'cash_in_fee', e2e, 1, NULL, at FROM payment) l
      JOIN account a ON a.code = l.code;
  UPDATE account a SET version = e.version, balance_cents = e.balance
    FROM (SELECT account_id, max(version) AS version, sum(amount_cents) AS balance FROM entry GROUP BY account_id) e
   WHERE e.account_id = a.id`

async function fill(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(FILL)
  await client.query('VACUUM ANALYZE')
  await client.end()
}
