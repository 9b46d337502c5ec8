import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import fc from 'fast-check'
import type { CashIn } from '../../src/cash-in/cash-in.ts'
import { inDoubtCents, refundedCents, returnsInDoubt } from '../../src/cash-in/returns.ts'
import { reasonOf } from '../../src/engine/follow.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { decideCreate } from '../../src/refund-in/commands.ts'
import type { RefundIn, RefundInInput } from '../../src/refund-in/refund-in.ts'
import { decideInDoubt, decideReturn } from '../../src/refund-in/returns.ts'
import { decideRefundIn } from '../../src/refund-in/rules.ts'
import { NOW } from '../cash-in/situations.ts'
import { MADE_BY, refundTerms } from '../support/limits.ts'
import { Books } from './books.ts'
import { confirmed, INPUTS, paidCashIn } from './situations.ts'

const { 'partner.confirmed': _, ...ANSWERS } = INPUTS

const RETURN_IDS = ['D1', 'D2', 'D3']
const CENTS = [30_00n, 30_00n, 50_00n, 1n]

/** What may happen to one of three refunds of a cash-in, or to the cash-in itself. */
const anyStep = fc.oneof(
  fc.record({ create: fc.nat(2), valueCents: fc.constantFrom(...CENTS, 100_00n) }),
  fc.record({
    refund: fc.nat(2),
    input: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom<RefundInInput>(...Object.values(ANSWERS)) },
      {
        weight: 1,
        arbitrary: fc
          .record({ returnId: fc.constantFrom(...RETURN_IDS), valueCents: fc.constantFrom(...CENTS) })
          .chain((given) => fc.boolean().map((isVerified) => confirmed(given, isVerified))),
      },
    ),
  }),
  fc.record({ returnId: fc.constantFrom('M1', ...RETURN_IDS), valueCents: fc.constantFrom(...CENTS) }),
)

test('[refund-in.create.4] [cash-in.refunds.2] whatever happens in whatever order, no payer is refunded too much by us', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 25 }), (steps) => {
      const books = new Books()
      const cashIn = paidCashIn()
      books.operations.set(cashIn.id, cashIn)
      steps.forEach((what, index) => {
        perform(books, cashIn.id, what, NOW + index * 61_000)
        settle(books, cashIn.id, NOW + index * 61_000)
        assertCounted(books, cashIn.id)
      })
    }),
    { numRuns: 10_000 },
  )
})

type Step = typeof anyStep extends fc.Arbitrary<infer What> ? What : never

function perform(books: Books, cashInId: string, what: Step, nowMs: number): void {
  const cashIn = books.operation(cashInId) as CashIn
  if ('create' in what) {
    const id = `refund-${what.create}`
    if (!books.operation(id)) create(books, cashIn, id, what.valueCents, nowMs)
    return
  }
  if ('refund' in what) {
    const refund = books.operation(`refund-${what.refund}`) as RefundIn | undefined
    if (refund) books.apply(decideRefundIn(refund, cashIn, [what.input], books, nowMs), nowMs)
    return
  }
  const identity = { id: `taken-${nowMs}`, bodyHash: sha256('') }
  const returned = { ...what, occurredAt: NOW, transactionId: 'tx-b' }
  books.apply(decideReturn(cashIn, returned, identity, books, nowMs), nowMs)
}

/** What a worker does about the returns that are awaited. */
function settle(books: Books, cashInId: string, nowMs: number): void {
  const cashIn = books.operation(cashInId) as CashIn
  const returnIds = returnsInDoubt(cashIn).map(([returnId]) => returnId)
  const identities = new Map(returnIds.map((it) => [it, { id: `settled-${nowMs}-${it}`, bodyHash: sha256('') }]))
  books.apply(decideInDoubt(cashIn, identities, books, nowMs), nowMs)
}

function create(books: Books, cashIn: CashIn, id: string, valueCents: bigint, nowMs: number): void {
  const request = {
    id,
    cashInId: cashIn.id,
    valueCents,
    externalId: id,
    reason: null,
    correlationId: 'test',
    bodyHash: sha256(id),
    idempotencyKey: null,
    madeBy: MADE_BY,
  }
  const { openCents, leftCents } = sumsOf(books)
  const isTooMuch = valueCents > cashIn.valueCents - openCents - leftCents - inDoubtCents(cashIn)
  try {
    books.apply(decideCreate(request, refundTerms(), books, nowMs), nowMs)
    assert.equal(isTooMuch, false)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    assert.ok(isTooMuch || books.balance('available') < valueCents, error.message)
  }
}

/** What is set aside, and what left, told from the refunds alone. */
function sumsOf(books: Books) {
  const refunds = [...books.operations.values()].filter(({ kind }) => kind === 'refund_in') as RefundIn[]
  const pending = refunds.filter(({ status }) => status === 'PENDING')
  return {
    refunds,
    pending,
    openCents: sum(pending.map(({ valueCents }) => valueCents)),
    leftCents: sum(refunds.flatMap(({ facts }) => Object.values(facts.returns ?? {}))),
  }
}

function sum(values: readonly (bigint | number | undefined)[]): bigint {
  return values.reduce<bigint>((total, value) => total + BigInt(value ?? 0), 0n)
}

/** The cash-in counts what its refunds did, and the accounts hold what they say. */
function assertCounted(books: Books, cashInId: string): void {
  const { refunds, pending, openCents, leftCents } = sumsOf(books)
  const cashIn = books.operation(cashInId) as CashIn

  assert.equal(BigInt(cashIn.facts.refundsOpenCents ?? 0), openCents, 'what is open is what is pending')
  assert.equal(refundedCents(cashIn), leftCents, 'what was counted is what left')
  const inDoubt = returnsInDoubt(cashIn).map(([, known]) => known)
  const held = inDoubt.filter(({ heldCents }) => heldCents !== undefined)
  const suspendedCents = sum(held.map(({ cents }) => cents))
  assert.equal(books.balance('settlement'), leftCents + suspendedCents, 'every centavo that left is booked once')
  const heldCents = sum(refunds.map(({ facts }) => facts.heldAgainCents)) + sum(held.map((it) => it.heldCents))
  assert.equal(books.balance('reserved'), openCents + heldCents)
  if (held.length > 0) assert.ok(books.cases.includes('return_unexplained'), 'what is held is a case')
  if (held.length < inDoubt.length) assert.notEqual(cashIn.dueAt, null, 'what is in doubt is looked at')
  for (const code of ['available', 'reserved'] as const) assert.ok(books.balance(code) >= 0n, code)
  assert.ok(books.balance('receivable') <= 0n)
  assert.equal(sum([...books.balances.values()]), 120_00n, 'no money came to be')
  if (leftCents > cashIn.valueCents) assert.ok(books.cases.length > 0, 'too much is always a case')

  const references = books.journals.map(({ operationId, kind, reference }) => `${operationId} ${kind} ${reference}`)
  assert.equal(new Set(references).size, references.length, 'a journal is posted once')
  assert.equal(new Set(books.notified).size, books.notified.length, 'a refund is told of once')
  const ended = refunds.filter(({ status }) => status !== 'PENDING').map(({ id }) => id)
  assert.deepEqual(books.notified.toSorted(), ended.toSorted(), 'every end is told')
  for (const { status, dueAt, facts } of pending)
    if (dueAt === null) assert.ok(reasonOf({ facts }) && books.cases.length > 0, `nothing is forgotten: ${status}`)
}
