-- Tariffs that were settled and may not be booked: a process of the version before keeps those that it reads.

CREATE INDEX statement_entry_tariff ON statement_entry (settled_at)
  WHERE kind = 'TARIFF' AND (outcome = 'KEPT' OR id <> reference);

-- For which differences the trip wire has suspended is what its rows of the trail say, and no case: whoever has the login of a
-- server may open one beforehand. Such a row is there only where payouts are suspended by it when it is committed.
-- @source rules#trip-wire.5

CREATE INDEX audit_trip ON audit USING gin ((facts -> 'cases')) WHERE actor = 'trip-wire';

CREATE FUNCTION refuse_false_trip() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM control
                  WHERE name = 'cash_out_switch' AND value ->> 'enabled' = 'false' AND value ->> 'by' = 'trip-wire') THEN
    RAISE EXCEPTION 'the trip wire has suspended nothing' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION refuse_false_trip() FROM PUBLIC;
CREATE CONSTRAINT TRIGGER trip_is_true AFTER INSERT ON audit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.actor = 'trip-wire') EXECUTE FUNCTION refuse_false_trip();

-- A case of a statement that does not account for itself begins open, and who closes it is told.
CREATE TRIGGER unaccounted_begins_open BEFORE INSERT ON "case" FOR EACH ROW
  WHEN (NEW.closed_at IS NOT NULL AND NEW.kind = 'statement_unaccounted') EXECUTE FUNCTION refuse_closed_case();
CREATE TRIGGER unaccounted_closing_told AFTER UPDATE OF closed_at ON "case" FOR EACH ROW
  WHEN (OLD.closed_at IS NULL AND NEW.closed_at IS NOT NULL AND NEW.kind = 'statement_unaccounted')
  EXECUTE FUNCTION tell_closed_case();

-- What all entries of the statement add up to is the database's own sum, and nobody else's to change: by how much the bank lacks money
-- follows from it. A process of the version before never changed it either.
-- @source rules#audit.10

REVOKE UPDATE (entries_cents) ON statement_mark FROM pixgate_app;
CREATE OR REPLACE FUNCTION add_statement_entries() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  -- As the owner: attached to another table it would let anybody choose the sum.
  IF TG_RELID <> 'public.statement_entry'::regclass THEN
    RAISE EXCEPTION 'only entries of the statement are added up' USING ERRCODE = 'insufficient_privilege';
  END IF;
  UPDATE statement_mark k
     SET entries_cents = k.entries_cents + t.cents
    FROM (SELECT sum(CASE direction WHEN 'in' THEN value_cents ELSE -value_cents END) AS cents FROM added) t
   WHERE t.cents IS NOT NULL;
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION add_statement_entries() FROM PUBLIC;

-- Since when money is missing: whoever sets it back, again and again, is never five minutes late.
CREATE FUNCTION tell_short_since() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO audit (id, at, actor, action, subject, address, facts)
  VALUES (gen_random_uuid(), clock_timestamp(), 'database ' || session_user, 'bank_shortfall.noted', NEW.name,
          coalesce(host(inet_client_addr()), ''), jsonb_build_object('since', NEW.short_since, 'before', OLD.short_since));
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION tell_short_since() FROM PUBLIC;
CREATE TRIGGER since_told AFTER UPDATE OF short_since ON bank_shortfall FOR EACH ROW
  WHEN (NEW.short_since IS DISTINCT FROM OLD.short_since) EXECUTE FUNCTION tell_short_since();

-- A signed head is one of the trail. What is none accuses whoever wrote the trail of having rewritten it, for good; nobody but
-- who signs has a reason to add one.
-- @source rules#audit.3

CREATE FUNCTION refuse_strange_anchor() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM audit_chain c WHERE c.seq = NEW.seq AND c.hash = NEW.hash) THEN
    RAISE EXCEPTION 'the audit trail has no such head' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
REVOKE EXECUTE ON FUNCTION refuse_strange_anchor() FROM PUBLIC;
CREATE TRIGGER is_head BEFORE INSERT ON audit_anchor FOR EACH ROW EXECUTE FUNCTION refuse_strange_anchor();
