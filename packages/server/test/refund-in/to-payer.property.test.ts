import assert from 'node:assert/strict'
import test from 'node:test'
import { Refusal } from '@pixgate/spec'
import fc from 'fast-check'
import type { CashIn } from '../../src/cash-in/cash-in.ts'
import { refundedCents, returningCents, returnsInDoubt, suspendedCents } from '../../src/cash-in/returns.ts'
import type { Decision } from '../../src/engine/operation.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import type { RefundIn, RefundInInput } from '../../src/refund-in/refund-in.ts'
import { decideInDoubt, decideReturn } from '../../src/refund-in/returns.ts'
import { decideRefundIn } from '../../src/refund-in/rules.ts'
import { createCashInDecider } from '../../src/refund-in/to-payer.ts'
import { cashInAs, NOW } from '../cash-in/situations.ts'
import { ordered } from '../support/decided.ts'
import { refundTerms } from '../support/limits.ts'
import { BEGINNING_CENTS, Books } from './books.ts'
import { confirmed, INPUTS } from './situations.ts'

const { 'partner.confirmed': _, ...ANSWERS } = INPUTS

/** What ends a refund happens often, so that others are ordered after it. */
const ENDS = [ANSWERS['operator.refused'], ANSWERS['operator.refused'], ANSWERS['partner.failed']]

const KIND = 'payment_in_suspense cash-in.states.8'
const CENTS = [30_00n, 30_00n, 30_00n, 20_00n, 60_00n]
const RETURN_IDS = ['D1', 'D2', 'D3']
const DECIDER = createCashInDecider({ terms: refundTerms(), isUnsupported: false, isNearRestore: () => false })

/** What operators decide of R$ 60,00 in suspense, what the bank says of the refunds, and what it gives back besides. */
const anyStep = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      decision: fc.constantFrom('return_to_payer', 'return_to_payer', 'accept', 'write_off'),
      cents: fc.constantFrom(...CENTS),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      refund: fc.nat(1),
      input: fc.oneof(
        fc.constantFrom<RefundInInput>(...Object.values(ANSWERS), ...ENDS),
        fc
          .record({ returnId: fc.constantFrom(...RETURN_IDS), valueCents: fc.constantFrom(...CENTS) })
          .map((it) => confirmed(it)),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ returnId: fc.constantFrom(...RETURN_IDS), valueCents: fc.constantFrom(...CENTS) }),
  },
)

type Step = typeof anyStep extends fc.Arbitrary<infer What> ? What : never

/** A charge of R$ 100,00 in doubt, for which E2 of R$ 60,00 arrived. */
class World {
  readonly books = new Books()
  readonly id = cashInAs('PENDING').id
  readonly made: string[] = []
  acceptedCents = 0n
  at = NOW

  constructor() {
    const { openCase } = ordered('accept', KIND, 'E2')
    const charge = cashInAs('RECONCILIATION_REQUIRED', { openCases: [openCase] })
    this.books.operations.set(this.id, { ...charge, facts: { ...charge.facts, payments: { E2: 60_00 } } })
    this.books.balances.set('settlement', -60_00n).set('suspense_in', 60_00n)
  }

  get cashIn(): CashIn {
    return this.books.operation(this.id) as CashIn
  }

  get refunds(): RefundIn[] {
    return this.made.map((id) => this.books.operation(id) as RefundIn)
  }

  apply(decision: Decision<unknown>): void {
    this.books.apply(decision, this.at)
    const openCases = this.cashIn.openCases?.filter(({ id }) => !decision.closes?.includes(id)) ?? []
    this.books.operations.set(this.id, { ...this.cashIn, openCases })
    for (const { operation } of decision.creates ?? []) if ('detail' in operation) this.#listed(operation as RefundIn)
  }

