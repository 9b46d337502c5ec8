import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { Refusal } from '@pixgate/spec'
import { pino } from 'pino'
import type { CashInModule } from '../../../src/modules/cash-in/index.ts'
import { createInboxCommands } from '../../../src/modules/partner-inbox/commands.ts'
import { createInboxJobs } from '../../../src/modules/partner-inbox/jobs.ts'
import { createInboxStore } from '../../../src/modules/partner-inbox/store.ts'
import { testDatabase } from '../../support/database.ts'
import { testEngine } from '../../support/engine.ts'
import { inbox } from '../../support/evidence.ts'
import { paidEvent } from '../../support/partner-events.ts'
import { steppedClock } from '../../support/world.ts'

const POISONED = '0198c0de-7a11-7000-8000-00000000dead'
const HEALTHY = '0198c0de-7a11-7000-8000-0000000000aa'

/** The inbox with cash-ins that do as they are told, and nobody who applies what comes in at once. */
async function inboxWith(t: TestContext, apply: CashInModule['apply']) {
  const { url, database } = await testDatabase(t)
  const { engine, ids } = testEngine(t, url)
  const clock = steppedClock()
  const store = createInboxStore(database)
  const cashIns: Pick<CashInModule, 'match' | 'apply'> = {
    match: async (references) => references.map(({ externalId }) => (externalId ? [externalId] : [])),
    apply,
  }
  const commands = createInboxCommands({ store, cashIns, clock, ids, onStored: () => undefined })
  const jobs = createInboxJobs({ store, cashIns, engine, clock, logger: pino({ level: 'silent' }) })
  return {
    accept: (id: string) =>
      commands.accept(
        'cash-in',
        Buffer.from(JSON.stringify(paidEvent({ id, valueCents: 1000, providerTransactionId: id }))),
      ),
    later: async (ms: number) => {
      clock.advance(ms)
      await jobs.processNext()
    },
    rows: () => inbox(database),
  }
}

test('[partner-inbox.3] [EV-3] what a dead process took in is applied by another when its lease is over', async (t) => {
  const applied: string[] = []
  const events = await inboxWith(t, async (id) => {
    applied.push(id)
    return undefined
  })
  await events.accept(HEALTHY)
  await events.later(59_000)
  assert.deepEqual(applied, [])
  await events.later(1_001)
  await events.later(120_000)
  assert.deepEqual(applied, [HEALTHY])
})

test('[partner-inbox.3] [EV-12] an event that fails ten times is quarantined; the ones beside it are applied', async (t) => {
  const applied: string[] = []
  const events = await inboxWith(t, async (id) => {
    if (id === POISONED) throw new Error('cannot be applied')
    applied.push(id)
    return undefined
  })
  await Promise.all([events.accept(POISONED), events.accept(HEALTHY)])
  await events.later(60_001)
  assert.deepEqual(applied, [HEALTHY])
  for (let attempt = 3; attempt <= 20; attempt++) await events.later(1_001)
  const poisoned = (await events.rows()).find(({ state }) => state === 'QUARANTINED')
  assert.deepEqual([poisoned?.attempts, poisoned?.isDone], [10, true])
  assert.match(poisoned?.outcome ?? '', /cannot be applied/)
})

test('[partner-inbox.3] an event is not to blame for our own overload: it is tried until it is applied', async (t) => {
  let isOverloaded = true
  const events = await inboxWith(t, async () => {
    if (isOverloaded) throw new Refusal('overloaded')
    return undefined
  })
  await events.accept(HEALTHY)
  await events.later(60_001)
  for (let attempt = 3; attempt <= 20; attempt++) await events.later(1_001)
  isOverloaded = false
  await events.later(1_001)
  const [row] = await events.rows()
  assert.deepEqual([row?.state, row?.isDone], ['DONE', true])
})
