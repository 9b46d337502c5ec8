import { type AccountCode, type CaseDecision, type JournalKind, journals } from '@pixgate/spec'
import type { Decision, State } from '../engine/operation.ts'
import { type Entry, entriesOf } from '../engine/postings.ts'
import type { Counted } from './case.ts'
import type { Decided } from './second-person.ts'

/** Effects of a decision, for its operator. Pure. */

export type Effects = NonNullable<Decided['effects']>

/**
 * Computes what the statement writes for a decision, including debts repaid with it.
 * @returns the effects, and the amount in centavos: `null` if it is unknown, while the effects have the known part
 * @source rules#cases.34, rules#cases.46, rules#cases.47, rules#cases.52
 */
export function weigh(decision: Decision<unknown>, state: State, counted: Counted) {
  const { handedCents, leftCents, queriedCaseId } = counted
  const { journals: posted = [], notifications = [], cases = [], closes = [] } = decision
  const entries = [...posted, ...state.repaidBy(posted)].flatMap(entriesOf)
  const moving = entries.filter(({ journal }) => !BESIDE.has(journal))
  const isOpen = queriedCaseId !== undefined && !closes.includes(queriedCaseId)
  const left = moving.length > 0 || isOpen ? 0n : leftCents
  const isKnown = left !== null && handedCents !== null
  const amountCents = Math.max(Number(amountOf(moving)), Number(left ?? 0n), Number(handedCents ?? 0n))
  const effects: Effects = {
    amountCents,
    accounts: accountsOf(entries),
    journals: journalsOf(entries),
    operations: statusesOf(decision, state),
    notifications: notifications.map(({ operationId, eventType, status }) => ({ operationId, eventType, status })),
    // A decided case may also end its doubt.
    closes: [...new Set(closes)],
    opens: cases.map(({ kind, reference }) => ({ kind, reference })),
  }
  return { effects, amountCents: isKnown ? amountCents : null }
}

/**
 * Amounts of a decision about an operation's case in addition to moved money. A query leaves most cases undecided.
 * @param atStakeCents the ordered amount, or the case's highest reported one; `null`: unknown
 * @source rules#cases.46, rules#cases.48
 */
export function countedOf(
  { decision, caseId }: { readonly decision: CaseDecision; readonly caseId: string },
  atStakeCents: bigint | null,
): Counted {
  const query = decision === 'ask_again' ? { queriedCaseId: caseId } : {}
  return { handedCents: 0n, leftCents: atStakeCents, ...query }
}

/** Journals that move no money: repaid debts, and bookings of held money. */
const BESIDE: ReadonlySet<string> = new Set(['debt_recovered', 'held_explained', 'arrived_unattributed'])

/** Net change per account. */
function accountsOf(entries: readonly Entry[]): Effects['accounts'] {
  const changes = new Map<AccountCode, bigint>()
  for (const { account, amountCents } of entries) changes.set(account, (changes.get(account) ?? 0n) + amountCents)
  return [...changes].flatMap(([account, cents]) => (cents === 0n ? [] : [{ account, changeCents: Number(cents) }]))
}

/**
 * The largest sum of debits or credits on any account. Money that passes through counts, too.
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

/** One row per operation: status before the decision and after it. */
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
