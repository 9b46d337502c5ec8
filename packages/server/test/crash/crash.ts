import assert from 'node:assert/strict'
import { realPause } from '../../src/platform/jobs/pause.ts'
import { assertBooks } from '../support/books.ts'
import { outcomesOf } from '../support/unfinished.ts'
import type { Node } from './node.ts'
import { type CrashWorld, heldOf } from './world.ts'

/** What is done at a node that dies somewhere on the way, and how it must end whoever does the rest. */
export interface Scenario {
  readonly name: string
  /** Whether a bank that pays nothing out has no part in it. */
  readonly sendsMoney?: boolean
  /** What is there before; nobody dies here. @param n tells runs apart */
  prepare?(world: CrashWorld, n: string): Promise<string>
  /** What merchants, payers and operators do. @param prepared what {@link prepare} resolved with @returns the operations that it is about */
  act(world: CrashWorld, n: string, prepared: string): Promise<readonly string[]>
  /** What is done once at a node, where it is more than what is always due. */
  work?(node: Node): Promise<void>
  /** What must hold besides when everything has come to its end, also after the dead one woke up. @throws AssertionError */
  check?(world: CrashWorld, n: string, prepared: string): Promise<void>
  /** The status of each, with the notifications that were made, and how many movements each had at the bank. */
  readonly ends: readonly { readonly status: string; readonly notified: readonly string[]; readonly moved: number }[]
}

/** Later than every lease that a dead process leaves. */
const LATER_MS = 90_000

/** The node that may die works so often at most, and time is put forward by so much in between. */
const STEPS_MAX = 60
const STEP_MS = 5_000

const GLANCE_MS = 3

/** Where a node dies. */
export interface Crash {
  /** The piece of bytes, on any of its links, that is lost with it: counted from the scenario's beginning. */
  readonly piece: number
  /** Whether the survivor works beside it from the beginning, instead of taking over. */
  readonly isBeside: boolean
}

/**
 * Runs a scenario once, at a node that dies on the way; the survivor does the rest, and in the end the dead one wakes up as it was,
 * and goes on with what it was about to do.
 * @returns whether it died: not where the scenario had ended before that piece
 */
export async function crashAt(world: CrashWorld, scenario: Scenario, crash: Crash): Promise<boolean> {
  const ends: (() => unknown)[] = []
  const node = await world.start({ after: (end) => void ends.push(end as () => unknown) })
  runs += 1
  const n = String(runs)
  let prepared = ''
  try {
    prepared = (await scenario.prepare?.(world, n)) ?? ''
    await runOn(node, world, scenario, { crash, n, prepared })
  } catch (error) {
    throw new Error(`a node died with piece ${crash.piece} lost (${node.lastWords()})`, { cause: error })
  } finally {
    world.lead(world.survivor)
    node.wake()
    await node.stop()
    for (const end of ends) await end()
  }
  await assertBooks(world.database)
  await scenario.check?.(world, n, prepared)
  return node.lastWords() !== ''
}

let runs = 0

interface Run {
  readonly crash: Crash
  readonly n: string
  readonly prepared: string
}

async function runOn(node: Node, world: CrashWorld, scenario: Scenario, { crash, n, prepared }: Run): Promise<void> {
  await world.finish()
  world.lead(node)
  node.dieAt(crash.piece)
  const acting = scenario.act(world, n, prepared)
  await worked(node, world, scenario, { acting, isBeside: crash.isBeside })
  const ids = await acting
  world.lead(world.survivor)
  world.clock.advance(LATER_MS)
  await world.finish()
  await assertEnds(world, scenario, ids)
}

/** Works until what was begun has been asked for, and as long as the node lives until nothing is left to do. */
async function worked(
  node: Node,
  world: CrashWorld,
  { work = (at: Node) => at.work() }: Scenario,
  { acting, isBeside }: { readonly acting: Promise<unknown>; readonly isBeside: boolean },
): Promise<void> {
  let hasActed = false
  const noteActed = () => {
    hasActed = true
  }
  void acting.then(noteActed, noteActed)
  for (let step = 0; step < STEPS_MAX && !(hasActed && node.isDead()); step += 1) {
    if (!node.isDead()) await Promise.race([work(node), untilDead(node)])
    if (isBeside || node.isDead()) await work(world.survivor)
    if (hasActed && (await world.left()).length === 0) return
    world.clock.advance(STEP_MS)
    await realPause.for(GLANCE_MS)
  }
}

async function untilDead(node: Node): Promise<void> {
  while (!node.isDead()) await realPause.for(GLANCE_MS)
}

async function assertEnds(world: CrashWorld, { ends }: Scenario, ids: readonly string[]): Promise<void> {
  const { database, book, assertOfTheStandard } = world
  assertOfTheStandard()
  await assertBooks(database)
  const outcomes = await outcomesOf(database, ids)
  const { entries } = await book()
  const seen = ids.map((id) => {
    const outcome = outcomes.find((one) => one.id === id)
    return {
      ...{ status: outcome?.status, notified: outcome?.notified, cases: outcome?.cases },
      moved: entries.filter(({ reference }) => reference === id).length,
    }
  })
  assert.deepEqual(
    seen,
    ends.map((end) => ({ ...end, cases: [] })),
  )
  const { there, here } = await heldOf(database, world)
  assert.equal(there, here, 'the bank holds what our books say it holds')
}
