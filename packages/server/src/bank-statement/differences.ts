import { limits } from '@pixgate/spec'
import pLimit from 'p-limit'
import type { ListedWithin, PayoutPartner, StatementEntry, StatementPartner } from '../banks/port.ts'
import { explained, holding, isHeld } from '../cases/unexplained.ts'
import type { Engine } from '../engine/engine.ts'
import type { Decision, Document, Json, State } from '../engine/operation.ts'
import { within } from '../platform/clock.ts'
import { type Ids, isOrderId } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { type EntryKey, type LineCase, type LineStore, MISSING, type Settled, UNEXPLAINED } from './lines.ts'
import type { Receivers } from './receivers.ts'
import { judge, keyOf, type OpenEntry, type Verdict, withTariffNames } from './rules.ts'
import type { Gap, Retold, StatementStore } from './store.ts'
import type { Difference, TripWire } from './trip-wire.ts'

/** What is done about the differences between the bank's statement and our books. Doing it twice changes nothing more. */
export interface Differences {
  /** Keeps the entries of a page, each tariff under a name of its own. @source rules#statement.4 */
  keep(entries: readonly StatementEntry[], nowMs: number): Promise<void>
  /**
   * Judges entries that are not settled and does what follows: of either direction so many, the largest first, and of those
   * that are cases already some in turn. What was left for the next reading waits.
   * @param isOurs asked between batches: whether to go on
   * @returns of those that wait, to be handed to their operation or to be looked at: when they moved or were first seen,
   *   whichever is earlier
   * @source rules#statement.11
   */
  match(nowMs: number, isOurs: () => Promise<boolean>): Promise<number[]>
  /** Looks for movements of our books that the statement does not have. @source rules#statement.8, rules#statement.11 */
  findGaps(nowMs: number, readFrom: number): Promise<void>
}

/** What it needs. */
export interface DifferencesOptions {
  readonly store: StatementStore
  readonly entries: Pick<LineStore, 'cases'>
  readonly partner: Pick<StatementPartner, 'listedWithinMs'> & Partial<Pick<PayoutPartner, 'getPayout'>>
  readonly receivers: Receivers
  readonly tripWire: TripWire
  readonly holding: Holding
  readonly logger: Logger
  /** Others pay from the account too: a debit that we do not know is theirs. */
  readonly isAccountShared: boolean
}

/** Our books have it otherwise, or the statement said otherwise before. */
const DIFFERS = 'line_differs'

const BATCH = 500

/** Entries that are handed over at the same time: so many that the engine has batches, and others connections. */
const CONCURRENT = 50

/** Time for the question who was paid. */
const RECIPIENT_WITHIN_MS = 1_000

/** What one reading looks at: of each direction, and of those that are cases already. */
const UNREPORTED_MAX = 5_000
const REPORTED_MAX = 2_000

/** Makes it. */
export function createDifferences(options: DifferencesOptions): Differences {
  return new StatementDifferences(options)
}

class StatementDifferences implements Differences {
  readonly #store: StatementStore
  readonly #entries: DifferencesOptions['entries']
  readonly #receivers: Receivers
  readonly #tripWire: TripWire
  readonly #holding: Holding
  readonly #logger: Logger
  readonly #isAccountShared: boolean
  readonly #listedWithinMs: ListedWithin
  readonly #getPayout: PayoutPartner['getPayout'] | undefined
  readonly #limit = pLimit(CONCURRENT)
  /** The case that was looked at last: the next reading goes on from there. */
  #lastReported: EntryKey | undefined

  constructor({ store, entries, partner, receivers, tripWire, holding, logger, isAccountShared }: DifferencesOptions) {
    this.#store = store
    this.#entries = entries
    this.#receivers = receivers
    this.#tripWire = tripWire
    this.#holding = holding
    this.#logger = logger
    this.#isAccountShared = isAccountShared
    this.#listedWithinMs = partner.listedWithinMs
    this.#getPayout = partner.getPayout
  }

