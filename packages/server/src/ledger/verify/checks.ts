import { accounts } from '@pixgate/spec'
import {
  amountsAreRight,
  heldOfReturns,
  holds,
  IS_TO_PAYER,
  isMoveOf,
  mostPostings,
  moves,
  notified,
  posted,
  postings,
  truthChecks,
} from './truth.ts'

/** An invariant of the books, with the query of its violations. */
export interface Check {
  readonly name: string
  /** The invariant, in one sentence. */
  readonly meaning: string
  /** Read only. One row per fault, with the column `what`. */
  readonly sql: string
}

const partsOfOperations = [
  'move',
  'entry',
  'notification',
  '"case"',
  'inbox_event',
  'movement',
  'statement_entry',
  'statement_gap',
]

/** All invariants of the books. Those of the spec's tables are derived from them. @source rules#ledger.verify.1, rules#close.5 */
export const checks: readonly Check[] = [
  {
    name: 'journal-sums',
    meaning: 'The entries of every journal sum to zero.',
    sql: `
      SELECT concat_ws(' ', journal, reference, 'of', operation_id, 'sums to', sum(amount_cents)) AS what
        FROM entry GROUP BY operation_id, journal, reference HAVING sum(amount_cents) <> 0`,
  },
  {
    name: 'entry-postings',
    meaning: 'Every entry is a posting of its journal’s template: on its account and under its name.',
    sql: `
      SELECT concat_ws(' ', e.journal, e.reference, 'of', e.operation_id, 'posting', e.posting, 'on', a.code) AS what
        FROM entry e
        LEFT JOIN account a ON a.id = e.account_id
        LEFT JOIN ${postings} AS t (journal, posting, account, shown) ON t.journal = e.journal AND t.posting = e.posting
       WHERE t.account IS DISTINCT FROM a.code OR t.shown IS DISTINCT FROM e.shown`,
  },
  {
    name: 'journal-amounts',
    meaning: 'Every journal has exactly the postings of its template, for the values of its operation.',
    sql: `
      SELECT concat_ws(' ', journal, reference, 'of', operation_id) AS what
        FROM (SELECT operation_id, journal, reference, ${postingColumns()}
                FROM entry GROUP BY operation_id, journal, reference) j
        JOIN operation o ON o.id = j.operation_id
       WHERE NOT ${amountsAreRight}`,
  },
  {
    name: 'account-balance',
    meaning: 'An account’s balance is the sum of its entries, its version their number.',
    sql: `
      SELECT concat_ws(' ', a.code, a.balance_cents, 'but', coalesce(e.total, 0), 'version', a.version, 'but', coalesce(e.entries, 0)) AS what
        FROM account a
        LEFT JOIN (SELECT account_id, sum(amount_cents) AS total, count(*) AS entries FROM entry GROUP BY account_id) e
          ON e.account_id = a.id
       WHERE a.balance_cents <> coalesce(e.total, 0) OR a.version <> coalesce(e.entries, 0)`,
  },
  {
    name: 'account-chain',
    meaning: 'Every entry follows the previous one: the next version, and the resulting balance.',
    sql: `
      SELECT concat_ws(' ', 'account', account_id, 'version', version) AS what
        FROM (SELECT *, lag(balance_after_cents, 1, 0) OVER w AS before, lag(version, 1, 0) OVER w AS last
                FROM entry WINDOW w AS (PARTITION BY account_id ORDER BY version)) e
       WHERE balance_after_cents <> before + amount_cents OR version <> last + 1`,
  },
  {
    name: 'account-bounds',
    meaning: 'No account ever exceeded its bound, and no money is available while a debt exists.',
    sql: `
      SELECT concat_ws(' ', a.code, 'version', e.version, 'at', e.balance_after_cents) AS what
        FROM entry e JOIN account a ON a.id = e.account_id
       WHERE (a.code IN (${bounded('not negative')}) AND e.balance_after_cents < 0)
          OR (a.code IN (${bounded('not positive')}) AND e.balance_after_cents > 0)
      UNION ALL
      SELECT concat_ws(' ', av.balance_cents, 'free while', -rv.balance_cents, 'are owed')
        FROM account av, account rv
       WHERE av.code = 'available' AND rv.code = 'receivable' AND av.balance_cents > 0 AND rv.balance_cents < 0`,
  },
  {
    name: 'holds',
    meaning:
      'The reservation of every operation matches its state: the whole amount in flight, nothing after the end. A charge holds the amount stated by its unexplained returns.',
    sql: `
      SELECT concat_ws(' ', o.kind, o.id, o.status, 'holds', o.held) AS what
        FROM (SELECT o.kind, o.id, o.status, o.facts, coalesce(h.held, 0) AS held, coalesce(h.again, false) AS again,
                     CASE WHEN ${IS_TO_PAYER} THEN 0
                          ELSE o.value_cents + CASE o.kind WHEN 'cash_out' THEN o.fee_cents ELSE 0 END END AS whole
                FROM operation o
                LEFT JOIN (SELECT operation_id, sum(amount_cents) AS held, bool_or(journal = 'left_after_release') AS again
                             FROM entry WHERE account_id = (SELECT id FROM account WHERE code = 'reserved')
                            GROUP BY operation_id) h ON h.operation_id = o.id) o
        LEFT JOIN ${holds} AS s (kind, status, hold) ON s.kind = o.kind AND s.status = o.status
       WHERE CASE WHEN o.kind = 'cash_in' THEN held = ${heldOfReturns}
                  WHEN s.hold = 'all' THEN held = whole
                  WHEN again THEN held = 0 OR (held BETWEEN 0 AND whole AND s.hold IN ('doubt', 'late'))
                  WHEN s.hold = 'doubt' THEN held IN (0, whole)
                  ELSE held = 0 END IS NOT TRUE`,
  },
  {
    name: 'debts',
    meaning: 'No debt was repaid by more than its amount.',
    sql: `
      SELECT concat_ws(' ', operation_id, 'is owed', sum(amount_cents)) AS what
        FROM entry WHERE account_id = (SELECT id FROM account WHERE code = 'receivable')
       GROUP BY operation_id HAVING sum(amount_cents) > 0`,
  },
  {
    name: 'move-chain',
    meaning: 'Every move follows the previous one: the next version, from the state it reached.',
    sql: `
      SELECT concat_ws(' ', kind, operation_id, 'version', version) AS what
        FROM (SELECT *, lag(to_status) OVER w AS before, lag(version, 1, 0) OVER w AS last
                FROM move WINDOW w AS (PARTITION BY operation_id ORDER BY version)) m
       WHERE from_status IS DISTINCT FROM before OR version <> last + 1`,
  },
  {
    name: 'moves-allowed',
    meaning: 'Every move is a row of its resource’s table.',
    sql: `
      SELECT concat_ws(' ', m.kind, m.operation_id, m.trigger, 'from', coalesce(m.from_status, '(none)'), 'to', m.to_status) AS what
        FROM move m
        LEFT JOIN ${moves} AS t (kind, from_status, trigger, to_status)
          ON ${isMoveOf}
       WHERE t.kind IS NULL`,
  },
  {
    name: 'operation-state',
    meaning: 'Every operation has the state of its last move.',
    sql: `
      SELECT concat_ws(' ', o.kind, o.id, o.status, o.version, 'but', m.to_status, m.version) AS what
        FROM operation o
        LEFT JOIN (SELECT DISTINCT ON (operation_id) operation_id, kind, version, to_status
                     FROM move ORDER BY operation_id, version DESC) m ON m.operation_id = o.id
       WHERE (o.kind, o.version, o.status) IS DISTINCT FROM (m.kind, m.version, m.to_status)`,
  },
  {
    name: 'journals-explained',
    meaning: 'An operation’s journals are exactly those of its moves.',
    // Repaid debts are posted by the move of another operation.
    sql: `
      WITH expected AS (
        SELECT m.operation_id, t.journal, sum(t.least) AS least, sum(t.most) AS most
          FROM move m
          LEFT JOIN operation o ON o.id = m.operation_id
          JOIN ${posted} AS t (kind, from_status, trigger, to_status, journal, least, most)
            ON ${isMoveOf}
         -- Refunds of money in suspense reserve nothing.
         WHERE NOT (${IS_TO_PAYER} AND t.journal IN ('refund_in_reserved', 'refund_in_released'))
         GROUP BY m.operation_id, t.journal
      ), found AS (
        SELECT operation_id, journal, count(DISTINCT reference) AS number
          FROM entry WHERE journal <> 'debt_recovered' GROUP BY operation_id, journal
      )
      SELECT concat_ws(' ', operation_id, coalesce(number, 0), 'of', journal) AS what
        FROM expected FULL JOIN found USING (operation_id, journal)
       WHERE coalesce(number, 0) NOT BETWEEN coalesce(least, 0) AND coalesce(most, 0)
      UNION ALL
      -- The state of an adjustment does not determine its journal, but there is one.
      SELECT concat_ws(' ', 'adjustment', o.id, 'books nothing')
        FROM operation o
       WHERE o.kind = 'adjustment' AND NOT EXISTS (SELECT FROM entry e WHERE e.operation_id = o.id)`,
  },
  {
    name: 'notifications',
    meaning: 'Every notified end has exactly one notification, and nothing else has one.',
    sql: `
      WITH expected AS (
        SELECT m.operation_id, t.event_type, t.status, sum(t.least) AS least, sum(t.most) AS most
          FROM move m
          LEFT JOIN operation o ON o.id = m.operation_id
          JOIN ${notified} AS t (kind, from_status, trigger, to_status, event_type, least, most, status)
            ON ${isMoveOf}
         -- Payments to the bare Pix key are not notified.
         WHERE NOT (${IS_TO_PAYER} AND o.detail ->> 'cashInId' IS NULL)
         GROUP BY m.operation_id, t.event_type, t.status
      ), found AS (
        SELECT operation_id, event_type, status, count(*) AS number FROM notification GROUP BY operation_id, event_type, status
      )
      SELECT concat_ws(' ', operation_id, coalesce(number, 0), 'of', event_type, status) AS what
        FROM expected FULL JOIN found USING (operation_id, event_type, status)
       WHERE coalesce(number, 0) NOT BETWEEN coalesce(least, 0) AND coalesce(most, 0)`,
  },
  {
    name: 'doubts',
    meaning: 'Every operation in reconciliation, and every charge with a held return, has an open case.',
    sql: `
      SELECT concat_ws(' ', kind, id) AS what
        FROM operation o
       WHERE status = 'RECONCILIATION_REQUIRED'
         AND NOT EXISTS (SELECT FROM "case" c WHERE c.operation_id = o.id AND c.closed_at IS NULL)
      UNION ALL
      SELECT concat_ws(' ', kind, id, 'holds a return')
        FROM operation o
       WHERE kind = 'cash_in' AND ${heldOfReturns} > 0
         AND NOT EXISTS (SELECT FROM "case" c
                          WHERE c.operation_id = o.id AND c.kind = 'return_unexplained' AND c.closed_at IS NULL)`,
  },
  {
    name: 'orphans',
    meaning: 'No row refers to a missing row.',
    sql: [
      ...partsOfOperations.map((table) => orphans(table, 'operation_id', 'operation')),
      orphans('entry', 'account_id', 'account'),
      orphans('inbox_event', 'inbox_id', 'inbox'),
      orphans('delivery', 'notification_id', 'notification'),
      orphans('delivery', 'endpoint_id', 'endpoint'),
      orphans('delivery_attempt', 'delivery_id', 'delivery'),
    ].join('\n      UNION ALL'),
  },
  {
    name: 'closes',
    meaning: 'Every daily close is the one that the audit trail has: none was changed, removed or added.',
    sql: `
      SELECT concat_ws(' ', 'the close of', coalesce(d.day::text, a.subject)) AS what
        FROM daily_close d
        FULL JOIN (SELECT subject, at, facts ->> 'hash' AS hash FROM audit WHERE action = 'day.closed') a
          ON a.subject = d.day::text
       WHERE a.hash IS DISTINCT FROM encode(sha256(convert_to(d.content, 'UTF8')), 'hex')
          OR a.at IS DISTINCT FROM d.made_at`,
  },
  ...truthChecks,
]

function postingColumns(): string {
  const columns = Array.from(
    { length: mostPostings },
    (_, posting) => `coalesce(sum(amount_cents) FILTER (WHERE posting = ${posting}), 0) AS a${posting}`,
  )
  return columns.join(', ')
}

function bounded(bound: 'not negative' | 'not positive'): string {
  const codes = Object.entries(accounts).filter(([, account]) => account.bound === bound)
  return codes.map(([code]) => `'${code}'`).join(', ')
}

function orphans(table: string, column: string, owner: string): string {
  return `
      SELECT concat_ws(' ', '${table.replaceAll('"', '')} of no ${owner}', r.${column}) AS what
        FROM ${table} r LEFT JOIN ${owner} o ON o.id = r.${column} WHERE o.id IS NULL AND r.${column} IS NOT NULL`
}
