import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import pg from 'pg'
import { deactivateKey, generateKey } from '../../src/access/api.ts'
import { listCredentials } from '../../src/access/credentials.ts'
import { createCashOutCommands } from '../../src/cash-out/commands.ts'
import { createInboxCommands } from '../../src/inbox/receive.ts'
import type { Receivers } from '../../src/inbox/receivers.ts'
import { createInboxStore } from '../../src/inbox/store.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { createWebhooksModule, openSigning } from '../../src/webhooks/index.ts'
import { cashOutRequest, TERMS } from '../cash-out/situations.ts'
import { assertBooks } from '../support/books.ts'
import { capturedLog } from '../support/captured-log.ts'
import { openTestDatabase } from '../support/database.ts'
import { cashInRequest, payment, type TestEngine, testEngine } from '../support/engine.ts'
import { ALIVE } from '../support/live-request.ts'
import { migratedPostgres } from '../support/migrated-postgres.ts'
import { inbound, paidEvent, UNREAD } from '../support/partner-events.ts'
import { until } from '../support/until.ts'
import { ENCRYPTION_KEYS, requestContext } from '../support/webhook-world.ts'

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
  const postgres = await migratedPostgres({ dataDirectory: directory })
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
  await until(async () => (await hangingCommits('probe')).length > 0)
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

