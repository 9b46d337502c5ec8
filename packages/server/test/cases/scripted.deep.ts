import test from 'node:test'
import { type BankBehaviorChange, decisionNames } from '@pixgate/spec'
import { bankWithout } from '../support/bank-without.ts'
import { paidEvent, postEvent } from '../support/partner-events.ts'
import { asItIs, decideAs, type Scenario, type Truth } from '../support/scripted-operator.ts'
import { stepUntil } from '../support/stepping.ts'
import type { World } from '../support/world.ts'

/** Cases that the simulated bank can bring about, and each decision about them in a world of its own. */

const HOUR = 3_600_000
const SILENT = { eventDelayMs: HOUR }
const IMPATIENT = { PIXGATE_PARTNER_TIMEOUT_MS: '200' }

/** A merchant with R$ 100.00, and a payout of R$ 30.00. */
async function payout(pix: World, behavior: BankBehaviorChange): Promise<string> {
  await pix.paid('100')
  await pix.behave(behavior)
  return (await pix.cashOut()).id
}

/** The same with a refund. */
async function refund(pix: World, behavior: BankBehaviorChange): Promise<string> {
  const { id } = await pix.paid('100')
  await pix.behave(behavior)
  return (await pix.refundIn(id, 30)).id
}

const payoutIs = (pix: World, id: string, status: string, stepMs?: number) =>
  stepUntil(pix, `/api/pix/cash-out/${id}`, status, stepMs)
const refundIs = (pix: World, id: string, status: string, stepMs?: number) =>
  stepUntil(pix, `/api/pix/refund/${id}`, status, stepMs)

/** What the bank tells falsely of something that it confirmed. */
async function falseFailure(pix: World, event: string, id: string, transactionId: string): Promise<void> {
  await pix.bank('PUT', '/control/lies', { perThousand: { falseFailure: 1_000 } })
  const occurredAt = new Date(pix.clock.now()).toISOString()
  const told = {
    event,
    eventId: 'false',
    status: 'FAILED',
    valueCents: 3_000,
    transactionId,
    externalId: id,
    occurredAt,
  }
  await postEvent(pix, told, { endpoint: event === 'CashOut' ? 'cash-out' : 'cash-in' })
  await seconds(pix)
}

/** The bank gives no answer for a quarter of an hour. */
async function unanswered(pix: World): Promise<void> {
  await pix.later(1_000)
  await pix.behave({ latencyMs: 2_000 })
  for (let minute = 0; minute < 17; minute++) await pix.later(60_000)
  await pix.behave({ latencyMs: 0 })
}

/** What was told is taken in. */
async function seconds(pix: World): Promise<void> {
  for (let second = 0; second < 3; second++) await pix.later(1_000)
}

const now = (pix: World) => new Date(pix.clock.now()).toISOString()

const quarters = async (pix: World) => {
  for (let quarter = 0; quarter < 99; quarter++) await pix.later(15 * 60_000)
}

const amount =
  (amountCents: number): Truth =>
  async () => ({ amountCents })

/** The return that the bank told without its id. */
const named: Truth = async (pix) => {
  const { entries } = (await pix.bank('GET', '/control/book')).body
  return { evidence: { returnId: entries.at(-1).returnId } }
}

const meantFor =
  (reais: string): Truth =>
  async (pix) => ({ operationId: (await pix.charge(reais)).id })

