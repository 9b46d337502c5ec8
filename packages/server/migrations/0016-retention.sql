-- What a person is known by goes once its time is over: what the bank sent, what receivers were sent, and the request of what
-- ended without money. Amounts, ids, states and times stay, and so do the books. Nothing else can be erased, nor earlier.
-- @source rules#privacy.4

ALTER TABLE inbox ADD COLUMN erased_at timestamptz, ADD COLUMN body_sha256 bytea;
ALTER TABLE notification ADD COLUMN erased_at timestamptz, ADD COLUMN body_sha256 bytea;
ALTER TABLE operation ADD COLUMN erased_at timestamptz;
COMMENT ON COLUMN inbox.erased_at IS
  'When the body became what it tells of money; body_sha256 is the hash of what had come.';

-- What may have to be erased; what was, leaves them. None has a column that other updates change.
CREATE INDEX inbox_to_erase ON inbox (received_at) WHERE erased_at IS NULL;
CREATE INDEX notification_to_erase ON notification (created_at) WHERE erased_at IS NULL AND fanned_out_at IS NOT NULL;
CREATE INDEX operation_to_erase ON operation (created_at)
  WHERE erased_at IS NULL AND status IN ('FAILED', 'EXPIRED', 'RELEASED');

-- A charge lives for 30 days at most, and a payment can be refunded for 89 and taken back by its bank for 80: nothing that is
-- younger than both together goes, whatever is configured. What receivers were sent is tried for four days, and can be made
-- again from the operation.
CREATE FUNCTION evidence_time(days integer) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT statement_timestamp() - make_interval(days => greatest(days, 120))
$$;
CREATE FUNCTION notification_time(days integer) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT statement_timestamp() - make_interval(days => greatest(days, 30))
$$;

-- A document without what a person is known by, and without the bank's free texts. The merchant's own stays.
CREATE FUNCTION without_persons(document jsonb) RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $$
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

