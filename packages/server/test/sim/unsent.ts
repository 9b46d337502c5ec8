import type { Operation } from '../../src/engine/operation.ts'
import type { BankOrder } from './bank-book.ts'
import type { World } from './world.ts'

/**
 * The bank's order of an operation, also where nobody sent it: then the bank takes it now, by itself.
 * @param moreCents by which what it takes is more than what was asked for
 */
export function orderAtBank(
  { bank }: Pick<World, 'bank'>,
  { id, kind, valueCents, detail, endToEndId }: Operation,
  moreCents = 0n,
): BankOrder {
  bank.book.lies.add(id)
  const known = bank.book.orders.get(id)
  if (known) return known
  const asked = {
    kind: kind === 'cash_out' ? 'payout' : 'refund',
    id,
    valueCents: valueCents + moreCents,
    chargeId: String(detail.cashInId ?? ''),
    paymentId: endToEndId ?? '',
  } as const
  const order = bank.acceptOrder(asked)
  order.isOrdered = false
  return order
}
