-- Daily closes: rows that are never rewritten. The audit trail has the hash of each.

-- The bank's balance, read each minute from the end of a day until the day is closed.
CREATE TABLE bank_balance (
  -- By our clock.
  read_at         timestamptz PRIMARY KEY,
  -- By the bank's clock. NULL: it did not say.
  as_of           timestamptz,
  available_cents bigint NOT NULL,
  -- The most that the bank may have taken off: reserved here for orders under way, and blocked by the bank.
  set_aside_cents bigint NOT NULL
);
GRANT SELECT, INSERT ON bank_balance TO pixgate_app;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON bank_balance
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

CREATE TABLE daily_close (
  -- A day of America/Sao_Paulo.
  day     date PRIMARY KEY,
  made_at timestamptz NOT NULL,
  -- JSON. Its SHA-256 and `made_at` stand in the row `day.closed` of the audit trail, so the text must stay as it is.
  content text NOT NULL
);
GRANT SELECT, INSERT ON daily_close TO pixgate_app;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON daily_close
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
