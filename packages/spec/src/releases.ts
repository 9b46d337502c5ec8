import { type JournalKind, type JournalTemplate, journals, type Variable } from './ledger.ts'

/** Effect of a journal that increases the merchant's available money: it releases a hold, or credits money. */
export type Release = 'hold' | 'credit'

/**
 * The journals that increase the merchant's available money, derived from their postings.
 * @source rules#ledger.releases
 */
export const releases: Readonly<Partial<Record<JournalKind, Release>>> = Object.fromEntries(
  Object.entries(journals).flatMap(([kind, template]) => {
    if (!grows(template, 'available')) return []
    return [[kind, template.postings.some(({ account }) => account === 'reserved') ? 'hold' : 'credit']]
  }),
)

/** Whether an account gains more terms than it loses. */
function grows({ postings }: JournalTemplate, code: string): boolean {
  const net = new Map<string, number>()
  for (const { account, amount } of postings) {
    if (account !== code) continue
    for (const [name, sign] of Object.entries(amount) as [Variable, 1 | -1][])
      net.set(name, (net.get(name) ?? 0) + sign)
  }
  return [...net.values()].some((sum) => sum > 0)
}
