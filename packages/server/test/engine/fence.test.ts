import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import pg from 'pg'
import { decideCreate as decideCashIn } from '../../src/cash-in/commands.ts'
import { type CashOutRequest, decideCreate as decideCashOut } from '../../src/cash-out/commands.ts'
import { decideAdjustment } from '../../src/controls/commands.ts'
import { forgetPast } from '../../src/engine/engine.ts'
import type { Command, ControlName } from '../../src/engine/operation.ts'
import { type Database, statement } from '../../src/platform/db/database.ts'
import { cashInIn, decideCreate as decideRefund } from '../../src/refund-in/commands.ts'
import { assertBooks } from '../support/books.ts'
import { testDatabase } from '../support/database.ts'
import { cashInRequest, payment, releasing, TERMS, type TestEngine, testEngine } from '../support/engine.ts'
import { limitsOf, MADE_BY, refundTerms } from '../support/limits.ts'
import { type TcpProxy, tcpProxy, through } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'

/**
 * A statement that is delayed while its connection breaks, and goes on when everything has been decided otherwise: what
 * was refused meanwhile must not happen, and what was done again must not happen twice.
 */

const NONE = { madeBy: MADE_BY, correlationId: 'test', idempotencyKey: null, bodyHash: Buffer.alloc(32) } as const

const OUT_TERMS = { ...TERMS, fee: { cents: 0n, basisPoints: 0n }, limits: limitsOf(), approvalFromCents: null }

/** What may be late, and how it comes to be refused meanwhile. */
interface Late {
  /** Before anything: money, a payment to refund. */
  prepare?(engine: TestEngine): Promise<unknown>
  command(id: string): Command<unknown>
  /** What another process does, so that the command is refused. @returns what puts it back */
  hinder?(engine: TestEngine): Promise<() => Promise<unknown>>
  /** What the client is told then. */
  readonly refusal?: object
}

const LATE: Readonly<Record<string, Late>> = {
  payout: {
    prepare: fund,
    command: (id) => payout(id),
    hinder: drain,
    refusal: { code: 'insufficient_balance' },
  },
  refund: {
    prepare: paidCharge,
    command: (id) => ({
      reads: [CHARGE],
      creates: { kind: 'refund_in', externalId: id, idempotencyKey: null },
      decide: (state, now) => {
        assert.ok(cashInIn(state, CHARGE))
        return decideRefund(
          { ...NONE, id, cashInId: CHARGE, valueCents: 10_00n, externalId: id, reason: null },
          refundTerms(),
          state,
          now,
        )
      },
    }),
    hinder: drain,
    refusal: { code: 'insufficient_balance' },
  },
  'debit by the operator': {
    prepare: fund,
    command: (id) => adjustment(id, -10_00n),
    hinder: drain,
    refusal: { code: 'insufficient_balance' },
  },
  'payout of a code': {
    prepare: fund,
    command: (id) => payout(id, 'pix-code x'),
    hinder: async (engine) => {
      const id = engine.ids.uuid()
      await engine.engine.execute(payout(id, 'pix-code x', 1n))
      return () => engine.engine.execute(releasing(id, 1n))
    },
    refusal: { name: 'ExclusiveKeyTaken' },
  },
  charge: {
    command: (id) => ({
      reads: [],
      creates: { kind: 'cash_in', externalId: 'late', idempotencyKey: null },
      decide: (_state, now) => decideCashIn(cashInRequest({ id, externalId: 'late' }), TERMS, now),
    }),
  },
  control: {
    command: () => ({
      reads: [],
      controls: ['cash_out_switch'],
      decide: () => ({ controls: { cash_out_switch: { enabled: false, reason: 'late' } }, outcome: undefined }),
    }),
  },
}

const CHARGE = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'

function adjustment(id: string, valueCents: bigint): Command<unknown> {
  return {
    reads: [],
    creates: { kind: 'adjustment', externalId: id, idempotencyKey: null },
    decide: (state, now) => decideAdjustment({ ...NONE, id, valueCents, reason: 'test' }, state, now),
  }
}

function payout(id: string, exclusiveKey: string | null = null, valueCents = 10_00n): Command<unknown> {
  const recipient = { name: null, document: null, pixKey: 'joao@example.com', pixKeyType: 'email' } as const
  const request: CashOutRequest = {
    ...NONE,
    id,
    valueCents,
    externalId: id,
    exclusiveKey,
    detail: { description: null, paymentType: 'key', qrCode: null, recipient },
  }
  return {
    reads: [],
    controls: ['cash_out_switch'] satisfies ControlName[],
    creates: { kind: 'cash_out', externalId: id, idempotencyKey: null, exclusiveKey },
    decide: (state, now) => decideCashOut(request, OUT_TERMS, state, now),
  }
}

