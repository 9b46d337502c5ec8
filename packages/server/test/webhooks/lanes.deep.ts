import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import fc from 'fast-check'
import { type Concurrency, concurrencyAfter, NEW, RECOVERED } from '../../src/webhooks/lanes/concurrency.ts'
import { type LaneClaim, Lanes } from '../../src/webhooks/lanes/lanes.ts'
import { type LaneAttempt, type LaneFacts, moveAfter } from '../../src/webhooks/lanes/state.ts'
import { NO_TROUBLE, type Outcome, reasonForProbes, troubleAfter } from '../../src/webhooks/lanes/trouble.ts'

const NOW = Date.parse('2026-11-21T13:00:00Z')
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const FACTS: LaneFacts = {
  version: 0,
  state: 'active',
  reason: null,
  failures: 0,
  failingSince: null,
  failedProbes: 0,
  goodProbes: 0,
}

const SUCCESS: LaneAttempt = {
  outcome: 'success',
  isGone: false,
  isAddressNotAllowed: false,
  isProbe: false,
  endedAt: NOW,
}
const REFUSED: LaneAttempt = { ...SUCCESS, outcome: 'refused' }

function limitAfter(before: Concurrency, outcomes: readonly ('success' | 'timeout' | 'other')[]): number {
  return outcomes.reduce(concurrencyAfter, before).limit
}

test('[webhooks.10] [NO-10] a lane begins with 4, grows by one after 8 successes, and halves with every time-out', () => {
  const successes = (count: number) => Array.from({ length: count }, () => 'success' as const)
  assert.equal(NEW.limit, 4)
  assert.deepEqual(
    [limitAfter(NEW, successes(7)), limitAfter(NEW, successes(8)), limitAfter(NEW, successes(16))],
    [4, 5, 6],
  )
  assert.equal(limitAfter(NEW, successes(10_000)), 64)
  assert.deepEqual([limitAfter(NEW, ['timeout']), limitAfter(NEW, ['timeout', 'timeout', 'timeout'])], [2, 1])
  assert.equal(limitAfter(NEW, ['timeout', ...successes(8)]), 3, 'and grows again')
  assert.equal(limitAfter(NEW, [...successes(7), 'other', 'success']), 5, 'a refusal tells nothing of what it can bear')
})

test('[webhooks.13] what was not well begins with 1, 2, 4 and 8', () => {
  const limits = [RECOVERED]
  for (let taken = 0; taken < 7; taken++) limits.push(concurrencyAfter(limits.at(-1) as Concurrency, 'success'))
  assert.deepEqual(
    limits.map(({ limit }) => limit),
    [1, 2, 2, 4, 4, 4, 4, 8],
  )
  assert.equal(limitAfter(limits.at(-1) as Concurrency, Array(8).fill('success')), 9, 'then by one, as always')
  assert.equal(
    limitAfter(RECOVERED, ['success', 'success', 'timeout', 'success', 'success']),
    1,
    'and no doubling after a time-out',
  )
})

function reasonAfter(outcomes: readonly Outcome[], everyMs = 0): string | undefined {
  const trouble = outcomes.reduce(
    (before, outcome, index) => troubleAfter(before, outcome, NOW + index * everyMs),
    NO_TROUBLE,
  )
  return reasonForProbes(trouble)
}

test('[webhooks.13] five attempts in a row without an answer, and no fewer', () => {
  const unanswered = Array<Outcome>(5).fill('unanswered')
  assert.equal(reasonAfter(unanswered), 'unanswered')
  assert.equal(reasonAfter(unanswered, HOUR), 'unanswered', 'however long it takes')
  assert.equal(reasonAfter(unanswered.slice(1)), undefined)
  assert.equal(reasonAfter([...unanswered.slice(1), 'refused', 'unanswered']), undefined, 'an answer is one')
})

test('[webhooks.13] seven of ten in five minutes, and no fewer, nor of fewer', () => {
  const outcomes = (failed: number, taken: number) => [
    ...Array<Outcome>(failed).fill('refused'),
    ...Array<Outcome>(taken).fill('success'),
  ]
  assert.equal(reasonAfter(outcomes(7, 3)), 'failing')
  assert.equal(reasonAfter(outcomes(6, 4)), undefined)
  assert.equal(reasonAfter(outcomes(9, 0)), undefined)
  assert.equal(reasonAfter(outcomes(10, 0), MINUTE / 2), 'failing', 'within five minutes')
  assert.equal(reasonAfter(outcomes(10, 0), MINUTE), undefined, 'not in ten')
})

