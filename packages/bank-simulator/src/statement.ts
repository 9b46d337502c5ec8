import { type Entry, type Records, sumCents } from './records.ts'
import { Refused } from './refused.ts'

/**
 * Query for a window of entries by time of booking, epoch milliseconds: `from` inclusive, `to` exclusive. A past window
 * never changes, because late entries are booked late, whatever their `occurredAt`.
 */
export interface StatementQuery {
  readonly from: number
  readonly to: number
  /** Number of entries of the window to skip: `nextCursor` of the previous page, or 0. */
  readonly cursor: number
}

/** A page of the statement. The balances are those of the whole window. */
export interface Statement {
  readonly entries: readonly StatementEntry[]
  readonly openingCents: number
  readonly closingCents: number
  /** `null` on the last page. */
  readonly nextCursor: string | null
}

/** An entry as returned in the statement. */
export type StatementEntry = Omit<Entry, 'bookedAt'>

/** Keeps a response well below the protocol's limit of 64 KiB. */
const PAGE_ENTRIES = 100

/** Reads a page of the statement. @source partner-protocol#statement */
export function statementOf(entries: readonly Entry[], { from, to, cursor }: StatementQuery): Statement {
  const before = entries.filter(({ bookedAt }) => bookedAt < from)
  const within = entries.filter(({ bookedAt }) => from <= bookedAt && bookedAt < to)
  const openingCents = balanceCents(before)
  const end = cursor + PAGE_ENTRIES
  return {
    entries: within.slice(cursor, end).map(statementEntry),
    openingCents,
    closingCents: openingCents + balanceCents(within),
    nextCursor: end < within.length ? String(end) : null,
  }
}

/** An entry without the bank's internal fields. */
export function statementEntry({ bookedAt: _, ...entry }: Entry): StatementEntry {
  return entry
}

/**
 * Asserts that the balance covers an amount besides the orders in progress.
 * @throws Refused insufficient_balance
 */
export function assertCovered({ entries, payouts, refunds }: Records, valueCents: number): void {
  const reserved = [...payouts.values(), ...refunds.values()].filter(({ answer }) => answer.status === 'PROCESSING')
  if (balanceCents(entries) - sumCents(reserved.map(({ order }) => order)) >= valueCents) return
  throw new Refused('insufficient_balance', 'the balance of the account is insufficient')
}

/** Sum of the entries with their signs, centavos. */
export function balanceCents(entries: readonly Entry[]): number {
  return entries.reduce((sum, { sign, valueCents }) => (sign === '+' ? sum + valueCents : sum - valueCents), 0)
}
