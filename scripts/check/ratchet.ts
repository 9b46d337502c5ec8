/** What was above its limit when the ratchet was set, and how much: by name. */
export type Allowances = Readonly<Record<string, number>>

/**
 * Holds numbers down: whatever is above the limit must be allowed by name, may not grow, and leaves the list once it is
 * within the limit.
 * @param today every number worth a look, by name
 * @param where the file that holds the allowances
 * @returns one line per problem
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
