-- A case counts with the most that it was ever told to be about: nobody makes that less, also no process of the version before.
CREATE FUNCTION keep_most_told() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  NEW.amount_cents := greatest(OLD.amount_cents, NEW.amount_cents, reported_cents(NEW.facts));
  RETURN NEW;
END $$;
REVOKE EXECUTE ON FUNCTION keep_most_told() FROM PUBLIC;
CREATE TRIGGER most_told_kept BEFORE UPDATE OF facts, amount_cents ON "case" FOR EACH ROW
  EXECUTE FUNCTION keep_most_told();

-- What was told of cases of operations before: lists show it from now on.
UPDATE "case" c SET amount_cents = t.cents
  FROM (SELECT k.id,
               greatest((SELECT max((m.evidence ->> 'valueCents')::numeric::bigint) FROM move m
                          WHERE m.operation_id = k.operation_id AND jsonb_typeof(m.evidence -> 'valueCents') = 'number'
                            AND k.reference IN (m.evidence ->> 'endToEndId', m.evidence ->> 'returnId')),
                        CASE WHEN k.kind IN ('payment_unconfirmed', 'too_many_payments')
                             THEN (SELECT sum((p.value ->> 'valueCents')::bigint)::bigint
                                     FROM jsonb_each(CASE jsonb_typeof(o.facts -> 'toldPayments')
                                                     WHEN 'object' THEN o.facts -> 'toldPayments' ELSE '{}' END) p) END) AS cents
          FROM "case" k JOIN operation o ON o.id = k.operation_id) t
 WHERE c.id = t.id AND t.cents > coalesce(c.amount_cents, 0);
