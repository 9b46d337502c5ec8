import test from 'node:test'
import fc from 'fast-check'
import { assertExactlyOnce, type EndedCharge } from '../support/exactly-once.ts'
import { type ProcessWorld, processWorld } from '../support/process-world.ts'
import { finished } from '../support/progress.ts'
import type { ServerProcess } from '../support/server-process.ts'

/**
 * The server is killed again and again while merchants create charges, payers pay them and notifications go out; the
 * database, the bank and the receiver stay. In the end everything has happened exactly once.
 */

const KILLS = 50

const MERCHANTS = 8

/** Between the clocks of a process and the next: over are the leases of an intent and of a delivery, but of no event. */
const STEP_MS = 30_000

/** Later than every lease that a dead process leaves. */
const LATER_MS = 90_000

/** A piece of bytes on any link, counted from the start of the process; the process dies with it under way. */
interface Moment {
  readonly piece: number
  readonly isLost: boolean
}

/** A start takes some 250 pieces: a few moments are before the process is ready. */
const moment: fc.Arbitrary<Moment> = fc.noBias(
  fc.record({ piece: fc.integer({ min: 1, max: 1_500 }), isLost: fc.boolean() }),
)

/** Ends a run in which something is waited for in vain. */
const TIMEOUT_MS = 180_000

const moments = fc.array(moment, { minLength: KILLS, maxLength: KILLS })

test('[partner.1] [partner-inbox.3] [events.4] killed at 50 random moments, nothing is lost or doubled', async (t) => {
  const survived = fc.asyncProperty(moments, async (moments) => {
    const world = await processWorld(t)
    let isClosingTime = false
    const selling = Array.from({ length: MERCHANTS }, (_, merchant) => sell(world, merchant, () => isClosingTime))
    const killing = killAtEach(moments, world).then(() => {
      isClosingTime = true
    })
    const [sold] = await Promise.all([Promise.all(selling), killing])
    await finished(world)
    await assertExactlyOnce(world, sold.flat())
  })
  // One run is 50 kills; a shorter list would fail at other moments, so there is nothing to shrink.
  await fc.assert(survived, { numRuns: 1, endOnFailure: true, timeout: TIMEOUT_MS })
})

/** One order after the other, with whatever patience it takes. */
async function sell(world: ProcessWorld, merchant: number, isClosingTime: () => boolean): Promise<EndedCharge[]> {
  const sold: EndedCharge[] = []
  while (!isClosingTime()) {
    const order = { externalId: `order-${merchant}-${sold.length}`, valueCents: 1_00 + sold.length }
    const { id } = await world.charge(order)
    const ending = sold.length % 5 === 4 ? 'fail' : 'pay'
    await world.end(id, ending)
    sold.push({ ...order, id, ending })
  }
  return sold
}

/** Lets one process after the other die at its moment, and starts a last one. */
async function killAtEach(moments: readonly Moment[], world: ProcessWorld): Promise<void> {
  let { server } = world
  let aheadMs = 0
  for (const [index, moment] of moments.entries()) {
    await killAt(moment, server, world)
    aheadMs += index + 1 < moments.length ? STEP_MS : LATER_MS
    server = world.start(aheadMs)
  }
}

function killAt({ piece, isLost }: Moment, server: ServerProcess, { links }: ProcessWorld): Promise<unknown> {
  let left = piece
  for (const link of Object.values(links)) {
    link.judge = () => {
      left -= 1
      if (left !== 0) return 'pass'
      server.kill()
      return isLost ? 'cut' : 'pass'
    }
  }
  return server.gone
}
