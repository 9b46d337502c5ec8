-- The bank's statement against our books, credits that wait for it, and the bank's balance beside it.

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
-- Entries that were read since an instant.
CREATE INDEX statement_entry_seen ON statement_entry USING brin (seen_at) WITH (autosummarize = on);

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
  -- Time at which a case was opened about it.
  reported_at  timestamptz,
  -- Time at which the statement had it after all.
  filled_at    timestamptz,
  PRIMARY KEY (direction, id)
);
GRANT SELECT, INSERT, UPDATE (reported_at, filled_at) ON statement_gap TO pixgate_app;
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
  -- The reader, and the end of its lease.
  lease_id        uuid,
  lease_until     timestamptz,
  -- The sum of all entries of the statement.
  entries_cents   bigint NOT NULL DEFAULT 0
);
INSERT INTO statement_mark DEFAULT VALUES;
GRANT SELECT, UPDATE (read_from, matched_until, checked_version, read_at, due_at, lease_id, lease_until)
  ON statement_mark TO pixgate_app;

-- The database computes the sum: the money that the bank lacks follows from it, so the server may not set it. It runs as
-- the owner; attached to another table it would let anybody choose the sum.
-- @source rules#audit.10
CREATE FUNCTION add_statement_entries() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_RELID <> 'public.statement_entry'::regclass THEN
    RAISE EXCEPTION 'only entries of the statement are added up' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE statement_mark k
     SET entries_cents = k.entries_cents + t.cents
    FROM (SELECT sum(CASE direction WHEN 'in' THEN value_cents ELSE -value_cents END) AS cents FROM added) t
   WHERE t.cents IS NOT NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER entries_added AFTER INSERT ON statement_entry REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION add_statement_entries();

-- Credits that are booked on the word of an event. A credit counts from before it is booked until the statement has it, so that
-- processes together never exceed the cap.
CREATE TABLE unverified_credit (
  operation_id    uuid NOT NULL,
  end_to_end_id   text NOT NULL,
  value_cents     bigint NOT NULL CHECK (value_cents > 0),
  admitted_at     timestamptz NOT NULL,
  -- Time at which it ceased to count: the statement has it, an operator decided, or it was not booked.
  settled_at      timestamptz,
  -- Time at which the bank was last asked about it. NULL: not yet.
  asked_at        timestamptz,
  -- Time at which the bank first said that it does not have it.
  denied_at       timestamptz,
  -- From when on the bank is not asked: it has it, a case says that it does not, or the statement decides.
  asking_ended_at timestamptz,
  PRIMARY KEY (operation_id, end_to_end_id, value_cents)
) WITH (fillfactor = 80);
GRANT SELECT, INSERT, UPDATE (admitted_at, settled_at, asked_at, denied_at, asking_ended_at) ON unverified_credit TO pixgate_app;

-- Credits that count.
CREATE INDEX unverified_credit_counted ON unverified_credit (admitted_at) WHERE settled_at IS NULL;
-- Credits to ask about: denied once, the largest, those that waited longest.
CREATE INDEX unverified_credit_denied ON unverified_credit (value_cents)
  WHERE settled_at IS NULL AND asking_ended_at IS NULL AND denied_at IS NOT NULL;
CREATE INDEX unverified_credit_largest ON unverified_credit (value_cents)
  WHERE settled_at IS NULL AND asking_ended_at IS NULL AND denied_at IS NULL;
CREATE INDEX unverified_credit_waiting ON unverified_credit ((coalesce(asked_at, admitted_at)))
  WHERE settled_at IS NULL AND asking_ended_at IS NULL AND denied_at IS NULL;

-- The sum of those that count: one row, which a writer of a credit locks.
CREATE TABLE unverified_total (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  cents   bigint NOT NULL DEFAULT 0 CHECK (cents >= 0)
);
INSERT INTO unverified_total DEFAULT VALUES;
GRANT SELECT, UPDATE (cents) ON unverified_total TO pixgate_app;

-- Balances that the bank reported. Each is compared once the statement of its time is whole.
CREATE TABLE bank_balance (
  read_at            timestamptz PRIMARY KEY,
  available_cents    bigint NOT NULL,
  -- By the bank's clock. NULL: it did not say.
  as_of              timestamptz,
  -- Our books at that time: reserved for orders under way, and the number of entries of the settlement account.
  reserved_cents     bigint NOT NULL,
  settlement_version bigint NOT NULL,
  compared_at        timestamptz
);
GRANT SELECT, INSERT, UPDATE (compared_at) ON bank_balance TO pixgate_app;
-- Balances that are still to be compared.
CREATE INDEX bank_balance_open ON bank_balance (read_at) WHERE compared_at IS NULL;

-- Money that the bank should have and has not: its statement against all entries that it ever showed, its balance against
-- its statement.
CREATE TABLE bank_shortfall (
  name           text PRIMARY KEY CHECK (name IN ('statement', 'balance')),
  -- Of the statement: the balance before its first entry. NULL: it was never read whole.
  base_cents     bigint,
  -- The shortfall that an operator accepted.
  accepted_cents bigint NOT NULL DEFAULT 0 CHECK (accepted_cents >= 0),
  -- Time at which a larger one was first seen. NULL: none is larger.
  short_since    timestamptz
);
INSERT INTO bank_shortfall (name) VALUES ('statement'), ('balance');
GRANT SELECT, UPDATE (base_cents, accepted_cents, short_since) ON bank_shortfall TO pixgate_app;

