import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import { createService } from '../../src/app.ts'
import { readConfig } from '../../src/config.ts'
import {
  createBacklogReader,
  createHealthHandlers,
  createHealthStore,
  createMetrics,
  createWriteWatch,
  type HealthHandlers,
  type ReadinessSources,
} from '../../src/health/index.ts'
import type { Measured } from '../../src/health/metrics.ts'
import type { Backlog } from '../../src/health/store.ts'
import { createDatabaseClock } from '../../src/platform/clock.ts'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import type { RequestContext } from '../../src/platform/http/handler.ts'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { capturedLog } from '../support/captured-log.ts'
import { administer, MANY_OPERATIONS, planOf, testDatabase } from '../support/database.ts'
import { testEngine } from '../support/engine.ts'
import { scrape, seriesIn } from '../support/metrics.ts'
import { reachJudged } from '../support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { ADMIN_TOKEN, ENVIRONMENT, world } from '../support/world.ts'

const input = { params: undefined, query: undefined, body: undefined, context: {} as RequestContext }

const OK = { status: 'ok' }
const UNKNOWN = { status: 'unknown' }

const WALL_AT = Date.parse('2026-11-21T13:00:00Z')

function handlers(given: Partial<ReadinessSources> = {}): HealthHandlers {
  const readiness = {
    clock: createDatabaseClock(
      () => WALL_AT,
      () => 0,
    ),
    databaseNow: async () => WALL_AT,
    isStandby: async () => false,
    isDraining: () => false,
    bank: () => ({ isKnown: true, problem: undefined }),
    writeProblem: () => undefined,
    ...given,
  }
  return createHealthHandlers(readiness, createMetrics())
}

test('[health.2] ready is ready, without a reason against it', async () => {
  assert.deepEqual(await handlers().getReadiness(input), {
    status: 200,
    body: { status: 'ready', reasons: [], dependencies: { database: OK, clock: OK, bank: OK } },
  })
})

test('[health.2] an unready answer lists every reason at once, and no internals', async () => {
  const away = handlers({
    databaseNow: () => Promise.reject(new Error('some detail of user "pixgate"')),
    isDraining: () => true,
  })
  const reason = 'the database does not answer'
  assert.deepEqual(await away.getReadiness(input), {
    status: 503,
    body: {
      status: 'not_ready',
      reasons: ['the process is shutting down', reason],
      dependencies: { database: { status: 'failed', reason }, clock: UNKNOWN, bank: OK },
    },
  })
})

test('[health.7] commits that do not end make a process unready, until one ends or a minute has passed', () => {
  let now = WALL_AT
  const watch = createWriteWatch({ clock: { now: () => now }, logger: pino({ level: 'silent' }) })
  watch.onOverdue()
  assert.notEqual(watch.problem(), undefined)
  watch.onWrite(undefined)
  assert.equal(watch.problem(), undefined)
  watch.onOverdue()
  now += 60_000
  assert.equal(watch.problem(), undefined)
})

test('[health.2] a standby is not ready', async () => {
  const { status, body } = await handlers({ isStandby: async () => true }).getReadiness(input)
  assert.equal(status, 503)
  assert.equal(body.dependencies.database.status, 'failed')
})

test('[health.5] a bank that is away is degraded, with its reason, and the process is ready all the same', async () => {
  const standing = { isKnown: true, problem: 'the bank answers 401: check PIXGATE_PARTNER_TOKEN' }
  const { status, body } = await handlers({ bank: () => standing }).getReadiness(input)
  assert.deepEqual([status, body.status, body.reasons], [200, 'ready', []])
  assert.deepEqual(body.dependencies.bank, { status: 'degraded', reason: standing.problem })
  const notAsked = await handlers({ bank: () => ({ isKnown: false, problem: undefined }) }).getReadiness(input)
  assert.deepEqual(notAsked.body.dependencies.bank, UNKNOWN)
})

