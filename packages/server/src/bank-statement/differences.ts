import { limits } from '@pixgate/spec'
import type { StatementEntry } from '../banks/port.ts'
import type { Document } from '../engine/operation.ts'
import type { Logger } from '../platform/log.ts'
import type { Receivers } from './receivers.ts'
import { judge, keyOf, type OpenEntry, type Verdict } from './rules.ts'
import {
  type EntryKey,
  type Gap,
  MISSING,
  type Retold,
  type Settled,
  type StatementStore,
  UNEXPLAINED,
} from './store.ts'
import type { Difference, TripWire } from './trip-wire/wire.ts'

/** What is done about the differences between the bank's statement and our books. Doing it twice changes nothing more. */
export interface Differences {
  /** Keeps the entries of a page. @source rules#statement.4 */
  keep(entries: readonly StatementEntry[], nowMs: number): Promise<void>
  /**
   * Judges every entry that is not settled and does what follows.
   * @returns of those that wait to be handed to their operation: when they moved or were first seen, whichever is earlier
   */
  match(nowMs: number): Promise<number[]>
  /** Looks for movements of our books that the statement does not have. @source rules#statement.8 */
  findGaps(nowMs: number, readFrom: number): Promise<void>
}

/** What it needs. */
export interface DifferencesOptions {
  readonly store: StatementStore
  readonly receivers: Receivers
  readonly tripWire: TripWire
  readonly logger: Logger
  /** Others pay from the account too: a debit that we do not know is theirs. */
  readonly isAccountShared: boolean
}

/** Our books have it otherwise, or the statement said otherwise before. */
const DIFFERS = 'statement_differs'

const BATCH = 500

/** Makes it. */
export function createDifferences(options: DifferencesOptions): Differences {
  return new StatementDifferences(options)
}

class StatementDifferences implements Differences {
  readonly #store: StatementStore
  readonly #receivers: Receivers
  readonly #tripWire: TripWire
  readonly #logger: Logger
  readonly #isAccountShared: boolean

  constructor({ store, receivers, tripWire, logger, isAccountShared }: DifferencesOptions) {
    this.#store = store
    this.#receivers = receivers
    this.#tripWire = tripWire
    this.#logger = logger
    this.#isAccountShared = isAccountShared
  }

