import assert from 'node:assert/strict'
import test from 'node:test'
import type { MerchantRequest, Reply } from './history.ts'
import { beliefOf, possibleSwitches } from './history.ts'
import { type Evidence, judge } from './judge.ts'
import { planOf } from './plan.ts'

const CHARGE = '0198c0de-7a11-7000-8000-5f1d3c2b1a09'
const PAYOUT = '0198c0de-8b22-7000-8000-2c3d4e5f6a7b'
const PAID = 'E9999901020261121131500aB3dE5fG7'
const SENT = 'E9999900120261121131500aB3dE5fG8'

/** A charge was paid and a payout sent, and both sides say so. */
const RIGHT = {
  bankKind: 'truthful',
  book: {
    availableCents: 600,
    charges: [paidCharge(CHARGE, PAID, 1_000)],
    payouts: [{ id: PAYOUT, status: 'CONFIRMED' }],
    refunds: [],
    entries: [entry('PAYMENT_RECEIVED', CHARGE, '+', 1_000, PAID), entry('PAYOUT_SENT', PAYOUT, '-', 400, SENT)],
    events: { delivered: [], pending: [] },
    notices: { delivered: 0, pending: 0 },
  },
  books: {
    operations: [operation(CHARGE, 'cash_in', 'PAID', 1_000n), operation(PAYOUT, 'cash_out', 'CONFIRMED', 400n)],
    movements: [movement(CHARGE, PAID, 1_000n), movement(PAYOUT, SENT, -400n)],
    cases: [],
    balances: { settlement: -600 },
    notifications: [{ id: 'n1', operation_id: CHARGE, body: Buffer.from('paid'), undelivered: 0n }],
    isSwitchedOn: true,
    trips: [],
    verification: { at: 0, faults: 0, drifts: [] },
  },
  history: [asked({ status: 201, id: PAYOUT })],
  switchSets: [],
  received: new Map([['n1', new Set(['paid'])]]),
  feed: [{ position: 1, id: 'n1', body: 'paid' }],
} satisfies Evidence

function entry(kind: string, reference: string, sign: '+' | '-', valueCents: number, endToEndId: string) {
  return { kind, reference, sign, valueCents, endToEndId }
}

function paidCharge(id: string, endToEndId: string, valueCents: number) {
  return { id, status: 'PAID', valueCents, payments: [{ endToEndId, valueCents }] }
}

function operation(id: string, kind: string, status: string, value_cents: bigint, held_cents = 0n) {
  return { id, kind, status, value_cents, held_cents, external_id: `order ${id}`, detail: {} }
}

function movement(operation_id: string, reference: string, cents: bigint) {
  return { operation_id, journal: 'any', reference, cents }
}

function asked(...replies: Reply[]): MerchantRequest {
  return { kind: 'cash_out', marker: `order ${PAYOUT}`, replies }
}

function openCase(operation_id: string | null, text = '') {
  return { operation_id, kind: 'debit_in_suspense', isOpen: true, text }
}

/** What is found where our books, or anything else, are otherwise. */
function found(books: Partial<Evidence['books']>, more: Partial<Evidence> = {}): string[] {
  return judge({ ...RIGHT, ...more, books: { ...RIGHT.books, ...books } }).map(
    ({ rule, explanation }) => `${rule}${explanation === undefined ? '' : ` (${explanation})`}`,
  )
}

test('[P7] the judge of chaos finds nothing where both sides say the same', () => {
  assert.deepEqual(found({}), [])
})

test('[P7] the judge finds a movement that is missing, of another amount, on another operation, under another id', () => {
  const [paid, sent] = RIGHT.books.movements as [(typeof RIGHT.books.movements)[0], (typeof RIGHT.books.movements)[0]]
  assert.deepEqual(found({ movements: [paid] }), ['money'])
  assert.deepEqual(found({ movements: [paid, { ...sent, cents: -401n }] }), ['money'])
  assert.deepEqual(found({ movements: [paid, { ...sent, operation_id: CHARGE }] }), ['money', 'money'])
  assert.deepEqual(found({ movements: [paid, { ...sent, reference: 'another' }] }), ['money'])
  assert.deepEqual(found({ movements: [paid, sent, sent] }), ['money'])
  assert.deepEqual(found({ balances: { settlement: -601 } }), ['total'])
})

