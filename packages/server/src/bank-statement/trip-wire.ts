import type { CaseWithoutOperation } from '@pixgate/spec'
import type { Engine } from '../engine/engine.ts'
import type { Case, Decision, State } from '../engine/operation.ts'
import { type Database, statement } from '../platform/db/database.ts'
import type { Logger } from '../platform/log.ts'

export interface Difference {
  /** Kind and reference identify its case for ever. */
  readonly kind: CaseWithoutOperation
  readonly reference: string
  readonly facts: Case['facts']
  /** Money may be lost or forged: suspends payouts and refunds, once. */
  readonly isDanger: boolean
}

const TRIP_WIRE = 'trip-wire'

const selectSwitchVersion = statement<[], { version: bigint }>(
  'trip_wire.switch_version',
  `SELECT version FROM control WHERE name = 'cash_out_switch'`,
)

/** Reads the audit trail, as any database login of the server may open a case. @source rules#trip-wire.5 */
const selectSuspendedFor = statement<[names: readonly string[]], { name: string }>(
  'trip_wire.suspended_for',
  `SELECT n.name FROM unnest($1::text[]) AS n (name)
    WHERE EXISTS (SELECT FROM audit a WHERE a.actor = '${TRIP_WIRE}' AND a.facts -> 'cases' ? n.name)`,
)

async function switchVersion(database: Database): Promise<bigint> {
  const [row] = await database.rows(selectSwitchVersion, [])
  if (!row) throw new Error('row of cash_out_switch is missing')
  return row.version
}

async function suspendedFor(database: Database, differences: readonly Difference[]): Promise<ReadonlySet<string>> {
  const rows = await database.rows(selectSuspendedFor, [differences.map(nameOf)])
  return new Set(rows.map(({ name }) => name))
}

interface TripWireOptions {
  readonly database: Database
  readonly engine: Pick<Engine, 'execute'>
  readonly logger: Logger
  /** Called after each suspension. */
  readonly onTrip?: () => void
}

export type TripWire = ReturnType<typeof createTripWire>

/** Reports differences, and suspends payouts and refunds for dangerous ones. */
export function createTripWire({ database, engine, logger, onTrip }: TripWireOptions) {
  /** @returns false if the switch was set meanwhile, possibly for the same difference */
  async function suspended(differences: readonly Difference[]): Promise<boolean> {
    // In this order, as a later suspension changes the version.
    const seen = await switchVersion(database)
    const known = await suspendedFor(database, differences)
    const dangers = differences.filter((difference) => !known.has(nameOf(difference)))
    if (dangers.length === 0) return true
    const isSuspended = await engine.execute({
      reads: [],
      controls: ['cash_out_switch'],
      decide: (state, now) => decideTrip(dangers, seen, state, now),
    })
    if (isSuspended) {
      onTrip?.()
      const facts = dangers.map(({ kind, reference, facts: { valueCents } }) => ({ kind, reference, valueCents }))
      logger.error(
        { event: 'trip_wire.suspended', differences: facts },
        'payouts and refunds are suspended by the trip wire until an operator lifts it',
      )
    }
    return isSuspended
  }

  return {
    /**
     * Suspends for new dangerous differences, then opens the cases. After a crash in between both are repeated, without
     * a second suspension.
     * @source rules#trip-wire.1, rules#trip-wire.5, failure-modes#PL-50
     */
    report: async (differences: readonly Difference[]): Promise<void> => {
      if (differences.length === 0) return
      const dangers = differences.filter(({ isDanger }) => isDanger)
      while (dangers.length > 0 && !(await suspended(dangers)));
      // Separate and later: a blocked case must not block a suspension.
      await engine.execute({ reads: [], decide: () => ({ cases: differences.map(caseOf), outcome: undefined }) })
      for (const { kind, facts } of differences) {
        logger.warn(
          { event: 'statement.difference', kind, ...facts },
          'The bank and the books differ; a case was opened.',
        )
      }
    },
  }
}

function nameOf({ kind, reference }: Pick<Difference, 'kind' | 'reference'>): string {
  return `${kind} ${reference}`
}

/**
 * Decides switch and audit row in one commit.
 * @returns false as outcome if the switch was set since `seen`
 * @source rules#trip-wire.1, rules#trip-wire.5
 */
function decideTrip(dangers: readonly Difference[], seen: bigint, state: State, now: number): Decision<boolean> {
  if (state.versionOf('cash_out_switch') !== seen) return { outcome: false }
  const reason = reasonOf(dangers)
  const set = { enabled: false, reason }
  const facts = { ...set, cases: dangers.map(nameOf) }
  return {
    controls: { cash_out_switch: { ...set, changedAt: new Date(now).toISOString(), by: TRIP_WIRE } },
    audits: [{ actor: TRIP_WIRE, action: 'cash_out_switch.set', subject: 'cash_out_switch', address: '', facts }],
    outcome: true,
  }
}

function caseOf({ kind, reference, facts }: Difference): Case {
  // Without an operation, so that the end of its doubts does not close the case.
  return { operationId: null, kind, reference, facts }
}

/** At most as long as an operator's reason. */
function reasonOf(dangers: readonly Difference[]): string {
  const kinds = [...new Set(dangers.map(({ kind }) => kind))].join(', ')
  return `trip wire: ${dangers.length} ${dangers.length === 1 ? 'case' : 'cases'} opened: ${kinds}`
}
