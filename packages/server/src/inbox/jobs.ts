import { type PartnerEvent, Refusal } from '@pixgate/spec'
import type { CashInModule } from '../cash-in/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Document } from '../engine/operation.ts'
import type { Clock } from '../platform/clock.ts'
import { DatabaseUnavailable } from '../platform/db/database.ts'
import { isUuid } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { LEASE_MS } from './commands.ts'
import type { Meaning } from './meaning.ts'
import type { Receivers, Taken } from './receivers.ts'
import {
  evidenceOf,
  isInProgress,
  isNews,
  movementOf,
  type Naming,
  PARKING_DELAYS_MS,
  POISON_FAILURES,
  type Reading,
  readBody,
  referencesOf,
} from './rules.ts'
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
    const readings = rows.map(({ endpoint, body }) => readBody(endpoint, body))
    const meanings = await meaningsOf(readings)
    const results = await Promise.all(
      rows.map((row, index) => {
        const reading = readings[index] as Reading
        const meaning = meanings.get(reading) ?? NOTHING
        return result(row, reading, meaning).catch((error) => failed(row, error))
      }),
    )
    await store.mark(results, clock.now())
  }

  /** One read for all events of a name. */
  async function meaningsOf(readings: readonly Reading[]): Promise<ReadonlyMap<Reading, Meaning>> {
    const naming = readings.flatMap((reading) => {
      const names = namingOf(reading)
      return names ? [{ reading, names }] : []
    })
    const byName = Map.groupBy(naming, ({ names }) => names.event)
    const entries = await Promise.all(
      [...byName].map(async ([name, named]) => {
        const meanings = await receivers[name].match(named.map(({ names }) => referencesOf(names)))
        return named.map(({ reading }, index) => [reading, meanings[index] ?? NOTHING] as const)
      }),
    )
    return new Map(entries.flat())
  }

  async function result(row: InboxRow, reading: Reading, meaning: Meaning): Promise<InboxResult> {
    if ('fault' in reading) {
      if (reading.about) await askAbout(reading.about, meaning)
      return quarantine(row, undefined, reading.fault, meaning)
    }
    const { event } = reading
    if (meaning.among.length === 0) return park(row, event, 'no such operation yet', meaning)
    if (row.state === 'CONFLICT' && !(await store.isOriginalDone(row.dedupeKey)))
      return again(row, clock.now() + RETRY_MS)
    if (meaning.id === undefined) return dispute(row, event, meaning)
    return told(row, event, await receivers[event.event].take(meaning.id, event), meaning)
  }

  async function told(
    row: InboxRow,
    event: PartnerEvent,
    taken: Taken | undefined,
    meaning: Meaning,
  ): Promise<InboxResult> {
    switch (taken) {
      case 'IMPLAUSIBLE':
        await askAbout(event, meaning)
        return quarantine(row, event, 'occurredAt lies in the future', meaning)
      case 'UNEXPECTED':
        return quarantine(row, event, 'it cannot be true of this operation', meaning)
      case 'EARLY':
        await askAbout(event, meaning)
        return park(row, event, 'too early', meaning)
      case 'DISPUTED':
        return dispute(row, event, meaning)
      default:
        return done(row, taken ?? 'IGNORED', meaning.id ?? null)
    }
  }

  /**
   * What its references, or what is known of the operation, do not agree on is applied to nothing. The bank is asked about
   * everything it could mean; what its answers have booked is settled.
   * @source rules#partner-inbox.12, failure-modes#EV-26, failure-modes#EV-34
   */
  async function dispute(row: InboxRow, event: PartnerEvent, meaning: Meaning): Promise<InboxResult> {
    if (isInProgress(event)) return done(row, 'IN_PROGRESS', null)
    const settled = await bookedOn(event, meaning)
    if (settled !== undefined) return done(row, 'KNOWN', settled)
    await askAbout(event, meaning)
    if (!isNews(event)) return done(row, 'ASKED', null)
    return park(row, event, 'its references disagree', meaning, 'disputed_event')
  }

  async function bookedOn(event: PartnerEvent, { among }: Meaning): Promise<string | undefined> {
    const movement = movementOf(event)
    if (!movement) return undefined
    for (const id of among) if (await receivers[event.event].hasBooked(id, movement)) return id
    return undefined
  }

  async function askAbout({ event }: Naming, { among }: Meaning): Promise<void> {
    for (const id of among) await receivers[event].ask(id)
  }

  function done(row: InboxRow, outcome: string, operationId: string | null): InboxResult {
    return { ...row, state: stateAfter(row, 'DONE'), outcome, operationId, dueAt: null }
  }

  /**
   * Waits for the operation to appear, or for the bank's answers; in the end an operator is told.
   * @source rules#partner-inbox.8
   */
  async function park(
    row: InboxRow,
    event: PartnerEvent,
    outcome: string,
    { among }: Meaning,
    kind = 'unmatched_event',
  ): Promise<InboxResult> {
    const delay = PARKING_DELAYS_MS[row.parkings]
    const parked = { ...row, state: stateAfter(row, 'PARKED'), operationId: null, parkings: row.parkings + 1 }
    if (delay !== undefined) return { ...parked, outcome, dueAt: clock.now() + delay }
    await openCase(row, kind, event, { outcome, operations: [...among], bank: await atPartner(event) })
    return { ...parked, parkings: row.parkings, outcome: 'CASE_OPENED', dueAt: null }
  }

  /** A person decides. What is told again in the same words is the same case. @source rules#partner-inbox.13 */
  async function openCase(row: InboxRow, kind: string, event: PartnerEvent | undefined, more: Document): Promise<void> {
    const facts = { inboxId: row.id, endpoint: row.endpoint, ...(event && { event: evidenceOf(event) }), ...more }
    const reference = row.bodyHash.toString('hex')
    await engine.execute({
      reads: [],
      decide: () => ({ cases: [{ operationId: null, kind, reference, facts }], outcome: undefined }),
    })
  }

  /** What the partner has under our id in an event; `null` where it has none to ask by. */
  async function atPartner({ event, externalId }: PartnerEvent) {
    const isCharge = event === 'CashIn' && externalId && isUuid(externalId)
    return isCharge ? cashIns.atPartner(externalId.toLowerCase()) : null
  }

  function again(row: InboxRow, dueAt: number): InboxResult {
    return { ...row, outcome: 'WAITING', operationId: null, dueAt }
  }

  /** Applied to nothing, ever, and never in silence. @source rules#partner-inbox.13, failure-modes#EV-36 */
  async function quarantine(
    row: InboxRow,
    event: PartnerEvent | undefined,
    fault: string,
    { id, among }: Meaning,
  ): Promise<InboxResult> {
    const outcome = row.state === 'CONFLICT' ? `contradicts another event; ${fault}` : fault
    logger.error({ inboxId: row.id, outcome }, 'an event of the partner was put in quarantine')
    await openCase(row, 'quarantined_event', event, { outcome, operations: [...among] })
    return { ...row, state: 'QUARANTINED', outcome, operationId: id ?? null, dueAt: null }
  }

  /** One event that cannot be applied never stops the others. Our own overload is no event's fault. @source failure-modes#EV-12 */
  async function failed(row: InboxRow, error: unknown): Promise<InboxResult> {
    const failures = row.failures + (isOurs(error) ? 0 : 1)
    const retried = again({ ...row, failures }, clock.now() + RETRY_MS)
    logger.warn({ inboxId: row.id, failures, error: String(error) }, 'an event could not be applied yet')
    if (failures < POISON_FAILURES) return retried
    // Where not even a case can be opened it is tried again.
    return quarantine({ ...row, failures }, undefined, `failed ${failures} times: ${error}`, NOTHING).catch(
      () => retried,
    )
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

const NOTHING: Meaning = { id: undefined, among: [] }

function namingOf(reading: Reading): Naming | undefined {
  return 'event' in reading ? reading.event : reading.about
}

function isOurs(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || (error instanceof Refusal && error.code === 'overloaded')
}

/** An event that contradicts another stays marked as that, whatever becomes of it. @source rules#partner-inbox.7 */
function stateAfter({ state }: InboxRow, otherwise: InboxResult['state']): InboxResult['state'] {
  return state === 'CONFLICT' ? state : otherwise
}
