import { type decideCase, type JournalKind, journals } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Decision, State } from '../engine/operation.ts'
import { type Entry, entriesOf } from '../engine/postings.ts'
import { changesOf, type Rehearsal } from '../engine/rehearsal.ts'

/** What a decision does, as its operator reads it. Pure. */

type Decided = Static<(typeof decideCase)['responses'][200]['schema']>

/** See {@link effectsOf}. */
export type Effects = NonNullable<Decided['effects']>

/** What a decision would do. @source rules#desk.34 */
export function effectsOf({ entries, moves, notifications, opens, closes }: Rehearsal): Effects {
  const changed = [...changesOf(entries)].filter(([, cents]) => cents !== 0n)
  return {
    amountCents: Number(amountOf(entries)),
    accounts: changed.map(([account, cents]) => ({ account, changeCents: Number(cents) })),
    journals: journalsOf(entries),
    operations: statusesOf(moves),
    notifications: notifications.map(({ operationId, eventType, status }) => ({ operationId, eventType, status })),
    closes: [...closes],
    opens: opens.map(({ kind, reference }) => ({ kind, reference })),
  }
}

/** What a decision does that is about to be written; the debts that are repaid with it are the engine's. */
export function effectsOfDecision(decision: Decision<unknown>, state: State): Effects {
  const { journals: posted = [], moves = [], notifications = [], cases = [], closes = [] } = decision
  return effectsOf({
    entries: posted.flatMap(entriesOf),
    moves: moves.map(({ operationId: id, to }) => ({ id, from: state.operation(id)?.status ?? null, to })),
    notifications,
    opens: cases,
    // One that is decided may end its doubt as well.
    closes: [...new Set(closes)],
  })
}

/**
 * The amount of a decision: the most that it adds to any account, or takes from it; what comes and goes at once counts too.
 * The debts that it repays are no part of it.
 * @source rules#desk.39
 */
function amountOf(entries: readonly Entry[]): bigint {
  const sums = new Map<string, bigint>()
  for (const { account, amountCents, journal } of entries) {
    if (journal === 'debt_recovered') continue
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
