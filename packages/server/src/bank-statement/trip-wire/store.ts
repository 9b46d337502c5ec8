import type { LooseCase } from '@pixgate/spec'
import type { BankBalance } from '../../banks/port.ts'
import type { UnverifiedCredit } from '../../engine/operation.ts'
import { type Database, instantParameter, statement } from '../../platform/db/database.ts'
import { type CreditKeys, KEYS, keysOf, SAME } from '../unverified-credits.ts'
import type { Shortfall } from './shortfall.ts'

/** All SQL of the trip wire. */
export interface TripWireStore {
  /** How often the switch of payouts was set. */
  switchVersion(): Promise<bigint>
  /**
   * Which of these the wire has suspended for, by kind and reference with a blank between: by its rows of the audit trail, as
   * anybody with the login of a server may open a case.
   */
  knownCases(names: readonly CaseName[]): Promise<ReadonlySet<string>>

  /** What is remembered of a shortfall. */
  shortfall(name: ShortfallName): Promise<Shortfall>
  /** Remembers what a look found, and closes the cases of what is over. */
  noteShortfall(name: ShortfallName, noted: NotedShortfall): Promise<void>
  /**
   * What the account held before the first entry of the statement, and what all entries add, centavos.
   * @param closingCents the statement's balance; of the first time what was there before follows from it
   */
  statementTotal(closingCents: bigint): Promise<StatementTotal>

  /** Keeps a balance, with what our books have now. */
  keepBalance(balance: BankBalance, nowMs: number): Promise<void>
  /** Balances that were read between two instants and not compared yet, oldest first. */
  balancesToCompare(readFrom: number, readBy: number): Promise<ReadBalance[]>
  /** Notes that a balance was compared. */
  noteCompared(readAt: number, nowMs: number): Promise<void>
  /**
   * What left the account by our books while a balance was read or within a minute after it, centavos: the bank may have
   * set it aside before.
   * @param spanMs how long before and after its reading the balance may have been
   */
  leftAround(balance: ReadBalance, spanMs: number): Promise<bigint>

  /**
   * No longer counts unverified credits that the statement has, that an operator decided of, or that were not booked; and
   * closes the cases of those that the bank had denied.
   */
  confirmCredits(nowMs: number): Promise<void>
}

/** In which way the bank may have too little. */
export type ShortfallName = 'statement' | 'balance'

/** What tells a case that is of no operation. */
export interface CaseName {
  readonly kind: string
  readonly reference: string
}

/** A look's result. */
export interface NotedShortfall extends Shortfall {
  /** Nothing is missing: its cases close. */
  readonly isOver: boolean
  readonly at: number
}

/** What the statement should come to, and what may be missing from a balance beside it, centavos. */
export interface StatementTotal {
  readonly baseCents: bigint
  readonly entriesCents: bigint
}

/** A balance that was read. */
export interface ReadBalance extends BankBalance {
  /** Epoch milliseconds, our time. */
  readonly readAt: number
  /** What was set aside then: here for orders under way, and at the bank by itself. */
  readonly reservedCents: bigint
}

/** Who suspended them, in the audit trail. */
export const TRIP_WIRE = 'trip-wire'

/** The case about a credit that the bank denied when it was asked. */
export const CREDIT_DENIED = 'credit_denied'

/** The cases of each. */
export const SHORTFALL_CASES: Readonly<Record<ShortfallName, LooseCase>> = {
  statement: 'statement_short',
  balance: 'bank_balance_short',
}

const selectSwitchVersion = statement<[], { version: bigint }>(
  'trip_wire.switch_version',
  `SELECT version FROM control WHERE name = 'cash_out_switch'`,
)

/** An entry or a gap that the wire has suspended for, as a condition on its name. @source rules#trip-wire.5 */
export function isTripped(name: string): string {
  return `EXISTS (SELECT FROM audit a WHERE a.actor = '${TRIP_WIRE}' AND a.facts -> 'cases' ? (${name}))`
}

