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
 * Whether the books are true, not only consistent: what the bank told of money, in events, in its statement and in answers
 * that are kept, must be found in them or in a case.
 */

function quoted(words: Iterable<string>): string {
  return [...words].map((word) => `'${word}'`).join(', ')
}

/** An event of our own protocol that was read here. */
const IS_OURS = `e.dedupe_key NOT LIKE '%"unreadable%' AND i.endpoint IN (${quoted(Object.keys(partnerEvents))})`

/** What it tells. CASE, as nobody says in which order conditions are looked at, and all else must not be parsed. */
const TOLD_BY_EVENT = `CASE WHEN ${IS_OURS} THEN json_or_null(i.body) END`

/** Events that are dealt with. */
const EVENTS = `inbox_event e JOIN inbox i ON i.id = e.inbox_id WHERE e.processed_at IS NOT NULL AND i.is_proven`

/**
 * Each of these tells `(source, source_id, operation_id, direction, id, value_cents, returned_payment,
 * is_counted_elsewhere, case_reference)`. What is no whole fact has no id or no
 * amount; an event without a time is only a reason to ask the bank.
 */
const BY_EVENTS = `
  SELECT 'event' AS source, i.id::text AS source_id, i.operation_id,
         CASE WHEN i.told ->> 'event' IN ('CashIn', 'CashOutReversal') THEN 'in' ELSE 'out' END AS direction,
         i.told ->> CASE WHEN i.told ->> 'event' LIKE '%Reversal' THEN 'returnId' ELSE 'endToEndId' END AS id,
         CASE WHEN jsonb_typeof(i.told -> 'valueCents') = 'number' THEN (i.told ->> 'valueCents')::numeric END AS value_cents,
         -- A return names the payment that it is of; some banks name the return itself.
         CASE WHEN i.told ->> 'event' LIKE '%Reversal' AND i.told ->> 'endToEndId' LIKE 'E%' THEN i.told ->> 'endToEndId' END
           AS returned_payment,
         i.told ->> 'event' = 'CashInReversal' AS is_counted_elsewhere,
         i.case_reference
    FROM (SELECT e.inbox_id AS id, e.operation_id, encode(e.content_hash, 'hex') AS case_reference,
                 ${TOLD_BY_EVENT} AS told
            FROM ${EVENTS}) i
   WHERE i.told ->> 'occurredAt' IS NOT NULL
     AND (i.told ->> 'status' IN (${quoted(confirmedWords)})
          OR i.told ->> 'status' IN (${quoted(confirmedReturnWords)}) AND i.told ->> 'event' LIKE '%Reversal')`

/**
 * Matching is given half an hour. What the bank takes back is counted by a refund of its own, and what an adjustment explains
 * was booked by that.
 */
const BY_STATEMENT = `
  SELECT 'statement', kind || ' ' || id, operation_id, direction, id, value_cents::numeric, NULL,
         kind = 'PAYMENT_TAKEN_BACK', kind || ' ' || id
    FROM statement_entry
   WHERE kind <> 'TARIFF' AND outcome IS DISTINCT FROM 'KEPT' AND (settled_at IS NOT NULL OR seen_at < transaction_timestamp() - interval '30 minutes')`

/** What operations learned, whoever told it. A return of a charge that is `booked` is a refund's. */
const BY_OPERATIONS = `
  SELECT 'operation', o.kind || ' ' || o.id, o.id, f.direction, told.key,
         CASE jsonb_typeof(told.value) WHEN 'number' THEN told.value #>> '{}' ELSE told.value ->> 'cents' END::numeric, NULL,
         coalesce(told.value ->> 'state' = 'booked' OR told.value ? 'refundId', false), told.key
    FROM (VALUES ('cash_in', 'payments', 'in'), ('cash_in', 'returns', 'out'), ('cash_out', 'movements', 'out'),
                 ('cash_out', 'returns', 'in'), ('cash_out', 'suspendedReturns', 'in'), ('refund_in', 'returns', 'out'),
                 ('adjustment', 'returns', 'out'))
         AS f (kind, name, direction)
    JOIN operation o ON o.kind = f.kind AND jsonb_typeof(o.facts -> f.name) = 'object'
   CROSS JOIN LATERAL jsonb_each(o.facts -> f.name) AS told
   WHERE jsonb_typeof(told.value) = 'number'
      OR told.value ->> 'state' IN ('booked', 'in_suspense', 'from_suspense', 'decided')`

const TOLD = `
      WITH told AS (
        SELECT * FROM (${BY_EVENTS} UNION ALL ${BY_STATEMENT} UNION ALL ${BY_OPERATIONS}) facts
         WHERE id IS NOT NULL AND value_cents IS NOT NULL
      )`

/**
 * A case is about this very fact, or is open about its operation; or the fact is about to be known. Asked of the few that
 * need it: of all that was told it would take hours.
 * @param narrowed what else must hold of a case about the operation
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

/**
 * What must hold between the books and what the bank told.
 * @source rules#ledger.verify.5
 */
