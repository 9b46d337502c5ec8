import assert from 'node:assert/strict'
import test from 'node:test'
import { type CaseDecision, type CaseKind, type CaseWithoutOperation, caseKinds } from '@pixgate/spec'
import { reportDrifts } from '../../src/cases/drifts.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import {
  type Circumstances,
  decideLooseAs,
  type LooseScenario,
  type LooseWorld,
} from '../support/scripted-without-operation.ts'

/** Every kind of case of no operation, and each decision about it in a world of its own. */

const SILENT = { eventDelayMs: 3_600_000 }
/** An event that is set aside has been tried for so long. */
const PARKED = [0, 1_001, 5_001, 30_001, 60_001, 300_001, 900_001]

const asItIs = (): Circumstances => ({})
const to = (id: string): Circumstances => ({ given: { operationId: id } })

/** Money that left without us. */
async function debited(pix: LooseWorld): Promise<undefined> {
  await pix.balance(100_00)
  await pix.minutes(2)
  await pix.bank('POST', '/control/debits', { valueCents: 1000 })
  await pix.minutes(10)
}

/** The bank tells so much more of what came in, or less. */
function otherwise(moreCents: bigint) {
  return async (pix: LooseWorld): Promise<undefined> => {
    pix.statement.tell = (page) => ({
      ...page,
      entries: page.entries.map((entry) => ({ ...entry, valueCents: entry.valueCents + moreCents })),
    })
    await pix.balance(10_00)
    await pix.minutes(8)
  }
}

/** A payment that is told, and never was. */
async function madeUp(pix: LooseWorld): Promise<undefined> {
  await pix.minutes(2)
  const charge = await pix.charge('10.00')
  const occurredAt = new Date(pix.clock.now()).toISOString()
  assert.equal(await postEvent(pix, paidEvent({ ...charge, valueCents: 1000 }, { occurredAt })), 200)
  await pix.minutes(3)
}

/** The bank has a payment of a charge, and an event tells it otherwise. @returns the charge */
function reported(given: (charge: { readonly id: string }, pix: LooseWorld) => Promise<object> | object) {
  return async (pix: LooseWorld): Promise<string> => {
    const charge = await pix.charge('10.00')
    await pix.behave(SILENT)
    const { endToEndId } = await pix.bankAction(`charges/${charge.id}/pay`)
    const occurredAt = new Date(pix.clock.now()).toISOString()
    const event = paidEvent({ ...charge, valueCents: 1000 }, { endToEndId, occurredAt })
    assert.equal(await postEvent(pix, { ...event, ...(await given(charge, pix)) }), 200)
    for (const wait of PARKED) await pix.later(wait)
    return charge.id
  }
}

const nobodys = reported(() => ({ externalId: 'nobody', transactionId: 'x' }))
const disputed = reported(async (_, pix) => ({ externalId: (await pix.charge('10.00')).id }))
const ofTomorrow = reported((_, pix) => ({ occurredAt: new Date(pix.clock.now() + 86_400_000).toISOString() }))

/** The bank gave the payment back: what is applied to nothing is nothing. */
const gone = (id: string): Circumstances => ({
  before: (pix) => pix.bankAction(`charges/${id}/return`, { valueCents: 1000 }),
})

/** What the event names is made by then. */
const named = (): Circumstances => ({ before: (pix) => pix.charge('10.00', { externalId: 'nobody' }) })

/** A fault in the books that was there, and is mended. */
async function drifted({ service, database }: LooseWorld): Promise<undefined> {
  const drift = {
    name: 'journal-sums',
    meaning: 'The entries of every journal sum to zero.',
    count: 1,
    examples: ['a'],
  }
  await reportDrifts({ engine: service.engine, database }, { drifts: [drift] })
}

/** A day of which the bank tells a balance that is too low. */
async function unexplainedClose(pix: LooseWorld): Promise<undefined> {
  await pix.balance(10_00)
  await pix.endDay()
  await pix.bank('PUT', '/control/lies', { perThousand: { balanceShort: 1_000 } })
  await pix.endDay()
  await pix.bank('PUT', '/control/lies', { perThousand: {} })
}