const selectKnownCases = statement<[names: readonly string[]], { name: string }>(
  'trip_wire.known_cases',
  `SELECT n.name FROM unnest($1::text[]) AS n (name) WHERE ${isTripped('n.name')}`,
)

const selectShortfall = statement<[name: string], { accepted_cents: bigint; short_since: number | null }>(
  'trip_wire.shortfall',
  'SELECT accepted_cents, short_since FROM bank_shortfall WHERE name = $1',
)

const noteShortfall = statement<
  [name: string, acceptedCents: bigint, since: string | null, kind: string | null, now: string]
>(
  'trip_wire.note_shortfall',
  `WITH over AS (
     UPDATE "case" SET closed_at = $5 WHERE kind = $4 AND operation_id IS NULL AND closed_at IS NULL
   )
   UPDATE bank_shortfall SET accepted_cents = $2, short_since = $3 WHERE name = $1`,
)

/** The row is held, so that whoever comes second has the first one's base. */
const selectTotal = statement<[closingCents: bigint], { base_cents: bigint; entries_cents: bigint }>(
  'trip_wire.statement_total',
  `WITH total AS (SELECT entries_cents FROM statement_mark)
   UPDATE bank_shortfall s SET base_cents = coalesce(s.base_cents, $1 - t.entries_cents)
     FROM total t WHERE s.name = 'statement'
   RETURNING s.base_cents, t.entries_cents`,
)

const insertBalance = statement<[now: string, availableCents: bigint, asOf: string | null, blockedCents: bigint]>(
  'trip_wire.keep_balance',
  `INSERT INTO bank_balance (read_at, available_cents, as_of, reserved_cents, settlement_version)
   SELECT $1, $2, $3, r.balance_cents + $4, s.version FROM account r, account s
    WHERE r.code = 'reserved' AND s.code = 'settlement'
   ON CONFLICT DO NOTHING`,
)

const selectBalances = statement<
  [readFrom: string, readBy: string],
  { read_at: number; available_cents: bigint; as_of: number | null; reserved_cents: bigint }
>(
  'trip_wire.balances',
  `SELECT read_at, available_cents, as_of, reserved_cents FROM bank_balance
    WHERE compared_at IS NULL AND read_at BETWEEN $1 AND $2 ORDER BY read_at LIMIT 10`,
)

const noteCompared = statement<[readAt: string, now: string]>(
  'trip_wire.compared',
  'UPDATE bank_balance SET compared_at = $2 WHERE read_at = $1',
)

/** Readings that stand beside this one say where in the account's history to look. */
const selectLeft = statement<[from: string, to: string], { cents: bigint }>(
  'trip_wire.left',
  `SELECT coalesce(sum(e.amount_cents), 0)::bigint AS cents
     FROM entry e
    WHERE e.account_id = (SELECT id FROM account WHERE code = 'settlement') AND e.amount_cents > 0
      -- Booked long after it left.
      AND e.journal <> 'tariff_deducted'
      AND e.version > coalesce(
            (SELECT settlement_version FROM bank_balance WHERE read_at <= $1 ORDER BY read_at DESC LIMIT 1),
            (SELECT settlement_version FROM bank_balance ORDER BY read_at LIMIT 1))
      AND e.version <= coalesce(
            (SELECT settlement_version FROM bank_balance WHERE read_at >= $2 ORDER BY read_at LIMIT 1),
            (SELECT version FROM account WHERE code = 'settlement'))`,
)

/**
 * A credit that is not booked under its own operation within this never will be: the movement is another operation's.
 * @source rules#cash-in.credits.3
 */
const BOOKED_WITHIN = '30 minutes'

/**
 * Whether a credit that counts is to be settled, by what stands beside it. That is looked up for each, never joined or hashed: few are
 * looked at, and there are millions of movements and entries.
 * @param now the parameter
 * @source rules#cash-in.credits.3
 */