function fund({ engine, ids }: TestEngine): Promise<unknown> {
  return engine.execute(adjustment(ids.uuid(), 10_01n))
}

async function paidCharge({ cashIns, clock }: TestEngine): Promise<void> {
  await cashIns.create(cashInRequest({ id: CHARGE, externalId: 'paid', valueCents: 10_12n }))
  const paid = payment({ endToEndId: 'E1', valueCents: 10_12n, occurredAt: clock.now() })
  await cashIns.apply(CHARGE, { on: 'partner.confirmed', payment: paid, transactionId: 'tx' })
}

/** Takes all but a centavo, and later puts it back. */
async function drain({ engine, ids }: TestEngine): Promise<() => Promise<unknown>> {
  await engine.execute(adjustment(ids.uuid(), -10_00n))
  return () => engine.execute(adjustment(ids.uuid(), 10_00n))
}

const selectLate = statement<[id: string], { found: bigint }>(
  'test.late',
  'SELECT count(*) AS found FROM move WHERE operation_id = $1',
)

const selectSwitch = statement<[], { version: bigint }>(
  'test.switch',
  `SELECT version FROM control WHERE name = 'cash_out_switch'`,
)

const selectOutcomes = statement<[], { outcome: string; batches: bigint }>(
  'test.outcomes',
  'SELECT outcome, count(*) AS batches FROM batch GROUP BY outcome ORDER BY outcome',
)

/** How often what is late has happened. */
async function happened(database: Database, kind: string, id: string): Promise<bigint> {
  if (kind === 'control') return ((await database.rows(selectSwitch, []))[0]?.version ?? 0n) - 1n
  return (await database.rows(selectLate, [id]))[0]?.found ?? 0n
}

/** Two processes on one database; bytes of the first go through a proxy. */
async function world(t: TestContext) {
  const { url, database } = await testDatabase(t)
  const proxy = await tcpProxy(t, Number(new URL(url).port))
  const one = testEngine(t, through(proxy, url))
  return { url, database, proxy, one, other: testEngine(t, url) }
}

async function session(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  t.after(() => client.end())
  return client
}

/** Resolves with the process id of the backend that waits for a lock. */
async function waitingBackend(observer: pg.Client): Promise<number> {
  for (;;) {
    const { rows } = await observer.query(
      `SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`,
    )
    if (rows[0]) return rows[0].pid
  }
}

/** The backends of both processes. */
async function backends(observer: pg.Client): Promise<readonly number[]> {
  const { rows } = await observer.query(
    `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pixgate test'`,
  )
  return rows.map(({ pid }) => pid)
}

/** Resolves when the backend has ended what it was doing, one way or the other. */
async function ended(observer: pg.Client, pid: number): Promise<void> {
  for (;;) {
    const { rows } = await observer.query(`SELECT FROM pg_stat_activity WHERE pid = $1 AND state = 'active'`, [pid])
    if (rows.length === 0) return
  }
}

/** Holds the first write that comes. @returns its arrival, and what lets it go on */
function holdFirstWrite(proxy: TcpProxy): { readonly arrived: Promise<void>; release(): void } {
  const arrival = Promise.withResolvers<void>()
  const release = Promise.withResolvers<'pass'>()
  let isArmed = true
  proxy.judge = (direction, bytes) => {
    if (!isArmed || direction !== 'request' || !bytes.includes('engine.write')) return 'pass'
    isArmed = false
    arrival.resolve()
    return release.promise
  }
  return { arrived: arrival.promise, release: () => release.resolve('pass') }
}

/** Refused meanwhile, it never happens; otherwise it happens once. */
async function assertOutcome(
  { database, other }: { readonly database: Database; readonly other: TestEngine },
  kind: string,
  id: string,
  settled: PromiseSettledResult<unknown>,
): Promise<void> {
  const { refusal } = LATE[kind] as Late
  assert.equal(settled.status, refusal ? 'rejected' : 'fulfilled')
  if (settled.status === 'rejected')
    assert.partialDeepStrictEqual({ ...settled.reason, name: settled.reason.name }, refusal)
  // Whatever is still to come has come: the accounts are free.
  await other.engine.execute(adjustment(other.ids.uuid(), 1n))
  assert.equal(await happened(database, kind, id), refusal ? 0n : 1n)
  await assertBooks(database)
}

