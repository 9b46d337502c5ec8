import { Refusal } from '@pixgate/spec'
import { Batch, Contended } from '../../src/engine/batch.ts'
import type { Draft } from '../../src/engine/draft.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { Cache, type LoadedState, movementKey } from '../../src/engine/loader.ts'
import { type Command, identityKeys, type Operation } from '../../src/engine/operation.ts'
import type { Reader } from '../../src/engine/reader.ts'
import type { WriteResult } from '../../src/engine/writer.ts'
import type { DatabaseClock } from '../../src/platform/clock.ts'
import type { Database } from '../../src/platform/db/database.ts'
import { DatabaseUnavailable } from '../../src/platform/db/errors.ts'
import type { Ids } from '../../src/platform/ids.ts'
import { createBatcher, QueueFull } from '../../src/platform/jobs/batcher.ts'
import type { Pause } from '../../src/platform/jobs/pause.ts'
import type { Logger } from '../../src/platform/log.ts'
import type { Tables } from './tables.ts'

/** The engine as it is, but for its two ends: it reads tables in memory, and writes them in the place of its statement. */

/** What becomes of the way to the database and back. */
export type CommitFault = 'none' | 'unreachable' | 'lost before' | 'lost after'

/** What the engine of a process needs. */
export interface MemoryEngineOptions {
  readonly tables: Tables
  readonly database: Database
  readonly clock: DatabaseClock
  readonly ids: Ids
  readonly pause: Pause
  readonly logger: Logger
  /** Halts before the statement is sent, and before its reply is read. */
  readonly halt: (before: string) => Promise<void>
  readonly commitFault: () => CommitFault
  /** Others were faster: a compare was lost. */
  readonly onStale: () => void
}

const BOUNDS = { batchMax: 256, queueMax: 5_000 }

/** Makes the engine of a process. */
export function createMemoryEngine(options: MemoryEngineOptions): Engine {
  const reader = createMemoryReader(options.tables)
  const cache = new Cache(24)
  const batch = new Batch({ ...options, cache, reader, writer: new MemoryWriter(options, cache) })
  const batcher = createBatcher<Command<unknown>, unknown>((commands) => batch.run(commands), BOUNDS)
  return {
    execute: <Outcome>(command: Command<Outcome>) =>
      batcher.submit(command).catch((error) => {
        batch.unheard.add(command)
        const isPassing =
          error instanceof QueueFull || error instanceof DatabaseUnavailable || error instanceof Contended
        throw isPassing ? new Refusal('overloaded', { retryAfterSeconds: 1, cause: error }) : error
      }) as Promise<Outcome>,
    get waiting() {
      return batcher.waiting
    },
    drained: () => batcher.drained(),
  }
}

/** Writes drafts, and learns from the reply as the engine's own writer does. */
class MemoryWriter {
  readonly #options: MemoryEngineOptions
  readonly #cache: Cache

  constructor(options: MemoryEngineOptions, cache: Cache) {
    this.#options = options
    this.#cache = cache
  }

  async write(draft: Draft): Promise<WriteResult> {
    const { halt, commitFault, tables } = this.#options
    await halt('a commit')
    const fault = commitFault()
    if (fault === 'unreachable') throw new DatabaseUnavailable('no connection', false)
    if (fault === 'lost before') return this.#staleUnseen()
    const result = tables.commit(draft)
    await halt('the reply to a commit')
    if (result === 'committed' && fault === 'lost after') {
      this.#cache.clear()
      return this.#committed(draft)
    }
    if (result === 'committed') this.#learn(draft)
    else if (result === 'stale') this.#forget(draft)
    return result === 'committed' ? this.#committed(draft) : result
  }

  async writeHolding(command: Command<unknown>, plan: (loaded: LoadedState) => Draft) {
    const { tables, halt } = this.#options
    await halt('rows that are held')
    const draft = plan(loadedOf(tables, command))
    if (draft.isEmpty) return undefined
    const result = tables.commit(draft)
    this.#cache.clear()
    return result === 'committed' ? this.#committed(draft) : result
  }

  /** The batch was given up: it can never be written, and is decided again. */
  #staleUnseen(): WriteResult {
    this.#cache.clear()
    return 'stale'
  }

  #learn(draft: Draft): void {
    const { tables } = this.#options
    const changed = [...draft.accountChanges.keys()]
    this.#cache.putAccounts(new Map([...tables.accounts].filter(([code]) => changed.includes(code))))
    this.#cache.putControls(new Map([...tables.controls].filter(([name]) => draft.readControls.has(name))))
    this.#cache.countAllowances(draft.allowances.changes)
  }

  #forget(draft: Draft): void {
    this.#options.onStale()
    this.#cache.putAccounts(this.#options.tables.accounts)
    this.#cache.putControls(this.#options.tables.controls)
    for (const id of draft.readVersions.keys()) this.#cache.drop(id)
  }

  #committed(draft: Draft): WriteResult {
    for (const id of [...draft.createdOperations.keys(), ...draft.movedOperations.keys()]) {
      const operation = draft.operation(id)
      if (operation) this.#cache.put(operation)
    }
    for (const { operationId } of draft.cases.opened) if (operationId !== null) this.#cache.drop(operationId)
    return 'committed'
  }
}

function loadedOf(tables: Tables, { reads, movements = [] }: Command<unknown>): LoadedState {
  const operations = reads.flatMap((id) => tables.operation(id) ?? [])
  return {
    accounts: new Map(tables.accounts),
    controls: new Map(tables.controls),
    openCases: [],
    operations: new Map(operations.map((operation) => [operation.id, operation])),
    movements: new Map(movements.map((one) => [movementKey(one), tables.movements.get(movementKey(one)) ?? null])),
    allowances: new Map(),
    recipients: new Map(),
    debts: new Map(tables.debts),
  }
}

/** The engine's reads. Allowances are bounded nowhere here: the engine asks for none. */
function createMemoryReader(tables: Tables): Reader {
  const byKey = (keys: readonly string[]) => keys.flatMap((key) => tables.byIdentity(key) ?? [])
  return {
    operations: async (ids) => ids.flatMap((id): Operation[] => [tables.operation(id) ?? []].flat()),
    byIdempotencyKeys: async (keys) => byKey(keys.map((key) => `key ${key}`)),
    byExternalIds: async (wanted) =>
      byKey(wanted.flatMap((one) => identityKeys({ ...one, idempotencyKey: null }).slice(0, 1))),
    byExclusiveKeys: async (keys) => byKey(keys.map((key) => `exclusive ${key}`)),
    openCases: async () => [],
    accounts: async () => ({ now: 0, accounts: new Map(tables.accounts) }),
    controls: async () => new Map(tables.controls),
    debts: async () => new Map(tables.debts),
    movements: async (wanted) =>
      new Map(wanted.map((one) => [movementKey(one), tables.movements.get(movementKey(one)) ?? null])),
    allowances: async () => new Map(),
    recipients: async () => new Map(),
  }
}
