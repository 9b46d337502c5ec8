import type { UnverifiedCredit } from '../../engine/operation.ts'
import { type Database, instantParameter, statement } from '../../platform/db/database.ts'
import { type CreditKeys, KEYS, keysOf, SAME } from '../unverified-credits.ts'

/** All SQL of the questions about credits. */
export interface CreditQuestionStore {
  /**
   * Takes credits to be asked about now, for this process alone until they are due again.
   * @source rules#trip-wire.10
   */
  claim(due: DueCredits): Promise<AskedCredit[]>
  /** Puts back credits that were taken at an instant and not asked about: they are due as they were. */
  putBack(credits: readonly AskedCredit[], claimedAt: number): Promise<void>
  /** Notes that the bank denied these, where it had not done so before. */
  noteDenied(credits: readonly UnverifiedCredit[], nowMs: number): Promise<void>
  /** These are not asked about any more. */
  end(credits: readonly UnverifiedCredit[], nowMs: number): Promise<void>
}

/** Which credits are due; instants are epoch milliseconds. */
export interface DueCredits {
  readonly nowMs: number
  /** Those that were asked about later than this are not. */
  readonly askedBy: number
  /** Those that were admitted later than this are not, unless they were denied. */
  readonly admittedBy: number
  /** Those that were denied later than this are not. */
  readonly deniedBy: number
  /** So many of each: those that were denied, the largest, those that have waited longest. */
  readonly limit: number
}

/** A credit with what is known of the questions about it. */
export interface AskedCredit extends UnverifiedCredit {
  readonly admittedAt: number
  /** When the bank was asked about it before; `null`: never. */
  readonly askedBeforeAt: number | null
  /** When the bank first denied it; `null`: it did not. */
  readonly deniedAt: number | null
}

const KEY = 'u.operation_id, u.end_to_end_id, u.value_cents'

/**
 * Credits that are booked, of which nobody has said enough yet, and of which nobody was asked just now. The movement is looked
 * up for each, never joined: few are looked at, and there are millions of movements.
 */
const OPEN = `SELECT ${KEY}, u.asked_at FROM unverified_credit u
       WHERE settled_at IS NULL AND asking_ended_at IS NULL AND (asked_at IS NULL OR asked_at <= $2)
         AND (SELECT m.operation_id FROM movement m WHERE m.direction = 'in' AND m.id = u.end_to_end_id) = u.operation_id`

/** Skipped where another process has them in hand. */
const claim = statement<
  [now: string, askedBy: string, admittedBy: string, deniedBy: string, limit: number],
  {
    operation_id: string
    end_to_end_id: string
    value_cents: bigint
    admitted_at: number
    asked_before_at: number | null
    denied_at: number | null
  }
>(
  'credit_questions.claim',
  `WITH denied AS (
     ${OPEN} AND denied_at <= $4
      ORDER BY value_cents DESC LIMIT $5 FOR UPDATE SKIP LOCKED
   ), largest AS (
     ${OPEN} AND denied_at IS NULL AND admitted_at <= $3
      ORDER BY value_cents DESC LIMIT $5 FOR UPDATE SKIP LOCKED
   ), oldest AS (
     ${OPEN} AND denied_at IS NULL AND admitted_at <= $3
      ORDER BY coalesce(asked_at, admitted_at) LIMIT $5 FOR UPDATE SKIP LOCKED
   ), picked AS (
     SELECT * FROM denied UNION SELECT * FROM largest UNION SELECT * FROM oldest
   )
   UPDATE unverified_credit u SET asked_at = $1
     FROM picked p
    WHERE u.operation_id = p.operation_id AND u.end_to_end_id = p.end_to_end_id AND u.value_cents = p.value_cents
   RETURNING u.operation_id, u.end_to_end_id, u.value_cents, u.admitted_at, u.denied_at,
             p.asked_at AS asked_before_at`,
)

const KEYED = `FROM ${KEYS} WHERE ${SAME}`

const putBack = statement<[...CreditKeys, claimedAt: string, askedBefore: readonly (string | null)[]]>(
  'credit_questions.put_back',
  `UPDATE unverified_credit u SET asked_at = r.asked_at
     FROM unnest($1::uuid[], $2::text[], $3::bigint[], $5::timestamptz[])
            AS r (operation_id, end_to_end_id, value_cents, asked_at)
    WHERE ${SAME} AND u.asked_at = $4`,
)

const noteDenied = statement<[...CreditKeys, now: string]>(
  'credit_questions.denied',
  `UPDATE unverified_credit u SET denied_at = $4 ${KEYED} AND u.denied_at IS NULL`,
)

const end = statement<[...CreditKeys, now: string]>(
  'credit_questions.end',
  `UPDATE unverified_credit u SET asking_ended_at = $4 ${KEYED} AND u.asking_ended_at IS NULL`,
)

/** Makes the store of a database. */
export function createCreditQuestionStore(database: Database): CreditQuestionStore {
  return {
    claim: async ({ nowMs, askedBy, admittedBy, deniedBy, limit }) => {
      const instants = [nowMs, askedBy, admittedBy, deniedBy].map(instantParameter) as [string, string, string, string]
      const rows = await database.rows(claim, [...instants, limit])
      return rows.map((row) => ({
        operationId: row.operation_id,
        endToEndId: row.end_to_end_id,
        valueCents: row.value_cents,
        admittedAt: row.admitted_at,
        askedBeforeAt: row.asked_before_at,
        deniedAt: row.denied_at,
      }))
    },
    putBack: async (credits, claimedAt) => {
      if (credits.length === 0) return
      const before = credits.map(({ askedBeforeAt }) =>
        askedBeforeAt === null ? null : instantParameter(askedBeforeAt),
      )
      await database.rows(putBack, [...keysOf(credits), instantParameter(claimedAt), before])
    },
    noteDenied: async (credits, nowMs) => {
      if (credits.length > 0) await database.rows(noteDenied, [...keysOf(credits), instantParameter(nowMs)])
    },
    end: async (credits, nowMs) => {
      if (credits.length > 0) await database.rows(end, [...keysOf(credits), instantParameter(nowMs)])
    },
  }
}
