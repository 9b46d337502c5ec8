-- Cases for an operator, and the steps towards a decision about each.

CREATE TABLE "case" (
  id           uuid PRIMARY KEY,
  -- NULL: it is about money or an event of no operation.
  operation_id uuid,
  kind         text NOT NULL,
  -- Distinguishes cases of one kind and operation.
  reference    text NOT NULL,
  -- JSON object: the last report of it, and the rule by which that opens it.
  facts        jsonb NOT NULL,
  -- The most that was ever reported about it, or else the value of its operation. Without sign.
  amount_cents bigint,
  -- Grows with every change that a decision depends on.
  version      integer NOT NULL DEFAULT 1,
  opened_at    timestamptz NOT NULL,
  closed_at    timestamptz,
  CONSTRAINT case_once UNIQUE NULLS NOT DISTINCT (operation_id, kind, reference)
);
GRANT SELECT, INSERT, UPDATE (facts, amount_cents, version, closed_at) ON "case" TO pixgate_app;

-- The oldest open case, and the number of open ones.
CREATE INDEX case_open ON "case" (opened_at) WHERE closed_at IS NULL;
-- Pages of cases: all of them, and of one kind.
CREATE INDEX case_list_open ON "case" (opened_at, id) INCLUDE (amount_cents) WHERE closed_at IS NULL;
CREATE INDEX case_list_open_by_kind ON "case" (kind, opened_at, id) INCLUDE (amount_cents) WHERE closed_at IS NULL;
CREATE INDEX case_list_closed ON "case" (closed_at DESC, id DESC) INCLUDE (amount_cents) WHERE closed_at IS NOT NULL;
CREATE INDEX case_list_closed_by_kind ON "case" (kind, closed_at DESC, id DESC) INCLUDE (amount_cents)
  WHERE closed_at IS NOT NULL;
-- Cases that close when the event that they are about is applied.
CREATE INDEX case_event_open ON "case" (reference)
  WHERE operation_id IS NULL AND closed_at IS NULL
    AND kind = 'event_set_aside';

