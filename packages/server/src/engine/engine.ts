import { Refusal } from '@pixgate/spec'
import type { DatabaseClock } from '../platform/clock.ts'
import { type Database, DatabaseUnavailable, untilReplicated } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import { createBatcher, QueueFull, type Settled } from '../platform/jobs/batcher.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import { lapsed } from '../platform/live-request.ts'
import type { Logger } from '../platform/log.ts'
import { Cache } from './cache.ts'
import { Draft, type LoadedState } from './draft.ts'
import type { Command, Decision, Operation } from './operation.ts'
import { createReader, type Reader } from './reader.ts'
import { Writer } from './writer.ts'

/**
 * The one door through which money and status change and notifications come to be. Commands queue up; one writer takes
 * what is there, decides each in order of arrival, and writes all of it in one statement. While one batch commits, the
 * next one fills.
 */
export interface Engine {
  /**
   * Carries out a command.
   * @throws Refusal what `decide` refused, once it is certain that the rows it saw are the latest ones
   * @throws ExternalIdTaken · IdempotencyKeyTaken · ExclusiveKeyTaken what it creates is known by, or wants for itself,
   *   belongs to another operation
   * @throws Refusal overloaded: the queue is full, the database does not answer, or the command's request has lapsed
   */
  execute<Outcome>(command: Command<Outcome>): Promise<Outcome>
  /** How many commands wait. */
  readonly waiting: number
  /** Resolves when nothing waits and nothing runs. */
  drained(): Promise<void>
}

/** A create found its external id taken. `operation` is the one that has it, as it stands. @source rules#engine.3 */
export class ExternalIdTaken extends Error {
  override readonly name = 'ExternalIdTaken'
  readonly operation: Operation

  constructor(operation: Operation) {
    super(`the external id of operation ${operation.id} was used again`)
    this.operation = operation
  }
}

/** A create used an idempotency key again within its time. `operation` is the one that used it first. */
export class IdempotencyKeyTaken extends Error {
  override readonly name = 'IdempotencyKeyTaken'
  readonly operation: Operation

  constructor(operation: Operation) {
    super(`the idempotency key of operation ${operation.id} was used again`)
    this.operation = operation
  }
}

/** A create wants for itself what `operation` holds. */
export class ExclusiveKeyTaken extends Error {
  override readonly name = 'ExclusiveKeyTaken'
  readonly operation: Operation

  constructor(operation: Operation) {
    super(`operation ${operation.id} holds what another wants for itself`)
    this.operation = operation
  }
}

/** What an engine needs. */
export interface EngineOptions {
  readonly database: Database
  readonly clock: DatabaseClock
  readonly ids: Ids
  readonly logger: Logger
  readonly pause: Pause
  /** Called after a commit that made notifications. */
  readonly onNotifications?: () => void
  readonly bounds?: EngineBounds
}

/** How much an engine holds. @source rules#engine.11 */
export interface EngineBounds {
  readonly batchMax: number
  readonly queueMax: number
  readonly cachedOperations: number
}

const DEFAULT_BOUNDS: EngineBounds = { batchMax: 256, queueMax: 5_000, cachedOperations: 10_000 }

/** A batch whose compare is lost this often is run item by item, holding the rows. */
const TRIES = 5

/** How long an idempotency key is remembered. @source rules#idempotency.1 */
const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

/** Results of a write that the latest rows explain. */
const TAKEN = new Set<unknown>(['external id taken', 'idempotency key taken', 'exclusive key taken'])

/** Any command; the batch does not look into outcomes. */
type AnyCommand = Command<unknown>

/** Starts an engine on a database. It holds one connection at a time. */
export function createEngine(options: EngineOptions): Engine {
  const bounds = options.bounds ?? DEFAULT_BOUNDS
  const reader = createReader(options.database)
  const cache = new Cache(bounds.cachedOperations)
  // The work goes on until the doubt is over; a client that comes back then finds what it asked for.
  const onLongDoubt = () => batcher.abandon(new DatabaseUnavailable('a commit is in doubt', true))
  const writer = new Writer({ ...options, onLongDoubt }, cache)
  /** Commands whose callers were told to come back. */
  const unheard = new WeakSet<AnyCommand>()
  const batch = new Batch(options, reader, cache, writer, unheard)
  const batcher = createBatcher<AnyCommand, unknown>((commands) => batch.run(commands), bounds)
  return {
    execute: <Outcome>(command: Command<Outcome>) =>
      batcher.submit(command).catch((error) => {
        unheard.add(command)
        throw asOverload(error)
      }) as Promise<Outcome>,
    get waiting() {
      return batcher.waiting
    },
    drained: () => batcher.drained(),
  }
}