test('[health.5] [config.10] over HTTP: the first fault of the bank is logged, and /readyz shows the last one', async (t) => {
  let httpStatus = 401
  const bank = createServer((_, response) => response.writeHead(httpStatus).end())
  await once(bank.listen(0, '127.0.0.1'), 'listening')
  t.after(() => bank.close())
  const reason = 'the bank answers 401: check PIXGATE_PARTNER_TOKEN'
  const logged = Promise.withResolvers<void>()
  const logger = pino({}, { write: (line: string) => void (JSON.parse(line).msg === reason && logged.resolve()) })
  const bankUrl = `http://127.0.0.1:${(bank.address() as AddressInfo).port}`
  const pix = await world(t, {}, { bankUrl, logger })
  await logged.promise
  const ask = async () => (await pix.call('GET', '/readyz')).body
  assert.partialDeepStrictEqual(await ask(), {
    status: 'ready',
    dependencies: { bank: { status: 'degraded', reason } },
  })
  httpStatus = 503
  await pix.charge('10')
  assert.deepEqual((await ask()).dependencies.bank, { status: 'degraded', reason: 'the bank answers 503' })
})

test('[health.2] [EX-4] a clock that is more than a second off the database is a reason, in either direction', async () => {
  const reasonsAt = async (skewMs: number) =>
    (await handlers({ databaseNow: async () => WALL_AT - skewMs }).getReadiness(input)).body.reasons
  for (const skewMs of [0, 1_000, -1_000]) assert.deepEqual(await reasonsAt(skewMs), [])
  assert.deepEqual(await reasonsAt(1_001), ["the clock of this machine is 1001 ms ahead of the database's"])
  assert.deepEqual(await reasonsAt(-5_000), ["the clock of this machine is 5000 ms behind the database's"])
})

/** Lets new sessions of a database write, or only read, and ends those of the engine that there are. */
async function setReadOnly(url: string, isReadOnly: boolean): Promise<void> {
  const name = new URL(url).pathname.slice(1)
  await administer(
    new URL('/postgres', url).href,
    `ALTER DATABASE ${name} SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`,
  )
  await administer(
    url,
    `SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'pixgate engine'`,
  )
}

test('[health.7] [logs.3] a database that can be read and not written is a reason, a figure and a line, until a write succeeds', async (t) => {
  const log = capturedLog()
  const pix = await world(t, {}, { isStepped: true, logger: log.logger })
  const ready = async () => {
    const { status, body } = await pix.call('GET', '/readyz')
    const writable = (await scrape(pix))('pixgate_database_writable')
    return [status, body.reasons, body.dependencies.clock.status, writable]
  }
  const create = async (externalId: string) =>
    (await pix.call('POST', '/api/pix/cash-in', { transaction: { value: 10, externalId } })).status
  assert.equal(await create('a'), 201)
  assert.deepEqual(await ready(), [200, [], 'ok', 1])
  await setReadOnly(pix.databaseUrl, true)
  // The first one may find out that its session has ended.
  while ((await ready())[3] === 1) assert.equal(await create('b'), 503)
  assert.deepEqual(await ready(), [503, ['the database can only be read'], 'ok', 0])
  const { level, reason, pool } = await log.line('the database refuses writes')
  assert.deepEqual([level, pool], ['error', 'engine'])
  assert.match(String(reason), /in a read-only transaction$/)
  await setReadOnly(pix.databaseUrl, false)
  await until(async () => (await create('c')) === 201)
  assert.deepEqual(await ready(), [200, [], 'ok', 1])
  await log.line('', { level: 'info', event: 'database.writes_resumed' })
})

test('[health.7] a refused write counts for a minute, as an unready process gets no requests', () => {
  let nowMs = WALL_AT
  const { onWrite, problem } = createWriteWatch({ clock: { now: () => nowMs }, logger: pino({ level: 'silent' }) })
  const full = Object.assign(new pg.DatabaseError('could not extend file', 0, 'error'), { code: '53100' })
  onWrite(new DatabaseUnavailable('away', true))
  assert.equal(problem(), undefined, 'of a database that is away the reading tells')
  onWrite(new DatabaseUnavailable(full.message, false, { cause: full }))
  nowMs += 59_999
  assert.equal(problem(), 'the database has no space left on its disk')
  nowMs += 1
  assert.equal(problem(), undefined)
  onWrite(full)
  assert.equal(problem(), 'the database has no space left on its disk')
  onWrite(undefined)
  assert.equal(problem(), undefined)
})