-- A change of the base or of the accepted shortfall is written to the audit trail by the database.
-- @source rules#audit.10
CREATE FUNCTION tell_shortfall() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO audit (id, at, actor, action, subject, address, facts)
  VALUES (gen_random_uuid(), clock_timestamp(), 'database ' || session_user, 'bank_shortfall.accepted', NEW.name,
          coalesce(host(inet_client_addr()), ''),
          jsonb_build_object('acceptedCents', NEW.accepted_cents, 'before', OLD.accepted_cents,
                             'baseCents', NEW.base_cents, 'baseBefore', OLD.base_cents));
  RETURN NULL;
END $$;
CREATE TRIGGER told AFTER UPDATE OF accepted_cents, base_cents ON bank_shortfall FOR EACH ROW
  WHEN (NEW.accepted_cents <> OLD.accepted_cents
        OR OLD.base_cents IS NOT NULL AND NEW.base_cents IS DISTINCT FROM OLD.base_cents)
  EXECUTE FUNCTION tell_shortfall();

-- So is a change of its beginning: setting it back again and again would put the trip wire off for ever.
CREATE FUNCTION tell_short_since() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO audit (id, at, actor, action, subject, address, facts)
  VALUES (gen_random_uuid(), clock_timestamp(), 'database ' || session_user, 'bank_shortfall.noted', NEW.name,
          coalesce(host(inet_client_addr()), ''), jsonb_build_object('since', NEW.short_since, 'before', OLD.short_since));
  RETURN NULL;
END $$;
CREATE TRIGGER since_told AFTER UPDATE OF short_since ON bank_shortfall FOR EACH ROW
  WHEN (NEW.short_since IS DISTINCT FROM OLD.short_since) EXECUTE FUNCTION tell_short_since();

-- Lower bound of the balance that the bank's lists do not explain: one row. It changes with every look, so it is kept apart from
-- the shortfall, whose changes are audited.
CREATE TABLE listed_expectation (
  is_only             boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- The bound, by a balance that was read at base_at.
  base_cents          bigint,
  base_at             timestamptz,
  -- Below zero: so much of the time before may still be listed.
  base_listed_cents   bigint NOT NULL DEFAULT 0 CHECK (base_listed_cents <= 0),
  -- A larger bound, which a second look has to confirm.
  rising_cents        bigint,
  rising_at           timestamptz,
  rising_listed_cents bigint NOT NULL DEFAULT 0 CHECK (rising_listed_cents <= 0),
  -- By the bank's clock: money that came in before this was counted as a possible source of tariffs.
  received_until      timestamptz,
  -- By our clock: the last entry of the lists at the last look.
  listed_until        timestamptz,
  CHECK ((base_cents IS NULL) = (base_at IS NULL)),
  CHECK ((rising_cents IS NULL) = (rising_at IS NULL))
) WITH (fillfactor = 50);
INSERT INTO listed_expectation DEFAULT VALUES;
GRANT SELECT, UPDATE (base_cents, base_at, base_listed_cents, rising_cents, rising_at, rising_listed_cents, received_until,
  listed_until) ON listed_expectation TO pixgate_app;

-- A change that no look makes without finding money missing is written to the audit trail: a bound above the rising one, below
-- what came in or was listed since, none, or an instant set back.
-- @source rules#audit.10
CREATE FUNCTION tell_expectation() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  received bigint := 0;
BEGIN
  IF NEW.base_cents < OLD.base_cents THEN
    SELECT coalesce(sum(value_cents), 0) INTO received
      FROM statement_entry
     WHERE direction = 'in' AND (occurred_at >= OLD.received_until OR seen_at > coalesce(OLD.listed_until, '-infinity'));
  END IF;
  -- Twice: once as a tariff, and once as listed late. Before the first balance there is nothing to change.
  IF OLD.base_cents IS NULL OR NEW.base_cents >= OLD.base_cents - 2 * received
     AND NEW.base_cents <= greatest(OLD.base_cents, OLD.rising_cents)
     AND NEW.received_until >= coalesce(OLD.received_until, NEW.received_until)
     AND coalesce(NEW.listed_until, 'infinity') >= coalesce(OLD.listed_until, '-infinity') THEN
    RETURN NULL;
  END IF;
  INSERT INTO audit (id, at, actor, action, subject, address, facts)
  VALUES (gen_random_uuid(), clock_timestamp(), 'database ' || session_user, 'bank_shortfall.expected', 'balance',
          coalesce(host(inet_client_addr()), ''),
          jsonb_build_object('baseCents', NEW.base_cents, 'baseBefore', OLD.base_cents,
                             'receivedUntil', NEW.received_until, 'receivedBefore', OLD.received_until,
                             'listedUntil', NEW.listed_until, 'listedBefore', OLD.listed_until));
  RETURN NULL;
END $$;
CREATE TRIGGER told AFTER UPDATE ON listed_expectation FOR EACH ROW
  WHEN (NEW IS DISTINCT FROM OLD) EXECUTE FUNCTION tell_expectation();

-- Balances at the end of a day that the bank reported, against the sum of its lists: a list alone does not prove that it is whole.
CREATE TABLE reported_balance (
  -- The end of a day. Each balance is of the first reading after it, or of the first one that the lists explain.
  day_end        timestamptz NOT NULL,
  -- Whether the lists sum to the balance.
  is_listed      boolean NOT NULL,
  -- The balance, less the entries since the end of the day.
  cents          bigint NOT NULL,
  -- The balance minus the sum of the lists.
  unlisted_cents bigint NOT NULL,
  reported_at    timestamptz NOT NULL,
  PRIMARY KEY (day_end, is_listed),
  CHECK (is_listed = (unlisted_cents = 0))
);
GRANT SELECT, INSERT ON reported_balance TO pixgate_app;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reported_balance
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
