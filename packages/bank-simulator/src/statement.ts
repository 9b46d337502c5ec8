import type { Entry } from './records.ts'

/**
 * Which entries are wanted. The time is that of booking, `from` inclusive, `to` exclusive, so that a window of the past
 * never changes, whatever `occurredAt` a late entry bears. Epoch milliseconds.
 */
export interface StatementQuery {
  readonly from: number
  readonly to: number
  /** How many entries of the window were read before: the `nextCursor` of the page before, or 0. */
  readonly cursor: number
}

/** A page of the statement; the two balances are those of the whole window. */
export interface Statement {
  readonly entries: readonly StatementEntry[]
  readonly openingCents: number
  readonly closingCents: number
  /** `null` on the last page. */
  readonly nextCursor: string | null
}

/** An entry as it stands in the statement. */
export type StatementEntry = Omit<Entry, 'bookedAt'>

/** Keeps an answer well below the 64 KiB of the protocol. */
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

/** An entry without what is the bank's own. */
export function statementEntry({ bookedAt: _, ...entry }: Entry): StatementEntry {
  return entry
}

/** What these entries add to the account. */
export function balanceCents(entries: readonly Entry[]): number {
  return entries.reduce((sum, { sign, valueCents }) => (sign === '+' ? sum + valueCents : sum - valueCents), 0)
}
