-- One callback of a bank may tell several events: `inbox` is the callback as it came, `inbox_event` each of its events and what
-- became of it.

-- Of the columns that tell of one event nothing is written any more, but by a process of the version before; see below.
-- The lock that this takes keeps everybody from the table until all of it is done.
ALTER TABLE inbox
  -- Whether the bank proved that it was the bank. What it did not prove is only ever a question to it.
  ADD COLUMN is_proven boolean NOT NULL DEFAULT true,
  ALTER COLUMN dedupe_key DROP NOT NULL,
  ALTER COLUMN body_hash DROP NOT NULL,
  ALTER COLUMN state DROP NOT NULL,
  -- A bank's routes have its own names.
  DROP CONSTRAINT inbox_endpoint_check;
COMMENT ON TABLE inbox IS 'What the bank sent, as it came. Append-only.';

CREATE TABLE inbox_event (
  inbox_id     uuid NOT NULL,
  -- Its place in the callback, from 0.
  ordinal      integer NOT NULL,
  dedupe_key   text NOT NULL,
  -- Of what it asserts, or of the whole callback where it cannot be read.
  content_hash bytea NOT NULL,
  state        text NOT NULL CHECK (state IN ('NEW', 'DONE', 'PARKED', 'QUARANTINED', 'CONFLICT')),
  outcome      text,
  operation_id uuid,
  -- Storing it counts as the first: the process that stored it applies it at once.
  attempts     integer NOT NULL DEFAULT 1,
  -- How often applying it failed, and how often it was parked: each has its own limit, and a wait counts for neither.
  failures     integer NOT NULL DEFAULT 0,
  parkings     integer NOT NULL DEFAULT 0,
  -- When it is taken up (again); the process that stored it holds it until then.
  due_at       timestamptz,
  processed_at timestamptz,
  -- Whether the columns of `inbox` tell the same, for a process of the version before.
  is_shared    boolean NOT NULL DEFAULT false,
  PRIMARY KEY (inbox_id, ordinal)
) WITH (fillfactor = 80);
COMMENT ON TABLE inbox_event IS 'What the bank said, append-only; what became of it is noted beside it.';

INSERT INTO inbox_event (inbox_id, ordinal, dedupe_key, content_hash, state, outcome, operation_id, attempts, failures,
                         parkings, due_at, processed_at, is_shared)
  SELECT id, 0, dedupe_key, body_hash, state, outcome, operation_id, attempts, failures,
         parkings, due_at, processed_at, processed_at IS NULL
    FROM inbox;

CREATE UNIQUE INDEX inbox_event_once ON inbox_event (dedupe_key) WHERE state <> 'CONFLICT';
CREATE UNIQUE INDEX inbox_event_conflict_once ON inbox_event (dedupe_key, content_hash) WHERE state = 'CONFLICT';
CREATE INDEX inbox_event_due ON inbox_event (due_at) WHERE due_at IS NOT NULL;

CREATE TRIGGER evidence_kept BEFORE UPDATE OF inbox_id, ordinal, dedupe_key, content_hash ON inbox_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_inbox_rewriting();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON inbox_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- As in 0004: what is set aside gives up its key, which the same event told rightly may then hold.
CREATE FUNCTION free_event_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.dedupe_key := jsonb_build_array('set aside', OLD.inbox_id, OLD.dedupe_key)::text;
  RETURN NEW;
END $$;
CREATE TRIGGER set_aside BEFORE UPDATE ON inbox_event FOR EACH ROW
  WHEN (OLD.processed_at IS NULL AND NEW.processed_at IS NOT NULL
        AND (NEW.state IN ('QUARANTINED', 'PARKED') OR NEW.outcome = 'CASE_OPENED'))
  EXECUTE FUNCTION free_event_key();

GRANT SELECT, INSERT ON inbox_event TO pixgate_app;
GRANT UPDATE (state, outcome, operation_id, attempts, failures, parkings, due_at, processed_at) ON inbox_event
  TO pixgate_app;

-- A process of the version before, which knows `inbox` only, may run beside one of this version while the service is upgraded.
-- It is told of open events, and what it does is noted, in the very row of each. Only such a process updates `inbox`, or
-- writes a state there: nobody else pays for this. Whoever has locked an event, in whichever table, has it: the other side
-- leaves it alone and waits for no lock. All of this, with the columns, goes in a later release.
-- @source failure-modes#EV-46

