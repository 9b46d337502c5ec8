import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import { type AlertKind, alertKinds, alertLanguages, textOf } from '../../src/alerts/words.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { certificateOf } from '../support/certificates.ts'
import { openTestDatabase } from '../support/database.ts'
import { answering, hanging } from '../support/webhook-receiver.ts'
import { alertsWorld, CANARIES, CASE_ID, CAUSES, ENDPOINT_ID, messagesIn, NOW, PAYOUT_ID } from './fixture.ts'
import { startSmtpServer } from './smtp-server.ts'

const MINUTE = 60_000
const DAY = 86_400_000

const FINE = { isBreakerOpen: false, isUnanswered: false, certificates: [] }

const BANK_AWAY = { ...FINE, isBreakerOpen: true }

const ENDING = { ...FINE, certificates: [{ of: 'client', endsAt: NOW + 20 * DAY, urgency: 'notice' } as const] }

/** Numbered cases, as many as these. */
const manyCases = (from: number, to: number) =>
  `INSERT INTO "case" (id, kind, reference, facts, opened_at)
   SELECT gen_random_uuid(), 'outcome_unknown', n::text, '{}', now() FROM generate_series(${from}, ${to}) n`

test('[alerts.1] what needs a person has one alert on each channel', async (t) => {
  const world = await alertsWorld(t)
  for (const cause of Object.values(CAUSES)) await world.because(cause)
  await world.alerts.observe(BANK_AWAY)
  await world.alerts.observe(ENDING)
  await world.work()
  const expected = [...alertKinds, 'approval_waiting'].sort()
  assert.deepEqual((await world.kinds()).sort(), expected)
  assert.equal(world.smtp.mails.length, alertKinds.length)
  assert.equal(world.chat.received.length, alertKinds.length)
  assert.equal(new Set(world.smtp.mails.map(({ messageId }) => messageId)).size, alertKinds.length)
  world.later(DAY)
  await world.work()
  assert.equal(world.smtp.mails.length, alertKinds.length, 'what goes on has one alert')
})

for (const [kind, cause] of Object.entries(CAUSES)) {
  test(`[alerts.1] ${kind} alone opens its alert`, async (t) => {
    const world = await alertsWorld(t)
    await world.work()
    assert.deepEqual(await world.kinds(), [])
    await world.because(cause)
    await world.work()
    assert.deepEqual(new Set(await world.kinds()), new Set([kind]))
  })
}

test('[alerts.1] what a person did, or has another alert, has none of its own', async (t) => {
  const world = await alertsWorld(t)
  await world.because(CAUSES.endpoint_down.replace('gone', 'requested'))
  await world.because(CAUSES.case_opened.replace('outcome_unknown', 'close_differs'))
  await world.because(CAUSES.close_differs.replace('DIFFERS', 'EXPLAINED'))
  await world.work()
  assert.deepEqual(await world.kinds(), [])
})

test('[alerts.2] a cause that ended and returned has a new alert after half an hour', async (t) => {
  const world = await alertsWorld(t)
  const opened = () => world.because(`UPDATE "case" SET closed_at = NULL`)
  const closed = () => world.because('UPDATE "case" SET closed_at = now()')
  await world.because(CAUSES.case_opened)
  await world.work()
  for (let flap = 0; flap < 20; flap += 1) {
    await closed()
    await world.work()
    await opened()
    await world.work()
    world.later(MINUTE)
  }
  assert.equal(world.smtp.mails.length, 1)
  world.later(10 * MINUTE)
  await world.work()
  assert.equal(world.smtp.mails.length, 2)
})

test('[alerts.2] each suspension has an alert, however soon', async (t) => {
  const world = await alertsWorld(t)
  await world.because(CAUSES.payouts_suspended)
  await world.work()
  world.later(limits.alertMessageEveryMs)
  await world.because(CAUSES.payouts_suspended.replace('"reason"', '"by": "trip-wire", "reason"'))
  await world.work()
  assert.equal(world.smtp.mails.length, 2)
  assert.match(world.smtp.mails[1]?.text ?? '', /extrato do banco diverge/)
})

