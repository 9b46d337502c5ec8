-- Each day's close: a row that is never rewritten, with the hash of the one before and the head of the audit trail.

CREATE TABLE daily_close (
  -- From 1, without a gap: the order of the chain, which is not that of the days where one was closed anew.
  seq           bigint PRIMARY KEY CHECK (seq > 0),
  -- A day of America/Sao_Paulo.
  day           date NOT NULL,
  version       integer NOT NULL CHECK (version > 0),
  -- The row of the same day that this one stands instead of.
  supersedes    bigint CHECK (supersedes < seq),
  previous_hash bytea NOT NULL CHECK (octet_length(previous_hash) = 32),
  audit_seq     bigint NOT NULL,
  audit_hash    bytea NOT NULL CHECK (octet_length(audit_hash) = 32),
  made_at       timestamptz NOT NULL,
  -- JSON, the exact text that is hashed.
  content       text NOT NULL,
  hash          bytea NOT NULL CHECK (octet_length(hash) = 32),
  CONSTRAINT daily_close_once UNIQUE (day, version),
  CHECK ((supersedes IS NULL) = (version = 1))
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON daily_close
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- With a key that the database never sees. While a key is replaced, what the one before signed is signed by the new one too.
CREATE TABLE daily_close_signature (
  seq       bigint NOT NULL,
  key_id    text NOT NULL,
  mac       bytea NOT NULL,
  signed_at timestamptz NOT NULL,
  PRIMARY KEY (seq, key_id, mac)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON daily_close_signature
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Each close stands in the audit trail too: whoever removes the last ones leaves these.
CREATE INDEX audit_day_closed ON audit (id) WHERE action = 'day.closed';

-- A day's rows, of tables to which rows are only ever added: small, and next to nothing to keep.
CREATE INDEX entry_at ON entry USING brin (at) WITH (autosummarize = on);
CREATE INDEX statement_entry_occurred ON statement_entry USING brin (occurred_at) WITH (autosummarize = on);
-- What makes a close differ for longer than a day is looked for by itself.
CREATE INDEX statement_entry_kept ON statement_entry (occurred_at) WHERE outcome = 'KEPT' AND operation_id IS NULL;
CREATE INDEX statement_entry_differs ON statement_entry (occurred_at) WHERE outcome = 'DIFFERS';

GRANT SELECT, INSERT ON daily_close, daily_close_signature TO pixgate_app;
