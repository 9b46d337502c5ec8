-- What was sent to receivers is kept for 90 days at least, as payments can be disputed for so long, and while an operation is in
-- doubt or has an open case. Then its deliveries go, with their attempts; that there was a notification stays for good.
-- @source rules#privacy.4, rules#privacy.10
CREATE OR REPLACE FUNCTION notification_time(days integer) RETURNS timestamptz
  LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT statement_timestamp() - make_interval(days => greatest(days, 90))
$$;

-- Whether somebody may still have to find out what became of an operation, and who was told of it.
CREATE FUNCTION is_disputed(operation_id uuid) RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM operation o
                  WHERE o.id = is_disputed.operation_id
                    AND o.status IN ('PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED'))
      OR EXISTS (SELECT FROM "case" c WHERE c.operation_id = is_disputed.operation_id AND c.closed_at IS NULL)
$$;

-- What may have to be erased, the oldest first; what is pending is not in it.
CREATE INDEX delivery_to_erase ON delivery (finished_at) WHERE finished_at IS NOT NULL;

CREATE FUNCTION is_over(delivery delivery) RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT delivery.state <> 'PENDING' AND delivery.finished_at < notification_time(0)
     AND NOT EXISTS (SELECT FROM notification n WHERE n.id = delivery.notification_id AND is_disputed(n.operation_id))
$$;

-- For everybody, the owner too: what is erased is looked at again row by row.
CREATE FUNCTION refuse_all_but_erasing_delivery() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF current_setting('pixgate.erases', true) = 'yes' AND is_over(OLD) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'a delivery is kept' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER only_erased BEFORE DELETE ON delivery
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasing_delivery();
CREATE TRIGGER append_only BEFORE TRUNCATE ON delivery
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

CREATE FUNCTION refuse_all_but_erasing_attempt() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF current_setting('pixgate.erases', true) = 'yes'
     AND EXISTS (SELECT FROM delivery d WHERE d.id = OLD.delivery_id AND is_over(d)) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'delivery_attempt is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
DROP TRIGGER append_only ON delivery_attempt;
CREATE TRIGGER append_only BEFORE UPDATE OR TRUNCATE ON delivery_attempt
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER only_erased BEFORE DELETE ON delivery_attempt
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasing_attempt();

-- As erase_callbacks() and the others. Attempts go first: each is looked at with its delivery.
CREATE FUNCTION erase_deliveries(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  over uuid[] := ARRAY(
    SELECT id FROM delivery d
     WHERE finished_at < notification_time(days) AND is_over(d)
     ORDER BY finished_at LIMIT most FOR UPDATE SKIP LOCKED);
BEGIN
  PERFORM set_config('pixgate.erases', 'yes', true);
  DELETE FROM delivery_attempt WHERE delivery_id = ANY (over);
  DELETE FROM delivery WHERE id = ANY (over);
  PERFORM set_config('pixgate.erases', '', true);
  RETURN cardinality(over);
END $$;

CREATE OR REPLACE FUNCTION erase_notifications(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  erased integer;
BEGIN
  UPDATE notification SET erased_at = clock_timestamp(), body = '', body_sha256 = sha256(body)
   WHERE id = ANY (ARRAY(
           SELECT id FROM notification n
            WHERE erased_at IS NULL AND fanned_out_at IS NOT NULL AND created_at < notification_time(days)
              AND NOT is_disputed(operation_id)
              AND NOT EXISTS (SELECT FROM delivery d
                               WHERE d.notification_id = n.id
                                 AND (d.finished_at IS NULL OR d.finished_at >= notification_time(days)))
            ORDER BY created_at LIMIT most FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS erased = ROW_COUNT;
  RETURN erased;
END $$;

REVOKE EXECUTE ON FUNCTION is_disputed(uuid), is_over(delivery), refuse_all_but_erasing_delivery(),
  refuse_all_but_erasing_attempt(), erase_deliveries(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_deliveries(integer, integer) TO pixgate_app;
