import type { DatabaseClock } from '../platform/clock.ts'
import { type Database, untilReplicated } from '../platform/db/database.ts'
import type { Settled } from '../platform/jobs/batcher.ts'
import type { Command, Operation } from './operation.ts'
import type { Reader } from './reader.ts'

/** What a create is known by, or wants for itself, belongs to `operation`, as it stands. */
class TakenByOperation extends Error {
  readonly operation: Operation

  constructor(operation: Operation, message: string) {
    super(message)
    this.operation = operation
  }
}

/** A create found its external id taken. @source rules#engine.3 */
export class ExternalIdTaken extends TakenByOperation {
  override readonly name = 'ExternalIdTaken'

  constructor(operation: Operation) {
    super(operation, `the external id of operation ${operation.id} was used again`)
  }
}

/** A create used an idempotency key again within its time. `operation` is the one that used it first. */
export class IdempotencyKeyTaken extends TakenByOperation {
  override readonly name = 'IdempotencyKeyTaken'

  constructor(operation: Operation) {
    super(operation, `the idempotency key of operation ${operation.id} was used again`)
  }
}

/** A create wants for itself what `operation` holds. */
export class ExclusiveKeyTaken extends TakenByOperation {
  override readonly name = 'ExclusiveKeyTaken'

  constructor(operation: Operation) {
    super(operation, `operation ${operation.id} holds what another wants for itself`)
  }
}

/** How long an idempotency key is remembered. @source rules#idempotency.1 */
const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

/** Looks up whether what a create is known by, or wants for itself, belongs to another operation. */
export class Duplicates {
  readonly #database: Database
  readonly #clock: DatabaseClock
  readonly #reader: Reader

  constructor(database: Database, clock: DatabaseClock, reader: Reader) {
    this.#database = database
    this.#clock = clock
    this.#reader = reader
  }

  /** Answers creates whose idempotency key was used before, and returns the rest. */
  async answerRepeated(
    commands: readonly Command<unknown>[],
    settled: Map<Command<unknown>, Settled<unknown>>,
  ): Promise<readonly Command<unknown>[]> {
    const keys = commands.flatMap(({ creates }) => creates?.idempotencyKey ?? [])
    if (keys.length === 0) return commands
    const used = await this.#reader.byIdempotencyKeys(keys, this.#clock.now() - IDEMPOTENCY_MS)
    if (used.length > 0) await untilReplicated(this.#database)
    const found = new Map(used.map((operation) => [operation.idempotencyKey, operation]))
    return commands.filter((command) => {
      const existing = command.creates?.idempotencyKey ? found.get(command.creates.idempotencyKey) : undefined
      if (existing) settled.set(command, { error: new IdempotencyKeyTaken(existing) })
      return !existing
    })
  }

  /**
   * Looks up what all creates are known by and want for themselves, answers those that are taken, and returns the rest.
   * What counts more is looked up later: whoever commits meanwhile is found by that first.
   */
  async answerTaken(
    commands: readonly Command<unknown>[],
    settled: Map<Command<unknown>, Settled<unknown>>,
  ): Promise<readonly Command<unknown>[]> {
    const creates = commands.flatMap((command) => command.creates ?? [])
    if (creates.length === 0) return commands
    const exclusiveKeys = creates.flatMap(({ exclusiveKey }) => exclusiveKey ?? [])
    const held = exclusiveKeys.length === 0 ? [] : await this.#reader.byExclusiveKeys(exclusiveKeys)
    const holders = new Map(held.map((operation) => [operation.exclusiveKey, operation]))
    const namesakes = new Map(
      (await this.#reader.byExternalIds(creates)).map((operation) => [nameOf(operation), operation]),
    )
    // Whoever is told that it exists asks for it no more.
    if (namesakes.size + holders.size > 0) await untilReplicated(this.#database)
    return (await this.answerRepeated(commands, settled)).filter((command) => {
      const namesake = command.creates && namesakes.get(nameOf(command.creates))
      const holder = command.creates?.exclusiveKey ? holders.get(command.creates.exclusiveKey) : undefined
      if (namesake) settled.set(command, { error: new ExternalIdTaken(namesake) })
      else if (holder) settled.set(command, { error: new ExclusiveKeyTaken(holder) })
      return !namesake && !holder
    })
  }
}

function nameOf({ kind, externalId }: Pick<Operation, 'kind' | 'externalId'>): string {
  return `${kind} ${externalId}`
}
