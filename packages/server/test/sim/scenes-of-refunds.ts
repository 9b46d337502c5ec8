import assert from 'node:assert/strict'
import type { BankOrder, PaidIn } from './bank-book.ts'
import { failedEvent } from './bank-events.ts'
import { confirmedByMore, confirmedOverdue, MINUTE, reportedOrder, STANDING, tellSettled } from './order-scenes.ts'
import type { Scene } from './scenes.ts'
import type { Stage } from './stage.ts'

/** Scenes of refunds. */

/** A refund that was carried out. @returns it at the bank */
async function confirmedRefund(stage: Stage): Promise<BankOrder> {
  const order = stage.orderAtBank(await stage.refund(await stage.paid()))
  stage.world.bank.end(order, true)
  await stage.settle()
  return order
}

/** States without a credited payment that a charge has after the end of a doubt. */
const UNPAID = ['PENDING', 'PROVIDER_RESULT_UNKNOWN', 'EXPIRED', 'FAILED'] as const
type Unpaid = (typeof UNPAID)[number]

function differentlyPaid(stage: Stage, id: string): PaidIn {
  const charge = stage.atBank(id)
  return stage.world.bank.pay(charge, charge.valueCents + 500n) as PaidIn
}

/** A charge that awaits its payment by a bank whose answer contradicted it before. */
async function contradicted(stage: Stage): Promise<string> {
  const id = await stage.charge({ call: 'silent', ask: 'contradicts' })
  const { valueCents, expiresAt } = stage.operation(id)
  stage.world.bank.acceptCharge(id, { valueCents, expiresAt: expiresAt ?? 0 })
  await stage.pass(1)
  stage.write(id, { ask: 'truth' })
  return id
}

/**
 * A charge whose payment the bank returned by itself, while a refund that the bank had refused may explain that return. An operator
 * wrote the payment off, so the charge is not in doubt.
 * @returns the refund at the bank, which has taken it all the same
 */
async function returnedInDoubt(stage: Stage, state: Unpaid): Promise<BankOrder> {
  const isAwaited = state === 'PENDING' || state === 'PROVIDER_RESULT_UNKNOWN'
  const id = isAwaited ? await contradicted(stage) : await stage.charge({ minutes: 2 })
  const payment = differentlyPaid(stage, id)
  await stage.settle()
  const refund = await stage.returnToPayer(id, { call: 'refuses falsely', ask: 'silent' })
  if (state === 'EXPIRED') await stage.pass(3)
  const charge = stage.atBank(id)
  stage.world.bank.forceReturnAs(charge, payment, payment.valueCents, charge.transactionId)
  await stage.settle()
  await stage.decide(id, 'payment_in_suspense', 'write_off')
  if (state !== 'PENDING') stage.write(id, { ask: 'silent' })
  if (isAwaited) {
    await stage.pass(1)
    await stage.decide(id, 'charge_unclear', 'ask_again')
  }
  assert.equal(stage.operation(id).status, state)
  return stage.orderAtBank(refund)
}

/** Scenes of a return that is in doubt after the doubt about its charge has ended. */
function scenesOfReturn(state: Unpaid): Scene[] {
  const row = (rule: string, on: string) => `cash_in cash-in.${rule} ${state} ${on} → ${state}`
  const ended = (isDone: boolean) => async (stage: Stage) => {
    const order = await returnedInDoubt(stage, state)
    stage.write(order.id, { ask: 'truth' })
    stage.world.bank.end(order, isDone)
    await stage.pass(2)
  }
  return [
    {
      name: `a return of a ${state} charge is no refund, as that had failed`,
      reaches: [row('returns.3', 'refund.answered'), row('returns.5', 'return.known')],
      lacks: ['cancel-charge'],
      play: ended(false),
    },
    {
      name: `a return of a ${state} charge is no refund, as that left besides`,
      reaches: [row('refunds.4', 'refund.taken'), row('refunds.8', 'refund.named')],
      lacks: ['cancel-charge'],
      play: ended(true),
    },
    {
      name: `a return of a ${state} charge is not explained in time`,
      reaches: [row('returns.4', 'return.unexplained')],
      lacks: ['cancel-charge'],
      play: async (stage) => {
        await returnedInDoubt(stage, state)
        await stage.pass(16)
      },
    },
  ]
}

