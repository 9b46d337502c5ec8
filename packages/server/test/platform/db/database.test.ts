import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import {
  APPLICATION_ROLE,
  type Database,
  instantParameter,
  openDatabase,
  statement,
} from '../../../src/platform/db/database.ts'
import {
  DatabaseUnavailable,
  databaseError,
  isRetryableConflict,
  NoLongerWanted,
} from '../../../src/platform/db/errors.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { administer, MANY_OPERATIONS, openTestDatabase, testDatabase } from '../../support/database.ts'
import { steppedLogThrottle } from '../../support/stepped-log-throttle.ts'
import { type TcpProxy, tcpProxy } from '../../support/tcp-proxy.ts'
import { until } from '../../support/until.ts'

const one = statement<[], { one: number }>('test.one', 'SELECT 1 AS one')
const sleep = statement<[seconds: number]>('test.sleep', 'SELECT pg_sleep($1)')
const pid = statement<[], { pid: number }>('test.pid', 'SELECT pg_backend_pid() AS pid')
const addKey = statement<[id: string]>(
  'test.add_key',
  `WITH key AS (
     INSERT INTO credential (kind, id, hash, display, created_at, scopes)
     VALUES ('api_key', gen_random_uuid(), convert_to($1, 'utf8'), $1, now(), '{read}')
     RETURNING id)
   INSERT INTO audit (id, at, actor, action, subject, address, facts)
   SELECT id, now(), 'test', 'api_key.generated', id, '', jsonb_build_object('display', $1::text, 'scopes', '["read"]'::jsonb) FROM key`,
)
const lockAccounts = statement<[]>('test.lock_accounts', 'SELECT FROM account FOR UPDATE NOWAIT')
const keys = statement<[], { display: string }>('test.keys', 'SELECT display FROM credential ORDER BY display')

const displays = async (database: Database) => (await database.rows(keys, [])).map(({ display }) => display)

/** How an error tells whether what was sent may have happened; any other error fails. */
async function unavailability(work: Promise<unknown>): Promise<{ sent: boolean }> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof DatabaseUnavailable, String(error))
    return { sent: error.sent }
  }
  assert.fail('it worked')
}

/** A pool of one connection. */
async function single(t: TestContext, patienceMs?: number): Promise<{ url: string; database: Database }> {
  const { url } = await testDatabase(t)
  const database = openTestDatabase(url, 1, patienceMs)
  t.after(() => database.close())
  return { url, database }
}

/** A pool of one connection with a log, and options of its own. */
async function logged(t: TestContext, options: Partial<Parameters<typeof openDatabase>[0]>) {
  const { url } = await testDatabase(t)
  const log = capturedLog()
  const database = openDatabase({ url, name: 'test', connections: 1, logger: log.logger, ...options })
  t.after(() => database.close())
  return { url, database, log }
}

/** A pool of one connection behind a proxy. */
async function proxied(t: TestContext): Promise<{ database: Database; proxy: TcpProxy; url: string }> {
  const { url } = await testDatabase(t)
  const address = new URL(url)
  const proxy = await tcpProxy(t, Number(address.port))
  address.port = String(proxy.port)
  const database = openTestDatabase(address.href, 1)
  t.after(() => database.close())
  return { database, proxy, url }
}

test('[money.2] centavos are read as bigint and instants as epoch milliseconds, and written as they were read', async (t) => {
  const { database } = await testDatabase(t)
  const types = statement<[cents: string, at: string], Record<string, unknown>>(
    'test.types',
    'SELECT $1::bigint AS cents, $2::timestamptz AS at, 7::integer AS number, NULL::bigint AS nothing',
  )
  const at = Date.parse('2026-11-21T13:15:00.123Z')
  const [row] = await database.rows(types, ['9007199254740993', instantParameter(at)])
  assert.deepEqual(row, { cents: 9_007_199_254_740_993n, at, number: 7, nothing: null })
})

test('[DB-9] a session works as the application’s role and never waits for long', async (t) => {
  const { database } = await testDatabase(t)
  const settings = statement<[], Record<string, string>>(
    'test.settings',
    `SELECT current_user AS role, current_setting('statement_timeout') AS statement,
            current_setting('lock_timeout') AS lock,
            current_setting('idle_in_transaction_session_timeout') AS idle, current_setting('TimeZone') AS zone,
            current_setting('default_transaction_isolation') AS isolation`,
  )
  assert.deepEqual(await database.rows(settings, []), [
    { role: APPLICATION_ROLE, statement: '5s', lock: '2s', idle: '10s', zone: 'UTC', isolation: 'read committed' },
  ])
})

