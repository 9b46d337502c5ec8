import type { CaseWithoutOperation } from '@pixgate/spec'
import type { Engine } from '../engine/engine.ts'
import type { Case, Decision, State } from '../engine/operation.ts'
import { type Database, statement } from '../platform/db/database.ts'
import type { Logger } from '../platform/log.ts'

/** A difference between the bank and our books that an operator is told. */
export interface Difference {
  /** With the reference the case that tells of it: one, for ever. */
  readonly kind: CaseWithoutOperation
  readonly reference: string
  readonly facts: Case['facts']
  /** Whether money may be gone, or be made up: payouts and refunds are suspended for it, once. */
  readonly isDanger: boolean
}

/** Tells operators of differences, and suspends payouts and refunds for those that are dangerous. */
export interface TripWire {
  /**
   * Suspends payouts and refunds for those that are dangerous and for which it has not yet, and then opens a case about each.
   * Whoever dies in between finds them again, and suspends nothing twice.
   * @source rules#trip-wire.1, rules#trip-wire.5, failure-modes#PL-50
   */
  report(differences: readonly Difference[]): Promise<void>
}

/** The actor of its suspensions in the audit trail. */
const TRIP_WIRE = 'trip-wire'

const selectSwitchVersion = statement<[], { version: bigint }>(
  'trip_wire.switch_version',
  `SELECT version FROM control WHERE name = 'cash_out_switch'`,
)

/**
 * By its rows of the audit trail, as anybody with the login of a server may open a case.
 * @source rules#trip-wire.5
 */
const selectSuspendedFor = statement<[names: readonly string[]], { name: string }>(
  'trip_wire.suspended_for',
  `SELECT n.name FROM unnest($1::text[]) AS n (name)
    WHERE EXISTS (SELECT FROM audit a WHERE a.actor = '${TRIP_WIRE}' AND a.facts -> 'cases' ? n.name)`,
)

async function switchVersion(database: Database): Promise<bigint> {
  const [row] = await database.rows(selectSwitchVersion, [])
  if (!row) throw new Error('the switch is missing')
  return row.version
}

async function suspendedFor(database: Database, differences: readonly Difference[]): Promise<ReadonlySet<string>> {
  const rows = await database.rows(selectSuspendedFor, [differences.map(nameOf)])
  return new Set(rows.map(({ name }) => name))
}

/** What it needs. */
export interface TripWireOptions {
  readonly database: Database
  readonly engine: Pick<Engine, 'execute'>
  readonly logger: Logger
  /** Told of each time that payouts and refunds were suspended. */
  readonly onTrip?: () => void
}

/** Makes it. */
export function createTripWire({ database, engine, logger, onTrip }: TripWireOptions): TripWire {
  /** Whether it was decided on what is known: otherwise the switch was set meanwhile, perhaps for the same difference. */
  async function suspended(differences: readonly Difference[]): Promise<boolean> {
    // In this order: who suspends later moves the version.
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
        { differences: facts },
        'payouts and refunds are suspended by the trip wire until an operator lifts it',
      )
    }
    return isSuspended
  }

  return {
    report: async (differences) => {
      if (differences.length === 0) return
      const dangers = differences.filter(({ isDanger }) => isDanger)
      while (dangers.length > 0 && !(await suspended(dangers)));
      // Afterwards, and by themselves: whoever holds a case back holds no suspension back.
      await engine.execute({ reads: [], decide: () => ({ cases: differences.map(caseOf), outcome: undefined }) })
      for (const { kind, facts } of differences) {
        logger.warn({ kind, ...facts }, 'the bank and our books differ, and a case was opened about it')
      }
    },
  }
}

/** A difference by what tells it from every other. */
function nameOf({ kind, reference }: Pick<Difference, 'kind' | 'reference'>): string {
  return `${kind} ${reference}`
}

/**
 * Decides a suspension: the switch and its row in the audit trail, which names every difference, together or not at all.
 * @returns as the outcome, whether it was decided; not where the switch was set since `seen`
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
  // Without an operation, so that no other end of that one's doubts closes it.
  return { operationId: null, kind, reference, facts }
}

/** At most as long as an operator's reason. */
function reasonOf(dangers: readonly Difference[]): string {
  const kinds = [...new Set(dangers.map(({ kind }) => kind))].join(', ')
  return `trip wire: ${dangers.length} ${dangers.length === 1 ? 'case' : 'cases'} opened: ${kinds}`
}
