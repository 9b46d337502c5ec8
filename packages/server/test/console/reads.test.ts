import assert from 'node:assert/strict'
import test from 'node:test'
import { workNames } from '@pixgate/spec'
import { insertAudit } from '../../src/audit/trail.ts'
import { readConfig } from '../../src/config.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { caseWorld } from '../cases/fixture.ts'
import { administer, notingTexts, planOf, testDatabase } from '../support/database.ts'
import { CANARY, PRODUCTION } from '../support/environment.ts'
import { limitsOf } from '../support/limits.ts'
import { steppedClock } from '../support/stepped-clock.ts'
import { consoleOn, store } from './fixture.ts'

test('[console.9] the overview has balances, the money of today and of each hour, and what needs a person', async (t) => {
  const pix = await caseWorld(t)
  const { overview } = consoleOn(pix.database, pix.clock)
  const { id } = await pix.paid('150')
  const refund = await pix.refundIn(id, 50)
  await pix.until(`/api/pix/refund/${refund.id}`, ({ status }) => status === 'CONFIRMED')
  const { id: caseId } = await pix.paidTwice('20')
  pix.clock.advance(2_000)
  const shown = await overview()
  const balance = (name: string) =>
    shown.accounts.find(({ account }: { account: string }) => account === name).balanceCents
  assert.deepEqual([balance('available'), balance('reserved'), balance('suspense_in')], [120_00, 0, 20_00])
  assert.deepEqual(shown.today.in, { count: 3, cents: 190_00 })
  assert.deepEqual(shown.today.refunded, { count: 1, cents: 50_00 })
  assert.equal(shown.needsPerson.cases.count, 1)
  assert.equal(shown.needsPerson.cases.oldestAt, (await pix.read(`/${caseId}`)).openedAt)
  assert.equal(shown.hours.length, 24)
  assert.deepEqual(shown.hours.at(-1).inCents + shown.hours.at(-2).inCents, 190_00)
  assert.deepEqual(
    [shown.health.cashOut.enabled, shown.health.bank.status, shown.health.endpoints.active, shown.days],
    [true, 'ok', 1, []],
  )
})

test('[console.9] an overview is computed once in two seconds, each entry is read once, and the day changes at midnight of São Paulo', async (t) => {
  const pix = await caseWorld(t)
  const read: [name: string, values: readonly unknown[]][] = []
  const noting: Database = {
    ...pix.database,
    rows: (query, values) => {
      read.push([query.name, values])
      return pix.database.rows(query, values)
    },
  }
  const { overview } = consoleOn(noting, pix.clock)
  const standings = () => read.filter(([name]) => name === 'console.standing').length
  const ranges = () =>
    read.flatMap(([name, [account, after, upTo]]) => (name === 'console.hours' && account === 3 ? [[after, upTo]] : []))
  await pix.paid('10')
  await Promise.all([overview(), overview(), overview()])
  assert.equal(standings(), 1)
  await pix.paid('20')
  pix.clock.advance(2_000)
  assert.deepEqual((await overview()).today.in, { count: 2, cents: 30_00 })
  assert.deepEqual(
    [standings(), ranges()],
    [
      2,
      [
        ['0', '1'],
        ['1', '2'],
      ],
    ],
  )
  pix.clock.advance(24 * 60 * 60 * 1_000)
  assert.deepEqual((await overview()).today.in, { count: 0, cents: 0 })
})

test('[console.9] the days are those of the closes, and their content is read again after another close', async (t) => {
  const { url, database } = await testDatabase(t)
  const { overview, clock } = consoleOn(database)
  const close = (day: string, cents: number) => {
    const accounts = [
      { account: 'settlement', cents },
      { account: 'available', cents: -cents },
    ]
    const content = { status: 'BALANCED', differenceCents: 0, journals: [{ journal: 'x', count: 1, accounts }] }
    return administer(url, `INSERT INTO daily_close VALUES ('${day}', now(), '${JSON.stringify(content)}')`)
  }
  await close('2026-11-20', -5_00)
  assert.deepEqual((await overview()).days, [{ day: '2026-11-20', inCents: 5_00, outCents: 0 }])
  await close('2026-11-21', 7_00)
  clock.advance(2_000)
  const { days, health } = await overview()
  assert.deepEqual(days.at(-1), { day: '2026-11-21', inCents: 0, outCents: 7_00 })
  assert.deepEqual(health.lastClose, { day: '2026-11-21', status: 'BALANCED', differenceCents: 0 })
})