test('a pool plans statements once if its options say so, and leaves the rest to PostgreSQL', async (t) => {
  const { database } = await testDatabase(t)
  const planning = statement<[], { mode: string }>('test.planning', `SELECT current_setting('plan_cache_mode') AS mode`)
  const { database: engine } = await logged(t, { role: APPLICATION_ROLE, planCacheMode: 'force_generic_plan' })
  const modes = await Promise.all([engine, database].map((one) => one.rows(planning, [])))
  assert.deepEqual(modes, [[{ mode: 'force_generic_plan' }], [{ mode: 'auto' }]])
})

test('[NO-10] a pool of queues reads a table without statistics by its index', async (t) => {
  const { database } = await logged(t, { role: APPLICATION_ROLE, isByIndex: true })
  const explain = statement<[], { 'QUERY PLAN': string }>(
    'test.explain_queue',
    "EXPLAIN SELECT * FROM delivery WHERE endpoint_id = '01a1fe31-3480-7000-8ac5-11ea19bea816' AND due_at <= now() ORDER BY due_at",
  )
  const plan = (await database.rows(explain, [])).map((row) => row['QUERY PLAN']).join('\n')
  assert.match(plan, /Index Scan using delivery_due/)
})

test('[database.8] a plan made while a table was small is renewed when the table has grown', async (t) => {
  const { database } = await logged(t, { role: APPLICATION_ROLE, planCacheMode: 'force_generic_plan' })
  const find = statement<[ids: readonly string[]]>('test.find', 'SELECT FROM operation WHERE id = ANY ($1::uuid[])')
  const explain = statement<[], { 'QUERY PLAN': string }>('test.explain', `EXPLAIN EXECUTE "test.find" ('{}')`)
  const scan = async () =>
    /(Seq|Index|Bitmap).* Scan/.exec((await database.rows(explain, []))[0]?.['QUERY PLAN'] ?? '')?.[1]
  for (let time = 1; time < 40; time++) await database.rows(find, [[]])
  assert.equal(await scan(), 'Seq')
  await database.rows(MANY_OPERATIONS, [])
  for (let time = 1; time < 40; time++) await database.rows(find, [[]])
  assert.notEqual(await scan(), 'Seq')
})