const CASH_INS: readonly Scenario[] = [
  {
    kind: 'payment_in_suspense',
    rule: 'cash-in.paid.4',
    arrange: async (pix) => {
      const { id } = await pix.paid('100')
      pix.clock.advance(1_000)
      await pix.bankAction(`charges/${id}/pay`, { valueCents: 10_100 })
      return id
    },
    decisions: { return_to_payer: amount(10_100), book: meantFor('101'), write_off: asItIs },
  },
  {
    kind: 'payment_in_suspense',
    rule: 'cash-in.states.8',
    arrange: async (pix) => {
      const { id } = await pix.charge('100')
      await pix.bankAction(`charges/${id}/pay`, { valueCents: 9_000 })
      return id
    },
    decisions: { accept: amount(9_000), return_to_payer: amount(9_000), book: meantFor('90'), write_off: asItIs },
  },
  {
    kind: 'debit_in_suspense',
    rule: 'cash-in.refunds.10',
    ...bankWithout('query-charge'),
    arrange: async (pix) => {
      const { id, providerTransactionId: transactionId, endToEndId } = await pix.paid('100')
      await pix.behave(SILENT)
      await pix.bankAction(`charges/${id}/return`, { valueCents: 4_000 })
      const occurredAt = new Date(pix.clock.now()).toISOString()
      const told = { event: 'CashInReversal', eventId: 'unnamed', status: 'CONFIRMED', valueCents: 4_000, occurredAt }
      await postEvent(pix, { ...told, transactionId, endToEndId })
      return id
    },
    decisions: { debit: named, write_off: named },
  },
  {
    kind: 'debit_in_suspense',
    rule: 'cash-in.refunds.9',
    ...bankWithout('query-charge'),
    arrange: async (pix) => {
      const { id, providerTransactionId: transactionId } = await pix.paid('100')
      pix.clock.advance(1_000)
      await pix.bankAction(`charges/${id}/pay`, { valueCents: 10_100 })
      await seconds(pix)
      await pix.behave(SILENT)
      const { returnId } = await pix.bankAction(`charges/${id}/return`, { valueCents: 4_000 })
      const occurredAt = new Date(pix.clock.now()).toISOString()
      const told = { event: 'CashInReversal', eventId: 'whose', status: 'CONFIRMED', valueCents: 4_000, occurredAt }
      await postEvent(pix, { ...told, transactionId, returnId })
      return id
    },
    decisions: { debit: asItIs, write_off: asItIs },
  },
  {
    kind: 'movement_elsewhere',
    rule: 'cash-in.states.13',
    arrange: async (pix) => {
      const first = await pix.paid('100')
      const other = await pix.charge('100')
      await postEvent(pix, paidEvent(other, { endToEndId: first.endToEndId, occurredAt: now(pix) }))
      return other.id
    },
    decisions: { close: asItIs },
  },
  {
    kind: 'bank_contradicts',
    rule: 'cash-in.paid.3',
    arrange: async (pix) => {
      const paid = await pix.paid('100')
      await pix.behave(SILENT)
      await postEvent(pix, paidEvent(paid, { endToEndId: paid.endToEndId, valueCents: 10_001, occurredAt: now(pix) }))
      return paid.id
    },
    decisions: { ask_again: asItIs, close: asItIs },
  },
]

const PAYOUTS: readonly Scenario[] = [
  {
    kind: 'outcome_unknown',
    rule: 'cash-out.unknown.5',
    environment: IMPATIENT,
    // It would show what left, where it is read before the bank falls silent.
    ...bankWithout('statement'),
    arrange: async (pix) => {
      const id = await payout(pix, { cashOut: 'lost-response', ...SILENT })
      await unanswered(pix)
      return id
    },
    decisions: {
      executed: async (pix, id) => {
        const { endToEndId } = (await pix.bank('GET', `/payouts/${id}`)).body
        return { evidence: { endToEndId } }
      },
      ask_again: asItIs,
    },
  },
  {
    kind: 'outcome_unknown',
    rule: 'cash-out.states.15',
    arrange: async (pix) => {
      const id = await payout(pix, { cashOut: 'manual' })
      await payoutIs(pix, id, 'DISPATCHED')
      await quarters(pix)
      await pix.behave(SILENT)
      return id
    },
    decisions: {
      executed: async (pix, id) => {
        const { endToEndId } = await pix.bankAction(`payouts/${id}/confirm`)
        return { evidence: { endToEndId } }
      },
      not_executed: async (pix, id) => {
        await pix.bankAction(`payouts/${id}/fail`)
        return {}
      },
      ask_again: asItIs,
    },
  },
  {
    kind: 'debit_in_suspense',
    rule: 'cash-out.states.12',
    arrange: async (pix) => {
      const id = await payout(pix, { cashOut: 'manual' })
      await payoutIs(pix, id, 'DISPATCHED')
      await pix.bankAction(`payouts/${id}/confirm`, { valueCents: 2_999 })
      return id
    },
    decisions: { executed: asItIs, write_off: asItIs },
  },
  {
    kind: 'debit_in_suspense',
    rule: 'cash-out.ended.2',
    arrange: async (pix) => {
      const id = await payout(pix, { cashOut: 'fail' })
      await payoutIs(pix, id, 'FAILED')
      await pix.bankAction(`payouts/${id}/confirm`, { despiteFailure: true })
      return id
    },
    decisions: { executed: asItIs, write_off: asItIs },
  },
  {
    kind: 'bank_contradicts',
    rule: 'cash-out.confirmed.4',
    arrange: async (pix) => {
      const id = await payout(pix, {})
      const { transactionId } = await payoutIs(pix, id, 'CONFIRMED')
      await falseFailure(pix, 'CashOut', id, transactionId)
      return id
    },
    decisions: { ask_again: asItIs, close: asItIs },
  },
  {
    kind: 'bank_contradicts',
    rule: 'cash-out.confirmed.3',
    ...bankWithout('query-payout'),
    arrange: async (pix) => {
      const id = await payout(pix, {})
      const { transactionId, endToEndId } = await payoutIs(pix, id, 'CONFIRMED')
      await pix.behave(SILENT)
      const told = { event: 'CashOut', eventId: 'otherwise', status: 'CONFIRMED', valueCents: 3_001, transactionId }
      const about = { externalId: id, endToEndId, occurredAt: now(pix) }
      await postEvent(pix, { ...told, ...about }, { endpoint: 'cash-out' })
      await seconds(pix)
      return id
    },
    decisions: { ask_again: asItIs, close: asItIs },
  },
  {
    kind: 'bank_contradicts',
    rule: 'cash-out.reversal.3',
    ...bankWithout('query-payout'),
    arrange: async (pix) => {
      const id = await payout(pix, {})
      const { transactionId, endToEndId } = await payoutIs(pix, id, 'CONFIRMED')
      const { returnId } = await pix.bankAction(`payouts/${id}/reverse`)
      await payoutIs(pix, id, 'REVERSED')
      await pix.behave(SILENT)
      const told = { event: 'CashOutReversal', eventId: 'otherwise', status: 'CONFIRMED', valueCents: 2_999 }
      const about = { transactionId, externalId: id, endToEndId, returnId, occurredAt: now(pix) }
      await postEvent(pix, { ...told, ...about }, { endpoint: 'cash-out' })
      await seconds(pix)
      return id
    },
    decisions: { ask_again: asItIs, close: asItIs },
  },
]

