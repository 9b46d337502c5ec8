-- The bank's statement as it was read, and how far.

CREATE TABLE statement_entry (
  -- Seen from our account.
  direction     text NOT NULL CHECK (direction IN ('in', 'out')),
  -- Of the movement: the end-to-end id of a payment or payout, the return id of a return. A tariff has none of its own
  -- and bears the reference of what it was taken for.
  id            text NOT NULL,
  kind          text NOT NULL CHECK (kind IN ('PAYMENT_RECEIVED', 'PAYMENT_TAKEN_BACK', 'REFUND_SENT', 'PAYOUT_SENT',
                                              'PAYOUT_RETURNED', 'TARIFF')),
  end_to_end_id text NOT NULL,
  -- What the bank names as what the money moved for: our id, where it does as it should.
  reference     text NOT NULL,
  value_cents   bigint NOT NULL CHECK (value_cents > 0),
  -- The bank's word.
  occurred_at   timestamptz NOT NULL,
  seen_at       timestamptz NOT NULL,
  -- When the bank was asked about what is not in our books.
  asked_at      timestamptz,
  -- MATCHED: our books have it. DIFFERS: they have it otherwise, and a case tells. KEPT: a tariff, not booked yet.
  outcome       text CHECK (outcome IN ('MATCHED', 'DIFFERS', 'KEPT')),
  operation_id  uuid,
  settled_at    timestamptz,
  -- When a case was opened about it.
  reported_at   timestamptz,
  PRIMARY KEY (direction, id, kind)
) WITH (fillfactor = 80);
-- What our books do not have yet.
CREATE INDEX statement_entry_open ON statement_entry (seen_at) WHERE settled_at IS NULL;
COMMENT ON TABLE statement_entry IS 'What the bank''s statement said, append-only; what became of it is noted beside it.';

CREATE TRIGGER evidence_kept
  BEFORE UPDATE OF direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at ON statement_entry
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_inbox_rewriting();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON statement_entry
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Movements of our books that a whole window of the statement did not have.
CREATE TABLE statement_gap (
  direction    text NOT NULL CHECK (direction IN ('in', 'out')),
  id           text NOT NULL,
  operation_id uuid NOT NULL,
  value_cents  bigint NOT NULL,
  missed_at    timestamptz NOT NULL,
  -- When a case was opened about it.
  reported_at  timestamptz,
  -- When the statement had it after all.
  filled_at    timestamptz,
  PRIMARY KEY (direction, id)
);
CREATE INDEX statement_gap_open ON statement_gap (missed_at) WHERE filled_at IS NULL;

-- How far the statement was read: one row. The instants of the mark are the bank's, the others ours.
CREATE TABLE statement_mark (
  is_only         boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- Where the first window begins; NULL before the statement was first asked for.
  read_from       timestamptz,
  -- Everything that the bank booked before this was read, and handed to its operation where it has one.
  matched_until   timestamptz,
  -- Entries of the settlement account up to this version were looked for in the statement.
  checked_version bigint,
  -- When a window was last read whole.
  read_at         timestamptz,
  due_at          timestamptz NOT NULL DEFAULT '-infinity',
  -- Who is reading, and until when nobody else may.
  lease_id        uuid,
  lease_until     timestamptz
);
INSERT INTO statement_mark DEFAULT VALUES;

GRANT SELECT, INSERT ON statement_entry, statement_gap TO pixgate_app;
GRANT UPDATE (asked_at, outcome, operation_id, settled_at, reported_at) ON statement_entry TO pixgate_app;
GRANT UPDATE (filled_at, reported_at) ON statement_gap TO pixgate_app;
GRANT SELECT, UPDATE (read_from, matched_until, checked_version, read_at, due_at, lease_id, lease_until)
  ON statement_mark TO pixgate_app;
