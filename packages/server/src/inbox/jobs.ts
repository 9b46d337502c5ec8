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
import { andMore, createLogThrottle, type LogThrottle } from '../platform/runtime.ts'
import type { OnPreviousSecretUsed } from '../platform/secrets.ts'
import { LEASE_MS } from './receive.ts'
import type { Applied, Receivers } from './receivers.ts'
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

export interface InboxJobsOptions extends ApplierOptions {
  readonly store: InboxStore
  readonly inbound: Pick<Inbound, 'parse'>
  readonly cashIns: Pick<CashInModule, 'atPartner' | 'drainNewReferences'>
  readonly reports: Pick<InboxReports, 'marked'>
  /** Interval of marks in milliseconds of real time; 0 when time is simulated. Default: 50. */
  readonly marksEveryMs?: number
}

const BATCH = 256

/** Applied events are marked in batches: nothing waits for the mark. */
const MARKS = { batchMax: 1_024, queueMax: Number.POSITIVE_INFINITY }
const MARKS_EVERY_MS = 50

export type InboxJobs = ReturnType<typeof createInboxJobs>

/** Applies events after they were answered. Applying an event twice has no effect, so it is marked last. */
export function createInboxJobs(options: InboxJobsOptions) {
  const { store, inbound, receivers, cashIns, clock, reports } = options
  const applier = new Applier(options)
  const marks = createBatcher<readonly InboxResult[], void>(
    async (results) => {
      await store.mark(onceEach(results.flat()), clock.now())
      return results.map(() => ({ result: undefined }))
    },
    { ...MARKS, paceMs: options.marksEveryMs ?? MARKS_EVERY_MS },
  )

  async function apply(rows: readonly InboxEvent[]): Promise<void> {
    if (rows.length === 0) return
    const meanings = await meaningsOf(
      rows.map(({ event }) => event),
      receivers,
    )
    const results = await Promise.all(rows.map((row) => applier.result(row, meanings.get(row.event) ?? NOTHING)))
    await marks.submit(results)
    for (const result of results) reports.marked(result)
  }

  return {
    apply,
    /**
     * Processes events of dead processes, and parked events that are due or whose reference became known.
     * @returns whether more may be due right away
     */
    processNext: async (): Promise<boolean> => {
      const now = clock.now()
      await store.expedite(cashIns.drainNewReferences(), now)
      const rows = await store.claim(now, now + LEASE_MS, BATCH)
      await apply(rows.map((row) => readAgain(row, inbound)))
      return rows.length === BATCH
    },
  }
}

/** Of several results for one event, which was applied again after its lease, keeps the final one. */
function onceEach(results: readonly InboxResult[]): readonly InboxResult[] {
  const once = new Map<string, InboxResult>()
  for (const result of results) {
    const key = `${result.inboxId} ${result.ordinal}`
    if (!once.has(key) || result.dueAt === null) once.set(key, result)
  }
  return [...once.values()]
}

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

interface ApplierOptions {
  readonly store: Pick<InboxStore, 'isOriginalDone' | 'hasOpenCase'>
  readonly receivers: Receivers
  readonly cashIns: Pick<CashInModule, 'atPartner'>
  readonly engine: Engine
  readonly clock: Clock
  readonly logger: Logger
}

const RETRY_MS = 1_000

/** Applies one event at a time and returns its outcome. */
class Applier {
  readonly #options: ApplierOptions

  constructor(options: ApplierOptions) {
    this.#options = options
  }

  async result(row: InboxEvent, meaning: Meaning): Promise<InboxResult> {
    return this.#apply(row, meaning).catch((error) => this.#failed(row, error))
  }

