import type { PartnerCapability } from '../../src/banks/port.ts'
import { Coverage } from './coverage.ts'
import { SCENES_OF_CHARGES } from './scenes-of-charges.ts'
import { SCENES_OF_PAYOUTS } from './scenes-of-payouts.ts'
import { SCENES_OF_REFUNDS } from './scenes-of-refunds.ts'
import { Stage } from './stage.ts'
import type { Say } from './world.ts'

/** What is reached by one order of events alone: each of these scenes plays it out. */

/** A scene. */
export interface Scene {
  readonly name: string
  /** What it is played for, by the names that coverage.ts gives. */
  readonly reaches: readonly string[]
  /** What its bank cannot do. */
  readonly lacks?: readonly PartnerCapability[]
  readonly play: (stage: Stage) => Promise<void>
}

/** All of them. */
export const SCENES: readonly Scene[] = [...SCENES_OF_CHARGES, ...SCENES_OF_PAYOUTS, ...SCENES_OF_REFUNDS]

/**
 * Plays a scene, until all has come to rest after it.
 * @param say is told each thing that happens, in words
 * @returns what it reached
 * @throws Error where something did not hold, or it did not reach what it is played for
 */
export async function played({ name, reaches, lacks, play }: Scene, say?: Say): Promise<Coverage> {
  const coverage = new Coverage()
  const end = coverage.watch()
  const stage = new Stage({ coverage, lacks, say })
  try {
    await play(stage)
    await stage.end()
  } catch (cause) {
    throw new Error(`in the scene «${name}»: ${cause}`, { cause })
  } finally {
    end()
  }
  const missing = reaches.filter((one) => !coverage.reached.has(one))
  if (missing.length > 0) throw new Error(`the scene «${name}» does not reach ${missing.join(', ')}`)
  return coverage
}
