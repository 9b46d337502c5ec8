-- The bank's statement against our books, and credits that wait for it.

-- An entry of the bank's statement as it was read, and its match in our books.
CREATE TABLE statement_entry (
  -- Seen from our account.
  direction     text NOT NULL CHECK (direction IN ('in', 'out')),
  -- Of the movement: the end-to-end id of a payment or payout, the return id of a return. A tariff has none of its own
  -- and bears the reference of the payout that it was taken for.
  id            text NOT NULL,
  kind          text NOT NULL CHECK (kind IN ('PAYMENT_RECEIVED', 'PAYMENT_TAKEN_BACK', 'REFUND_SENT', 'PAYOUT_SENT',
                                              'PAYOUT_RETURNED', 'TARIFF')),
  end_to_end_id text NOT NULL,
  -- The bank's reference to the order that the money moved for: our id.
  reference     text NOT NULL,
  value_cents   bigint NOT NULL CHECK (value_cents > 0),
  -- By the bank's clock.
  occurred_at   timestamptz NOT NULL,
  -- Time at which we read it.
  seen_at       timestamptz NOT NULL,
  -- Time at which the bank was asked about an entry that our books do not have.
  asked_at      timestamptz,
  -- MATCHED: our books have it. DIFFERS: they have it otherwise, with a case. KEPT: a tariff, not booked yet.
  outcome       text CHECK (outcome IN ('MATCHED', 'DIFFERS', 'KEPT')),
  operation_id  uuid,
  settled_at    timestamptz,
  -- Time at which a case was opened about it.
  reported_at   timestamptz,
  PRIMARY KEY (direction, id, kind)
) WITH (fillfactor = 80);
GRANT SELECT, INSERT ON statement_entry TO pixgate_app;
GRANT UPDATE (asked_at, outcome, operation_id, settled_at, reported_at) ON statement_entry TO pixgate_app;

-- The oldest entry that our books do not have.
CREATE INDEX statement_entry_open ON statement_entry (seen_at) WHERE settled_at IS NULL;
-- Entries without a match, in batches: the largest first. Those with a case are looked at in turn.
CREATE INDEX statement_entry_unreported ON statement_entry (direction, value_cents, id, kind)
  WHERE settled_at IS NULL AND reported_at IS NULL;
CREATE INDEX statement_entry_reported ON statement_entry (direction, id, kind)
  WHERE settled_at IS NULL AND reported_at IS NOT NULL;
-- Returns of a payment that the bank made.
CREATE INDEX statement_entry_taken_back ON statement_entry (end_to_end_id) WHERE kind = 'PAYMENT_TAKEN_BACK';
-- The entry that an adjustment explains.
CREATE INDEX statement_entry_adjusted ON statement_entry (operation_id) WHERE outcome = 'KEPT';
-- Tariffs that were kept and are looked at again.
CREATE INDEX statement_entry_tariff ON statement_entry (settled_at)
  WHERE kind = 'TARIFF' AND (outcome = 'KEPT' OR id <> reference);
-- Entries of a day, for its close, and those that make it differ for longer than a day.
CREATE INDEX statement_entry_occurred ON statement_entry USING brin (occurred_at) WITH (autosummarize = on);
CREATE INDEX statement_entry_kept ON statement_entry (occurred_at) WHERE outcome = 'KEPT' AND operation_id IS NULL;
CREATE INDEX statement_entry_differs ON statement_entry (occurred_at) WHERE outcome = 'DIFFERS';

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
  -- By our clock.
  booked_at    timestamptz NOT NULL,
  -- Time of the first complete reading that lacked it.
  missed_at    timestamptz NOT NULL,
  -- Time at which its part of the statement was last read again.
  reread_at    timestamptz,
  -- Time at which a case was opened about it.
  reported_at  timestamptz,
  -- Time at which the statement had it after all.
  filled_at    timestamptz,
  PRIMARY KEY (direction, id)
);
GRANT SELECT, INSERT, UPDATE (reread_at, reported_at, filled_at) ON statement_gap TO pixgate_app;
-- Gaps that are open, the oldest first.
CREATE INDEX statement_gap_open ON statement_gap (missed_at) WHERE filled_at IS NULL;

-- Progress of reading the statement: one row. `read_from` and `matched_until` are instants of the bank, the others ours.
CREATE TABLE statement_mark (
  is_only         boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- Beginning of the first window. NULL: the statement was never asked for.
  read_from       timestamptz,
  -- Everything that the bank booked before this was read and handed to its operation.
  matched_until   timestamptz,
  -- Entries of the settlement account up to this version were looked for in the statement.
  checked_version bigint,
  -- Time at which a window was last read whole.
  read_at         timestamptz,
  due_at          timestamptz NOT NULL DEFAULT '-infinity',
  -- How far the bank's stamps are from true time, as last measured: stamp minus time. NULL: never measured.
  stamp_offset_ms integer,
  -- The reader, and the end of its lease.
  lease_id        uuid,
  lease_until     timestamptz
);
INSERT INTO statement_mark DEFAULT VALUES;
GRANT SELECT, UPDATE (read_from, matched_until, checked_version, read_at, due_at, lease_id, lease_until, stamp_offset_ms)
  ON statement_mark TO pixgate_app;

