import type { StatementEntry } from '../banks/port.ts'

/** What tells the tariffs of one payout apart: a bank gives them no ids. Pure. */

/** What a tariff says of itself. */
export type NamedTariff = Pick<StatementEntry, 'reference' | 'endToEndId' | 'valueCents' | 'occurredAt'>

/**
 * Names the tariffs of a page. The first that is kept of a payout bears the payout's id, as where there is only one; any
 * other one bears besides what it says of itself, and its place among those of the page that say the same. So each has the same
 * name in every reading, whatever window it is read in.
 * @param kept those that bear the bare id of their payout by now
 * @source rules#statement.4
 */
export function withTariffNames(entries: readonly StatementEntry[], kept: readonly NamedTariff[]): StatementEntry[] {
  const first = new Map(kept.map((tariff) => [tariff.reference, textOf(tariff)]))
  const seen = new Map<string, number>()
  return entries.map((entry) => {
    if (entry.kind !== 'TARIFF') return entry
    const { reference } = entry
    const text = textOf(entry)
    const place = (seen.get(text) ?? 0) + 1
    seen.set(text, place)
    if (!first.has(reference)) first.set(reference, text)
    const isFirst = place === 1 && first.get(reference) === text
    return { ...entry, movementId: isFirst ? reference : `${text} ${place}` }
  })
}

function textOf({ reference, endToEndId, valueCents, occurredAt }: NamedTariff): string {
  return `${reference} ${endToEndId} ${valueCents} ${new Date(occurredAt).toISOString()}`
}
