/** Seed of properties and drills, derived from the commit; `npm run test:deep` prints it. */
export const SEED = Number(process.env.PIXGATE_TEST_SEED ?? 1)

/** The same, beginning elsewhere for each seed: a drill that is stopped early has not always done the same part. */
export function rotated<T>(all: readonly T[]): readonly T[] {
  const first = SEED % all.length
  return [...all.slice(first), ...all.slice(0, first)]
}
