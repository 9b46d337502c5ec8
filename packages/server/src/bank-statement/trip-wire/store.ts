import type { UnverifiedCredit } from '../../engine/operation.ts'
import { type Database, instantParameter, statement } from '../../platform/db/database.ts'
import { type CreditKeys, KEYS, keysOf, SAME } from '../unverified-credits.ts'

/** All SQL of the trip wire. */
export interface TripWireStore {
  /** How often the switch of payouts was set. */
  switchVersion(): Promise<bigint>
  /**
   * Which of these the wire has suspended for, by kind and reference with a blank between: by its rows of the audit trail, as
   * anybody with the login of a server may open a case.
   */
  knownCases(names: readonly CaseName[]): Promise<ReadonlySet<string>>

  /**
   * No longer counts unverified credits that the statement has, that an operator decided of, or that were not booked; and
   * closes the cases of those that the bank had denied.
   */
  confirmCredits(nowMs: number): Promise<void>
}

/** What tells a case that is of no operation. */
export interface CaseName {
  readonly kind: string
  readonly reference: string
}

/** Who suspended them, in the audit trail. */
export const TRIP_WIRE = 'trip-wire'

/** The case about a credit that the bank denied when it was asked. */
export const CREDIT_DENIED = 'credit_denied'

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

/** Makes the store of a database. */
export function createTripWireStore(database: Database): TripWireStore {
  return { ...switchAndCases(database), ...credits(database) }
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