test('[database.8] no plan is renewed within a transaction, whose first statement may set its isolation', async (t) => {
  const { database } = await single(t)
  const snapshot = statement<[]>('test.snapshot', 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
  for (let time = 0; time < 100; time++) {
    await database.rows(one, [])
    await database.transaction((queries) => queries.rows(snapshot, []))
  }
})

test('[DB-2] an error of a statement keeps its code and the connection', async (t) => {
  const { database } = await single(t)
  const [before] = await database.rows(pid, [])
  await database.rows(addKey, ['a'])
  const error = await database.rows(addKey, ['a']).catch((thrown: unknown) => thrown)
  assert.deepEqual(databaseError(error), { code: '23505', constraint: 'credential_hash_key' })
  assert.equal(databaseError(new Error('another')), undefined)
  assert.deepEqual(await database.rows(pid, []), [before])
})

test('[DB-2] a statement that lost a serialization conflict may be retried, and costs no connection', async (t) => {
  const { url, database } = await testDatabase(t)
  const other = openTestDatabase(url, 1)
  t.after(() => other.close())
  const [before] = await other.rows(pid, [])
  const error = await database.transaction(async (queries) => {
    await queries.rows(lockAccounts, [])
    return other.rows(lockAccounts, []).catch((thrown: unknown) => thrown)
  })
  assert.ok(isRetryableConflict(error), String(error))
  assert.deepEqual(await other.rows(pid, []), [before])
  assert.ok(
    !isRetryableConflict(await other.rows(addKey, ['\0']).catch((thrown: unknown) => thrown)),
    'any other error does not',
  )
})

test('[DB-2] without a connection nothing was sent', async (t) => {
  const { url } = await testDatabase(t)
  const nowhere = new URL(url)
  nowhere.port = '9'
  const database = openTestDatabase(nowhere.href)
  assert.deepEqual(await unavailability(database.rows(one, [])), { sent: false })
  assert.deepEqual(await unavailability(database.transaction(async () => undefined)), { sent: false })
  await database.close()
})

test('[DB-2] a database that accepts no more connections was sent nothing', async (t) => {
  const { url, database } = await testDatabase(t)
  await database.rows(one, [])
  const cluster = new URL('/postgres', url)
  await administer(cluster.href, `ALTER DATABASE ${new URL(url).pathname.slice(1)} ALLOW_CONNECTIONS false`)
  const other = openTestDatabase(url)
  assert.deepEqual(await unavailability(other.rows(one, [])), { sent: false })
  await other.close()
})

test('[DB-2] nothing was sent if no connection became free in time', async (t) => {
  const { database } = await single(t, 1_000)
  const long = database.rows(sleep, [1.3])
  assert.deepEqual(await unavailability(database.rows(one, [])), { sent: false })
  await long
  assert.deepEqual(await database.rows(one, []), [{ one: 1 }])
})

for (const fate of ['cut', 'swallow'] as const) {
  test(`[DB-2] an answer that is ${fate === 'cut' ? 'cut off' : 'lost'} leaves open what happened; the next call has a connection of its own`, async (t) => {
    const { database, proxy, url } = await proxied(t)
    await database.rows(one, [])
    proxy.judge = (direction) => (direction === 'response' ? fate : 'pass')
    const call = unavailability(database.rows(addKey, ['a']))
    if (fate === 'swallow') {
      // Nobody tells the caller: the session’s end does.
      const direct = openTestDatabase(url)
      await until(async () => (await displays(direct)).length > 0)
      await direct.close()
      proxy.cutAll()
    }
    assert.deepEqual(await call, { sent: true })
    proxy.judge = () => 'pass'
    assert.deepEqual(await displays(database), ['a'], 'it had happened')
  })
}

test('[engine.17] a statement aborted before it got a connection is not sent, and the connection stays', async (t) => {
  const { database } = await single(t)
  let isWanted = true
  const [before] = await database.rows(pid, [])
  const lent = database.transaction(async (queries) => {
    await queries.rows(one, [])
    isWanted = false
  })
  const waiting = database.rows(addKey, ['a'], () => isWanted)
  await assert.rejects(waiting, NoLongerWanted)
  await lent
  assert.deepEqual(await displays(database), [])
  assert.deepEqual(await database.rows(pid, []), [before])
})

test('[DB-4] a wait is bounded: after a timeout the outcome is unknown', async (t) => {
  const { database, proxy } = await proxied(t)
  await database.rows(one, [])
  const swallowed = Promise.withResolvers<void>()
  proxy.judge = (direction) => {
    if (direction === 'request') return 'pass'
    swallowed.resolve()
    return 'swallow'
  }
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const call = unavailability(database.rows(addKey, ['a']))
  await swallowed.promise
  t.mock.timers.tick(6_000)
  assert.deepEqual(await call, { sent: true })
  t.mock.timers.reset()
  proxy.judge = () => 'pass'
  assert.deepEqual(await displays(database), ['a'], 'on a connection of its own')
})

test('[DB-6] a session that the server ended leaves open what happened, and is replaced', async (t) => {
  const { url, database } = await single(t)
  const [session] = await database.rows(pid, [])
  const call = unavailability(database.rows(sleep, [60]))
  let isOver = false
  void call.finally(() => {
    isOver = true
  })
  // As soon as it is at it, and not before.
  const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE pid = ${session?.pid} AND wait_event = 'PgSleep'`
  while (!isOver) await administer(url, end)
  assert.deepEqual(await call, { sent: true })
  assert.notDeepEqual(await database.rows(pid, []), [session])
})

test('[DB-8] a statement that timed out or hit a read-only server did nothing', async (t) => {
  const { database } = await testDatabase(t)
  const hurry = statement<[]>('test.hurry', `SET LOCAL statement_timeout = '20ms'`)
  const readOnly = statement<[]>('test.read_only', 'SET TRANSACTION READ ONLY')
  const outOfTime = database.transaction(async (queries) => {
    await queries.rows(hurry, [])
    await queries.rows(sleep, [60])
  })
  assert.deepEqual(await unavailability(outOfTime), { sent: false })
  const writing = database.transaction(async (queries) => {
    await queries.rows(readOnly, [])
    await queries.rows(addKey, ['a'])
  })
  assert.deepEqual(await unavailability(writing), { sent: false })
  assert.deepEqual(await displays(database), [])
})

test('[DB-1] a COMMIT that the database answers with ROLLBACK is a failure', async (t) => {
  const { database } = await testDatabase(t)
  const swallowing = database.transaction(async (queries) => {
    await queries.rows(addKey, ['a'])
    await queries.rows(addKey, ['a']).catch(() => undefined)
    return 'done'
  })
  await assert.rejects(swallowing, /COMMIT answered ROLLBACK/)
  assert.deepEqual(await displays(database), [])
})

test('[P4] a transaction commits when its function returns and rolls back when it throws', async (t) => {
  const { database } = await testDatabase(t)
  const result = await database.transaction(async (queries) => {
    await queries.rows(addKey, ['a'])
    assert.deepEqual(await displays(database), [], 'nobody else sees it yet')
    return 'done'
  })
  assert.equal(result, 'done')
  const throwing = database.transaction(async (queries) => {
    await queries.rows(addKey, ['b'])
    throw new Error('changed my mind')
  })
  await assert.rejects(throwing, /changed my mind/)
  assert.deepEqual(await displays(database), ['a'])
})

test('[DB-2] a transaction whose commit was not answered leaves open what happened', async (t) => {
  const { database, proxy } = await proxied(t)
  const call = unavailability(
    database.transaction(async (queries) => {
      await queries.rows(addKey, ['a'])
      proxy.judge = (direction) => (direction === 'response' ? 'cut' : 'pass')
    }),
  )
  assert.deepEqual(await call, { sent: true })
  proxy.judge = () => 'pass'
  assert.deepEqual(await displays(database), ['a'])
})

test('[engine.13] a statement name that PostgreSQL would truncate is refused: it could equal another', () => {
  assert.equal(statement('n'.repeat(63), 'SELECT 1').name.length, 63)
  assert.throws(() => statement('n'.repeat(64), 'SELECT 1'), /too long/)
})

test('[logs.3] [metrics.1] a slow statement is logged and counted, with its name and no parameter', async (t) => {
  const slow: string[] = []
  // Whatever it takes is long.
  const { database, log } = await logged(t, { slowAfterMs: -1, onSlowStatement: (name) => slow.push(name) })
  const telling = statement<[string]>('test.telling', 'SELECT $1::text')
  await database.rows(telling, ['canary'])
  await database.transaction((queries) => queries.rows(telling, ['canary']))
  assert.deepEqual(slow, ['test.telling', 'transaction.begin', 'test.telling', 'transaction.commit'])
  const { level, pool, statement: name } = await log.line('a statement took long')
  assert.deepEqual([level, name, pool], ['warn', 'test.telling', 'test'])
  assert.ok(!JSON.stringify(log.lines).includes('canary'))
  assert.deepEqual(database.use(), { inUse: 0, waiting: 0 })
})

test('[logs.3] a statement within its limit is not logged', async (t) => {
  const { database, log } = await logged(t, { slowAfterMs: Number.POSITIVE_INFINITY })
  await database.rows(statement<[]>('test.quick', 'SELECT 1'), [])
  assert.deepEqual(log.lines, [])
})

test('[logs.3] [DB-2] an unreachable database is logged once, with the reason', async (t) => {
  const { url } = await testDatabase(t)
  const away = new URL(url)
  away.pathname = '/nowhere'
  const { database, log } = await logged(t, { url: away.href })
  for (let tries = 0; tries < 3; tries++) {
    await assert.rejects(database.rows(statement<[]>('test.away', 'SELECT 1'), []), DatabaseUnavailable)
  }
  assert.deepEqual(
    log.lines.map(({ level, msg, pool, reason }) => [level, msg, pool, reason]),
    [['error', 'the database cannot be asked', 'test', 'database "nowhere" does not exist']],
  )
})

test('[logs.3] [DB-2] the return of a database is logged once for each logged outage', async (t) => {
  const { url, proxy } = await proxied(t)
  const address = new URL(url)
  address.port = String(proxy.port)
  const throttle = steppedLogThrottle()
  const { database, log } = await logged(t, { url: address.href, throttle })
  const ask = () => database.rows(one, [])
  await ask()
  await ask()
  assert.deepEqual(log.lines, [])
  proxy.judge = () => 'cut'
  for (let tries = 0; tries < 3; tries++) await assert.rejects(ask(), DatabaseUnavailable)
  proxy.judge = () => 'pass'
  await ask()
  await ask()
  assert.deepEqual(
    log.lines.filter(({ level }) => level === 'info').map(({ msg, pool }) => [msg, pool]),
    [['the database answers again', 'test']],
  )
  // It comes and goes, and is away when the minute ends.
  proxy.judge = () => 'cut'
  await assert.rejects(ask(), DatabaseUnavailable)
  proxy.judge = () => 'pass'
  await ask()
  proxy.judge = () => 'cut'
  await assert.rejects(ask(), DatabaseUnavailable)
  throttle.minuteEnds()
  assert.equal(log.lines.filter(({ level }) => level === 'info').length, 1)
})

test('[logs.3] slow statements and lost connections are logged at first and then once a minute', async (t) => {
  const throttle = steppedLogThrottle()
  const { url, database, log } = await logged(t, { throttle, slowAfterMs: -1 })
  for (let times = 0; times < 3; times++) await database.rows(one, [])
  assert.equal(log.lines.length, 1)
  throttle.minuteEnds()
  assert.equal(
    log.lines[1]?.msg,
    'a statement took long; others may wait for it (happened 2 more times within the past minute)',
  )
  for (let times = 1; times <= 2; times++) {
    const [session] = await database.rows(pid, [])
    const lost = log.line('an idle database connection was lost')
    await administer(url, `SELECT pg_terminate_backend(${session?.pid})`)
    await lost
    await until(async () => database.use().inUse === 0)
  }
  assert.equal(log.lines.filter(({ msg }) => msg.startsWith('an idle')).length, 1)
})