/** What a caller can only try again later is one refusal. */
function asOverload(error: unknown): unknown {
  const isPassing = error instanceof QueueFull || error instanceof DatabaseUnavailable || error instanceof Contended
  return isPassing ? new Refusal('overloaded', { retryAfterSeconds: 1 }) : error
}

/** Takes commands to their outcomes, a batch at a time. */
class Batch {
  readonly #options: EngineOptions
  readonly #reader: Reader
  readonly #cache: Cache
  readonly #writer: Writer
  readonly #unheard: WeakSet<AnyCommand>

  constructor(options: EngineOptions, reader: Reader, cache: Cache, writer: Writer, unheard: WeakSet<AnyCommand>) {
    this.#unheard = unheard
    this.#options = options
    this.#reader = reader
    this.#cache = cache
    this.#writer = writer
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

  /** A batch that fails for a reason nobody knows is run item by item; only the guilty one fails. @source rules#engine.9 */
  async #settleAlone(
    commands: readonly AnyCommand[],
    settled: Map<AnyCommand, Settled<unknown>>,
    reason: unknown,
  ): Promise<void> {
    this.#options.logger.warn(
      { error: String(reason), items: commands.length },
      'a batch failed; running it item by item',
    )
    this.#cache.clear()
    for (const command of commands) {
      await this.#settle([command], settled).catch((error) => settled.set(command, { error }))
    }
  }

  /**
   * What keeps losing the compare is decided while its rows are held.
   * @throws Contended where they cannot be had
   * @source rules#engine.7
   */
  async #settleHolding(command: AnyCommand, settled: Map<AnyCommand, Settled<unknown>>): Promise<void> {
    let plan: Plan | undefined
    const result = await this.#writer.writeHolding(command, (known) => {
      plan = this.#plan([command], known)
      return plan.draft
    })
    if (result === 'stale' || !plan) throw new Contended()
    if (TAKEN.has(result)) await this.#answerTaken([command], settled)
    else this.#answer(plan, settled)
    if (plan.idle.length === 0) return
    for (const lost of await this.#answerIdle(plan.idle, settled)) settled.set(lost, { error: new Contended() })
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
   * Decides, writes, answers what can be answered; returns what must be decided again. Later attempts wait a little
   * first, with jitter.
   * @source rules#engine.6
   */
  async #round(
    commands: readonly AnyCommand[],
    settled: Map<AnyCommand, Settled<unknown>>,
    attempt: number,
  ): Promise<readonly AnyCommand[]> {
    if (attempt > 1) await this.#options.pause.jittered(attempt * 5)
    const open = await this.#answerRepeated(commands, settled)
    const plan = this.#plan(open, await this.#load(open))
    if (!plan.draft.isEmpty) {
      const result = await this.#writer.write(plan.draft)
      if (result === 'stale') return open
      if (TAKEN.has(result)) return this.#answerTaken(open, settled)
    }
    this.#answer(plan, settled)
    return plan.idle.length === 0 ? [] : this.#answerIdle(plan.idle, settled)
  }

  #answer(plan: Plan, settled: Map<AnyCommand, Settled<unknown>>): void {
    for (const [command, outcome] of plan.decided) settled.set(command, { result: outcome })
    for (const command of plan.lapsed) settled.set(command, { error: lapsed() })
  }

  /**
   * Whether nobody waits for a command any more. Asked at each decision, also at one that is taken again: what its
   * client was told to ask again elsewhere must not happen here as well.
   * @source rules#engine.17
   */
  #hasLapsed(command: AnyCommand): boolean {
    return command.request !== undefined && (this.#unheard.has(command) || command.request.hasLapsed())
  }

  /** What the commands look at: from the cache, and read where that does not have it. */
  async #load(commands: readonly AnyCommand[]): Promise<LoadedState> {
    const operations = new Map<string, Operation>()
    const missing: string[] = []
    for (const id of new Set(commands.flatMap(({ reads }) => reads))) {
      const cached = this.#cache.operation(id)
      if (cached) operations.set(id, cached)
      else missing.push(id)
    }
    if (missing.length > 0) {
      for (const operation of await this.#reader.operations(missing)) {
        operations.set(operation.id, operation)
        this.#cache.put(operation)
      }
    }
    if (!this.#cache.hasAccounts) await this.#loadAccounts()
    const { accounts, controls } = this.#cache
    const isOwed = (accounts.get('receivable')?.balanceCents ?? 0n) < 0n
    const movements = await this.#reader.movements(commands.flatMap((command) => command.movements ?? []))
    const debts = isOwed ? await this.#reader.debts() : new Map()
    return { operations, accounts, controls, movements, debts }
  }

  async #loadAccounts(): Promise<void> {
    const { now, accounts } = await this.#reader.accounts()
    this.#options.clock.observe(now)
    this.#cache.putAccounts(accounts)
    this.#cache.putControls(await this.#reader.controls())
  }

  /** Decides each command on the state that the ones before it leave. */
  #plan(commands: readonly AnyCommand[], known: LoadedState): Plan {
    const now = this.#options.clock.now()
    const plan: Plan = { draft: new Draft(known, now, this.#options.ids), decided: new Map(), idle: [], lapsed: [] }
    for (const command of commands) this.#planOne(command, plan, now)
    return plan
  }

  #planOne(command: AnyCommand, plan: Plan, now: number): void {
    if (this.#hasLapsed(command)) {
      plan.lapsed.push(command)
      return
    }
    const { creates } = command
    if (creates && plan.draft.isTaken(creates)) {
      plan.idle.push(command)
      return
    }
    try {
      const decision = command.decide(plan.draft, now)
      if (changesNothing(decision)) {
        plan.idle.push(command)
        return
      }
      plan.draft.add(command, decision)
      plan.decided.set(command, decision.outcome)
    } catch {
      // A refusal, or what breaks an invariant: perhaps only because these rows are not the latest ones.
      plan.idle.push(command)
    }
  }

  /**
   * Answers commands that change nothing, on the latest rows. External ids count for more: a payout that drained the
   * balance and whose answer was lost must be told that it exists, not that the balance is too low. They are looked up
   * last, so that the rows cannot show what a namesake did that was not found.
   * @source rules#engine.4
   */
  async #answerIdle(
    idle: readonly AnyCommand[],
    settled: Map<AnyCommand, Settled<unknown>>,
  ): Promise<readonly AnyCommand[]> {
    for (const id of idle.flatMap((command) => command.reads)) this.#cache.drop(id)
    await this.#loadAccounts()
    const known = await this.#load(idle)
    const rest = await this.#answerTaken(idle, settled)
    const again: AnyCommand[] = []
    for (const command of rest) {
      const outcome = this.#decideIdle(command, known)
      if (outcome) settled.set(command, outcome)
      else again.push(command)
    }
    return again
  }

  /** The outcome of a command that still changes nothing; `undefined` where it now does. */
  #decideIdle(command: AnyCommand, known: LoadedState): Settled<unknown> | undefined {
    if (this.#hasLapsed(command)) return { error: lapsed() }
    const now = this.#options.clock.now()
    try {
      const draft = new Draft(known, now, this.#options.ids)
      const decision = command.decide(draft, now)
      if (changesNothing(decision)) return { result: decision.outcome }
      draft.add(command, decision)
      return undefined
    } catch (error) {
      return { error }
    }
  }

  /** Answers creates whose idempotency key was used before, and returns the rest. */
  async #answerRepeated(
    commands: readonly AnyCommand[],
    settled: Map<AnyCommand, Settled<unknown>>,
  ): Promise<readonly AnyCommand[]> {
    const keys = commands.flatMap(({ creates }) => creates?.idempotencyKey ?? [])
    if (keys.length === 0) return commands
    const used = await this.#reader.byIdempotencyKeys(keys, this.#options.clock.now() - IDEMPOTENCY_MS)
    if (used.length > 0) await untilReplicated(this.#options.database)
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
  async #answerTaken(
    commands: readonly AnyCommand[],
    settled: Map<AnyCommand, Settled<unknown>>,
  ): Promise<readonly AnyCommand[]> {
    const creates = commands.flatMap((command) => command.creates ?? [])
    if (creates.length === 0) return commands
    const exclusiveKeys = creates.flatMap(({ exclusiveKey }) => exclusiveKey ?? [])
    const held = exclusiveKeys.length === 0 ? [] : await this.#reader.byExclusiveKeys(exclusiveKeys)
    const holders = new Map(held.map((operation) => [operation.exclusiveKey, operation]))
    const known = new Map(
      (await this.#reader.byExternalIds(creates)).map((operation) => [nameOf(operation), operation]),
    )
    // Whoever is told that it exists asks for it no more.
    if (known.size + holders.size > 0) await untilReplicated(this.#options.database)
    return (await this.#answerRepeated(commands, settled)).filter((command) => {
      const namesake = command.creates && known.get(nameOf(command.creates))
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

function changesNothing({ creates, moves, cases, closes, controls = {} }: Decision<unknown>): boolean {
  const isEmpty = !creates?.length && !moves?.length && !cases?.length && !closes?.length
  return isEmpty && Object.keys(controls).length === 0
}

interface Plan {
  readonly draft: Draft
  readonly decided: Map<AnyCommand, unknown>
  /** What changes nothing as things look: refusals and no-ops. */
  readonly idle: AnyCommand[]
  /** What nobody waits for any more. */
  readonly lapsed: AnyCommand[]
}

/** The rows could not be had in time: others hold them. */
class Contended extends Error {
  override readonly name = 'Contended'

  constructor() {
    super('the rows of a command could not be had in time')
  }
}
