import { limits } from '@pixgate/spec'
import type { StatementEntry } from '../banks/port.ts'
import type { Engine } from '../engine/engine.ts'
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
  readonly engine: Engine
  readonly logger: Logger
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
  readonly #engine: Engine
  readonly #logger: Logger

  constructor({ store, receivers, engine, logger }: DifferencesOptions) {
    this.#store = store
    this.#receivers = receivers
    this.#engine = engine
    this.#logger = logger
  }

  async #openCase(kind: string, reference: string, facts: Document): Promise<void> {
    // Without an operation, so that no other end of that one's doubts closes it.
    const opened = { operationId: null, kind, reference, facts }
    await this.#engine.execute({ reads: [], decide: () => ({ cases: [opened], outcome: undefined }) })
    this.#logger.warn({ kind, ...facts }, 'the bank’s statement and our books differ, and a case was opened about it')
  }

  async keep(entries: readonly StatementEntry[], nowMs: number): Promise<void> {
    for (const { entry, before } of await this.#store.keep(entries, nowMs)) {
      await this.#openCase(DIFFERS, keyOf(entry), {
        reason: 'the statement said otherwise before',
        ...retoldFacts(entry, before),
      })
    }
  }

  async match(nowMs: number): Promise<number[]> {
    const waiting: number[] = []
    let after: EntryKey | undefined
    for (;;) {
      const entries = await this.#store.open(after, BATCH)
      waiting.push(...(await this.#matchBatch(entries, nowMs)))
      after = entries.at(-1)
      if (entries.length < BATCH) return waiting
    }
  }

  async #matchBatch(entries: readonly OpenEntry[], nowMs: number): Promise<number[]> {
    const judged = entries.map((entry) => ({ entry, verdict: judge(entry, nowMs) }))
    const outcomes = await Promise.all(judged.map(({ entry, verdict }) => this.#act(entry, verdict)))
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

  async #act(entry: OpenEntry, verdict: Verdict): Promise<Done> {
    switch (verdict.is) {
      case 'ASK':
        return this.#ask(entry, verdict.operationId)
      case 'HAND_OVER': {
        const result = await this.#handOver(entry, verdict.operationId)
        if (result === 'APPLIED' || !verdict.isOverdue) return 'NOTHING'
        return this.#report(entry, `its operation did not take it: ${result}`, verdict.operationId)
      }
      case 'UNEXPLAINED':
        return verdict.isOverdue ? this.#report(entry, verdict.reason, null) : 'NOTHING'
      case 'DIFFERS':
        await this.#openCase(DIFFERS, keyOf(entry), {
          reason: verdict.reason,
          ...factsOf(entry),
          ...bookedFacts(entry),
        })
        return 'NOTHING'
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

  async #report(entry: OpenEntry, reason: string, operationId: string | null): Promise<Done> {
    await this.#openCase(UNEXPLAINED, keyOf(entry), { reason, operationId, ...factsOf(entry) })
    return 'REPORTED'
  }

  async findGaps(nowMs: number, readFrom: number): Promise<void> {
    await this.#store.fillGaps(nowMs)
    // Missed by an earlier reading and not filled by this one.
    for (const gap of await this.#store.gapsToReport(nowMs, BATCH)) {
      await this.#openCase(MISSING, `${gap.direction} ${gap.id}`, gapFacts(gap))
      await this.#store.noteGapReported(gap, nowMs)
    }
    await this.#store.noteGaps(nowMs, nowMs - limits.statementDifferenceMs, readFrom + limits.statementClockSkewMs)
  }
}

/** What was done about an entry, as far as it has to be noted. */
type Done = 'ASKED' | 'REPORTED' | 'NOTHING'

function settledBy(entry: OpenEntry, verdict: Verdict): Settled[] {
  switch (verdict.is) {
    case 'MATCHED':
    case 'DIFFERS':
      return [{ entry, outcome: verdict.is, operationId: verdict.operationId }]
    case 'KEPT':
      return [{ entry, outcome: verdict.is, operationId: null }]
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
