import { Refusal } from '@pixgate/spec'
import type { ReadableEvent } from '../banks/inbound.ts'
import type { CashInModule } from '../cash-in/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Case } from '../engine/operation.ts'
import type { Clock } from '../platform/clock.ts'
import { DatabaseUnavailable } from '../platform/db/errors.ts'
import { isOrderId } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { type Meaning, NOTHING } from './meaning.ts'
import { PARKING_DELAYS_MS, POISON_FAILURES } from './rules.ts'
import type { InboxEvent, InboxResult, InboxStore } from './store.ts'

/** How an event can end, or why it waits. Nothing of it is noted here. */
export interface Outcomes {
  done(row: InboxEvent, outcome: string, operationId: string | null): InboxResult
  /** It waits for as long as it is its turn to. */
  parked(row: InboxEvent, outcome: string): InboxResult
  /**
   * It waits for the operation to appear, or for the bank's answers; in the end an operator is told.
   * @source rules#partner-inbox.8
   */
  park(row: InboxEvent, event: ReadableEvent, outcome: string, meaning: Meaning, rule?: string): Promise<InboxResult>
  /** It is tried again soon, as it is. */
  again(row: InboxEvent): InboxResult
  /** Applied to nothing, ever, and never in silence. @source rules#partner-inbox.13, failure-modes#EV-36 */
  quarantine(row: InboxEvent, fault: string, meaning: Meaning): Promise<InboxResult>
  /**
   * One event that cannot be applied never stops the others. Our own overload is no event's fault.
   * @source failure-modes#EV-12
   */
  failed(row: InboxEvent, error: unknown): Promise<InboxResult>
}

/** What is needed for them. */
export interface OutcomesOptions {
  readonly store: Pick<InboxStore, 'hasOpenCase'>
  readonly cashIns: Pick<CashInModule, 'atPartner'>
  readonly engine: Engine
  readonly clock: Clock
  readonly logger: Logger
}

/** How soon a step that failed is tried again. */
const RETRY_MS = 1_000

/** Makes them. */
export function createOutcomes({ store, cashIns, engine, clock, logger }: OutcomesOptions): Outcomes {
  async function park(
    row: InboxEvent,
    event: ReadableEvent,
    outcome: string,
    { among }: Meaning,
    rule = 'partner-inbox.8',
  ): Promise<InboxResult> {
    if (row.parkings < PARKING_DELAYS_MS.length) return parked(row, outcome)
    await openCase(row, { rule, outcome, operations: [...among], bank: await atBank(event) })
    return { ...keptOf(row), state: stateAfter(row, 'PARKED'), outcome: 'CASE_OPENED', operationId: null, dueAt: null }
  }

  function parked(row: InboxEvent, outcome: string): InboxResult {
    const dueAt = clock.now() + (PARKING_DELAYS_MS[row.parkings] ?? 0)
    const waits = { outcome, operationId: null, parkings: row.parkings + 1, dueAt }
    return { ...keptOf(row), state: stateAfter(row, 'PARKED'), ...waits }
  }

  /** Operator action is required. The same report, repeated, is the same case. @source rules#partner-inbox.13 */
  async function openCase(row: InboxEvent, more: Case['facts']): Promise<void> {
    const { event, callback, ordinal } = row
    const told = event.kind === 'unreadable' ? {} : { event: event.evidence }
    const facts = { inboxId: callback.id, ordinal, endpoint: callback.endpoint, ...told, ...more }
    const reference = row.contentHash.toString('hex')
    // What an operator attributed and the bank does not confirm is the case that it was.
    if (row.attributedTo !== null && (await store.hasOpenCase(reference))) return
    await engine.execute({
      reads: [],
      decide: () => ({ cases: [{ operationId: null, kind: 'event_set_aside', reference, facts }], outcome: undefined }),
    })
  }

  /** What the bank has under the order id in an event; `null` where the event has none. */
  async function atBank({ subject, references: { externalId } }: ReadableEvent) {
    return subject === 'charge' && externalId !== null && isOrderId(externalId) ? cashIns.atPartner(externalId) : null
  }

  function again(row: InboxEvent): InboxResult {
    return { ...keptOf(row), state: row.state, outcome: 'WAITING', operationId: null, dueAt: clock.now() + RETRY_MS }
  }

  async function quarantine(row: InboxEvent, fault: string, { id, among }: Meaning): Promise<InboxResult> {
    const outcome = row.state === 'CONFLICT' ? `contradicts another event; ${fault}` : fault
    await openCase(row, { rule: 'partner-inbox.13', outcome, operations: [...among] })
    return { ...keptOf(row), state: 'QUARANTINED', outcome, operationId: id ?? null, dueAt: null }
  }

  async function failed(row: InboxEvent, error: unknown): Promise<InboxResult> {
    const failures = row.failures + (isOurs(error) ? 0 : 1)
    const retried = again({ ...row, failures })
    logger.warn({ inboxId: row.callback.id, failures, error: String(error) }, 'an event could not be applied yet')
    if (failures < POISON_FAILURES) return retried
    // Where not even a case can be opened it is tried again.
    return quarantine({ ...row, failures }, `failed ${failures} times: ${error}`, NOTHING).catch(() => retried)
  }

  return { done, parked, park, again, quarantine, failed }
}

function done(row: InboxEvent, outcome: string, operationId: string | null): InboxResult {
  return { ...keptOf(row), state: stateAfter(row, 'DONE'), outcome, operationId, dueAt: null }
}

function isOurs(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || (error instanceof Refusal && error.code === 'overloaded')
}

/** What of an event stays as it is unless something is said of it. */
function keptOf({ callback, ordinal, failures, parkings }: InboxEvent) {
  return { inboxId: callback.id, ordinal, failures, parkings }
}

/** An event that contradicts another stays marked as that, whatever becomes of it. @source rules#partner-inbox.7 */
function stateAfter({ state }: InboxEvent, otherwise: InboxResult['state']): InboxResult['state'] {
  return state === 'CONFLICT' ? state : otherwise
}
