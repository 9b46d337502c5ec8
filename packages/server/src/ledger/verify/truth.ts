import {
  adjustment,
  type CashOutStatus,
  cashIn,
  cashOut,
  confirmedReturnWords,
  confirmedWords,
  type EventType,
  type JournalKind,
  type JournalTemplate,
  journals,
  type Machine,
  partnerEvents,
  type RefundInStatus,
  type Row,
  refundIn,
  type Terms,
  type Variable,
} from '@pixgate/spec'
import type { Check } from './checks.ts'

/**
 * Compares the books with the bank's reports: money in events, the statement and stored answers must be booked or in a
 * case.
 */

function quoted(words: Iterable<string>): string {
  return [...words].map((word) => `'${word}'`).join(', ')
}

/** An event of our own protocol. */
const IS_OURS = `e.dedupe_key NOT LIKE '%"unreadable%' AND i.endpoint IN (${quoted(Object.keys(partnerEvents))})`

/** Parsed body. CASE, as SQL does not order conditions, and other bodies must not be parsed. */
const REPORTED_BY_EVENT = `CASE WHEN ${IS_OURS} THEN json_or_null(i.body) END`

const EVENTS = `inbox_event e JOIN inbox i ON i.id = e.inbox_id WHERE e.processed_at IS NOT NULL AND i.is_proven`

/**
 * Each query returns `(source, source_id, operation_id, direction, id, value_cents, returned_payment,
 * is_counted_elsewhere, case_reference)`. Incomplete facts have no id or amount; an event without a time only triggers
 * a query.
 */
const BY_EVENTS = `
  SELECT 'event' AS source, i.id::text AS source_id, i.operation_id,
         CASE WHEN i.reported ->> 'event' IN ('CashIn', 'CashOutReversal') THEN 'in' ELSE 'out' END AS direction,
         i.reported ->> CASE WHEN i.reported ->> 'event' LIKE '%Reversal' THEN 'returnId' ELSE 'endToEndId' END AS id,
         CASE WHEN jsonb_typeof(i.reported -> 'valueCents') = 'number' THEN (i.reported ->> 'valueCents')::numeric END AS value_cents,
         -- A return names its payment; some banks name the return itself.
         CASE WHEN i.reported ->> 'event' LIKE '%Reversal' AND i.reported ->> 'endToEndId' LIKE 'E%' THEN i.reported ->> 'endToEndId' END
           AS returned_payment,
         i.reported ->> 'event' = 'CashInReversal' AS is_counted_elsewhere,
         i.case_reference
    FROM (SELECT e.inbox_id AS id, e.operation_id, encode(e.content_hash, 'hex') AS case_reference,
                 ${REPORTED_BY_EVENT} AS reported
            FROM ${EVENTS}) i
   WHERE i.reported ->> 'occurredAt' IS NOT NULL
     AND (i.reported ->> 'status' IN (${quoted(confirmedWords)})
          OR i.reported ->> 'status' IN (${quoted(confirmedReturnWords)}) AND i.reported ->> 'event' LIKE '%Reversal')`

/**
 * Allows half an hour for matching. Returns by the bank are counted on their own refund; adjustments book what they
 * explain.
 */
const BY_STATEMENT = `
  SELECT 'statement', kind || ' ' || id, operation_id, direction, id, value_cents::numeric, NULL,
         kind = 'PAYMENT_TAKEN_BACK', kind || ' ' || id
    FROM statement_entry
   WHERE kind <> 'TARIFF' AND outcome IS DISTINCT FROM 'KEPT' AND (settled_at IS NOT NULL OR seen_at < transaction_timestamp() - interval '30 minutes')`

