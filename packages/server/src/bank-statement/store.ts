import type { StatementDelay, StatementEntry } from '../banks/port.ts'
import { isTakenBack } from '../cases/without-operation.ts'
import { type Database, instantParameter, statement } from '../platform/db/database.ts'
import {
  closingCasesOf,
  ENTRY_ROWS,
  type EntryKey,
  type EntryParameters,
  entryParameters,
  MISSING,
  markingOf,
  type OpenRow,
  openEntries,
  openEntryOf,
} from './lines.ts'
import type { LackingMovement, NamedTariff, OpenEntry } from './rules.ts'

/** Progress of reading, epoch milliseconds; see the table for the clocks. */
export interface Mark {
  readonly readFrom: number | null
  readonly matchedUntil: number | null
  readonly readAt: number | null
  /** Clock offset of the bank; `null`: never measured. */
  readonly stampOffsetMs: number | null
}

export interface FinishedReading {
  readonly matchedUntil: number
  readonly readAt: number
  readonly dueAt: number
  /** Clock offset of the bank; `undefined`: unknown to this process. */
  readonly stampOffsetMs: number | undefined
}

export interface Restated {
  readonly entry: StatementEntry
  readonly before: { readonly valueCents: bigint; readonly endToEndId: string; readonly reference: string }
  /** The movement of our books; `undefined`: they do not have it. */
  readonly booked: OpenEntry['booked']
}

/** A movement of our books missing in a complete window of the statement. */
export interface Gap {
  readonly direction: 'in' | 'out'
  readonly id: string
  readonly operationId: string
  readonly valueCents: bigint
  readonly missedAt: number
}

const claim = statement<[leaseId: string, now: string, until: string], Mark>(
  'statement.claim',
  `UPDATE statement_mark SET lease_id = $1, lease_until = $3
    WHERE due_at <= $2 AND (lease_until IS NULL OR lease_until <= $2)
   RETURNING read_from AS "readFrom", matched_until AS "matchedUntil", read_at AS "readAt",
             stamp_offset_ms AS "stampOffsetMs"`,
)

const extend = statement<[leaseId: string, until: string], { held: boolean }>(
  'statement.extend',
  'UPDATE statement_mark SET lease_until = $2 WHERE lease_id = $1 RETURNING true AS held',
)

const giveUp = statement<[leaseId: string, dueAt: string]>(
  'statement.give_up',
  'UPDATE statement_mark SET lease_id = NULL, lease_until = NULL, due_at = $2 WHERE lease_id = $1',
)

const readFrom = statement<[leaseId: string, from: string]>(
  'statement.read_from',
  'UPDATE statement_mark SET read_from = $2 WHERE lease_id = $1 AND read_from IS NULL',
)

const finish = statement<
  [leaseId: string, matchedUntil: string, readAt: string, dueAt: string, stampOffsetMs: number | null],
  { held: boolean }
>(
  'statement.finish',
  `UPDATE statement_mark SET lease_id = NULL, lease_until = NULL, matched_until = $2, read_at = $3, due_at = $4,
          stamp_offset_ms = coalesce($5, stamp_offset_ms)
    WHERE lease_id = $1 RETURNING true AS held`,
)

/** Ids sort by creation time. */
const selectOldest = statement<[], { created_at: number }>(
  'statement.oldest',
  'SELECT created_at FROM operation ORDER BY id LIMIT 1',
)

/** Time for which a stored tariff can be reopened. @source rules#statement.4 */
const REOPENED_FOR = '1 day'

/** A gap ends, and its case closes, in the commit that keeps its line: a decision about the gap finds its case closed. */
const insertEntries = statement<[...EntryParameters, now: string]>(
  'statement.keep',
  `WITH kept AS (
     INSERT INTO statement_entry (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at)
     SELECT t.direction, t.id, t.kind, t.end_to_end_id, t.reference, t.value_cents, t.occurred_at, $8 FROM ${ENTRY_ROWS}
      ORDER BY t.direction, t.id, t.kind
     ON CONFLICT DO NOTHING
     RETURNING direction, id, kind
   ), filled AS (
     UPDATE statement_gap g SET filled_at = $8 FROM kept k
      WHERE g.filled_at IS NULL AND g.direction = k.direction AND g.id = k.id AND k.kind <> 'TARIFF'
     RETURNING g.direction, g.id
   )
   ${closingCasesOf(`'${MISSING}'`, `f.direction || ' ' || f.id`, 'filled f', '$8')}`,
)

