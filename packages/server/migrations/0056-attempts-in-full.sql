-- What an attempt took and how it was answered: so that whoever runs a receiver sees what we saw. Attempts of the version before
-- have none of it.
-- @source rules#webhooks.17
ALTER TABLE delivery_attempt
  ADD COLUMN subscription_id uuid,
  -- Of the system, of TLS or of the client, where there was no answer.
  ADD COLUMN code            text,
  -- How the answer began.
  ADD COLUMN excerpt         text,
  -- Milliseconds; null where it did not come to it, or did not need it.
  ADD COLUMN dns_ms          integer,
  ADD COLUMN connect_ms      integer,
  ADD COLUMN tls_ms          integer,
  ADD COLUMN wait_ms         integer,
  ADD COLUMN total_ms        integer;

-- How a receiver answered lately.
CREATE INDEX delivery_attempt_of_receiver ON delivery_attempt (subscription_id, ended_at) WHERE subscription_id IS NOT NULL;

-- Deliveries are listed by receiver, the newest first.
CREATE INDEX delivery_listed ON delivery (subscription_id, created_at, id);

-- How an answer began goes with the notification that it answers, and nothing else of an attempt is ever changed: for everybody,
-- the owner too.
CREATE FUNCTION refuse_all_but_erasing_excerpt() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF NEW.excerpt IS NULL AND OLD.ended_at < notification_time(0)
     AND to_jsonb(NEW) - 'excerpt' = to_jsonb(OLD) - 'excerpt' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'delivery_attempt is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
REVOKE EXECUTE ON FUNCTION refuse_all_but_erasing_excerpt() FROM PUBLIC;

DROP TRIGGER append_only ON delivery_attempt;
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON delivery_attempt
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER attempt_kept BEFORE UPDATE ON delivery_attempt
  FOR EACH STATEMENT WHEN (current_setting('pixgate.erases', true) IS DISTINCT FROM 'yes')
  EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER excerpt_only_erased BEFORE UPDATE ON delivery_attempt
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasing_excerpt();

-- As before, and with what receivers answered. What was sent again lately is left for later.
CREATE OR REPLACE FUNCTION erase_notifications(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
  SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  gone uuid[] := ARRAY(
    SELECT id FROM notification n
     WHERE erased_at IS NULL AND fanned_out_at IS NOT NULL AND created_at < notification_time(days)
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
