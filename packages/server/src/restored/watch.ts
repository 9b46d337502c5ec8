import type { Engine } from '../engine/engine.ts'
import type { Decision, Document } from '../engine/operation.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { changeOf, isKnown, knownAfter } from './identity.ts'
import type { IdentityStore } from './store.ts'

/** Looks at which database this is. */
export interface IdentityWatch {
  /**
   * Suspends payouts and refunds where it is another one than before, and what was committed last may not be in it: the bank may
   * have carried out what its books do not have. Whoever dies in between finds it again.
   * @throws DatabaseUnavailable
   * @source rules#restored.1, rules#restored.2, failure-modes#DB-10
   */
  look(): Promise<void>
}

/** What it needs. */
export interface IdentityWatchOptions {
  readonly store: IdentityStore
  readonly engine: Pick<Engine, 'execute'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Who suspends then, in the audit trail and at the switch. */
const ACTOR = 'database-watch'

const REASON = 'the database was restored, or promoted from a standby that may lack its last commits'

/** Makes it. */
export function createIdentityWatch(options: IdentityWatchOptions): IdentityWatch {
  return { look: () => look(options) }
}

async function look({ store, engine, clock, logger }: IdentityWatchOptions): Promise<void> {
  const before = await store.known()
  const current = await store.current()
  if (isKnown(before, current)) return
  const change = changeOf(before, current)
  const facts = { before: { ...before }, now: { ...current } }
  if (change === 'PROMOTED' && (await store.isSynchronous())) {
    logger.warn(
      facts,
      'the database was promoted from a standby that commits wait for; were it recovered to an instant, stop payouts',
    )
  } else if (change !== 'SAME') {
    await engine.execute({
      reads: [],
      controls: ['cash_out_switch'],
      decide: (_, now) => decideSuspension(facts, now),
    })
    logger.error(facts, `payouts and refunds are suspended until an operator lifts it: ${REASON}`)
  }
  // Afterwards: whoever dies before it suspends them again.
  await store.note(knownAfter(before, current), clock.now())
}

function decideSuspension(databases: Document, now: number): Decision<void> {
  const set = { enabled: false, reason: REASON }
  const facts = { ...set, ...databases }
  return {
    controls: { cash_out_switch: { ...set, changedAt: new Date(now).toISOString(), by: ACTOR } },
    audits: [{ actor: ACTOR, action: 'cash_out_switch.set', subject: 'cash_out_switch', address: '', facts }],
    outcome: undefined,
  }
}
