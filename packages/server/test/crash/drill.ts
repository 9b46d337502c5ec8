import { suite, test } from 'node:test'
import { rotated, SEED } from '../support/seed.ts'
import type { BankOptions } from './bank.ts'
import { crashAt, type Scenario } from './crash.ts'
import { crashWorld } from './world.ts'

/** Distance between the pieces with which two neighbouring scenarios begin. */
const STRIDE = 7

/**
 * Declares a crash of each scenario: every piece of bytes that crosses a link of the service (database, bank, merchants)
 * is lost in its turn, and the process with it. One in `oneIn` pieces is tried, all with `--every-piece`; the seed decides
 * which.
 */
export function crashes(
  connector: NonNullable<BankOptions['connector']>,
  scenarios: readonly Scenario[],
  oneIn: number,
): void {
  const step = process.env.PIXGATE_TEST_EVERY_PIECE === '1' ? 1 : oneIn
  let runs = 0
  suite(`[P1] [P2] [P4] at ${connector}: a process dies anywhere`, () => {
    for (const scenario of rotated(scenarios)) {
      for (const isBeside of [false, true]) {
        const who = isBeside ? 'another works beside it' : 'another takes over'
        const first = 1 + ((SEED + runs * STRIDE) % step)
        runs += 1
        test(`${scenario.name}, and ${who}`, async (t) => {
          const world = await crashWorld(t, { connector })
          let piece = first
          while (await crashAt(world, scenario, { piece, isBeside })) piece += step
          t.diagnostic(`of ${piece - 1} pieces ${(piece - first) / step} were lost, one in ${step}`)
        })
      }
    }
  })
}
