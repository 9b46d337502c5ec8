import type { BankOrder } from './bank-book.ts'
import { payoutReturnedEvent } from './bank-events.ts'
import { confirmedByMore, confirmedOverdue, MINUTE, reportedOrder, STANDING, tellSettled } from './order-scenes.ts'
import type { Scene } from './scenes.ts'
import type { Stage } from './stage.ts'

/** Scenes of payouts. */

/** A payout that was carried out. @returns it at the bank */
async function confirmedPayout(stage: Stage): Promise<BankOrder> {
  const order = stage.orderAtBank(await stage.payout({ call: 'accepts', ask: 'truth' }))
  stage.world.bank.end(order, true)
  await stage.settle()
  return order
}

/**
 * A payout that was not sent yet, of which the bank tells the movement of another one: a case, after which it waits to be sent as
 * before.
 * @param reportedCents by which amount it is told
 * @param moreCents by which the bank's answers tell the payout otherwise than it was asked for
 * @param meanwhile what happens while the case is open
 * @returns it at the bank
 */
async function confirmedElsewhere(
  stage: Stage,
  [reportedCents, moreCents]: readonly [bigint, bigint],
  meanwhile: (order: BankOrder) => Promise<void> = async () => undefined,
): Promise<BankOrder> {
  await stage.paid(2_000)
  const other = await confirmedPayout(stage)
  const id = await stage.payout('suspended')
  const order = stage.orderAtBank(id, moreCents)
  order.state = 'CONFIRMED'
  order.executions.push(...other.executions)
  await tellSettled(stage, { ...order, valueCents: reportedCents })
  await meanwhile(order)
  await stage.decide(id, 'movement_elsewhere', 'close')
  return order
}

/** What was given back leaves all the same and is written off; then the bank tells it otherwise. */
async function leftAfterwards(stage: Stage, id: string): Promise<void> {
  const order = stage.orderAtBank(id)
  stage.world.bank.book.lies.add(id)
  stage.world.bank.end(order, true)
  await stage.settle()
  await stage.decide(id, 'debit_in_suspense', 'write_off')
  await tellSettled(stage, { ...order, valueCents: order.valueCents + 1n })
}

/** What came back of a payout is told. @param moreCents by which it is told otherwise than it is */
async function tellReturn(stage: Stage, order: BankOrder, moreCents: bigint): Promise<void> {
  const [returned] = order.returns
  if (!returned) throw new Error('nothing came back')
  const reported = { ...returned, valueCents: returned.valueCents + moreCents }
  await stage.tell({
    ...payoutReturnedEvent(order, reported, false),
    what: `${reported.returnId} of ${reported.valueCents}`,
  })
}

/** What came back of another payout is told of this one, too. */
async function returnElsewhere(stage: Stage, order: BankOrder): Promise<void> {
  const other = await confirmedPayout(stage)
  const returnId = stage.world.bank.bringBack(other, 100n, other.executions[0]?.id ?? '')
  const returned = { returnId, valueCents: 100n, occurredAt: stage.world.now }
  await stage.tell(payoutReturnedEvent(other, returned, false))
  await stage.tell(payoutReturnedEvent(order, returned, false))
}

/** A return of a payout that was confirmed is told without its id. */
function tellUnnamed(stage: Stage, order: BankOrder, valueCents: bigint): Promise<void> {
  const returned = { returnId: `unnamed ${valueCents}`, valueCents, occurredAt: stage.world.now }
  return stage.tell(payoutReturnedEvent(order, returned, true))
}

