import { boundsOf, dayAfter } from '../../../platform/sao-paulo.ts'
import type { StatementFile } from '../file.ts'
import type { DayBalance } from './store.ts'

/** What a file says of its days but the last one, by its own movements. Pure. @source rules#import.5 */
export function balancesWithin({ firstDay, lastDay, openingCents, entries }: StatementFile): DayBalance[] {
  const sorted = entries.toSorted((one, other) => one.occurredAt - other.occurredAt)
  const balances: DayBalance[] = []
  let [cents, next] = [openingCents, 0]
  for (let day = firstDay; day < lastDay; day = dayAfter(day)) {
    const at = boundsOf(day).to
    for (let entry = sorted[next]; entry && entry.occurredAt < at; entry = sorted[next]) {
      cents += entry.direction === 'in' ? entry.valueCents : -entry.valueCents
      next += 1
    }
    balances.push({ at, cents })
  }
  return balances
}
