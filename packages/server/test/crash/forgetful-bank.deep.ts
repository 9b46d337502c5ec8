import assert from 'node:assert/strict'
import test from 'node:test'
import { crashAt, type Scenario } from './crash.ts'
import { scenarios } from './scenarios.ts'
import { type CrashWorld, crashWorld } from './world.ts'

test('[P1] the crash drill finds a payout that is sent twice, at a bank that forgets orders and carries them out again', async (t) => {
  const world = await crashWorld(t, { hasIdempotentOrders: false })
  await world.control('lies', { perThousand: { falseNotFound: 1_000 } }, 'PUT')
  const payout = scenarios.find(({ name }) => name === 'a payout goes to a key')
  assert.ok(payout)
  assert.ok(await isSentTwice(world, payout))
})

/** Whether the loss of any piece makes money move twice. Before that, the bank's denial may have opened a case. */
async function isSentTwice(world: CrashWorld, payout: Scenario): Promise<boolean> {
  for (let piece = 1; ; piece += 1) {
    try {
      if (!(await crashAt(world, payout, { piece, isBeside: false }))) return false
    } catch (error) {
      const [{ moved = 0 } = {}] = outcomesIn(error)
      if (moved > 1) return true
    }
  }
}

/** Outcomes of a scenario that ended otherwise than it must. @throws any other error */
function outcomesIn(error: unknown): readonly { readonly moved?: number }[] {
  const { cause } = error as { readonly cause?: { readonly actual?: unknown } }
  if (!Array.isArray(cause?.actual)) throw error
  return cause.actual
}