/** Facts of operations from any source. A `booked` return of a charge is counted on a refund. */
const BY_OPERATIONS = `
  SELECT 'operation', o.kind || ' ' || o.id, o.id, f.direction, reported.key,
         CASE jsonb_typeof(reported.value) WHEN 'number' THEN reported.value #>> '{}' ELSE reported.value ->> 'cents' END::numeric, NULL,
         coalesce(reported.value ->> 'state' = 'booked' OR reported.value ? 'refundId', false), reported.key
    FROM (VALUES ('cash_in', 'payments', 'in'), ('cash_in', 'returns', 'out'), ('cash_out', 'movements', 'out'),
                 ('cash_out', 'returns', 'in'), ('cash_out', 'suspendedReturns', 'in'), ('refund_in', 'returns', 'out'),
                 ('adjustment', 'returns', 'out'))
         AS f (kind, name, direction)
    JOIN operation o ON o.kind = f.kind AND jsonb_typeof(o.facts -> f.name) = 'object'
   CROSS JOIN LATERAL jsonb_each(o.facts -> f.name) AS reported
   WHERE jsonb_typeof(reported.value) = 'number'
      OR reported.value ->> 'state' IN ('booked', 'in_suspense', 'from_suspense', 'decided')`

const REPORTED = `
      WITH reported AS (
        SELECT * FROM (${BY_EVENTS} UNION ALL ${BY_STATEMENT} UNION ALL ${BY_OPERATIONS}) facts
         WHERE id IS NOT NULL AND value_cents IS NOT NULL
      )`

/**
 * A case about the fact, or an open case of its operation, exists, or the fact is being verified. Evaluated for the few
 * unbooked facts only: for all it would take hours.
 * @param narrowed additional condition on the operation's case
 */
function explained(narrowed = ''): string {
  return `(
         EXISTS (SELECT FROM "case" c WHERE c.reference IN (t.id, t.case_reference))
         OR EXISTS (SELECT FROM "case" c WHERE c.operation_id = t.operation_id AND c.closed_at IS NULL${narrowed})
         OR EXISTS (SELECT FROM operation o
                     WHERE o.id = t.operation_id AND (o.facts -> 'toldPayments' ? t.id
                             OR o.facts -> 'returns' -> t.id ->> 'state' IN ('in_doubt', 'alias'))))`
}

const MOVEMENT_JOURNALS = Object.entries<JournalTemplate>(journals)
  .filter(([, { movement }]) => movement !== undefined)
  .map(([journal, { movement }]) => `('${journal}', '${movement}')`)
  .join(', ')