test('[alerts.3] a burst is one digest', async (t) => {
  const world = await alertsWorld(t)
  await world.because(manyCases(1, 1))
  await world.work()
  await world.because(manyCases(2, 501))
  await world.work()
  assert.equal(world.smtp.mails.length, 1, 'the next message of the kind waits')
  world.later(limits.alertMessageEveryMs)
  await world.work()
  assert.deepEqual([world.smtp.mails.length, world.chat.received.length], [2, 2])
  const [text = ''] = world.chatTexts().slice(1)
  assert.equal(text.match(/\/cases\//g)?.length, limits.alertLinesMax)
  assert.match(text, new RegExp(`${500 - limits.alertLinesMax}`))
  assert.match(world.smtp.mails[1]?.subject ?? '', /500/)
})

test('[alerts.3] a digest fits into a message of Discord, and mentions nobody', async (t) => {
  const world = await alertsWorld(t)
  await world.because(manyCases(1, 500))
  const settings = {
    email: undefined,
    webhooks: [{ kind: 'discord', url: world.chat.url }],
    language: 'pt-BR',
  } as const
  await world.work(world.process({ settings }))
  const [{ content, allowed_mentions: mentions } = assert.fail()] = world.chat.received.map(({ body }) =>
    JSON.parse(String(body)),
  )
  assert.ok(content.length < 2_000)
  assert.match(content, /490[\s\S]+\/console\/cases\n/)
  assert.deepEqual(mentions, { parse: [] })
})

test('[alerts.4] two processes send each message once', async (t) => {
  const world = await alertsWorld(t)
  const processes = [world.alerts, world.process(), world.process()]
  for (const cause of Object.values(CAUSES)) {
    await world.because(cause)
    await Promise.all(processes.map((process) => world.work(process)))
  }
  const count = Object.keys(CAUSES).length
  assert.deepEqual([world.smtp.mails.length, world.chat.received.length], [count, count])
})

/** A process that dies between an attempt and its record. */
function dying(database: Database): Database {
  return {
    ...database,
    rows: (query, parameters) =>
      query.name === 'alerts.finish' ? Promise.reject(new Error('died')) : database.rows(query, parameters),
  }
}

test('[alerts.4] after a crash before the record a message is sent again with its Message-ID', async (t) => {
  const world = await alertsWorld(t)
  const pool = openTestDatabase(world.url)
  t.after(() => pool.close())
  await world.because(CAUSES.case_opened)
  await assert.rejects(world.work(world.process({ database: dying(pool) })), /died/)
  await world.work()
  assert.equal(world.smtp.mails.length, 1, 'its lease goes on')
  world.later(MINUTE)
  await world.work()
  await world.work()
  assert.equal(world.smtp.mails.length, 2)
  assert.equal(world.smtp.mails[0]?.messageId, world.smtp.mails[1]?.messageId)
  assert.match(world.smtp.mails[0]?.messageId ?? '', /^<[0-9a-f-]{36}@loja\.example>$/)
})

test('[alerts.4] a channel that is down delays no other, and gets its message afterwards', async (t) => {
  const statuses = [500, 429]
  const world = await alertsWorld(t, {
    to: ['ana@loja.example', 'plantao@loja.example'],
    answer: (response) => response.writeHead(statuses.shift() ?? 200).end(),
  })
  world.smtp.refuses = ['ana@loja.example']
  await world.because(CAUSES.case_opened)
  await world.work()
  assert.deepEqual(
    world.smtp.mails.map(({ to }) => to),
    ['plantao@loja.example'],
  )
  world.smtp.refuses = []
  await world.work()
  assert.equal(world.smtp.mails.length, 1, 'it is not due yet')
  world.later(MINUTE)
  await world.work()
  assert.equal(world.smtp.mails[1]?.to, 'ana@loja.example')
  world.later(5 * MINUTE)
  await world.work()
  assert.equal(world.chat.received.length, 3)
  world.later(DAY)
  await world.work()
  assert.deepEqual([world.smtp.mails.length, world.chat.received.length], [2, 3])
  const reasons = world.lines.filter(({ event }) => event === 'alert.retry_scheduled').map(({ reason }) => reason)
  assert.deepEqual(reasons.sort(), ['EENVELOPE 451', 'HTTP 429', 'HTTP 500'])
})

for (const at of ['greeting', 'taken'] as const) {
  for (const drips of [false, true]) {
    test(`[alerts.4] a mail server that ${drips ? 'drips' : 'is silent'} instead of «${at}» ends at the deadline`, async (t) => {
      const world = await alertsWorld(t)
      const process = world.process({ timeoutMs: 100 })
      world.smtp.stalls = { at, drips }
      await world.because(CAUSES.case_opened)
      await world.work(process)
      assert.equal(world.chat.received.length, 1)
      assert.deepEqual(
        world.lines.map(({ event, reason }) => [event, reason]).filter(([, reason]) => reason),
        [['alert.retry_scheduled', 'timeout']],
      )
      await world.smtp.abandoned()
      world.smtp.stalls = undefined
      world.later(MINUTE)
      await world.work()
      assert.equal(world.smtp.mails.length, at === 'taken' ? 2 : 1)
      assert.equal(new Set(world.smtp.mails.map(({ messageId }) => messageId)).size, 1)
    })
  }
}

test('[alerts.4] a chat that never answers ends at the deadline, and gets its message again', async (t) => {
  const answers = [hanging]
  const world = await alertsWorld(t, { answer: (...request) => (answers.shift() ?? answering(200))(...request) })
  await world.because(CAUSES.case_opened)
  await world.work(world.process({ timeoutMs: 100 }))
  assert.deepEqual(
    world.lines.map(({ reason }) => reason).filter((reason) => reason),
    ['timeout'],
  )
  world.later(MINUTE)
  await world.work()
  assert.deepEqual(await messagesIn(world.database), [
    { attempts: 0, isSent: true, isDue: false },
    { attempts: 1, isSent: true, isDue: false },
  ])
})

test('[alerts.4] a process that stops ends its attempts, whose messages stay due', async (t) => {
  const world = await alertsWorld(t, { answer: hanging })
  world.smtp.stalls = { at: 'taken', drips: false }
  await world.because(CAUSES.case_opened)
  const working = world.work()
  await world.chat.arrived(1)
  await world.alerts.close()
  await working
  const due = { attempts: 1, isSent: false, isDue: true }
  assert.deepEqual(await messagesIn(world.database), [due, due])
})

test('[alerts.4] after the last attempt a message is given up', async (t) => {
  const world = await alertsWorld(t, { answer: answering(500) })
  world.smtp.refuses = 'all'
  await world.because(CAUSES.case_opened)
  for (let attempt = 0; attempt < limits.alertAttemptsMax; attempt += 1) {
    await world.work()
    world.later(60 * MINUTE)
  }
  const givenUp = { attempts: limits.alertAttemptsMax, isSent: false, isDue: false }
  assert.deepEqual(await messagesIn(world.database), [givenUp, givenUp])
  assert.equal(world.lines.filter(({ event }) => event === 'alert.given_up').length, 2)
})

test('[alerts.5] messages are in the language that is set, and link to the console', async (t) => {
  const titles = { 'pt-BR': 'Caso aberto', en: 'Case opened' }
  for (const language of alertLanguages) {
    const world = await alertsWorld(t, { language })
    await world.because(CAUSES.case_opened)
    await world.work()
    const [mail] = world.smtp.mails
    assert.equal(mail?.subject, `[Pixgate] ${titles[language]}`)
    assert.ok(mail?.text.includes(`https://pix.loja.example/console/cases/${CASE_ID}`))
  }
})

test('[alerts.5] every kind has a page of its own, and says what to do', () => {
  const subjects: Readonly<Record<AlertKind, string>> = {
    case_opened: CASE_ID,
    payouts_suspended: 'trip_wire 7',
    endpoint_down: `${ENDPOINT_ID} degraded`,
    bank_away: 'bank',
    close_differs: '2026-11-21',
    certificate_ends: 'client 2026-12-12 notice',
    approval_waiting: `payout ${PAYOUT_ID}`,
  }
  for (const language of alertLanguages) {
    for (const kind of alertKinds) {
      const toTell = { kind, subjects: [subjects[kind]], count: 1, madeAt: NOW }
      const { lines, page, advice } = textOf(toTell, { language, consoleUrl: 'https://pix.example/console' })
      assert.equal(lines.length, kind === 'bank_away' ? 0 : 1, kind)
      assert.match(page ?? '', /^https:\/\/pix\.example\/console\//)
      assert.notEqual(advice, '')
      const withoutConsole = textOf(toTell, { language, consoleUrl: undefined })
      assert.deepEqual([withoutConsole.page, withoutConsole.lines[0]?.page], [undefined, undefined])
    }
  }
})

test('[alerts.6] no message has a name, a document, a key or a free text', async (t) => {
  const world = await alertsWorld(t)
  for (const cause of Object.values(CAUSES)) await world.because(cause)
  await world.work()
  const sent = [...world.smtp.mails.map(({ text }) => text), ...world.chat.received.map(({ body }) => String(body))]
  assert.equal(sent.length, 2 * Object.keys(CAUSES).length)
  for (const text of [...sent, JSON.stringify(world.lines)]) {
    for (const canary of CANARIES) assert.ok(!text.includes(canary), canary)
  }
})

test('[alerts.7] in production a webhook that leads to a private address is not called', async (t) => {
  const world = await alertsWorld(t)
  await world.because(CAUSES.case_opened)
  const { port } = new URL(world.chat.url)
  const process = world.process({
    settings: {
      email: undefined,
      webhooks: [{ kind: 'slack', url: `http://chat.example:${port}/` }],
      language: 'pt-BR',
    },
    allowPrivate: false,
    resolve: async () => ['127.0.0.1'],
  })
  await world.work(process)
  assert.equal(world.chat.received.length, 0)
  assert.deepEqual(
    world.lines.map(({ event, reason }) => [event, reason]),
    [['alert.retry_scheduled', 'address_not_allowed']],
  )
})

test('[alerts.8] a mail server proves who it is, and in production takes mail by TLS alone', async (t) => {
  const stranger = await startSmtpServer(t, certificateOf(t, 'localhost'))
  const plain = await startSmtpServer(t)
  const world = await alertsWorld(t)
  await world.because(CAUSES.case_opened)
  const mailing = (smtpUrl: string, to: string, isProduction: boolean) => {
    const email = { smtpUrl, from: 'pixgate@loja.example', to: [to] }
    return world.process({ settings: { email, webhooks: [], language: 'pt-BR' }, isProduction })
  }
  // Another name of this machine, which does not count as it.
  const elsewhere = `smtp://0.0.0.0:${plain.port}`
  const processes = [
    mailing(`smtps://localhost:${stranger.port}`, 'a@loja.example', false),
    mailing(elsewhere, 'b@loja.example', true),
  ]
  for (const process of processes) {
    await world.because('DELETE FROM alert; DELETE FROM alert_message')
    await world.work(process)
  }
  assert.deepEqual([stranger.mails.length, plain.mails.length], [0, 0])
  assert.equal(world.lines.filter(({ event }) => event === 'alert.retry_scheduled').length, 2)
  await world.because('DELETE FROM alert; DELETE FROM alert_message')
  await world.work(mailing(elsewhere, 'c@loja.example', false))
  assert.equal(plain.mails.length, 1, 'the sandbox may send without TLS')
})

test('[alerts.9] each outage of the bank has one alert from all processes; one that flaps is one', async (t) => {
  const world = await alertsWorld(t)
  const other = world.process()
  const look = async (at: typeof FINE, minutes: number, every = 1) => {
    for (let minute = 0; minute < minutes; minute += every) {
      await world.alerts.observe(at)
      await other.observe(at)
      await world.work()
      world.later(every * MINUTE)
    }
  }
  await look(BANK_AWAY, 120, 10)
  assert.equal(world.smtp.mails.length, 1)
  await look(FINE, 1)
  for (let flap = 0; flap < 12; flap += 1) {
    await look(BANK_AWAY, 1)
    await look(FINE, 1)
  }
  assert.equal(world.smtp.mails.length, 2)
  await look(FINE, 60, 20)
  await look(BANK_AWAY, 5)
  assert.equal(world.smtp.mails.length, 3)
})

test('[alerts.9] calls without an answer are an outage at the third look', async (t) => {
  const world = await alertsWorld(t)
  const unanswered = { ...FINE, isUnanswered: true }
  for (const look of [unanswered, unanswered, FINE, unanswered, unanswered]) await world.alerts.observe(look)
  assert.deepEqual(await world.kinds(), [])
  await world.alerts.observe(unanswered)
  assert.deepEqual(await world.kinds(), ['bank_away'])
})

test('[alerts.9] a certificate has an alert 30 days before it expires, and one 7 days before', async (t) => {
  const world = await alertsWorld(t)
  const endsAt = NOW + 20 * DAY
  for (const urgency of ['none', 'notice', 'notice', 'urgent', 'urgent'] as const) {
    await world.alerts.observe({ ...FINE, certificates: [{ of: 'client', endsAt, urgency }] })
    await world.work()
    world.later(DAY)
  }
  assert.equal(world.smtp.mails.length, 2)
})

test('[alerts.10] alerts of 90 days ago are removed, unless their cause goes on', async (t) => {
  const world = await alertsWorld(t)
  await world.because(CAUSES.case_opened)
  await world.because(CAUSES.close_differs)
  await world.work()
  await world.because(`UPDATE alert SET at = now() - interval '91 days';
    UPDATE alert_message SET made_at = now() - interval '91 days'; DELETE FROM "case"`)
  await world.because(CAUSES.case_opened)
  world.later(8 * DAY)
  await world.work()
  world.later(DAY)
  await world.work()
  assert.deepEqual(await world.kinds(), ['case_opened'])
  assert.equal(world.smtp.mails.length, 2, 'the case has no second alert')
})
