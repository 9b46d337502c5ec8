import type { Entry } from './postings.ts'

/** What the merchant owes, by the operation that made the debt, oldest first, as a batch leaves it. @source rules#ledger.recover */
export class Debts {
  readonly #owedOf: Map<string, bigint>

  constructor(owedOf: ReadonlyMap<string, bigint>) {
    this.#owedOf = new Map(owedOf)
  }

  /** Counts an entry of the account of debts. */
  note({ operationId, amountCents }: Pick<Entry, 'operationId' | 'amountCents'>): void {
    const owed = (this.#owedOf.get(operationId) ?? 0n) - amountCents
    if (owed === 0n) this.#owedOf.delete(operationId)
    else this.#owedOf.set(operationId, owed)
  }

  /** The same with these entries; this stays as it is. */
  after(entries: readonly Entry[]): Debts {
    const debts = new Debts(this.#owedOf)
    for (const entry of entries) if (entry.account === 'receivable') debts.note(entry)
    return debts
  }

  /** What this much free money repays, the oldest debt first. */
  repayable(freeCents: bigint): { readonly operationId: string; readonly cents: bigint }[] {
    const repayments: { operationId: string; cents: bigint }[] = []
    let left = freeCents
    for (const [operationId, owed] of this.#owedOf) {
      if (left <= 0n) break
      const cents = left < owed ? left : owed
      repayments.push({ operationId, cents })
      left -= cents
    }
    return repayments
  }
}
