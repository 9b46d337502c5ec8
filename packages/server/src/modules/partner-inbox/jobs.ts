import { type PartnerEvent, Refusal } from '@pixgate/spec'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../platform/clock.ts'
import { isUuid } from '../../platform/ids.ts'
import type { Logger } from '../../platform/log.ts'
import type { CashInModule } from '../cash-in/index.ts'
import { LEASE_MS, referencesOf } from './commands.ts'
import type { Receivers, Taken } from './receivers.ts'
import { evidenceOf, PARKING_DELAYS_MS, POISON_ATTEMPTS, readBody } from './rules.ts'
import type { InboxResult, InboxRow, InboxStore } from './store.ts'

/** Applying events, after they were answered. Applying one twice does nothing, so it is marked last. */
export interface InboxJobs {
  /** Applies events that this process holds. */
  apply(rows: readonly InboxRow[]): Promise<void>
  /**
   * Takes up what a dead process left, and what was parked: when its time has come, or its reference became known.
   * @returns whether more may be due right away
   */
  processNext(): Promise<boolean>
}

/** What the jobs need. */
export interface InboxJobsOptions {
  readonly store: InboxStore
  readonly receivers: Receivers
  readonly cashIns: Pick<CashInModule, 'atPartner' | 'takeNewReferences'>
  readonly engine: Engine
  readonly clock: Clock
  readonly logger: Logger
}

const BATCH = 256

/** How soon a step that failed is tried again. */
const RETRY_MS = 1_000

/** Makes the jobs. */
export function createInboxJobs({ store, receivers, cashIns, engine, clock, logger }: InboxJobsOptions): InboxJobs {
  async function apply(rows: readonly InboxRow[]): Promise<void> {
    if (rows.length === 0) return
    const events = rows.map(({ endpoint, body }) => {
      const reading = readBody(endpoint, body)
      return 'event' in reading ? reading.event : undefined
    })
    const matches = await matchesOf(events)
    const results = await Promise.all(
      rows.map((row, index) => {
        const event = events[index]
        return result(row, event, (event && matches.get(event)) ?? []).catch((error) => failed(row, error))
      }),
    )
    await store.mark(results, clock.now())
  }

  /** One read for all events of a name. */
  async function matchesOf(
    events: readonly (PartnerEvent | undefined)[],
  ): Promise<ReadonlyMap<PartnerEvent, readonly string[]>> {
    const byName = Map.groupBy(
      events.filter((event) => event !== undefined),
      ({ event }) => event,
    )
    const matched = await Promise.all(
      [...byName].map(async ([name, named]) => {
        const found = await receivers[name].match(named.map(referencesOf))
        return named.map((event, index) => [event, found[index] ?? []] as const)
      }),
    )
    return new Map(matched.flat())
  }

  async function result(
    row: InboxRow,
    event: PartnerEvent | undefined,
    matches: readonly string[],
  ): Promise<InboxResult> {
    const [id, another] = matches
    if (another !== undefined) return quarantine(row, 'its references belong to different operations')
    if (event === undefined || id === undefined) return park(row, event, 'no such operation yet')
    if (row.state === 'CONFLICT' && !(await store.isOriginalDone(row.dedupeKey)))
      return again(row, clock.now() + RETRY_MS)
    return told(row, event, await receivers[event.event].take(id, event), id)
  }

  async function told(row: InboxRow, event: PartnerEvent, taken: Taken | undefined, id: string): Promise<InboxResult> {
    switch (taken) {
      case 'IMPLAUSIBLE':
        await receivers[event.event].ask(id)
        return quarantine(row, 'occurredAt lies in the future', id)
      case 'UNEXPECTED':
        return quarantine(row, 'it cannot be true of this operation', id)
      case 'EARLY':
        await receivers[event.event].ask(id)
        return park(row, event, 'too early')
      default:
        return done(row, taken ?? 'IGNORED', id)
    }
  }

  function done(row: InboxRow, outcome: string, operationId: string): InboxResult {
    return { id: row.id, state: stateAfter(row, 'DONE'), outcome, operationId, dueAt: null }
  }

  /**
   * Waits for the operation to appear; in the end the partner is asked and an operator is told.
   * @source rules#partner-inbox.8
   */
  async function park(row: InboxRow, event: PartnerEvent | undefined, outcome: string): Promise<InboxResult> {
    const delay = PARKING_DELAYS_MS[row.attempts - 1]
    if (delay !== undefined) {
      return { id: row.id, state: stateAfter(row, 'PARKED'), outcome, operationId: null, dueAt: clock.now() + delay }
    }
    const facts = { endpoint: row.endpoint, ...(event && { event: evidenceOf(event), bank: await atPartner(event) }) }
    await engine.execute({
      reads: [],
      decide: () => ({
        cases: [{ operationId: null, kind: 'unmatched_event', reference: row.id, facts }],
        outcome: undefined,
      }),
    })
    return { id: row.id, state: stateAfter(row, 'PARKED'), outcome: 'CASE_OPENED', operationId: null, dueAt: null }
  }

  /** What the partner has under our id in an event; `null` where it has none to ask by. */
  async function atPartner({ event, externalId }: PartnerEvent) {
    const isCharge = event === 'CashIn' && externalId && isUuid(externalId)
    return isCharge ? cashIns.atPartner(externalId.toLowerCase()) : null
  }

  function again(row: InboxRow, dueAt: number): InboxResult {
    return { id: row.id, state: row.state, outcome: 'WAITING', operationId: null, dueAt }
  }

  function quarantine(row: InboxRow, outcome: string, operationId: string | null = null): InboxResult {
    logger.error({ inboxId: row.id, outcome }, 'an event of the partner was put in quarantine')
    return { id: row.id, state: stateAfter(row, 'QUARANTINED'), outcome, operationId, dueAt: null }
  }

  /** One event that cannot be applied never stops the others. Our own overload is no event's fault. @source failure-modes#EV-12 */
  function failed(row: InboxRow, error: unknown): InboxResult {
    const isOurs = error instanceof Refusal && error.code === 'overloaded'
    if (row.attempts >= POISON_ATTEMPTS && !isOurs) return quarantine(row, `failed ${row.attempts} times: ${error}`)
    logger.warn({ inboxId: row.id, attempts: row.attempts, error: String(error) }, 'an event could not be applied yet')
    return again(row, clock.now() + RETRY_MS)
  }

  return {
    apply,
    processNext: async () => {
      const now = clock.now()
      await store.expedite(cashIns.takeNewReferences(), now)
      const rows = await store.claim(now, now + LEASE_MS, BATCH)
      await apply(rows)
      return rows.length === BATCH
    },
  }
}

/** An event that contradicts another stays marked as that, whatever becomes of it. @source rules#partner-inbox.7 */
function stateAfter({ state }: InboxRow, otherwise: InboxResult['state']): InboxResult['state'] {
  return state === 'CONFLICT' ? state : otherwise
}
