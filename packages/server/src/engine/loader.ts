import { type AccountCode, accounts as accountTable } from '@pixgate/spec'
import { LRUCache } from 'lru-cache'
import type { DatabaseClock } from '../platform/clock.ts'
import { type AllowanceName, allowanceKey, type BucketChange, type Recipient, type Used } from './allowance.ts'
import type { BookedMovement, Command, ControlName, Document, MovementId, OpenCase, Operation } from './operation.ts'
import type { Reader } from './reader.ts'

export interface Account {
  readonly version: bigint
  readonly balanceCents: bigint
}

export interface Control {
  readonly version: bigint
  readonly value: Document
}

/**
 * State before a batch: the operations that it reads, the cases that it decides, all accounts and controls, where each named movement
 * was booked (`null`: nowhere), and the usage of the named allowances and Pix keys.
 */
export interface LoadedState {
  readonly operations: ReadonlyMap<string, Operation>
  /** Open cases without an operation that are decided. */
  readonly openCases: readonly OpenCase[]
  readonly accounts: ReadonlyMap<AccountCode, Account>
  readonly controls: ReadonlyMap<ControlName, Control>
  /** By {@link movementKey}. */
  readonly movements: ReadonlyMap<string, BookedMovement | null>
  /** By {@link allowanceKey}. */
  readonly allowances: ReadonlyMap<string, Used>
  /** By their Pix keys. */
  readonly recipients: ReadonlyMap<string, Recipient>
  /** Debts of the merchant by operation, oldest first. */
  readonly debts: ReadonlyMap<string, bigint>
}

export function movementKey({ direction, id }: MovementId): string {
  return `${direction} ${id}`
}

/** Cached windows: of the service, and of API keys with caps. */
const ALLOWANCES_MAX = 1_000

/** More than any window has. */
const BUCKETS_MAX = 100

/**
 * Rows as last seen. The commit compares every cached row that a decision relied on; entries change only after the database's
 * reply, and are dropped on any doubt.
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

  /** By {@link allowanceKey}. */
  putAllowances(allowances: ReadonlyMap<string, Used>): void {
    for (const [key, used] of allowances) this.#allowances.set(key, new Map(used))
  }

  /** Adds this process's usage. Usage by others is learnt from a refused commit. */
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

interface Loading {
  readonly clock: DatabaseClock
  readonly reader: Reader
  readonly cache: Cache
}

/** Loads the state that commands look at, from the database without the cache. */
export async function loadAnew(loading: Loading, commands: readonly Command<unknown>[]): Promise<LoadedState> {
  loading.cache.dropAllowances()
  await loadAccounts(loading)
  return load(loading, commands, false)
}

/** Loads the state that commands look at, from the cache and the database. */
export async function load(
  loading: Loading,
  commands: readonly Command<unknown>[],
  usesCache = true,
): Promise<LoadedState> {
  const { clock, reader, cache } = loading
  // Movements first: a booking after this read shows in the operation, which is read next.
  const movements = await reader.movements(commands.flatMap((command) => command.movements ?? []))
  const operations = await loadOperations(loading, new Set(commands.flatMap(({ reads }) => reads)), usesCache)
  const openCases = await reader.openCases(commands.flatMap((command) => command.cases ?? []))
  if (!cache.hasAccounts) await loadAccounts(loading)
  const { accounts, controls } = cache
  const isOwed = (accounts.get('receivable')?.balanceCents ?? 0n) < 0n
  const names = commands.flatMap((command) => command.allowances ?? [])
  const missing = names.filter((name) => cache.used(name) === undefined)
  if (missing.length > 0) cache.putAllowances(await reader.allowances(missing))
  const allowances = new Map(names.map((name) => [allowanceKey(name), cache.used(name) ?? new Map()]))
  const recipients = await reader.recipients(
    commands.flatMap((command) => command.recipients ?? []),
    clock.now(),
  )
  const debts = isOwed ? await reader.debts() : new Map()
  return { operations, openCases, accounts, controls, movements, allowances, recipients, debts }
}

async function loadOperations(
  { reader, cache }: Loading,
  ids: ReadonlySet<string>,
  usesCache: boolean,
): Promise<Map<string, Operation>> {
  const operations = new Map<string, Operation>()
  const missing: string[] = []
  for (const id of ids) {
    const cached = usesCache ? cache.operation(id) : undefined
    if (cached) operations.set(id, cached)
    else missing.push(id)
  }
  if (missing.length === 0) return operations
  for (const operation of await reader.operations(missing)) {
    operations.set(operation.id, operation)
    cache.put(operation)
  }
  return operations
}

async function loadAccounts({ clock, reader, cache }: Loading): Promise<void> {
  const { now, accounts } = await reader.accounts()
  clock.observe(now)
  cache.putAccounts(accounts)
  cache.putControls(await reader.controls())
}
