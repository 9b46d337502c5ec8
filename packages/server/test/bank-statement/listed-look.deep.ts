import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import {
  type Expectation,
  type ListedBalance,
  listedLook,
  type Proof,
} from '../../src/bank-statement/trip-wire/listed/look.ts'

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
  /** When the list has it; absent: in time for every look. */
  readonly shownAt?: number
  /** Since when our books have it. */
  readonly bookedAt?: number
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

const signed = ({ direction, cents }: Moved) => (direction === 'in' ? cents : -cents)
const of = (wanted: Moved['direction']) => (one: Moved) => (one.direction === wanted ? one.cents : 0n)

/** What the look of a minute is told of the time before a proof. */
function listedSince(proof: Proof | null, minute: number, moved: readonly Moved[]): bigint {
  if (proof === null) return 0n
  const proofMinute = proof.at / MINUTE
  const until = { in: proofMinute + SKEW, out: proofMinute - SKEW }
  return sum(
    moved.filter(({ shownAt, listedAt, direction }) => shownAt === minute && listedAt < until[direction]),
    signed,
  )
}

/** What a look at the balance of a minute sees, once every list is as complete as it is to be then. */
function seenAt(
  minute: number,
  { base, rising }: Expectation,
  moved: readonly Moved[],
  thefts: readonly Theft[],
): ListedBalance {
  const isListed = ({ shownAt = 0 }: Moved) => shownAt <= minute
  const listed = moved.filter(isListed)
  const [before, around] = [
    listed.filter(({ listedAt }) => listedAt < minute - SKEW),
    listed.filter(({ listedAt }) => listedAt >= minute - SKEW && listedAt < minute + SKEW),
  ]
  const received = listed.filter(
    ({ listedAt, shownAt }) => listedAt < minute + SKEW && (listedAt >= minute - 1 + SKEW || shownAt === minute),
  )
  const unlisted = moved.filter((one) => !isListed(one) && (one.bookedAt ?? Infinity) <= minute)
  const stolen = thefts.filter(({ at }) => at <= minute).reduce((total, { cents }) => total + cents, 0n)
  const has = moved.filter(({ at }) => at <= minute)
  return {
    at: minute * MINUTE,
    availableCents: 1_000_000n + sum(has, (one) => signed(one) - (one.tariff ?? 0n)) - stolen,
    settledCents: sum(before, signed),
    incomingCents: sum(around, of('in')),
    outgoingCents: sum(around, of('out')),
    unlistedCents: sum(unlisted, of('in')),
    underWayCents: sum(moved, ({ heldFrom = 1, heldUntil = 0, cents }) =>
      heldFrom <= minute && minute < heldUntil ? cents : 0n,
    ),
    tariffsCents: (sum(received, of('in')) * PER_MILLE + 999n) / 1_000n,
    listedSince: {
      baseCents: listedSince(base, minute, moved),
      risingCents: listedSince(rising, minute, moved),
    },
  }
}

