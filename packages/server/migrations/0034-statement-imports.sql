-- The bank's statement as an operator brought it in a file. Not the bank's word: nothing is booked because of it.

CREATE TABLE statement_import (
  id            uuid PRIMARY KEY,
  -- Of the file: the same one twice is one import.
  sha256        bytea NOT NULL UNIQUE,
  -- Days of America/Sao_Paulo, both of them in it, and their instants; `until` is not in it.
  first_day     date NOT NULL,
  last_day      date NOT NULL,
  since         timestamptz NOT NULL,
  until         timestamptz NOT NULL,
  opening_cents bigint NOT NULL,
  closing_cents bigint NOT NULL,
  row_count     integer NOT NULL,
  -- Rows that a file before has otherwise: that one counts, and a case tells.
  contradicting integer NOT NULL,
  imported_at   timestamptz NOT NULL,
  imported_by   text NOT NULL
);
CREATE INDEX statement_import_until ON statement_import (until, imported_at);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON statement_import
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

CREATE TABLE statement_import_entry (
  direction     text NOT NULL CHECK (direction IN ('in', 'out')),
  id            text NOT NULL,
  kind          text NOT NULL CHECK (kind IN ('PAYMENT_RECEIVED', 'PAYMENT_TAKEN_BACK', 'REFUND_SENT', 'PAYOUT_SENT',
                                              'PAYOUT_RETURNED', 'TARIFF')),
  end_to_end_id text NOT NULL,
  reference     text NOT NULL,
  value_cents   bigint NOT NULL CHECK (value_cents > 0),
  occurred_at   timestamptz NOT NULL,
  seen_at       timestamptz NOT NULL,
  asked_at      timestamptz,
  outcome       text CHECK (outcome IN ('MATCHED', 'DIFFERS', 'KEPT')),
  operation_id  uuid,
  settled_at    timestamptz,
  reported_at   timestamptz,
  -- The file that had it first.
  import_id     uuid NOT NULL,
  PRIMARY KEY (direction, id, kind)
) WITH (fillfactor = 80);
CREATE INDEX statement_import_entry_open ON statement_import_entry (seen_at) WHERE settled_at IS NULL;
CREATE INDEX statement_import_entry_occurred ON statement_import_entry (occurred_at);
CREATE INDEX statement_import_entry_of ON statement_import_entry (import_id);
CREATE INDEX statement_import_entry_kept ON statement_import_entry (operation_id) WHERE outcome = 'KEPT';
CREATE TRIGGER evidence_kept
  BEFORE UPDATE OF direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at, import_id
  ON statement_import_entry FOR EACH STATEMENT EXECUTE FUNCTION refuse_inbox_rewriting();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON statement_import_entry
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- All that is known of the bank's account: as the bank was read, and where it never was, as files have it. So no file can explain
-- away what the bank itself says.
CREATE VIEW statement_line AS
  SELECT direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, outcome, operation_id, settled_at,
         reported_at
    FROM statement_entry
  UNION ALL
  SELECT i.direction, i.id, i.kind, i.end_to_end_id, i.reference, i.value_cents, i.occurred_at, i.outcome, i.operation_id,
         i.settled_at, i.reported_at
    FROM statement_import_entry i
   WHERE NOT EXISTS (SELECT FROM statement_mark WHERE matched_until IS NOT NULL);

GRANT SELECT, INSERT ON statement_import, statement_import_entry TO pixgate_app;
GRANT UPDATE (asked_at, outcome, operation_id, settled_at, reported_at) ON statement_import_entry TO pixgate_app;
GRANT SELECT ON statement_line TO pixgate_app;
