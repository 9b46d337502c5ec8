-- Callbacks of the bank: committed before they are answered, applied afterwards.

-- A callback as it came. One callback may carry several events.
CREATE TABLE inbox (
  id          uuid PRIMARY KEY,
  -- The route that received it; each bank has its own.
  endpoint    text NOT NULL,
  body        bytea NOT NULL,
  -- Whether the bank proved that it was the bank. A callback without proof only makes us ask the bank.
  is_proven   boolean NOT NULL DEFAULT true,
  received_at timestamptz NOT NULL,
  -- Time at which body was reduced to ids and amounts, and the SHA-256 that it had.
  erased_at   timestamptz,
  body_sha256 bytea
) WITH (fillfactor = 80);
GRANT SELECT, INSERT ON inbox TO pixgate_app;

-- The words of the bank are evidence. The one change is erasing data of persons, see retention.
CREATE TRIGGER evidence_kept BEFORE UPDATE OF id, endpoint, is_proven, received_at ON inbox
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_inbox_rewriting();
CREATE TRIGGER body_kept BEFORE UPDATE OF body, body_sha256, erased_at ON inbox
  FOR EACH STATEMENT WHEN (current_setting('pixgate.erases', true) IS DISTINCT FROM 'yes')
  EXECUTE FUNCTION refuse_inbox_rewriting();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON inbox
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- An event of a callback, and its outcome.
CREATE TABLE inbox_event (
  inbox_id      uuid NOT NULL,
  -- Its place in the callback, from 0.
  ordinal       integer NOT NULL,
  -- JSON array as text: endpoint, event, the bank's reference, status and ids.
  dedupe_key    text NOT NULL,
  -- SHA-256 of its contents, or of the whole callback where it cannot be read.
  content_hash  bytea NOT NULL,
  state         text NOT NULL CHECK (state IN ('NEW', 'DONE', 'PARKED', 'QUARANTINED', 'CONFLICT')),
  outcome       text,
  -- The operation that it was applied to.
  operation_id  uuid,
  -- The operation that an operator named for an event that names none, or several.
  attributed_to uuid,
  -- Storing it counts as the first attempt: the process that stored it applies it at once.
  attempts      integer NOT NULL DEFAULT 1,
  -- Attempts that failed, and attempts that were parked. Each has its own limit; a wait counts for neither.
  failures      integer NOT NULL DEFAULT 0,
  parkings      integer NOT NULL DEFAULT 0,
  -- Time of the next attempt. The process that stored it holds it until then.
  due_at        timestamptz,
  processed_at  timestamptz,
  PRIMARY KEY (inbox_id, ordinal)
) WITH (fillfactor = 80);
GRANT SELECT, INSERT ON inbox_event TO pixgate_app;
GRANT UPDATE (state, outcome, operation_id, attributed_to, attempts, failures, parkings, due_at, processed_at) ON inbox_event
  TO pixgate_app;

-- An event is stored once, and each contradiction of it once.
CREATE UNIQUE INDEX inbox_event_once ON inbox_event (dedupe_key) WHERE state <> 'CONFLICT';
CREATE UNIQUE INDEX inbox_event_conflict_once ON inbox_event (dedupe_key, content_hash) WHERE state = 'CONFLICT';
-- Events that are due.
CREATE INDEX inbox_event_due ON inbox_event (due_at) WHERE due_at IS NOT NULL;
-- Events of an operation, for an operator.
CREATE INDEX inbox_event_operation ON inbox_event (operation_id) WHERE operation_id IS NOT NULL;

CREATE TRIGGER evidence_kept BEFORE UPDATE OF inbox_id, ordinal, dedupe_key, content_hash ON inbox_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_inbox_rewriting();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON inbox_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- An event that is set aside (in quarantine, or given up with a case) gives up its key: the same event, reported correctly later,
-- must not be taken for a repeat. The new key contains the old one and the id of the callback, so it stays unique.
CREATE FUNCTION free_event_key() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  NEW.dedupe_key := jsonb_build_array('set aside', OLD.inbox_id, OLD.dedupe_key)::text;
  RETURN NEW;
END $$;
CREATE TRIGGER set_aside BEFORE UPDATE ON inbox_event FOR EACH ROW
  WHEN (OLD.processed_at IS NULL AND NEW.processed_at IS NOT NULL
        AND (NEW.state IN ('QUARANTINED', 'PARKED') OR NEW.outcome = 'CASE_OPENED'))
  EXECUTE FUNCTION free_event_key();

-- A body as JSON, or NULL where PostgreSQL's JSON does not take it: half a surrogate pair, U+0000, a number of too many digits,
-- too many nested brackets. One such body must not hide the others.
-- @source failure-modes#DB-45
CREATE FUNCTION json_or_null(body bytea) RETURNS jsonb LANGUAGE plpgsql STABLE STRICT SET search_path = public, pg_temp AS $$
BEGIN
  RETURN convert_from(body, 'UTF8')::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN NULL;
END $$;