export const truthChecks: readonly Check[] = [
  {
    name: 'events-readable',
    meaning: 'Every event that was applied can be read in the database, so that what it tells of money is looked at.',
    sql: `SELECT concat_ws(' ', 'event', i.id, 'of', e.operation_id) AS what FROM ${EVENTS} AND ${IS_OURS} AND ${TOLD_BY_EVENT} IS NULL`,
  },
  {
    name: 'money-reported',
    meaning: 'What the bank reported of money is in the books with its amount, or in a case.',
    sql: `${TOLD}, unbooked AS MATERIALIZED (
        SELECT t.*, coalesce(m.value_cents, 0) AS booked_cents
          FROM told t LEFT JOIN movement m ON m.direction = t.direction AND m.id = t.id
         WHERE m.value_cents::numeric IS DISTINCT FROM t.value_cents
      )
      SELECT concat_ws(' ', source, source_id, 'tells', value_cents, direction, id, 'and the books have', booked_cents)
               AS what
        FROM unbooked t
       WHERE NOT ${explained()}
         -- What events told beyond what is kept: the bank was asked, and whatever it has is booked by its own word.
         AND NOT (t.source = 'event' AND t.booked_cents = 0
                  AND EXISTS (SELECT FROM "case" c
                               WHERE c.operation_id = t.operation_id AND c.kind = 'payment_unconfirmed'))`,
  },
  {
    name: 'money-owners',
    meaning: 'Money is booked on the operation of which the bank told it, or a case tells why not.',
    sql: `${TOLD}, elsewhere AS MATERIALIZED (
        SELECT t.*, m.operation_id AS booked_on
          FROM told t
          JOIN movement m ON m.direction = t.direction AND m.id = t.id
          JOIN operation o ON o.id = m.operation_id
         WHERE NOT t.is_counted_elsewhere AND m.operation_id <> t.operation_id
            -- What names no payment of ours may be anything; the bank was asked.
            -- Only of what names one, and by the key: each of all that was told was held against every movement, 57 s of 30,000.
            OR t.returned_payment IS NOT NULL AND t.returned_payment <> o.end_to_end_id
               AND EXISTS (SELECT FROM movement p
                            WHERE p.direction IN ('in', 'out') AND p.id = t.returned_payment AND p.operation_id <> m.operation_id)
      )
      SELECT concat_ws(' ', source, source_id, 'tells', direction, id, 'of', operation_id, returned_payment,
                       'and it is booked on', booked_on) AS what
        -- That a payment is in suspense does not explain where its return was booked.
        FROM elsewhere t WHERE NOT ${explained(' AND c.reference IS DISTINCT FROM t.returned_payment')}`,
  },
  {
    name: 'movements',
    meaning:
      'Every booking of money that moved at the bank is a movement of its operation, and every movement is booked once.',
    sql: `
      WITH booked AS (
        -- Booked twice on one operation it is twice the amount.
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
    meaning: 'Every tariff of the bank’s statement that was booked for a payout is in the books, with its amount.',
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
    meaning:
      'Every centavo in suspense has an open case of its operation; what refunds return of it to payers is taken from there.',
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
      'Of a charge, or of an adjustment that holds a payment, as much is in suspense as its payments left there: what was not credited, decided or returned.',
    sql: `
      WITH booked AS (
        SELECT coalesce((o.detail ->> 'from')::uuid, o.id) AS id, sum(e.amount_cents) AS cents
          FROM entry e JOIN operation o ON o.id = e.operation_id
         WHERE e.account_id = (SELECT id FROM account WHERE code = 'suspense_in') GROUP BY 1
      ), known AS (
        SELECT o.id, (SELECT sum(p.value::bigint - coalesce((o.facts -> 'decidedPayments' ->> p.key)::bigint, 0)
                                 - CASE WHEN p.key = o.end_to_end_id
                                        THEN coalesce((o.facts ->> 'acceptedCents')::bigint, o.value_cents) ELSE 0 END)
                        FROM jsonb_each_text(o.facts -> 'payments') p)
                     - coalesce((SELECT sum((r.value ->> 'cents')::bigint) FROM jsonb_each(coalesce(o.facts -> 'returns', '{}')) r
                                  WHERE r.value ->> 'state' = 'from_suspense'), 0) AS cents
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
    meaning: 'No Idempotency-Key made two operations within 24 hours.',
    sql: `
      SELECT concat_ws(' ', kind, id, 'within 24 hours of', before) AS what
        FROM (SELECT kind, id, created_at, lag(id) OVER w AS before, lag(created_at) OVER w AS before_at
                FROM operation WHERE idempotency_key IS NOT NULL
              WINDOW w AS (PARTITION BY idempotency_key ORDER BY created_at, id)) o
       WHERE created_at - before_at < interval '24 hours'`,
  },
  {
    name: 'payout-switch',
    meaning: 'The switch of payouts stands as the last order in the audit trail says.',
    sql: `
      SELECT concat_ws(' ', 'payouts are', c.value ->> 'enabled', 'and the last order says', a.facts ->> 'enabled') AS what
        FROM control c
        JOIN (SELECT facts FROM audit WHERE action = 'cash_out_switch.set' ORDER BY at DESC, id DESC LIMIT 1) a ON true
       WHERE c.name = 'cash_out_switch' AND c.value ->> 'enabled' <> a.facts ->> 'enabled'`,
  },
]

/**
 * What must be in the books, derived from the rules as tables that SQL can join: every one is a `VALUES` list.
 */

type MachineRow = Row<string, string, string, string>

const machines: readonly Machine[] = [cashIn, cashOut, refundIn, adjustment]

/** Rows that a move cannot tell apart: they differ only in their condition. `''` stands for «not there yet». */
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
    // The first move of an operation is called `create`, whatever made it.
    const [from, trigger] = row.from === null ? ['', 'create'] : [row.from, row.on]
    const name = `${from} ${trigger} ${row.to}`
    const key = keys.get(name) ?? { from, trigger, to: row.to, rows: [] }
    key.rows.push(row)
    keys.set(name, key)
  }
  return [...keys.values()].map((key) => ({ kind: resource, ...key }))
})