  async keep(told: readonly StatementEntry[], nowMs: number): Promise<void> {
    const entries = withTariffNames(told, await this.#store.keptTariffs(told))
    const retold = await this.#store.keep(entries, nowMs)
    const known = await this.#entries.cases(retold.map(({ entry }) => keyOf(entry)))
    await this.#tripWire.report(retold.flatMap((one) => retoldDifference(one, known.get(keyOf(one.entry)))))
  }

  async match(nowMs: number, isOurs: () => Promise<boolean>): Promise<number[]> {
    await this.#store.reopenTariffs(nowMs)
    const pass: Pass = { nowMs, isOurs, explaining: new Set(), waiting: [] }
    await this.#matchReported(pass)
    // Debits first: by them money is gone.
    const areAll = [await this.#matchUnreported('out', pass), await this.#matchUnreported('in', pass)].every(Boolean)
    if (areAll) return pass.waiting
    const oldestAt = await this.#store.oldestUnreportedAt()
    return oldestAt === null ? pass.waiting : [...pass.waiting, oldestAt]
  }

  /** @returns whether none of that direction is left */
  async #matchUnreported(direction: StatementEntry['direction'], pass: Pass): Promise<boolean> {
    let after: OpenEntry | undefined
    for (let looked = 0; looked < UNREPORTED_MAX; looked += BATCH) {
      if (!(await pass.isOurs())) return false
      const entries = await this.#store.unreported(direction, after, BATCH)
      await this.#matchBatch(entries, pass)
      if (entries.length < BATCH) return true
      after = entries.at(-1)
    }
    return false
  }

  /** Each in its turn: what became known of them meanwhile closes their cases. */
  async #matchReported(pass: Pass): Promise<void> {
    for (let looked = 0; looked < REPORTED_MAX && (await pass.isOurs()); looked += BATCH) {
      const entries = await this.#store.reported(this.#lastReported, BATCH)
      await this.#matchBatch(entries, pass)
      this.#lastReported = entries.length < BATCH ? undefined : entries.at(-1)
      if (this.#lastReported === undefined) return
    }
  }

  async #matchBatch(entries: readonly OpenEntry[], { nowMs, explaining, waiting }: Pass): Promise<void> {
    const judged = withOwnAdjustments(entries, explaining).map((entry) => ({ entry, verdict: judge(entry, nowMs) }))
    const results = await Promise.all(judged.map(({ entry, verdict }) => this.#limit(() => this.#act(entry, verdict))))
    await this.#tripWire.report(results.flatMap((result) => (typeof result === 'object' ? [result.difference] : [])))
    await this.#reportOtherwiseBooked(judged)
    const outcomes = results.map((result) => (typeof result === 'object' ? result.done : result))
    const having = (wanted: Done) => judged.filter((_, index) => outcomes[index] === wanted).map(({ entry }) => entry)
    await this.#store.noteAsked(having('ASKED'), nowMs)
    await this.#store.noteReported(having('REPORTED'), nowMs)
    const settled = judged.filter(({ entry, verdict }) => settledBy(entry, verdict).length > 0)
    // First: what is settled is looked at no more.
    for (const { entry } of settled) await this.#holding.release(entry)
    await this.#store.settle(
      settled.flatMap(({ entry, verdict }) => settledBy(entry, verdict)),
      nowMs,
    )
    for (const { entry, verdict } of judged) {
      if (verdict.is === 'ASK' || verdict.is === 'WAIT') waiting.push(Math.min(entry.occurredAt, entry.seenAt))
    }
  }

  async #act(entry: OpenEntry, verdict: Verdict): Promise<Done | Found> {
    switch (verdict.is) {
      case 'ASK':
        return this.#ask(entry, verdict.operationId)
      case 'HAND_OVER': {
        const result = await this.#handOver(entry, verdict.operationId)
        if (result === 'APPLIED' || !verdict.isOverdue) return 'NOTHING'
        return this.#unexplained(entry, `its operation did not take it: ${result}`, verdict.operationId)
      }
      case 'TARIFF':
        await this.#receivers.TARIFF.take(verdict.operationId, entry)
        return 'NOTHING'
      case 'UNEXPLAINED':
        return verdict.isOverdue ? this.#unexplained(entry, verdict.reason, null) : 'NOTHING'
      default:
        return 'NOTHING'
    }
  }

