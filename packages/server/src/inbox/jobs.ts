import type { BankEvent, Inbound, Naming, ReadableEvent } from '../banks/inbound.ts'
import type { CashInModule } from '../cash-in/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../platform/clock.ts'
import type { Logger } from '../platform/log.ts'
import { LEASE_MS } from './commands.ts'
import { type Meaning, NOTHING } from './meaning.ts'
import { createOutcomes } from './outcomes.ts'
import { type Applied, applyEvent, type Receivers } from './receivers.ts'
import { movementOf, namingOf, PARKING_DELAYS_MS, saysMoneyMoved } from './rules.ts'
import type { InboxEvent, InboxResult, InboxStore, StoredEvent } from './store.ts'

/** Applying events, after they were answered. Applying one twice does nothing, so it is marked last. */
export interface InboxJobs {
  /** Applies events that this process holds. */
  apply(events: readonly InboxEvent[]): Promise<void>
  /**
   * Takes up what a dead process left, and what was parked: when its time has come, or its reference became known.
   * @returns whether more may be due right away
   */
  processNext(): Promise<boolean>
}

/** What the jobs need. */
export interface InboxJobsOptions {
  readonly store: InboxStore
  readonly inbound: Pick<Inbound, 'parse'>
  readonly receivers: Receivers
  readonly cashIns: Pick<CashInModule, 'atPartner' | 'drainNewReferences'>
  readonly engine: Engine
  readonly clock: Clock
  readonly logger: Logger
}

const BATCH = 256

/** Makes the jobs. */
export function createInboxJobs(options: InboxJobsOptions): InboxJobs {
  const { store, inbound, receivers, cashIns, clock } = options
  const { done, parked, park, again, quarantine, failed } = createOutcomes(options)

  async function apply(rows: readonly InboxEvent[]): Promise<void> {
    if (rows.length === 0) return
    const meanings = await meaningsOf(rows.map(({ event }) => event))
    const results = await Promise.all(
      rows.map((row) => result(row, meanings.get(row.event) ?? NOTHING).catch((error) => failed(row, error))),
    )
    await store.mark(results, clock.now())
  }

  /** One read for all events about a kind of operation. */
  async function meaningsOf(events: readonly BankEvent[]): Promise<ReadonlyMap<BankEvent, Meaning>> {
    const named = events.flatMap((event) => {
      const naming = namingOf(event)
      return naming ? [{ event, ...naming }] : []
    })
    const bySubject = Map.groupBy(named, ({ subject }) => subject)
    const entries = await Promise.all(
      [...bySubject].map(async ([subject, group]) => {
        const meanings = await receivers[subject].match(group.map(({ references }) => references))
        return group.map(({ event }, index) => [event, meanings[index] ?? NOTHING] as const)
      }),
    )
    return new Map(entries.flat())
  }

  async function result(row: InboxEvent, meaning: Meaning): Promise<InboxResult> {
    const { event } = row
    if (!row.callback.isProven) return unproven(row, meaning)
    if (event.kind === 'unreadable') {
      if (event.named) await askAbout(event.named, meaning)
      return quarantine(row, event.fault, meaning)
    }
    if (meaning.among.length === 0) return park(row, event, 'no such operation yet', meaning)
    if (row.state === 'CONFLICT' && !(await store.isOriginalDone(row.dedupeKey))) return again(row)
    if (meaning.id === undefined) return dispute(row, event, meaning)
    return outcomeOf(row, event, await applyEvent(receivers, meaning.id, event), meaning)
  }

  /**
   * What anybody may have sent is a question to the bank about what it names, whatever it says: never money, and no case.
   * @source rules#partner-inbox.15, failure-modes#EV-47
   */
  async function unproven(row: InboxEvent, meaning: Meaning): Promise<InboxResult> {
    const { event, parkings } = row
    const naming = event.kind === 'in_progress' ? undefined : namingOf(event)
    if (naming && meaning.among.length > 0) {
      await askAbout(naming, meaning)
      return done(row, 'ASKED', meaning.id ?? null)
    }
    return naming && parkings < PARKING_DELAYS_MS.length
      ? parked(row, 'no such operation yet')
      : done(row, 'UNPROVEN', null)
  }

  async function outcomeOf(
    row: InboxEvent,
    event: ReadableEvent,
    applied: Applied | undefined,
    meaning: Meaning,
  ): Promise<InboxResult> {
    switch (applied) {
      case 'IMPLAUSIBLE':
        await askAbout(event, meaning)
        return quarantine(row, 'occurredAt lies in the future', meaning)
      case 'UNEXPECTED':
        return quarantine(row, 'it cannot be true of this operation', meaning)
      case 'EARLY':
        await askAbout(event, meaning)
        return park(row, event, 'too early', meaning)
      case 'DISPUTED':
        return dispute(row, event, meaning)
      default:
        return done(row, applied ?? 'IGNORED', meaning.id ?? null)
    }
  }

  /**
   * What its references, or what is known of the operation, do not agree on is applied to nothing. The bank is asked about
   * everything it could mean; what its answers have booked is settled.
   * @source rules#partner-inbox.12, failure-modes#EV-26, failure-modes#EV-34
   */
  async function dispute(row: InboxEvent, event: ReadableEvent, meaning: Meaning): Promise<InboxResult> {
    if (event.kind === 'in_progress') return done(row, 'IN_PROGRESS', null)
    const settled = await bookedOn(event, meaning)
    if (settled !== undefined) return done(row, 'KNOWN', settled)
    await askAbout(event, meaning)
    if (!saysMoneyMoved(event)) return done(row, 'ASKED', null)
    return park(row, event, 'its references disagree', meaning, 'disputed_event')
  }

  async function bookedOn(event: ReadableEvent, { among }: Meaning): Promise<string | undefined> {
    const movement = movementOf(event)
    if (!movement) return undefined
    for (const id of among) if (await receivers[event.subject].hasBooked(id, movement)) return id
    return undefined
  }

  async function askAbout({ subject }: Naming, { among }: Meaning): Promise<void> {
    for (const id of among) await receivers[subject].ask(id)
  }

  /** What was stored, read anew. */
  function readAgain(row: StoredEvent): InboxEvent {
    const { endpoint, body } = row.callback
    const event = inbound.parse(endpoint, body)[row.ordinal]
    const gone = {
      kind: 'unreadable',
      fault: 'the callback has no such event any more',
      named: undefined,
      key: [],
      content: body,
    } as const
    return { ...row, event: event ?? gone }
  }

  return {
    apply,
    processNext: async () => {
      const now = clock.now()
      await store.expedite(cashIns.drainNewReferences(), now)
      const rows = await store.claim(now, now + LEASE_MS, BATCH)
      await apply(rows.map(readAgain))
      return rows.length === BATCH
    },
  }
}