/** Invariants between the books and the bank's reports. @source rules#ledger.verify.5 */
export const truthChecks: readonly Check[] = [
  {
    name: 'events-readable',
    meaning: 'Every applied event is readable in the database, so that its money is checked.',
    sql: `SELECT concat_ws(' ', 'event', i.id, 'of', e.operation_id) AS what FROM ${EVENTS} AND ${IS_OURS} AND ${REPORTED_BY_EVENT} IS NULL`,
  },
  {
    name: 'money-reported',
    meaning: 'Money reported by the bank is booked with its amount, or in a case.',
    sql: `${REPORTED}, unbooked AS MATERIALIZED (
        SELECT t.*, coalesce(m.value_cents, 0) AS booked_cents
          FROM reported t LEFT JOIN movement m ON m.direction = t.direction AND m.id = t.id
         WHERE m.value_cents::numeric IS DISTINCT FROM t.value_cents
      )
      SELECT concat_ws(' ', source, source_id, 'reports', value_cents, direction, id, 'and the books have', booked_cents)
               AS what
        FROM unbooked t
       WHERE NOT ${explained()}
         -- Events beyond the stored ones only trigger a query, whose answer is booked.
         AND NOT (t.source = 'event' AND t.booked_cents = 0
                  AND EXISTS (SELECT FROM "case" c
                               WHERE c.operation_id = t.operation_id AND c.kind = 'payment_unconfirmed'))`,
  },
  {
    name: 'money-owners',
    meaning: 'Money is booked on the operation that the bank names, or a case explains why not.',
    sql: `${REPORTED}, elsewhere AS MATERIALIZED (
        SELECT t.*, m.operation_id AS booked_on
          FROM reported t
          JOIN movement m ON m.direction = t.direction AND m.id = t.id
          JOIN operation o ON o.id = m.operation_id
         WHERE NOT t.is_counted_elsewhere AND m.operation_id <> t.operation_id
            -- A return that names none of our payments proves nothing; the bank was queried.
            -- Looked up by key, for returns that name a payment only: comparing all with every movement took 57 s for 30,000.
            OR t.returned_payment IS NOT NULL AND t.returned_payment <> o.end_to_end_id
               AND EXISTS (SELECT FROM movement p
                            WHERE p.direction IN ('in', 'out') AND p.id = t.returned_payment AND p.operation_id <> m.operation_id)
      )
      SELECT concat_ws(' ', source, source_id, 'reports', direction, id, 'of', operation_id, returned_payment,
                       'and it is booked on', booked_on) AS what
        -- A case about the payment does not explain where its return was booked.
        FROM elsewhere t WHERE NOT ${explained(' AND c.reference IS DISTINCT FROM t.returned_payment')}`,
  },
  {
    name: 'movements',
    meaning: 'Every booking of a bank movement is a movement of its operation, and every movement is booked once.',
    sql: `
      WITH booked AS (
        -- A second booking on the same operation doubles the amount.
        SELECT j.direction, e.reference AS id, e.operation_id, sum(abs(e.amount_cents)) AS value_cents
          FROM entry e
          JOIN (VALUES ${MOVEMENT_JOURNALS}) AS j (journal, direction) ON j.journal = e.journal
         WHERE e.account_id = (SELECT id FROM account WHERE code = 'settlement')
         GROUP BY j.direction, e.reference, e.operation_id
      )
      SELECT concat_ws(' ', coalesce(b.direction, m.direction), coalesce(b.id, m.id), 'on',
                       coalesce(b.operation_id, m.operation_id)) AS what
        FROM booked b
        FULL JOIN movement m ON m.direction = b.direction AND m.id = b.id AND m.operation_id = b.operation_id
       WHERE b.value_cents IS DISTINCT FROM m.value_cents`,
  },
  {
    name: 'tariffs',
    meaning: 'Every tariff on the bank’s statement that was matched to a payout is booked with its amount.',
    sql: `
      SELECT concat_ws(' ', 'tariff', s.id, 'of', s.value_cents, 'and the books have', coalesce(e.cents, 0)) AS what
        FROM statement_entry s
        LEFT JOIN (SELECT operation_id, reference, -sum(amount_cents) AS cents FROM entry
                    WHERE journal = 'tariff_deducted' AND account_id = (SELECT id FROM account WHERE code = 'partner_fees')
                    GROUP BY operation_id, reference) e
               ON e.operation_id = s.operation_id AND e.reference = CASE WHEN s.id = s.reference THEN '' ELSE s.id END
       WHERE s.kind = 'TARIFF' AND s.outcome = 'MATCHED' AND e.cents IS DISTINCT FROM s.value_cents`,
  },
  {
    name: 'suspense',
    meaning: 'Every centavo in suspense has an open case of its operation; refunds to payers reduce that suspense.',
    sql: `
      SELECT concat_ws(' ', s.code, s.total, 'of', s.operation_id) AS what
        FROM (SELECT a.code, CASE a.code WHEN 'suspense_in' THEN coalesce((o.detail ->> 'from')::uuid, o.id) ELSE o.id END
                       AS operation_id, sum(e.amount_cents) AS total
                FROM entry e
                JOIN account a ON a.id = e.account_id AND a.code IN ('suspense_in', 'suspense_out')
                JOIN operation o ON o.id = e.operation_id
               GROUP BY 1, 2) s
       WHERE s.total <> 0
         AND NOT EXISTS (SELECT FROM "case" c WHERE c.operation_id = s.operation_id AND c.closed_at IS NULL)`,
  },
  {
    name: 'suspense-amounts',
    meaning:
      'The suspense of a charge, or of an adjustment that holds a payment, is the part of its payments that was not credited, decided or returned.',
    sql: `
      WITH booked AS (
        SELECT coalesce((o.detail ->> 'from')::uuid, o.id) AS id, sum(e.amount_cents) AS cents
          FROM entry e JOIN operation o ON o.id = e.operation_id
         WHERE e.account_id = (SELECT id FROM account WHERE code = 'suspense_in') GROUP BY 1
      ), known AS (
        SELECT o.id, (SELECT sum(p.value::bigint - coalesce((o.facts -> 'decidedPayments' ->> p.key)::bigint, 0)
                                 - coalesce((o.facts -> 'reversed' ->> p.key)::bigint, 0)
                                 - CASE WHEN p.key = o.end_to_end_id AND NOT coalesce(o.facts -> 'reversed' ? p.key, false)
                                        THEN coalesce((o.facts ->> 'acceptedCents')::bigint, o.value_cents) ELSE 0 END)
                        FROM jsonb_each_text(o.facts -> 'payments') p)
                     - coalesce((SELECT sum((CASE r.value ->> 'state' WHEN 'from_suspense' THEN r.value ->> 'cents'
                                                                      ELSE r.value ->> 'suspendedCents' END)::bigint)
                                   FROM jsonb_each(coalesce(o.facts -> 'returns', '{}')) r), 0) AS cents
          FROM operation o WHERE o.kind = 'cash_in' AND jsonb_typeof(o.facts -> 'payments') = 'object'
        UNION ALL
        SELECT o.id, CASE WHEN o.status IN ('HELD', 'SUSPENDED')
                          THEN o.value_cents - coalesce((SELECT sum((r.value ->> 'cents')::bigint)
                                                           FROM jsonb_each(o.facts -> 'returns') r), 0)
                          ELSE 0 END
          FROM operation o WHERE o.kind = 'adjustment' AND o.detail ? 'movementId'
      )
      SELECT concat_ws(' ', id, 'has', coalesce(b.cents, 0), 'in suspense, and its payments left', coalesce(k.cents, 0)) AS what
        FROM known k LEFT JOIN booked b USING (id)
       WHERE coalesce(b.cents, 0) <> coalesce(k.cents, 0)`,
  },
  {
    name: 'idempotency-keys',
    meaning: 'No Idempotency-Key created two operations within 24 hours.',
    sql: `
      SELECT concat_ws(' ', kind, id, 'within 24 hours of', before) AS what
        FROM (SELECT kind, id, created_at, lag(id) OVER w AS before, lag(created_at) OVER w AS before_at
                FROM operation WHERE idempotency_key IS NOT NULL
              WINDOW w AS (PARTITION BY idempotency_key ORDER BY created_at, id)) o
       WHERE created_at - before_at < interval '24 hours'`,
  },
  {
    name: 'payout-switch',
    meaning: 'The kill switch has the value of its last entry in the audit trail.',
    sql: `
      SELECT concat_ws(' ', 'payouts are', c.value ->> 'enabled', 'and the last order says', a.facts ->> 'enabled') AS what
        FROM control c
        JOIN (SELECT facts FROM audit WHERE action = 'cash_out_switch.set' ORDER BY at DESC, id DESC LIMIT 1) a ON true
       WHERE c.name = 'cash_out_switch' AND c.value ->> 'enabled' <> a.facts ->> 'enabled'`,
  },
]