/** A charge without a payment, in this state. */
async function unpaid(stage: Stage, state: Unpaid): Promise<string> {
  const isUnknown = state === 'PROVIDER_RESULT_UNKNOWN'
  const id = await stage.charge(isUnknown ? { call: 'silent', ask: 'silent' } : { minutes: 1 })
  const { valueCents, expiresAt } = stage.operation(id)
  stage.world.bank.acceptCharge(id, { valueCents, expiresAt: expiresAt ?? 0 })
  if (state === 'EXPIRED') await stage.pass(2)
  if (state === 'FAILED') stage.write(id, { ask: 'fails' })
  if (state === 'FAILED') await stage.nudge(id)
  assert.equal(stage.operation(id).status, state)
  stage.write(id, { ask: 'truth' })
  return id
}

/**
 * A process learns how a refund ended while it has an older version of the charge, without its payment: it decides by that version,
 * and its commit is refused.
 */
function sceneOfOldCharge(state: Unpaid, isDone: boolean): Scene {
  const row = isDone ? 'refunds.2 STATE refund.confirmed' : 'refunds.3 STATE refund.released'
  return {
    name: `a process has an old ${state} charge when its refund ${isDone ? 'is confirmed' : 'fails'}`,
    reaches: [`cash_in cash-in.${row.replace('STATE', state)} → ${state}`],
    lacks: ['cancel-charge', 'query-refund'],
    play: async (stage) => {
      stage.workAlone(0)
      const id = await unpaid(stage, state)
      stage.workAlone(1)
      differentlyPaid(stage, id)
      await stage.settle()
      const order = stage.orderAtBank(await stage.returnToPayer(id))
      stage.workAlone(0)
      stage.world.bank.end(order, isDone)
      await stage.settle()
    },
  }
}

