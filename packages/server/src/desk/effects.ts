import { type DeskDecision, type decideCase, type JournalKind, journals } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Decision, State } from '../engine/operation.ts'
import { type Entry, entriesOf } from '../engine/postings.ts'
import { changesOf, type Rehearsal } from '../engine/rehearsal.ts'

/** What a decision does, as its operator reads it. Pure. */

type Decided = Static<(typeof decideCase)['responses'][200]['schema']>

/** What a decision does, to the centavo. */
export type Effects = NonNullable<Decided['effects']>

/** What counts in the amount of a decision besides what it moves, centavos. */
export interface Counted {
  /** What is handed over, whatever becomes of it; `null`: nobody knows. */
  readonly handedCents: bigint | null
  /** What it leaves as it is, where it moves nothing; `null`: nobody knows. */
  readonly leftCents: bigint | null
}

/** What a decision does, and with what it counts. */
export interface Weighed {
  readonly effects: Effects
  /** Centavos; `null`: nobody knows. `effects` tells as much of it as is known. */
  readonly amountCents: number | null
}

const NOTHING_COUNTED: Counted = { handedCents: 0n, leftCents: 0n }

/**
 * What a decision would do.
 * @param later what an operation does of it afterwards, as things are
 * @source rules#desk.34, rules#desk.46, rules#desk.47, rules#desk.52
 */
export function weigh(
  own: Rehearsal,
  later?: Rehearsal,
  { handedCents, leftCents }: Counted = NOTHING_COUNTED,
): Weighed {
  const all = later ? both(own, later) : own
  const left = all.entries.length > 0 ? 0n : leftCents
  const isKnown = left !== null && handedCents !== null
  const amountCents = Math.max(Number(amountOf(all.entries)), Number(left ?? 0n), Number(handedCents ?? 0n))
  return { effects: effectsOf(all, amountCents), amountCents: isKnown ? amountCents : null }
}

/**
 * What a decision on a case of an operation counts with besides what it moves. Asking the bank again leaves the case to be decided, by its
 * answer or another decision.
 * @param atStakeCents the most that the case was told to be about; `null`: nobody knows
 * @source rules#desk.46, rules#desk.48
 */
export function countedOf(decision: DeskDecision, atStakeCents: bigint | null): Counted {
  return { handedCents: 0n, leftCents: decision === 'ask_again' ? 0n : atStakeCents }
}

function effectsOf({ entries, moves, notifications, opens, closes }: Rehearsal, amountCents: number): Effects {
  const changed = [...changesOf(entries)].filter(([, cents]) => cents !== 0n)
  return {
    amountCents,
    accounts: changed.map(([account, cents]) => ({ account, changeCents: Number(cents) })),
    journals: journalsOf(entries),
    operations: statusesOf(moves),
    notifications: notifications.map(({ operationId, eventType, status }) => ({ operationId, eventType, status })),
    closes: [...closes],
    opens: opens.map(({ kind, reference }) => ({ kind, reference })),
  }
}

/** What a decision does that is about to be written, with the debts that the engine repays with it. @source rules#desk.34 */
export function changesBy(decision: Decision<unknown>, state: State): Rehearsal {
  const { creates = [], journals: posted = [], moves = [], notifications = [], cases = [], closes = [] } = decision
  const made = creates.map(({ operation: { id, status } }) => ({ id, from: null, to: status }))
  const moved = moves.map(({ operationId: id, to }) => ({ id, from: state.operation(id)?.status ?? null, to }))
  return {
    entries: [...posted, ...state.repaidBy(posted)].flatMap(entriesOf),
    moves: [...made, ...moved],
    notifications,
    opens: cases,
    // One that is decided may end its doubt as well.
    closes: [...new Set(closes)],
  }
}

function both(one: Rehearsal, other: Rehearsal): Rehearsal {
  return {
    entries: [...one.entries, ...other.entries],
    moves: [...one.moves, ...other.moves],
    notifications: [...one.notifications, ...other.notifications],
    opens: [...one.opens, ...other.opens],
    closes: [...one.closes, ...other.closes],
  }
}

/**
 * The amount of a decision: the most that it adds to any account, or takes from it; what comes and goes at once counts too.
 * The debts that it repays are no part of it.
 * @source rules#desk.39
 */
function amountOf(entries: readonly Entry[]): bigint {
  const sums = new Map<string, bigint>()
  for (const { account, amountCents, journal, reference } of entries) {
    // What leaves clearing under its movement's id is booked again as what it is.
    if (journal === 'debt_recovered' || (journal === 'clearing_removed' && reference !== '')) continue
    const [side, cents] = amountCents < 0n ? [`${account} -`, -amountCents] : [`${account} +`, amountCents]
    sums.set(side, (sums.get(side) ?? 0n) + cents)
  }
  return [...sums.values()].reduce((most, cents) => (cents > most ? cents : most), 0n)
}

/** Each operation once, as it was before and is after all of it. */
function statusesOf(moves: Rehearsal['moves']): Effects['operations'] {
  return [...Map.groupBy(moves, ({ id }) => id)].map(([id, ofIt]) => ({
    id,
    statusBefore: ofIt[0]?.from ?? null,
    statusAfter: ofIt.at(-1)?.to ?? '',
  }))
}

function journalsOf(entries: readonly Entry[]): Effects['journals'] {
  const grouped = Map.groupBy(
    entries,
    ({ operationId, journal, reference }) => `${operationId} ${journal} ${reference}`,
  )
  return [...grouped.values()].flatMap((postings) => {
    const [first] = postings
    if (!first) return []
    const { operationId, journal, reference } = first
    const ordered = postings.toSorted((one, other) => one.posting - other.posting)
    return {
      operationId,
      journal,
      meaning: journals[journal as JournalKind].meaning,
      reference,
      postings: ordered.map(({ account, amountCents }) => ({ account, amountCents: Number(amountCents) })),
    }
  })
}