const SCENARIOS: readonly LooseScenario[] = [
  {
    kind: 'unexplained_debit',
    arrange: debited,
    decisions: { debit: asItIs, write_off: asItIs },
  },
  {
    kind: 'unexplained_debit',
    arrange: async (pix) => {
      await pix.balance(100_00)
      await pix.behave({ cashOut: 'manual' })
      const { id } = await pix.cashOut()
      await pix.minutes(2)
      await pix.bank('POST', '/control/debits', { valueCents: 30_00 })
      await pix.minutes(10)
      return id
    },
    decisions: { book: to },
  },
  {
    kind: 'line_missing',
    arrange: async (pix) => {
      await madeUp(pix)
      await pix.minutes(10)
      return undefined
    },
    decisions: { reverse: asItIs, write_off: asItIs },
  },
  {
    kind: 'line_differs',
    arrange: otherwise(100n),
    decisions: {
      credit: () => ({ moreCents: 100n }),
      write_off: () => ({ moreCents: 100n }),
    },
  },
  {
    kind: 'line_differs',
    arrange: otherwise(-100n),
    decisions: { debit: () => ({ moreCents: -100n }), write_off: () => ({ moreCents: -100n }) },
  },
  // The statement, or the bank's answer, would tell first.
  {
    kind: 'event_set_aside',
    rule: 'partner-inbox.8',
    lacking: ['statement', 'query-charge'],
    arrange: nobodys,
    decisions: { book: to, ask_again: named, close: gone },
  },
  {
    kind: 'event_set_aside',
    rule: 'partner-inbox.8',
    lacking: ['statement'],
    arrange: nobodys,
    decisions: { book: to, close: gone },
  },
  {
    kind: 'event_set_aside',
    rule: 'partner-inbox.12',
    lacking: ['statement', 'query-charge'],
    arrange: disputed,
    decisions: { book: to, ask_again: gone, close: gone },
  },
  {
    kind: 'event_set_aside',
    rule: 'partner-inbox.13',
    lacking: ['statement'],
    arrange: ofTomorrow,
    decisions: { book: to, ask_again: asItIs, close: asItIs },
  },
  { kind: 'ledger_drift', arrange: drifted, decisions: { close: asItIs } },
  { kind: 'close_differs', arrange: unexplainedClose, decisions: { close: asItIs } },
]

/**
 * It takes a payout that the statement lacks (`scenarios/statement-decisions.deep.ts`), a difference that is gone
 * (`without-operation/unexplained.deep.ts`), a bank of the standard, or a request (`controls/requested-adjustments.test.ts`, `console/refunds.test.ts`).
 */
const MADE_ELSEWHERE: Partial<Record<CaseWithoutOperation, readonly CaseDecision[]>> = {
  line_missing: ['credit'],
  line_differs: ['close'],
  statement_unreadable: ['close'],
  adjustment_requested: ['credit', 'debit', 'close'],
  refund_requested: ['return_to_payer', 'close'],
}

function withoutOf({ lacking = [] }: LooseScenario): string {
  return lacking.length > 0 ? `, without ${lacking.join(' and ')}` : ''
}

function byOf({ rule }: LooseScenario): string {
  return rule === undefined ? '' : ` by ${rule}`
}

for (const scenario of SCENARIOS) {
  for (const decision of Object.keys(scenario.decisions) as CaseDecision[]) {
    test(`[cases.44] [cases.50] ${scenario.kind}${byOf(scenario)} is decided by ${decision}, and our books are the bank’s${withoutOf(scenario)}`, (t) =>
      decideLooseAs(t, scenario, decision))
  }
}

test('[cases.50] each decision about each kind of case of no operation is made above', () => {
  const made = (kind: string) =>
    SCENARIOS.filter((one) => one.kind === kind).flatMap((one) => Object.keys(one.decisions))
  for (const [kind, { decisions }] of Object.entries<CaseKind>(caseKinds)) {
    if (decisions === undefined) continue
    const all = Object.keys(decisions).toSorted()
    assert.deepEqual(
      [...new Set([...made(kind), ...(MADE_ELSEWHERE[kind as CaseWithoutOperation] ?? [])])].toSorted(),
      all,
      kind,
    )
  }
})