const selectRestated = statement<
  EntryParameters,
  Restated['before'] & { ordinal: bigint; bookedOn: string | null; bookedCents: bigint | null }
>(
  'statement.retold',
  `WITH restated AS MATERIALIZED (
   SELECT t.ordinal, t.direction, t.id, s.value_cents, s.end_to_end_id, s.reference
     FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::timestamptz[])
            WITH ORDINALITY AS t (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, ordinal)
     JOIN statement_entry s USING (direction, id, kind)
    WHERE (s.value_cents, s.end_to_end_id, s.reference) <> (t.value_cents, t.end_to_end_id, t.reference)
       OR EXISTS (SELECT FROM operation o
                   WHERE o.kind = 'adjustment' AND o.detail ? 'about'
                     AND o.detail ->> 'about' = 'difference ' || t.kind || ' ' || t.id)
       -- Back to its first values after a change, decided or not.
       OR t.kind || ' ' || t.id IN (
            SELECT c.reference FROM "case" c
             WHERE c.operation_id IS NULL AND c.kind = 'line_differs' AND c.facts ? 'before')
   )
   SELECT r.ordinal, r.value_cents AS "valueCents", r.end_to_end_id AS "endToEndId", r.reference,
          m.operation_id AS "bookedOn", m.value_cents AS "bookedCents"
     FROM restated r
     LEFT JOIN LATERAL (SELECT x.operation_id, x.value_cents FROM movement x
                         WHERE x.direction = r.direction AND x.id = r.id AND NOT ${isTakenBack('x')} LIMIT 1) m ON true
    ORDER BY r.ordinal`,
)

const selectTariffs = statement<[references: readonly string[]], NamedTariff>(
  'statement.kept_tariffs',
  `SELECT id AS reference, end_to_end_id AS "endToEndId", value_cents AS "valueCents", occurred_at AS "occurredAt"
     FROM statement_entry
    WHERE direction = 'out' AND kind = 'TARIFF' AND id = ANY ($1)`,
)

const reopenTariffs = statement<[now: string]>(
  'statement.reopen_tariffs',
  `UPDATE statement_entry s SET settled_at = NULL, outcome = NULL, operation_id = NULL
     FROM operation o
    WHERE s.kind = 'TARIFF' AND (s.outcome = 'KEPT' OR s.id <> s.reference)
      AND s.settled_at > $1::timestamptz - interval '${REOPENED_FOR}'
      AND o.order_id = s.reference AND o.kind = 'cash_out'
      AND NOT EXISTS (SELECT FROM entry e
                       WHERE e.operation_id = o.id AND e.journal = 'tariff_deducted'
                         AND e.reference = CASE WHEN s.id = s.reference THEN '' ELSE s.id END)`,
)

const selectUnreported = statement<
  [direction: string, cents: bigint, id: string, kind: string, limit: number],
  OpenRow
>(
  'statement.unreported',
  `${openEntries(`s.reported_at IS NULL AND s.direction = $1 AND (s.value_cents, s.id, s.kind) < ($2, $3, $4)
      ORDER BY s.value_cents DESC, s.id DESC, s.kind DESC LIMIT $5`)}
    ORDER BY s.value_cents DESC, s.id DESC, s.kind DESC`,
)

const selectReported = statement<[direction: string, id: string, kind: string, limit: number], OpenRow>(
  'statement.reported_open',
  `${openEntries(`s.reported_at IS NOT NULL AND (s.direction, s.id, s.kind) > ($1, $2, $3)
      ORDER BY s.direction, s.id, s.kind LIMIT $4`)}
    ORDER BY s.direction, s.id, s.kind`,
)

const selectBooked = statement<[direction: string, id: string], { is_booked: boolean }>(
  'statement.is_booked',
  `SELECT EXISTS (
            SELECT FROM movement m
             WHERE m.direction = $1 AND m.id = $2
               -- Reversed by an operator, as the bank lacked it.
               AND NOT EXISTS (SELECT FROM operation x WHERE x.id = m.operation_id AND x.facts -> 'reversed' ? m.id)
               AND NOT EXISTS (SELECT FROM operation x
                                WHERE x.kind = 'adjustment' AND x.detail ? 'about'
                                  AND x.detail ->> 'about' = 'missing ' || m.direction || ' ' || m.id)) AS is_booked`,
)

