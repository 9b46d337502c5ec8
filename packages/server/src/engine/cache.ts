import { type AccountCode, accounts as accountTable } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import type { Account, Control } from './loaded-state.ts'
import type { ControlName, Operation } from './operation.ts'

/**
 * What the writer believes the rows to be. Every belief is compared in the statement that relies on it; it is changed
 * only after the database's reply, and dropped on any doubt.
 * @source rules#engine.12
 */
export class Cache {
  readonly #operations: LRUCache<string, Operation>
  readonly #accounts = new Map<AccountCode, Account>()
  readonly #controls = new Map<ControlName, Control>()

  constructor(operationsMax: number) {
    this.#operations = new LRUCache({ max: operationsMax })
  }

  operation(id: string): Operation | undefined {
    return this.#operations.get(id)
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

  clear(): void {
    this.#operations.clear()
    this.#controls.clear()
    this.#accounts.clear()
  }
}
