import { Closes } from './closes.ts'
import { Driver } from './driver.ts'
import { beCalm, beginEpisode, standStill } from './episodes.ts'
import { assertQuiet } from './quiet.ts'
import { makeTrouble } from './trouble.ts'
import { Violation } from './violation.ts'
import { World, type WorldOptions } from './world.ts'

/** One run: trouble, then quiet, then the books against the bank's. */

/** How long a run goes on in trouble, in steps. */
const STEPS = 2_000
/** How many steps it may take until all is quiet. */
const QUIET_STEPS = 60_000

/** So long nothing new may happen: the statement is read some times more. */
const REST_MS = 40 * 60_000
/** Whatever the bank has under way has ended by then. */
const LONGEST_MS = 27 * 60 * 60_000

/** A run's end. */
export interface RunResult {
  readonly seed: number
  readonly steps: number
  readonly operations: number
  /** What did not hold; absent: everything did. */
  readonly failure?: unknown
}

/** Runs a seed. */
export async function run(seed: number, options: WorldOptions = {}): Promise<RunResult> {
  const world = new World(seed, options)
  options.onWorld?.(world)
  const driver = new Driver(world)
  const closes = new Closes(world)
  const endWatch = options.coverage ? () => undefined : world.coverage.watch()
  const isTroubled = world.nature === 'lying' && (world.isCalm || world.chance.bool(0.8))
  const deciding = world.chance.pick([0.02, 0.05, 0.15])
  const asking = world.chance.pick(world.isCalm ? [0.03, 0.06] : [0.015, 0.04])
  const idling = isTroubled && !world.isCalm ? world.chance.pick([0, 0.02, 0.03]) : 0
  if (world.isCalm) beCalm(world)
  let steps = 0
  try {
    for (; steps < STEPS; steps++) {
      if (world.tables.operations.size < 50 && world.chance.bool(asking)) driver.ask()
      if (world.chance.bool(0.05)) world.chatter()
      if (world.faults.hit('suspended', 0.002)) toggle(world)
      if (world.chance.bool(deciding)) driver.decide()
      if (world.chance.bool(idling)) standStill(world, world.chance.below(4 * 60_000))
      if (isTroubled && world.chance.bool(world.isCalm ? 0.003 : 0.01)) makeTrouble(world)
      if (isTroubled && world.chance.bool(0.012)) beginEpisode(world)
      await driver.step()
      closes.look()
    }
    steps += await assertRest(driver, closes)
    return { seed, steps, operations: world.tables.operations.size }
  } catch (failure) {
    world.say(`FOUND ${failure instanceof Error ? failure.message : String(failure)}`)
    return { seed, steps, operations: world.tables.operations.size, failure }
  } finally {
    endWatch()
  }
}

/**
 * All comes to rest, without another fault; then our books are held against the bank's.
 * @returns how many steps that took
 * @throws Violation where something does not hold
 */
export async function assertRest(driver: Driver, closes: Closes): Promise<number> {
  const steps = await comeToRest(driver, closes)
  assertQuiet(driver.world, driver.merchant)
  closes.atRest()
  return steps
}

async function comeToRest(driver: Driver, closes: Closes): Promise<number> {
  const { world } = driver
  world.say('no more faults')
  world.faults.isOn = false
  driver.resumeAll()
  world.setSwitch(true)
  const from = world.now
  let [restingSince, dueCount]: [number | undefined, number] = [undefined, 0]
  for (let steps = 0; steps < QUIET_STEPS; steps++) {
    await driver.step()
    closes.look()
    if (!driver.isIdle) continue
    // A doubt that ends is something new: the statement is read after it.
    if (!driver.isAtRest || driver.dueCount !== dueCount) restingSince = undefined
    else restingSince ??= world.now
    dueCount = driver.dueCount
    const isLongEnough = driver.nextAt() === Number.POSITIVE_INFINITY || world.now - from > LONGEST_MS
    if (restingSince !== undefined && isLongEnough && world.now - restingSince > REST_MS) return steps
  }
  throw new Violation('I12', `it does not come to rest: next at ${new Date(driver.nextAt()).toISOString()}`)
}

function toggle(world: World): void {
  world.setSwitch(world.tables.controls.get('cash_out_switch')?.value.enabled !== true)
}
