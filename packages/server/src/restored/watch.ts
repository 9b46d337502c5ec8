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
  /**
   * Whether the bank may have an order that this database has no record of sending: made before a restore was noted, or soon after it.
   * @param windowMs for how long after it, milliseconds
   * @source rules#restored.4
   */
  isNearRestore(createdAt: number, windowMs: number): boolean
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
  let restoredAt: number | null = null
  return {
    look: async () => {
      restoredAt = await look(options)
    },
    isNearRestore: (createdAt, windowMs) => restoredAt !== null && createdAt < restoredAt + windowMs,
  }
}

/** @returns when a restore was noted last */
async function look({ store, engine, clock, logger }: IdentityWatchOptions): Promise<number | null> {
  const before = await store.known()
  const current = await store.current()
  if (isKnown(before, current)) return before.restoredAt
  const change = changeOf(before, current)
  const { restoredAt: restoredBefore, ...identity } = before
  const facts = { before: identity, now: { ...current } }
  let restoredAt = restoredBefore
  if (change === 'PROMOTED' && (await store.isSynchronous())) {
    logger.warn(
      facts,
      'the database was promoted from a standby that commits wait for; were it recovered to an instant, stop payouts',
    )
  } else if (change !== 'SAME') {
    restoredAt = clock.now()
    await engine.execute({
      reads: [],
      controls: ['cash_out_switch'],
      decide: (_, now) => decideSuspension(facts, now),
    })
    logger.error(facts, `payouts and refunds are suspended until an operator lifts it: ${REASON}`)
  }
  // Afterwards: whoever dies before it suspends them again.
  await store.note({ ...knownAfter(before, current), restoredAt }, clock.now())
  return restoredAt
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
