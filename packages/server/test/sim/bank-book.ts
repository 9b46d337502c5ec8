import type { PaymentReturn, StatementEntry } from '../../src/banks/port.ts'

/** What really happened at the bank: the truth that our books are held against. */

/** A payment of a charge. */
export interface PaidIn {
  readonly endToEndId: string
  readonly valueCents: bigint
  readonly occurredAt: number
  readonly returns: PaymentReturn[]
}

/** A charge at the bank. */
export interface BankCharge {
  readonly id: string
  readonly transactionId: string
  readonly valueCents: bigint
  readonly expiresAt: number
  readonly acceptedAt: number
  isCancelled: boolean
  /** Somebody has paid it already, by mistake under another charge. */
  isMeant?: boolean
  readonly payments: PaidIn[]
}

/** A payout or refund at the bank. */
export interface BankOrder {
  readonly kind: 'payout' | 'refund'
  readonly id: string
  readonly transactionId: string
  readonly valueCents: bigint
  /** Of the charge that a refund is of, and of the payment that goes back. */
  readonly chargeId: string
  readonly paymentId: string
  readonly acceptedAt: number
  state: 'PROCESSING' | 'CONFIRMED' | 'FAILED'
  /** Every time that it was carried out: its end-to-end id, or return id. */
  readonly executions: { readonly id: string; readonly at: number }[]
  readonly returns: { readonly returnId: string; readonly valueCents: bigint; readonly occurredAt: number }[]
  /** Whether it was ever ordered: the bank may have made it by itself. */
  isOrdered: boolean
}

/** An entry of the bank's book, and when its statement shows it. */
export interface BookEntry extends StatementEntry {
  readonly shownAt: number
}

/** The book. */
export class BankBook {
  readonly charges = new Map<string, BankCharge>()
  readonly orders = new Map<string, BankOrder>()
  readonly entries: BookEntry[] = []
  /** Orders on their way to the bank, which we gave up: they may still arrive. */
  readonly underWay = new Map<string, number>()
  /** Ids about which the bank has told something untrue. */
  readonly lies = new Set<string>()
  balanceCents = 0n
  #named = 0

  /** A name that nothing had before. */
  name(prefix: string): string {
    this.#named += 1
    return `${prefix}${String(this.#named).padStart(6, '0')}`
  }

  /** Money moved. */
  move(entry: BookEntry): void {
    this.entries.push(entry)
    this.balanceCents += entry.direction === 'in' ? entry.valueCents : -entry.valueCents
  }

  /** Whether money may have left for an order, or may still leave. */
  mayHaveLeft(id: string, nowMs: number): boolean {
    const order = this.orders.get(id)
    if (order) return order.state !== 'FAILED' || order.executions.length > 0
    return (this.underWay.get(id) ?? Number.NEGATIVE_INFINITY) > nowMs
  }

  /** Whether what the bank tells about an operation was always true. */
  isTruthful(id: string): boolean {
    return !this.lies.has(id)
  }
}
