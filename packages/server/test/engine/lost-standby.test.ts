import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { cashIn, cashOut, refundIn } from '@pixgate/spec'
import pg from 'pg'
import { createCashOutCommands } from '../../src/modules/cash-out/commands.ts'
import { startEmbeddedPostgres } from '../../src/platform/db/embedded-postgres.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { cashOutRequest, TERMS } from '../modules/cash-out/situations.ts'
import { assertBooks } from '../support/books.ts'
import { openTestDatabase } from '../support/database.ts'
import { cashInRequest, payment, testEngine } from '../support/engine.ts'

/** A PostgreSQL of its own, as the loss of a standby is felt by every database in it; each test leaves it complete. */
let primary: Awaited<ReturnType<typeof startPrimary>>

test.before(async () => {
  primary = await startPrimary()
})
test.after(() => primary.stop())

async function startPrimary() {
  const directory = await mkdtemp(join(tmpdir(), 'pixgate-standby-'))
  // As root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(directory, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDirectory: directory })
  await migrate(postgres.url, [cashIn, cashOut, refundIn])
  const admin = new pg.Client({ connectionString: postgres.url, application_name: 'admin' })
  await admin.connect()
  const stop = async () => {
    await admin.end()
    await postgres.stop()
    await rm(directory, { recursive: true })
  }
  return { url: postgres.url, admin, stop }
}

/** From here on every commit hangs. */
async function loseStandby(t: TestContext): Promise<void> {
  await setStandby('lost')
  const probe = new pg.Client({ connectionString: primary.url, application_name: 'probe' })
  await probe.connect()
  let isOver = false
  const probing = (async () => {
    while (!isOver) await probe.query(`SELECT pg_logical_emit_message(true, 'probe', '')`)
  })()
  t.after(async () => {
    isOver = true
    await returnStandby()
    await probing
    await probe.end()
  })
  while ((await hangingCommits('probe')).length === 0);
}

/** What hangs is committed now. */
const returnStandby = () => setStandby('')

async function setStandby(name: string): Promise<void> {
  await primary.admin.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
  await primary.admin.query('SELECT pg_reload_conf()')
}

/** The sessions that wait for the standby. */
async function hangingCommits(application = 'pixgate test'): Promise<number[]> {
  const { rows } = await primary.admin.query(
    `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND application_name = $1`,
    [application],
  )
  return rows.map(({ pid }) => pid)
}

for (const what of ['create', 'payment'] as const) {
  test(`[DB-3] a ${what} whose wait for the standby is cancelled is no success until a standby has it`, async (t) => {
    const one = testEngine(t, primary.url)
    const request = cashInRequest({ id: one.ids.uuid(), externalId: `cancelled-${what}` })
    const pay = () =>
      one.cashIns.apply(request.id, {
        on: 'partner.confirmed',
        payment: payment({ endToEndId: 'E1' }),
        transactionId: 'tx',
      })
    if (what === 'payment') await one.cashIns.create(request)
    await loseStandby(t)
    let isAnswered = false
    const writing = (what === 'create' ? one.cashIns.create(request) : pay()).finally(() => {
      isAnswered = true
    })
    // Its rows can be seen after the first time; whoever looks for them must wait as well.
    for (let times = 1; times <= 3; times++) {
      let waiting: number[] = []
      while (waiting.length === 0) {
        assert.equal(isAnswered, false, 'nothing waits for the standby any more')
        waiting = await hangingCommits()
      }
      if (times < 3) for (const pid of waiting) await primary.admin.query('SELECT pg_cancel_backend($1)', [pid])
    }
    await returnStandby()
    assert.equal((await writing)?.cashIn.status, what === 'create' ? 'PENDING' : 'PAID')
    const database = openTestDatabase(primary.url)
    t.after(() => database.close())
    await assertBooks(database)
  })
}

test('[DB-4] while commits hang callers are told to come back; what they asked for is there afterwards', async (t) => {
  let patienceMs = 50
  const pause = { ...realPause, for: (_ms: number, signal?: AbortSignal) => realPause.for(patienceMs, signal) }
  const one = testEngine(t, primary.url, undefined, pause)
  const request = cashInRequest({ id: one.ids.uuid(), externalId: 'hanging' })
  await loseStandby(t)
  await assert.rejects(one.cashIns.create(request), { code: 'overloaded' })
  assert.equal((await hangingCommits()).length, 1)
  await returnStandby()
  await one.engine.drained()
  patienceMs = 60_000
  await assert.rejects(one.cashIns.create({ ...request, id: one.ids.uuid() }), { code: 'duplicate_external_id' })
})

test('[CO-6] a payout whose reservation hangs is no 201, and no process sends it before a standby has it', async (t) => {
  let patienceMs = 50
  const pause = { ...realPause, for: (_ms: number, signal?: AbortSignal) => realPause.for(patienceMs, signal) }
  const one = testEngine(t, primary.url, undefined, pause)
  const charge = cashInRequest({ id: one.ids.uuid(), externalId: 'funding' })
  await one.cashIns.create(charge)
  await one.cashIns.apply(charge.id, {
    on: 'partner.confirmed',
    payment: payment({ endToEndId: 'E-funding' }),
    transactionId: 'tx-funding',
  })
  const payouts = createCashOutCommands(one.engine, TERMS)
  const elsewhere = createCashOutCommands(testEngine(t, primary.url).engine, TERMS)
  const request = cashOutRequest({ id: one.ids.uuid(), externalId: 'hanging' })
  const claim = () => elsewhere.apply(request.id, [{ on: 'send.claimed', leaseMs: 60_000 }])

  await loseStandby(t)
  await assert.rejects(payouts.create(request), { code: 'overloaded' })
  assert.equal(await claim(), undefined, 'for everybody else it is not there yet')
  await returnStandby()
  await one.engine.drained()
  patienceMs = 60_000
  const again = payouts.create({ ...request, id: one.ids.uuid() })
  await assert.rejects(again, {
    code: 'duplicate_external_id',
    existing: { id: request.id, status: 'RESERVED', samePayload: true },
  })
  assert.equal((await claim())?.cashOut.status, 'DISPATCHED')
})
