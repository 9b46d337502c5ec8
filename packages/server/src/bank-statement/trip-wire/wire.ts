import type { Engine } from '../../engine/engine.ts'
import type { Case, Decision, Document, State } from '../../engine/operation.ts'
import type { Logger } from '../../platform/log.ts'
import type { TripWireStore } from './store.ts'

/** A difference between the bank and our books that an operator is told. */
export interface Difference {
  /** With the reference the case that tells of it: one, for ever. */
  readonly kind: string
  readonly reference: string
  readonly facts: Document
  /** Whether money may be gone, or be made up: payouts and refunds are suspended for it, once. */
  readonly isDanger: boolean
}

/** Tells operators of differences, and suspends payouts and refunds for those that are dangerous. */
export interface TripWire {
  /**
   * Opens a case about each; for those of them that are dangerous, and of which there was none before, suspends payouts
   * and refunds in the same statement. So a crash loses neither, and nothing suspends twice for one difference.
   * @source rules#trip-wire.1, rules#trip-wire.5, failure-modes#PL-50
   */
  report(differences: readonly Difference[]): Promise<void>
}

/** What it needs. */
export interface TripWireOptions {
  readonly store: Pick<TripWireStore, 'switchVersion' | 'knownCases'>
  readonly engine: Pick<Engine, 'execute'>
  readonly logger: Logger
  /** Told of each time that payouts and refunds were suspended. */
  readonly onTrip?: () => void
}

/** Who suspended them, in the audit trail. */
const TRIP_WIRE = 'trip-wire'

/** Makes it. */
export function createTripWire({ store, engine, logger, onTrip }: TripWireOptions): TripWire {
  /** Whether it was decided on what is known: otherwise the switch was set meanwhile, perhaps for the same difference. */
  async function tripped(differences: readonly Difference[]): Promise<boolean> {
    // In this order: a case that is opened later moves the version.
    const seen = await store.switchVersion()
    const known = await store.knownCases(differences)
    const dangers = differences.filter((difference) => difference.isDanger && !known.has(nameOf(difference)))
    if (dangers.length === 0) {
      await engine.execute({ reads: [], decide: () => ({ cases: differences.map(caseOf), outcome: undefined }) })
      return true
    }
    const isSuspended = await engine.execute({
      reads: [],
      controls: ['cash_out_switch'],
      decide: (state, now) => decideTrip(differences, dangers, seen, state, now),
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
      while (!(await tripped(differences)));
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
 * Decides a suspension: the switch, its row in the audit trail and the cases, together or not at all.
 * @returns as the outcome, whether it was decided; not where the switch was set since `seen`
 * @source rules#trip-wire.1, rules#trip-wire.5
 */
function decideTrip(
  differences: readonly Difference[],
  dangers: readonly Difference[],
  seen: bigint,
  state: State,
  now: number,
): Decision<boolean> {
  if (state.versionOf('cash_out_switch') !== seen) return { outcome: false }
  const reason = reasonOf(dangers)
  const set = { enabled: false, reason }
  const facts = { ...set, cases: dangers.map(nameOf).slice(0, NAMED_MAX) }
  return {
    controls: { cash_out_switch: { ...set, changedAt: new Date(now).toISOString(), by: TRIP_WIRE } },
    audits: [{ actor: TRIP_WIRE, action: 'cash_out_switch.set', subject: 'cash_out_switch', address: '', facts }],
    cases: differences.map(caseOf),
    outcome: true,
  }
}

/** A row of the audit trail names so many at most; the cases have all. */
const NAMED_MAX = 20

function caseOf({ kind, reference, facts }: Difference): Case {
  // Without an operation, so that no other end of that one's doubts closes it.
  return { operationId: null, kind, reference, facts }
}

/** At most as long as an operator's reason. */
function reasonOf(dangers: readonly Difference[]): string {
  const kinds = [...new Set(dangers.map(({ kind }) => kind))].join(', ')
  return `trip wire: ${dangers.length} ${dangers.length === 1 ? 'case' : 'cases'} opened: ${kinds}`
}