test('[P7] a return of money in suspense is booked on its charge; on another one it is explained by the case of that', () => {
  const returned = { ...entry('PAYMENT_TAKEN_BACK', CHARGE, '-', 100, PAID), returnId: 'D1' }
  const book = { ...RIGHT.book, availableCents: 500, entries: [...RIGHT.book.entries, returned] }
  const balances = { settlement: -500 }
  const booked = (id: string) => ({ movements: [...RIGHT.books.movements, movement(id, 'D1', -100n)], balances })
  assert.deepEqual(found(booked(CHARGE), { book }), [])
  const lying = { book, bankKind: 'lying' } as const
  assert.deepEqual(found({ ...booked(PAYOUT), cases: [openCase(PAYOUT)] }, lying), [
    'money (debit_in_suspense)',
    'money (debit_in_suspense)',
  ])
})

test('[P7] the judge finds nothing in what was booked by a false event and taken back', () => {
  const taken = [movement(CHARGE, 'D1', -100n), movement(CHARGE, 'D1', 100n)]
  assert.deepEqual(found({ movements: [...RIGHT.books.movements, ...taken] }), [])
  const reversed = [...RIGHT.books.movements, movement(CHARGE, PAID, -1_000n)]
  assert.deepEqual(found({ movements: reversed }), ['money'], 'the bank has the payment')
})

test('[P7] a case explains a difference at a lying bank only, where it names the operation or the movement', () => {
  const lying = { bankKind: 'lying' } as const
  const movements = RIGHT.books.movements.slice(0, 1)
  assert.deepEqual(found({ movements, cases: [openCase(CHARGE)] }, lying), ['money'])
  assert.deepEqual(found({ movements, cases: [openCase(PAYOUT)] }, lying), ['money (debit_in_suspense)'])
  assert.deepEqual(found({ movements, cases: [openCase(null, SENT)] }, lying), [
    'money (debit_in_suspense, which names it)',
  ])
  assert.deepEqual(found({ movements, cases: [{ ...openCase(PAYOUT), isOpen: false }] }, lying), ['money'])
  assert.deepEqual(found({ movements, cases: [openCase(PAYOUT)] }), ['money', 'cases'])
})

test('[trip-wire.2] [P7] the judge finds a suspension that the bank’s book does not bear out', () => {
  const lying = { bankKind: 'lying' } as const
  const of = (...cases: string[]) => ({ trips: [{ cases }] })
  assert.deepEqual(found(of('line_missing in E1')), ['trip wire'], 'a bank that tells the truth lacks nothing')
  assert.deepEqual(found(of('line_missing in E1'), lying), [])
  assert.deepEqual(found(of(`line_missing in ${PAID}`), lying), ['trip wire'])
  assert.deepEqual(found(of(`unexplained_debit PAYOUT_SENT ${SENT}`), lying), [])
  assert.deepEqual(found(of('unexplained_debit PAYOUT_SENT E1'), lying), ['trip wire'])
  assert.deepEqual(found(of(`line_differs PAYMENT_RECEIVED ${PAID}`), lying), ['trip wire'])
  assert.deepEqual(found({ ...of('line_missing in E1'), isSwitchedOn: false }, lying), [], 'it is off by that')
})

test('[P6] the judge finds what is held or in doubt', () => {
  const [charge] = RIGHT.books.operations
  assert.ok(charge)
  assert.deepEqual(found({ operations: [charge, operation(PAYOUT, 'cash_out', 'CONFIRMED', 400n, 1n)] }), ['held'])
  assert.deepEqual(found({ operations: [charge, operation(PAYOUT, 'cash_out', 'PENDING', 400n)] }), ['held'])
})

test('[cash-in.states.9] [P6] the judge finds no fault in a payment that the bank’s book dates too late, and one in a case without', () => {
  const late = [operation(CHARGE, 'cash_in', 'RECONCILIATION_REQUIRED', 1_000n), ...RIGHT.books.operations.slice(1)]
  const cases = [{ ...openCase(CHARGE), kind: 'payment_in_suspense' }]
  const paidAt = (occurredAt: string) => {
    const charge = { ...paidCharge(CHARGE, PAID, 1_000), expiresAt: '2026-11-21T12:00:00.000Z' }
    const payments = charge.payments.map((payment) => ({ ...payment, occurredAt }))
    return { book: { ...RIGHT.book, charges: [{ ...charge, payments }] } }
  }
  const found60 = found({ operations: late, cases }, paidAt('2026-11-21T12:01:00.000Z'))
  assert.deepEqual(found60, ['held', 'cases'], 'within the minute it was in time')
  assert.deepEqual(found({ operations: late, cases }, paidAt('2026-11-21T12:01:00.001Z')), [
    'held (payment_in_suspense)',
  ])
  assert.deepEqual(found({ operations: late }, paidAt('2026-11-21T12:01:00.001Z')), ['held'], 'no person was called')
  const other = [openCase(CHARGE)]
  assert.deepEqual(found({ cases: other }, paidAt('2026-11-21T12:01:00.001Z')), ['cases'], 'another case is none of it')
})