test('[health.1] [health.2] over HTTP: anyone may ask, and the database makes the difference', async (t) => {
  let isAway = false
  const pix = await world(
    t,
    {},
    {
      reach: reachJudged(t, () => (isAway ? 'cut' : 'pass')),
    },
  )
  const ask = async (path: string) => {
    const response = await fetch(pix.url + path)
    return [response.status, await response.json()]
  }
  assert.deepEqual(await ask('/healthz'), [200, { status: 'ok' }])
  assert.partialDeepStrictEqual(await ask('/readyz'), [200, { status: 'ready', reasons: [] }])
  isAway = true
  pix.clock.advance(1_000)
  assert.partialDeepStrictEqual(await ask('/readyz'), [
    503,
    { status: 'not_ready', reasons: ['the database cuts the connection'] },
  ])
  assert.deepEqual(await ask('/healthz'), [200, { status: 'ok' }])
  isAway = false
  pix.clock.advance(1_000)
  assert.equal((await ask('/readyz'))[0], 200)
})

test('[health.9] readiness queries the database at most once a second and once at a time', async () => {
  let nowMs = WALL_AT
  const asked: PromiseWithResolvers<number>[] = []
  let isDraining = false
  const { getReadiness } = handlers({
    clock: { ...createDatabaseClock(), now: () => nowMs, observe: () => undefined, skewMs: () => 0 },
    databaseNow: () => {
      const answer = Promise.withResolvers<number>()
      asked.push(answer)
      return answer.promise
    },
    isDraining: () => isDraining,
  })
  const answer = async () => (await getReadiness(input)).status
  const many = [answer(), answer()]
  nowMs += 5_000
  many.push(answer())
  assert.equal(asked.length, 1, 'one is under way')
  asked[0]?.resolve(WALL_AT)
  assert.deepEqual(await Promise.all(many), [200, 200, 200])
  const next = answer()
  assert.equal(asked.length, 2)
  asked[1]?.reject(new Error('away'))
  assert.equal(await next, 503)
  nowMs += 999
  assert.equal(await answer(), 503, 'also that it is away is remembered')
  nowMs += 1
  const again = answer()
  asked[2]?.resolve(WALL_AT)
  assert.equal(await again, 200)
  isDraining = true
  assert.equal(await answer(), 503, 'what the process knows itself is told at once')
  assert.equal(asked.length, 3)
})

/** Metrics that measure what is given, in a process where nothing happens. */
function metricsOf(given: Partial<Measured>, now = () => WALL_AT) {
  const metrics = createMetrics()
  const idle: Measured = {
    engineWaiting: () => 3,
    backlog: async () => NOTHING_WAITS,
    ledger: () => undefined,
    audit: () => undefined,
    certificates: () => [],
    breakers: () => ({ orders: 'closed', charges: 'half_open' }),
    writeProblem: () => undefined,
    pools: () => ({ api: { inUse: 2, waiting: 1 } }),
    loopDelays: () => ({ p50Ms: 0, p99Ms: 5, longestMs: 2_000 }),
  }
  metrics.measure({ ...idle, ...given }, { now, skewMs: () => -1_500 })
  return { metrics, series: async () => seriesIn(await metrics.text()) }
}

const NOTHING_WAITS: Backlog = {
  cases: [],
  operations: [],
  events: [],
  deliveries: [],
  endpoints: [],
  late: [],
  suspended: [],
  statement: [],
  closes: [],
}