for (const what of ['create', 'payment', 'create that no server warns of'] as const) {
  test(`[DB-3] a ${what} whose wait for the standby is cancelled is no success until a standby has it`, async (t) => {
    if (what === 'create that no server warns of') {
      await primary.admin.query('ALTER DATABASE pixgate SET client_min_messages = error')
      t.after(() => primary.admin.query('ALTER DATABASE pixgate RESET client_min_messages'))
    }
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
    const writing = (what === 'payment' ? pay() : one.cashIns.create(request)).finally(() => {
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
    assert.equal((await writing)?.cashIn.status, what === 'payment' ? 'PAID' : 'PENDING')
    const database = openTestDatabase(primary.url)
    t.after(() => database.close())
    await assertBooks(database)
  })
}

test('[DB-4] while commits hang callers get 503; what they asked for is there afterwards', async (t) => {
  let patienceMs = 50
  const pause = { ...realPause, for: (_ms: number, signal?: AbortSignal) => realPause.for(patienceMs, signal) }
  const one = testEngine(t, primary.url, undefined, pause)
  const request = cashInRequest({ id: one.ids.uuid(), externalId: 'hanging' })
  await loseStandby(t)
  await assert.rejects(one.cashIns.create(request), { code: 'overloaded' })
  // The patience counts from the start of the batch, so it may end before the commit begins.
  await until(async () => (await hangingCommits()).length > 0)
  assert.equal((await hangingCommits()).length, 1)
  await returnStandby()
  await one.engine.drained()
  patienceMs = 60_000
  await assert.rejects(one.cashIns.create({ ...request, id: one.ids.uuid() }), { code: 'duplicate_external_id' })
})

/** Money for a payout, by a paid charge. */
async function fund({ cashIns, ids }: TestEngine, externalId: string): Promise<void> {
  const { cashIn } = await cashIns.create(cashInRequest({ id: ids.uuid(), externalId }))
  const paid = payment({ endToEndId: `E-${externalId}` })
  await cashIns.apply(cashIn.id, { on: 'partner.confirmed', payment: paid, transactionId: `tx-${externalId}` })
}

test('[CO-6] a payout whose reservation hangs is no 201, and no process sends it before a standby has it', async (t) => {
  let patienceMs = 50
  const pause = { ...realPause, for: (_ms: number, signal?: AbortSignal) => realPause.for(patienceMs, signal) }
  const one = testEngine(t, primary.url, undefined, pause)
  await fund(one, 'funding')
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

/** Cancels the wait of every commit that hangs now: what they wrote can be read, and no standby has it. */
async function cancelWaits(): Promise<void> {
  let waiting: number[] = []
  while (waiting.length === 0) waiting = await hangingCommits()
  for (const pid of waiting) await primary.admin.query('SELECT pg_cancel_backend($1)', [pid])
}

/** Resolves when so many commits hang; fails where the answer is given before. */
async function hangs(answer: Promise<unknown>, sessions: number): Promise<void> {
  let isAnswered = false
  const note = () => {
    isAnswered = true
  }
  answer.then(note, note)
  while ((await hangingCommits()).length < sessions) assert.equal(isAnswered, false, 'answered without a standby')
}

for (const by of ['external id', 'Idempotency-Key', 'code'] as const) {
  test(`[database.7] [PL-40] an operation that no standby has is not reported as created: a repeat by ${by} waits`, async (t) => {
    const one = testEngine(t, primary.url)
    await fund(one, `funding-${by}`)
    const elsewhere = createCashOutCommands(testEngine(t, primary.url).engine, TERMS)
    const request = cashOutRequest({
      id: one.ids.uuid(),
      externalId: `repeated-${by}`,
      idempotencyKey: `key of ${by}`,
      exclusiveKey: `code of ${by}`,
    })
    const again = {
      ...request,
      id: one.ids.uuid(),
      ...(by === 'Idempotency-Key' ? {} : { idempotencyKey: null }),
      ...(by === 'external id' ? {} : { externalId: `another-${by}` }),
    }
    await loseStandby(t)
    const first = createCashOutCommands(one.engine, TERMS).create(request)
    await cancelWaits()
    const answer = elsewhere.create(again)
    // The other one asks what became of the first.
    await hangs(answer, 2)
    await returnStandby()
    await first
    if (by === 'Idempotency-Key') assert.equal((await answer).cashOut.id, request.id)
    else await assert.rejects(answer, { code: by === 'code' ? 'pix_code_in_use' : 'duplicate_external_id' })
  })
}

test('[PL-40] an event that no standby has is not acknowledged: sent again it waits', async (t) => {
  const { clock, ids } = testEngine(t, primary.url)
  const database = openTestDatabase(primary.url, 1)
  t.after(() => database.close())
  const { accept } = createInboxCommands({
    store: createInboxStore(database),
    inbound,
    receivers: {} as Receivers,
    reports: UNREAD,
    clock,
    ids,
    onStored: () => undefined,
  })
  const body = Buffer.from(
    JSON.stringify(paidEvent({ id: ids.uuid(), valueCents: 1_00, providerTransactionId: 'tx-lost' })),
  )
  await loseStandby(t)
  const first = assert.rejects(accept({ endpoint: 'cash-in', body, isProven: true }), {
    message: 'the wait for the standby was cancelled',
  })
  await cancelWaits()
  await first
  const again = accept({ endpoint: 'cash-in', body, isProven: true })
  await hangs(again, 1)
  await returnStandby()
  await again
})

for (const what of ['key that is deactivated', 'endpoint that is registered', 'endpoint that is removed'] as const) {
  test(`[PL-40] a ${what} again is no ${what === 'endpoint that is registered' ? 409 : 404} until a standby has the first time`, async (t) => {
    const { clock, ids } = testEngine(t, primary.url)
    const database = openTestDatabase(primary.url, 1)
    t.after(() => database.close())
    const keys = {
      database,
      clock,
      ids,
      mode: 'sandbox',
      cache: { clear: () => undefined },
    } as const
    const operator = { actor: 'tests', address: '127.0.0.1' }
    await generateKey(keys, { createdBy: null }, operator, ALIVE)
    const [key] = await listCredentials(database, 'api_key', undefined, 1)
    const url = new URL(`https://example.com/${ids.uuid()}`)
    const parts = { database, clock, ids, logger: capturedLog().logger }
    const { keyring, sealer } = await openSigning({ ...parts, keys: ENCRYPTION_KEYS })
    const webhooks = createWebhooksModule({
      ...parts,
      ...{
        keyring,
        sealer,
        deliveryDatabase: database,
        apiDatabase: database,
        random: Math.random,
        allowPrivate: true,
        allowedNetworks: [],
      },
    })
    t.after(() => webhooks.stop())
    const bare = { params: undefined, query: undefined, body: undefined, context: requestContext }
    const body = { url: url.href, events: ['pix_cash_in' as const] }
    const register = async () => ({ id: (await webhooks.handlers.createWebhook({ ...bare, body })).body.webhook_id })
    const { id } = what === 'endpoint that is removed' ? await register() : { id: '' }
    const once = async () => {
      if (what === 'endpoint that is registered') await register()
      else if (what === 'endpoint that is removed')
        await webhooks.handlers.deleteWebhook({ ...bare, params: { webhook_id: id } })
      else await deactivateKey(keys, key?.id ?? '', operator, ALIVE)
    }
    await loseStandby(t)
    const first = assert.rejects(once(), { message: 'the wait for the standby was cancelled' })
    await cancelWaits()
    await first
    const again = once()
    await hangs(again, 1)
    await returnStandby()
    await assert.rejects(again, { code: what === 'endpoint that is registered' ? 'duplicate_webhook' : 'not_found' })
  })
}
