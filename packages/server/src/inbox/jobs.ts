import { Refusal } from '@pixgate/spec'
import type { BankEvent, Inbound, Judgement, Naming, Origin, ReadableEvent } from '../banks/inbound.ts'
import type { CashInModule } from '../cash-in/index.ts'
import type { Engine } from '../engine/engine.ts'
import type { Case } from '../engine/operation.ts'
import type { CallbackOrigin, EventOutcome } from '../health/index.ts'
import type { Clock } from '../platform/clock.ts'
import { DatabaseUnavailable } from '../platform/db/errors.ts'
import { isOrderId } from '../platform/ids.ts'
import { createBatcher } from '../platform/jobs/batcher.ts'
import type { Logger } from '../platform/log.ts'
import { andMore, createHeartbeat, type Heartbeat } from '../platform/runtime.ts'
import type { OnPreviousSecret } from '../platform/secrets.ts'
import { LEASE_MS } from './receive.ts'
import { type Applied, applyEvent, type Receivers } from './receivers.ts'
import {
  type Meaning,
  movementOf,
  NOTHING,
  namingOf,
  PARKING_DELAYS_MS,
  POISON_FAILURES,
  saysMoneyMoved,
} from './rules.ts'
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
  const { store, inbound, receivers, cashIns, clock, reports } = options
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
    const meanings = await meaningsOf(events, receivers)
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

/** Applies stored events to the operations that they mean, or asks the bank about these. */
class Applier {
  readonly #store: Pick<InboxStore, 'isOriginalDone'>
  readonly #receivers: Receivers
  readonly #outcomes: Outcomes

  constructor(store: Pick<InboxStore, 'isOriginalDone'>, receivers: Receivers, outcomes: Outcomes) {
    this.#store = store
    this.#receivers = receivers
    this.#outcomes = outcomes
  }

  /** @returns what became of an event */
  async result(row: InboxEvent, meaning: Meaning): Promise<InboxResult> {
    const { event } = row
    if (!row.callback.isProven) return this.#unproven(row, meaning)
    if (event.kind === 'unreadable') {
      if (event.named) await this.#askAbout(event.named, meaning)
      return this.#outcomes.quarantine(row, event.fault, meaning)
    }
    if (row.attributedTo !== null) return this.#attributed(row, event, row.attributedTo)
    if (meaning.among.length === 0) return this.#outcomes.park(row, event, 'no such operation yet', meaning)
    if (row.state === 'CONFLICT' && !(await this.#store.isOriginalDone(row.dedupeKey))) return this.#outcomes.again(row)
    if (meaning.id === undefined) return this.#dispute(row, event, meaning)
    return this.#outcomeOf(row, event, await applyEvent(this.#receivers, meaning.id, event), meaning)
  }

  /**
   * What anybody may have sent is a question to the bank about what it names, whatever it says: never money, and no case.
   * @source rules#partner-inbox.15, failure-modes#EV-47
   */
  async #unproven(row: InboxEvent, meaning: Meaning): Promise<InboxResult> {
    const { event, parkings } = row
    const naming = event.kind === 'in_progress' ? undefined : namingOf(event)
    if (naming && meaning.among.length > 0) {
      await this.#askAbout(naming, meaning)
      return this.#outcomes.done(row, 'ASKED', meaning.id ?? null)
    }
    return naming && parkings < PARKING_DELAYS_MS.length
      ? this.#outcomes.parked(row, 'no such operation yet')
      : this.#outcomes.done(row, 'UNPROVEN', null)
  }

  /**
   * An operator's word alone makes no money of an event: where the bank can be asked, what it confirms of the operation that was
   * named is booked by its own word, and nothing else.
   * @source rules#cases.58
   */
  async #attributed(row: InboxEvent, event: ReadableEvent, id: string): Promise<InboxResult> {
    const meaning = { id, among: [id] }
    if (!this.#receivers[event.subject].canAsk || !saysMoneyMoved(event)) {
      return this.#outcomeOf(row, event, await applyEvent(this.#receivers, id, event), meaning)
    }
    if ((await this.#bookedOn(event, meaning)) !== undefined) return this.#outcomes.done(row, 'KNOWN', id)
    await this.#askAbout(event, meaning)
    return this.#outcomes.park(row, event, 'the bank has not confirmed it', meaning, 'cases.58')
  }

  async #outcomeOf(
    row: InboxEvent,
    event: ReadableEvent,
    applied: Applied | undefined,
    meaning: Meaning,
  ): Promise<InboxResult> {
    switch (applied) {
      case 'IMPLAUSIBLE':
        await this.#askAbout(event, meaning)
        return this.#outcomes.quarantine(row, 'occurredAt lies in the future', meaning)
      case 'UNEXPECTED':
        return this.#outcomes.quarantine(row, 'it cannot be true of this operation', meaning)
      case 'EARLY':
        await this.#askAbout(event, meaning)
        return this.#outcomes.park(row, event, 'too early', meaning)
      case 'DISPUTED':
        return this.#dispute(row, event, meaning)
      default:
        return this.#outcomes.done(row, applied ?? 'IGNORED', meaning.id ?? null)
    }
  }

  /**
   * What its references, or what is known of the operation, do not agree on is applied to nothing. The bank is asked about
   * everything it could mean; what its answers have booked is settled.
   * @source rules#partner-inbox.12, failure-modes#EV-26, failure-modes#EV-34
   */
  async #dispute(row: InboxEvent, event: ReadableEvent, meaning: Meaning): Promise<InboxResult> {
    if (event.kind === 'in_progress') return this.#outcomes.done(row, 'IN_PROGRESS', null)
    const settled = await this.#bookedOn(event, meaning)
    if (settled !== undefined) return this.#outcomes.done(row, 'KNOWN', settled)
    await this.#askAbout(event, meaning)
    if (!saysMoneyMoved(event)) return this.#outcomes.done(row, 'ASKED', null)
    return this.#outcomes.park(row, event, 'its references disagree', meaning, 'partner-inbox.12')
  }