test('[health.4] [partner.12] the metrics show the state at the time of the scrape', async () => {
  const { series } = metricsOf({
    ledger: () => ({ at: WALL_AT, faults: 2 }),
    audit: () => ({ at: WALL_AT, faults: 3 }),
    certificates: () => [{ of: 'bank', endsAt: WALL_AT }],
  })
  const after = await series()
  assert.deepEqual([after('pixgate_engine_waiting'), after('pixgate_database_up')], [3, 1])
  assert.deepEqual(
    [after('pixgate_ledger_faults'), after('pixgate_ledger_verified_timestamp_seconds')],
    [2, WALL_AT / 1_000],
  )
  assert.deepEqual(
    [after('pixgate_audit_faults'), after('pixgate_audit_verified_timestamp_seconds')],
    [3, WALL_AT / 1_000],
  )
  assert.equal(after('pixgate_clock_skew_seconds'), -1.5)
  assert.equal(after('pixgate_bank_certificate_expires_timestamp_seconds{owner="bank"}'), WALL_AT / 1_000)
  assert.equal(after('pixgate_bank_certificate_expires_timestamp_seconds{owner="client"}'), undefined)
  assert.equal(after('pixgate_bank_breaker_state{breaker="charges",state="half_open"}'), 1)
  assert.equal(after('pixgate_bank_breaker_state{breaker="charges",state="open"}'), 0)
  assert.equal(after('pixgate_database_connections_waiting{pool="api"}'), 1)
  assert.equal(after('pixgate_event_loop_delay_seconds{within="max"}'), 2)
})

test('[health.4] [metrics.6] books that were never verified are as old as the process, and of no process that does not verify', async () => {
  let known: ReturnType<Measured['ledger']>
  const { series } = metricsOf({ ledger: () => known })
  const ofLedger = async () => {
    const now = await series()
    return [now('pixgate_ledger_faults'), now('pixgate_ledger_verified_timestamp_seconds')]
  }
  assert.deepEqual(await ofLedger(), [undefined, undefined])
  known = { at: WALL_AT, faults: undefined }
  assert.deepEqual(await ofLedger(), [undefined, WALL_AT / 1_000])
  known = { at: WALL_AT, faults: 0 }
  assert.deepEqual(await ofLedger(), [0, WALL_AT / 1_000])
})

test('[health.4] while the database is away the metrics tell the rest', async () => {
  let isAway = false
  const now = () => (isAway ? WALL_AT + 5_000 : WALL_AT)
  const cases = [{ kind: 'event_set_aside', state: '', count: 2, oldestSeconds: 60 }]
  const backlog = async () => (isAway ? {} : { ...NOTHING_WAITS, cases })
  const { series } = metricsOf({ backlog }, now)
  const there = await series()
  assert.equal(there('pixgate_cases_open{kind="event_set_aside"}'), 2)
  assert.equal(there('pixgate_cases_oldest_age_seconds{kind="event_set_aside"}'), 60)
  isAway = true
  const away = await series()
  assert.deepEqual([away('pixgate_engine_waiting'), away('pixgate_database_up')], [3, 0])
  assert.equal(away('pixgate_cases_open{kind="event_set_aside"}'), undefined)
})

test('[metrics.7] [logs.3] a metric that the database refuses is left out and logged, and the others are shown', async (t) => {
  const { url, database } = await testDatabase(t)
  const log = capturedLog()
  const read = createBacklogReader({ store: createHealthStore(database), logger: log.logger })
  const { series } = metricsOf({ backlog: read })
  await administer(url, 'REVOKE SELECT ON "case" FROM pixgate_app')
  await read()
  const now = await series()
  assert.equal(now('pixgate_database_up'), 0)
  assert.equal(now('pixgate_deliveries{state="pending"}'), 0)
  assert.deepEqual(
    log.lines.map(({ level, event, part, reason }) => [level, event, part, reason]),
    [['error', 'metrics.part_unreadable', 'cases', 'permission denied for table case']],
  )
})

test('[metrics.7] a database that is away is asked for one figure and not for all, and its pool alone says so', async () => {
  const log = capturedLog()
  let asked = 0
  const away = () => {
    asked += 1
    return Promise.reject(new DatabaseUnavailable('away', false))
  }
  const store = {
    ...{ cases: away, operations: away, events: away, deliveries: away },
    ...{ endpoints: away, late: away, suspended: away, statement: away, closes: away },
  }
  assert.deepEqual(await createBacklogReader({ store, logger: log.logger })(), {})
  assert.deepEqual([asked, log.lines], [1, []])
})

