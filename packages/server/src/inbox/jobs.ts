import type { BankEvent, Inbound } from '../banks/inbound.ts'
import type { CashInModule } from '../cash-in/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Clock } from '../platform/clock.ts'
import { isOrderId } from '../platform/ids.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import type { Logger } from '../platform/log.ts'
import { Applier } from './applier.ts'
import { LEASE_MS } from './commands.ts'
import { type Meaning, NOTHING } from './meaning.ts'
import { createOutcomes } from './outcomes.ts'
import type { Receivers } from './receivers.ts'
import type { InboxReports } from './reporting.ts'
import { namingOf } from './rules.ts'
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
  readonly reports: Pick<InboxReports, 'marked'>
  /** Marks are written so far apart, milliseconds, by a real clock; 0 where time is simulated. 50 unless given. */
  readonly marksEveryMs?: number
}

const BATCH = 256

/** What was applied is marked with what was applied beside it: nothing waits for the mark. */
const MARKS = { batchMax: 1_024, queueMax: Number.POSITIVE_INFINITY }
const MARKS_EVERY_MS = 50

/** Makes the jobs. */
export function createInboxJobs(options: InboxJobsOptions): InboxJobs {
  const { store, inbound, receivers, cashIns, engine, clock, reports } = options
  const outcomes = createOutcomes(options)
  const applier = new Applier(store, receivers, outcomes)
  const marks = createBatcher<readonly InboxResult[], void>(
    async (results) => {
      await store.mark(onceEach(results.flat()), clock.now())
      return results.map(() => ({ result: undefined }))
    },
    { ...MARKS, paceMs: options.marksEveryMs ?? MARKS_EVERY_MS },
  )

  async function apply(rows: readonly InboxEvent[]): Promise<void> {
    if (rows.length === 0) return
    const events = rows.map(({ event }) => event)
    const [meanings] = await Promise.all([meaningsOf(events, receivers), engine.foresee(events.flatMap(namedOrders))])
    const results = await Promise.all(
      rows.map((row) =>
        applier.result(row, meanings.get(row.event) ?? NOTHING).catch((error) => outcomes.failed(row, error)),
      ),
    )
    await marks.submit(results)
    for (const result of results) reports.marked(result)
  }

  return {
    apply,
    processNext: async () => {
      const now = clock.now()
      await store.expedite(cashIns.drainNewReferences(), now)
      const rows = await store.claim(now, now + LEASE_MS, BATCH)
      await apply(rows.map((row) => readAgain(row, inbound)))
      return rows.length === BATCH
    },
  }
}

/** Of an event that was applied twice, as its lease was over, the result that deals with it. */
function onceEach(results: readonly InboxResult[]): readonly InboxResult[] {
  const once = new Map<string, InboxResult>()
  for (const result of results) {
    const key = `${result.inboxId} ${result.ordinal}`
    if (!once.has(key) || result.dueAt === null) once.set(key, result)
  }
  return [...once.values()]
}

/** The order id in an event, where it has one: most often it is of the operation that it means. */
function namedOrders(event: BankEvent): string[] {
  const externalId = namingOf(event)?.references.externalId ?? ''
  return isOrderId(externalId) ? [externalId] : []
}

/** One read for all events about a kind of operation. */
async function meaningsOf(
  events: readonly BankEvent[],
  receivers: Receivers,
): Promise<ReadonlyMap<BankEvent, Meaning>> {
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

/** What was stored, read anew. */
function readAgain(row: StoredEvent, inbound: InboxJobsOptions['inbound']): InboxEvent {
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