/** Looks at each of so many minutes. @returns what was found, by its minute */
function foundIn(minutes: number, moved: readonly Moved[], thefts: readonly Theft[] = []): [number, bigint][] {
  let expectation: Expectation = { base: null, rising: null, shortSince: null }
  return Array.from({ length: minutes }, (_, minute) => minute).flatMap((minute) => {
    const { next, found } = listedLook(expectation, seenAt(minute, expectation, moved, thefts))
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

/** What comes back of an old payout: the list has it up to a day later, our books perhaps before. */
const late = fc
  .record({ cents, at, drift, takes: fc.nat(2 * DAY), booked: fc.option(fc.nat(DAY)) })
  .map(({ cents, at, drift, takes, booked }): Moved => {
    const bookedAt = booked === null ? {} : { bookedAt: at + booked }
    return { cents, direction: 'in', at, listedAt: at + drift, shownAt: at + 5 + takes, ...bookedAt }
  })

const ordinary = fc.array(fc.oneof(received, order, takenBack, late), { maxLength: 40 })

test('[trip-wire.11] however payments, tariffs, orders under way and returns come, in any order, nothing is found', () => {
  fc.assert(fc.property(ordinary, (moved) => assert.deepEqual(foundIn(4 * DAY, moved), [])))
})

test('[trip-wire.11] [PL-55] what left in no list is found once the account is quiet, to the centavo where no tariff is taken', () => {
  fc.assert(
    fc.property(ordinary, cents, (moved, stolen) => {
      const withoutTariffs = moved.map((one) => ({ ...one, tariff: 0n }))
      const quiet = 4 * DAY
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

const back: Moved = { cents: 500n, direction: 'in', at: 30, listedAt: 30, shownAt: 80 }

test('[trip-wire.11] [PL-55] what was listed late hides nothing that was stolen before, with or after it', () => {
  const stolen = (minute: number) => foundIn(150, [back], [{ at: minute, cents: 500n }])
  // Of what is listed the bank may have kept ten.
  assert.deepEqual(stolen(25), [[85, 490n]], 'what came back hid it')
  assert.deepEqual(stolen(30), [[85, 490n]], 'at the same moment')
  assert.deepEqual(stolen(32), [[85, 490n]], 'before it was expected')
  assert.deepEqual(stolen(50), [[55, 500n]])
  assert.deepEqual(stolen(100), [[105, 500n]])
  const again = { ...back, shownAt: 82 }
  assert.deepEqual(
    foundIn(150, [back, again], [{ at: 81, cents: 900n }]),
    [[86, 880n]],
    'each lowers what is expected once',
  )
})

test('[trip-wire.11] [PL-55] what our books have and no list yet is not expected besides the lists', () => {
  const booked = { ...back, bookedAt: 31 }
  assert.deepEqual(foundIn(150, [booked]), [])
  assert.deepEqual(foundIn(150, [booked], [{ at: 50, cents: 500n }]), [[85, 490n]])
  const besides: Theft = { at: 45, cents: -70n }
  assert.deepEqual(
    foundIn(150, [booked], [besides, { at: 75, cents: 500n }]),
    [[85, 490n]],
    'what rose is not lowered by it',
  )
  const other: Moved = { ...back, cents: 300n, shownAt: 70 }
  assert.deepEqual(foundIn(150, [booked, other], [besides]), [], 'nor is what rose with another missed')
})

test('[trip-wire.11] more is expected once a second look, five minutes later, has proven it, and the least that was proven between', () => {
  const from = (minute: number, cents: bigint): Theft => ({ at: minute, cents: -cents })
  const until = (minute: number, cents: bigint): Theft => ({ at: minute, cents })
  assert.deepEqual(foundIn(60, [], [from(20, 700n), until(25, 700n)]), [])
  assert.deepEqual(foundIn(60, [], [from(20, 700n), until(26, 700n)]), [[31, 700n]])
  const least = [from(20, 700n), until(23, 400n), from(24, 400n), until(26, 700n)]
  assert.deepEqual(foundIn(60, [], least), [[31, 300n]])
  const twice = [from(20, 700n), until(23, 700n), from(24, 700n), until(28, 700n)]
  assert.deepEqual(foundIn(60, [], twice), [], 'a look between that proves nothing begins anew')
})

test('[trip-wire.11] what began to rise and was listed late does not count as the first of two looks', () => {
  const quiet = seenAt(24, { base: null, rising: null, shortSince: null }, [], [])
  const proof = (minute: number, cents: bigint): Proof => ({ cents, at: minute * MINUTE, listedSinceCents: 0n })
  const [base, rising] = [proof(0, 999_000n), proof(18, 999_500n)]
  const listedSince = { baseCents: 0n, risingCents: 500n }
  const { next } = listedLook({ base, rising, shortSince: null }, { ...quiet, listedSince })
  assert.deepEqual(next, { base, rising: proof(24, 1_000_000n), shortSince: null })
})