test('[metrics.3] metrics query the database at most every five seconds', async () => {
  let [nowMs, reads] = [WALL_AT, 0]
  const backlog = async () => {
    reads += 1
    return NOTHING_WAITS
  }
  const { metrics } = metricsOf({ backlog }, () => nowMs)
  await Promise.all([metrics.text(), metrics.text()])
  nowMs += 4_999
  await metrics.text()
  assert.equal(reads, 1)
  nowMs += 1
  await metrics.text()
  assert.equal(reads, 2)
})

/** Of everything that can wait so much that does not. */
const MUCH_THAT_HAS_ENDED = `
  SET session_replication_role = replica;
  INSERT INTO "case" (id, kind, reference, facts, opened_at, closed_at)
  SELECT gen_random_uuid(), 'event_set_aside', n::text, '{}', now(), now() FROM generate_series(1, 2000) n;
  INSERT INTO notification (id, operation_id, event_type, status, reference, body, created_at, fanned_out_at)
  SELECT gen_random_uuid(), gen_random_uuid(), 'pix_cash_in', 'PAID', n::text, '', now(), now()
    FROM generate_series(1, 2000) n;
  INSERT INTO endpoint (id, url, events, created_at, since)
  VALUES ('00000000-0000-7000-8000-000000000000', 'https://shop.example', '{pix_cash_in}', now(), now());
  INSERT INTO delivery (id, notification_id, endpoint_id, state, delivered_at, created_at)
  SELECT gen_random_uuid(), id, '00000000-0000-7000-8000-000000000000', 'DELIVERED', now(), now() FROM notification;
  INSERT INTO inbox (id, endpoint, body, received_at)
  SELECT gen_random_uuid(), 'cash-in', '', now() FROM generate_series(1, 2000) n;
  INSERT INTO inbox_event (inbox_id, ordinal, dedupe_key, content_hash, state)
  SELECT id, 0, id::text, '', 'DONE' FROM inbox`

test('[metrics.3] waiting work is found by an index', async (t) => {
  const { url, database } = await testDatabase(t)
  const asked: string[] = []
  const store = createHealthStore({
    ...database,
    rows: (query, ...rest) => {
      asked.push(query.text)
      return database.rows(query, ...rest)
    },
  })
  await database.rows(MANY_OPERATIONS, [])
  await administer(url, MUCH_THAT_HAS_ENDED)
  assert.equal((await store.operations()).find(({ kind }) => kind === 'refund_in')?.count, 667)
  for (const part of [store.cases, store.events, store.deliveries, store.late]) await part()
  await administer(url, 'ANALYZE')
  const plans = await Promise.all(asked.map((text) => planOf(url, text)))
  const indexes =
    'case_open operation_list_by_status inbox_event_due delivery_due notification_to_fan_out operation_due_by_kind'
  for (const index of indexes.split(' ')) assert.match(plans.join('\n'), new RegExp(`\\b${index}\\b`))
  assert.doesNotMatch(plans.join('\n'), /Seq Scan on (operation|delivery\b|notification|inbox)/)
  assert.doesNotMatch(plans[0] ?? '', /Sort/, 'the oldest comes first in the index')
})

test('[logs.2] a metric that cannot be written fails nobody', () => {
  const { onRequest } = createMetrics()
  onRequest('GET', Symbol('no label') as unknown as string, 200, Number.NaN)
})

test('[health.4] [P8] a case is logged, and counted while it is open', async (t) => {
  const { url, database } = await testDatabase(t)
  const lines: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => void lines.push(line) })
  const { engine } = testEngine(t, url, undefined, realPause, logger)
  const { cases } = createHealthStore(database)
  assert.deepEqual(await cases(), [])
  const opened = {
    operationId: null,
    kind: 'event_set_aside',
    reference: 'event-1',
    facts: { rule: 'test.1' },
  } as const
  await engine.execute({ reads: [], decide: () => ({ cases: [opened], outcome: undefined }) })
  assert.deepEqual(
    (await cases()).map(({ kind, count }) => [kind, count]),
    [['event_set_aside', 1]],
  )
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)).map(({ msg, case: kind, reference }) => [msg, kind, reference]),
    [['case opened; operator action required', 'event_set_aside', 'event-1']],
  )
})

