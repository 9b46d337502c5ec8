import type { DatabaseClock } from '../platform/clock.ts'
import { type Database, untilReplicated } from '../platform/db/database.ts'
import { DatabaseUnavailable } from '../platform/db/errors.ts'
import type { Ids } from '../platform/ids.ts'
import type { Settled } from '../platform/jobs/batcher.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import { lapsed } from '../platform/live-request.ts'
import type { Logger } from '../platform/log.ts'
import { Draft } from './draft.ts'
import { type Cache, type LoadedState, load, loadAnew } from './loader.ts'
import type { Command, Decision, Operation } from './operation.ts'
import type { Reader } from './reader.ts'
import type { Writer } from './writer.ts'

/** Decisions of a batch on the loaded state. */
export interface Plan {
  readonly draft: Draft
  readonly decided: Map<Command<unknown>, unknown>
  /** Refusals and no-ops, still to be confirmed on the latest rows. */
  readonly noops: Command<unknown>[]
  /** Commands whose request has lapsed. */
  readonly lapsed: Command<unknown>[]
}

function changesNothing({ creates, moves, cases, closes, eventOrders, controls = {} }: Decision<unknown>): boolean {
  const isEmpty = !creates?.length && !moves?.length && !cases?.length && !closes?.length && !eventOrders?.length
  return isEmpty && Object.keys(controls).length === 0
}

class TakenByOperation extends Error {
  readonly operation: Operation

  constructor(operation: Operation, message: string) {
    super(message)
    this.operation = operation
  }
}

/** The external id belongs to `operation`. @source rules#engine.3 */
export class ExternalIdTaken extends TakenByOperation {
  override readonly name = 'ExternalIdTaken'

  constructor(operation: Operation) {
    super(operation, `the external id of operation ${operation.id} was used again`)
  }
}

/** `operation` used the idempotency key within the last 24 hours. */
export class IdempotencyKeyTaken extends TakenByOperation {
  override readonly name = 'IdempotencyKeyTaken'

  constructor(operation: Operation) {
    super(operation, `the idempotency key of operation ${operation.id} was used again`)
  }
}

/** `operation` holds the exclusive key. */
export class ExclusiveKeyTaken extends TakenByOperation {
  override readonly name = 'ExclusiveKeyTaken'

  constructor(operation: Operation) {
    super(operation, `operation ${operation.id} holds what another wants for itself`)
  }
}

/** How long an idempotency key is remembered. @source rules#idempotency.1 */
const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

function nameOf({ kind, externalId }: Pick<Operation, 'kind' | 'externalId'>): string {
  return `${kind} ${externalId}`
}

/** After losing the comparison this often, a batch runs item by item while holding its rows. */
const TRIES = 5

const TAKEN = new Set<unknown>(['external id taken', 'idempotency key taken', 'exclusive key taken'])

type AnyCommand = Command<unknown>

export interface BatchOptions {
  readonly database: Database
  readonly clock: DatabaseClock
  readonly ids: Ids
  readonly logger: Logger
  readonly pause: Pause
  readonly cache: Cache
  /** A simulation replaces reader and writer by memory. */
  readonly reader: Reader
  readonly writer: Pick<Writer, 'write' | 'writeHolding'>
}

/** The rows could not be locked in time. */
export class Contended extends Error {
  override readonly name = 'Contended'

  constructor() {
    super('the rows of a command could not be had in time')
  }
}

/** Decides commands, writes and answers them. */
export class Batch {
  /** Commands whose callers were answered 503. */
  readonly unheard = new WeakSet<AnyCommand>()
  readonly #options: BatchOptions

  constructor(options: BatchOptions) {
    this.#options = options
  }

  /** One outcome per command, in order. */
  async run(commands: readonly AnyCommand[]): Promise<Settled<unknown>[]> {
    const settled = new Map<AnyCommand, Settled<unknown>>()
    try {
      await this.#settle(commands, settled)
    } catch (error) {
      const left = commands.filter((command) => !settled.has(command))
      if (left.length > 1 && !(error instanceof DatabaseUnavailable)) await this.#settleAlone(left, settled, error)
      else for (const command of left) settled.set(command, { error })
    }
    return commands.map((command) => settled.get(command) ?? { error: new Error('a command was lost') })
  }

