import { limits } from '@pixgate/spec'
import pLimit from 'p-limit'
import type { PayoutPartner, StatementEntry, StatementPartner } from '../banks/port.ts'
import { explained, holding, isHeld } from '../cases/unexplained.ts'
import type { Engine } from '../engine/engine.ts'
import type { Decision, Document, Json, State } from '../engine/operation.ts'
import { within } from '../platform/clock.ts'
import { type Ids, isOrderId } from '../platform/ids.ts'
import type { Logger } from '../platform/log.ts'
import { type EntryKey, type LineCase, MISSING, type Settled, UNEXPLAINED } from './lines.ts'
import type { Receivers } from './receivers.ts'
import { judge, keyOf, type OpenEntry, otherwiseBookedSubject, type Verdict, withTariffNames } from './rules.ts'
import type { Gap, Restated, StatementStore } from './store.ts'
import type { Difference, TripWire } from './trip-wire.ts'

export interface DifferencesOptions {
  readonly store: StatementStore
  readonly partner: Pick<StatementPartner, 'statementDelayMs'> & Partial<Pick<PayoutPartner, 'getPayout'>>
  readonly receivers: Receivers
  readonly tripWire: TripWire
  readonly engine: Pick<Engine, 'execute'>
  readonly ids: Ids
  readonly logger: Logger
  /** Others pay from the account, too: an unknown debit is theirs. */
  readonly isAccountShared: boolean
}

/** The statement differs from our books, or from an earlier reading. */
const DIFFERS = 'line_differs'

const BATCH = 500

/** Concurrent entries: enough for engine batches, few enough to leave connections to others. */
const CONCURRENT = 50

const RECIPIENT_WITHIN_MS = 1_000

/** Entries per reading: per direction, and with cases. */
const UNREPORTED_MAX = 5_000
const REPORTED_MAX = 2_000

/** Acts on differences between the bank's statement and our books. Idempotent. */
export class Differences {
  readonly #options: DifferencesOptions
  readonly #limit = pLimit(CONCURRENT)
  /** Start of the next rotation. */
  #lastReported: EntryKey | undefined

  constructor(options: DifferencesOptions) {
    this.#options = options
  }

  /** Stores the entries of a page and names each tariff. @source rules#statement.4 */
  async keep(listed: readonly StatementEntry[], nowMs: number): Promise<void> {
    const entries = withTariffNames(listed, await this.#options.store.keptTariffs(listed))
    const restated = await this.#options.store.keep(entries, nowMs)
    const known = await this.#options.store.casesOf(restated.map(({ entry }) => keyOf(entry)))
    await this.#options.tripWire.report(restated.flatMap((one) => restatedDifference(one, known.get(keyOf(one.entry)))))
  }

  /**
   * Matches unsettled entries and acts on the results: a limited number per direction, largest first, and some entries
   * with cases in rotation. The rest waits for the next reading.
   * @param isOurs checked between batches: the lease is held
   * @returns for each waiting entry the earlier of its booking and its first sighting
   * @source rules#statement.11
   */
  async match(nowMs: number, isOurs: () => Promise<boolean>): Promise<number[]> {
    await this.#options.store.reopenTariffs(nowMs)
    const pass: Pass = { nowMs, isOurs, explaining: new Set(), waiting: [] }
    await this.#matchReported(pass)
    // Debits first, as they mean lost money.
    const areAll = [await this.#matchUnreported('out', pass), await this.#matchUnreported('in', pass)].every(Boolean)
    if (areAll) return pass.waiting
    const oldestAt = await this.#options.store.oldestUnreportedAt()
    return oldestAt === null ? pass.waiting : [...pass.waiting, oldestAt]
  }

  /** @returns whether all entries of the direction were matched */
  async #matchUnreported(direction: StatementEntry['direction'], pass: Pass): Promise<boolean> {
    let after: OpenEntry | undefined
    for (let looked = 0; looked < UNREPORTED_MAX; looked += BATCH) {
      if (!(await pass.isOurs())) return false
      const entries = await this.#options.store.unreported(direction, after, BATCH)
      await this.#matchBatch(entries, pass)
      if (entries.length < BATCH) return true
      after = entries.at(-1)
    }
    return false
  }

  /** In rotation; facts learned meanwhile close their cases. */
  async #matchReported(pass: Pass): Promise<void> {
    for (let looked = 0; looked < REPORTED_MAX && (await pass.isOurs()); looked += BATCH) {
      const entries = await this.#options.store.reported(this.#lastReported, BATCH)
      await this.#matchBatch(entries, pass)
      this.#lastReported = entries.length < BATCH ? undefined : entries.at(-1)
      if (this.#lastReported === undefined) return
    }
  }

  async #matchBatch(entries: readonly OpenEntry[], { nowMs, explaining, waiting }: Pass): Promise<void> {
    const judged = withOwnAdjustments(entries, explaining).map((entry) => ({ entry, verdict: judge(entry, nowMs) }))
    const results = await Promise.all(judged.map(({ entry, verdict }) => this.#limit(() => this.#act(entry, verdict))))
    await this.#options.tripWire.report(
      results.flatMap((result) => (typeof result === 'object' ? [result.difference] : [])),
    )
    await this.#reportOtherwiseBooked(judged)
    const outcomes = results.map((result) => (typeof result === 'object' ? result.done : result))
    const having = (wanted: Done) => judged.filter((_, index) => outcomes[index] === wanted).map(({ entry }) => entry)
    await this.#options.store.noteAsked(having('ASKED'), nowMs)
    await this.#options.store.noteReported(having('REPORTED'), nowMs)
    const settled = judged.filter(({ entry, verdict }) => settledBy(entry, verdict).length > 0)
    // First, so that settled entries are final.
    for (const { entry } of settled) await this.#release(entry)
    await this.#options.store.settle(
      settled.flatMap(({ entry, verdict }) => settledBy(entry, verdict)),
      nowMs,
    )
    for (const { entry, verdict } of judged) {
      if (verdict.is === 'ASK' || verdict.is === 'WAIT') waiting.push(Math.min(entry.occurredAt, entry.seenAt))
    }
  }

