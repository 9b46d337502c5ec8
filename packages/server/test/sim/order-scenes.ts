import type { BankOrder } from './bank-book.ts'
import { settledEvent } from './bank-events.ts'
import type { Stage } from './stage.ts'

/** What scenes of payouts and refunds have in common. */

/** Milliseconds. */
export const MINUTE = 60_000

/** The bank tells that an order was carried out. */
export function tellSettled(stage: Stage, order: BankOrder): Promise<void> {
  const [execution] = order.executions
  const what = `${execution?.id} of ${order.valueCents}`
  return execution
    ? stage.tell({ ...settledEvent(order, execution), what })
    : Promise.reject(new Error('it was not carried out'))
}

/** An order that the bank does not have, as it tells that it was carried out. */
export function reportedOrder(stage: Stage, id: string, executions: BankOrder['executions']): BankOrder {
  const { kind, valueCents, endToEndId } = stage.operation(id)
  const { book } = stage.world.bank
  book.lies.add(id)
  return {
    kind: kind === 'cash_out' ? 'payout' : 'refund',
    id,
    transactionId: book.name('T'),
    valueCents,
    chargeId: '',
    paymentId: endToEndId ?? '',
    acceptedAt: stage.world.now,
    state: 'CONFIRMED',
    executions,
    returns: [],
    isOrdered: false,
  }
}

/** One centavo more than was asked for leaves for a payout or refund: that confirms it, an operator says. */
export async function confirmedByMore(stage: Stage, id: string): Promise<void> {
  stage.world.bank.end(stage.orderAtBank(id, 1n), true)
  await stage.settle()
  await stage.decide(id, 'debit_in_suspense', 'executed')
}

/** The bank has a payout or refund for a day, contradicts it, and carries it out: that confirms it, an operator says. */
export async function confirmedOverdue(stage: Stage, id: string): Promise<void> {
  await stage.pass(25 * 60)
  stage.write(id, { ask: 'contradicts' })
  await stage.nudge(id)
  stage.write(id, { ask: 'truth' })
  stage.world.bank.end(stage.orderAtBank(id), true)
  await stage.settle()
  await stage.decide(id, 'debit_in_suspense', 'executed')
}

/** No byte leaves, and the process that knows it stands still; nobody answers what became of it. */
export const STANDING = { call: 'unreachable', ask: 'silent', standsMs: 20 * MINUTE } as const
