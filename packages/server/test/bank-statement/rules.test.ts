import assert from 'node:assert/strict'
import test from 'node:test'
import { limits } from '@pixgate/spec'
import fc from 'fast-check'
import { firstFrom, judge, markAfter, type OpenEntry, windowAt, windowsOf } from '../../src/bank-statement/rules.ts'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const MINUTE = 60_000
const ID = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
const OTHER = '0198c0de-7a12-7000-8000-5f1d3c2b1a09'

/** A payment that our books do not have, seen a moment ago; what a test cares about is given. */
function open(given: Partial<OpenEntry> = {}): OpenEntry {
  return {
    kind: 'PAYMENT_RECEIVED',
    direction: 'in',
    movementId: 'E1',
    endToEndId: 'E1',
    reference: ID,
    valueCents: 100_00n,
    occurredAt: NOW,
    seenAt: NOW,
    askedAt: null,
    reportedAt: null,
    booked: undefined,
    named: { id: ID, kind: 'cash_in', endToEndId: null },
    paidBy: [],
    arrivedOn: null,
    isInDoubt: false,
    adjustmentId: null,
    heldBy: null,
    isOfHeld: false,
    takenBackFrom: null,
    isComeAndGone: false,
    ...given,
  }
}

test('[statement.8] repeated windows cover each movement once, in parts of at most six hours', () => {
  const time = fc.integer({ min: 0, max: 30 * 24 * 60 }).map((minutes) => NOW + minutes * MINUTE)
  const movements = fc.array(fc.record({ orderedAt: time, bookedAt: time }), { maxLength: 20 })
  fc.assert(
    fc.property(movements, (lacking) => {
      const windows = windowsOf(lacking)
      for (const [index, { from, to }] of windows.entries()) {
        assert.ok(from < to && to - from <= limits.statementWindowMaxMs)
        assert.ok(from >= (windows[index - 1]?.to ?? from))
      }
      const isRead = (instant: number) => windows.some(({ from, to }) => from <= instant && instant < to)
      for (const { orderedAt, bookedAt } of lacking) {
        assert.ok(isRead(bookedAt - 5 * MINUTE) && isRead(bookedAt + 5 * MINUTE - 1))
        if (orderedAt < bookedAt) assert.ok(isRead(Math.max(orderedAt, bookedAt - 7 * 24 * 60 * MINUTE) - 5 * MINUTE))
      }
    }),
  )
  assert.deepEqual(windowsOf([]), [])
})

