import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { Refusal } from '@pixgate/spec'
import type { CashInModule } from '../../src/cash-in/index.ts'
import { cashInInput } from '../../src/inbox/rules.ts'
import { cases, inbox, whileFirstIsHeld } from '../support/evidence.ts'
import { inbound, paidEvent } from '../support/partner-events.ts'
import { inboxOf } from './fixture.ts'

const FIRST = '0198c0de-7a11-7000-8000-000000000001'
const SECOND = '0198c0de-7a11-7000-8000-000000000002'

/** The inbox with scripted cash-ins, and without a worker that applies events at once. */
async function inboxWith(t: TestContext, apply: CashInModule['apply']) {
  const { database, commands, later } = await inboxOf(t, inbound, {
    match: async (references) =>
      references.map(({ externalId }) => ({ id: externalId ?? undefined, among: externalId ? [externalId] : [] })),
    apply: async (id, event) => {
      const input = event.subject === 'charge' ? cashInInput(event, true) : undefined
      return (await apply(id, typeof input === 'object' ? input : { on: 'work.requested' }))?.result
    },
  })
  return {
    database,
    accept: (id: string, valueCents = 1000) => {
      const event = paidEvent({ id, valueCents, providerTransactionId: id })
      return commands.accept({ endpoint: 'cash-in', body: Buffer.from(JSON.stringify(event)), isProven: true })
    },
    later,
    rows: () => inbox(database),
  }
}

/** The same with cash-ins that take everything, and those that something was applied to, in order. */
async function willingInbox(t: TestContext) {
  const applied: string[] = []
  const events = await inboxWith(t, async (id) => {
    applied.push(id)
    return undefined
  })
  return { events, applied }
}

test('[partner-inbox.3] [EV-3] events of a dead process are applied by another when its lease ends', async (t) => {
  const { events, applied } = await willingInbox(t)
  await events.accept(SECOND)
  await events.later(59_000)
  assert.deepEqual(applied, [])
  await events.later(1_001)
  await events.later(120_000)
  assert.deepEqual(applied, [SECOND])
})

test('[partner-inbox.17] a repeated event is applied without waiting for another process’s lease', async (t) => {
  const { events, applied } = await willingInbox(t)
  await events.accept(SECOND)
  await events.later(4_900)
  await events.accept(SECOND)
  await events.later(0)
  assert.deepEqual(applied, [])
  await events.later(200)
  await events.accept(SECOND)
  await events.later(0)
  assert.deepEqual(applied, [SECOND])
})

test('[partner-inbox.3] [EV-3] an event applied by another process stays applied when an expired lease is retried', async (t) => {
  const begun = Promise.withResolvers<void>()
  const stood = Promise.withResolvers<undefined>()
  let calls = 0
  const events = await inboxWith(t, async () => {
    calls += 1
    if (calls > 1) return undefined
    begun.resolve()
    return stood.promise
  })
  await events.accept(SECOND)
  const late = events.later(60_001)
  await begun.promise
  await events.later(60_001)
  stood.reject(new Refusal('overloaded'))
  await late
  assert.deepEqual(
    (await events.rows()).map(({ state, isDone }) => [state, isDone]),
    [['DONE', true]],
  )
})

test('[partner-inbox.7] [EV-8b] an event that contradicts another is never applied before it', async (t) => {
  const applied: unknown[] = []
  const events = await inboxWith(t, async (_id, input) => {
    if (input.on === 'partner.confirmed') applied.push(input.payment.valueCents)
    return undefined
  })
  for (const valueCents of [1000, 900]) await events.accept(SECOND, valueCents)
  for (let second = 1; second <= 30; second++) await events.later(1_001)
  assert.deepEqual(applied, [], 'the process that took the first one in has not applied it yet')
  await events.later(30_000)
  await events.later(1_001)
  assert.deepEqual(applied, [1000n, 900n])
})

test('[partner-inbox.3] [EV-6] two processes take up different events, and neither waits for the other', async (t) => {
  const { events, applied } = await willingInbox(t)
  await events.accept(FIRST)
  await events.accept(SECOND)
  await whileFirstIsHeld(events.database, () => events.later(60_001))
  assert.deepEqual(applied, [SECOND])
  await events.later(0)
  assert.deepEqual(applied, [SECOND, FIRST])
})

test('[partner-inbox.3] [EV-12] an event that fails ten times is quarantined; the ones beside it are applied', async (t) => {
  const applied: string[] = []
  const events = await inboxWith(t, async (id) => {
    if (id === FIRST) throw new Error('cannot be applied')
    applied.push(id)
    return undefined
  })
  await Promise.all([events.accept(FIRST), events.accept(SECOND)])
  await events.later(60_001)
  assert.deepEqual(applied, [SECOND])
  for (let attempt = 3; attempt <= 20; attempt++) await events.later(1_001)
  const poisoned = (await events.rows()).find(({ state }) => state === 'QUARANTINED')
  assert.deepEqual([poisoned?.failures, poisoned?.isDone], [10, true])
  assert.deepEqual(await cases(events.database), ['event_set_aside'])
  assert.match(poisoned?.outcome ?? '', /cannot be applied/)
})

test('[partner-inbox.14] [EV-38] one failure does not quarantine an event that has waited long', async (t) => {
  let isFailing = false
  const applied: unknown[] = []
  const events = await inboxWith(t, async (_id, input) => {
    if (isFailing) throw new Error('once')
    if (input.on === 'partner.confirmed') applied.push(input.payment.valueCents)
    return undefined
  })
  // The second contradicts the first, and waits for it, which this process has and does not apply: thirty times.
  for (const valueCents of [1000, 900]) await events.accept(SECOND, valueCents)
  for (let second = 1; second <= 30; second++) await events.later(1_001)
  await events.later(30_000)
  isFailing = true
  await events.later(1_001)
  isFailing = false
  await events.later(1_001)
  assert.deepEqual(applied, [1000n, 900n])
  const [, waited] = await events.rows()
  assert.ok((waited?.attempts ?? 0) > 30)
  assert.deepEqual([waited?.failures, waited?.state], [1, 'CONFLICT'])
  assert.deepEqual(await cases(events.database), [])
})

test('[partner-inbox.3] during our own overload an event is retried until it is applied', async (t) => {
  let isOverloaded = true
  const events = await inboxWith(t, async () => {
    if (isOverloaded) throw new Refusal('overloaded')
    return undefined
  })
  await events.accept(SECOND)
  await events.later(60_001)
  for (let attempt = 3; attempt <= 20; attempt++) await events.later(1_001)
  isOverloaded = false
  await events.later(1_001)
  const [row] = await events.rows()
  assert.deepEqual([row?.state, row?.isDone], ['DONE', true])
})