/** See above. */
export const SCENES_OF_PAYOUTS: readonly Scene[] = [
  {
    name: 'a payout is refused in doubt, after no byte of it had left',
    reaches: [
      'cash_out cash-out.states.7 RECONCILIATION_REQUIRED:no_answer send.rejected [refusal is of the latest attempt, not the bank has it, not another attempt may arrive] → FAILED',
    ],
    lacks: ['idempotent-payout'],
    play: async (stage) => {
      await stage.paid()
      const id = await stage.payout(STANDING)
      await stage.pass(19)
      stage.write(id, { call: 'refuses', ask: 'silent' })
      await stage.pass(5)
    },
  },
  {
    name: 'a payout is given back in doubt, as no byte of it ever left',
    reaches: [
      'cash_out cash-out.states.10 RECONCILIATION_REQUIRED:no_answer clock.released [nothing of it left, it was tried for 30 minutes, not the bank has it] → RELEASED',
    ],
    lacks: ['idempotent-payout'],
    play: async (stage) => {
      await stage.paid()
      await stage.payout({ ...STANDING, standsMs: 35 * MINUTE })
      await stage.pass(40)
    },
  },
  {
    name: 'a payout told by the movement of another one never left, an operator says',
    reaches: ['cash_out outcome_unknown not_executed'],
    lacks: ['query-payout', 'idempotent-payout'],
    play: async (stage) => {
      await stage.paid(2_000)
      const { executions } = await confirmedPayout(stage)
      const id = await stage.payout({ call: 'silent', ask: 'silent' })
      await tellSettled(stage, reportedOrder(stage, id, executions))
      await stage.decide(id, 'movement_elsewhere', 'close')
      await stage.pass(6)
      await stage.decide(id, 'outcome_unknown', 'not_executed')
    },
  },
  {
    name: 'a payout told by the movement of another one left as another amount, an operator says',
    reaches: [
      'cash_out outcome_unknown close',
      'cash_out cash-out.cases.9 RECONCILIATION_REQUIRED:* operator.explained [it is confirmed] → RECONCILIATION_REQUIRED',
    ],
    lacks: ['query-payout', 'idempotent-payout'],
    play: async (stage) => {
      await stage.paid(2_000)
      const { executions } = await confirmedPayout(stage)
      const id = await stage.payout({ call: 'silent', ask: 'silent' })
      await tellSettled(stage, reportedOrder(stage, id, executions))
      await stage.decide(id, 'movement_elsewhere', 'close')
      await confirmedByMore(stage, id)
      await stage.decide(id, 'outcome_unknown', 'close')
    },
  },
  {
    name: 'a payout that the bank had for a day and contradicted is confirmed by what left, an operator says',
    reaches: ['cash_out outcome_unknown close'],
    play: async (stage) => {
      await stage.paid()
      const id = await stage.payout({ call: 'accepts', ask: 'truth' })
      await confirmedOverdue(stage, id)
      await stage.decide(id, 'outcome_unknown', 'close')
    },
  },
  {
    name: 'a payout that the bank had for a day left, an operator says before the bank does',
    reaches: [
      'cash_out cash-out.cases.1 DISPATCHED operator.executed [not its movement is known, not money of it is in suspense] → CONFIRMED',
      'cash_out outcome_unknown executed',
    ],
    play: async (stage) => {
      await stage.paid()
      const id = await stage.payout({ call: 'accepts', ask: 'has it' })
      await stage.pass(25 * 60)
      stage.world.bank.end(stage.orderAtBank(id), true)
      await stage.decide(id, 'outcome_unknown', 'executed')
    },
  },
  {
    name: 'a payout that the bank does not know, while it is not known whether it left',
    reaches: [
      'cash_out cash-out.unknown.5 DISPATCHED partner.not_found [no answer for 15 minutes, not the bank has it] → RECONCILIATION_REQUIRED',
    ],
    play: async (stage) => {
      await stage.paid()
      await stage.payout({ ...STANDING, ask: 'truth' })
      await stage.pass(19)
    },
  },
  {
    name: 'the bank takes a tariff for a payout that was given back',
    reaches: ['cash_out cash-out.tariff.1 RELEASED partner.tariff → RELEASED'],
    play: async (stage) => {
      await stage.paid()
      const id = await stage.payout('suspended')
      await stage.refuse(id)
      stage.world.bank.deductTariff(id)
    },
  },
  {
    name: 'the bank restates what left for a payout that it had refused, and that was written off',
    reaches: ['cash_out cash-out.confirmed.3 FAILED partner.confirmed [movement restated] → RECONCILIATION_REQUIRED'],
    lacks: ['query-payout'],
    play: async (stage) => {
      await stage.paid()
      await leftAfterwards(stage, await stage.payout({ call: 'refuses falsely', ask: 'silent' }))
    },
  },
  {
    name: 'the bank restates what came back for a payout that was refused',
    reaches: [
      'cash_out cash-out.reversal.3 RELEASED partner.returned [return restated] → RELEASED',
      'cash_out cash-out.cases.9 RELEASED operator.explained [not money that arrived is in suspense, not money that left is in suspense] → RELEASED',
      'cash_out cash-out.cases.10 RELEASED operator.asked_again [not no answer settles it] → RELEASED',
    ],
    lacks: ['query-payout'],
    play: async (stage) => {
      // The processes take turns: the other one begins.
      stage.world.chance.pick([0])
      const { id } = await confirmedElsewhere(stage, [400n, 0n], async (order) => {
        stage.world.bank.bringBack(order, 100n, order.executions[0]?.id ?? '')
        await tellReturn(stage, order, 0n)
        await stage.decide(order.id, 'return_in_suspense', 'write_off')
      })
      await stage.refuse(id)
      await tellReturn(stage, stage.orderAtBank(id), 1n)
      await stage.decide(id, 'bank_contradicts', 'ask_again')
      await stage.decide(id, 'bank_contradicts', 'close')
    },
  },
  {
    name: 'the bank restates what came back for a payout that had failed, and left all the same',
    reaches: [
      'cash_out cash-out.reversal.3 FAILED partner.returned [return restated] → FAILED',
      'cash_out cash-out.cases.9 FAILED operator.explained [not money that arrived is in suspense, not money that left is in suspense] → FAILED',
      'cash_out cash-out.cases.10 FAILED operator.asked_again [not no answer settles it] → FAILED',
    ],
    lacks: ['query-payout'],
    play: async (stage) => {
      await stage.paid()
      const order = stage.orderAtBank(await stage.payout({ call: 'refuses falsely', ask: 'silent' }))
      stage.world.bank.end(order, true)
      await stage.settle()
      stage.world.bank.bringBack(order, 100n, order.executions[0]?.id ?? '')
      await tellReturn(stage, order, 0n)
      await stage.decide(order.id, 'return_in_suspense', 'write_off')
      await stage.decide(order.id, 'debit_in_suspense', 'write_off')
      await tellReturn(stage, order, 1n)
      await stage.decide(order.id, 'bank_contradicts', 'ask_again')
      await stage.decide(order.id, 'bank_contradicts', 'close')
    },
  },
  {
    name: 'of a payout under way the bank tells nothing but what was decided to be another’s',
    reaches: [
      'cash_out cash-out.states.15 DISPATCHED clock.overdue [the bank has had it for a day] → DISPATCHED',
      'cash_out outcome_unknown',
    ],
    play: async (stage) => {
      await confirmedElsewhere(stage, [401n, 1n])
    },
  },
  {
    name: 'a return without its id is of the amount of one that was written off',
    reaches: ['cash_out cash-out.reversal.5 CONFIRMED partner.returned [return may be known] → CONFIRMED'],
    lacks: ['query-payout'],
    play: async (stage) => {
      await stage.paid(2_000)
      const order = await confirmedPayout(stage)
      stage.world.bank.book.lies.add(order.id)
      stage.world.bank.bringBack(order, 500n, order.executions[0]?.id ?? '')
      await tellReturn(stage, order, 0n)
      await stage.decide(order.id, 'return_in_suspense', 'write_off')
      await tellUnnamed(stage, order, 500n)
    },
  },
  {
    name: 'a return of another payout is told of one that came back',
    reaches: [
      'cash_out cash-out.states.16 REVERSED partner.returned [movement belongs to another operation] → RECONCILIATION_REQUIRED',
    ],
    lacks: ['query-payout'],
    play: async (stage) => {
      await stage.paid(2_000)
      const order = await confirmedPayout(stage)
      stage.world.bank.comeBack(order, 2)
      await stage.settle()
      await returnElsewhere(stage, order)
    },
  },
  {
    name: 'the bank contradicts a payout that came back',
    reaches: [
      'cash_out cash-out.confirmed.2 REVERSED send.contradicted → REVERSED',
      'cash_out cash-out.cases.9 REVERSED operator.explained [not money that arrived is in suspense, not money that left is in suspense] → REVERSED',
      'cash_out cash-out.cases.10 REVERSED operator.asked_again [not no answer settles it] → REVERSED',
    ],
    play: async (stage) => {
      await stage.paid(2_000)
      const order = await confirmedPayout(stage)
      stage.world.bank.comeBack(order, 2)
      await stage.settle()
      stage.write(order.id, { ask: 'contradicts' })
      await stage.nudge(order.id)
      await stage.decide(order.id, 'bank_contradicts', 'ask_again')
      await stage.decide(order.id, 'bank_contradicts', 'close')
    },
  },
  {
    name: 'more of a payout comes back, without its id',
    reaches: ['cash_out cash-out.reversal.5 REVERSED partner.returned [return has no id] → RECONCILIATION_REQUIRED'],
    lacks: ['query-payout'],
    play: async (stage) => {
      await stage.paid(2_000)
      const order = await confirmedPayout(stage)
      stage.world.bank.comeBack(order, 2)
      await stage.settle()
      await tellUnnamed(stage, order, 100n)
    },
  },
]