DROP TRIGGER evidence_kept ON inbox;
CREATE TRIGGER evidence_kept BEFORE UPDATE OF id, endpoint, dedupe_key, body, body_hash, is_proven, received_at ON inbox
  FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION refuse_inbox_rewriting();

-- Fills the columns of `inbox` in for these callbacks' events, where they are open and of the one protocol that was known.
CREATE FUNCTION share_events(callbacks uuid[]) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public AS $$
  WITH shared AS (
    UPDATE inbox_event SET is_shared = true
     WHERE (inbox_id, ordinal) IN (
             SELECT e.inbox_id, e.ordinal FROM inbox_event e JOIN inbox i ON i.id = e.inbox_id
              WHERE e.inbox_id = ANY (callbacks) AND e.ordinal = 0 AND e.due_at IS NOT NULL AND NOT e.is_shared
                AND i.endpoint IN ('cash-in', 'cash-out')
                FOR UPDATE OF e SKIP LOCKED)
    RETURNING inbox_id, dedupe_key, content_hash, state, outcome, operation_id, attempts, failures, parkings, due_at
  )
  UPDATE inbox i
     SET dedupe_key = s.dedupe_key, body_hash = s.content_hash, state = s.state, outcome = s.outcome,
         operation_id = s.operation_id, attempts = s.attempts, failures = s.failures, parkings = s.parkings,
         due_at = s.due_at
    FROM shared s WHERE i.id = s.inbox_id
$$;
REVOKE EXECUTE ON FUNCTION share_events(uuid[]) FROM PUBLIC;

-- What waits, and what a dead process held, is anybody's.
CREATE FUNCTION share_open_events() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
  PERFORM share_events(ARRAY(
    SELECT inbox_id FROM inbox_event
     WHERE due_at IS NOT NULL AND NOT is_shared AND (state <> 'NEW' OR due_at <= clock_timestamp())));
  RETURN NULL;
END $$;
CREATE TRIGGER open_events_shared BEFORE UPDATE ON inbox
  FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION share_open_events();

-- An event that is there is not stored again, whoever stored it; one that contradicts another must find it.
CREATE FUNCTION note_event_of_old_worker() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
DECLARE
  original inbox_event;
BEGIN
  IF NEW.state = 'CONFLICT' THEN
    SELECT * INTO original FROM inbox_event WHERE dedupe_key = NEW.dedupe_key AND state <> 'CONFLICT';
    IF original.content_hash = NEW.body_hash THEN RETURN NULL; END IF;
    PERFORM share_events(ARRAY[original.inbox_id]);
  END IF;
  INSERT INTO inbox_event (inbox_id, ordinal, dedupe_key, content_hash, state, outcome, operation_id, attempts, failures,
                           parkings, due_at, processed_at, is_shared)
  VALUES (NEW.id, 0, NEW.dedupe_key, NEW.body_hash, NEW.state, NEW.outcome, NEW.operation_id, NEW.attempts, NEW.failures,
          NEW.parkings, NEW.due_at, NEW.processed_at, true)
  ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER event_noted BEFORE INSERT ON inbox FOR EACH ROW
  WHEN (NEW.state IS NOT NULL) EXECUTE FUNCTION note_event_of_old_worker();

CREATE FUNCTION note_outcome_of_old_worker() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
  UPDATE inbox_event
     SET state = NEW.state, outcome = NEW.outcome, operation_id = NEW.operation_id, attempts = NEW.attempts,
         failures = NEW.failures, parkings = NEW.parkings, due_at = NEW.due_at, processed_at = NEW.processed_at
   WHERE (inbox_id, ordinal) IN (SELECT inbox_id, ordinal FROM inbox_event
                                  WHERE inbox_id = NEW.id AND ordinal = 0 FOR UPDATE SKIP LOCKED);
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER outcome_noted BEFORE UPDATE ON inbox FOR EACH ROW
  WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION note_outcome_of_old_worker();

CREATE FUNCTION share_outcome() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
BEGIN
  UPDATE inbox
     SET state = NEW.state, outcome = NEW.outcome, operation_id = NEW.operation_id, attempts = NEW.attempts,
         failures = NEW.failures, parkings = NEW.parkings, due_at = NEW.due_at, processed_at = NEW.processed_at
   WHERE id IN (SELECT id FROM inbox WHERE id = NEW.inbox_id FOR UPDATE SKIP LOCKED);
  IF NOT FOUND THEN RETURN NULL; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER shared BEFORE UPDATE ON inbox_event FOR EACH ROW
  WHEN (NEW.is_shared AND pg_trigger_depth() = 0) EXECUTE FUNCTION share_outcome();
