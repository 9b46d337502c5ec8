import type { PaymentReturn } from '../../src/banks/port.ts'
import type { Chance } from '../fuzz/chance.ts'
import type { Agenda } from './agenda.ts'
import { BankBook, type BankCharge, type BankOrder, type PaidIn } from './bank-book.ts'
import {
  failedEvent,
  forcedReturnEvent,
  paymentEvent,
  payoutReturnedEvent,
  type SentEvent,
  settledEvent,
} from './bank-events.ts'
import type { Fault, Faults } from './faults.ts'

/** The bank: it takes orders, carries them out in its own time, and is paid and asked back by people we never see. */

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** What a bank is made with. */
export interface BankOptions {
  readonly chance: Chance
  readonly faults: Faults
  readonly agenda: Agenda
  readonly now: () => number
  readonly say: (sentence: string) => void
  /** For how long after it was taken the same order, by when it was sent, is taken for a repeat; 0: never. */
  readonly windowMs: (kind: BankOrder['kind']) => number
  /** Sends an event on its way to us. */
  readonly send: (event: SentEvent) => void
  /** It was told to carry out what it had carried out: this must never be. */
  readonly onSecondOrder: (order: BankOrder) => void
  /** Whether the bank can be asked: one that cannot tells returns without ids. */
  readonly canBeAsked: boolean
  /** Nobody pays a charge and no order ends by itself. */
  readonly isStaged: boolean
}

/** The bank. */
export class Bank {
  readonly book = new BankBook()
  readonly #options: BankOptions

  constructor(options: BankOptions) {
    this.#options = options
  }