/** A pause that does something and is over. */
const pausing = (...then: (() => Promise<unknown>)[]) => ({
  for: async () => {
    await then.shift()?.()
  },
})

test('[console.10] a console waits for a change, is told each once, and a commit that comes late is not missed', async (t) => {
  const { url, database } = await testDatabase(t)
  const clock = steppedClock({ stands: true })
  clock.observe(Date.parse('2026-11-21T13:00:00Z'))
  const [id = ''] = await store(url, [{ kind: 'cash_in' }])
  const move = (version: number, at: number) =>
    administer(
      url,
      `SET session_replication_role = replica;
       INSERT INTO move VALUES ('${id}', ${version}, 'cash_in', 'create', NULL, 'PENDING', '{}', NULL, gen_random_uuid(), '${new Date(at).toISOString()}')`,
    )
  const pass = async () => clock.advance(500)
  const late = async () => {
    clock.advance(500)
    await move(2, clock.now() - 3_000)
  }
  const { changes } = consoleOn(database, clock, { pause: pausing(pass, late) })
  await move(1, clock.now())
  const first = await changes({ wait: 20 })
  assert.deepEqual([first.changes, first.isReset], [[], false])
  clock.advance(500)
  const second = await changes({ cursor: first.cursor, wait: 20 })
  assert.deepEqual(second.changes, [{ kind: 'cash_in', id, version: 2 }])
  clock.advance(500)
  assert.deepEqual((await changes({ cursor: second.cursor, wait: 0 })).changes, [])
})

test('[console.10] a case that is opened, discussed or closed is a change, also without a move', async (t) => {
  const { url, database } = await testDatabase(t)
  const clock = steppedClock({ stands: true })
  clock.observe(Date.parse('2026-11-21T13:00:00Z'))
  const { changes } = consoleOn(database, clock)
  const id = '0198c0f2-3f00-7000-8000-7a8b9c0d1e2f'
  let { cursor } = await changes({})
  const named = async (sql: (at: string) => string) => {
    clock.advance(500)
    await administer(url, `SET session_replication_role = replica; ${sql(new Date(clock.now()).toISOString())}`)
    const { changes: found, cursor: next } = await changes({ cursor })
    cursor = next
    return found.map(({ kind, id: of }: { kind: string; id: string }) => [kind, of])
  }
  const step = (name: string, of: string) => (at: string) =>
    `INSERT INTO case_step VALUES (gen_random_uuid(), '${id}', '${name}', ${of}, 'o', 'Ana', '{}', '1', 0, NULL, NULL, NULL, '', '{}', '${at}')`
  const seen = [
    await named(
      (at) => `INSERT INTO "case" (id, kind, reference, facts, opened_at) VALUES ('${id}', 'x', '', '{}', '${at}')`,
    ),
    await named(step('proposed', 'NULL')),
    await named(step('refused', 'gen_random_uuid()')),
    await named((at) => `UPDATE "case" SET closed_at = '${at}'`),
    await named(() => ''),
  ]
  assert.deepEqual(seen, [[['case', id]], [['case', id]], [['case', id]], [['case', id]], []])
})

test('[console.10] a cursor older than a minute is a reset; all that wait share a look, and a shutdown answers them', async (t) => {
  const { database } = await testDatabase(t)
  const clock = steppedClock({ stands: true })
  clock.observe(Date.parse('2026-11-21T13:00:00Z'))
  let looks = 0
  const noting: Database = {
    ...database,
    rows: (query, values) => {
      looks += 1
      return database.rows(query, values)
    },
  }
  const close = async () => reads.close()
  const reads = consoleOn(noting, clock, { pause: pausing(async () => clock.advance(500), close) })
  const { cursor } = await reads.changes({})
  const waiting = [1, 2, 3].map(() => reads.changes({ cursor, wait: 25 }))
  assert.deepEqual(
    (await Promise.all(waiting)).map(({ changes }) => changes),
    [[], [], []],
  )
  assert.ok(looks <= 3, `${looks} looks`)
  clock.advance(61_000)
  assert.equal((await reads.changes({ cursor })).isReset, true)
  await assert.rejects(reads.changes({ cursor: 'eA' }), { code: 'validation_error' })
})

