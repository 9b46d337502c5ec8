import type { DatabaseClock } from '../platform/clock.ts'
import type { Ids } from '../platform/ids.ts'
import type { Settled } from '../platform/jobs/batcher.ts'
import { lapsed } from '../platform/live-request.ts'
import { Draft } from './draft.ts'
import type { LoadedState } from './loaded-state.ts'
import type { Command, Decision } from './operation.ts'

/** What commands come to, as things look. */
export interface Plan {
  readonly draft: Draft
  readonly decided: Map<Command<unknown>, unknown>
  /** What changes nothing as things look: refusals and no-ops. */
  readonly noops: Command<unknown>[]
  /** What nobody waits for any more. */
  readonly lapsed: Command<unknown>[]
}

/** Decides commands on a loaded state; writes nothing. */
export class Planner {
  readonly #clock: DatabaseClock
  readonly #ids: Ids
  readonly #unheard: WeakSet<Command<unknown>>

  /** @param unheard commands whose callers were told to come back */
  constructor(clock: DatabaseClock, ids: Ids, unheard: WeakSet<Command<unknown>>) {
    this.#clock = clock
    this.#ids = ids
    this.#unheard = unheard
  }

  /** Decides each command on the state that the ones before it leave. */
  plan(commands: readonly Command<unknown>[], loaded: LoadedState): Plan {
    const now = this.#clock.now()
    const plan: Plan = { draft: new Draft(loaded, now, this.#ids), decided: new Map(), noops: [], lapsed: [] }
    for (const command of commands) this.#planOne(command, plan, now)
    return plan
  }

  /** The outcome of a command that changes nothing on the latest rows either; `undefined` where it now does. */
  noopOutcome(command: Command<unknown>, loaded: LoadedState): Settled<unknown> | undefined {
    if (this.#hasLapsed(command)) return { error: lapsed() }
    const now = this.#clock.now()
    try {
      const draft = new Draft(loaded, now, this.#ids)
      const decision = command.decide(draft, now)
      if (changesNothing(decision)) return { result: decision.outcome }
      draft.add(command, decision)
      return undefined
    } catch (error) {
      return { error }
    }
  }

  #planOne(command: Command<unknown>, plan: Plan, now: number): void {
    if (this.#hasLapsed(command)) {
      plan.lapsed.push(command)
      return
    }
    const { creates } = command
    if (creates && plan.draft.isTaken(creates)) {
      plan.noops.push(command)
      return
    }
    try {
      const decision = command.decide(plan.draft, now)
      if (changesNothing(decision)) {
        plan.noops.push(command)
        return
      }
      plan.draft.add(command, decision)
      plan.decided.set(command, decision.outcome)
    } catch {
      // A refusal, or what breaks an invariant: perhaps only because these rows are not the latest ones.
      plan.noops.push(command)
    }
  }

  /**
   * Whether nobody waits for a command any more. Asked at each decision, also at one that is taken again: what its
   * client was told to ask again elsewhere must not happen here as well.
   * @source rules#engine.17
   */
  #hasLapsed(command: Command<unknown>): boolean {
    return command.request !== undefined && (this.#unheard.has(command) || command.request.hasLapsed())
  }
}

function changesNothing({ creates, moves, cases, closes, eventOrders, controls = {} }: Decision<unknown>): boolean {
  const isEmpty = !creates?.length && !moves?.length && !cases?.length && !closes?.length && !eventOrders?.length
  return isEmpty && Object.keys(controls).length === 0
}