  async #apply(row: InboxEvent, meaning: Meaning): Promise<InboxResult> {
    const { store, receivers } = this.#options
    const { event } = row
    if (!row.callback.isProven) return this.#unproven(row, meaning)
    if (event.kind === 'unreadable') {
      if (event.named) await this.#requestQueries(event.named, meaning)
      return this.#quarantine(row, event.fault, meaning)
    }
    if (row.attributedTo !== null) return this.#attributed(row, event, row.attributedTo)
    if (meaning.among.length === 0) return this.#park(row, event, 'no such operation yet', meaning)
    if (row.state === 'CONFLICT' && !(await store.isOriginalDone(row.dedupeKey))) return this.#again(row)
    if (meaning.id === undefined) return this.#dispute(row, event, meaning)
    return this.#outcomeOf(row, event, await receivers[event.subject].apply(meaning.id, event), meaning)
  }

  /**
   * An unproven callback only triggers a query of the operations it names. It never moves money or opens a case.
   * @source rules#partner-inbox.15, failure-modes#EV-47
   */
  async #unproven(row: InboxEvent, meaning: Meaning): Promise<InboxResult> {
    const { event, parkings } = row
    const naming = event.kind === 'in_progress' ? undefined : namingOf(event)
    if (naming && meaning.among.length > 0) {
      await this.#requestQueries(naming, meaning)
      return done(row, 'ASKED', meaning.id ?? null)
    }
    return naming && parkings < PARKING_DELAYS_MS.length
      ? this.#parked(row, 'no such operation yet')
      : done(row, 'UNPROVEN', null)
  }

  /**
   * An operator's attribution alone does not book an event's money. If the bank can be queried, only its confirmation
   * of the named operation is booked.
   * @source rules#cases.58
   */
  async #attributed(row: InboxEvent, event: ReadableEvent, id: string): Promise<InboxResult> {
    const receiver = this.#options.receivers[event.subject]
    const meaning = { id, among: [id] }
    if (!receiver.canAsk || !saysMoneyMoved(event)) {
      return this.#outcomeOf(row, event, await receiver.apply(id, event), meaning)
    }
    if ((await this.#bookedOn(event, meaning)) !== undefined) return done(row, 'KNOWN', id)
    await this.#requestQueries(event, meaning)
    return this.#park(row, event, 'the bank has not confirmed it', meaning, 'cases.58')
  }

  async #outcomeOf(
    row: InboxEvent,
    event: ReadableEvent,
    applied: Applied | undefined,
    meaning: Meaning,
  ): Promise<InboxResult> {
    switch (applied) {
      case 'IMPLAUSIBLE':
        await this.#requestQueries(event, meaning)
        return this.#quarantine(row, 'occurredAt lies in the future', meaning)
      case 'UNEXPECTED':
        return this.#quarantine(row, 'it cannot be true of this operation', meaning)
      case 'EARLY':
        await this.#requestQueries(event, meaning)
        return this.#park(row, event, 'too early', meaning)
      case 'DISPUTED':
        return this.#dispute(row, event, meaning)
      default:
        return done(row, applied ?? 'IGNORED', meaning.id ?? null)
    }
  }

  /**
   * An event whose references or known facts disagree is not applied. All operations it could mean are queried;
   * bookings from those answers settle it.
   * @source rules#partner-inbox.12, failure-modes#EV-26, failure-modes#EV-34
   */
  async #dispute(row: InboxEvent, event: ReadableEvent, meaning: Meaning): Promise<InboxResult> {
    if (event.kind === 'in_progress') return done(row, 'IN_PROGRESS', null)
    const settled = await this.#bookedOn(event, meaning)
    if (settled !== undefined) return done(row, 'KNOWN', settled)
    await this.#requestQueries(event, meaning)
    if (!saysMoneyMoved(event)) return done(row, 'ASKED', null)
    return this.#park(row, event, 'its references disagree', meaning, 'partner-inbox.12')
  }

  async #bookedOn(event: ReadableEvent, { among }: Meaning): Promise<string | undefined> {
    const movement = movementOf(event)
    if (!movement) return undefined
    for (const id of among) if (await this.#options.receivers[event.subject].hasBooked(id, movement)) return id
    return undefined
  }

  async #requestQueries({ subject }: Naming, { among }: Meaning): Promise<void> {
    for (const id of among) await this.#options.receivers[subject].ask(id)
  }

  /**
   * Parks the event until its operation appears or the bank answers; finally opens a case.
   * @source rules#partner-inbox.8
   */
  async #park(
    row: InboxEvent,
    event: ReadableEvent,
    outcome: string,
    { among }: Meaning,
    rule = 'partner-inbox.8',
  ): Promise<InboxResult> {
    if (row.parkings < PARKING_DELAYS_MS.length) return this.#parked(row, outcome)
    await this.#openCase(row, { rule, outcome, operations: [...among], bank: await this.#atBank(event) })
    return { ...keptOf(row), state: stateAfter(row, 'PARKED'), outcome: 'CASE_OPENED', operationId: null, dueAt: null }
  }

  #parked(row: InboxEvent, outcome: string): InboxResult {
    const dueAt = this.#options.clock.now() + (PARKING_DELAYS_MS[row.parkings] ?? 0)
    const waits = { outcome, operationId: null, parkings: row.parkings + 1, dueAt }
    return { ...keptOf(row), state: stateAfter(row, 'PARKED'), ...waits }
  }

  #again(row: InboxEvent): InboxResult {
    const dueAt = this.#options.clock.now() + RETRY_MS
    return { ...keptOf(row), state: row.state, outcome: 'WAITING', operationId: null, dueAt }
  }

  /**
   * Quarantines an event: never applied, and reported by a case.
   * @source rules#partner-inbox.13, failure-modes#EV-36
   */
  async #quarantine(row: InboxEvent, fault: string, { id, among }: Meaning): Promise<InboxResult> {
    const outcome = row.state === 'CONFLICT' ? `contradicts another event; ${fault}` : fault
    await this.#openCase(row, { rule: 'partner-inbox.13', outcome, operations: [...among] })
    return { ...keptOf(row), state: 'QUARANTINED', outcome, operationId: id ?? null, dueAt: null }
  }

  /**
   * An event that cannot be applied does not block others. Our own overload does not count against the event.
   * @source failure-modes#EV-12
   */
  async #failed(row: InboxEvent, error: unknown): Promise<InboxResult> {
    const failures = row.failures + (isOurs(error) ? 0 : 1)
    const retried = this.#again({ ...row, failures })
    const facts = { event: 'inbox.event_failed', inboxId: row.callback.id, failures, error: String(error) }
    this.#options.logger.warn(facts, 'An event could not be applied; retrying.')
    if (failures < POISON_FAILURES) return retried
    // If even the case cannot be opened, the event is retried.
    return this.#quarantine({ ...row, failures }, `failed ${failures} times: ${error}`, NOTHING).catch(() => retried)
  }

  /** Opens a case. The same report, repeated, is the same case. @source rules#partner-inbox.13 */
  async #openCase(row: InboxEvent, more: Case['facts']): Promise<void> {
    const { event, callback, ordinal } = row
    const evidence = event.kind === 'unreadable' ? {} : { event: event.evidence }
    const facts = { inboxId: callback.id, ordinal, endpoint: callback.endpoint, ...evidence, ...more }
    const reference = row.contentHash.toString('hex')
    // An attributed event that the bank does not confirm keeps its case.
    if (row.attributedTo !== null && (await this.#options.store.hasOpenCase(reference))) return
    await this.#options.engine.execute({
      reads: [],
      decide: () => ({ cases: [{ operationId: null, kind: 'event_set_aside', reference, facts }], outcome: undefined }),
    })
  }

  /** The bank's record under the order id in an event, or `null` without one. */
  async #atBank({ subject, references: { externalId } }: ReadableEvent) {
    const isCharge = subject === 'charge' && externalId !== null && isOrderId(externalId)
    return isCharge ? this.#options.cashIns.atPartner(externalId) : null
  }
}