test('[console.10] among too many waiting consoles each still waits for the next look', async (t) => {
  const { database } = await testDatabase(t)
  const looked = Promise.withResolvers<void>()
  const { changes, close } = consoleOn(database, steppedClock(), { pause: { for: () => looked.promise } })
  const { cursor } = await changes({})
  let answered = 0
  const waiting = Array.from({ length: 501 }, async () => {
    await changes({ cursor, wait: 20 })
    answered += 1
  })
  await changes({ cursor, wait: 0 })
  assert.equal(answered, 0)
  close()
  looked.resolve()
  await Promise.all(waiting)
})

test('[console.10] moves of the last seconds are found by their time, not among all', async (t) => {
  const { url, database } = await testDatabase(t)
  await administer(
    url,
    `SET session_replication_role = replica;
     INSERT INTO move SELECT gen_random_uuid(), 1, 'cash_in', 'create', NULL, 'PENDING', '{}', NULL, gen_random_uuid(),
            now() - n * interval '1 second' FROM generate_series(1, 20000) n;
     ANALYZE move`,
  )
  const { texts, noting } = notingTexts(database)
  await consoleOn(noting).changes({})
  assert.match(
    await planOf(url, texts[0]?.replaceAll('$1::timestamptz', 'now()') ?? ''),
    /Bitmap Index Scan on move_at/,
  )
})

test('[console.11] the audit trail is paged, newest first, by actor, action and subject', async (t) => {
  const { url, database } = await testDatabase(t)
  const { auditTrail } = consoleOn(database)
  const row = (n: number, more: object) => ({
    ...{ id: `0198c0f2-3f00-7000-8000-00000000000${n}`, at: Date.parse('2026-11-21T13:00:00Z'), facts: { n } },
    ...{ actor: 'one', action: 'a.b', subject: 's', address: '192.0.2.1', ...more },
  })
  await insertAudit(database, row(1, {}))
  await insertAudit(database, row(2, { actor: 'two', actorName: 'Bia' }))
  await insertAudit(database, row(3, { action: 'c.d', subject: 'x' }))
  const idsOf = ({ data }: { data: { facts: { n: number } }[] }) => data.map(({ facts }) => facts.n)
  const first = await auditTrail({ limit: 2 })
  assert.deepEqual([idsOf(first), first.data[1].actorName], [[3, 2], 'Bia'])
  const second = await auditTrail({ limit: 2, cursor: first.pagination.nextCursor })
  assert.deepEqual([idsOf(second), second.pagination.hasMore], [[1], false])
  assert.deepEqual(idsOf(await auditTrail({ actor: 'one' })), [3, 1])
  assert.deepEqual(idsOf(await auditTrail({ action: 'a.b', subject: 's' })), [2, 1])
  await assert.rejects(auditTrail({ cursor: 'x' }), { code: 'validation_error' })
  await administer(
    url,
    `INSERT INTO audit SELECT gen_random_uuid(), now() - n * interval '1 day', 'many', NULL, 'a.b', 's', '', '{}' FROM generate_series(1, 2000) n; ANALYZE audit`,
  )
  const { texts, noting } = notingTexts(database)
  await consoleOn(noting).auditTrail({ actor: 'one' })
  for (const text of texts) assert.match(await planOf(url, text), /Scan Backward using audit_listed/)
})