const selectOldestUnreported = statement<[], { at: number | null }>(
  'statement.oldest_unreported',
  `SELECT min(least(occurred_at, seen_at)) AS at FROM statement_entry WHERE settled_at IS NULL AND reported_at IS NULL`,
)

const MAX_CENTS = 9_223_372_036_854_775_807n

/**
 * The movement of an entry that our books may have. Entries explained by an adjustment, or returned at once, must not
 * be booked as well.
 */
const IS_MOVEMENT = `s.kind <> 'TARIFF' AND s.outcome IS DISTINCT FROM 'KEPT'`

/**
 * The settlement account has an entry for every centavo moved at the bank. Versions are scanned without gaps, as a
 * process whose clock is ahead may have written a too young entry between older ones. Bookings before the first reading
 * are skipped. Booking time is ours: a forged event could name a time that was never read.
 */
const insertGaps = statement<
  [now: string, bookedUntil: string, bookedSince: string, limit: number],
  { checked: bigint }
>(
  'statement.gaps',
  `WITH settlement AS (
     SELECT a.id,
            coalesce(
              k.checked_version,
              (SELECT o.version FROM entry o WHERE o.account_id = a.id AND o.at < $3 ORDER BY o.version DESC LIMIT 1),
              0) AS checked
       FROM account a, statement_mark k WHERE a.code = 'settlement'
   ), young AS (
     SELECT coalesce(
              (SELECT y.version FROM entry y
                WHERE y.account_id = s.id AND y.version > s.checked AND y.at > $2 ORDER BY y.version LIMIT 1),
              ${Number.MAX_SAFE_INTEGER}) AS version
       FROM settlement s
   ), fresh AS (
     SELECT e.version, e.operation_id, e.reference, e.journal, e.at,
            CASE WHEN e.amount_cents < 0 THEN 'in' ELSE 'out' END AS direction
       FROM entry e
      -- Scalar subqueries, so that even a plan without statistics evaluates them once, not per entry.
      WHERE e.account_id = (SELECT id FROM settlement) AND e.version > (SELECT checked FROM settlement)
        AND e.version < (SELECT version FROM young)
      ORDER BY e.version LIMIT $4
   ), checked AS (
     UPDATE statement_mark SET checked_version = (SELECT max(version) FROM fresh) WHERE EXISTS (SELECT FROM fresh)
   ), missed AS (
     INSERT INTO statement_gap (direction, id, operation_id, value_cents, booked_at, missed_at)
     SELECT m.direction, m.id, m.operation_id, m.value_cents, f.at, $1
       FROM fresh f
       JOIN movement m ON m.direction = f.direction AND m.id = f.reference AND m.operation_id = f.operation_id
      WHERE f.at >= $3
        -- A return under an id of our own making is not in the statement; it has a case. Credits were named by the bank,
        -- or by a forged event.
        AND (m.id NOT LIKE 'unnamed %' OR f.journal IN ('cash_in_paid', 'cash_out_returned'))
        AND NOT EXISTS (SELECT FROM statement_entry s WHERE s.direction = m.direction AND s.id = m.id AND ${IS_MOVEMENT})
     ON CONFLICT DO NOTHING
   )
   SELECT count(*) AS checked FROM fresh`,
)

/** A case that was opened after its gap was filled, by a process that stood still, closes too. */
const fillGaps = statement<[now: string]>(
  'statement.fill_gaps',
  `WITH filled AS (
     UPDATE statement_gap g SET filled_at = $1
      WHERE g.filled_at IS NULL
        AND EXISTS (SELECT FROM statement_entry s
                     WHERE s.direction = g.direction AND s.id = g.id AND ${IS_MOVEMENT})
     RETURNING g.direction || ' ' || g.id AS reference
   )
   UPDATE "case" c SET closed_at = $1
    WHERE c.kind = '${MISSING}' AND c.operation_id IS NULL AND c.closed_at IS NULL
      AND (c.reference IN (SELECT reference FROM filled)
           OR EXISTS (SELECT FROM statement_gap g
                       WHERE g.direction = split_part(c.reference, ' ', 1)
                         AND g.id = substr(c.reference, strpos(c.reference, ' ') + 1) AND g.filled_at IS NOT NULL))`,
)

const selectGaps = statement<
  [now: string, received: number, returned: number, sent: number, givenBack: number, limit: number],
  Gap
