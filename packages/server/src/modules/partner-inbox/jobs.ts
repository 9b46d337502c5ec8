import { type PartnerEvent, Refusal } from '@pixgate/spec'
import type { Engine } from '../../engine/engine.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/log.ts'
import type { CashInModule, CashInOutcome } from '../cash-in/index.ts'
import { LEASE_MS, referencesOf } from './commands.ts'
import { cashInInput, PARKING_DELAYS_MS, POISON_ATTEMPTS, readBody } from './rules.ts'
import type { InboxResult, InboxRow, InboxStore } from './store.ts'

/** Applying events, after they were answered. Applying one twice does nothing, so it is marked last. */
export interface InboxJobs {
  /** Applies events that this process holds. */
  apply(rows: readonly InboxRow[]): Promise<void>
  /**
   * Takes up what a dead process left, and what was parked.
   * @returns whether more may be due right away
   */
  processNext(): Promise<boolean>
}

/** What the jobs need. */
export interface InboxJobsOptions {
  readonly store: InboxStore
  readonly cashIns: Pick<CashInModule, 'match' | 'apply'>
  readonly engine: Engine
  readonly clock: Clock
  readonly logger: Logger
}

const BATCH = 256

/** How soon a step that failed is tried again. */
const RETRY_MS = 1_000

/** Makes the jobs. */
export function createInboxJobs({ store, cashIns, engine, clock, logger }: InboxJobsOptions): InboxJobs {
  async function apply(rows: readonly InboxRow[]): Promise<void> {
    if (rows.length === 0) return
    const events = rows.map(({ endpoint, body }) => {
      const reading = readBody(endpoint, body)
      return 'event' in reading ? reading.event : undefined
    })
    const matches = await matchCashIns(events)
    const results = await Promise.all(
      rows.map((row, index) => result(row, events[index], matches[index] ?? []).catch((error) => failed(row, error))),
    )
    await store.mark(results, clock.now())
  }

  /** One read for all of them; what is no event matches nothing. */
  async function matchCashIns(events: readonly (PartnerEvent | undefined)[]): Promise<string[][]> {
    const present = events.filter((event) => event !== undefined)
    const found = await cashIns.match(present.map(referencesOf))
    let next = 0
    return events.map((event) => (event ? (found[next++] ?? []) : []))
  }

  async function result(
    row: InboxRow,
    event: PartnerEvent | undefined,
    matches: readonly string[],
  ): Promise<InboxResult> {
    if (event?.event !== 'CashIn') return park(row, 'no operation of this kind yet')
    const [id, another] = matches
    if (another !== undefined) return quarantine(row, 'its references belong to different cash-ins')
    if (id === undefined) return park(row, 'no such cash-in yet')
    if (row.state === 'CONFLICT' && !(await store.isOriginalDone(row.dedupeKey)))
      return again(row, clock.now() + RETRY_MS)
    const input = cashInInput(event)
    if (!input) return done(row, 'IN_PROGRESS', id)
    return told(row, await cashIns.apply(id, input), id)
  }

  function told(row: InboxRow, outcome: CashInOutcome | undefined, id: string): InboxResult {
    if (outcome?.result === 'IMPLAUSIBLE') return quarantine(row, 'occurredAt lies in the future', id)
    return done(row, outcome?.result ?? 'IGNORED', id)
  }

  function done(row: InboxRow, outcome: string, operationId: string): InboxResult {
    return { id: row.id, state: stateAfter(row, 'DONE'), outcome, operationId, dueAt: null }
  }

  /** Waits for the operation to appear; in the end an operator is told. @source rules#partner-inbox.8 */
  async function park(row: InboxRow, outcome: string): Promise<InboxResult> {
    const delay = PARKING_DELAYS_MS[row.attempts - 1]
    if (delay !== undefined) {
      return { id: row.id, state: stateAfter(row, 'PARKED'), outcome, operationId: null, dueAt: clock.now() + delay }
    }
    await engine.execute({
      reads: [],
      decide: () => ({
        cases: [{ operationId: null, kind: 'unmatched_event', reference: row.id, facts: { endpoint: row.endpoint } }],
        outcome: undefined,
      }),
    })
    return { id: row.id, state: stateAfter(row, 'PARKED'), outcome: 'CASE_OPENED', operationId: null, dueAt: null }
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