  async keep(entries: readonly StatementEntry[], nowMs: number): Promise<void> {
    const reason = 'the statement said otherwise before'
    await this.#tripWire.report(
      (await this.#store.keep(entries, nowMs)).map(({ entry, before }) => ({
        kind: DIFFERS,
        reference: keyOf(entry),
        facts: { reason, ...retoldFacts(entry, before) },
        // Where money is gone by it, the whole statement lacks it too.
        isDanger: false,
      })),
    )
  }

  async match(nowMs: number): Promise<number[]> {
    const waiting: number[] = []
    const explaining = new Set<string>()
    let after: EntryKey | undefined
    for (;;) {
      const entries = await this.#store.open(after, BATCH)
      waiting.push(...(await this.#matchBatch(withOwnAdjustments(entries, explaining), nowMs)))
      after = entries.at(-1)
      if (entries.length < BATCH) return waiting
    }
  }

  async #matchBatch(entries: readonly OpenEntry[], nowMs: number): Promise<number[]> {
    const judged = entries.map((entry) => ({ entry, verdict: judge(entry, nowMs) }))
    const results = await Promise.all(judged.map(({ entry, verdict }) => this.#act(entry, verdict)))
    await this.#tripWire.report(results.flatMap((result) => (typeof result === 'object' ? [result.difference] : [])))
    const outcomes = results.map((result) => (typeof result === 'object' ? result.done : result))
    const having = (wanted: Done) => judged.filter((_, index) => outcomes[index] === wanted).map(({ entry }) => entry)
    await this.#store.noteAsked(having('ASKED'), nowMs)
    await this.#store.noteReported(having('REPORTED'), nowMs)
    await this.#store.settle(
      judged.flatMap(({ entry, verdict }) => settledBy(entry, verdict)),
      nowMs,
    )
    return judged.flatMap(({ entry, verdict }) =>
      verdict.is === 'ASK' || verdict.is === 'WAIT' ? [Math.min(entry.occurredAt, entry.seenAt)] : [],
    )
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
      case 'UNEXPLAINED':
        return verdict.isOverdue ? this.#unexplained(entry, verdict.reason, null) : 'NOTHING'
      case 'DIFFERS':
        return { done: 'NOTHING', difference: otherwiseBooked(entry, verdict.reason) }
      default:
        return 'NOTHING'
    }
  }

  async #ask(entry: OpenEntry, operationId: string): Promise<Done> {
    const receiver = entry.kind === 'TARIFF' ? undefined : this.#receivers[entry.kind]
    await receiver?.ask(operationId)
    return 'ASKED'
  }

  async #handOver(entry: OpenEntry, operationId: string): Promise<string> {
    if (entry.kind === 'TARIFF') return 'IGNORED'
    const result = await this.#receivers[entry.kind].take(operationId, entry)
    if (result === 'APPLIED') {
      this.#logger.warn(
        { operationId, ...factsOf(entry) },
        'money that only the bank’s statement told of was booked from it',
      )
    }
    return result
  }

  #unexplained(entry: OpenEntry, reason: string, operationId: string | null): Found {
    const facts = { reason, operationId, ...factsOf(entry) }
    const isDanger = entry.direction === 'out' && !this.#isAccountShared
    return { done: 'REPORTED', difference: { kind: UNEXPLAINED, reference: keyOf(entry), facts, isDanger } }
  }

  async findGaps(nowMs: number, readFrom: number): Promise<void> {
    await this.#store.fillGaps(nowMs)
    // Missed by an earlier reading and not filled by this one.
    const gaps = await this.#store.gapsToReport(nowMs, BATCH)
    await this.#tripWire.report(gaps.map(missing))
    for (const gap of gaps) await this.#store.noteGapReported(gap, nowMs)
    await this.#store.noteGaps(nowMs, nowMs - limits.statementDifferenceMs, readFrom + limits.statementClockSkewMs)
  }
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

/** Dangerous where our books have more than the bank: money that it does not know, or of which more left. */
function otherwiseBooked(entry: OpenEntry, reason: string): Difference {
  const { direction, valueCents, booked } = entry
  const bookedCents = booked?.valueCents ?? valueCents
  const isDanger = direction === 'in' ? valueCents < bookedCents : valueCents > bookedCents
  return {
    kind: DIFFERS,
    reference: keyOf(entry),
    facts: { reason, ...factsOf(entry), ...bookedFacts(entry) },
    isDanger,
  }
}

/** Dangerous where it came in: money that the bank does not know. */
function missing(gap: Gap): Difference {
  const { direction, id } = gap
  return { kind: MISSING, reference: `${direction} ${id}`, facts: gapFacts(gap), isDanger: direction === 'in' }
}

function settledBy(entry: OpenEntry, verdict: Verdict): Settled[] {
  switch (verdict.is) {
    case 'MATCHED':
    case 'DIFFERS':
      return [{ entry, outcome: verdict.is, operationId: verdict.operationId }]
    case 'KEPT':
      return [{ entry, outcome: verdict.is, operationId: verdict.operationId }]
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

function bookedFacts({ booked }: OpenEntry): Document {
  return booked ? { booked: { operationId: booked.operationId, valueCents: Number(booked.valueCents) } } : {}
}

function retoldFacts(entry: StatementEntry, { valueCents, ...before }: Retold['before']): Document {
  return { ...factsOf(entry), before: { ...before, valueCents: Number(valueCents) } }
}

function gapFacts({ direction, id, operationId, valueCents, missedAt }: Gap): Document {
  return { direction, movementId: id, operationId, valueCents: Number(valueCents), missedAt }
}
