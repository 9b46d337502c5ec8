import { type AccountCode, accounts as accountTable } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import type { DatabaseClock } from '../platform/clock.ts'
import { type AllowanceName, allowanceKey, type BucketChange, type Recipient, type Used } from './allowance.ts'
import type { BookedMovement, Command, ControlName, Document, MovementId, OpenCase, Operation } from './operation.ts'
import type { Reader } from './reader.ts'

/** An account as it was when the batch began. */
export interface Account {
  readonly version: bigint
  readonly balanceCents: bigint
}

/** A control as it is or will be. */
export interface Control {
  readonly version: bigint
  readonly value: Document
}

/**
 * What is known before a batch: every operation it reads that exists, every case it decides, every account, every control, for each movement
 * that it may book where it was booked, or `null`, or that it was not looked up, and what was used of the allowances and paid
 * to the keys that it names.
 */
export interface LoadedState {
  readonly operations: ReadonlyMap<string, Operation>
  /** Cases without an operation that are decided, as far as they are open. */
  readonly openCases: readonly OpenCase[]
  readonly accounts: ReadonlyMap<AccountCode, Account>
  readonly controls: ReadonlyMap<ControlName, Control>
  /** By {@link movementKey}. */
  readonly movements: ReadonlyMap<string, BookedMovement | null>
  /** By {@link allowanceKey}. */
  readonly allowances: ReadonlyMap<string, Used>
  /** By their Pix keys. */
  readonly recipients: ReadonlyMap<string, Recipient>
  /** What the merchant owes, by the operation that made the debt, oldest first. */
  readonly debts: ReadonlyMap<string, bigint>
}

/** Names a movement among all of a batch. */
export function movementKey({ direction, id }: MovementId): string {
  return `${direction} ${id}`
}

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
  readonly #accounts = new Map<AccountCode, Account>()
  readonly #controls = new Map<ControlName, Control>()
  readonly #allowances = new LRUCache<string, Map<number, bigint>>({ max: ALLOWANCES_MAX })

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

/** Loads what commands look at: from the cache, and read where that does not have it. */
export class Loader {
  readonly #clock: DatabaseClock
  readonly #reader: Reader
  readonly #cache: Cache

  constructor(clock: DatabaseClock, reader: Reader, cache: Cache) {
    this.#clock = clock
    this.#reader = reader
    this.#cache = cache
  }

  load(commands: readonly Command<unknown>[]): Promise<LoadedState> {
    return this.#load(commands, true)
  }

  /** The same without the cache. */
  async loadAnew(commands: readonly Command<unknown>[]): Promise<LoadedState> {
    this.#cache.dropAllowances()
    await this.#loadAccounts()
    return this.#load(commands, false)
  }

  async #load(commands: readonly Command<unknown>[], usesCache: boolean): Promise<LoadedState> {
    // Movements first: one that is booked after this read shows in the operation, which is read next.
    const movements = await this.#reader.movements(commands.flatMap((command) => command.movements ?? []))
    const operations = await this.#operations(new Set(commands.flatMap(({ reads }) => reads)), usesCache)
    const openCases = await this.#reader.openCases(commands.flatMap((command) => command.cases ?? []))
    if (!this.#cache.hasAccounts) await this.#loadAccounts()
    const { accounts, controls } = this.#cache
    const isOwed = (accounts.get('receivable')?.balanceCents ?? 0n) < 0n
    const allowances = await this.#allowances(commands.flatMap((command) => command.allowances ?? []))
    const recipients = await this.#reader.recipients(
      commands.flatMap((command) => command.recipients ?? []),
      this.#clock.now(),
    )
    const debts = isOwed ? await this.#reader.debts() : new Map()
    return { operations, openCases, accounts, controls, movements, allowances, recipients, debts }
  }

  async #operations(ids: ReadonlySet<string>, usesCache: boolean): Promise<Map<string, Operation>> {
    const operations = new Map<string, Operation>()
    const missing: string[] = []
    for (const id of ids) {
      const cached = usesCache ? this.#cache.operation(id) : undefined
      if (cached) operations.set(id, cached)
      else missing.push(id)
    }
    if (missing.length === 0) return operations
    for (const operation of await this.#reader.operations(missing)) {
      operations.set(operation.id, operation)
      this.#cache.put(operation)
    }
    return operations
  }

  async #allowances(names: readonly AllowanceName[]): Promise<ReadonlyMap<string, Used>> {
    const missing = names.filter((name) => this.#cache.used(name) === undefined)
    if (missing.length > 0) this.#cache.putAllowances(await this.#reader.allowances(missing))
    return new Map(names.map((name) => [allowanceKey(name), this.#cache.used(name) ?? new Map()]))
  }

  async #loadAccounts(): Promise<void> {
    const { now, accounts } = await this.#reader.accounts()
    this.#clock.observe(now)
    this.#cache.putAccounts(accounts)
    this.#cache.putControls(await this.#reader.controls())
  }
}