-- The amount that a report of the bank names, without sign. NULL: it names none.
CREATE FUNCTION reported_cents(facts jsonb) RETURNS bigint LANGUAGE sql IMMUTABLE
  SET search_path = public, pg_temp AS $$
  SELECT CASE WHEN told ~ '^-?\d{1,15}$' THEN abs(told::bigint) END
    FROM (SELECT coalesce(facts ->> 'valueCents', facts #>> '{event,valueCents}') AS told) f
$$;

-- The amount decides who may decide a case alone, so no update makes it less.
CREATE FUNCTION keep_most_told() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  NEW.amount_cents := greatest(abs(OLD.amount_cents), abs(NEW.amount_cents), reported_cents(NEW.facts));
  RETURN NEW;
END $$;
CREATE TRIGGER most_told_kept BEFORE UPDATE OF facts, amount_cents ON "case" FOR EACH ROW
  EXECUTE FUNCTION keep_most_told();

-- A change of a case raises its version, so that no proposal outlives it. The same report with another time is no change. The engine
-- raises it besides where the operation of the case changed. Runs after the other triggers of the row, by its name.
CREATE FUNCTION raise_case_version() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  times CONSTANT text[] := '{occurredAt,missedAt,deniedAt,since,readAt,askedAt}';
  is_changed CONSTANT boolean := (NEW.facts - times, NEW.amount_cents, NEW.closed_at)
    IS DISTINCT FROM (OLD.facts - times, OLD.amount_cents, OLD.closed_at);
BEGIN
  NEW.version := greatest(NEW.version, OLD.version + is_changed::int);
  RETURN NEW;
END $$;
CREATE TRIGGER version_raised BEFORE UPDATE ON "case" FOR EACH ROW EXECUTE FUNCTION raise_case_version();

-- A case of the bank's statement begins open: inserted as closed, it would claim that the difference was decided.
-- @source rules#audit.10
CREATE FUNCTION refuse_closed_case() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'a case of the kind % begins open', NEW.kind USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER begins_open BEFORE INSERT ON "case" FOR EACH ROW
  WHEN (NEW.closed_at IS NOT NULL
        AND NEW.kind IN ('line_missing', 'unexplained_credit', 'unexplained_debit', 'line_differs'))
  EXECUTE FUNCTION refuse_closed_case();

-- Erases the recipient from the case of an outgoing difference when the case closes.
CREATE FUNCTION forget_recipient() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  NEW.facts := NEW.facts - 'recipient';
  RETURN NEW;
END $$;
CREATE TRIGGER closed_without_recipient BEFORE UPDATE OF closed_at ON "case" FOR EACH ROW
  WHEN (NEW.closed_at IS NOT NULL AND NEW.operation_id IS NULL AND NEW.facts ? 'recipient')
  EXECUTE FUNCTION forget_recipient();

-- The end of such a case is written to the audit trail by the database, so that no process can leave it out.
CREATE FUNCTION tell_closed_case() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO audit (id, at, actor, action, subject, address, facts)
  VALUES (gen_random_uuid(), clock_timestamp(), 'database ' || session_user, 'case.closed', NEW.id::text,
          coalesce(host(inet_client_addr()), ''), jsonb_build_object('kind', NEW.kind, 'reference', NEW.reference));
  RETURN NULL;
END $$;
CREATE TRIGGER closing_told AFTER UPDATE OF closed_at ON "case" FOR EACH ROW
  WHEN (OLD.closed_at IS NULL AND NEW.closed_at IS NOT NULL
        AND NEW.kind IN ('line_missing', 'unexplained_credit', 'unexplained_debit', 'line_differs'))
  EXECUTE FUNCTION tell_closed_case();

-- What operators say of a case: decisions, proposals, approvals, refusals and notes.
CREATE TABLE case_step (
  id                   uuid PRIMARY KEY,
  case_id              uuid NOT NULL,
  step                 text NOT NULL CHECK (step IN ('decided', 'proposed', 'approved', 'refused', 'noted')),
  -- The proposal that is approved or refused.
  proposal_id          uuid,
  -- The id of an operator; `admin`: the administrative token.
  operator_id          text NOT NULL,
  operator_name        text,
  -- JSON object: the decision with its evidence as it was ordered; of an approval or a refusal the reason, of a note the text.
  content              jsonb NOT NULL,
  -- The version of the case that the operator had read.
  case_version         text NOT NULL,
  -- The largest sum that the decision moves on any account.
  amount_cents         bigint NOT NULL CHECK (amount_cents >= 0),
  idempotency_key      text,
  -- The day of UTC on which the key was used, and the day that begins at noon. Two uses at the same moment share one of them; two
  -- that are 24 hours apart share none.
  idempotency_day      integer,
  idempotency_noon_day integer,
  -- SHA-256 of the request.
  body_hash            bytea NOT NULL,
  -- JSON object: the answer, for a repeated request.
  answer               jsonb NOT NULL,
  at                   timestamptz NOT NULL,
  CONSTRAINT case_step_names_proposal CHECK ((step IN ('approved', 'refused')) = (proposal_id IS NOT NULL)),
  -- A proposal ends once.
  CONSTRAINT case_step_ends_proposal UNIQUE (proposal_id)
);
GRANT SELECT, INSERT ON case_step TO pixgate_app;

-- Proposals, the oldest first.
CREATE INDEX case_step_proposed ON case_step (at, id) WHERE step = 'proposed';
-- Steps of the last seconds, for open consoles.
CREATE INDEX case_step_at ON case_step USING brin (at) WITH (pages_per_range = 8, autosummarize = on);
-- Steps of a case, in order.
CREATE INDEX case_step_case ON case_step (case_id, at, id);
-- The answer to a repeated request.
CREATE INDEX case_step_idempotency_key ON case_step (idempotency_key, at) WHERE idempotency_key IS NOT NULL;
-- One use of a key in 24 hours, also where two requests about two cases arrive at the same moment.
CREATE UNIQUE INDEX case_step_key_once ON case_step (idempotency_key, idempotency_day);
CREATE UNIQUE INDEX case_step_key_once_noon ON case_step (idempotency_key, idempotency_noon_day);

-- Computes the days from the time of the step, so that they agree.
CREATE FUNCTION days_of_case_step() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  NEW.idempotency_day := floor(extract(epoch FROM NEW.at) / 86400);
  NEW.idempotency_noon_day := floor((extract(epoch FROM NEW.at) - 43200) / 86400);
  RETURN NEW;
END $$;
CREATE TRIGGER days_known BEFORE INSERT ON case_step FOR EACH ROW
  WHEN (NEW.idempotency_key IS NOT NULL) EXECUTE FUNCTION days_of_case_step();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON case_step
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