/** See above. */
export const SCENES_OF_REFUNDS: readonly Scene[] = [
  ...UNPAID.flatMap(scenesOfReturn),
  ...UNPAID.flatMap((state) => [sceneOfOldCharge(state, true), sceneOfOldCharge(state, false)]),
  {
    name: 'a refund left, an operator says while the movement of another one is still told of it',
    reaches: [
      'refund_in refund-in.cases.1 PENDING:* operator.executed [another case is open, not its movement is known, not money of it is in suspense, not its payment is not in suspense any more] → CONFIRMED',
    ],
    lacks: ['query-refund', 'idempotent-refund'],
    play: async (stage) => {
      const { executions } = await confirmedRefund(stage)
      const id = await stage.refund(await stage.paid(), { call: 'contradicts', ask: 'silent' })
      await tellSettled(stage, reportedOrder(stage, id, executions))
      stage.world.bank.end(stage.orderAtBank(id), true)
      await stage.decide(id, 'outcome_unknown', 'executed')
      await stage.decide(id, 'movement_elsewhere', 'close')
    },
  },
  {
    name: 'a refund is refused in doubt, after no byte of it had left',
    reaches: [
      'refund_in refund-in.states.4 PENDING:no_answer send.rejected [refusal is of the latest attempt, not the bank has it, not another attempt may arrive] → FAILED',
    ],
    lacks: ['idempotent-refund'],
    play: async (stage) => {
      const id = await stage.refund(await stage.paid(), STANDING)
      await stage.pass(19)
      stage.write(id, { call: 'refuses', ask: 'silent' })
      await stage.pass(5)
    },
  },
  {
    name: 'a refund told by the movement of another one left as another amount, an operator says',
    reaches: [
      'refund_in outcome_unknown close',
      'refund_in refund-in.cases.7 CONFIRMED:* operator.explained → CONFIRMED',
    ],
    lacks: ['query-refund', 'idempotent-refund'],
    play: async (stage) => {
      const { executions } = await confirmedRefund(stage)
      const id = await stage.refund(await stage.paid(), { call: 'silent', ask: 'silent' })
      await tellSettled(stage, reportedOrder(stage, id, executions))
      await stage.decide(id, 'movement_elsewhere', 'close')
      await confirmedByMore(stage, id)
      await stage.decide(id, 'outcome_unknown', 'close')
    },
  },
  {
    name: 'a refund that the bank had for a day and contradicted is confirmed by what left, an operator says',
    reaches: ['refund_in outcome_unknown close'],
    play: async (stage) => {
      const id = await stage.refund(await stage.paid(), { call: 'accepts', ask: 'truth' })
      await confirmedOverdue(stage, id)
      await stage.decide(id, 'outcome_unknown', 'close')
    },
  },
  {
    name: 'a refund that the bank contradicted never left, an operator says',
    reaches: ['refund_in outcome_unknown not_executed'],
    play: async (stage) => {
      const id = await stage.refund(await stage.paid(), { call: 'contradicts', ask: 'silent' })
      stage.world.bank.end(stage.orderAtBank(id), false)
      await stage.pass(6)
      await stage.decide(id, 'outcome_unknown', 'not_executed')
    },
  },
  {
    name: 'a refund that nobody sent, and that an event confirms, never left, an operator says',
    reaches: ['refund_in outcome_unknown not_executed'],
    play: async (stage) => {
      const id = await stage.refund(await stage.paid(), 'suspended')
      await tellSettled(stage, reportedOrder(stage, id, [{ id: 'D1', at: stage.world.now }]))
      await stage.decide(id, 'outcome_unknown', 'not_executed')
    },
  },
  {
    name: 'a refund that nobody sent, and that an event confirms, left as another amount, an operator says',
    reaches: ['refund_in outcome_unknown close'],
    play: async (stage) => {
      const id = await stage.refund(await stage.paid(), 'suspended')
      await tellSettled(stage, reportedOrder(stage, id, [{ id: 'D1', at: stage.world.now }]))
      await confirmedByMore(stage, id)
      await stage.decide(id, 'outcome_unknown', 'close')
    },
  },
  {
    name: 'a refund that was refused is told by a return of the bank’s own',
    reaches: ['refund_in refund-in.doubt.3 FAILED:* partner.confirmed [return was booked before] → FAILED'],
    play: async (stage) => {
      const cashIn = await stage.paid()
      const id = await stage.refund(cashIn, { call: 'refuses', ask: 'truth' })
      const charge = stage.atBank(cashIn)
      for (const payment of charge.payments) {
        const { returnId } = stage.world.bank.forceReturnAs(charge, payment, 300n, 'R1')
        await stage.settle()
        const order = stage.orderAtBank(id)
        order.state = 'CONFIRMED'
        order.executions.push({ id: returnId, at: stage.world.now })
      }
      await stage.nudge(id)
    },
  },
  {
    name: 'a refund that nobody sent is refused, after answers about it were missing',
    reaches: [
      'refund_in refund-in.states.11 PENDING:no_answer operator.refused [it was never claimed, not the bank has it] → FAILED',
      'refund_in refund-in.doubt.2 PENDING:no_answer partner.failed [it was never claimed] → PENDING',
    ],
    play: async (stage) => {
      const { executions } = await confirmedRefund(stage)
      const id = await stage.refund(await stage.paid(), 'suspended')
      const order = stage.orderAtBank(id)
      order.executions.push(...executions)
      await tellSettled(stage, order)
      stage.write(id, { ask: 'silent', standsMs: 20 * MINUTE })
      await stage.nudge(id)
      stage.write(id, { ask: 'silent', standsMs: 5 * MINUTE })
      await stage.pass(1)
      stage.resume()
      await stage.decide(id, 'movement_elsewhere', 'close')
      await stage.pass(20)
      await stage.tell(failedEvent('refund', order, stage.world.now))
      await stage.refuse(id)
    },
  },
]
