import { type AccountCode, accounts } from '@pixgate/spec'
import type { CashIn } from '../../src/cash-in/index.ts'
import type { Draft, WrittenMove } from '../../src/engine/draft.ts'
import { reasonOf } from '../../src/engine/follow.ts'
import type { OpenCase, Operation } from '../../src/engine/operation.ts'
import type { BankBook } from './bank-book.ts'
import type { Tables } from './tables.ts'
import { assertHolds } from './violation.ts'

/** What must hold after every step. */

/** Ends of operations, and where each may go from there: written down a second time, apart from the machines. */
const AFTER_END: Readonly<Record<string, readonly string[]>> = {
  'cash_in PAID': ['RECONCILIATION_REQUIRED'],
  'cash_in EXPIRED': ['PAID', 'RECONCILIATION_REQUIRED'],
  'cash_in FAILED': ['RECONCILIATION_REQUIRED'],
  'cash_out CONFIRMED': ['REVERSED', 'RECONCILIATION_REQUIRED'],
  'cash_out REVERSED': ['RECONCILIATION_REQUIRED'],
  'cash_out FAILED': ['RECONCILIATION_REQUIRED'],
  'cash_out RELEASED': ['RECONCILIATION_REQUIRED'],
  'refund_in CONFIRMED': [],
  'refund_in FAILED': ['CONFIRMED'],
}

/** What a client sees of a state on the way to its end. */
const PROGRESS: Readonly<Record<string, readonly string[]>> = {
  cash_out: ['RESERVED', 'DISPATCHED'],
}

const NOTIFIED: Readonly<Record<string, string>> = {
  'cash_in PAID': 'pix_cash_in PAID',
  'cash_in FAILED': 'pix_cash_in FAILED',
  'cash_out CONFIRMED': 'pix_cash_out CONFIRMED',
  'cash_out FAILED': 'pix_cash_out FAILED',
  'cash_out RELEASED': 'pix_cash_out FAILED',
  'refund_in CONFIRMED': 'pix_cash_in_reversal CONFIRMED',
  'refund_in FAILED': 'pix_cash_in_reversal FAILED',
}

/** The rules of the cases that a payout may have while its outcome is awaited. */
const AWAITED_CASES: Readonly<Record<string, readonly string[]>> = {
  DISPATCHED: ['cash-out.states.15'],
  PROVIDER_RESULT_UNKNOWN: [],
}

/** Watches every commit. */
export class Watch {
  readonly #tables: Tables
  readonly #book: BankBook
  readonly #now: () => number
  /** Σ of entries, kept apart from the balances. */
  readonly #sums = new Map<string, bigint>()
  readonly #heldBy = new Map<string, bigint>()
  #heldCents = 0n
  readonly #notifiedOf = new Map<string, string[]>()
  readonly #externalIds = new Map<string, string>()
  readonly #refunds = new Map<string, Map<string, bigint>>()
  #seenEntries = 0

  constructor(tables: Tables, book: BankBook, now: () => number) {
    this.#tables = tables
    this.#book = book
    this.#now = now
  }

  /** @throws Violation where a commit broke something */
  committed(draft: Draft): void {
    this.#entries()
    this.#accounts()
    for (const operation of draft.createdOperations.values()) this.#created(operation)
    for (const move of draft.moves) this.#moved(move)
    for (const { operationId, eventType, status } of draft.notifications)
      this.#notified(operationId, `${eventType} ${status}`)
    for (const id of new Set(draft.moves.map(({ after }) => after.id))) this.#operation(id)
    for (const { before, after } of draft.moves) this.#isNotified(before, after)
  }

  #entries(): void {
    const { entries } = this.#tables
    assertHolds(entries.length >= this.#seenEntries, 'I14', () => 'entries are gone')
    const journals = new Map<string, bigint>()
    for (; this.#seenEntries < entries.length; this.#seenEntries++) {
      const entry = entries[this.#seenEntries]
      if (!entry) break
      const { account, amountCents, operationId, journal, reference } = entry
      const name = `${journal} ${operationId} ${reference}`
      journals.set(name, (journals.get(name) ?? 0n) + amountCents)
      this.#sums.set(account, (this.#sums.get(account) ?? 0n) + amountCents)
      if (account === 'reserved') {
        this.#heldBy.set(operationId, (this.#heldBy.get(operationId) ?? 0n) + amountCents)
        this.#heldCents += amountCents
      }
      if (journal === 'cash_out_released' || journal === 'refund_in_released') this.#released(operationId)
    }
    for (const [name, sum] of journals) assertHolds(sum === 0n, 'I1', () => `${name} sums to ${sum}`)
  }

  #accounts(): void {
    let total = 0n
    for (const [code, { balanceCents }] of this.#tables.accounts) {
      total += balanceCents
      const sum = this.#sums.get(code) ?? 0n
      assertHolds(sum === balanceCents, 'I13', () => `${code} is ${balanceCents} and its entries are ${sum}`)
      assertHolds(isWithin(code, balanceCents), 'I2', () => `${code} is ${balanceCents}`)
    }
    assertHolds(total === 0n, 'I1', () => `all accounts sum to ${total}`)
    const held = this.#heldCents
    assertHolds(held === this.#tables.balance('reserved'), 'I3', () => `holds are ${held}`)
  }

  #released(id: string): void {
    const isSafe = !this.#book.mayHaveLeft(id, this.#now()) || !this.#book.isTruthful(id)
    assertHolds(isSafe, 'I9', () => `${id} was released, and its money may have left`)
  }

