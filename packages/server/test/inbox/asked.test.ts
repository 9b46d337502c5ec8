import assert from 'node:assert/strict'
import test from 'node:test'
import { pino } from 'pino'
import type { Engine } from '../../src/engine/engine.ts'
import type { Case, State } from '../../src/engine/operation.ts'
import { createInboxJobs } from '../../src/inbox/jobs.ts'
import type { Applied, Receiver } from '../../src/inbox/receivers.ts'
import { type Meaning, PARKING_DELAYS_MS, POISON_FAILURES } from '../../src/inbox/rules.ts'
import type { InboxResult, InboxStore, StoredEvent } from '../../src/inbox/store.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { inbound, UNREAD } from '../support/partner-events.ts'

/** Outcome of an event that is applied to nothing: the queries, and the case for an operator. */

const NOW = Date.parse('2026-11-21T13:30:00.000Z')

const EVENT = {
  event: 'CashIn',
  eventId: 'event-1',
  transactionId: 'tx',
  status: 'CONFIRMED',
  endToEndId: 'E1',
  valueCents: 1000,
  occurredAt: '2026-11-21T13:15:00.500Z',
}

interface Given {
  readonly event?: object
  readonly row?: Partial<StoredEvent>
  readonly isProven?: boolean
  readonly meaning?: Meaning
  readonly taken?: Applied
  readonly booked?: string
  /** Neither the event can be applied nor a case be opened. */
  readonly isBroken?: boolean
}

const ONE: Meaning = { id: 'a', among: ['a'] }
const TWO: Meaning = { id: undefined, among: ['a', 'b'] }

async function applied({ event = {}, row = {}, meaning = ONE, taken = 'APPLIED', isProven = true, ...given }: Given) {
  const { booked, isBroken = false } = given
  const asked: string[] = []
  const cases: Case[] = []
  const results: InboxResult[] = []
  const receiver: Receiver = {
    match: async (references) => references.map(() => meaning),
    apply: async () => (isBroken ? Promise.reject(new Error('broken')) : taken),
    ask: async (id) => void asked.push(id),
    hasBooked: async (id) => id === booked,
    exists: async () => true,
    canAsk: true,
  }
  const store: Pick<InboxStore, 'mark' | 'isOriginalDone' | 'hasOpenCase'> = {
    mark: async (marked) => void results.push(...marked),
    isOriginalDone: async () => false,
    hasOpenCase: async () => false,
  }
  const execute: Engine['execute'] = async ({ decide }) => {
    if (isBroken) throw new Error('broken')
    const decision = decide({} as State, NOW)
    cases.push(...(decision.cases ?? []))
    return decision.outcome
  }
  const jobs = createInboxJobs({
    store: store as InboxStore,
    inbound,
    reports: UNREAD,
    receivers: { charge: receiver, payout: receiver, refund: receiver },
    cashIns: { atPartner: async () => ({}), drainNewReferences: () => [] },
    engine: { execute } as Engine,
    clock: { now: () => NOW },
    logger: pino({ level: 'silent' }),
  })
  const body = Buffer.from(JSON.stringify({ ...EVENT, ...event }))
  const begun = { state: 'NEW', failures: 0, parkings: 0, attributedTo: null } as const
  const callback = { id: 'row-1', endpoint: 'cash-in', body, isProven }
  const key = { callback, ordinal: 0, dedupeKey: 'key', contentHash: sha256('content') }
  const [reading] = inbound.parse('cash-in', body)
  assert.ok(reading)
  await jobs.apply([{ ...key, ...begun, ...row, event: reading }])
  const [result] = results
  assert.ok(result)
  const { state, outcome, failures, parkings } = result
  return { asked, cases, state, outcome, failures, parkings, kinds: cases.map(({ kind }) => kind) }
}

