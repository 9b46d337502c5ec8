import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { type Expectation, type ListedBalance, listedLook } from '../../src/bank-statement/trip-wire/listed/look.ts'

/** The account of a bank that lists its movements and tells no balances with them, minute by minute. */

const MINUTE = 60_000
const SKEW = 5
const PER_MILLE = 20n

/** Money that moves; minutes. */
interface Moved {
  readonly cents: bigint
  readonly direction: 'in' | 'out'
  /** When the balance has it, and when the list says it was. */
  readonly at: number
  readonly listedAt: number
  /** Of an order of ours: while our books have money set aside for it. */
  readonly heldFrom?: number
  readonly heldUntil?: number
  /** What the bank keeps of it, which no list tells. */
  readonly tariff?: bigint
}

/** What leaves in no list. */
interface Theft {
  readonly at: number
  readonly cents: bigint
}

const sum = (moved: readonly Moved[], cents: (one: Moved) => bigint) =>
  moved.reduce((total, one) => total + cents(one), 0n)

/** What a look at the balance of a minute sees, once every list is complete. */
function seenAt(minute: number, moved: readonly Moved[], thefts: readonly Theft[]): ListedBalance {
  const [before, around] = [
    moved.filter(({ listedAt }) => listedAt < minute - SKEW),
    moved.filter(({ listedAt }) => listedAt >= minute - SKEW && listedAt < minute + SKEW),
  ]
  const signed = ({ direction, cents }: Moved) => (direction === 'in' ? cents : -cents)
  const of = (wanted: Moved['direction']) => (one: Moved) => (one.direction === wanted ? one.cents : 0n)
  const received = moved.filter(({ listedAt }) => listedAt >= minute - 1 - SKEW && listedAt < minute + SKEW)
  const stolen = thefts.filter(({ at }) => at <= minute).reduce((total, { cents }) => total + cents, 0n)
  const has = moved.filter(({ at }) => at <= minute)
  return {
    at: minute * MINUTE,
    availableCents: 1_000_000n + sum(has, (one) => signed(one) - (one.tariff ?? 0n)) - stolen,
    settledCents: sum(before, signed),
    incomingCents: sum(around, of('in')),
    outgoingCents: sum(around, of('out')),
    underWayCents: sum(moved, ({ heldFrom = 1, heldUntil = 0, cents }) =>
      heldFrom <= minute && minute < heldUntil ? cents : 0n,
    ),
    tariffsCents: (sum(received, of('in')) * PER_MILLE + 999n) / 1_000n,
  }
}

/** Looks at each of so many minutes. @returns what was found, by its minute */
function foundIn(minutes: number, moved: readonly Moved[], thefts: readonly Theft[] = []): [number, bigint][] {
  let expectation: Expectation = { baseCents: null, shortSince: null }
  return Array.from({ length: minutes }, (_, minute) => minute).flatMap((minute) => {
    const { next, found } = listedLook(expectation, seenAt(minute, moved, thefts))
    expectation = next
    return found ? [[minute, found.missingCents] as [number, bigint]] : []
  })
}

const DAY = 120
const cents = fc.bigInt(1n, 500_000n)
/** The bank's clock and ours differ by less than five minutes. */
const drift = fc.integer({ min: -4, max: 4 })
const at = fc.integer({ min: 0, max: DAY })

const received = fc.record({ cents, at, drift, perMille: fc.bigInt(0n, PER_MILLE) }).map(
  ({ cents, at, drift, perMille }): Moved => ({
    cents,
    direction: 'in',
    at,
    listedAt: at + drift,
    tariff: (cents * perMille) / 1_000n,
  }),
)
/** A refund, or a payout: set aside at the bank from its order on, booked by us after it left. */
const order = fc.record({ cents, at, takes: fc.nat(60), isSetAside: fc.boolean(), drift, booked: fc.nat(4) }).map(
  ({ cents, at, takes, isSetAside, drift, booked }): Moved => ({
    cents,
    direction: 'out',
    at: isSetAside ? at : at + takes,
    listedAt: at + takes + drift,
    heldFrom: at,
    heldUntil: at + takes + Math.min(booked, 4 + drift),
  }),
)
/** What the bank takes back by itself, of which nobody told us before the list did. */
const takenBack = fc
  .record({ cents, at, drift })
  .map(({ cents, at, drift }): Moved => ({ cents, direction: 'out', at, listedAt: at + drift }))

const ordinary = fc.array(fc.oneof(received, order, takenBack), { maxLength: 40 })

test('[trip-wire.11] however payments, tariffs, orders under way and returns come, in any order, nothing is found', () => {
  fc.assert(fc.property(ordinary, (moved) => assert.deepEqual(foundIn(2 * DAY, moved), [])))
})

test('[trip-wire.11] [PL-55] what left in no list is found once the account is quiet, to the centavo where no tariff is taken', () => {
  fc.assert(
    fc.property(ordinary, cents, (moved, stolen) => {
      const withoutTariffs = moved.map((one) => ({ ...one, tariff: 0n }))
      const quiet = 2 * DAY
      const found = foundIn(quiet + 20, withoutTariffs, [{ at: quiet, cents: stolen }])
      assert.deepEqual(found, [[quiet + SKEW, stolen]])
    }),
  )
})

test('[trip-wire.11] what was found is not found again, and more than that is', () => {
  const thefts = [
    { at: 10, cents: 7n },
    { at: 40, cents: 2n },
  ]
  assert.deepEqual(foundIn(100, [], thefts), [
    [15, 7n],
    [45, 2n],
  ])
})

test('[trip-wire.11] what came in by no list is expected from then on', () => {
  const unlisted = [
    { at: 10, cents: -700n },
    { at: 40, cents: 300n },
  ]
  assert.deepEqual(foundIn(100, [], unlisted), [[45, 300n]])
})

test('[trip-wire.11] a tariff is one up to its share of what came in, and more than that is missing', () => {
  const paid: Moved = { cents: 10_000n, direction: 'in', at: 20, listedAt: 20, tariff: 200n }
  assert.deepEqual(foundIn(100, [paid]), [])
  const beyond = foundIn(100, [{ ...paid, tariff: 10_000n }])
  assert.equal(beyond.length, 1)
})

test('[trip-wire.11] a look that orders under way may explain ends nothing; one that proves the money is there begins anew', () => {
  const waiting: Moved = { cents: 100n, direction: 'out', at: 90, listedAt: 90, heldFrom: 11, heldUntil: 15 }
  assert.deepEqual(foundIn(50, [waiting], [{ at: 10, cents: 7n }]), [[15, 7n]])
  const back = [
    { at: 10, cents: 7n },
    { at: 12, cents: -7n },
    { at: 13, cents: 7n },
  ]
  assert.deepEqual(foundIn(50, [], back), [[18, 7n]])
})
