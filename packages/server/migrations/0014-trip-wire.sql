-- What was credited on the word of events, until the bank's statement has it; the bank's balance beside its statement.
--
-- A process of the version before knows none of it, and may run beside one of this version while the service is upgraded:
-- what it credits unverified counts against its own bound only, and its readings trip nothing.

-- Credits that may be booked on the word of an event. The row is there before the credit is booked, so that processes
-- together never exceed the bound; it counts until the statement has the credit.
CREATE TABLE unverified_credit (
  operation_id  uuid NOT NULL,
  end_to_end_id text NOT NULL,
  value_cents   bigint NOT NULL CHECK (value_cents > 0),
  admitted_at   timestamptz NOT NULL,
  -- When it ceased to count: the statement has it, an operator has decided of it, or it was not booked.
  settled_at    timestamptz,
  PRIMARY KEY (operation_id, end_to_end_id, value_cents)
) WITH (fillfactor = 80);
CREATE INDEX unverified_credit_counted ON unverified_credit (admitted_at) WHERE settled_at IS NULL;

-- The sum of those that count: one row, which whoever admits or confirms holds meanwhile.
CREATE TABLE unverified_total (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  cents   bigint NOT NULL DEFAULT 0 CHECK (cents >= 0)
);

-- As it was counted until now: since the statement was last matched, of the last 20,000 movements.
INSERT INTO unverified_credit (operation_id, end_to_end_id, value_cents, admitted_at)
SELECT e.operation_id, e.reference, -e.amount_cents, e.at
  FROM (SELECT operation_id, reference, amount_cents, at, journal FROM entry
         WHERE account_id = 3 ORDER BY version DESC LIMIT 20000) e
  JOIN operation o ON o.id = e.operation_id AND o.facts ->> 'isUnverified' = 'true'
 WHERE e.journal = 'cash_in_paid'
   AND e.at > (SELECT coalesce(matched_until, '-infinity') FROM statement_mark);
INSERT INTO unverified_total (cents) SELECT coalesce(sum(value_cents), 0) FROM unverified_credit;

GRANT SELECT, INSERT, UPDATE (admitted_at, settled_at) ON unverified_credit TO pixgate_app;
GRANT SELECT, UPDATE (cents) ON unverified_total TO pixgate_app;

-- What all entries that the statement ever showed add to the account. By the database, so that whatever a process of the
-- version before keeps is in it too.
ALTER TABLE statement_mark ADD COLUMN entries_cents bigint NOT NULL DEFAULT 0;
UPDATE statement_mark
   SET entries_cents = (SELECT coalesce(sum(CASE direction WHEN 'in' THEN value_cents ELSE -value_cents END), 0)
                          FROM statement_entry);
GRANT UPDATE (entries_cents) ON statement_mark TO pixgate_app;

CREATE FUNCTION add_statement_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE statement_mark k
     SET entries_cents = k.entries_cents + t.cents
    FROM (SELECT sum(CASE direction WHEN 'in' THEN value_cents ELSE -value_cents END) AS cents FROM added) t
   WHERE t.cents IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER entries_added AFTER INSERT ON statement_entry REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION add_statement_entries();

-- By it an adjustment explains one entry.
CREATE INDEX statement_entry_adjusted ON statement_entry (operation_id) WHERE outcome = 'KEPT';

-- Balances as the bank told them; each is compared once the statement of its time can be believed.
CREATE TABLE bank_balance (
  read_at            timestamptz PRIMARY KEY,
  available_cents    bigint NOT NULL,
  -- By the bank's time; NULL: it did not say.
  as_of              timestamptz,
  -- What our books had then: set aside for orders under way, and how many entries of the settlement account.
  reserved_cents     bigint NOT NULL,
  settlement_version bigint NOT NULL,
  compared_at        timestamptz
);
CREATE INDEX bank_balance_open ON bank_balance (read_at) WHERE compared_at IS NULL;
GRANT SELECT, INSERT, UPDATE (compared_at) ON bank_balance TO pixgate_app;

-- By how much the bank has less than it ought to have: its statement less than all that it ever showed, its balance less
-- than its statement.
CREATE TABLE bank_shortfall (
  name           text PRIMARY KEY CHECK (name IN ('statement', 'balance')),
  -- Of the statement: what was in the account before the first entry. NULL before it was first read whole.
  base_cents     bigint,
  -- So much was found before, and is no news.
  accepted_cents bigint NOT NULL DEFAULT 0 CHECK (accepted_cents >= 0),
  -- When more than that was first seen missing; NULL: it is not.
  short_since    timestamptz
);
INSERT INTO bank_shortfall (name) VALUES ('statement'), ('balance');
GRANT SELECT, UPDATE (base_cents, accepted_cents, short_since) ON bank_shortfall TO pixgate_app;