test('[statement.2] [PL-12] no booking is left out at any time of reading and clock difference within bounds', () => {
  fc.assert(
    fc.property(
      fc.record({
        // How long after the reading before, and by how much the bank's time is ahead of ours, during all of it.
        waits: fc.array(fc.integer({ min: 1_000, max: 40 * 60 * MINUTE }), { minLength: 1, maxLength: 30 }),
        skew: fc.integer({ min: -limits.statementClockSkewMs, max: limits.statementClockSkewMs }),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
      ({ waits, skew, share }) => {
        const readings = waits.map((_, index) => NOW + waits.slice(0, index + 1).reduce((sum, wait) => sum + wait, 0))
        const last = readings.at(-1) ?? NOW
        // Something is booked between the first reading and the last one, at this instant of ours.
        const bookedAt = Math.floor(NOW + (last - NOW) * share)
        const [found, mark] = sweep(readings, bookedAt, bookedAt + skew)
        const isPromised = mark !== null && bookedAt + skew < mark
        assert.ok(found || !isPromised, 'the mark promises nothing that was not read')
        const [isFound] = sweep([...readings, last + limits.statementClockSkewMs + MINUTE], bookedAt, bookedAt + skew)
        assert.ok(isFound, 'it is found in the end')
      },
    ),
    { numRuns: 3_000 },
  )
})

/** Reads at these instants, each time as long as windows of the past follow each other. */
function sweep(readings: readonly number[], bookedAt: number, bankTime: number): [found: boolean, mark: number | null] {
  let mark: number | null = null
  let found = false
  for (const now of readings) {
    for (let isMore = true; isMore; ) {
      const window = windowAt(now, NOW - limits.statementClockSkewMs, mark)
      found ||= bookedAt <= now && window.from <= bankTime && bankTime < window.to
      mark = markAfter(window, mark, [], now)
      isMore = window.to < now
    }
  }
  return [found, mark]
}

test('[statement.2] the first window begins before our first operation, and no more than a day back', () => {
  assert.equal(firstFrom(NOW, null), NOW - 5 * MINUTE)
  assert.equal(firstFrom(NOW, NOW - 60 * MINUTE), NOW - 65 * MINUTE)
  assert.equal(firstFrom(NOW, NOW - 1_000 * 60 * MINUTE), NOW - 24 * 60 * MINUTE - 5 * MINUTE)
  // A bank that cannot be read at first is read from there all the same.
  assert.equal(windowAt(NOW, NOW - 1_000 * 60 * MINUTE, null).from, NOW - 1_000 * 60 * MINUTE)
})

test('[statement.2] an entry that the bank shows ten minutes late is found', () => {
  const mark = markAfter(windowAt(NOW, 0, NOW - 6 * MINUTE), NOW - 6 * MINUTE, [], NOW)
  assert.equal(windowAt(NOW + MINUTE, 0, mark).from, NOW - 10 * MINUTE)
})

test('[statement.2] the mark never goes back', () => {
  const window = windowAt(NOW, 0, NOW - 6 * MINUTE)
  assert.equal(markAfter(window, NOW - 6 * MINUTE, [], NOW), NOW - 5 * MINUTE)
  assert.equal(markAfter(window, NOW - 6 * MINUTE, [NOW - 5.5 * MINUTE], NOW), NOW - 5.5 * MINUTE)
  assert.equal(markAfter(window, NOW - 6 * MINUTE, [NOW - 60 * MINUTE], NOW), NOW - 6 * MINUTE)
})

test('[statement.5] a movement reported by the statement alone is queried, then awaited, then handed over', () => {
  assert.deepEqual(judge(open(), NOW), { is: 'ASK', operationId: ID, isOverdue: false })
  assert.equal(judge(open({ askedAt: NOW }), NOW + 29_999).is, 'WAIT')
  assert.equal(judge(open({ askedAt: NOW }), NOW + 30_000).is, 'HAND_OVER')
  assert.deepEqual(judge(open({ askedAt: NOW }), NOW + 5 * MINUTE), {
    is: 'HAND_OVER',
    operationId: ID,
    isOverdue: true,
  })
})

test('[statement.4] an entry is matched with the books by direction and id', () => {
  const booked = { operationId: ID, valueCents: 100_00n }
  assert.deepEqual(judge(open({ booked }), NOW), { is: 'MATCHED', operationId: ID })
  // A return by the bank is a refund here.
  const taken = open({
    kind: 'PAYMENT_TAKEN_BACK',
    direction: 'out',
    movementId: 'D1',
    booked: { ...booked, operationId: OTHER },
  })
  assert.deepEqual(judge(taken, NOW), { is: 'MATCHED', operationId: OTHER })
})

test('[statement.4] a tariff is booked for the payout that it names; one that names none has no operation', () => {
  const tariff = (kind: 'cash_out' | 'cash_in') =>
    open({ kind: 'TARIFF', direction: 'out', named: { id: ID, kind, endToEndId: null } })
  assert.deepEqual(judge(tariff('cash_out'), NOW), { is: 'TARIFF', operationId: ID })
  assert.deepEqual(judge(tariff('cash_in'), NOW), { is: 'KEPT', operationId: null })
  assert.deepEqual(judge(open({ kind: 'TARIFF', direction: 'out', named: undefined }), NOW), {
    is: 'KEPT',
    operationId: null,
  })
})

test('[statement.7] a difference to what is booked is reported after five minutes', () => {
  const amount = open({ booked: { operationId: ID, valueCents: 99_00n } })
  assert.equal(judge(amount, NOW + 5 * MINUTE - 1).is, 'WAIT')
  assert.equal(judge(amount, NOW + 5 * MINUTE).is, 'DIFFERS')
  const operation = open({ booked: { operationId: OTHER, valueCents: 100_00n } })
  assert.equal(judge(operation, NOW + 5 * MINUTE).is, 'DIFFERS')
})

for (const [name, given, reason] of [
  ['names nothing of ours', { named: undefined }, 'it names none of our operations'],
  [
    'names a payout',
    { named: { id: ID, kind: 'cash_out', endToEndId: null } },
    'it names an operation of another kind',
  ],
  [
    'could be of two payments',
    {
      named: undefined,
      paidBy: [
        { id: ID, kind: 'cash_in', endToEndId: 'E1' },
        { id: OTHER, kind: 'cash_in', endToEndId: 'E1' },
      ],
    },
    'several operations have its end-to-end id',
  ],
  [
    'gives back a second payment of its charge',
    {
      kind: 'PAYMENT_TAKEN_BACK',
      direction: 'out',
      movementId: 'D1',
      named: { id: ID, kind: 'cash_in', endToEndId: 'E2' },
    },
    'it returns another movement than its operation’s',
  ],
  [
    'returns another payout’s money',
    { kind: 'PAYOUT_RETURNED', movementId: 'D1', named: { id: ID, kind: 'cash_out', endToEndId: 'E2' } },
    'it returns another movement than its operation’s',
  ],
  [
    'is a refund that we never asked for',
    {
      kind: 'REFUND_SENT',
      direction: 'out',
      movementId: 'D1',
      named: undefined,
      paidBy: [{ id: ID, kind: 'cash_in', endToEndId: 'E1' }],
    },
    'it names none of our operations',
  ],
] as const satisfies readonly [string, Partial<OpenEntry>, string][]) {
  test(`[statement.6] [PL-11] an entry that ${name} matches no operation`, () => {
    const entry = open(given)
    const withinMs = entry.direction === 'in' ? MINUTE : 5 * MINUTE
    assert.deepEqual(judge(entry, NOW + withinMs), { is: 'UNEXPLAINED', reason, isOverdue: true })
    assert.partialDeepStrictEqual(judge(entry, NOW + withinMs - 1), { isOverdue: false })
    assert.partialDeepStrictEqual(judge(open({ ...given, reportedAt: NOW }), NOW + 9 * MINUTE), { isOverdue: false })
  })
}

test('[statement.5] an entry without references belongs to the operation with its end-to-end id', () => {
  const paidBy = [{ id: ID, kind: 'cash_in', endToEndId: 'E1' }] as const
  const taken = open({ kind: 'PAYMENT_TAKEN_BACK', direction: 'out', movementId: 'D1', named: undefined, paidBy })
  assert.deepEqual(judge(taken, NOW), { is: 'ASK', operationId: ID, isOverdue: false })
})

test('[statement.5] [PL-41] a return of a charge’s second payment is handed to that charge', () => {
  const back = { kind: 'PAYMENT_TAKEN_BACK', direction: 'out', movementId: 'D2', endToEndId: 'E2', askedAt: 0 } as const
  const named = { id: ID, kind: 'cash_in', endToEndId: 'E1' } as const
  const verdict = { is: 'HAND_OVER', operationId: ID, isOverdue: false }
  assert.deepEqual(judge(open({ ...back, named, arrivedOn: { id: ID, kind: 'cash_in' } }), NOW), verdict)
  assert.deepEqual(judge(open({ ...back, named: undefined, arrivedOn: { id: ID, kind: 'cash_in' } }), NOW), verdict)
  assert.equal(judge(open({ ...back, named, arrivedOn: { id: OTHER, kind: 'cash_in' } }), NOW).is, 'UNEXPLAINED')
  assert.equal(judge(open({ ...back, named }), NOW).is, 'UNEXPLAINED')
})
