import { DatabaseSync } from 'node:sqlite'
import type { CashIn } from '@pixgate/sdk'

/** A row of `shop_order`. */
export interface Order {
  /** The `externalId` of its charge. */
  readonly id: string
  readonly value_cents: number
  /** `NEW` until there is a charge, then the status of the charge. */
  readonly status: 'NEW' | CashIn['status']
  readonly charge_id: string | null
  readonly pix_code: string | null
  readonly expires_at: string | null
  readonly paid_at: string | null
  /** Code of the refusal or failure. */
  readonly failure: string | null
  readonly refunded_cents: number
  /** Of the last refund. */
  readonly refund_number: number
  readonly refund_cents: number
  readonly refund_status: 'NONE' | 'PENDING' | 'CONFIRMED' | 'FAILED'
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS shop_order (
    id TEXT PRIMARY KEY,
    value_cents INTEGER NOT NULL CHECK (value_cents > 0),
    status TEXT NOT NULL DEFAULT 'NEW',
    charge_id TEXT UNIQUE,
    pix_code TEXT,
    expires_at TEXT,
    paid_at TEXT,
    failure TEXT,
    refunded_cents INTEGER NOT NULL DEFAULT 0,
    refund_number INTEGER NOT NULL DEFAULT 0,
    refund_cents INTEGER NOT NULL DEFAULT 0,
    refund_status TEXT NOT NULL DEFAULT 'NONE'
  ) STRICT;
  CREATE TABLE IF NOT EXISTS pixgate (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT, secret TEXT) STRICT;
  INSERT OR IGNORE INTO pixgate (one) VALUES (1);`

/** The `externalId` of the order's last refund: known before the call, and the same in each repetition. */
export function refundIdOf({ id, refund_number }: Pick<Order, 'id' | 'refund_number'>): string {
  return `${id}-refund-${refund_number}`
}

/** The shop's database. An UPDATE names the states in which it may happen, so duplicates change nothing. */
export class Store {
  readonly #database: DatabaseSync

  constructor(file: string) {
    this.#database = new DatabaseSync(file)
    this.#database.exec(SCHEMA)
  }

  close(): void {
    this.#database.close()
  }

  /** Behind the last event of the feed that was handled. */
  get cursor(): string | undefined {
    return this.#pixgate().cursor ?? undefined
  }

  set cursor(cursor: string) {
    this.#run('UPDATE pixgate SET cursor = ?', cursor)
  }

  /** Verifies webhooks. A real shop keeps it with its other secrets. */
  get secret(): string | null {
    return this.#pixgate().secret
  }

  set secret(secret: string) {
    this.#run('UPDATE pixgate SET secret = ?', secret)
  }

  /** Adds an order. The id is the form's, so a form that is sent twice adds one. */
  add(id: string, valueCents: number): Order {
    this.#run('INSERT OR IGNORE INTO shop_order (id, value_cents) VALUES (?, ?)', id, valueCents)
    return this.find(id) as Order
  }

  find(id: string): Order | undefined {
    return this.#all('SELECT * FROM shop_order WHERE id = ?', id)[0]
  }

  /** Whether an event about this charge, or its refund, is about an order. Others may use the same Pixgate. */
  has(externalId: string, chargeId: string): boolean {
    return this.#all('SELECT * FROM shop_order WHERE id = ? OR charge_id = ?', externalId, chargeId).length > 0
  }

  /** Stores a reading of a charge. An older reading that comes late neither undoes an end nor a refund. */
  apply(charge: CashIn): void {
    const { id, externalId, status, pixCode, expirationDate, paidAt, failureCode, refundedCents } = charge
    this.#run(
      `UPDATE shop_order SET status = ?1, charge_id = ?2, pix_code = coalesce(?3, pix_code), expires_at = ?4,
         paid_at = coalesce(?5, paid_at), failure = ?6, refunded_cents = max(refunded_cents, ?7)
       WHERE id = ?8 AND NOT (status IN ('PAID', 'FAILED') AND charge_id IS NOT NULL
         AND ?1 IN ('PENDING', 'EXPIRED', 'PROVIDER_RESULT_UNKNOWN'))`,
      ...[status, id, pixCode, expirationDate, paidAt, failureCode, refundedCents, externalId],
    )
  }

  /** There is no charge, and there will be none. */
  refuse(id: string, failure: string): void {
    this.#run(`UPDATE shop_order SET status = 'FAILED', failure = ? WHERE id = ? AND status = 'NEW'`, failure, id)
  }

  /** Begins a refund, one at a time. @param number the next one's, so a form that is sent twice begins one */
  beginRefund(id: string, number: number, valueCents: number): Order | undefined {
    return this.#all(
      `UPDATE shop_order SET refund_number = ?2, refund_cents = ?3, refund_status = 'PENDING'
       WHERE id = ?1 AND status = 'PAID' AND refund_status <> 'PENDING' AND refund_number = ?2 - 1
         AND ?3 BETWEEN 1 AND value_cents - refunded_cents
       RETURNING *`,
      ...[id, number, valueCents],
    )[0]
  }

  endRefund(refundId: string, status: Order['refund_status']): void {
    this.#run(
      `UPDATE shop_order SET refund_status = ? WHERE id || '-refund-' || refund_number = ? AND refund_status = 'PENDING'`,
      ...[status, refundId],
    )
  }

  /** Orders whose next change may not be notified. @param now ISO 8601 */
  open(now: string): Order[] {
    return this.#all(
      `SELECT * FROM shop_order WHERE status IN ('NEW', 'PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED')
         OR status = 'PENDING' AND expires_at <= ? OR refund_status = 'PENDING'`,
      now,
    )
  }

  /** Orders that were paid from one instant on until before another. */
  paid(from: string, to: string): Order[] {
    return this.#all('SELECT * FROM shop_order WHERE paid_at >= ? AND paid_at < ?', from, to)
  }

  #pixgate() {
    return this.#database.prepare('SELECT * FROM pixgate').get() as { cursor: string | null; secret: string | null }
  }

  #run(sql: string, ...values: (string | number | null)[]): void {
    this.#database.prepare(sql).run(...values)
  }

  #all(sql: string, ...values: (string | number)[]): Order[] {
    return this.#database.prepare(sql).all(...values) as unknown as Order[]
  }
}