function isToSettle(now: string): string {
  const isClosed = (kind: string, reference: string) =>
    `(SELECT true FROM "case" c
                  WHERE c.operation_id IS NULL AND c.kind = '${kind}' AND c.reference = '${reference} ' || u.end_to_end_id
                    AND c.closed_at IS NOT NULL
                  LIMIT 1)`
  return `u.settled_at IS NULL
        AND ((SELECT true FROM statement_entry s
               WHERE s.direction = 'in' AND s.kind = 'PAYMENT_RECEIVED' AND s.id = u.end_to_end_id
                 AND s.outcome = 'MATCHED' AND s.operation_id = u.operation_id AND s.value_cents = u.value_cents
               LIMIT 1)
             OR (SELECT true FROM statement_gap g JOIN "case" c ON c.reference = g.direction || ' ' || g.id
                  WHERE g.direction = 'in' AND g.id = u.end_to_end_id AND g.filled_at IS NULL
                    AND c.operation_id IS NULL AND c.kind = 'statement_missing' AND c.closed_at IS NOT NULL
                  LIMIT 1)
             OR ${isClosed('statement_differs', 'PAYMENT_RECEIVED')}
             OR ${isClosed(CREDIT_DENIED, 'in')}
             OR u.admitted_at < ${now}::timestamptz - interval '${BOOKED_WITHIN}'
                AND (SELECT true FROM movement m
                      WHERE m.direction = 'in' AND m.id = u.end_to_end_id AND m.operation_id = u.operation_id
                      LIMIT 1) IS NULL)`
}

/** Looked for while the total is free: there may be many that go on counting, and whoever books one would wait for all of them. */
const selectToSettle = statement<
  [now: string, limit: number],
  { operation_id: string; end_to_end_id: string; value_cents: bigint }
>(
  'trip_wire.credits_to_settle',
  `SELECT operation_id, end_to_end_id, value_cents FROM unverified_credit u WHERE ${isToSettle('$1')} LIMIT $2`,
)

/** Whoever counts one waits for it. What is read in the next statement has all that was counted before. */
const lockTotal = statement<[]>('trip_wire.lock_total', 'SELECT FROM unverified_total FOR UPDATE')

/**
 * Under the same lock as counting. What was found is looked at again, by its key: it may have been booked meanwhile, or settled by another
 * process and counted anew. The total is added up anew: were it carried on, one that is wrong would stay so, and one that is less than
 * its credits would end every reading. @source rules#cash-in.credits.3
 */
const settleCredits = statement<[...CreditKeys, now: string]>(
  'trip_wire.settle_credits',
  `WITH found AS MATERIALIZED (
     SELECT u.operation_id, u.end_to_end_id, u.value_cents
       FROM ${KEYS}
      CROSS JOIN LATERAL (SELECT * FROM unverified_credit u WHERE ${SAME} LIMIT 1) AS u
      WHERE ${isToSettle('$4')}
   ), settled AS (
     UPDATE unverified_credit u SET settled_at = $4 FROM found r WHERE ${SAME}
     RETURNING u.value_cents, u.end_to_end_id
   ), closed AS (
     UPDATE "case" c SET closed_at = $4 FROM settled s
      WHERE c.operation_id IS NULL AND c.kind = '${CREDIT_DENIED}' AND c.reference = 'in ' || s.end_to_end_id
        AND c.closed_at IS NULL
   )
   UPDATE unverified_total u SET cents = t.cents - s.cents
     FROM (SELECT coalesce(sum(value_cents), 0) AS cents FROM unverified_credit WHERE settled_at IS NULL) t,
          (SELECT coalesce(sum(value_cents), 0) AS cents FROM settled) s
    WHERE u.cents <> t.cents - s.cents`,
)

/** So many are settled while the total is held once. */
const SETTLED_AT_ONCE = 1_000