  get #now(): number {
    return this.#options.now()
  }

  /** Takes a charge, once. */
  acceptCharge(id: string, terms: Pick<BankCharge, 'valueCents' | 'expiresAt'>): BankCharge {
    const known = this.book.charges.get(id)
    if (known) return known
    const { valueCents, expiresAt } = terms
    const transactionId = this.book.name('T')
    const charge = { id, transactionId, valueCents, expiresAt, acceptedAt: this.#now, isCancelled: false, payments: [] }
    this.book.charges.set(id, charge)
    this.#options.say(`the bank takes charge ${id}`)
    this.#planPayments(charge)
    return charge
  }

  #planPayments(charge: BankCharge): void {
    const { chance, faults, isStaged } = this.#options
    if (isStaged) return
    const timeMs = Math.max(SECOND, charge.expiresAt - this.#now)
    if (chance.bool(0.1)) {
      this.#plan(timeMs * chance.below(100) * 0.01, () => this.#failCharge(charge))
      return
    }
    if (chance.bool(0.75))
      this.#plan(
        chance.below(Math.min(timeMs, 20 * MINUTE)),
        () => charge.isMeant || this.pay(charge, charge.valueCents),
      )
    if (faults.hit('payment late', 0.2)) {
      this.#plan(timeMs + chance.below(5 * MINUTE), () => this.pay(charge, charge.valueCents))
    }
    if (faults.hit('payment twice', 0.2)) this.#plan(chance.below(HOUR), () => this.pay(charge, charge.valueCents))
    if (faults.hit('payment of another amount', 0.1)) {
      this.#plan(chance.below(timeMs), () => this.pay(charge, charge.valueCents + 1n + BigInt(chance.below(500))))
    }
  }

  #plan(afterMs: number, what: () => void): void {
    this.#options.agenda.at(Math.round(this.#now + afterMs), what)
  }

  #failCharge(charge: BankCharge): void {
    if (charge.payments.length > 0) return
    charge.isCancelled = true
    this.#options.send(failedEvent('charge', charge, this.#now))
  }

  /** Somebody pays a charge. */
  pay(charge: BankCharge, valueCents: bigint, occurredAt = this.#now): PaidIn | undefined {
    if (charge.isCancelled) return undefined
    const payment: PaidIn = { endToEndId: this.book.name('E'), valueCents, occurredAt, returns: [] }
    charge.payments.push(payment)
    this.#options.say(`somebody pays ${valueCents} of charge ${charge.id} (${payment.endToEndId})`)
    this.#enter('PAYMENT_RECEIVED', 'in', payment.endToEndId, payment.endToEndId, charge.id, valueCents)
    this.#options.send(paymentEvent(charge, payment))
    if (this.#options.faults.hit('payment taken back', 0.2)) {
      this.#plan(this.#options.chance.below(2 * HOUR), () => this.forceReturn(charge, payment))
    }
    return payment
  }

  /** The bank takes a payment back by itself, whole or in part. */
  forceReturn(charge: BankCharge, payment: PaidIn, part = 1 + this.#options.chance.below(2)): PaymentReturn {
    const left = payment.valueCents - payment.returns.reduce((sum, { valueCents }) => sum + valueCents, 0n)
    return this.forceReturnAs(charge, payment, left / BigInt(part) > 0n ? left / BigInt(part) : 1n, this.book.name('R'))
  }

  /** The same of this much, under this reference. */
  forceReturnAs(charge: BankCharge, payment: PaidIn, valueCents: bigint, transactionId: string): PaymentReturn {
    const returned: PaymentReturn = {
      returnId: this.book.name('D'),
      transactionId,
      valueCents,
      occurredAt: this.#now,
      origin: 'BANK',
    }
    payment.returns.push(returned)
    this.#options.say(`the bank takes ${valueCents} back of charge ${charge.id} (${returned.returnId})`)
    this.#enter('PAYMENT_TAKEN_BACK', 'out', returned.returnId, payment.endToEndId, charge.id, valueCents)
    this.#options.send(forcedReturnEvent(charge, payment.endToEndId, returned, false))
    return returned
  }

  /** Takes an order; the same within the window for a repeat. */
  acceptOrder(
    asked: Pick<BankOrder, 'kind' | 'id' | 'valueCents' | 'chargeId' | 'paymentId'>,
    sentAt = this.#now,
  ): BankOrder {
    const known = this.book.orders.get(asked.id)
    if (known) {
      const isFirst = !known.isOrdered
      known.isOrdered = true
      if (isFirst || sentAt - known.acceptedAt < this.#options.windowMs(asked.kind)) return known
      this.#options.onSecondOrder(known)
      return known
    }
    const order: BankOrder = {
      ...asked,
      transactionId: this.book.name('T'),
      acceptedAt: this.#now,
      state: 'PROCESSING',
      executions: [],
      returns: [],
      isOrdered: true,
    }
    this.book.orders.set(asked.id, order)
    this.#options.say(`the bank takes ${asked.kind} ${asked.id} of ${asked.valueCents}`)
    this.#planOutcome(order)
    return order
  }

  #planOutcome(order: BankOrder): void {
    const { chance, faults, isStaged } = this.#options
    if (isStaged) return
    const afterMs = faults.hit('outcome late', 0.05)
      ? 25 * HOUR + chance.below(HOUR)
      : chance.pick([0, SECOND, 10 * SECOND, MINUTE, 20 * MINUTE])
    if (afterMs === 0) this.end(order, chance.bool(0.85))
    else this.#plan(afterMs, () => this.end(order, chance.bool(0.85)))
  }

  /** Carries an order out, or lets it fail. */
  end(order: BankOrder, isDone: boolean): void {
    if (order.state !== 'PROCESSING') return
    if (!isDone) {
      order.state = 'FAILED'
      this.#options.say(`${order.kind} ${order.id} fails at the bank`)
      this.#options.send(failedEvent(order.kind, order, this.#now))
      return
    }
    order.state = 'CONFIRMED'
    this.execute(order)
    const { faults, chance } = this.#options
    if (faults.hit('payout doubled', 0.1)) this.execute(order)
    if (order.kind === 'payout' && faults.hit('payout returned', 0.3)) {
      this.#plan(chance.below(HOUR), () => this.comeBack(order, chance.pick([1, 1, 2, 3])))
    }
    if (order.kind === 'payout' && faults.hit('tariff taken', 0.2)) this.deductTariff(order.id)
  }

  /** The bank takes a tariff for a payout, once. */
  deductTariff(id: string): void {
    if (this.book.entries.some(({ kind, reference }) => kind === 'TARIFF' && reference === id)) return
    this.#enter('TARIFF', 'out', id, this.book.orders.get(id)?.executions[0]?.id ?? '', id, 10n)
  }

  /** Money leaves for an order. */
  execute(order: BankOrder): void {
    const isPayout = order.kind === 'payout'
    const execution = { id: this.book.name(isPayout ? 'E' : 'D'), at: this.#now }
    order.executions.push(execution)
    this.#options.say(`${order.valueCents} leave for ${order.kind} ${order.id} (${execution.id})`)
    const paymentId = isPayout ? execution.id : order.paymentId
    this.#enter(isPayout ? 'PAYOUT_SENT' : 'REFUND_SENT', 'out', execution.id, paymentId, order.id, order.valueCents)
    this.#options.send(settledEvent(order, execution))
  }

  /** A payout comes back, in so many parts. */
  comeBack(order: BankOrder, parts: number): void {
    const { faults } = this.#options
    const [execution] = order.executions
    if (!execution) return
    for (let part = 0; part < parts; part++) {
      const valueCents = order.valueCents / BigInt(parts) > 0n ? order.valueCents / BigInt(parts) : 1n
      const returned = { returnId: this.book.name('D'), valueCents, occurredAt: this.#now }
      order.returns.push(returned)
      this.#options.say(`${valueCents} of payout ${order.id} come back (${returned.returnId})`)
      this.#enter('PAYOUT_RETURNED', 'in', returned.returnId, execution.id, order.id, valueCents)
      this.#options.send(payoutReturnedEvent(order, returned, false))
      if (faults.hit('return without id', 0.3)) this.#sendUnnamed(order, returned)
    }
  }

  #sendUnnamed(order: BankOrder, returned: BankOrder['returns'][number]): void {
    this.book.lies.add(order.id)
    const unnamed = { ...returned, returnId: `unnamed ${returned.returnId}` }
    this.#options.send(payoutReturnedEvent(order, unnamed, true))
  }

  /** Money that left for a payout comes back, as somebody was told who asked for it. @returns its return id */
  bringBack(order: BankOrder, valueCents: bigint, endToEndId: string): string {
    const returned = { returnId: this.book.name('D'), valueCents, occurredAt: this.#now }
    order.returns.push(returned)
    this.#enter('PAYOUT_RETURNED', 'in', returned.returnId, endToEndId, order.id, valueCents)
    return returned.returnId
  }

  /** Whether the bank may refuse in words what it does in deed, and so on: a lie about an operation is remembered. */
  lies(fault: Fault, limit: number, ...ids: readonly string[]): boolean {
    if (!this.#options.faults.hit(fault, limit)) return false
    for (const id of ids) this.book.lies.add(id)
    return true
  }

  #enter(
    kind: 'PAYMENT_RECEIVED' | 'PAYMENT_TAKEN_BACK' | 'PAYOUT_SENT' | 'PAYOUT_RETURNED' | 'REFUND_SENT' | 'TARIFF',
    direction: 'in' | 'out',
    movementId: string,
    endToEndId: string,
    reference: string,
    valueCents: bigint,
  ): void {
    const { faults, chance } = this.#options
    const lateMs = faults.hit('statement late', 0.2) ? chance.below(4 * MINUTE) : 0
    const occurredAt = this.#now
    const entry = { kind, direction, movementId, endToEndId, reference, valueCents, occurredAt }
    this.book.move({ ...entry, shownAt: occurredAt + lateMs })
  }
}
