import type { CashOutFacts, TariffInput } from './cash-out.ts'

/** What the bank took for a payout by its statement. Pure. */

/** Whether this one was booked. @source rules#statement.4 */
export function isTariffBooked(facts: CashOutFacts, tariffId: string): boolean {
  return (tariffId === '' ? facts.tariffCents : facts.moreTariffs?.[tariffId]) !== undefined
}

/** Facts of a booked tariff. The first, which has no id of its own, stands apart. */
export function tariffFacts(facts: CashOutFacts, { tariffId, tariffCents }: TariffInput): CashOutFacts {
  const cents = Number(tariffCents)
  return tariffId === '' ? { tariffCents: cents } : { moreTariffs: { ...facts.moreTariffs, [tariffId]: cents } }
}
