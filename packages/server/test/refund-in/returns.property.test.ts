import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { CashIn } from '../../src/cash-in/cash-in.ts'
import { returnsInDoubt } from '../../src/cash-in/returns.ts'
import { sha256 } from '../../src/platform/crypto.ts'
import { decideCreate } from '../../src/refund-in/commands.ts'
import type { BankReturn, RefundIn, RefundInInput } from '../../src/refund-in/refund-in.ts'
import { decideInDoubt, decideReturn } from '../../src/refund-in/returns.ts'
import { decideRefundIn } from '../../src/refund-in/rules.ts'
import { NOW } from '../cash-in/situations.ts'
import { MADE_BY, refundTerms } from '../support/limits.ts'
import { BEGINNING_CENTS, Books } from './books.ts'
import { paidCashIn } from './situations.ts'

/**
 * A truthful bank whose words come in any order, late, twice, and without our ids: whatever the order, at the end our
 * books are its books.
 */

/** How the bank names what it tells: our id, its own reference of the return, or only the payment's. */
const naming = fc.constantFrom('ours', 'return', 'payment')

/** Two refunds of ours of one amount and a third, and returns of the bank's own of either amount. */
const REFUNDS = [
  { id: 'refund-0', valueCents: 30_00n },
  { id: 'refund-1', valueCents: 30_00n },
  { id: 'refund-2', valueCents: 20_00n },
] as const

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ send: fc.nat(2), isAnswered: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ executes: fc.nat(2), naming }) },
  { weight: 3, arbitrary: fc.record({ asks: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ debits: fc.constantFrom(30_00n, 20_00n, 1n), naming }) },
  { weight: 4, arbitrary: fc.record({ delivers: fc.nat(7), isTwice: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ passMs: fc.constantFrom(1_000, 12_000, 300_000, 900_000) }) },
)

/** What the bank has of a refund. */
interface AtBank {
  readonly transactionId: string
  returnId?: string
}

/** Something that the bank said and that is under way to us. */
type Message = { readonly refundId: string; readonly inputs: readonly RefundInInput[] } | BankReturn

/** The gateway and a truthful bank, with a post between them that is not in order. */
class World {
  readonly books = new Books()
  readonly cashInId = paidCashIn().id
  readonly atBank = new Map<string, AtBank>()
  readonly post: Message[] = []
  leftCents = 0n
  takenBack = 0
  returns = 0
  at = NOW

  constructor() {
    this.books.operations.set(this.cashInId, paidCashIn())
    for (const { id, valueCents } of REFUNDS) {
      const more = { cashInId: this.cashInId, externalId: id, reason: null, correlationId: 'test' }
      const request = { id, valueCents, ...more, bodyHash: sha256(id), idempotencyKey: null, madeBy: MADE_BY }
      this.books.apply(decideCreate(request, refundTerms(), this.books, this.at), this.at)
    }
  }

  get cashIn(): CashIn {
    return this.books.operation(this.cashInId) as CashIn
  }

  refund(id: string): RefundIn {
    return this.books.operation(id) as RefundIn
  }

  /** Sends a refund: the bank has it, and its answer may be lost. */
  send(id: string, isAnswered: boolean): void {
    if ((this.refund(id).facts.attempts ?? 0) > 0 || this.refund(id).status !== 'PENDING') return
    const due = { ...this.refund(id), dueAt: this.at }
    this.books.operations.set(id, due)
    this.apply(id, [{ on: 'send.claimed', leaseMs: 60_000 }])
    const transactionId = `tx-${id}`
    this.atBank.set(id, { transactionId })
    if (isAnswered) this.post.push({ refundId: id, inputs: [{ on: 'send.accepted', transactionId }] })
  }

  /** The bank carries a refund out and tells of it. */
  execute(id: string, valueCents: bigint, how: string): void {
    const refund = this.atBank.get(id)
    if (!refund || refund.returnId !== undefined) return
    const returnId = this.#newReturn(valueCents)
    refund.returnId = returnId
    const returned = { returnId, valueCents, occurredAt: this.at }
    const { transactionId } = refund
    const isMatched = how === 'ours' || (how === 'return' && this.refund(id).transactionId === transactionId)
    this.post.push(
      isMatched
        ? { refundId: id, inputs: [{ on: 'partner.confirmed', returned, transactionId, isVerified: false }] }
        : { ...returned, transactionId: how === 'payment' ? 'tx' : transactionId },
    )
  }

  /** The bank takes money back by itself. */
  debit(valueCents: bigint, how: string): void {
    const returnId = this.#newReturn(valueCents)
    this.takenBack += 1
    const transactionId = how === 'payment' ? 'tx' : `tx-${returnId}`
    this.post.push({ returnId, valueCents, occurredAt: this.at, transactionId })
  }

