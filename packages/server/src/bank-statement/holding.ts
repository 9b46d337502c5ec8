import { explained, holding, isHeld } from '../cases/unexplained.ts'
import type { Engine } from '../engine/engine.ts'
import type { Decision, Document, State } from '../engine/operation.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import type { OpenEntry } from './rules.ts'

/**
 * Incoming money that nothing explains: in suspense on an adjustment, with a case, until an operation or an operator explains it.
 * @source rules#statement.6, rules#adjustment.held.1
 */
export interface Holding {
  /** Books an entry in suspense and opens its case, together. */
  hold(entry: OpenEntry, facts: Document): Promise<void>
  /** What holds an entry holds it no more; nothing where it was decided of meanwhile. */
  release(entry: OpenEntry): Promise<void>
}

/** Options of {@link createHolding}. */
export interface HoldingOptions {
  readonly engine: Pick<Engine, 'execute'>
  readonly ids: Ids
  readonly logger: Logger
}

/** Makes {@link Holding}. */
export function createHolding({ engine, ids, logger }: HoldingOptions): Holding {
  return {
    hold: async (entry, facts) => {
      const id = ids.uuid()
      const line = { ...entry, takenBackFrom: entry.takenBackFrom ?? undefined }
      await engine.execute({ reads: [], decide: () => holding(line, id, facts) })
      logger.warn(
        { event: 'statement.money_held', ...facts },
        'incoming money that nothing explains is held in suspense; a case waits for a decision',
      )
    },
    release: async ({ heldBy }) => {
      if (heldBy?.status !== 'HELD') return
      const { id } = heldBy
      const decide = (state: State, now: number): Decision<unknown> => {
        const held = state.operation(id)
        return isHeld(held) ? explained(held, now) : { outcome: undefined }
      }
      await engine.execute({ reads: [id], decide })
    },
  }
}
