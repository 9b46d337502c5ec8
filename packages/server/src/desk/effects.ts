import { type AccountCode, type DeskDecision, type decideCase, type JournalKind, journals } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Case, Decision, Notification, State } from '../engine/operation.ts'
import { type Entry, entriesOf } from '../engine/postings.ts'

/** What a decision does, as its operator reads it. Pure. */

type Decided = Static<(typeof decideCase)['responses'][200]['schema']>

/** What a decision does, to the centavo. */
export type Effects = NonNullable<Decided['effects']>

/** What a decision writes. */
export interface Changes {
  /** Its postings, with those that repay debts. */
  readonly entries: readonly Entry[]
  readonly moves: readonly { readonly id: string; readonly from: string | null; readonly to: string }[]
  readonly notifications: readonly Notification[]
  readonly opens: readonly Case[]
  /** The ids of the cases that close. */
  readonly closes: readonly string[]
}

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

/**
 * What a decision does.
 * @source rules#desk.34, rules#desk.46, rules#desk.47, rules#desk.52
 */
export function weigh(changes: Changes, { handedCents, leftCents }: Counted): Weighed {
  const left = changes.entries.length > 0 ? 0n : leftCents
  const isKnown = left !== null && handedCents !== null
  const amountCents = Math.max(Number(amountOf(changes.entries)), Number(left ?? 0n), Number(handedCents ?? 0n))
  return { effects: effectsOf(changes, amountCents), amountCents: isKnown ? amountCents : null }
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

function effectsOf({ entries, moves, notifications, opens, closes }: Changes, amountCents: number): Effects {
  const changed = [...balanceChanges(entries)].filter(([, cents]) => cents !== 0n)
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

/** What the statement writes of a decision, with the debts that the engine repays with it. @source rules#desk.34 */
export function changesBy(decision: Decision<unknown>, state: State): Changes {
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

/** What postings do to each account, all of them together, centavos. */
function balanceChanges(entries: readonly Entry[]): Map<AccountCode, bigint> {
  const changes = new Map<AccountCode, bigint>()
  for (const { account, amountCents } of entries) changes.set(account, (changes.get(account) ?? 0n) + amountCents)
  return changes
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
function statusesOf(moves: Changes['moves']): Effects['operations'] {
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
