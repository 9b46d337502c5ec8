import { type Database, instantParameter, statement } from '../../../platform/db/database.ts'
import type { ReadBalance } from '../store.ts'
import type { Expectation, ListedBalance } from './look.ts'

/** What the lists and our books say of the time of a balance. */
export interface ListedStore {
  /** What is remembered. */
  expectation(): Promise<Expectation>
  /** Remembers it. */
  noteExpectation(expectation: Expectation): Promise<void>
  /** What a balance is held against. */
  beside(balance: ReadBalance, span: ListedSpan): Promise<Beside>
}

/** Which movements count. */
export interface ListedSpan {
  /** By how much the bank's time may differ from ours. */
  readonly skewMs: number
  /** What our books have and no list is awaited from this instant on, epoch milliseconds. */
  readonly awaitedSince: number
}

/** See {@link ListedBalance}; `receivedCents`: what came in since the balance that was compared before. */
export interface Beside extends Pick<ListedBalance, 'settledCents' | 'incomingCents' | 'outgoingCents'> {
  readonly awaitedCents: bigint
  readonly receivedCents: bigint
}

const selectExpectation = statement<[], { base_cents: bigint | null; short_since: number | null }>(
  'listed.expectation',
  `SELECT base_cents, short_since FROM bank_shortfall WHERE name = 'balance'`,
)

const noteExpectation = statement<[baseCents: bigint | null, shortSince: string | null]>(
  'listed.note_expectation',
  `UPDATE bank_shortfall SET base_cents = $1, short_since = $2 WHERE name = 'balance'`,
)

/** The total of all entries is kept; those of the last hours are taken off it again. */
const selectBeside = statement<
  [readAt: string, skewMs: number, awaitedSince: string],
  { settled: bigint; incoming: bigint; outgoing: bigint; awaited: bigint; received: bigint }
>(
  'listed.beside',
  `WITH span AS (
     SELECT $1::timestamptz - interval '1 millisecond' * $2::bigint AS since, $1::timestamptz + interval '1 millisecond' * $2::bigint AS until
   ), recent AS (
     SELECT coalesce(sum(CASE s.direction WHEN 'in' THEN s.value_cents ELSE -s.value_cents END), 0) AS cents,
            coalesce(sum(s.value_cents) FILTER (WHERE s.direction = 'in' AND s.occurred_at < p.until), 0) AS incoming,
            coalesce(sum(s.value_cents) FILTER (WHERE s.direction = 'out' AND s.occurred_at < p.until), 0) AS outgoing
       FROM span p JOIN statement_entry s ON s.occurred_at >= p.since
   ), received AS (
     SELECT coalesce(sum(s.value_cents), 0) AS cents
       FROM span p JOIN statement_entry s ON s.direction = 'in' AND s.occurred_at < p.until
        AND s.occurred_at >= (SELECT max(b.read_at) - interval '1 millisecond' * $2::bigint FROM bank_balance b WHERE b.compared_at IS NOT NULL)
   ), awaited AS (
     SELECT coalesce(sum(g.value_cents), 0) AS cents FROM statement_gap g
      WHERE g.filled_at IS NULL AND g.direction = 'out' AND g.missed_at >= $3
   )
   SELECT (k.entries_cents - r.cents)::bigint AS settled, r.incoming::bigint, r.outgoing::bigint, a.cents::bigint AS awaited,
          c.cents::bigint AS received
     FROM statement_mark k, recent r, received c, awaited a`,
)

/** Makes it. */
export function createListedStore(database: Database): ListedStore {
  return {
    expectation: async () => {
      const [row] = await database.rows(selectExpectation, [])
      return { baseCents: row?.base_cents ?? null, shortSince: row?.short_since ?? null }
    },
    noteExpectation: async ({ baseCents, shortSince }) => {
      await database.rows(noteExpectation, [baseCents, shortSince === null ? null : instantParameter(shortSince)])
    },
    beside: async ({ readAt }, { skewMs, awaitedSince }) => {
      const [row] = await database.rows(selectBeside, [
        instantParameter(readAt),
        skewMs,
        instantParameter(awaitedSince),
      ])
      if (!row) throw new Error('the total of the statement is missing')
      return {
        settledCents: row.settled,
        incomingCents: row.incoming,
        outgoingCents: row.outgoing,
        awaitedCents: row.awaited,
        receivedCents: row.received,
      }
    },
  }
}
