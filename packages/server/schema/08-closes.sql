-- Daily closes: rows that are never rewritten, chained to each other and to the audit trail, and signed.

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
  -- From 1, without a gap: the order of the chain. It is not the order of the days where a day was closed anew.
  seq           bigint PRIMARY KEY CHECK (seq > 0),
  -- A day of America/Sao_Paulo.
  day           date NOT NULL,
  -- From 1, by day.
  version       integer NOT NULL CHECK (version > 0),
  -- The row of the same day that this one replaces.
  supersedes    bigint CHECK (supersedes < seq),
  previous_hash bytea NOT NULL CHECK (octet_length(previous_hash) = 32),
  -- The head of the audit trail.
  audit_seq     bigint NOT NULL,
  audit_hash    bytea NOT NULL CHECK (octet_length(audit_hash) = 32),
  made_at       timestamptz NOT NULL,
  -- JSON, the exact text that is hashed.
  content       text NOT NULL,
  hash          bytea NOT NULL CHECK (octet_length(hash) = 32),
  CONSTRAINT daily_close_once UNIQUE (day, version),
  CHECK ((supersedes IS NULL) = (version = 1))
);
GRANT SELECT, INSERT ON daily_close TO pixgate_app;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON daily_close
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Signatures, with a key that the database never sees. While that key is replaced, the new one signs the same closes again.
CREATE TABLE daily_close_signature (
  seq       bigint NOT NULL,
  key_id    text NOT NULL,
  mac       bytea NOT NULL,
  signed_at timestamptz NOT NULL,
  PRIMARY KEY (seq, key_id, mac)
);
GRANT SELECT, INSERT ON daily_close_signature TO pixgate_app;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON daily_close_signature
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