for (const [kind, late] of Object.entries(LATE)) {
  test(`[engine.13] [DB-2] a ${kind} whose bytes arrive late changes nothing any more`, async (t) => {
    const pix = await world(t)
    await late.prepare?.(pix.other)
    const id = pix.one.ids.uuid()
    const { arrived, release } = holdFirstWrite(pix.proxy)
    const execution = pix.one.engine.execute(late.command(id))
    await arrived
    const putBack = await late.hinder?.(pix.other)
    const observer = await session(t, pix.url)
    const before = await backends(observer)
    pix.proxy.cutClients()
    const [settled] = await Promise.allSettled([execution])
    await putBack?.()
    release()
    // It has carried out what came late, and has found its client gone.
    await until(async () => {
      const now = await backends(observer)
      return !before.every((pid) => now.includes(pid))
    })
    await assertOutcome(pix, kind, id, settled as PromiseSettledResult<unknown>)
  })

  test(`[engine.13] [DB-2] a ${kind} whose backend is stopped before its locks changes nothing any more`, async (t) => {
    const pix = await world(t)
    await late.prepare?.(pix.other)
    const id = pix.one.ids.uuid()
    const [holder, observer] = [await session(t, pix.url), await session(t, pix.url)]
    await holder.query('BEGIN')
    // Whatever it is, it waits for one of these, or for the key that is written here and never committed.
    await holder.query('SELECT FROM account FOR UPDATE')
    await holder.query('SELECT FROM control FOR UPDATE')
    if (kind === 'charge') await holder.query('LOCK TABLE operation IN EXCLUSIVE MODE')
    const execution = pix.one.engine.execute(late.command(id))
    const backend = await waitingBackend(observer)
    process.kill(backend, 'SIGSTOP')
    let isStopped = true
    t.after(() => isStopped && process.kill(backend, 'SIGCONT'))
    await holder.query('ROLLBACK')
    const putBack = await late.hinder?.(pix.other)
    pix.proxy.cutClients()
    const [settled] = await Promise.allSettled([execution])
    await putBack?.()
    process.kill(backend, 'SIGCONT')
    isStopped = false
    await ended(observer, backend)
    await assertOutcome(pix, kind, id, settled as PromiseSettledResult<unknown>)
  })

  test(`[engine.13] [DB-2] a ${kind} that is given up after it was found to hold fails on its own id`, async (t) => {
    const pix = await world(t)
    await late.prepare?.(pix.other)
    const id = pix.one.ids.uuid()
    const [holder, observer] = [await session(t, pix.url), await session(t, pix.url)]
    // What is found to hold writes its id: here it waits before it does.
    await holder.query(`
      CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock_shared(1); RETURN NEW; END';
      CREATE TRIGGER wait BEFORE INSERT ON batch FOR EACH ROW WHEN (NEW.outcome = 'committed') EXECUTE FUNCTION wait()`)
    await holder.query('SELECT pg_advisory_lock(1)')
    const execution = pix.one.engine.execute(late.command(id))
    const backend = await waitingBackend(observer)
    pix.proxy.cutClients()
    for (;;) {
      const { rows } = await observer.query(`SELECT FROM batch WHERE outcome = 'abandoned'`)
      if (rows.length > 0) break
    }
    await holder.query('SELECT pg_advisory_unlock(1)')
    await ended(observer, backend)
    await execution
    assert.equal(await happened(pix.database, kind, id), 1n)
    const outcomes = await pix.database.rows(selectOutcomes, [])
    assert.equal(outcomes.find(({ outcome }) => outcome === 'abandoned')?.batches, 1n)
    await assertBooks(pix.database)
  })
}

test('[engine.13] outcomes are forgotten after seven days and not before', async (t) => {
  const { url, database } = await testDatabase(t)
  const observer = await session(t, url)
  const idAt = (age: string) =>
    `(lpad(to_hex(floor(extract(epoch FROM clock_timestamp() - interval '${age}') * 1000)::bigint), 12, '0')
      || '70008000' || repeat('0', 12))::uuid`
  await observer.query(
    `INSERT INTO batch (id, outcome) VALUES (${idAt('7 days 1 minute')}, 'committed'), (${idAt('6 days 23:59')}, 'abandoned')`,
  )
  await forgetPast(database)
  assert.deepEqual(await database.rows(selectOutcomes, []), [{ outcome: 'abandoned', batches: 1n }])
})
