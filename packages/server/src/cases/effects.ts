import { type AccountCode, type CaseDecision, type decideCase, type JournalKind, journals } from '@pixgate/spec'
import type { Static } from 'typebox'
import type { Decision, State } from '../engine/operation.ts'
import { type Entry, entriesOf } from '../engine/postings.ts'
import type { Counted } from './case.ts'

/** What a decision does, as its operator reads it. Pure. */

type Decided = Static<(typeof decideCase)['responses'][200]['schema']>

/** What a decision does, to the centavo. */
export type Effects = NonNullable<Decided['effects']>

/** What a decision does, and with what it counts. */
export interface Weighed {
  readonly effects: Effects
  /** Centavos; `null`: nobody knows. `effects` tells as much of it as is known. */
  readonly amountCents: number | null
}

/**
 * What the statement writes of a decision, with the debts that the engine repays with it.
 * @source rules#cases.34, rules#cases.46, rules#cases.47, rules#cases.52
 */
export function weigh(decision: Decision<unknown>, state: State, { handedCents, leftCents }: Counted): Weighed {
  const { journals: posted = [], notifications = [], cases = [], closes = [] } = decision
  const entries = [...posted, ...state.repaidBy(posted)].flatMap(entriesOf)
  const moving = entries.filter(({ journal }) => !BESIDE.has(journal))
  const left = moving.length > 0 ? 0n : leftCents
  const isKnown = left !== null && handedCents !== null
  const amountCents = Math.max(Number(amountOf(moving)), Number(left ?? 0n), Number(handedCents ?? 0n))
  const effects = {
    amountCents,
    accounts: accountsOf(entries),
    journals: journalsOf(entries),
    operations: statusesOf(decision, state),
    notifications: notifications.map(({ operationId, eventType, status }) => ({ operationId, eventType, status })),
    // One that is decided may end its doubt as well.
    closes: [...new Set(closes)],
    opens: cases.map(({ kind, reference }) => ({ kind, reference })),
  }
  return { effects, amountCents: isKnown ? amountCents : null }
}

/**
 * What a decision on a case of an operation counts with besides what it moves. Asking the bank again leaves the case to be decided, by its
 * answer or another decision.
 * @param atStakeCents the amount that is ordered, or else the most that the case was told to be about; `null`: nobody knows
 * @source rules#cases.46, rules#cases.48
 */
export function countedOf(decision: CaseDecision, atStakeCents: bigint | null): Counted {
  return { handedCents: 0n, leftCents: decision === 'ask_again' ? 0n : atStakeCents }
}

/** What counts as no money that moves: debts that are repaid, and what was held and is booked again as what it is. */
const BESIDE: ReadonlySet<string> = new Set(['debt_recovered', 'held_explained', 'arrived_unattributed'])

/** What postings do to each account, all of them together. */
function accountsOf(entries: readonly Entry[]): Effects['accounts'] {
  const changes = new Map<AccountCode, bigint>()
  for (const { account, amountCents } of entries) changes.set(account, (changes.get(account) ?? 0n) + amountCents)
  return [...changes].flatMap(([account, cents]) => (cents === 0n ? [] : [{ account, changeCents: Number(cents) }]))
}

/**
 * The amount of a decision: the most that it adds to any account, or takes from it; what comes and goes at once counts too.
 * @source rules#cases.39
 */
function amountOf(entries: readonly Entry[]): bigint {
  const sums = new Map<string, bigint>()
  for (const { account, amountCents } of entries) {
    const [side, cents] = amountCents < 0n ? [`${account} -`, -amountCents] : [`${account} +`, amountCents]
    sums.set(side, (sums.get(side) ?? 0n) + cents)
  }
  return [...sums.values()].reduce((most, cents) => (cents > most ? cents : most), 0n)
}

/** Each operation once, as it was before and is after all of it. */
function statusesOf({ creates = [], moves = [] }: Decision<unknown>, state: State): Effects['operations'] {
  const made = creates.map(({ operation: { id, status } }) => ({ id, to: status, from: null }))
  const moved = moves.map(({ operationId: id, to }) => ({ id, to, from: state.operation(id)?.status ?? null }))
  return [...Map.groupBy([...made, ...moved], ({ id }) => id)].map(([id, ofIt]) => ({
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
