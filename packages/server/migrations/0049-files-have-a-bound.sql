-- What files lack stands in a table of their own, as what they have does: a gap that a file told kept the bank's own from being one.

CREATE TABLE statement_import_gap (
  direction    text NOT NULL CHECK (direction IN ('in', 'out')),
  id           text NOT NULL,
  operation_id uuid NOT NULL,
  value_cents  bigint NOT NULL,
  -- The file of its day.
  import_id    uuid NOT NULL,
  missed_at    timestamptz NOT NULL,
  -- When a case was opened about it.
  reported_at  timestamptz,
  -- When a file, or the bank's own statement, had it after all.
  filled_at    timestamptz,
  PRIMARY KEY (direction, id)
);
CREATE INDEX statement_import_gap_open ON statement_import_gap (import_id) WHERE filled_at IS NULL;
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON statement_import_gap
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
GRANT SELECT, INSERT, UPDATE (reported_at, filled_at) ON statement_import_gap TO pixgate_app;

-- How many cases of a file are open.
CREATE INDEX case_of_import_open ON "case" ((facts ->> 'importId')) WHERE closed_at IS NULL AND operation_id IS NULL;

-- Where the bank's own statement was never read, files found them all.
INSERT INTO statement_import_gap (direction, id, operation_id, value_cents, import_id, missed_at, filled_at)
SELECT g.direction, g.id, g.operation_id, g.value_cents, i.id, g.missed_at, g.filled_at
  FROM statement_gap g
 CROSS JOIN LATERAL (SELECT id FROM statement_import ORDER BY imported_at <= g.missed_at DESC, imported_at DESC LIMIT 1) i
 WHERE NOT EXISTS (SELECT FROM statement_mark WHERE matched_until IS NOT NULL);
DELETE FROM statement_gap WHERE NOT EXISTS (SELECT FROM statement_mark WHERE matched_until IS NOT NULL);
UPDATE "case" c SET closed_at = now()
  FROM statement_import_gap g
 WHERE c.operation_id IS NULL AND c.kind = 'statement_missing' AND c.reference = g.direction || ' ' || g.id AND c.closed_at IS NULL;
