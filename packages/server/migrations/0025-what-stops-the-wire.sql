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