  /** Runs a batch that failed unexpectedly item by item, so that only the faulty command fails. @source rules#engine.9 */
  async #settleAlone(
    commands: readonly AnyCommand[],
    settled: Map<AnyCommand, Settled<unknown>>,
    reason: unknown,
  ): Promise<void> {
    this.#options.logger.warn(
      { event: 'engine.batch_failed', error: String(reason), items: commands.length },
      'A batch failed; running its commands one by one',
    )
    this.#options.cache.clear()
    for (const command of commands) {
      await this.#settle([command], settled).catch((error) => settled.set(command, { error }))
    }
  }

  /**
   * Decides a command that keeps losing the comparison while holding its rows.
   * @throws Contended the rows cannot be locked
   * @source rules#engine.7
   */
  async #settleHolding(command: AnyCommand, settled: Map<AnyCommand, Settled<unknown>>): Promise<void> {
    let plan: Plan | undefined
    const result = await this.#options.writer.writeHolding(command, (loaded) => {
      plan = this.#plan([command], loaded)
      return plan.draft
    })
    if (result === 'stale' || !plan) throw new Contended()
    if (TAKEN.has(result)) await this.#answerTaken([command], settled)
    else this.#answer(plan, settled)
    if (plan.noops.length === 0) return
    for (const lost of await this.#answerNoops(plan.noops, settled)) settled.set(lost, { error: new Contended() })
  }

  async #settle(commands: readonly AnyCommand[], settled: Map<AnyCommand, Settled<unknown>>): Promise<void> {
    let pending = commands
    for (let attempt = 1; pending.length > 0; attempt++) {
      if (attempt > TRIES) {
        for (const command of pending) await this.#settleHolding(command, settled)
        return
      }
      pending = await this.#round(pending, settled, attempt)
    }
  }

  /**
   * Decides, writes and answers; returns the commands to decide again. Later attempts wait first, with jitter.
   * @source rules#engine.6
   */
  async #round(
    commands: readonly AnyCommand[],
    settled: Map<AnyCommand, Settled<unknown>>,
    attempt: number,
  ): Promise<readonly AnyCommand[]> {
    if (attempt > 1) await this.#options.pause.jittered(attempt * 5)
    const open = await this.#answerRepeated(commands, settled)
    const plan = this.#plan(open, await load(this.#options, open))
    if (!plan.draft.isEmpty) {
      const result = await this.#options.writer.write(plan.draft)
      if (result === 'stale') return open
      if (TAKEN.has(result)) return this.#answerTaken(open, settled)
    }
    this.#answer(plan, settled)
    return plan.noops.length === 0 ? [] : this.#answerNoops(plan.noops, settled)
  }

  #answer(plan: Plan, settled: Map<AnyCommand, Settled<unknown>>): void {
    for (const [command, outcome] of plan.decided) settled.set(command, { result: outcome })
    for (const command of plan.lapsed) settled.set(command, { error: lapsed() })
  }

  /**
   * Answers commands that change nothing, on the latest rows. A taken external id decides first: if the answer to a payout
   * that drained the balance was lost, its repetition must be 409 and not `insufficient_balance`. External ids are looked up
   * after the rows, so that the rows never show the effect of a duplicate that the lookup missed.
   * @source rules#engine.4
   */
  async #answerNoops(
    noops: readonly AnyCommand[],
    settled: Map<AnyCommand, Settled<unknown>>,
  ): Promise<readonly AnyCommand[]> {
    const loaded = await loadAnew(this.#options, noops)
    const rest = await this.#answerTaken(noops, settled)
    const again: AnyCommand[] = []
    for (const command of rest) {
      const outcome = this.#noopOutcome(command, loaded)
      if (outcome) settled.set(command, outcome)
      else again.push(command)
    }
    return again
  }

  /** Decides each command on the state after the commands before it; writes nothing. */
  #plan(commands: readonly AnyCommand[], loaded: LoadedState): Plan {
    const now = this.#options.clock.now()
    const plan: Plan = { draft: new Draft(loaded, now, this.#options.ids), decided: new Map(), noops: [], lapsed: [] }
    for (const command of commands) {
      if (this.#hasLapsed(command)) plan.lapsed.push(command)
      else if (command.creates && plan.draft.isTaken(command.creates)) plan.noops.push(command)
      else planOne(command, plan, now)
    }
    return plan
  }

  /** Outcome of a command that changes nothing on the latest rows; `undefined` if it now changes something. */
  #noopOutcome(command: AnyCommand, loaded: LoadedState): Settled<unknown> | undefined {
    if (this.#hasLapsed(command)) return { error: lapsed() }
    const now = this.#options.clock.now()
    try {
      const draft = new Draft(loaded, now, this.#options.ids)
      const decision = command.decide(draft, now)
      if (changesNothing(decision)) return { result: decision.outcome }
      draft.add(command, decision)
      return undefined
    } catch (error) {
      return { error }
    }
  }

  /**
   * A command's request has lapsed. Checked at each decision, including repeated ones: a client that was answered 503
   * may repeat the request at another process.
   * @source rules#engine.17
   */
  #hasLapsed(command: AnyCommand): boolean {
    return command.request !== undefined && (this.unheard.has(command) || command.request.hasLapsed())
  }

  /** Answers creates whose idempotency key was used before, and returns the rest. */
  async #answerRepeated(
    commands: readonly AnyCommand[],
    settled: Map<AnyCommand, Settled<unknown>>,
  ): Promise<readonly AnyCommand[]> {
    const keys = commands.flatMap(({ creates }) => creates?.idempotencyKey ?? [])
    if (keys.length === 0) return commands
    const used = await this.#options.reader.byIdempotencyKeys(keys, this.#options.clock.now() - IDEMPOTENCY_MS)
    if (used.length > 0) await untilReplicated(this.#options.database)
    const found = new Map(used.map((operation) => [operation.idempotencyKey, operation]))
    return commands.filter((command) => {
      const existing = command.creates?.idempotencyKey ? found.get(command.creates.idempotencyKey) : undefined
      if (existing) settled.set(command, { error: new IdempotencyKeyTaken(existing) })
      return !existing
    })
  }

  /**
   * Answers creates whose external id, idempotency key or exclusive key is taken, and returns the rest. The decisive key is
   * looked up last: a concurrent commit is then found by it first.
   */
  async #answerTaken(
    commands: readonly AnyCommand[],
    settled: Map<AnyCommand, Settled<unknown>>,
  ): Promise<readonly AnyCommand[]> {
    const creates = commands.flatMap((command) => command.creates ?? [])
    if (creates.length === 0) return commands
    const exclusiveKeys = creates.flatMap(({ exclusiveKey }) => exclusiveKey ?? [])
    const held = exclusiveKeys.length === 0 ? [] : await this.#options.reader.byExclusiveKeys(exclusiveKeys)
    const holders = new Map(held.map((operation) => [operation.exclusiveKey, operation]))
    const namesakes = new Map(
      (await this.#options.reader.byExternalIds(creates)).map((operation) => [nameOf(operation), operation]),
    )
    // A client that learns of the operation does not repeat the request: it must survive a fail-over.
    if (namesakes.size + holders.size > 0) await untilReplicated(this.#options.database)
    return (await this.#answerRepeated(commands, settled)).filter((command) => {
      const namesake = command.creates && namesakes.get(nameOf(command.creates))
      const holder = command.creates?.exclusiveKey ? holders.get(command.creates.exclusiveKey) : undefined
      if (namesake) settled.set(command, { error: new ExternalIdTaken(namesake) })
      else if (holder) settled.set(command, { error: new ExclusiveKeyTaken(holder) })
      return !namesake && !holder
    })
  }
}

function planOne(command: AnyCommand, plan: Plan, now: number): void {
  try {
    const decision = command.decide(plan.draft, now)
    if (changesNothing(decision)) {
      plan.noops.push(command)
      return
    }
    plan.draft.add(command, decision)
    plan.decided.set(command, decision.outcome)
  } catch {
    // A refusal or a broken invariant may only be due to stale rows.
    plan.noops.push(command)
  }
}
