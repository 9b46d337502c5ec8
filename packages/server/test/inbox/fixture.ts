import type { TestContext } from 'node:test'
import { pino } from 'pino'
import type { Inbound } from '../../src/banks/inbound.ts'
import { createInboxJobs } from '../../src/inbox/jobs.ts'
import { createInboxCommands } from '../../src/inbox/receive.ts'
import type { Receiver } from '../../src/inbox/receivers.ts'
import { createInboxStore, type InboxEvent } from '../../src/inbox/store.ts'
import { testDatabase } from '../support/database.ts'
import { testEngine } from '../support/engine.ts'
import { UNREAD } from '../support/partner-events.ts'
import { steppedClock } from '../support/stepped-clock.ts'

/** The inbox on a database of its own, before one receiver that has every operation. */
export async function inboxOf(
  t: TestContext,
  inbound: Pick<Inbound, 'parse'>,
  told: Pick<Receiver, 'match' | 'apply'>,
  onStored: (events: readonly InboxEvent[]) => void = () => undefined,
) {
  const { url, database } = await testDatabase(t)
  const { engine, ids } = testEngine(t, url)
  const clock = steppedClock()
  const store = createInboxStore(database)
  const receiver: Receiver = {
    ...{ hasBooked: async () => false, exists: async () => true, canAsk: true, ask: async () => undefined },
    ...told,
  }
  const receivers = { charge: receiver, payout: receiver, refund: receiver }
  const cashIns = { atPartner: async () => ({ kind: 'NOT_FOUND' }), drainNewReferences: () => [] }
  const given = { store, inbound, receivers, clock, reports: UNREAD }
  const jobs = createInboxJobs({ ...given, cashIns, engine, logger: pino({ level: 'silent' }) })
  const commands = createInboxCommands({ ...given, ids, onStored })
  const later = async (ms: number) => {
    clock.advance(ms)
    await jobs.processNext()
  }
  return { url, database, jobs, commands, later }
}
