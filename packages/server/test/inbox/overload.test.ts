import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import { createInboxCommands, createInboxRoutes } from '../../src/inbox/receive.ts'
import type { Receiver } from '../../src/inbox/receivers.ts'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import type { Caller } from '../../src/platform/http/handler.ts'
import { createHttpServer } from '../../src/platform/http/server.ts'
import { createIds } from '../../src/platform/ids.ts'
import { QueueFull } from '../../src/platform/jobs/batcher.ts'
import { AWAKE } from '../support/live-request.ts'
import { inbound, UNREAD } from '../support/partner-events.ts'

const ids = createIds({ now: () => 1_700_000_000_000 })
const NOBODY: Receiver = {
  match: async () => [],
  apply: async () => undefined,
  ask: async () => undefined,
  hasBooked: async () => false,
  exists: async () => false,
  canAsk: true,
}
const partner: Caller = { credential: 'partner', id: 'partner' }

test('[partner-inbox.3] [http.9] a full inbox, or one without its database, is 503 with Retry-After', async (t) => {
  let error: Error = new QueueFull('full')
  const http = createHttpServer({
    endpoints: createInboxRoutes(inbound, { accept: () => Promise.reject(error), queryInstead: async () => undefined }),
    authenticate: { 'api-key': async () => partner, admin: async () => partner, partner: async () => partner },
    logger: pino({ level: 'silent' }),
    ids,
    eventLoop: AWAKE,
  })
  t.after(() => http.close())
  const url = await http.listen({ host: '127.0.0.1', port: 0 })
  for (error of [
    new QueueFull('full'),
    new DatabaseUnavailable('away', false),
    new DatabaseUnavailable('away', true),
  ]) {
    const response = await fetch(`${url}/api/webhooks/pix/cash-in`, { method: 'POST', body: '{}' })
    const { code } = (await response.json()) as { code: string }
    assert.deepEqual([response.status, code, response.headers.get('retry-after')], [503, 'overloaded', '1'])
  }
})

test('[partner-inbox.3] [EV-30] a flood of events that cannot be committed fills only a bounded queue', async () => {
  const commands = createInboxCommands({
    store: {
      insert: () => new Promise(() => undefined),
      hashes: async () => new Map(),
      insertConflicts: async () => undefined,
      expedite: async () => undefined,
      claim: async () => [],
      mark: async () => undefined,
      untilReplicated: async () => undefined,
      isOriginalDone: async () => false,
      hasOpenCase: async () => false,
    },
    inbound,
    receivers: { charge: NOBODY, payout: NOBODY, refund: NOBODY },
    clock: { now: () => 0 },
    ids,
    reports: UNREAD,
    onStored: () => undefined,
  })
  const accept = (event: number) =>
    commands.accept({ endpoint: 'cash-in', body: Buffer.from(String(event)), isProven: true })
  const refused: unknown[] = []
  const flood = Array.from({ length: 6_000 }, (_, event) => accept(event).catch((error) => refused.push(error)))
  await Promise.race(flood)
  assert.equal(refused.length, 1_000)
  for (const error of refused) assert.ok(error instanceof QueueFull)
})
