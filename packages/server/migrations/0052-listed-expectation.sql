-- What is expected of a balance beside lists, kept apart from what the bank lacks: each look changes it, and a row of the trail for each
-- would bury the one that matters.

-- What the lists told since the look before.
CREATE INDEX statement_entry_seen ON statement_entry USING brin (seen_at) WITH (autosummarize = on);

CREATE TABLE listed_expectation (
  is_only             boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- So much at least was in the account besides what the lists tell, by a balance that was read at that time.
  base_cents          bigint,
  base_at             timestamptz,
  -- Below zero: so much may yet be listed of the time before it that it does not count on.
  base_listed_cents   bigint NOT NULL DEFAULT 0 CHECK (base_listed_cents <= 0),
  -- More than that, which a second look has to find too.
  rising_cents        bigint,
  rising_at           timestamptz,
  rising_listed_cents bigint NOT NULL DEFAULT 0 CHECK (rising_listed_cents <= 0),
  -- What came in before this was counted as what a tariff may be taken of; by the bank's time.
  received_until      timestamptz,
  -- What the lists had told when it was last looked; by our time.
  listed_until        timestamptz,
  CHECK ((base_cents IS NULL) = (base_at IS NULL)),
  CHECK ((rising_cents IS NULL) = (rising_at IS NULL))
) WITH (fillfactor = 50);

-- A process of the version before goes on with its own, which nobody looks at any more.
INSERT INTO listed_expectation (base_cents, base_at, received_until, listed_until)
SELECT CASE WHEN c.at IS NOT NULL THEN s.base_cents END, CASE WHEN s.base_cents IS NOT NULL THEN c.at END,
       c.at + interval '5 minutes', (SELECT max(seen_at) FROM statement_entry)
  FROM bank_shortfall s, (SELECT max(read_at) AS at FROM bank_balance WHERE compared_at IS NOT NULL) c
 WHERE s.name = 'balance';

GRANT SELECT, UPDATE (base_cents, base_at, base_listed_cents, rising_cents, rising_at, rising_listed_cents, received_until, listed_until)
  ON listed_expectation TO pixgate_app;

-- What no look changes without finding money missing stands in the trail: more expected than had risen, less by more than came in or
-- was listed since, nothing, and what came in counted once more.
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
  -- Once as a tariff, and once as listed late. Before the first proof there is nothing to change.
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
REVOKE EXECUTE ON FUNCTION tell_expectation() FROM PUBLIC;
CREATE TRIGGER told AFTER UPDATE ON listed_expectation FOR EACH ROW
  WHEN (NEW IS DISTINCT FROM OLD) EXECUTE FUNCTION tell_expectation();
