import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import fc from 'fast-check'
import { balanceLook, type Look, looked, type Shortfall } from '../../src/bank-statement/trip-wire/shortfall.ts'

const NOTHING: Shortfall = { acceptedCents: 0n, shortSince: null }
const MINUTE = 60_000

/** Looks one after the other, a minute between them. @returns what was found, by its minute */
function foundIn(missing: readonly (readonly [least: bigint, most: bigint])[]): [minute: number, newCents: bigint][] {
  let shortfall = NOTHING
  return missing.flatMap(([leastCents, mostCents], minute) => {
    const { next, found } = looked(shortfall, { at: minute * MINUTE, leastCents, mostCents })
    shortfall = next
    return found ? [[minute, found.newCents] as [number, bigint]] : []
  })
}

const short = (cents: bigint, minutes: number) => Array.from({ length: minutes }, () => [cents, cents] as const)

test('[trip-wire.3] what is missing counts from the second look on, five minutes after the first', () => {
  assert.deepEqual(foundIn(short(7n, 5)), [])
  assert.deepEqual(foundIn(short(7n, 30)), [[5, 7n]])
  assert.deepEqual(foundIn([...short(7n, 5), ...short(0n, 1), ...short(7n, 5)]), [])
})

test('[trip-wire.6] more than was found counts again, by what is new; what came back and is gone again, too', () => {
  assert.deepEqual(foundIn([...short(7n, 10), ...short(9n, 10)]), [
    [5, 7n],
    [15, 2n],
  ])
  assert.deepEqual(foundIn([...short(7n, 10), ...short(3n, 10), ...short(7n, 10)]), [
    [5, 7n],
    [25, 4n],
  ])
})

test('[trip-wire.4] a look that orders under way may explain neither counts nor ends anything', () => {
  const unclear = [[-5n, 7n]] as const
  assert.deepEqual(foundIn(Array.from({ length: 30 }, () => unclear[0])), [])
  assert.deepEqual(foundIn([...short(7n, 1), ...unclear, ...unclear, ...unclear, ...unclear, ...short(7n, 1)]), [
    [5, 7n],
  ])
})

test('[trip-wire.6] whatever is seen, no more is found in all than was missing at once, and nothing within five minutes', () => {
  const looks = fc.array(fc.tuple(fc.bigInt(-20n, 20n), fc.bigInt(0n, 10n)), { maxLength: 60 })
  fc.assert(
    fc.property(looks, (drawn) => {
      let shortfall = NOTHING
      let sinceShort: number | null = null
      for (const [minute, [leastCents, more]] of drawn.entries()) {
        const look: Look = { at: minute * MINUTE, leastCents, mostCents: leastCents + more }
        const before = shortfall
        const { next, found } = looked(shortfall, look)
        if (found) {
          assert.equal(found.newCents, leastCents - before.acceptedCents)
          assert.ok(look.at - found.since >= limits.statementDifferenceMs)
        }
        assert.ok(
          next.acceptedCents >= 0n &&
            next.acceptedCents <= (leastCents > before.acceptedCents ? leastCents : before.acceptedCents),
        )
        sinceShort = next.shortSince
        shortfall = next
      }
      assert.ok(sinceShort === null || sinceShort >= 0)
    }),
  )
})

test('[trip-wire.4] a balance lacks what the statement had throughout, less what orders under way explain', () => {
  const evidence = { availableCents: 90n, openingCents: 100n, closingCents: 120n, explainedCents: 4n }
  assert.deepEqual(balanceLook(1, evidence), { at: 1, leastCents: 6n, mostCents: 30n })
  assert.deepEqual(balanceLook(1, { ...evidence, openingCents: 120n, closingCents: 95n }), {
    at: 1,
    leastCents: 1n,
    mostCents: 30n,
  })
})
