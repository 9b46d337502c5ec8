-- A file that an operator brought never stands for the bank's own statement, and of files that contradict each other none counts.

-- What a file says the bank had at the end of each of its days but the last, which stands in the file's own row.
CREATE TABLE statement_import_balance (
  import_id uuid NOT NULL,
  -- The instant at which the day is over, and the next one begins.
  at        timestamptz NOT NULL,
  cents     bigint NOT NULL,
  PRIMARY KEY (at, import_id)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON statement_import_balance
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE INDEX statement_import_since ON statement_import (since);

-- Of files that were brought before: as far as their own rows are all that is known of their days.
INSERT INTO statement_import_balance (import_id, at, cents)
SELECT i.id, d.at, i.opening_cents + r.before
  FROM statement_import i
 CROSS JOIN LATERAL (
   SELECT day::timestamp AT TIME ZONE 'America/Sao_Paulo' AS at
     FROM generate_series(i.first_day + 1, i.last_day, interval '1 day') day) d
 CROSS JOIN LATERAL (
   SELECT coalesce(sum(CASE s.direction WHEN 'in' THEN s.value_cents ELSE -s.value_cents END), 0) AS whole,
          coalesce(sum(CASE s.direction WHEN 'in' THEN s.value_cents ELSE -s.value_cents END)
                   FILTER (WHERE s.occurred_at < d.at), 0) AS before
     FROM statement_import_entry s WHERE s.occurred_at >= i.since AND s.occurred_at < i.until) r
 WHERE i.opening_cents + r.whole = i.closing_cents;

-- As before, and whose word each line is: a file's is told only where the bank was never read and does not have it.
CREATE OR REPLACE VIEW statement_line AS
  SELECT direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, outcome, operation_id, settled_at,
         reported_at, NULL::uuid AS import_id
    FROM statement_entry
  UNION ALL
  SELECT i.direction, i.id, i.kind, i.end_to_end_id, i.reference, i.value_cents, i.occurred_at, i.outcome, i.operation_id,
         i.settled_at, i.reported_at, i.import_id
    FROM statement_import_entry i
   WHERE NOT EXISTS (SELECT FROM statement_mark WHERE matched_until IS NOT NULL)
     AND NOT EXISTS (SELECT FROM statement_entry b
                      WHERE b.direction = i.direction AND b.id = i.id AND b.kind = i.kind);

GRANT SELECT, INSERT ON statement_import_balance TO pixgate_app;
