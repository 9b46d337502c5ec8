import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import test, { suite } from 'node:test'
import { crashAt, type Scenario } from './crash.ts'
import { peoplesScenarios } from './people.ts'
import { scenarios } from './scenarios.ts'
import { type CrashWorld, crashWorld } from './world.ts'

/**
 * Every piece of bytes that goes over a link of the service on the way through a scenario, to the database and back, to the bank and
 * back, to merchants and from the bank, is lost in its turn, and with it the process: before a statement is sent, after it was
 * committed and before its answer, before and after each call. An ordinary run tries one in so many, each time others.
 */
const EVERY_PIECE = process.env.PIXGATE_TEST_EVERY_PIECE === '1'
const ONE_IN = EVERY_PIECE ? 1 : 20

/** Loses one piece after the other, until a scenario ends before the next. @returns which was the last */
async function crashAll(world: CrashWorld, scenario: Scenario, isBeside: boolean, first: number): Promise<number> {
  let piece = first
  while (await crashAt(world, scenario, { piece, isBeside })) piece += ONE_IN
  return piece
}

suite('[P1] [P2] [P4] a process dies anywhere', () => {
  for (const scenario of [...scenarios, ...peoplesScenarios]) {
    for (const isBeside of [false, true]) {
      const who = isBeside ? 'another works beside it' : 'another takes over'
      test(`${scenario.name}, and ${who}`, async (t) => {
        const first = 1 + randomInt(ONE_IN)
        const last = await crashAll(await crashWorld(t), scenario, isBeside, first)
        t.diagnostic(`one in ${ONE_IN} pieces was lost, from ${first} to ${last}`)
      })
    }
  }
})

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
