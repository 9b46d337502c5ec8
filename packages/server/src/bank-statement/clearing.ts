import type { Engine } from '../engine/engine.ts'
import type { Case, Decision, State } from '../engine/operation.ts'
import { adjustmentOf } from '../operations/adjustment.ts'
import { sha256 } from '../platform/crypto.ts'
import { type Database, statement } from '../platform/db/database.ts'
import type { Ids } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { keyOf, type OpenEntry } from './rules.ts'

/**
 * Incoming money that nothing explains: in clearing, with a case. The booking claims no movement, so that the operation or the
 * decision that explains the money books it as its own; then it is taken out of clearing.
 * @source rules#statement.6
 */
export interface Clearing {
  /** Books an entry in clearing and opens its case, together. */
  hold(entry: OpenEntry, facts: Case['facts']): Promise<void>
  /** Takes out what is in clearing for an entry. */
  release(entry: OpenEntry): Promise<void>
}

/** Options of {@link createClearing}. */
export interface ClearingOptions {
  readonly engine: Pick<Engine, 'execute'>
  readonly database: Database
  readonly ids: Ids
  readonly logger: Logger
}

const selectHeld = statement<[about: string], { cents: bigint; bookings: bigint }>(
  'statement.in_clearing',
  `SELECT coalesce(sum(CASE status WHEN 'CLEARING_ADDED' THEN value_cents WHEN 'CLEARING_REMOVED' THEN -value_cents END), 0)::bigint
            AS cents,
          count(*) AS bookings
     FROM operation WHERE kind = 'adjustment' AND detail ? 'about' AND detail ->> 'about' = $1`,
)

const selectDecided = statement<[], { version: bigint }>(
  'statement.cases_version',
  `SELECT version FROM control WHERE name = 'loose_cases'`,
)

/** Makes {@link Clearing}. */
export function createClearing({ engine, database, ids, logger }: ClearingOptions): Clearing {
  /** @returns whether it is over: not where a case was decided meanwhile, perhaps this one */
  async function released(entry: OpenEntry): Promise<boolean> {
    // In this order: a later decision moves the version.
    const [{ version: seen } = { version: 0n }] = await database.rows(selectDecided, [])
    const [{ cents, bookings } = { cents: 0n, bookings: 0n }] = await database.rows(selectHeld, [aboutOf(entry)])
    if (cents === 0n) return true
    const id = ids.uuid()
    const booking = bookingOf(entry, {
      id,
      number: Number(bookings) + 1,
      status: 'CLEARING_REMOVED',
      valueCents: cents,
    })
    const decide = (state: State): Decision<boolean> =>
      state.versionOf('loose_cases') === seen
        ? { ...booking, controls: { loose_cases: { decided: aboutOf(entry) } }, outcome: true }
        : { outcome: false }
    return engine.execute({ reads: [], controls: ['loose_cases'], decide })
  }

  return {
    hold: async (entry, facts) => {
      const { valueCents } = entry
      const booking = bookingOf(entry, { id: ids.uuid(), number: 1, status: 'CLEARING_ADDED', valueCents })
      const opened: Case = { operationId: null, kind: 'unexplained_credit', reference: keyOf(entry), facts }
      await engine.execute({ reads: [], decide: () => ({ ...booking, cases: [opened], outcome: undefined }) })
      logger.warn(
        { event: 'statement.money_in_clearing', ...facts },
        'incoming money that nothing explains is booked in clearing; a case waits for a decision',
      )
    },
    release: async (entry) => {
      while (!(await released(entry)));
    },
  }
}

/** The `about` of all adjustments for an entry, by the reconciliation or by an operator. */
function aboutOf(entry: OpenEntry): string {
  return `movement ${keyOf(entry)}`
}

interface Booking {
  readonly id: string
  /** Of all bookings about the entry, from 1: the database refuses two under one number. */
  readonly number: number
  readonly status: 'CLEARING_ADDED' | 'CLEARING_REMOVED'
  readonly valueCents: bigint
}

const JOURNALS = { CLEARING_ADDED: 'clearing_added', CLEARING_REMOVED: 'clearing_removed' } as const

function bookingOf(entry: OpenEntry, { id, number, status, valueCents }: Booking): Omit<Decision<unknown>, 'outcome'> {
  const about = aboutOf(entry)
  const externalId = `${about} ${number}`
  const create = adjustmentOf({
    ...{ id, externalId, status, valueCents, correlationId: id, bodyHash: sha256(externalId) },
    detail: { reason: 'Incoming money without an explanation', about },
    madeBy: { caller: 'statement', address: '' },
  })
  return {
    creates: [create],
    journals: [{ operationId: id, kind: JOURNALS[status], reference: entry.movementId, amounts: { v: valueCents } }],
  }
}