/** Movements that a payout or a refund had at the bank are booked here within this. */
const BOOKED_AFTER_MS = 60_000

/** Makes the store of a database. */
export function createTripWireStore(database: Database): TripWireStore {
  return { ...switchAndCases(database), ...shortfalls(database), ...balances(database), ...credits(database) }
}

function switchAndCases(database: Database): Pick<TripWireStore, 'switchVersion' | 'knownCases'> {
  return {
    switchVersion: async () => {
      const [row] = await database.rows(selectSwitchVersion, [])
      if (!row) throw new Error('the switch is missing')
      return row.version
    },
    knownCases: async (names) => {
      const rows = await database.rows(selectKnownCases, [names.map(({ kind, reference }) => `${kind} ${reference}`)])
      return new Set(rows.map(({ name }) => name))
    },
  }
}

function shortfalls(database: Database): Pick<TripWireStore, 'shortfall' | 'noteShortfall' | 'statementTotal'> {
  return {
    shortfall: async (name) => {
      const [row] = await database.rows(selectShortfall, [name])
      if (!row) throw new Error(`the shortfall ${name} is missing`)
      return { acceptedCents: row.accepted_cents, shortSince: row.short_since }
    },
    noteShortfall: async (name, { acceptedCents, shortSince, isOver, at }) => {
      const since = shortSince === null ? null : instantParameter(shortSince)
      const kind = isOver ? SHORTFALL_CASES[name] : null
      await database.rows(noteShortfall, [name, acceptedCents, since, kind, instantParameter(at)])
    },
    statementTotal: async (closingCents) => {
      const [row] = await database.rows(selectTotal, [closingCents])
      if (!row) throw new Error('the total of the statement is missing')
      return { baseCents: row.base_cents, entriesCents: row.entries_cents }
    },
  }
}

type OfBalances = 'keepBalance' | 'balancesToCompare' | 'noteCompared' | 'leftAround'

function balances(database: Database): Pick<TripWireStore, OfBalances> {
  return {
    keepBalance: async ({ availableCents, asOf, blockedCents = 0n }, nowMs) => {
      const until = asOf === null ? null : instantParameter(asOf)
      await database.rows(insertBalance, [instantParameter(nowMs), availableCents, until, blockedCents])
    },
    balancesToCompare: async (readFrom, readBy) => {
      const rows = await database.rows(selectBalances, [instantParameter(readFrom), instantParameter(readBy)])
      return rows.map((row) => ({
        readAt: row.read_at,
        availableCents: row.available_cents,
        asOf: row.as_of,
        reservedCents: row.reserved_cents,
      }))
    },
    noteCompared: async (readAt, nowMs) => {
      await database.rows(noteCompared, [instantParameter(readAt), instantParameter(nowMs)])
    },
    leftAround: async ({ readAt }, spanMs) => {
      const bounds = [readAt - spanMs, readAt + spanMs + BOOKED_AFTER_MS].map(instantParameter)
      const [row] = await database.rows(selectLeft, bounds as [string, string])
      return row?.cents ?? 0n
    },
  }
}

function credits(database: Database): Pick<TripWireStore, 'confirmCredits'> {
  return {
    confirmCredits: async (nowMs) => {
      const now = instantParameter(nowMs)
      let found: UnverifiedCredit[]
      do {
        const rows = await database.rows(selectToSettle, [now, SETTLED_AT_ONCE])
        found = rows.map((row) => ({
          operationId: row.operation_id,
          endToEndId: row.end_to_end_id,
          valueCents: row.value_cents,
        }))
        const keys = keysOf(found)
        // Also where none was found: the total is put right.
        await database.transaction(async (queries) => {
          await queries.rows(lockTotal, [])
          await queries.rows(settleCredits, [...keys, now])
        })
      } while (found.length === SETTLED_AT_ONCE)
    },
  }
}
