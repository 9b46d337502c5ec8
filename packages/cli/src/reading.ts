import { usageError } from './failure.ts'

/** The first items of a list. */
export async function firstOf<Item>(list: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of list) if (found.push(item) >= count) break
  return found
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `1h`, `30m` and `2d` ago, or an instant. @throws Failure used wrongly */
export function instantOf(text: string, option: string, now = Date.now()): string {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? []
  if (count) return new Date(now - Number(count) * UNITS[unit as keyof typeof UNITS]).toISOString()
  const at = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at)) throw usageError(`--${option} must be a duration such as 30m, 1h or 2d, or an instant`)
  return new Date(at).toISOString()
}
