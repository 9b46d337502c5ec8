import type { BankOrder } from './bank-book.ts'
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

/** See above. */
export const SCENES_OF_REFUNDS: readonly Scene[] = [
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