  async #bookedOn(event: ReadableEvent, { among }: Meaning): Promise<string | undefined> {
    const movement = movementOf(event)
    if (!movement) return undefined
    for (const id of among) if (await this.#receivers[event.subject].hasBooked(id, movement)) return id
    return undefined
  }

  async #askAbout({ subject }: Naming, { among }: Meaning): Promise<void> {
    for (const id of among) await this.#receivers[subject].ask(id)
  }
}

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
function createOutcomes({ store, cashIns, engine, clock, logger }: OutcomesOptions): Outcomes {
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

/** Is told of what the bank sends. Throws nothing. */
export interface InboxObserver {
  /** Who a callback came from, as far as it was proven. */
  onCallback(origin: CallbackOrigin): void
  /** What became of an event, for now. */
  onEvent(outcome: EventOutcome): void
  /** A previous secret proved a callback, by the variable that it stands in. */
  onPreviousSecret?: OnPreviousSecret
}

/** Reports of the inbox, to the log and to whoever counts. */
export interface InboxReports {
  /** @param path where it came to, as declared */
  callback(path: string, judgement: Exclude<Judgement, Origin> | { readonly origin: Origin }): void
  /** A callback did not arrive whole, or was too large to be read: nobody knows what it was. */
  unread(path: string, reason: string): void
  /** A part of a callback that was taken could not be read, and is not kept: the bank's statement has it. */
  unreadPart(route: string, reason: string): void
  /** An event that contradicts one under the same key was stored. */
  contradicting(event: Pick<InboxEvent, 'callback' | 'ordinal'>): void
  /** What became of an event was noted. */
  marked(result: InboxResult): void
}

/** Makes the reports. @source rules#logs.3, rules#partner-inbox.13 */
export function createInboxReports(
  logger: Logger,
  observer?: InboxObserver,
  heartbeat: Heartbeat = createHeartbeat(),
): InboxReports {
  return {
    callback: (path, judgement) => {
      const { origin } = judgement
      observer?.onCallback(origin)
      if ('previousSecret' in judgement) observer?.onPreviousSecret?.(judgement.previousSecret)
      const sentence = REFUSALS[origin]
      if (sentence === undefined) return
      const reason = 'reason' in judgement ? judgement.reason : undefined
      heartbeat.report(`${path} ${origin} ${reason}`, (more) =>
        logger.warn({ path, ...judgement }, sentence + andMore(more)),
      )
    },
    unread: (path, reason) => {
      observer?.onCallback('unreadable')
      heartbeat.report(`${path} unreadable ${reason}`, (more) =>
        logger.warn({ path, origin: 'unreadable', reason }, UNREADABLE + andMore(more)),
      )
    },
    unreadPart: (route, reason) => {
      observer?.onCallback('unreadable')
      heartbeat.report(`${route} unread ${reason}`, (more) =>
        logger.warn(
          { event: 'callback.unreadable', route, reason },
          `part of a callback cannot be read${andMore(more)}`,
        ),
      )
    },
    contradicting: ({ callback, ordinal }) => {
      observer?.onEvent('contradicting')
      logger.warn(
        { inboxId: callback.id, ordinal },
        'an event of the bank contradicts one that was stored before: it is kept, and looked at after that one',
      )
    },
    marked: (result) => {
      const outcome = outcomeOf(result)
      observer?.onEvent(outcome)
      const { inboxId, ordinal, operationId, dueAt } = result
      const event = { inboxId, ordinal, reason: result.outcome, operationId }
      if (outcome === 'quarantined') {
        logger.error(event, 'an event of the bank was put in quarantine: it is applied to nothing, and a case is open')
      }
      if (outcome === 'given_up') {
        logger.error(event, 'an event of the bank still matches nothing: it is not tried again, and a case is open')
      }
      if (outcome === 'parked') {
        const next = dueAt === null ? undefined : new Date(dueAt).toISOString()
        logger.warn({ ...event, nextAttemptAt: next }, 'an event of the bank is parked and matched again later')
      }
    },
  }
}

/** Callbacks that were answered 401. */
const REFUSALS: Readonly<Partial<Record<Origin, string>>> = {
  refused:
    'a callback was refused, as nothing proves that the bank sent it; if it did, check the secret that is shared with it',
  stale: 'a signed event of the bank is out of its time window, and was refused: the bank is asked instead',
}

const UNREADABLE = 'a callback could not be read and was refused; if the bank sent it, it has to send it again'

/** What an event has come to, by the outcome that is kept of it; any other is the reason of a quarantine. */
const ENDED: ReadonlyMap<string, EventOutcome> = new Map([
  ['APPLIED', 'applied'],
  ['IGNORED', 'ignored'],
  ['IN_PROGRESS', 'ignored'],
  ['KNOWN', 'ignored'],
  ['ASKED', 'queried'],
  ['UNPROVEN', 'unproven'],
  ['CASE_OPENED', 'given_up'],
])

/** What contradicts another event keeps its state, whatever becomes of it. */
function outcomeOf({ outcome, dueAt }: InboxResult): EventOutcome {
  if (outcome === 'WAITING') return 'retried'
  return dueAt === null ? (ENDED.get(outcome) ?? 'quarantined') : 'parked'
}