for (const [taken, state, kinds] of [
  ['IMPLAUSIBLE', 'QUARANTINED', ['event_set_aside']],
  ['EARLY', 'PARKED', []],
  ['DISPUTED', 'PARKED', []],
] as const)
  test(`[partner-inbox.13] [EV-36] an event that is ${taken} causes a query of the bank, and is ${state}`, async () => {
    const told = await applied({ taken })
    assert.deepEqual([told.asked, told.state, told.kinds], [['a'], state, kinds])
  })

test('[partner-inbox.12] an event that reports no movement of money causes a query and no case', async () => {
  const failed = await applied({ meaning: TWO, event: { status: 'FAILED' } })
  assert.deepEqual([failed.asked, failed.state, failed.outcome], [['a', 'b'], 'DONE', 'ASKED'])
  const waiting = await applied({ meaning: TWO, event: { status: 'PENDING' } })
  assert.deepEqual([waiting.asked, waiting.outcome], [[], 'IN_PROGRESS'])
})

for (const [meaning, kind] of [
  [TWO, 'event_set_aside'],
  [{ id: undefined, among: [] }, 'event_set_aside'],
] as const)
  test(`[partner-inbox.8] [partner-inbox.13] in the end a case names its possible operations: ${kind}`, async () => {
    const told = await applied({ meaning, row: { parkings: PARKING_DELAYS_MS.length } })
    assert.deepEqual([told.state, told.outcome, told.kinds], ['PARKED', 'CASE_OPENED', [kind]])
    assert.deepEqual(told.cases[0]?.facts.operations, meaning.among)
    assert.equal(told.cases[0]?.reference, sha256('content').toString('hex'), 'the same words are the same case')
  })

test('[partner-inbox.15] [EV-47] an event without proof of origin causes a query of the bank and moves no money', async () => {
  for (const event of [{}, { status: 'FAILED' }, { valueCents: 'a lot' }, { status: 'REVERSED' }]) {
    const one = await applied({ event, isProven: false, isBroken: true })
    assert.deepEqual([one.asked, one.state, one.outcome, one.kinds], [['a'], 'DONE', 'ASKED', []])
  }
  const two = await applied({ meaning: TWO, isProven: false, row: { state: 'CONFLICT' } })
  assert.deepEqual([two.asked, two.state, two.outcome], [['a', 'b'], 'CONFLICT', 'ASKED'])
  const waiting = await applied({ event: { status: 'PENDING' }, isProven: false })
  assert.deepEqual([waiting.asked, waiting.state, waiting.outcome], [[], 'DONE', 'UNPROVEN'])
})

test('[partner-inbox.15] [EV-47] an unproven event of an unknown operation waits as long as any, and opens no case', async () => {
  const parkings = PARKING_DELAYS_MS.length
  const nothing = { meaning: { id: undefined, among: [] }, isProven: false }
  const first = await applied(nothing)
  assert.deepEqual([first.state, first.parkings, first.kinds], ['PARKED', 1, []])
  const last = await applied({ ...nothing, row: { state: 'PARKED', parkings } })
  assert.deepEqual([last.state, last.outcome, last.kinds], ['DONE', 'UNPROVEN', []])
  const unreadable = await applied({ ...nothing, event: { event: 'nothing' } })
  assert.deepEqual([unreadable.state, unreadable.outcome, unreadable.kinds], ['DONE', 'UNPROVEN', []])
})

test('[partner-inbox.14] [EV-38] a contradiction that waits for the other event has not failed', async () => {
  const told = await applied({ row: { state: 'CONFLICT', failures: 3 } })
  assert.deepEqual([told.state, told.outcome, told.failures], ['CONFLICT', 'WAITING', 3])
})

test('[partner-inbox.14] [EV-12] an event whose case cannot be opened is retried, and disturbs no other event', async () => {
  const told = await applied({ isBroken: true, row: { failures: POISON_FAILURES } })
  assert.deepEqual([told.state, told.outcome, told.failures], ['NEW', 'WAITING', POISON_FAILURES + 1])
})