  async #act(entry: OpenEntry, verdict: Verdict): Promise<Done | Found> {
    const other = otherwiseBookedSubject(entry)
    if (other !== undefined) await this.#options.receivers[entry.kind].clearShown?.(other)
    switch (verdict.is) {
      case 'ASK':
        await this.#options.receivers[entry.kind].ask(verdict.operationId)
        return 'ASKED'
      case 'HAND_OVER': {
        const result = await this.#handOver(entry, verdict.operationId)
        if (result === 'APPLIED' || !verdict.isOverdue) return 'NOTHING'
        return this.#unexplained(entry, `not accepted by its operation: ${result}`, verdict.operationId)
      }
      case 'TARIFF':
        await this.#options.receivers.TARIFF.take(verdict.operationId, entry)
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
    const known = await this.#options.store.casesOf(differing.map(({ entry }) => keyOf(entry)))
    await this.#options.tripWire.report(
      differing.map(({ entry, reason }) => otherwiseBooked(entry, reason, known.get(keyOf(entry)))),
    )
  }

  async #handOver(entry: OpenEntry, operationId: string): Promise<string> {
    const result = await this.#options.receivers[entry.kind].take(operationId, entry)
    if (result === 'APPLIED') {
      this.#options.logger.warn(
        { event: 'statement.booked', operationId, ...factsOf(entry) },
        'Booked from the bank statement; no event was received.',
      )
    }
    return result
  }

  async #unexplained(entry: OpenEntry, reason: string, operationId: string | null): Promise<Done | Found> {
    // Booked meanwhile by an event or another process; the next reading finds it.
    if (await this.#options.store.isBooked(entry)) return 'NOTHING'
    const recipient = operationId === null ? await this.#recipientOf(entry) : {}
    const facts = { rule: 'statement.6', reason, operationId, ...factsOf(entry), ...recipient }
    if (entry.direction === 'in') {
      // A crashed process may hold it already.
      if (entry.heldBy === null) await this.#hold(entry, facts)
      return 'REPORTED'
    }
    // A debit that was booked before, or returns a received payment, is not a forged order.
    const isDanger = !this.#options.isAccountShared && entry.takenBackFrom === null && !entry.isOfHeld
    return { done: 'REPORTED', difference: { kind: UNEXPLAINED, reference: keyOf(entry), facts, isDanger } }
  }

  /**
   * Holds an unexplained credit in suspense on an adjustment, in one commit with its case, until an operation or an
   * operator explains it.
   * @source rules#statement.6, rules#adjustment.held.1
   */
  async #hold(entry: OpenEntry, facts: Document): Promise<void> {
    const { engine, ids, logger } = this.#options
    const id = ids.uuid()
    const line = { ...entry, takenBackFrom: entry.takenBackFrom ?? undefined }
    await engine.execute({ reads: [], decide: () => holding(line, id, facts) })
    logger.warn(
      { event: 'statement.money_held', ...facts },
      'Unexplained credit held in suspense; its case needs a decision.',
    )
  }

  /** Ends the hold of an entry, unless it was decided meanwhile. */
  async #release({ heldBy }: OpenEntry): Promise<void> {
    if (heldBy?.status !== 'HELD') return
    const { id } = heldBy
    const decide = (state: State, now: number): Decision<unknown> => {
      const held = state.operation(id)
      return isHeld(held) ? explained(held, now) : { outcome: undefined }
    }
    await this.#options.engine.execute({ reads: [id], decide })
  }

  /**
   * The recipient of a payout unknown to the books, which the statement does not name. Payouts are suspended only
   * afterwards, so the query must be short.
   * @source rules#statement.14
   */
  async #recipientOf({ kind, reference, valueCents }: OpenEntry): Promise<Document> {
    if (kind !== 'PAYOUT_SENT' || !isOrderId(reference)) return {}
    const answer = await within(RECIPIENT_WITHIN_MS, async (deadline) =>
      this.#options.partner.getPayout?.(reference, { valueCents }, deadline),
    )
    const recipient = answer && 'payout' in answer ? answer.payout.recipient : undefined
    return recipient ? { recipient: { name: recipient.name ?? null, pixKey: recipient.pixKey ?? null } } : {}
  }

  /** Looks for movements of our books that the statement lacks. @source rules#statement.8, rules#statement.11 */
  async findGaps(nowMs: number, readFrom: number): Promise<void> {
    const { store, partner, tripWire } = this.#options
    await store.fillGaps(nowMs)
    // Missing in an earlier reading, and in this one.
    const gaps = await store.gapsToReport(nowMs, partner.statementDelayMs, BATCH)
    await tripWire.report(gaps.map(missing))
    await store.noteGapsReported(gaps, nowMs)
    const soonestMs = Math.min(...Object.values(partner.statementDelayMs))
    await store.noteGaps(nowMs, nowMs - soonestMs, readFrom + limits.statementClockSkewMs)
  }
}