function done(row: InboxEvent, outcome: string, operationId: string | null): InboxResult {
  return { ...keptOf(row), state: stateAfter(row, 'DONE'), outcome, operationId, dueAt: null }
}

function isOurs(error: unknown): boolean {
  return error instanceof DatabaseUnavailable || (error instanceof Refusal && error.code === 'overloaded')
}

/** Fields of an event that a result keeps unchanged. */
function keptOf({ callback, ordinal, failures, parkings }: InboxEvent) {
  return { inboxId: callback.id, ordinal, failures, parkings }
}

/** A contradicting event keeps that state, whatever its outcome. @source rules#partner-inbox.7 */
function stateAfter({ state }: InboxEvent, otherwise: InboxResult['state']): InboxResult['state'] {
  return state === 'CONFLICT' ? state : otherwise
}

/** Must not throw. */
export interface InboxObserver {
  onCallback(origin: CallbackOrigin): void
  onEvent(outcome: EventOutcome): void
  /** Called with the variable of a previous secret that proved a callback. */
  onPreviousSecretUsed?: OnPreviousSecretUsed
}

export type InboxReports = ReturnType<typeof createInboxReports>

/** @source rules#logs.3, rules#partner-inbox.13 */
export function createInboxReports(
  logger: Logger,
  observer?: InboxObserver,
  throttle: LogThrottle = createLogThrottle(),
) {
  const warn = (facts: Readonly<Record<string, unknown>>, subject: string, sentence: string) =>
    throttle.report(`${subject} ${facts.reason}`, (more) => logger.warn(facts, sentence + andMore(more)))
  return {
    /** @param path the declared path */
    callback: (path: string, judgement: Exclude<Judgement, Origin> | { readonly origin: Origin }): void => {
      const { origin } = judgement
      observer?.onCallback(origin)
      if ('previousSecret' in judgement) observer?.onPreviousSecretUsed?.(judgement.previousSecret)
      const sentence = REFUSALS[origin]
      if (sentence !== undefined) warn({ path, ...judgement }, `${path} ${origin}`, sentence)
    },
    unread: (path: string, reason: string): void => {
      observer?.onCallback('unreadable')
      warn({ path, origin: 'unreadable', reason }, `${path} unreadable`, UNREADABLE)
    },
    /** A part of an accepted callback could not be read and is not stored: the bank's statement has it. */
    unreadPart: (route: string, reason: string): void => {
      observer?.onCallback('unreadable')
      warn({ event: 'callback.unreadable', route, reason }, `${route} unread`, 'part of a callback cannot be read')
    },
    contradicting: ({ callback, ordinal }: Pick<InboxEvent, 'callback' | 'ordinal'>): void => {
      observer?.onEvent('contradicting')
      logger.warn(
        { inboxId: callback.id, ordinal },
        'an event of the bank contradicts an earlier one: stored it, processing it after that one',
      )
    },
    marked: (result: InboxResult): void => {
      const outcome = outcomeOf(result)
      observer?.onEvent(outcome)
      const line = MARKED[outcome]
      if (!line) return
      const { inboxId, ordinal, operationId, dueAt, outcome: reason } = result
      const next = dueAt === null ? {} : { nextAttemptAt: new Date(dueAt).toISOString() }
      logger[line.level]({ inboxId, ordinal, reason, operationId, ...next }, line.says)
    },
  }
}

