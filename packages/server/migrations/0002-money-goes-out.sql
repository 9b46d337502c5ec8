-- Money goes out: adjustments beside the three kinds of operation, what only one payout may hold, and the rows that
-- control payouts.

ALTER TABLE operation DROP CONSTRAINT operation_kind_check;
ALTER TABLE operation ADD CONSTRAINT operation_kind_check
  CHECK (kind IN ('cash_in', 'cash_out', 'refund_in', 'adjustment'));

-- What no other open or done operation may hold: the location of a dynamic Pix code. Given up where nothing was paid.
ALTER TABLE operation ADD COLUMN exclusive_key text;
CREATE UNIQUE INDEX operation_exclusive_key ON operation (exclusive_key) WHERE exclusive_key IS NOT NULL;
GRANT UPDATE (exclusive_key) ON operation TO pixgate_app;

-- Each worker looks for the work of its own kind.
CREATE INDEX operation_due_by_kind ON operation (kind, due_at) WHERE due_at IS NOT NULL;
DROP INDEX operation_due;

-- Refunds are listed by their cash-in.
CREATE INDEX operation_refund_of ON operation ((detail ->> 'cashInId'), created_at DESC, id DESC)
  WHERE kind = 'refund_in';

CREATE TABLE control (
  name    text PRIMARY KEY,
  version bigint NOT NULL DEFAULT 1,
  value   jsonb NOT NULL
) WITH (fillfactor = 50);
COMMENT ON TABLE control IS
  'What decisions look at besides operations and accounts; compared and locked like them by the statement that relies on it.';
INSERT INTO control (name, value) VALUES
  ('cash_out_switch', '{"enabled": true, "reason": null}'),
  ('cash_out_day', '{"day": null, "sentCents": 0}');
GRANT SELECT, UPDATE (version, value) ON control TO pixgate_app;

CREATE VIEW cash_out AS
  SELECT id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash, idempotency_key,
         exclusive_key, expires_at, due_at, transaction_id, end_to_end_id, detail, facts, created_at, updated_at
    FROM operation WHERE kind = 'cash_out';

CREATE VIEW refund_in AS
  SELECT id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash, idempotency_key,
         exclusive_key, expires_at, due_at, transaction_id, end_to_end_id, detail, facts, created_at, updated_at
    FROM operation WHERE kind = 'refund_in';

CREATE OR REPLACE VIEW cash_in AS
  SELECT id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash, idempotency_key,
         expires_at, due_at, transaction_id, end_to_end_id, detail, facts, created_at, updated_at, exclusive_key
    FROM operation WHERE kind = 'cash_in';

-- A journal's reference is an end-to-end id only where a case attributes one payment among several.
CREATE OR REPLACE VIEW ledger_entry AS
  SELECT e.version, e.amount_cents, e.balance_after_cents, e.shown AS operation, e.operation_id AS reference_id, e.at,
         a.currency, o.external_id, o.transaction_id,
         CASE WHEN e.journal = 'arrival_attributed' THEN e.reference ELSE o.end_to_end_id END AS end_to_end_id,
         coalesce(o.detail ->> 'description', o.detail ->> 'reason') AS description
    FROM entry e
    JOIN account a ON a.id = e.account_id AND a.code = 'available'
    LEFT JOIN operation o ON o.id = e.operation_id;

GRANT SELECT ON cash_out, refund_in TO pixgate_app;