/** Invariants derived from the spec's tables, as `VALUES` lists for SQL. */

type MachineRow = Row<string, string, string, string>

const machines: readonly Machine[] = [cashIn, cashOut, refundIn, adjustment]

/** Rows that differ in guards only, which moves do not record. `''`: not existing yet. */
interface MoveKey {
  readonly kind: string
  readonly from: string
  readonly trigger: string
  readonly to: string
  readonly rows: readonly MachineRow[]
}

const moveKeys: readonly MoveKey[] = machines.flatMap(({ resource, rows }) => {
  const keys = new Map<string, { from: string; trigger: string; to: string; rows: MachineRow[] }>()
  for (const row of rows) {
    // The first move of every operation is `create`.
    const [from, trigger] = row.from === null ? ['', 'create'] : [row.from, row.on]
    const name = `${from} ${trigger} ${row.to}`
    const key = keys.get(name) ?? { from, trigger, to: row.to, rows: [] }
    key.rows.push(row)
    keys.set(name, key)
  }
  return [...keys.values()].map((key) => ({ kind: resource, ...key }))
})

/** `(kind, from_status, trigger, to_status)` of every row. */
export const moves = values(moveKeys.map(({ kind, from, trigger, to }) => [kind, from, trigger, to]))

/** Joins row `t` of such a list with move `m`. */
export const isMoveOf =
  "t.kind = m.kind AND t.from_status = coalesce(m.from_status, '') AND t.trigger = m.trigger AND t.to_status = m.to_status"