test('[console.12] proposals that can be approved are listed, and no others', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const { proposals } = consoleOn(pix.database, pix.clock)
  const [kept, refused] = [await pix.paidTwice('20'), await pix.paidTwice('30')]
  for (const { id } of [kept, refused]) await pix.decide(id, 'write_off')
  const [first, second] = await proposals()
  assert.deepEqual(
    [first.caseId, first.caseKind, first.operationId, first.decision, first.amountCents, first.by.name, second.caseId],
    [kept.id, 'payment_in_suspense', kept.chargeId, 'write_off', 20_00, 'Ana', refused.id],
  )
  await pix.say(second.caseId, second.proposalId, false)
  assert.deepEqual(
    (await proposals()).map(({ caseId }: { caseId: string }) => caseId),
    [kept.id],
  )
  await administer(pix.databaseUrl, `UPDATE "case" SET amount_cents = amount_cents + 1 WHERE id = '${kept.id}'`)
  assert.deepEqual(await proposals(), [])
})

test('[console.12] a proposed refund names its charge', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const { id: cashInId } = await pix.paid('20')
  await pix.call('POST', '/operator/refunds', { cashInId, valueCents: 5_00, reason: 'Returned goods' }, pix.ana)
  const [{ operationId, caseKind }] = await consoleOn(pix.database, pix.clock).proposals()
  assert.deepEqual([operationId, caseKind], [cashInId, 'refund_requested'])
})

test('[console.13] the system shows its settings without secrets, and its limits with their use', async (t) => {
  const { url, database } = await testDatabase(t)
  const { settings } = readConfig({ ...PRODUCTION, PORT: '8081' })
  const clock = steppedClock({ stands: true })
  clock.observe(Date.parse('2026-11-21T13:00:00Z'))
  await administer(
    url,
    `INSERT INTO allowance VALUES ('all', 'hour', floor(extract(epoch FROM '2026-11-21T12:30:00Z'::timestamptz) / 60), 700),
       ('all', 'hour', floor(extract(epoch FROM '2026-11-21T11:30:00Z'::timestamptz) / 60), 50), ('key', 'hour', 99999999, 1)`,
  )
  const limits = limitsOf({ hourCents: 10_00n, paymentCents: 5_00n })
  const { system } = consoleOn(database, clock, {
    config: { mode: 'sandbox', settings, limits },
    certificates: () => [{ of: 'bank', endsAt: 0 }],
  })
  const shown = await system()
  const named = (name: string) => shown.settings.find((one: { name: string }) => one.name === name)
  assert.deepEqual(named('PORT'), { name: 'PORT', value: '8081', isSet: true })
  assert.deepEqual(named('PIXGATE_ADMIN_TOKEN'), { name: 'PIXGATE_ADMIN_TOKEN', value: null, isSet: true })
  assert.deepEqual(named('PIXGATE_PARTNER_TOKEN').value, null)
  assert.doesNotMatch(JSON.stringify(shown), new RegExp(CANARY))
  assert.deepEqual(shown.limits.slice(0, 2), [
    { name: 'payment', maxCents: 5_00, usedCents: null },
    { name: 'hour', maxCents: 10_00, usedCents: 7_00 },
  ])
  assert.deepEqual(
    [shown.bank, shown.certificates],
    ['pixgate', [{ name: 'bank', endsAt: '1970-01-01T00:00:00.000Z' }]],
  )
  assert.equal(shown.versions.node, process.versions.node)
  assert.match(shown.versions.postgres, /^\d+\.\d+$/)
})

test('[console.12] a proposed refund names its charge', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const { id: cashInId } = await pix.paid('20')
  await pix.call('POST', '/operator/refunds', { cashInId, valueCents: 5_00, reason: 'Returned goods' }, pix.ana)
  const [{ operationId, caseKind }] = await consoleOn(pix.database, pix.clock).proposals()
  assert.deepEqual([operationId, caseKind], [cashInId, 'refund_requested'])
})

test('[console.13] the system shows how much work is overdue, of every kind', async (t) => {
  const { url, database } = await testDatabase(t)
  const { system } = consoleOn(database)
  assert.deepEqual(
    (await system()).work.map(({ overdue, oldestSeconds }: Record<string, unknown>) => [overdue, oldestSeconds]),
    workNames.map(() => [0, null]),
  )
  await store(url, [{ kind: 'cash_in', due_at: '2020-01-01T00:00:00Z' }])
  const [chargeWork] = (await system()).work
  assert.deepEqual([chargeWork.name, chargeWork.overdue], ['cash_in', 1])
  assert.ok(chargeWork.oldestSeconds > 60)
})