  async #reportOtherwiseBooked(verdicts: readonly EntryVerdict[]): Promise<void> {
    const differing = verdicts.flatMap(({ entry, verdict }) =>
      verdict.is === 'DIFFERS' ? [{ entry, reason: verdict.reason }] : [],
    )
    const known = await this.#entries.cases(differing.map(({ entry }) => keyOf(entry)))
    await this.#tripWire.report(
      differing.map(({ entry, reason }) => otherwiseBooked(entry, reason, known.get(keyOf(entry)))),
    )
  }

  async #ask(entry: OpenEntry, operationId: string): Promise<Done> {
    await this.#receivers[entry.kind].ask(operationId)
    return 'ASKED'
  }

  async #handOver(entry: OpenEntry, operationId: string): Promise<string> {
    const result = await this.#receivers[entry.kind].take(operationId, entry)
    if (result === 'APPLIED') {
      this.#logger.warn(
        { operationId, ...factsOf(entry) },
        'money that only the bank’s statement told of was booked from it',
      )
    }
    return result
  }

  async #unexplained(entry: OpenEntry, reason: string, operationId: string | null): Promise<Done | Found> {
    // By an event or another process since it was looked at: the next reading finds that.
    if (await this.#store.isBooked(entry)) return 'NOTHING'
    const recipient = operationId === null ? await this.#recipientOf(entry) : {}
    const facts = { rule: 'statement.6', reason, operationId, ...factsOf(entry), ...recipient }
    if (entry.direction === 'in') {
      // Held already by a process that ended before it could note that.
      if (entry.heldBy === null) await this.#holding.hold(entry, facts)
      return 'REPORTED'
    }
    // What was booked before, or is of a payment that was received, is no order that nobody made here.
    const isDanger = !this.#isAccountShared && entry.takenBackFrom === null && !entry.isOfHeld
    return { done: 'REPORTED', difference: { kind: UNEXPLAINED, reference: keyOf(entry), facts, isDanger } }
  }

  /**
   * The recipient of a payout that the books do not have, which the statement does not name. Payouts are suspended only afterwards, so
   * that the question is a short one.
   * @source rules#statement.14
   */
  async #recipientOf({ kind, reference, valueCents }: OpenEntry): Promise<Document> {
    if (kind !== 'PAYOUT_SENT' || !isOrderId(reference)) return {}
    const answer = await within(RECIPIENT_WITHIN_MS, async (deadline) =>
      this.#getPayout?.(reference, { valueCents }, deadline),
    )
    const recipient = answer && 'payout' in answer ? answer.payout.recipient : undefined
    return recipient ? { recipient: { name: recipient.name ?? null, pixKey: recipient.pixKey ?? null } } : {}
  }

  async findGaps(nowMs: number, readFrom: number): Promise<void> {
    await this.#store.fillGaps(nowMs)
    // Missed by an earlier reading and not filled by this one.
    const gaps = await this.#store.gapsToReport(nowMs, this.#listedWithinMs, BATCH)
    await this.#tripWire.report(gaps.map(missing))
    await this.#store.noteGapsReported(gaps, nowMs)
    const soonestMs = Math.min(...Object.values(this.#listedWithinMs))
    await this.#store.noteGaps(nowMs, nowMs - soonestMs, readFrom + limits.statementClockSkewMs)
  }
}

/** One look at what is not settled. */
interface Pass {
  readonly nowMs: number
  readonly isOurs: () => Promise<boolean>
  /** Adjustments that explain an entry by now. */
  readonly explaining: Set<string>
  readonly waiting: number[]
}

/** An entry, and what is to be done with it. */
interface EntryVerdict {
  readonly entry: OpenEntry
  readonly verdict: Verdict
}

/** What was done about an entry, as far as it has to be noted. */
type Done = 'ASKED' | 'REPORTED' | 'NOTHING'

/** What is to be noted, and what an operator is to be told. */
interface Found {
  readonly done: Done
  readonly difference: Difference
}

/** An adjustment explains one entry: of several that it could explain, the first one. */
function withOwnAdjustments(entries: readonly OpenEntry[], explaining: Set<string>): OpenEntry[] {
  return entries.map((entry) => {
    if (entry.adjustmentId === null) return entry
    if (explaining.has(entry.adjustmentId)) return { ...entry, adjustmentId: null }
    explaining.add(entry.adjustmentId)
    return entry
  })
}

/**
 * Dangerous where our books have more than the bank: money that it does not know, or of which more left.
 * @param known its case: the entry is kept as it was told first, the case shows what was told last
 * @source rules#cases.56
 */
function otherwiseBooked(entry: OpenEntry, reason: string, known: LineCase | undefined): Difference {
  const { direction, valueCents, booked } = entry
  const bookedCents = booked?.valueCents ?? valueCents
  const isDanger = direction === 'in' ? valueCents < bookedCents : valueCents > bookedCents
  const told = known?.facts.before === undefined ? factsOf(entry) : known.facts
  const facts = { ...told, reason, ...bookedFacts(entry), rule: 'statement.7' }
  return { kind: DIFFERS, reference: keyOf(entry), facts, isDanger }
}

/** Dangerous where it came in: money that the bank does not know. */
function missing(gap: Gap): Difference {
  const { direction, id } = gap
  return {
    kind: MISSING,
    reference: `${direction} ${id}`,
    facts: { rule: 'statement.8', ...gapFacts(gap) },
    isDanger: direction === 'in',
  }
}

/**
 * The bank tells a line otherwise than before. Told as it was decided of it is no difference; an open case shows what is told last,
 * also where that leaves no difference: what it showed before would be booked.
 * @source rules#cases.56
 */
function retoldDifference(retold: Retold, known: LineCase | undefined): Difference[] {
  const { entry } = retold
  const reason = 'the statement said otherwise before'
  const facts: Difference['facts'] = { rule: 'statement.4', reason, ...retoldFacts(retold) }
  const last = known && !known.isOpen ? known.facts : facts.before
  const isSame = (name: string) => isDocument(last) && last[name] === facts[name]
  if (!known?.isOpen && ['valueCents', 'endToEndId', 'reference'].every(isSame)) return []
  // Where money is gone by it, the whole statement lacks it too.
  return [{ kind: DIFFERS, reference: keyOf(entry), facts, isDanger: false }]
}

function isDocument(value: Json | undefined): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function settledBy(entry: OpenEntry, verdict: Verdict): Settled[] {
  switch (verdict.is) {
    case 'MATCHED':
    case 'DIFFERS':
      return [{ entry, outcome: verdict.is, operationId: verdict.operationId }]
    case 'KEPT':
      return [{ entry, outcome: verdict.is, operationId: verdict.operationId }]
    case 'TARIFF':
      return [{ entry, outcome: 'MATCHED', operationId: verdict.operationId }]
    default:
      return []
  }
}

/** What the operator of a case is told: the entry, which has no names and documents. */
function factsOf({
  kind,
  direction,
  movementId,
  endToEndId,
  reference,
  valueCents,
  occurredAt,
}: StatementEntry): Document {
  return { entry: kind, direction, movementId, endToEndId, reference, valueCents: Number(valueCents), occurredAt }
}

/** The same of what our books have, where they have it. */
function bookedFacts({ booked }: Pick<OpenEntry, 'booked'>): Document {
  return booked ? { booked: { operationId: booked.operationId, valueCents: Number(booked.valueCents) } } : {}
}

function retoldFacts({ entry, before: { valueCents, ...before }, booked }: Retold): Document {
  return { ...factsOf(entry), before: { ...before, valueCents: Number(valueCents) }, ...bookedFacts({ booked }) }
}

function gapFacts({ direction, id, operationId, valueCents, missedAt }: Gap): Document {
  return { direction, movementId: id, operationId, valueCents: Number(valueCents), missedAt }
}

/**
 * Incoming money that nothing explains: in suspense on an adjustment, with a case, until an operation or an operator explains it.
 * @source rules#statement.6, rules#adjustment.held.1
 */
export interface Holding {
  /** Books an entry in suspense and opens its case, together. */
  hold(entry: OpenEntry, facts: Document): Promise<void>
  /** What holds an entry holds it no more; nothing where it was decided of meanwhile. */
  release(entry: OpenEntry): Promise<void>
}

/** Options of {@link createHolding}. */
export interface HoldingOptions {
  readonly engine: Pick<Engine, 'execute'>
  readonly ids: Ids
  readonly logger: Logger
}

/** Makes {@link Holding}. */
export function createHolding({ engine, ids, logger }: HoldingOptions): Holding {
  return {
    hold: async (entry, facts) => {
      const id = ids.uuid()
      const line = { ...entry, takenBackFrom: entry.takenBackFrom ?? undefined }
      await engine.execute({ reads: [], decide: () => holding(line, id, facts) })
      logger.warn(
        { event: 'statement.money_held', ...facts },
        'incoming money that nothing explains is held in suspense; a case waits for a decision',
      )
    },
    release: async ({ heldBy }) => {
      if (heldBy?.status !== 'HELD') return
      const { id } = heldBy
      const decide = (state: State, now: number): Decision<unknown> => {
        const held = state.operation(id)
        return isHeld(held) ? explained(held, now) : { outcome: undefined }
      }
      await engine.execute({ reads: [id], decide })
    },
  }
}
