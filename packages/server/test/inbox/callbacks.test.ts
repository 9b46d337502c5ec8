import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import type { ChargeEvent, Inbound } from '../../src/banks/inbound.ts'
import type { InboxEvent } from '../../src/inbox/store.ts'
import { administer } from '../support/database.ts'
import { cases, inbox } from '../support/evidence.ts'
import { inboxOf } from './fixture.ts'

/** Callbacks of a bank that reports several events in each: one a word, `charge:value`. */

const inbound: Pick<Inbound, 'parse'> = {
  parse: (_route, body) =>
    String(body)
      .split(' ')
      .filter((word) => word !== '')
      .map((word): ChargeEvent => {
        const [name = '', value = '1'] = word.split(':')
        const references = { transactionId: name, externalId: null, endToEndId: null }
        const about = { subject: 'charge', references, key: ['paid', name], content: value, evidence: {} } as const
        return { ...about, kind: 'changed', saysMoneyMoved: false }
      }),
}

function idOf(name: string): string {
  return `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0')}`
}

async function inboxWith(t: TestContext, { isApplying = true } = {}) {
  const applied: string[] = []
  const stored: InboxEvent[][] = []
  const { url, database, jobs, commands, later } = await inboxOf(
    t,
    inbound,
    {
      match: async (references) =>
        references.map(({ transactionId }) => {
          const id = idOf(transactionId ?? '')
          return { id, among: [id] }
        }),
      apply: async (_id, { references, content }) => {
        if (references.transactionId === 'broken') throw new Error('broken')
        applied.push(`${references.transactionId}:${content}`)
        return 'APPLIED'
      },
    },
    (events) => void stored.push([...events]),
  )
  return {
    url,
    database,
    applied,
    accept: async (text: string, isProven = true) => {
      await commands.accept({ endpoint: 'words', body: Buffer.from(text), isProven })
      for (const events of stored.splice(0)) if (isApplying) await jobs.apply(events)
    },
    later,
    rows: async () => (await inbox(database)).map(({ state, outcome }) => `${state} ${outcome}`),
  }
}

test('[partner-inbox.16] [EV-48] an event that fails, or contradicts another, delays no other event of its callback', async (t) => {
  const events = await inboxWith(t)
  await events.accept('a broken b')
  assert.deepEqual(events.applied, ['a:1', 'b:1'])
  assert.deepEqual(await events.rows(), ['DONE APPLIED', 'NEW WAITING', 'DONE APPLIED'])
  await events.accept('a:2 c a:1')
  assert.deepEqual(events.applied.slice(2), ['c:1'])
  await events.later(1_001)
  assert.deepEqual(events.applied.slice(3), ['a:2'])
  await events.later(1_001)
  assert.deepEqual(await cases(events.database), [])
})

test('[partner-inbox.16] [EV-3] the rest of a dead process’s callback is applied by another process, event by event', async (t) => {
  const events = await inboxWith(t, { isApplying: false })
  await events.accept('a b')
  await administer(
    events.url,
    `UPDATE inbox_event SET state = 'DONE', due_at = NULL, processed_at = now() WHERE ordinal = 0`,
  )
  await events.later(60_001)
  assert.deepEqual(events.applied, ['b:1'])
})

test('[partner-inbox.16] a callback without an event is not stored', async (t) => {
  const events = await inboxWith(t)
  await events.accept('')
  assert.deepEqual(await inbox(events.database), [])
})

test('[partner-inbox.15] [EV-47] an unproven event never blocks one of the bank', async (t) => {
  const events = await inboxWith(t)
  await events.accept('a', false)
  assert.deepEqual([events.applied, await events.rows()], [[], ['DONE ASKED']])
  await events.accept('a')
  assert.deepEqual(events.applied, ['a:1'])
})