/** Journals per move: `(kind, from_status, trigger, to_status, journal, least, most)`. */
export const posted = values(
  moveKeys.flatMap(({ kind, from, trigger, to, rows }) =>
    bounds(rows, ({ posts }) => posts).map((bound) => [kind, from, trigger, to, ...bound]),
  ),
)

/** Statuses notified by decisions that may leave the operation in doubt. */
const NOTIFIED: Readonly<Record<string, string>> = {
  'cash_in operator.accepted': 'PAID',
  'cash_out operator.executed': 'CONFIRMED',
  'cash_out operator.not_executed': 'FAILED',
  'cash_out operator.attributed': 'REVERSED',
}

/**
 * Notifications per move: `(kind, from_status, trigger, to_status, event_type, least, most, status)`. A release is
 * notified as `FAILED`.
 */
export const notified = values(
  moveKeys.flatMap(({ kind, from, trigger, to, rows }) =>
    bounds(rows, ({ emits }) => emits).map((bound) => [
      ...[kind, from, trigger, to, ...bound],
      NOTIFIED[`${kind} ${trigger}`] ?? (to === 'RELEASED' ? 'FAILED' : to),
    ]),
  ),
)

function bounds(
  rows: readonly MachineRow[],
  effect: (row: MachineRow) => JournalKind | EventType | undefined,
): [effect: string, minimum: number, maximum: number][] {
  const effects = new Set(rows.map(effect).filter((name) => name !== undefined))
  return [...effects].map((name) => [name, rows.every((row) => effect(row) === name) ? 1 : 0, 1])
}

/**
 * Reservation per state. `all`: the whole amount. `doubt`: all or nothing, as before the doubt. `late`: money left
 * after the release. `doubt` and `late` may hold the available part again.
 */
type Hold = 'nothing' | 'all' | 'doubt' | 'late'

const PAYOUT_HOLDS: Readonly<Record<CashOutStatus, Hold>> = {
  RESERVED: 'all',
  DISPATCHED: 'all',
  PROVIDER_RESULT_UNKNOWN: 'all',
  CONFIRMED: 'nothing',
  FAILED: 'nothing',
  RELEASED: 'nothing',
  REVERSED: 'nothing',
  RECONCILIATION_REQUIRED: 'doubt',
}

const REFUND_HOLDS: Readonly<Record<RefundInStatus, Hold>> = { PENDING: 'all', CONFIRMED: 'nothing', FAILED: 'late' }

/** Non-empty reservations: `(kind, status, hold)`. */
export const holds = values(
  Object.entries({ cash_out: PAYOUT_HOLDS, refund_in: REFUND_HOLDS }).flatMap(([kind, byStatus]) =>
    Object.entries<Hold>(byStatus)
      .filter(([, hold]) => hold !== 'nothing')
      .map(([status, hold]) => [kind, status, hold]),
  ),
)