  #newReturn(valueCents: bigint): string {
    this.leftCents += valueCents
    this.returns += 1
    return `D${this.returns}`
  }

  /** Asks about a refund, and hears the truth at once. */
  ask(id: string, valueCents: bigint): void {
    const bank = this.atBank.get(id)
    if (!bank) return
    this.books.operations.set(id, { ...this.refund(id), dueAt: this.at })
    this.apply(id, [{ on: 'work.claimed', leaseMs: 60_000 }])
    const { transactionId, returnId } = bank
    const accepted = { on: 'send.accepted', transactionId } as const
    const returned = returnId === undefined ? undefined : { returnId, valueCents, occurredAt: this.at }
    const confirmed = returned && ({ on: 'partner.confirmed', returned, transactionId, isVerified: true } as const)
    this.apply(id, [accepted, ...(confirmed ? [confirmed] : []), { on: 'work.done' }])
  }

  /** One of the words that are under way arrives. */
  deliver(index: number, isTwice: boolean): void {
    const [message] = isTwice ? this.post.slice(index) : this.post.splice(index, 1)
    if (message === undefined) return
    if ('refundId' in message) this.apply(message.refundId, message.inputs)
    else this.#hearOfReturn(message)
  }

  #hearOfReturn({ transactionId, ...returned }: BankReturn): void {
    const open = REFUNDS.map(({ id }) => id)
    // A reference that became known meanwhile names the refund after all.
    const named = open.find((id) => this.refund(id).transactionId === transactionId)
    if (named !== undefined) {
      this.apply(named, [{ on: 'partner.confirmed', returned, transactionId, isVerified: false }])
      return
    }
    const identity = { id: `taken-${returned.returnId}`, bodyHash: sha256('') }
    const movement = { ...returned, transactionId }
    this.books.apply(decideReturn(this.cashIn, movement, identity, this.books, this.at, open), this.at)
  }

  apply(id: string, inputs: readonly RefundInInput[]): void {
    this.books.apply(decideRefundIn(this.refund(id), this.cashIn, inputs, this.books, this.at), this.at)
  }

  /** What a worker does about the returns that are awaited. */
  settle(): void {
    const ids = returnsInDoubt(this.cashIn)
    const identities = new Map(ids.map(([returnId]) => [returnId, { id: `taken-${returnId}`, bodyHash: sha256('') }]))
    this.books.apply(decideInDoubt(this.cashIn, identities, this.books, this.at), this.at)
  }

  perform(what: Step): void {
    this.at += 10
    if ('send' in what) this.send(refundAt(what.send).id, what.isAnswered)
    else if ('executes' in what) this.execute(...idAndValue(what.executes), what.naming)
    else if ('asks' in what) this.ask(...idAndValue(what.asks))
    else if ('debits' in what) this.debit(what.debits, what.naming)
    else if ('delivers' in what) this.deliver(what.delivers, what.isTwice)
    else this.at += what.passMs
    this.settle()
  }

  /** Everything is sent, carried out, told and asked about, as often as it takes. */
  end(): void {
    for (const { id, valueCents } of REFUNDS) {
      this.send(id, true)
      this.execute(id, valueCents, 'return')
    }
    while (this.post.length > 0) this.perform({ delivers: 0, isTwice: false })
    for (let round = 0; round < 2; round++) {
      this.at += 12_000
      for (const { id, valueCents } of REFUNDS) this.ask(id, valueCents)
      this.settle()
    }
  }
}

type Step = typeof step extends fc.Arbitrary<infer What> ? What : never

function refundAt(index: number) {
  return REFUNDS[index] ?? REFUNDS[0]
}

function idAndValue(index: number): [id: string, valueCents: bigint] {
  const { id, valueCents } = refundAt(index)
  return [id, valueCents]
}

test('[RF-12] [RF-13] [RF-14] [cash-in.returns.1] [cash-in.returns.2] in whatever order the reports of a correct bank arrive, its book and ours agree', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const world = new World()
      for (const what of steps) {
        world.perform(what)
        assert.ok(world.books.balance('settlement') <= world.leftCents, 'nothing is debited that did not leave')
      }
      world.end()
      assertTrue(world)
    }),
    { numRuns: 10_000 },
  )
})

function assertTrue({ books, cashIn, leftCents, takenBack, atBank }: World): void {
  const refunds = [...books.operations.values()].filter(({ kind }) => kind === 'refund_in') as RefundIn[]
  assert.equal(books.balance('settlement'), leftCents, 'the bank’s book')
  for (const account of ['reserved', 'suspense_out', 'suspense_in'] as const) assert.equal(books.balance(account), 0n)
  assert.equal(books.balance('available') + books.balance('receivable'), BEGINNING_CENTS - leftCents)
  assert.deepEqual(returnsInDoubt(cashIn), [])
  assert.deepEqual(cashIn.facts.openRefunds, {})
  for (const { id, returnId } of [...atBank].map(([id, { returnId }]) => ({ id, returnId }))) {
    const refund = books.operation(id) as RefundIn
    assert.deepEqual([refund.status, refund.facts.returnId], ['CONFIRMED', returnId])
  }
  assert.equal(refunds.filter(({ detail }) => detail.origin === 'PARTNER').length, takenBack, 'none is invented')
  const others = books.cases.filter((kind) => kind !== 'return_unexplained' && kind !== 'bank_contradicts')
  assert.deepEqual(others, [])
}
