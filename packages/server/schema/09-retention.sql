-- Erasing of personal data once its time is over: bodies of callbacks and notifications, requests that ended without money, and
-- deliveries. Amounts, ids, states and times stay, and so does the ledger. Nothing else can be erased, and nothing earlier.
-- @source rules#privacy.4, rules#privacy.10, rules#webhooks.17

-- Rows that may have to be erased, the oldest first. None of these columns changes with other updates.
CREATE INDEX inbox_to_erase ON inbox (received_at) WHERE erased_at IS NULL;
CREATE INDEX notification_to_erase ON notification (created_at) WHERE erased_at IS NULL AND fanned_out_at IS NOT NULL;
CREATE INDEX operation_to_erase ON operation (created_at)
  WHERE erased_at IS NULL AND status IN ('FAILED', 'EXPIRED', 'RELEASED');

-- Evidence is kept for 120 days at least, whatever is configured: a charge lives for 30 days, and its payment can be refunded for
-- 89 and taken back by its bank for 80.
CREATE FUNCTION evidence_time(days integer) RETURNS timestamptz LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT statement_timestamp() - make_interval(days => greatest(days, 120))
$$;

-- Deliveries are kept for 90 days at least, as payments can be disputed for so long.
CREATE FUNCTION notification_time(days integer) RETURNS timestamptz
  LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT statement_timestamp() - make_interval(days => greatest(days, 90))
$$;

