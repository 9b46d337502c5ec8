import assert from 'node:assert/strict'
import test, { suite } from 'node:test'
import { crashAt, type Scenario } from './crash.ts'
import { peoplesScenarios } from './people.ts'
import { reportedFailures, scenarios, unreportedFailures } from './scenarios.ts'
import { type CrashWorld, crashWorld } from './world.ts'

/**
 * Every piece of bytes that goes over a link of the service on the way through a scenario, to the database and back, to the bank and
 * back, to merchants and from the bank, is lost in its turn, and with it the process: before a statement is sent, after it was
 * committed and before its answer, before and after each call. An ordinary run tries one in so many, always the same.
 */
const EVERY_PIECE = process.env.PIXGATE_TEST_EVERY_PIECE === '1'

const takingMoney = scenarios.filter(({ sendsMoney = false }) => !sendsMoney)

/** What is gone through beside each bank, and which part of its pieces an ordinary run loses. */
const banks = [
  { connector: 'pixgate', gone: [...scenarios, ...reportedFailures, ...peoplesScenarios], oneIn: 20 },
  { connector: 'api-pix', gone: [...takingMoney, ...unreportedFailures], oneIn: 60 },
  { connector: 'efi', gone: [...scenarios, ...unreportedFailures], oneIn: 60 },
] as const

/** How many places lie between where one ordinary run begins and the next, so that they lose different pieces. */
const STRIDE = 7

let runs = 0

for (const { connector, gone, oneIn } of banks) {
  const step = EVERY_PIECE ? 1 : oneIn
  suite(`[P1] [P2] [P4] at ${connector}: a process dies anywhere`, () => {
    for (const scenario of gone) {
      for (const isBeside of [false, true]) {
        const who = isBeside ? 'another works beside it' : 'another takes over'
        const first = 1 + ((runs * STRIDE) % step)
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

test('[P1] what a process sends twice is found: at a bank that forgets what it was ordered, and carries it out again', async (t) => {
  const world = await crashWorld(t, { hasIdempotentOrders: false })
  await world.control('lies', { perThousand: { falseNotFound: 1_000 } }, 'PUT')
  const payout = scenarios.find(({ name }) => name === 'a payout goes to a key')
  assert.ok(payout)
  assert.ok(await isSentTwice(world, payout))
})

/** Whether the loss of any piece makes money move twice. That the bank denies what it has may be a case before that. */
async function isSentTwice(world: CrashWorld, payout: Scenario): Promise<boolean> {
  for (let piece = 1; ; piece += 1) {
    try {
      if (!(await crashAt(world, payout, { piece, isBeside: false }))) return false
    } catch (error) {
      const [{ moved = 0 } = {}] = seenIn(error)
      if (moved > 1) return true
    }
  }
}

/** What a scenario came to that did not end as it must. */
function seenIn(error: unknown): readonly { readonly moved?: number }[] {
  const { cause } = error as { readonly cause?: { readonly actual?: unknown } }
  if (!Array.isArray(cause?.actual)) throw error
  return cause.actual
}
