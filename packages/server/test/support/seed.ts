/** Seed of the drills: `npm run test:deep` prints it and derives it from the commit. */
export const SEED = Number(process.env.PIXGATE_TEST_SEED ?? 1)
