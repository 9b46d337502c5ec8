import type { DatabaseClock } from '../platform/clock.ts'
import { type AllowanceName, allowanceKey, type Used } from './allowance.ts'
import type { Cache } from './cache.ts'
import { type LoadedState, movementKey, PRESUMED_NEW } from './loaded-state.ts'
import type { Command, MovementId, Operation } from './operation.ts'
import type { Reader } from './reader.ts'

interface Belief {
  readonly presumesNew: boolean
  /** Operations are taken from the cache, where it has them. */
  readonly believesCache: boolean
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

  /**
   * @param presumesNew whether movements are not looked up, but presumed to be booked nowhere
   */
  load(commands: readonly Command<unknown>[], presumesNew = false): Promise<LoadedState> {
    return this.#load(commands, { presumesNew, believesCache: true })
  }

  /** The same, believing nothing. */
  async loadAnew(commands: readonly Command<unknown>[]): Promise<LoadedState> {
    this.#cache.dropAllowances()
    await this.#loadAccounts()
    return this.#load(commands, { presumesNew: false, believesCache: false })
  }

  async #load(commands: readonly Command<unknown>[], { presumesNew, believesCache }: Belief): Promise<LoadedState> {
    const named = commands.flatMap((command) => command.movements ?? [])
    // First: a movement that was booked since would not be in the operation that has it.
    const movements = await (presumesNew ? presumedNew(named) : this.#reader.movements(named))
    const operations = await this.#operations(new Set(commands.flatMap(({ reads }) => reads)), believesCache)
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

  async #operations(ids: ReadonlySet<string>, believesCache: boolean): Promise<Map<string, Operation>> {
    const operations = new Map<string, Operation>()
    const missing: string[] = []
    for (const id of ids) {
      const cached = believesCache ? this.#cache.operation(id) : undefined
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

  /** Where there was no room the last time, whoever presumes it decides everything twice. */
  async #loadAccounts(): Promise<void> {
    const { now, accounts } = await this.#reader.accounts()
    this.#clock.observe(now)
    this.#cache.putAccounts(accounts)
    this.#cache.putControls(await this.#reader.controls())
  }
}

function presumedNew(movements: readonly MovementId[]): LoadedState['movements'] {
  return new Map(movements.map((movement) => [movementKey(movement), PRESUMED_NEW]))
}
