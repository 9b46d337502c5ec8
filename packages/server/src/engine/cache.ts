import { type AccountCode, accounts as accountTable } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import { type AllowanceName, allowanceKey, type BucketChange, type Used } from './allowance.ts'
import type { Account, Control } from './loaded-state.ts'
import type { ControlName, Operation } from './operation.ts'

/** Windows of the service and of API keys with caps of their own; more are read anew. */
const ALLOWANCES_MAX = 1_000

/** No window has more buckets. */
const BUCKETS_MAX = 100

/**
 * What the writer believes the rows to be. Every belief is compared in the statement that relies on it; it is changed
 * only after the database's reply, and dropped on any doubt.
 * @source rules#engine.12
 */
export class Cache {
  readonly #operations: LRUCache<string, Operation>
  /** Their ids by order id. */
  readonly #ordered: LRUCache<string, string>
  readonly #accounts = new Map<AccountCode, Account>()
  readonly #controls = new Map<ControlName, Control>()
  readonly #allowances = new LRUCache<string, Map<number, bigint>>({ max: ALLOWANCES_MAX })

  constructor(operationsMax: number) {
    this.#operations = new LRUCache({ max: operationsMax })
    this.#ordered = new LRUCache({ max: operationsMax })
  }

  operation(id: string): Operation | undefined {
    return this.#operations.get(id)
  }

  /** Whether it has the operation that the bank knows by this id. */
  hasOrdered(orderId: string): boolean {
    const id = this.#ordered.get(orderId)
    return id !== undefined && this.#operations.has(id)
  }

  get accounts(): ReadonlyMap<AccountCode, Account> {
    return this.#accounts
  }

  get controls(): ReadonlyMap<ControlName, Control> {
    return this.#controls
  }

  get hasAccounts(): boolean {
    return this.#accounts.size === Object.keys(accountTable).length
  }

  /** Keeps an operation; where there are too many, the one used longest ago goes. */
  put(operation: Operation): void {
    this.#operations.set(operation.id, operation)
    if (operation.orderId !== null) this.#ordered.set(operation.orderId, operation.id)
  }

  drop(id: string): void {
    this.#operations.delete(id)
  }

  putAccounts(accounts: ReadonlyMap<AccountCode, Account>): void {
    for (const [code, account] of accounts) this.#accounts.set(code, account)
  }

  putControls(controls: ReadonlyMap<ControlName, Control>): void {
    for (const [name, control] of controls) this.#controls.set(name, control)
  }

  used(name: AllowanceName): Used | undefined {
    return this.#allowances.get(allowanceKey(name))
  }

  /** What was read, by {@link allowanceKey}. */
  putAllowances(allowances: ReadonlyMap<string, Used>): void {
    for (const [key, used] of allowances) this.#allowances.set(key, new Map(used))
  }

  /** Counts what was written; what others wrote meanwhile is learnt where it matters, from a statement that is refused. */
  countAllowances(changes: readonly BucketChange[]): void {
    for (const change of changes) {
      const used = this.#allowances.get(allowanceKey(change))
      if (used === undefined) continue
      used.set(change.bucket, (used.get(change.bucket) ?? 0n) + change.cents)
      for (const bucket of used.keys()) if (bucket < change.bucket - BUCKETS_MAX) used.delete(bucket)
    }
  }

  dropAllowances(): void {
    this.#allowances.clear()
  }

  clear(): void {
    this.#allowances.clear()
    this.#operations.clear()
    this.#controls.clear()
    this.#accounts.clear()
  }
}