>(
  'statement.gaps_to_report',
  `SELECT direction, id, operation_id AS "operationId", value_cents AS "valueCents", missed_at AS "missedAt"
     FROM (SELECT *, row_number() OVER (PARTITION BY direction ORDER BY value_cents DESC, id) AS place
             FROM statement_gap o
            WHERE filled_at IS NULL AND reported_at IS NULL AND missed_at < $1::timestamptz
              -- Ids of payments begin with E, ids of returns with D.
              AND booked_at <= $1::timestamptz - interval '1 ms'
                * CASE WHEN direction = 'in' AND o.id NOT LIKE 'D%' THEN $2::float8 WHEN direction = 'in' THEN $3::float8
                       WHEN o.id NOT LIKE 'D%' THEN $4::float8 ELSE $5::float8 END) g
    WHERE place <= $6 ORDER BY direction, place`,
)

/** Reread after an eighth of the age: with every reading at first, every three hours after a day. */
const toReread = statement<[now: string, limit: number], LackingMovement>(
  'statement.to_reread',
  `UPDATE statement_gap g SET reread_at = $1
     FROM (SELECT l.direction, l.id, o.created_at, (o.facts ->> 'paidAt')::float8 AS paid_ms
             FROM statement_gap l JOIN operation o ON o.id = l.operation_id
            WHERE l.filled_at IS NULL
              AND (l.reread_at IS NULL OR $1::timestamptz - l.reread_at >= ($1::timestamptz - l.booked_at) / 8)
              AND NOT EXISTS (SELECT FROM "case" c
                               WHERE c.operation_id IS NULL AND c.kind = '${MISSING}' AND c.closed_at IS NOT NULL
                                 AND c.reference = l.direction || ' ' || l.id)
            ORDER BY l.reread_at NULLS FIRST LIMIT $2) due
    WHERE g.direction = due.direction AND g.id = due.id
   RETURNING coalesce(to_timestamp(due.paid_ms / 1000), due.created_at) AS "orderedAt", g.booked_at AS "bookedAt"`,
)

const noteGapsReported = statement<[directions: readonly string[], ids: readonly string[], now: string]>(
  'statement.gaps_reported',
  `UPDATE statement_gap g SET reported_at = $3 FROM unnest($1::text[], $2::text[]) AS r (direction, id)
    WHERE g.direction = r.direction AND g.id = r.id`,
)

/** Movements checked per statement and per reading: more than arrive in a minute. */
const GAPS_BATCH = 5_000
const GAPS_MAX = 100_000

/** Reports of the bank are only inserted; outcomes are stored beside them. */
export type StatementStore = ReturnType<typeof createStatementStore>

export function createStatementStore(database: Database) {
  return { ...markOf(database), ...entriesOf(database), ...markingOf(database), ...gapsOf(database) }
}

function markOf(database: Database) {
  return {
    /** Takes the lease if a reading is due and the lease is free. */
    claim: async (leaseId: string, nowMs: number, until: number): Promise<Mark | undefined> =>
      (await database.rows(claim, [leaseId, instantParameter(nowMs), instantParameter(until)]))[0],
    /** Extends the lease. @returns whether it is still ours */
    extend: async (leaseId: string, until: number): Promise<boolean> =>
      (await database.rows(extend, [leaseId, instantParameter(until)])).length > 0,
    giveUp: async (leaseId: string, dueAt: number): Promise<void> => {
      await database.rows(giveUp, [leaseId, instantParameter(dueAt)])
    },
    readFrom: async (leaseId: string, from: number): Promise<void> => {
      await database.rows(readFrom, [leaseId, instantParameter(from)])
    },
    /** Ends a complete reading. @returns whether the lease was still ours; otherwise nothing changed */
    finish: async (
      leaseId: string,
      { matchedUntil, readAt, dueAt, stampOffsetMs }: FinishedReading,
    ): Promise<boolean> => {
      const instants = [matchedUntil, readAt, dueAt].map(instantParameter) as [string, string, string]
      return (await database.rows(finish, [leaseId, ...instants, stampOffsetMs ?? null])).length > 0
    },
    /** Creation of our first operation; `null`: none. */
    oldestOperationAt: async (): Promise<number | null> =>
      (await database.rows(selectOldest, []))[0]?.created_at ?? null,
  }
}