interface Pass {
  readonly nowMs: number
  readonly isOurs: () => Promise<boolean>
  readonly explaining: Set<string>
  readonly waiting: number[]
}

interface EntryVerdict {
  readonly entry: OpenEntry
  readonly verdict: Verdict
}

type Done = 'ASKED' | 'REPORTED' | 'NOTHING'

interface Found {
  readonly done: Done
  readonly difference: Difference
}

/** An adjustment explains only one entry, the first candidate. */
function withOwnAdjustments(entries: readonly OpenEntry[], explaining: Set<string>): OpenEntry[] {
  return entries.map((entry) => {
    if (entry.adjustmentId === null) return entry
    if (explaining.has(entry.adjustmentId)) return { ...entry, adjustmentId: null }
    explaining.add(entry.adjustmentId)
    return entry
  })
}

/**
 * Suspends payouts where the books have more than the bank: an unknown credit, or a larger debit.
 * @param known case of the entry; it shows the latest values, the entry keeps its first ones
 * @source rules#cases.56
 */
function otherwiseBooked(entry: OpenEntry, reason: string, known: LineCase | undefined): Difference {
  const { direction, valueCents, booked } = entry
  const bookedCents = booked?.valueCents ?? valueCents
  const isDanger = direction === 'in' ? valueCents < bookedCents : valueCents > bookedCents
  const latest = known?.facts.before === undefined ? factsOf(entry) : known.facts
  const facts = { ...latest, reason, ...bookedFacts(entry), rule: 'statement.7' }
  return { kind: DIFFERS, reference: keyOf(entry), facts, isDanger }
}

/** A missing credit suspends payouts: the bank does not know the money. */
function missing({ direction, id, operationId, valueCents, missedAt }: Gap): Difference {
  return {
    kind: MISSING,
    reference: `${direction} ${id}`,
    facts: { rule: 'statement.8', direction, movementId: id, operationId, valueCents: Number(valueCents), missedAt },
    isDanger: direction === 'in',
  }
}

/**
 * A change back to the decided values is no difference; other values are a new one. An open case always shows the
 * latest values, even without a difference, as a decision books what it shows.
 * @source rules#cases.56
 */
function restatedDifference({ entry, before, booked }: Restated, known: LineCase | undefined): Difference[] {
  const reason = 'the statement had other values before'
  const facts: Difference['facts'] = {
    ...{ rule: 'statement.4', reason },
    ...factsOf(entry),
    before: { ...before, valueCents: Number(before.valueCents) },
    ...bookedFacts({ booked }),
  }
  const last = known && !known.isOpen ? known.facts : facts.before
  const isSame = (name: string) => isDocument(last) && last[name] === facts[name]
  if (!known?.isOpen && ['valueCents', 'endToEndId', 'reference'].every(isSame)) return []
  // If money is lost by the change, the statement lacks the movement as well.
  return [{ kind: DIFFERS, reference: keyOf(entry), facts, isDanger: false }]
}

function isDocument(value: Json | undefined): value is Document {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function settledBy(entry: OpenEntry, verdict: Verdict): Settled[] {
  switch (verdict.is) {
    case 'MATCHED':
    case 'DIFFERS':
    case 'KEPT':
      return [{ entry, outcome: verdict.is, operationId: verdict.operationId }]
    case 'TARIFF':
      return [{ entry, outcome: 'MATCHED', operationId: verdict.operationId }]
    default:
      return []
  }
}

/** Case facts of an entry, without names and documents. */
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

function bookedFacts({ booked }: Pick<OpenEntry, 'booked'>): Document {
  return booked ? { booked: { operationId: booked.operationId, valueCents: Number(booked.valueCents) } } : {}
}