/** Held for returns in doubt of a charge, row `o` of `operation`, centavos. */
export const heldOfReturns = `CASE WHEN o.facts ? 'returns'
             THEN (SELECT coalesce(sum((r.value ->> 'heldCents')::bigint), 0) FROM jsonb_each(o.facts -> 'returns') r)
             ELSE 0 END`

/** Every posting of every template: `(journal, posting, account, shown)`. */
export const postings = values(
  Object.entries(journals).flatMap(([journal, template]: [string, JournalTemplate]) =>
    template.postings.map((posting, index) => [
      journal,
      index,
      posting.account,
      'shown' in posting ? posting.shown : null,
    ]),
  ),
)

export const mostPostings = Math.max(...Object.values(journals).map((template) => template.postings.length))

/** Refund of money in suspense, by the columns of its operation. */
export const IS_TO_PAYER = `detail ->> 'origin' IS NOT DISTINCT FROM 'OPERATOR'`

/** Amounts fixed by the operation, as columns of `operation`. Others are derived from the journal. */
const OWN: Partial<Record<Variable, string>> = {
  v: 'value_cents',
  f: 'fee_cents',
  r: `CASE WHEN ${IS_TO_PAYER} THEN 0 ELSE value_cents END`,
  s: `CASE WHEN ${IS_TO_PAYER} THEN value_cents ELSE 0 END`,
}

/** Exceptions, in which the bank or the operator states the amount. */
const STATED: Partial<Record<JournalKind, readonly Variable[]>> = {
  left_after_release: ['v'],
  suspense_credited: ['f'],
  credit_reversed: ['v', 'f'],
  return_debited: ['s'],
  refund_left_in_suspense: ['s'],
}

/**
 * SQL condition: the amounts `a0`, `a1`, … of a journal's postings (0: absent) match its template.
 * @source rules#ledger.verify.1
 */
export const amountsAreRight = `CASE journal ${Object.entries(journals)
  .map(([journal, template]) => `WHEN ${literal(journal)} THEN ${conditionOf(journal as JournalKind, template)}`)
  .join('\n         ')} END`

function conditionOf(journal: JournalKind, { postings }: JournalTemplate): string {
  const own = (variable: Variable) => (STATED[journal]?.includes(variable) ? undefined : OWN[variable])
  const stated = [...new Set(postings.flatMap(({ amount }) => variablesOf(amount)))].filter((it) => !own(it))
  const read = new Map(stated.map((variable) => [variable, readOff(postings, variable)]))
  const sums = postings.map(({ amount }, index) => {
    const terms = variablesOf(amount).map((it) => `${amount[it] === 1 ? '+' : '-'} (${own(it) ?? read.get(it)})`)
    return `a${index} = 0 ${terms.join(' ')}`
  })
  return [...sums, ...[...read.values()].map((amount) => `${amount} >= 0`)].join(' AND ')
}

/** Every other amount stands alone in some posting of its template. */
function readOff(postings: JournalTemplate['postings'], variable: Variable): string {
  const index = postings.findIndex(({ amount }) => variablesOf(amount).join() === variable)
  const sign = postings[index]?.amount[variable]
  if (sign === undefined) throw new Error(`amount ${variable} cannot be derived from its journal`)
  return sign === 1 ? `a${index}` : `-a${index}`
}

function variablesOf(terms: Terms): Variable[] {
  return Object.keys(terms) as Variable[]
}

type Value = string | number | boolean | null

function values(rows: readonly (readonly Value[])[]): string {
  return `(VALUES ${rows.map((row) => `(${row.map(literal).join(', ')})`).join(',\n')})`
}

/** Identifiers only: nothing to escape. */
function literal(value: Value): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