const REFUNDS: readonly Scenario[] = [
  {
    kind: 'outcome_unknown',
    rule: 'refund-in.unknown.4',
    environment: IMPATIENT,
    // It would show what left, where it is read before the bank falls silent.
    ...bankWithout('statement'),
    arrange: async (pix) => {
      const id = await refund(pix, { refundIn: 'lost-response', ...SILENT })
      await unanswered(pix)
      return id
    },
    decisions: {
      executed: async (pix, id) => {
        const { returnId } = (await pix.bank('GET', `/refunds/${id}`)).body
        return { evidence: { returnId } }
      },
      ask_again: asItIs,
    },
  },
  {
    kind: 'outcome_unknown',
    rule: 'refund-in.states.10',
    arrange: async (pix) => {
      const id = await refund(pix, { refundIn: 'manual' })
      await quarters(pix)
      await pix.behave(SILENT)
      return id
    },
    decisions: {
      executed: async (pix, id) => {
        const { returnId } = await pix.bankAction(`refunds/${id}/confirm`)
        return { evidence: { returnId } }
      },
      not_executed: async (pix, id) => {
        await pix.bankAction(`refunds/${id}/fail`)
        return {}
      },
      ask_again: asItIs,
    },
  },
  {
    kind: 'debit_in_suspense',
    rule: 'refund-in.doubt.4',
    arrange: async (pix) => {
      const id = await refund(pix, { refundIn: 'manual' })
      await pix.later(1_000)
      await pix.bankAction(`refunds/${id}/confirm`, { valueCents: 2_999 })
      return id
    },
    decisions: { executed: asItIs, write_off: asItIs },
  },
  {
    kind: 'debit_in_suspense',
    rule: 'refund-in.ended.6',
    arrange: async (pix) => {
      const id = await refund(pix, { refundIn: 'fail' })
      await refundIs(pix, id, 'FAILED')
      await pix.bankAction(`refunds/${id}/confirm`, { despiteFailure: true })
      return id
    },
    decisions: { executed: asItIs, write_off: asItIs },
  },
  {
    kind: 'bank_contradicts',
    rule: 'refund-in.ended.4',
    arrange: async (pix) => {
      const id = await refund(pix, {})
      const { transactionId } = await refundIs(pix, id, 'CONFIRMED')
      await falseFailure(pix, 'CashInReversal', id, transactionId)
      return id
    },
    decisions: { ask_again: asItIs, close: asItIs },
  },
]

const scenarios = [
  ...CASH_INS.map((scenario) => ['cash-in', scenario] as const),
  ...PAYOUTS.map((scenario) => ['cash-out', scenario] as const),
  ...REFUNDS.map((scenario) => ['refund-in', scenario] as const),
]

for (const [of, scenario] of scenarios) {
  for (const decision of decisionNames.filter((name) => name in scenario.decisions)) {
    test(`[cases.44] ${of} ${scenario.kind} by ${scenario.rule} is decided by ${decision}, and our books are the bank’s`, (t) =>
      decideAs(t, scenario, decision))
  }
}