-- The same of a request. No Pix key is '***', which is text where a process of the version before expects text.
CREATE FUNCTION request_without_persons(kind text, detail jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE kind
    WHEN 'cash_in' THEN detail || '{"payer": null, "description": null}'
    WHEN 'cash_out' THEN detail || '{"description": null, "qrCode": null}' || jsonb_build_object('recipient',
      (detail -> 'recipient') || '{"name": null, "document": null, "pixKey": "***"}')
    WHEN 'refund_in' THEN detail || '{"reason": null}'
    ELSE detail END
$$;

-- What a callback tells of money, as verify-ledger reads it, and nothing else. Of one that could not be read, or whose words
-- are not known here, nothing.
CREATE FUNCTION money_told(callback inbox) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT convert_to(coalesce((
    SELECT jsonb_object_agg(key, value)::text
      FROM jsonb_each(CASE WHEN jsonb_typeof(json_or_null(callback.body)) = 'object' THEN json_or_null(callback.body) END)
     WHERE callback.endpoint IN ('cash-in', 'cash-out')
       AND NOT EXISTS (SELECT FROM inbox_event e WHERE e.inbox_id = callback.id AND e.dedupe_key LIKE '%"unreadable%')
       AND key IN ('event', 'eventId', 'transactionId', 'externalId', 'status', 'endToEndId', 'returnId', 'valueCents',
                   'feeCents', 'occurredAt')), ''), 'UTF8')
$$;

-- Whether a callback is over: all of it is dealt with, and no case is open for which somebody may have to read it.
CREATE FUNCTION is_over(callback inbox) RETURNS boolean LANGUAGE sql STABLE AS $$
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

-- For everybody, the owner too: the three functions below are the only way, and what they erase is looked at again row by row.

CREATE FUNCTION refuse_all_but_erasing_callback() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.erased_at IS NULL AND NEW.erased_at IS NOT NULL AND OLD.received_at < evidence_time(0) AND is_over(OLD)
     AND NEW.body = money_told(OLD) AND NEW.body_sha256 = sha256(OLD.body) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'what the partner said is never changed' USING ERRCODE = 'insufficient_privilege';
END $$;

DROP TRIGGER evidence_kept ON inbox;
CREATE TRIGGER evidence_kept BEFORE UPDATE OF id, endpoint, dedupe_key, body_hash, is_proven, received_at ON inbox
  FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_inbox_rewriting();
CREATE TRIGGER body_kept BEFORE UPDATE OF body, body_sha256, erased_at ON inbox
  FOR EACH STATEMENT WHEN (current_setting('pixgate.erases', true) IS DISTINCT FROM 'yes')
  EXECUTE FUNCTION refuse_inbox_rewriting();
CREATE TRIGGER body_only_erased BEFORE UPDATE OF body, body_sha256, erased_at ON inbox
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasing_callback();

-- These are for what a process of before 0007 writes, which is now not the only one that updates the table.
DROP TRIGGER open_events_shared ON inbox;
CREATE TRIGGER open_events_shared
  BEFORE UPDATE OF state, outcome, operation_id, attempts, failures, parkings, due_at, processed_at ON inbox
  FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION share_open_events();
DROP TRIGGER outcome_noted ON inbox;
CREATE TRIGGER outcome_noted
  BEFORE UPDATE OF state, outcome, operation_id, attempts, failures, parkings, due_at, processed_at ON inbox
  FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION note_outcome_of_old_worker();

CREATE FUNCTION refuse_all_but_erasing_move() RETURNS trigger LANGUAGE plpgsql AS $$
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

DROP TRIGGER append_only ON move;
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON move
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER facts_kept BEFORE UPDATE ON move
  FOR EACH STATEMENT WHEN (current_setting('pixgate.erases', true) IS DISTINCT FROM 'yes')
  EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER facts_only_erased BEFORE UPDATE ON move
  FOR EACH ROW EXECUTE FUNCTION refuse_all_but_erasing_move();

-- What moves after it was erased learned something, or was written by a process that still had its facts in memory: it is
-- looked at again once its time is over.
CREATE FUNCTION note_move_after_erasing() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.erased_at := NULL;
  RETURN NEW;
END $$;
CREATE TRIGGER moved_after_erasing BEFORE UPDATE OF version ON operation
  FOR EACH ROW WHEN (OLD.erased_at IS NOT NULL AND NEW.version <> OLD.version)
  EXECUTE FUNCTION note_move_after_erasing();

-- Each erases what is older than so many days, the oldest first, no more than `most`, and says how many that were. What
-- somebody works on is left for the next time, so that several may run at once and none waits. They go by the indexes above
-- whatever is known of a table's size: on one that was never analysed each batch read all of it.

CREATE FUNCTION erase_callbacks(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public SET enable_seqscan = off SET enable_bitmapscan = off AS $$
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
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public SET enable_seqscan = off SET enable_bitmapscan = off AS $$
DECLARE
  erased integer;
BEGIN
  UPDATE notification SET erased_at = clock_timestamp(), body = '', body_sha256 = sha256(body)
   WHERE id = ANY (ARRAY(
           SELECT id FROM notification n
            WHERE erased_at IS NULL AND fanned_out_at IS NOT NULL AND created_at < notification_time(days)
              AND NOT EXISTS (SELECT FROM delivery d
                               WHERE d.notification_id = n.id
                                 AND (d.finished_at IS NULL OR d.finished_at >= notification_time(days)))
            ORDER BY created_at LIMIT most FOR UPDATE SKIP LOCKED));
  GET DIAGNOSTICS erased = ROW_COUNT;
  RETURN erased;
END $$;

CREATE FUNCTION erase_ended_operations(days integer, most integer) RETURNS integer
  LANGUAGE plpgsql SECURITY DEFINER SET search_path = public SET enable_seqscan = off SET enable_bitmapscan = off AS $$
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

REVOKE EXECUTE ON FUNCTION erase_callbacks(integer, integer), erase_notifications(integer, integer),
  erase_ended_operations(integer, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION erase_callbacks(integer, integer), erase_notifications(integer, integer),
  erase_ended_operations(integer, integer) TO pixgate_app;