test('[trip-wire.7] suspension of payouts, its cause and age, and the age of the statement are metrics', async (t) => {
  const { url, database } = await testDatabase(t)
  const { suspended, statement } = createHealthStore(database)
  const kinds = async () => (await suspended()).filter(({ count }) => count === 1).map(({ kind }) => kind)
  assert.deepEqual(
    (await suspended()).map(({ kind, count }) => [kind, count]),
    ['operator', 'trip_wire', 'restored'].map((kind) => [kind, 0]),
  )
  const suspendedBy = (more: object) => {
    const value = JSON.stringify({ enabled: false, reason: '', changedAt: '2026-11-22T12:00:00Z', ...more })
    return administer(url, `UPDATE control SET value = '${value}' WHERE name = 'cash_out_switch'`)
  }
  await suspendedBy({})
  assert.deepEqual(await kinds(), ['operator'])
  await suspendedBy({ by: 'trip-wire' })
  assert.deepEqual(await kinds(), ['trip_wire'])
  assert.ok(((await suspended())[1]?.oldestSeconds ?? 0) > 0)
  await suspendedBy({ by: 'database-watch' })
  assert.deepEqual(await kinds(), ['restored'])
  assert.deepEqual(await statement(), [])
  await administer(url, "UPDATE statement_mark SET read_at = now() - interval '20 minutes'")
  assert.ok(((await statement())[0]?.oldestSeconds ?? 0) >= 1_200)
})

test('[metrics.4] the token of the metrics reads them and nothing else, beside the administrative one', async (t) => {
  const token = 'metrics-token-of-the-tests-0123456789'
  const { url, apiKey } = await world(t, { PIXGATE_METRICS_TOKEN: token })
  const status = async (path: string, bearer: string | undefined) => {
    const headers = bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }
    return (await fetch(url + path, { headers })).status
  }
  assert.equal(await status('/metrics', token), 200)
  assert.equal(await status('/metrics', ADMIN_TOKEN), 200)
  for (const other of [undefined, apiKey, `${token}x`]) {
    assert.equal(await status('/metrics', other), 401)
  }
  assert.equal(await status('/operator/cash-out-switch', token), 401)
  assert.equal(await status('/api/pix/cash-in', token), 401)
})

test('[health.4] [metrics.4] without a token of their own only the administrative token reads the metrics', async (t) => {
  const { url, call } = await world(t)
  assert.equal((await call('GET', '/metrics')).status, 401)
  const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } })
  assert.deepEqual(
    [response.status, response.headers.get('content-type')],
    [200, 'text/plain; version=0.0.4; charset=utf-8'],
  )
  assert.match(await response.text(), /^pixgate_engine_waiting 0$/m)
})

test('[health.3] between turning unready and refusing connections a stopping process answers for the drain delay', async (t) => {
  const { url: DATABASE_URL } = await testDatabase(t)
  const addresses = { DATABASE_URL, PIXGATE_PARTNER_URL: 'http://127.0.0.1:9', PIXGATE_DRAIN_DELAY_MS: '250' }
  const service = await createService({
    config: readConfig({ ...ENVIRONMENT, ...addresses }),
    clock: createDatabaseClock(),
    pause: realPause,
    random: Math.random,
    logger: pino({ level: 'silent' }),
  })
  const url = await service.http.listen({ host: '127.0.0.1', port: 0 })
  const stopped = service.stop()
  assert.equal((await fetch(`${url}/readyz`)).status, 503)
  assert.equal((await fetch(`${url}/healthz`)).status, 200)
  await stopped
  await assert.rejects(fetch(`${url}/healthz`))
})