function entriesOf(database: Database) {
  return {
    /**
     * Stores the entries of a page.
     * @returns those stored with other values before, with these values
     */
    keep: async (entries: readonly StatementEntry[], nowMs: number): Promise<Restated[]> => {
      if (entries.length === 0) return []
      await database.rows(insertEntries, [...entryParameters(entries), instantParameter(nowMs)])
      const rows = await database.rows(selectRestated, entryParameters(entries))
      return rows.flatMap(({ ordinal, bookedOn, bookedCents, ...before }) => {
        const entry = entries[Number(ordinal) - 1]
        const booked =
          bookedOn === null || bookedCents === null ? undefined : { operationId: bookedOn, valueCents: bookedCents }
        return entry ? [{ entry, before, booked }] : []
      })
    },
    /** Tariffs stored under the references of these. */
    keptTariffs: async (entries: readonly StatementEntry[]): Promise<NamedTariff[]> => {
      const references = entries.flatMap(({ kind, reference }) => (kind === 'TARIFF' ? [reference] : []))
      return references.length === 0 ? [] : database.rows(selectTariffs, [references])
    },
    /** Reopens tariffs of the last day that name a payout of ours after all. @source rules#statement.4 */
    reopenTariffs: async (nowMs: number): Promise<void> => {
      await database.rows(reopenTariffs, [instantParameter(nowMs)])
    },
    /** Unsettled entries without a case in a direction, largest first, after the given one. */
    unreported: async (
      direction: StatementEntry['direction'],
      after: OpenEntry | undefined,
      limit: number,
    ): Promise<OpenEntry[]> => {
      const { valueCents = MAX_CENTS, movementId = '', kind = '' } = after ?? {}
      return (await database.rows(selectUnreported, [direction, valueCents, movementId, kind, limit])).map(openEntryOf)
    },
    /** Unsettled entries with a case in a fixed order, after the given one. */
    reported: async (after: EntryKey | undefined, limit: number): Promise<OpenEntry[]> => {
      const { direction = '', movementId = '', kind = '' } = after ?? {}
      return (await database.rows(selectReported, [direction, movementId, kind, limit])).map(openEntryOf)
    },
    isBooked: async ({ direction, movementId }: Pick<StatementEntry, 'direction' | 'movementId'>): Promise<boolean> =>
      (await database.rows(selectBooked, [direction, movementId]))[0]?.is_booked === true,
    /** Earlier of booking and first sighting of the oldest unsettled entry without a case; `null`: none. */
    oldestUnreportedAt: async (): Promise<number | null> =>
      (await database.rows(selectOldestUnreported, []))[0]?.at ?? null,
  }
}

function gapsOf(database: Database) {
  return {
    /**
     * Records movements that our books had by `bookedUntil` and the statement lacks. Each is checked once; missing ones
     * become gaps.
     * @param bookedSince earlier bookings are skipped, as their part of the statement was never read
     */
    noteGaps: async (nowMs: number, bookedUntil: number, bookedSince: number): Promise<void> => {
      const instants = [nowMs, bookedUntil, bookedSince].map(instantParameter) as [string, string, string]
      for (let looked = 0; looked < GAPS_MAX; looked += GAPS_BATCH) {
        const [row] = await database.rows(insertGaps, [...instants, GAPS_BATCH])
        if (Number(row?.checked ?? 0) < GAPS_BATCH) return
      }
    },
    /**
     * Missing movements due for rereading, after an eighth of their age, until their case is closed. Records the
     * rereading.
     */
    toReread: (nowMs: number, limit: number): Promise<LackingMovement[]> =>
      database.rows(toReread, [instantParameter(nowMs), limit]),
    /** Closes gaps, and their cases, that the statement has filled. */
    fillGaps: async (nowMs: number): Promise<void> => {
      await database.rows(fillGaps, [instantParameter(nowMs)])
    },
    /** Gaps recorded by an earlier reading and older than the statement's delay: the largest per direction. */
    gapsToReport: (nowMs: number, within: StatementDelay, limit: number): Promise<Gap[]> => {
      const { PAYMENT_RECEIVED: received, PAYOUT_RETURNED: returned, PAYOUT_SENT: sent } = within
      const givenBack = Math.max(within.REFUND_SENT, within.PAYMENT_TAKEN_BACK)
      return database.rows(selectGaps, [instantParameter(nowMs), received, returned, sent, givenBack, limit])
    },
    noteGapsReported: async (gaps: readonly Gap[], nowMs: number): Promise<void> => {
      if (gaps.length === 0) return
      const [directions, ids] = [gaps.map(({ direction }) => direction), gaps.map(({ id }) => id)]
      await database.rows(noteGapsReported, [directions, ids, instantParameter(nowMs)])
    },
  }
}