test('[P1] the judge finds an order that the bank carried out twice', () => {
  const entries = [...RIGHT.book.entries, entry('PAYOUT_SENT', PAYOUT, '-', 400, 'another')]
  const book = { ...RIGHT.book, entries, availableCents: 200 }
  assert.ok(found({}, { book }).includes('at most once'))
})

test('[P4] the judge finds what was refused and is there, and what was confirmed and is not', () => {
  const refused = { status: 422, code: 'insufficient_balance' }
  assert.deepEqual(found({}, { history: [asked('lost', refused)] }), ['requests'])
  assert.deepEqual(found({}, { history: [asked(refused, 'lost')] }), [])
  const elsewhere = { ...asked({ status: 201, id: 'any' }), marker: 'another order' }
  assert.deepEqual(found({}, { history: [elsewhere] }), ['requests'])
})

test('[P4] a 503 says that its own try came to nothing, and nothing about a try whose answer was lost', () => {
  const suspended = { status: 503, code: 'cash_out_suspended' }
  assert.equal(beliefOf(asked(suspended, suspended)), 'absent')
  assert.equal(beliefOf(asked('lost', suspended)), 'unknown')
  assert.equal(beliefOf(asked('lost', { status: 409, code: 'request_in_progress' })), 'unknown')
  assert.equal(beliefOf(asked('lost', { status: 409, code: 'duplicate_external_id', id: PAYOUT })), 'exists')
  const overloaded = asked({ status: 503, code: 'overloaded' })
  assert.equal(beliefOf(overloaded), 'absent')
  assert.equal(beliefOf({ ...overloaded, kind: 'cash_in' }), 'unknown')
})

test('[operator.switch.2] the judge finds a switch that is on by itself', () => {
  const [on, off] = [
    { enabled: true, reply: { status: 503 } } as const,
    { enabled: false, reply: { status: 200 } } as const,
  ]
  assert.deepEqual(found({}, { switchSets: [on, off] }), ['switch'])
  assert.deepEqual([...possibleSwitches([off, on])], [false, true])
  assert.deepEqual(
    found(
      {},
      {
        switchSets: [
          { ...off, stoodLater: true },
          { ...on, reply: { status: 200 } },
        ],
      },
    ),
    ['switch'],
  )
})

test('[events.1] the judge finds a notification that is missing, unknown, or of other bytes', () => {
  assert.deepEqual(found({}, { received: new Map() }), ['notifications'])
  assert.deepEqual(found({}, { received: new Map([['n1', new Set(['paid', 'Paid'])]]) }), ['notifications'])
  assert.deepEqual(found({ notifications: [] }), ['notifications', 'feed'])
})

test('[feed.1] the judge finds an event of the feed that is missing, out of its place, twice, or of other bytes', () => {
  const event = { position: 1, id: 'n1', body: 'paid' }
  assert.deepEqual(found({}, { feed: [] }), ['feed'])
  assert.deepEqual(found({}, { feed: [{ ...event, position: 2 }] }), ['feed'])
  assert.deepEqual(found({}, { feed: [event, { ...event, position: 2 }] }), ['feed'])
  assert.deepEqual(found({}, { feed: [{ ...event, body: 'Paid' }] }), ['feed'])
})

test('[P4] a seed plans the same faults each time', () => {
  assert.deepEqual(planOf(7, 60_000, 'lying'), planOf(7, 60_000, 'lying'))
  assert.notDeepEqual(planOf(7, 60_000, 'lying'), planOf(8, 60_000, 'lying'))
  for (const fault of planOf(7, 600_000, 'lying')) if ('forMs' in fault) assert.ok(fault.atMs + fault.forMs <= 600_000)
})