/** Every move that a table has: `(kind, from_status, trigger, to_status)`. */
export const moves = values(moveKeys.map(({ kind, from, trigger, to }) => [kind, from, trigger, to]))

/** That the row `t` of such a list is about the move `m`. */
export const isMoveOf =
  "t.kind = m.kind AND t.from_status = coalesce(m.from_status, '') AND t.trigger = m.trigger AND t.to_status = m.to_status"

/** How many journals of a kind a move posts: `(kind, from_status, trigger, to_status, journal, least, most)`. */
export const posted = values(
  moveKeys.flatMap(({ kind, from, trigger, to, rows }) =>
    bounds(rows, ({ posts }) => posts).map((bound) => [kind, from, trigger, to, ...bound]),
  ),
)

/** What a decision notifies of that may leave the operation in doubt. */
const NOTIFIED: Readonly<Record<string, string>> = {
  'cash_in operator.accepted': 'PAID',
  'cash_out operator.executed': 'CONFIRMED',
  'cash_out operator.not_executed': 'FAILED',
  'cash_out operator.attributed': 'REVERSED',
}

/**
 * How many notifications a move makes: `(kind, from_status, trigger, to_status, event_type, least, most, status)`. A
 * release is told as a failure.
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
 * What a state sets aside. `all`: the whole amount. `doubt`: all or nothing, as it was when the doubt arose. Of money that
 * left `late`, after its hold had been given back, what there was of it is held again: `doubt` and `late` may hold that.
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

/** What is set aside where it is not nothing: `(kind, status, hold)`. */
export const holds = values(
  Object.entries({ cash_out: PAYOUT_HOLDS, refund_in: REFUND_HOLDS }).flatMap(([kind, byStatus]) =>
    Object.entries<Hold>(byStatus)
      .filter(([, hold]) => hold !== 'nothing')
      .map(([status, hold]) => [kind, status, hold]),
  ),
)

/** Held of the returns in doubt of a charge, a row `o` of `operation`, centavos. */
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

/** The most postings that a template has. */
export const mostPostings = Math.max(...Object.values(journals).map((template) => template.postings.length))

/** That an operation, by its columns, is a refund of money in suspense. */
export const IS_TO_PAYER = `detail ->> 'origin' IS NOT DISTINCT FROM 'OPERATOR'`

/** Amounts that the operation itself fixes, as columns of `operation`. The others are read off the journal. */
const OWN: Partial<Record<Variable, string>> = {
  v: 'value_cents',
  f: 'fee_cents',
  r: `CASE WHEN ${IS_TO_PAYER} THEN 0 ELSE value_cents END`,
  s: `CASE WHEN ${IS_TO_PAYER} THEN value_cents ELSE 0 END`,
}

/** Where the amount is the partner's word or the operator's all the same. */
const STATED: Partial<Record<JournalKind, readonly Variable[]>> = {
  left_after_release: ['v'],
  suspense_credited: ['f'],
  credit_reversed: ['v', 'f'],
  return_debited: ['r'],
  refund_left_in_suspense: ['s'],
}

/**
 * Whether the amounts `a0`, `a1`, … of a journal's postings (0: not written) are those of its template, as an SQL
 * condition on them and on the columns of `operation`.
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

/** Every amount that is not the operation's own stands alone in some posting of each template. */
function readOff(postings: JournalTemplate['postings'], variable: Variable): string {
  const index = postings.findIndex(({ amount }) => variablesOf(amount).join() === variable)
  const sign = postings[index]?.amount[variable]
  if (sign === undefined) throw new Error(`the amount ${variable} cannot be read off its journal`)
  return sign === 1 ? `a${index}` : `-a${index}`
}

function variablesOf(terms: Terms): Variable[] {
  return Object.keys(terms) as Variable[]
}

type Value = string | number | boolean | null

function values(rows: readonly (readonly Value[])[]): string {
  return `(VALUES ${rows.map((row) => `(${row.map(literal).join(', ')})`).join(',\n')})`
}

/** The rules' own words are identifiers: there is nothing to escape. */
function literal(value: Value): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
