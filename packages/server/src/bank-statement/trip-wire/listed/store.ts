import { type Database, instantParameter, statement } from '../../../platform/db/database.ts'
import type { ReadBalance } from '../store.ts'
import type { Expectation, ListedBalance, Proof } from './look.ts'

/** What the lists and our books say of the time of a balance. */
export interface ListedStore {
  /** What is remembered. */
  expectation(): Promise<Expectation>
  /** Remembers it, and up to where movements were counted. */
  noteExpectation(expectation: Expectation, counted: Counted): Promise<void>
  /** What a balance is held against. */
  beside(balance: Pick<ReadBalance, 'readAt'>, span: ListedSpan): Promise<Beside>
}

/** Which movements count. */
export interface ListedSpan {
  /** By how much the bank's time may differ from ours. */
  readonly skewMs: number
  /** What our books have and no list is awaited from this instant on, epoch milliseconds. */
  readonly awaitedSince: number
}

/** What a look has taken in; epoch milliseconds. */
export interface Counted {
  /** What came in before this was counted as what a tariff may be taken of. */
  readonly receivedUntil: number
  /** What the lists had told then, by our time. */
  readonly listedUntil: number | null
}

/** See {@link ListedBalance}. */
type FromLists = 'settledCents' | 'incomingCents' | 'outgoingCents' | 'unlistedCents' | 'listedSince'

/** See {@link ListedBalance}; `receivedCents`: what came in that no look before has counted. */
export interface Beside extends Pick<ListedBalance, FromLists> {
  readonly awaitedCents: bigint
  readonly receivedCents: bigint
  readonly counted: Counted
}

interface ExpectationRow {
  readonly base_cents: bigint | null
  readonly base_at: number | null
  readonly base_listed_cents: bigint
  readonly rising_cents: bigint | null
  readonly rising_at: number | null
  readonly rising_listed_cents: bigint
  readonly short_since: number | null
}

const selectExpectation = statement<[], ExpectationRow>(
  'listed.expectation',
  `SELECT x.base_cents, x.base_at, x.base_listed_cents, x.rising_cents, x.rising_at, x.rising_listed_cents, b.short_since
     FROM listed_expectation x, bank_shortfall b WHERE b.name = 'balance'`,
)

type ProofParameters = [cents: bigint | null, at: string | null, listedSinceCents: bigint]

const noteExpectation = statement<
  [
    ...base: ProofParameters,
    ...rising: ProofParameters,
    receivedUntil: string,
    listedUntil: string | null,
    shortSince: string | null,
  ]
>(
  'listed.note_expectation',
  `WITH short AS (
     UPDATE bank_shortfall SET short_since = $9 WHERE name = 'balance' AND short_since IS DISTINCT FROM $9
   )
   UPDATE listed_expectation
      SET base_cents = $1, base_at = $2, base_listed_cents = $3, rising_cents = $4, rising_at = $5, rising_listed_cents = $6,
          received_until = $7, listed_until = $8`,
)

/** What was told of the time before a proof: at about its time, what came in only. */
const listedBefore = (proofAt: string) =>
  `sum(CASE s.direction WHEN 'in' THEN s.value_cents ELSE -s.value_cents END)
     FILTER (WHERE s.occurred_at < ${proofAt} + CASE s.direction WHEN 'in' THEN p.skew ELSE -p.skew END)`

/** The total of all entries is kept; those of the last hours are taken off it again. */
const selectBeside = statement<
  [readAt: string, skewMs: number, awaitedSince: string],
  {
    settled: bigint
    incoming: bigint
    outgoing: bigint
    unlisted: bigint
    awaited: bigint
    received: bigint
    base: bigint
    rising: bigint
    received_until: number
    listed_until: number | null
  }
