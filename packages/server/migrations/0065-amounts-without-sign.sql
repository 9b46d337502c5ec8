-- The amount of a case has no sign, whichever way its money went: facts that tell one with a sign tell the same amount.
CREATE OR REPLACE FUNCTION reported_cents(facts jsonb) RETURNS bigint LANGUAGE sql IMMUTABLE
  SET search_path = public, pg_temp AS $$
  SELECT CASE WHEN told ~ '^-?\d{1,15}$' THEN abs(told::bigint) END
    FROM (SELECT coalesce(facts ->> 'valueCents', facts #>> '{event,valueCents}') AS told) f
$$;

CREATE OR REPLACE FUNCTION keep_most_told() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  NEW.amount_cents := greatest(abs(OLD.amount_cents), abs(NEW.amount_cents), reported_cents(NEW.facts));
  RETURN NEW;
END $$;

-- What was kept with a sign, or not at all for it.
UPDATE "case" SET amount_cents = abs(amount_cents) WHERE amount_cents < 0;
UPDATE "case" SET amount_cents = reported_cents(facts)
 WHERE operation_id IS NULL AND reported_cents(facts) > coalesce(amount_cents, 0);