test('[webhooks.13] a lane is degraded, probed ever more seldom, and active after two good probes', () => {
  const waits: (number | null)[] = []
  let facts = FACTS
  const attempt = (more: Partial<LaneAttempt>, forProbes?: 'failing') => {
    const move = moveAfter(facts, { ...REFUSED, ...more }, forProbes)
    assert.ok(move)
    waits.push(move.probeAt === null ? null : move.probeAt - NOW)
    facts = { ...facts, ...move, version: facts.version + 1 }
    return move
  }
  assert.partialDeepStrictEqual(attempt({}, 'failing'), { state: 'degraded', reason: 'failing' })
  for (let probe = 0; probe < 4; probe++) attempt({ isProbe: true })
  assert.deepEqual(waits, [5_000, 15_000, 30_000, 60_000, 60_000])
  assert.partialDeepStrictEqual(attempt({ ...SUCCESS, isProbe: true }), {
    state: 'degraded',
    probeAt: NOW,
    goodProbes: 1,
  })
  assert.partialDeepStrictEqual(attempt({ isProbe: true }), { state: 'degraded', goodProbes: 0 }, 'in a row')
  attempt({ ...SUCCESS, isProbe: true })
  assert.partialDeepStrictEqual(attempt({ ...SUCCESS, isProbe: true }), {
    state: 'active',
    reason: null,
    probeAt: null,
  })
})

test('[webhooks.13] what ends in a degraded lane without being its probe moves nothing', () => {
  const degraded: LaneFacts = { ...FACTS, state: 'degraded', reason: 'failing' }
  assert.equal(moveAfter(degraded, REFUSED, 'unanswered'), undefined)
  assert.equal(moveAfter(degraded, SUCCESS, undefined), undefined)
})

test('[webhooks.13] [NO-17] one address that is not allowed is enough', () => {
  const blocked = { ...REFUSED, outcome: 'unanswered', isAddressNotAllowed: true } as const
  assert.partialDeepStrictEqual(moveAfter(FACTS, blocked, undefined), {
    state: 'degraded',
    reason: 'address_not_allowed',
  })
})

test('[webhooks.14] a 410 pauses, and so do twenty failures over three days without a success', () => {
  assert.partialDeepStrictEqual(moveAfter(FACTS, { ...REFUSED, isGone: true }, undefined), {
    state: 'paused',
    reason: 'gone',
  })
  const failing: LaneFacts = { ...FACTS, failures: 19, failingSince: NOW - 72 * HOUR }
  const paused = { state: 'paused', reason: 'failing_for_days', probeAt: null }
  assert.partialDeepStrictEqual(moveAfter(failing, REFUSED, undefined), paused)
  assert.partialDeepStrictEqual(
    moveAfter({ ...failing, state: 'degraded' }, { ...REFUSED, isProbe: true }, undefined),
    paused,
  )
  assert.equal(moveAfter({ ...failing, failures: 18 }, REFUSED, undefined), undefined)
  assert.equal(moveAfter({ ...failing, failingSince: NOW - 72 * HOUR + 1 }, REFUSED, undefined), undefined)
  assert.equal(moveAfter(failing, SUCCESS, undefined), undefined)
})

