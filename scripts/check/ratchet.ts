/** Allowed values above the limit, by name. */
export type Allowances = Readonly<Record<string, number>>

/**
 * Values above the limit must be allowed by name and may not grow; an allowance that is no longer needed is a problem.
 * @param today current values by name
 * @param where the file with the allowances
 */
export function ratchetProblems(
  today: Allowances,
  allowed: Allowances,
  { limit, unit, where }: { readonly limit: number; readonly unit: string; readonly where: string },
): string[] {
  const tooMuch = Object.entries(today)
    .filter(([name, count]) => count > Math.max(limit, allowed[name] ?? 0))
    .map(([name, count]) => `${name}: ${count} ${unit}, allowed are ${Math.max(limit, allowed[name] ?? 0)}`)
  const listedInVain = Object.keys(allowed)
    .filter((name) => (today[name] ?? 0) <= limit)
    .map((name) => `${name} is within the limit; take it out of ${where}`)
  return [...tooMuch, ...listedInVain]
}
