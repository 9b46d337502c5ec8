import { DatabaseUnavailable } from '../platform/db/errors.ts'
import type { Settled } from '../platform/jobs/batcher.ts'
import type { Pause } from '../platform/jobs/pause.ts'
import { lapsed } from '../platform/live-request.ts'
import type { Logger } from '../platform/log.ts'
import type { Cache } from './cache.ts'
import type { Duplicates } from './duplicates.ts'
import type { Loader } from './loader.ts'
import type { Command } from './operation.ts'
import type { Plan, Planner } from './planner.ts'
import type { Writer } from './writer.ts'

/** A batch whose compare is lost this often is run item by item, holding the rows. */
const TRIES = 5

/** Results of a write that the latest rows explain. */
const TAKEN = new Set<unknown>(['external id taken', 'idempotency key taken', 'exclusive key taken'])

/** Any command; the batch does not look into outcomes. */
type AnyCommand = Command<unknown>

/** What a batch is carried out with. */
export interface BatchOptions {
  readonly logger: Logger
  readonly pause: Pause
  readonly cache: Cache
  readonly loader: Loader
  readonly planner: Planner
  readonly duplicates: Duplicates
  /** What sends drafts to the database; a simulation puts memory in its place. */
  readonly writer: Pick<Writer, 'write' | 'writeHolding'>
}

/** The rows could not be had in time: others hold them. */
export class Contended extends Error {
  override readonly name = 'Contended'

  constructor() {
    super('the rows of a command could not be had in time')
  }
}

/** Takes commands to their outcomes, a batch at a time. */
export class Batch {
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
    this.#options.cache.clear()
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
    const result = await this.#options.writer.writeHolding(command, (loaded) => {
      plan = this.#options.planner.plan([command], loaded)
      return plan.draft
    })
    if (result === 'stale' || !plan) throw new Contended()
    if (TAKEN.has(result)) await this.#options.duplicates.answerTaken([command], settled)
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
    const open = await this.#options.duplicates.answerRepeated(commands, settled)
    const plan = await this.#plan(open, attempt === 1)
    if (!plan.draft.isEmpty) {
      const result = await this.#options.writer.write(plan.draft)
      if (result === 'stale') return open
      if (TAKEN.has(result)) return this.#options.duplicates.answerTaken(open, settled)
    }
    this.#answer(plan, settled)
    return plan.noops.length === 0 ? [] : this.#answerNoops(plan.noops, settled)
  }

  /** @param presumesNew see {@link Loader.load}: once, and not where anything would rest on it alone */
  async #plan(commands: readonly AnyCommand[], presumesNew: boolean): Promise<Plan> {
    const plan = this.#options.planner.plan(commands, await this.#options.loader.load(commands, presumesNew))
    return plan.draft.restsOnPresumption ? this.#plan(commands, false) : plan
  }

  #answer(plan: Plan, settled: Map<AnyCommand, Settled<unknown>>): void {
    for (const [command, outcome] of plan.decided) settled.set(command, { result: outcome })
    for (const command of plan.lapsed) settled.set(command, { error: lapsed() })
  }

  /**
   * Answers commands that change nothing, on the latest rows. External ids count for more: a payout that drained the
   * balance and whose answer was lost must be told that it exists, not that the balance is too low. They are looked up
   * last, so that the rows cannot show what a namesake did that was not found.
   * @source rules#engine.4
   */
  async #answerNoops(
    noops: readonly AnyCommand[],
    settled: Map<AnyCommand, Settled<unknown>>,
  ): Promise<readonly AnyCommand[]> {
    const loaded = await this.#options.loader.loadAnew(noops)
    const rest = await this.#options.duplicates.answerTaken(noops, settled)
    const again: AnyCommand[] = []
    for (const command of rest) {
      const outcome = this.#options.planner.noopOutcome(command, loaded)
      if (outcome) settled.set(command, outcome)
      else again.push(command)
    }
    return again
  }
}