test('[webhooks.10] [NO-10] whatever happens, no lane and no kind of attempt has more under way than it may', () => {
  const claim = fc.record({
    lane: fc.integer({ min: 0, max: 9 }),
    retries: fc.nat(40),
    firsts: fc.nat(40),
    hangs: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(claim, { maxLength: 60 }), (rounds) => {
      const lanes = new Lanes()
      const underWay: (readonly [LaneClaim, boolean])[] = []
      for (const { lane, hangs, ...due } of rounds) {
        const subscriptionId = String(lane)
        const room = lanes.room().find((known) => known.subscriptionId === subscriptionId)
        const { free, freeForRetries } = room ?? { free: limits.webhookLaneStart, freeForRetries: 2 }
        const retries = Math.min(due.retries, freeForRetries, lanes.free().retries)
        const firsts = Math.min(due.firsts, free - retries, lanes.free().firsts)
        for (let index = 0; index < retries + firsts; index++) {
          const started = { subscriptionId, attempt: index < retries ? 2 : 1, lane: FACTS }
          lanes.started(started, NOW)
          underWay.push([started, hangs])
        }
        const { free: left } = lanes.room().find((known) => known.subscriptionId === subscriptionId) ?? { free: 0 }
        assert.ok(left >= 0)
        const ending = underWay.splice(0, underWay.length / 2)
        for (const [ended, isTimeout] of ending) {
          lanes.freed(ended)
          lanes.ended(ended, isTimeout ? { ...REFUSED, outcome: 'unanswered' } : SUCCESS, isTimeout)
        }
      }
      for (const [ended] of underWay) lanes.freed(ended)
      assert.deepEqual(lanes.free(), { firsts: 256, retries: 256, replays: 64 })
      for (const room of lanes.room()) assert.equal(room.underWay, 0)
    }),
  )
})

test('[webhooks.13] a lane that some process has moved begins anew here as well', () => {
  const lanes = new Lanes()
  const claim = (version: number): LaneClaim => ({ subscriptionId: 'a', attempt: 1, lane: { ...FACTS, version } })
  const room = () => lanes.room().map(({ free }) => free)
  for (let attempt = 0; attempt < 8; attempt++) {
    lanes.started(claim(0), NOW)
    lanes.freed(claim(0))
    lanes.ended(claim(0), SUCCESS, false)
  }
  assert.deepEqual(room(), [5])
  lanes.started(claim(3), NOW)
  lanes.freed(claim(3))
  assert.deepEqual(room(), [1])
})

test('[webhooks.25] however many receivers replays hang at, first attempts and retries have all their places', () => {
  const lanes = new Lanes()
  const widen = (subscriptionId: string) => {
    const claim: LaneClaim = { subscriptionId, attempt: 1, lane: FACTS }
    for (let success = 0; success < 1_000; success++) lanes.ended(claim, SUCCESS, false)
  }
  const roomOf = (id: string) => lanes.room().find(({ subscriptionId }) => subscriptionId === id) ?? assert.fail()
  const ids = Array.from({ length: 8 }, (_, index) => String(index))
  const places = ids.flatMap((id) => {
    widen(id)
    const { freeForReplays } = roomOf(id)
    assert.equal(freeForReplays, limits.webhookLaneMax / 4)
    const started = Math.min(freeForReplays, lanes.free().replays)
    return Array.from({ length: started }, () => lanes.replayStarted(id, 0, NOW))
  })
  assert.equal(places.length, 64)
  assert.deepEqual(lanes.free(), { firsts: 256, retries: 256, replays: 0 })
  assert.partialDeepStrictEqual(roomOf('0'), { freeForReplays: 0, freeForRetries: 16, free: 48 })
  for (const place of places) {
    place.answered('timeout')
    place.free()
  }
  assert.equal(lanes.free().replays, 64)
  assert.deepEqual(
    lanes.room().map(({ free, underWay }) => [free, underWay]),
    ids.map((_, index) => [index < 4 ? 1 : limits.webhookLaneMax, 0]),
  )
})

test('[webhooks.10] claims of a process follow each other; one that waits for a lock holds up the next for a moment only', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const lanes = new Lanes()
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const begun: string[] = []
  const claim = (name: string, ended: Promise<void>) =>
    lanes.exclusively(() => {
      begun.push(name)
      return ended
    })
  const claims = [claim('first', first.promise), claim('second', second.promise), claim('third', Promise.resolve())]
  await turns()
  assert.deepEqual(begun, ['first'])
  first.resolve()
  await turns()
  assert.deepEqual(begun, ['first', 'second'])
  t.mock.timers.tick(100)
  await turns()
  assert.deepEqual(begun, ['first', 'second', 'third'])
  second.reject(new Error('lock timeout'))
  await assert.rejects(claims[1] ?? Promise.resolve(), /lock timeout/)
})

/** Lets promises that are settled run on. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}