const MARKED: Readonly<Partial<Record<EventOutcome, { readonly level: 'error' | 'warn'; readonly says: string }>>> = {
  quarantined: {
    level: 'error',
    says: 'an event of the bank was put in quarantine and is not applied; decide its case',
  },
  given_up: {
    level: 'error',
    says: 'an event of the bank still matches no operation and is not retried; decide its case',
  },
  parked: { level: 'warn', says: 'an event of the bank matches no operation yet; matching it again later' },
}

const REFUSALS: Readonly<Partial<Record<Origin, string>>> = {
  refused: 'a callback was refused: nothing proves that it came from the bank; if it did, check the shared secret',
  stale: 'a signed event of the bank was outside its time window and was refused; querying the bank instead',
}

const UNREADABLE = 'a callback could not be read and was refused; if it came from the bank, the bank must send it again'

/** Outcomes by their stored names; any other name is the reason of a quarantine. */
const ENDED: ReadonlyMap<string, EventOutcome> = new Map([
  ['APPLIED', 'applied'],
  ['IGNORED', 'ignored'],
  ['IN_PROGRESS', 'ignored'],
  ['KNOWN', 'ignored'],
  ['ASKED', 'queried'],
  ['UNPROVEN', 'unproven'],
  ['CASE_OPENED', 'given_up'],
])

/** Contradicting events keep their state, whatever their outcome. */
function outcomeOf({ outcome, dueAt }: InboxResult): EventOutcome {
  if (outcome === 'WAITING') return 'retried'
  return dueAt === null ? (ENDED.get(outcome) ?? 'quarantined') : 'parked'
}
