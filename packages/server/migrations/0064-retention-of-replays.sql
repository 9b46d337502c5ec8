-- What is erased of deliveries, with how they were answered and what of them was sent again: as 0056, 0057 and 0062 say each for
-- itself.
-- @source rules#privacy.4, rules#privacy.10, rules#webhooks.17

-- A delivery that is sent again goes neither while it waits nor before that is as old as the delivery itself must be.
CREATE OR REPLACE FUNCTION is_over(delivery delivery) RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT delivery.state <> 'PENDING' AND delivery.finished_at < notification_time(0)
     AND NOT EXISTS (SELECT FROM replay_delivery r
                      WHERE r.delivery_id = delivery.id
                        AND (r.finished_at IS NULL OR r.finished_at >= notification_time(0)))
     AND NOT EXISTS (SELECT FROM notification n WHERE n.id = delivery.notification_id AND is_disputed(n.operation_id))
$$;
CREATE INDEX replay_delivery_of ON replay_delivery (delivery_id);

-- Rows of attempts are removed with their delivery, and of what stays only how the answer began is taken.
DROP TRIGGER append_only ON delivery_attempt;
CREATE TRIGGER append_only BEFORE TRUNCATE ON delivery_attempt
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

CREATE FUNCTION refuse_all_but_erasing_replay() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF current_setting('pixgate.erases', true) = 'yes'
     AND EXISTS (SELECT FROM delivery d WHERE d.id = OLD.delivery_id AND is_over(d)) THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'what was sent again is kept' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER only_erased BEFORE DELETE ON replay_delivery
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasing_replay();
CREATE TRIGGER append_only BEFORE TRUNCATE ON replay_delivery
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

CREATE OR REPLACE FUNCTION erase_deliveries(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  over uuid[] := ARRAY(
    SELECT id FROM delivery d
     WHERE finished_at < notification_time(days) AND is_over(d)
     ORDER BY finished_at LIMIT most FOR UPDATE SKIP LOCKED);
BEGIN
  PERFORM set_config('pixgate.erases', 'yes', true);
  DELETE FROM delivery_attempt WHERE delivery_id = ANY (over);
  DELETE FROM replay_delivery WHERE delivery_id = ANY (over);
  DELETE FROM delivery WHERE id = ANY (over);
  PERFORM set_config('pixgate.erases', '', true);
  RETURN cardinality(over);
END $$;

CREATE OR REPLACE FUNCTION erase_notifications(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  gone uuid[] := ARRAY(
    SELECT id FROM notification n
     WHERE erased_at IS NULL AND fanned_out_at IS NOT NULL AND created_at < notification_time(days)
       AND NOT is_disputed(operation_id)
       AND NOT EXISTS (
         SELECT FROM delivery d
          WHERE d.notification_id = n.id
            AND (d.finished_at IS NULL OR d.finished_at >= notification_time(days)
                 OR EXISTS (SELECT FROM delivery_attempt a
                             WHERE a.delivery_id = d.id AND a.ended_at >= notification_time(days))))
     ORDER BY created_at LIMIT most FOR UPDATE SKIP LOCKED);
  erased integer;
BEGIN
  PERFORM set_config('pixgate.erases', 'yes', true);
  UPDATE delivery_attempt a SET excerpt = NULL
    FROM delivery d
   WHERE d.notification_id = ANY (gone) AND a.delivery_id = d.id AND a.excerpt IS NOT NULL;
  PERFORM set_config('pixgate.erases', '', true);
  UPDATE notification SET erased_at = clock_timestamp(), body = '', body_sha256 = sha256(body) WHERE id = ANY (gone);
  GET DIAGNOSTICS erased = ROW_COUNT;
  RETURN erased;
END $$;

REVOKE EXECUTE ON FUNCTION refuse_all_but_erasing_replay() FROM PUBLIC;
