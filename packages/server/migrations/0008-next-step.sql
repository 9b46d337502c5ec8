-- What is to be done about an operation when it is due, and when that would become something else without a move: computed
-- by the code with every move, so that statements only filter. NULL: nobody has computed it yet; whoever finds it due does.

ALTER TABLE operation
  ADD COLUMN next_step  text CHECK (next_step IN ('send', 'ask', 'release', 'case')),
  ADD COLUMN changes_at timestamptz;
GRANT UPDATE (next_step, changes_at) ON operation TO pixgate_app;

CREATE OR REPLACE VIEW cash_in AS
  SELECT id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash, idempotency_key,
         expires_at, due_at, transaction_id, end_to_end_id, detail, facts, created_at, updated_at, exclusive_key,
         next_step, changes_at
    FROM operation WHERE kind = 'cash_in';
CREATE OR REPLACE VIEW cash_out AS
  SELECT id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash, idempotency_key,
         exclusive_key, expires_at, due_at, transaction_id, end_to_end_id, detail, facts, created_at, updated_at,
         next_step, changes_at
    FROM operation WHERE kind = 'cash_out';
CREATE OR REPLACE VIEW refund_in AS
  SELECT id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash, idempotency_key,
         exclusive_key, expires_at, due_at, transaction_id, end_to_end_id, detail, facts, created_at, updated_at,
         next_step, changes_at
    FROM operation WHERE kind = 'refund_in';

-- A process of the version before does not know the step: what it moves is to be computed anew. A process that does says so
-- when it connects.
-- @source failure-modes#DB-43
CREATE FUNCTION forget_step_of_old_writer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.next_step := NULL;
  NEW.changes_at := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER step_forgotten BEFORE UPDATE ON operation FOR EACH ROW
  WHEN (NEW.next_step IS NOT NULL AND current_setting('pixgate.computes_steps', true) IS DISTINCT FROM 'yes')
  EXECUTE FUNCTION forget_step_of_old_writer();