-- A JSON document without the data of persons and without the bank's free texts. The merchant's own texts stay.
CREATE FUNCTION without_persons(document jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN CASE jsonb_typeof(document)
    WHEN 'object' THEN (
      SELECT coalesce(jsonb_object_agg(key, CASE
               WHEN key IN ('payer', 'payerName', 'payerDocument', 'payerIspb', 'recipientName', 'recipientDocument',
                            'recipientIspb', 'failureReason', 'errorMessage') THEN 'null'::jsonb
               ELSE without_persons(value) END), '{}')
        FROM jsonb_each(document))
    WHEN 'array' THEN (
      SELECT coalesce(jsonb_agg(without_persons(value) ORDER BY place), '[]')
        FROM jsonb_array_elements(document) WITH ORDINALITY AS item (value, place))
    ELSE document END;
END $$;

-- A request without the data of persons. A Pix key stays text: '***', which no Pix key is.
CREATE FUNCTION request_without_persons(kind text, detail jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE SET search_path = public, pg_temp AS $$
  SELECT CASE kind
    WHEN 'cash_in' THEN detail || '{"payer": null, "description": null}'
    WHEN 'cash_out' THEN detail || '{"description": null, "qrCode": null}' || jsonb_build_object('recipient',
      (detail -> 'recipient') || '{"name": null, "document": null, "pixKey": "***"}')
    WHEN 'refund_in' THEN detail || '{"reason": null}'
    ELSE detail END
$$;

-- The part of a callback that verify-ledger reads: ids, states, amounts and times of our own protocol. Empty where it could not be
-- read, or is of another protocol.
CREATE FUNCTION money_told(callback inbox) RETURNS bytea LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT convert_to(coalesce((
    SELECT jsonb_object_agg(key, value)::text
      FROM jsonb_each(CASE WHEN jsonb_typeof(json_or_null(callback.body)) = 'object' THEN json_or_null(callback.body) END)
     WHERE callback.endpoint IN ('cash-in', 'cash-out')
       AND NOT EXISTS (SELECT FROM inbox_event e WHERE e.inbox_id = callback.id AND e.dedupe_key LIKE '%"unreadable%')
       AND key IN ('event', 'eventId', 'transactionId', 'externalId', 'status', 'endToEndId', 'returnId', 'valueCents',
                   'feeCents', 'occurredAt')), ''), 'UTF8')
$$;

-- Whether a callback is over: all its events are processed, and no case is open whose operator may have to read it.
CREATE FUNCTION is_over(callback inbox) RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT NOT EXISTS (
    SELECT FROM inbox_event e
     WHERE e.inbox_id = callback.id
       AND (e.processed_at IS NULL
            OR EXISTS (SELECT FROM "case" c WHERE c.operation_id = e.operation_id AND c.closed_at IS NULL)
            OR (e.state = 'QUARANTINED' OR e.outcome = 'CASE_OPENED')
               AND EXISTS (SELECT FROM "case" c
                            WHERE c.operation_id IS NULL AND c.closed_at IS NULL
                              AND c.reference = encode(e.content_hash, 'hex'))))
$$;

-- Whether the outcome of an operation is in doubt, or has an open case: its deliveries may still be evidence.
CREATE FUNCTION is_disputed(operation_id uuid) RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM operation o
                  WHERE o.id = is_disputed.operation_id
                    AND o.status IN ('PROVIDER_RESULT_UNKNOWN', 'RECONCILIATION_REQUIRED'))
      OR EXISTS (SELECT FROM "case" c WHERE c.operation_id = is_disputed.operation_id AND c.closed_at IS NULL)
$$;

-- Whether a delivery may be erased. One that is resent stays while there is something to send; its time begins anew then.
CREATE FUNCTION is_over(delivery delivery) RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT delivery.due_at IS NULL AND delivery.finished_at < notification_time(0)
     AND NOT EXISTS (SELECT FROM notification n WHERE n.id = delivery.notification_id AND is_disputed(n.operation_id))
$$;

-- Whether the body of a notification may be erased: no delivery of it is being sent, or was within so many days.
CREATE FUNCTION is_over(notification notification, days integer) RETURNS boolean
  LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT NOT is_disputed(notification.operation_id)
     AND NOT EXISTS (
       SELECT FROM delivery d
        WHERE d.notification_id = notification.id
          AND (d.due_at IS NOT NULL OR d.finished_at >= notification_time(days)
               OR EXISTS (SELECT FROM delivery_attempt a
                           WHERE a.delivery_id = d.id AND a.ended_at >= notification_time(days))))
$$;

-- Guards of what is erased. They check every row, also for the owner; the functions at the end are the only way past the guards
-- of the tables.

CREATE FUNCTION refuse_all_but_erasing_callback() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL AND OLD.received_at < evidence_time(0) AND is_over(OLD)
     AND NEW.body = money_told(OLD) AND NEW.body_sha256 = sha256(OLD.body) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'what the partner said is never changed' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER body_only_erased BEFORE UPDATE OF body, body_sha256, erased_at ON inbox
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasing_callback();

CREATE FUNCTION refuse_all_but_erasing_move() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF OLD.at < evidence_time(0) AND NEW.facts = without_persons(OLD.facts)
     AND NEW.evidence IS NOT DISTINCT FROM without_persons(OLD.evidence)
     AND to_jsonb(NEW) - 'facts' - 'evidence' = to_jsonb(OLD) - 'facts' - 'evidence'
     AND EXISTS (SELECT FROM operation o
                  WHERE o.id = OLD.operation_id AND o.status IN ('FAILED', 'EXPIRED', 'RELEASED')) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'move is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER facts_only_erased BEFORE UPDATE ON move
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasing_move();

-- An operation that moves after it was erased may have data of persons again: from the move, or from a process that had its facts
-- in memory. It is erased again once its time is over.
CREATE FUNCTION note_move_after_erasing() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  NEW.erased_at := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER moved_after_erasing BEFORE UPDATE OF version ON operation
  FOR EACH ROW WHEN (OLD.erased_at IS NOT NULL AND NEW.version <> OLD.version)
  EXECUTE FUNCTION note_move_after_erasing();

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
CREATE TRIGGER only_erased BEFORE DELETE ON delivery_attempt
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasing_attempt();

-- The excerpt of an answer goes with the notification that it answers; nothing else of an attempt changes.
CREATE FUNCTION refuse_all_but_erasing_excerpt() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF NEW.excerpt IS NULL AND OLD.ended_at < notification_time(0)
     AND to_jsonb(NEW) - 'excerpt' = to_jsonb(OLD) - 'excerpt' THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'delivery_attempt is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER excerpt_only_erased BEFORE UPDATE ON delivery_attempt
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasing_excerpt();

-- Each function erases rows that are older than so many days, the oldest first, at most `most`, and returns how many. Rows that are
-- locked are left for the next call, so several may run at once. Sequential and bitmap scans are off: on a table that was never
-- analysed each batch would read all of it.

CREATE FUNCTION erase_callbacks(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  erased integer;
BEGIN
  PERFORM set_config('pixgate.erases', 'yes', true);
  UPDATE inbox i SET erased_at = clock_timestamp(), body = money_told(i), body_sha256 = sha256(i.body)
   WHERE id = ANY (ARRAY(
           SELECT id FROM inbox o
            WHERE erased_at IS NULL AND received_at < evidence_time(days) AND is_over(o)
            ORDER BY received_at LIMIT most FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS erased = ROW_COUNT;
  PERFORM set_config('pixgate.erases', '', true);
  RETURN erased;
END $$;

CREATE FUNCTION erase_notifications(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  gone uuid[] := ARRAY(
    SELECT id FROM notification n
     WHERE erased_at IS NULL AND fanned_out_at IS NOT NULL AND created_at < notification_time(days) AND is_over(n, days)
     ORDER BY created_at LIMIT most FOR UPDATE SKIP LOCKED);
  erased integer;
BEGIN
  -- A resend locks the notification: one that committed before the lock above is seen now.
  gone := ARRAY(SELECT id FROM notification n WHERE id = ANY (gone) AND is_over(n, days));
  PERFORM set_config('pixgate.erases', 'yes', true);
  UPDATE delivery_attempt a SET excerpt = NULL
    FROM delivery d
   WHERE d.notification_id = ANY (gone) AND a.delivery_id = d.id AND a.excerpt IS NOT NULL;
  PERFORM set_config('pixgate.erases', '', true);
  UPDATE notification SET erased_at = clock_timestamp(), body = '', body_sha256 = sha256(body) WHERE id = ANY (gone);
  GET DIAGNOSTICS erased = ROW_COUNT;
  RETURN erased;
END $$;

-- Attempts go first: their guard looks at their delivery.
CREATE FUNCTION erase_deliveries(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
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

CREATE FUNCTION erase_ended_operations(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  ended uuid[] := ARRAY(
    SELECT id FROM operation o
     WHERE erased_at IS NULL AND status IN ('FAILED', 'EXPIRED', 'RELEASED') AND created_at < evidence_time(days)
       AND updated_at < evidence_time(days) AND due_at IS NULL
       AND NOT EXISTS (SELECT FROM "case" c WHERE c.operation_id = o.id AND c.closed_at IS NULL)
     ORDER BY created_at LIMIT most FOR UPDATE SKIP LOCKED);
BEGIN
  PERFORM set_config('pixgate.erases', 'yes', true);
  UPDATE move SET facts = without_persons(facts), evidence = without_persons(evidence) WHERE operation_id = ANY (ended);
  PERFORM set_config('pixgate.erases', '', true);
  UPDATE "case" SET facts = without_persons(facts) WHERE operation_id = ANY (ended);
  UPDATE operation
     SET erased_at = clock_timestamp(), detail = request_without_persons(kind, detail), facts = without_persons(facts)
   WHERE id = ANY (ended);
  RETURN cardinality(ended);
END $$;