  #listed({ id, detail }: RefundIn): void {
    if (detail.origin === 'OPERATOR') this.made.push(id)
  }

  decide(decision: 'return_to_payer' | 'accept' | 'write_off', amountCents: bigint): void {
    const amount = decision === 'write_off' ? {} : { amountCents }
    const { openCase, order } = ordered(decision, KIND, 'E2', { newId: `r${this.made.length}`, ...amount })
    try {
      this.apply(DECIDER.decide(this.cashIn, openCase, order, this.books, this.at))
      if (decision === 'accept') this.acceptedCents = amountCents
    } catch (error) {
      assert.ok(error instanceof Refusal && error.code === 'not_possible_in_state', String(error))
    }
  }

  tell(refund: RefundIn | undefined, ...inputs: readonly RefundInInput[]): void {
    if (!refund) return
    const due = { ...refund, dueAt: this.at }
    this.books.operations.set(refund.id, due)
    this.apply(decideRefundIn(due, this.cashIn, inputs, this.books, this.at))
  }

  giveBack(returnId: string, valueCents: bigint): void {
    const identity = { id: `taken ${this.at}`, bodyHash: sha256('') }
    const returned = { returnId, valueCents, occurredAt: NOW, transactionId: 'tx-b', endToEndId: 'E2' }
    this.apply(decideReturn(this.cashIn, returned, identity, this.books, this.at, this.made))
  }

  settle(): void {
    const ids = returnsInDoubt(this.cashIn).map(([returnId]) => returnId)
    const identities = new Map(ids.map((it) => [it, { id: `settled ${this.at} ${it}`, bodyHash: sha256('') }]))
    this.apply(decideInDoubt(this.cashIn, identities, this.books, this.at))
  }

  perform(what: Step): void {
    this.at += 61_000
    if ('decision' in what) this.decide(what.decision as 'accept', what.cents)
    else if ('refund' in what) this.tell(this.refunds[what.refund], what.input)
    else this.giveBack(what.returnId, what.valueCents)
    this.settle()
  }
}

function assertRight({ books, cashIn, refunds, acceptedCents }: World): void {
  const suspended = suspendedCents(cashIn, 'E2')
  const pending = refunds
    .filter(({ status }) => status === 'PENDING')
    .reduce((sum, { valueCents }) => sum + valueCents, 0n)
  assert.equal(books.balance('suspense_in'), suspended, 'what the charge knows to be in suspense is booked so')
  assert.ok(suspended >= 0n, 'what is in suspense leaves it once')
  assert.ok(returningCents(cashIn, 'E2') >= pending, 'and the charge knows of it')
  const fee = acceptedCents < cashIn.feeCents ? acceptedCents : cashIn.feeCents
  const merchants = books.balance('available') + books.balance('reserved') + books.balance('receivable')
  const bears = refundedCents(cashIn)
  assert.equal(merchants, BEGINNING_CENTS + acceptedCents - fee - bears, 'the merchant has what was accepted')
  if (cashIn.facts.decidedPayments) assert.ok(bears <= acceptedCents, 'and bears nothing that was decided otherwise')
  assert.equal(
    [...books.balances.values()].reduce((sum, cents) => sum + cents, 0n),
    BEGINNING_CENTS,
    'no money came to be',
  )
  const references = books.journals.map(({ operationId, kind, reference }) => `${operationId} ${kind} ${reference}`)
  assert.equal(new Set(references).size, references.length, 'a journal is posted once')
  if (suspended > 0n) assert.equal(cashIn.openCases?.length, 1, 'a case tells of it')
}

test('[cash-in.cases.3] [cash-in.returns.1] whatever happens in whatever order, money in suspense leaves it once, and the merchant bears none of it', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 25 }), (steps) => {
      const world = new World()
      for (const what of steps) {
        world.perform(what)
        assertRight(world)
      }
      for (const refund of world.refunds) world.tell(refund, INPUTS['work.requested'])
      for (const refund of world.refunds) world.tell(refund, INPUTS['work.claimed'], INPUTS['work.done'])
      world.settle()
      assertRight(world)
      const open = world.refunds.filter(({ status }) => status === 'PENDING').map(({ id }) => id)
      const listed = Object.keys(world.cashIn.facts.openRefunds ?? {})
      assert.deepEqual(listed.toSorted(), open.toSorted(), 'nothing is on its way for ever')
    }),
    { numRuns: 10_000 },
  )
})