  #created({ id, kind, externalId, detail, valueCents, endToEndId }: Operation): void {
    const name = `${kind} ${externalId}`
    const known = this.#externalIds.get(name)
    assertHolds(known === undefined || known === id, 'I11', () => `${name} is ${known} and ${id}`)
    this.#externalIds.set(name, id)
    if (kind !== 'refund_in' || detail.origin === 'PARTNER') return
    const payment = endToEndId ?? ''
    const refunds = this.#refunds.get(payment) ?? new Map<string, bigint>()
    this.#refunds.set(payment, refunds.set(id, valueCents))
    this.#ceiling(String(detail.cashInId), payment)
  }

  /** Whoever orders them: what merchant and operators have returned of a payment. */
  #ceiling(cashInId: string, payment: string): void {
    const cashIn = this.#tables.operations.get(cashInId)
    const refunds = [...(this.#refunds.get(payment) ?? [])].map(([id, cents]) => {
      const operation = this.#tables.operations.get(id)
      return {
        cents: operation?.status === 'FAILED' ? 0n : cents,
        isMerchants: operation?.detail.origin === 'MERCHANT',
      }
    })
    const sum = (of: typeof refunds) => of.reduce((total, { cents }) => total + cents, 0n)
    const { payments = {}, acceptedCents } = (cashIn?.facts ?? {}) as CashIn['facts']
    const paid = BigInt(payments[payment] ?? 0)
    assertHolds(sum(refunds) <= paid, 'I8', () => `${sum(refunds)} are returned of ${paid}, which ${payment} was`)
    const credited = acceptedCents === undefined ? (cashIn?.valueCents ?? 0n) : BigInt(acceptedCents)
    const merchants = sum(refunds.filter(({ isMerchants }) => isMerchants))
    assertHolds(merchants <= credited, 'I8', () => `${merchants} are refunded of ${credited}, which ${cashInId} was`)
  }

  #moved({ before, after }: WrittenMove): void {
    if (!before || before.status === after.status) return
    const allowed = AFTER_END[`${before.kind} ${before.status}`]
    assertHolds(
      allowed?.includes(after.status) ?? true,
      'I6',
      () => `${before.kind} ${before.id} was ${before.status} and is ${after.status}`,
    )
    const progress = PROGRESS[before.kind]
    // Out of a doubt it may be where it was: never sent.
    const isUnsent = before.status === 'RECONCILIATION_REQUIRED' && after.facts.attempts === undefined
    const isBack = progress !== undefined && after.status === 'RESERVED' && !isUnsent
    assertHolds(!isBack, 'I15', () => `${before.id} was ${before.status} and is ${after.status}`)
  }

  #isNotified(before: Operation | undefined, after: Operation): void {
    if (before?.status === after.status) return
    const wanted = NOTIFIED[`${after.kind} ${after.status}`]
    if (wanted === undefined) return
    const isKnown = this.#notifiedOf.get(after.id)?.includes(wanted) ?? false
    assertHolds(isKnown, 'I7', () => `${after.kind} ${after.id} is ${after.status} and nobody is told`)
  }

  #notified(operationId: string, what: string): void {
    const before = this.#notifiedOf.get(operationId) ?? []
    const isRepeated = before.includes(what) && !what.startsWith('pix_cash_out_reversal')
    assertHolds(!isRepeated, 'I7', () => `${operationId} is told ${what} twice`)
    const isFailureLate = what.endsWith(' FAILED') && before.includes(what.replace(/FAILED$/, 'CONFIRMED'))
    assertHolds(!isFailureLate, 'I7', () => `${operationId} is told ${what} after its confirmation`)
    this.#notifiedOf.set(operationId, [...before, what])
  }

  /** What of an operation is reserved is what its state says. */
  #operation(id: string): void {
    const operation = this.#tables.operations.get(id)
    if (!operation) return
    const held = this.#heldBy.get(id) ?? 0n
    const wanted = wantedHold(operation)
    assertHolds(
      wanted === undefined || held === wanted,
      'I3',
      () => `${operation.kind} ${id} is ${operation.status} and holds ${held}, not ${wanted}`,
    )
    for (const open of operation.kind === 'cash_in' ? [] : this.#tables.openCasesOf(id))
      assertHolds(mayHave(operation, open), 'I16', () => `${id} is ${operation.status} and has a case ${open.kind}`)
  }
}

/** Whether a payout or refund may have this case open. */
function mayHave(operation: Operation, open: Pick<OpenCase, 'kind' | 'rule'>): boolean {
  const { kind, status } = operation
  const awaited = kind === 'cash_out' ? AWAITED_CASES[status] : undefined
  if (awaited) return awaited.includes(open.rule)
  const hasEnded = reasonOf(operation) === null && AFTER_END[`${kind} ${status}`] !== undefined
  return !hasEnded || open.kind !== 'outcome_unknown'
}

function isWithin(code: AccountCode, cents: bigint): boolean {
  const { bound } = accounts[code]
  return !(bound === 'not negative' && cents < 0n) && !(bound === 'not positive' && cents > 0n)
}

/** What an operation that is in no doubt has set aside. */
function wantedHold(operation: Operation): bigint | undefined {
  const { kind, status, valueCents, feeCents, detail } = operation
  if (reasonOf(operation) !== null) return undefined
  if (kind === 'cash_out') {
    const isUnderWay = ['RESERVED', 'DISPATCHED', 'PROVIDER_RESULT_UNKNOWN'].includes(status)
    return isUnderWay ? valueCents + feeCents : 0n
  }
  // What goes back to a payer out of suspense is not the merchant’s.
  if (kind === 'refund_in') return status === 'PENDING' && detail.origin !== 'OPERATOR' ? valueCents : 0n
  return undefined
}