>(
  'listed.beside',
  `WITH span AS (
     SELECT s.skew, $1::timestamptz - s.skew AS since, $1::timestamptz + s.skew AS until
       FROM (SELECT interval '1 millisecond' * $2::bigint AS skew) s
   ), recent AS (
     SELECT coalesce(sum(CASE s.direction WHEN 'in' THEN s.value_cents ELSE -s.value_cents END), 0) AS cents,
            coalesce(sum(s.value_cents) FILTER (WHERE s.direction = 'in' AND s.occurred_at < p.until), 0) AS incoming,
            coalesce(sum(s.value_cents) FILTER (WHERE s.direction = 'out' AND s.occurred_at < p.until), 0) AS outgoing
       FROM span p JOIN statement_entry s ON s.occurred_at >= p.since
   ), late AS (
     SELECT max(s.seen_at) AS until, ${listedBefore('x.base_at')} AS base, ${listedBefore('x.rising_at')} AS rising,
            sum(s.value_cents) FILTER (WHERE s.direction = 'in' AND s.occurred_at < x.received_until) AS received
       FROM span p, listed_expectation x, statement_entry s WHERE s.seen_at > coalesce(x.listed_until, '-infinity')
   ), received AS (
     SELECT sum(s.value_cents) AS cents
       FROM span p, listed_expectation x, statement_entry s
      WHERE s.direction = 'in' AND s.occurred_at >= coalesce(x.received_until, p.since) AND s.occurred_at < p.until
   ), awaited AS (
     SELECT coalesce(sum(g.value_cents) FILTER (WHERE g.direction = 'in'), 0) AS incoming,
            coalesce(sum(g.value_cents) FILTER (WHERE g.direction = 'out'), 0) AS outgoing
       FROM statement_gap g WHERE g.filled_at IS NULL AND g.missed_at >= $3
   )
   SELECT (k.entries_cents - r.cents)::bigint AS settled, r.incoming::bigint, r.outgoing::bigint,
          a.incoming::bigint AS unlisted, a.outgoing::bigint AS awaited,
          (coalesce(c.cents, 0) + coalesce(t.received, 0))::bigint AS received,
          coalesce(t.base, 0)::bigint AS base, coalesce(t.rising, 0)::bigint AS rising,
          greatest(x.received_until, p.until) AS received_until, coalesce(t.until, x.listed_until) AS listed_until
     FROM span p, listed_expectation x, statement_mark k, recent r, late t, received c, awaited a`,
)

/** Makes it. */
export function createListedStore(database: Database): ListedStore {
  return {
    expectation: async () => {
      const [row] = await database.rows(selectExpectation, [])
      if (!row) throw new Error('what is expected of the balance is missing')
      return {
        base: proofOf(row.base_cents, row.base_at, row.base_listed_cents),
        rising: proofOf(row.rising_cents, row.rising_at, row.rising_listed_cents),
        shortSince: row.short_since,
      }
    },
    noteExpectation: async ({ base, rising, shortSince }, { receivedUntil, listedUntil }) => {
      await database.rows(noteExpectation, [
        ...proofParameters(base),
        ...proofParameters(rising),
        instantParameter(receivedUntil),
        instantOrNull(listedUntil),
        instantOrNull(shortSince),
      ])
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
        unlistedCents: row.unlisted,
        awaitedCents: row.awaited,
        receivedCents: row.received,
        listedSince: { baseCents: row.base, risingCents: row.rising },
        counted: { receivedUntil: row.received_until, listedUntil: row.listed_until },
      }
    },
  }
}

function proofOf(cents: bigint | null, readAt: number | null, listedSinceCents: bigint): Proof | null {
  return cents === null || readAt === null ? null : { cents, at: readAt, listedSinceCents }
}

function proofParameters(proof: Proof | null): ProofParameters {
  return proof ? [proof.cents, instantParameter(proof.at), proof.listedSinceCents] : [null, null, 0n]
}

function instantOrNull(instantMs: number | null): string | null {
  return instantMs === null ? null : instantParameter(instantMs)
}
