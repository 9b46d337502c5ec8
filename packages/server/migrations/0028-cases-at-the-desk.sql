-- What the desk of an operator reads of cases, and who proposed, approved and withdrew decisions.

-- The amount that a case is about: what was reported, or else the value of its operation.
CREATE FUNCTION reported_cents(facts jsonb) RETURNS bigint LANGUAGE sql IMMUTABLE
  SET search_path = public, pg_temp AS $$
  SELECT CASE WHEN told ~ '^\d{1,15}$' THEN told::bigint END
    FROM (SELECT coalesce(facts ->> 'valueCents', facts #>> '{event,valueCents}') AS told) f
$$;
REVOKE EXECUTE ON FUNCTION reported_cents(jsonb) FROM PUBLIC;

ALTER TABLE "case" ADD COLUMN amount_cents bigint;
UPDATE "case" c
   SET amount_cents = coalesce(reported_cents(c.facts),
                               (SELECT o.value_cents FROM operation o WHERE o.id = c.operation_id));

-- A process of the version before writes none.
CREATE FUNCTION amount_of_case() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  NEW.amount_cents := coalesce(reported_cents(NEW.facts),
                               (SELECT o.value_cents FROM operation o WHERE o.id = NEW.operation_id));
  RETURN NEW;
END $$;
REVOKE EXECUTE ON FUNCTION amount_of_case() FROM PUBLIC;
CREATE TRIGGER amount_known BEFORE INSERT ON "case" FOR EACH ROW
  WHEN (NEW.amount_cents IS NULL) EXECUTE FUNCTION amount_of_case();

-- One page is one walk along one of these: all of them, of a kind, of an operation.
CREATE INDEX case_list_open ON "case" (opened_at, id) INCLUDE (amount_cents) WHERE closed_at IS NULL;
CREATE INDEX case_list_open_by_kind ON "case" (kind, opened_at, id) INCLUDE (amount_cents) WHERE closed_at IS NULL;
CREATE INDEX case_list_closed ON "case" (closed_at DESC, id DESC) INCLUDE (amount_cents) WHERE closed_at IS NOT NULL;
CREATE INDEX case_list_closed_by_kind ON "case" (kind, closed_at DESC, id DESC) INCLUDE (amount_cents)
  WHERE closed_at IS NOT NULL;

-- What the bank told of an operation.
CREATE INDEX inbox_event_operation ON inbox_event (operation_id) WHERE operation_id IS NOT NULL;

CREATE TABLE case_step (
  id              uuid PRIMARY KEY,
  case_id         uuid NOT NULL,
  step            text NOT NULL CHECK (step IN ('decided', 'proposed', 'approved', 'withdrawn')),
  -- The proposal that is approved or withdrawn.
  proposal_id     uuid,
  -- The operator who did it; `admin`: the administrative token.
  operator_id     text NOT NULL,
  operator_name   text,
  -- The decision with its evidence, as it was ordered; of an approval or a withdrawal the reason.
  content         jsonb NOT NULL,
  -- What was read when it was ordered.
  case_version    text NOT NULL,
  -- The largest sum that it moves on any account.
  amount_cents    bigint NOT NULL CHECK (amount_cents >= 0),
  idempotency_key text,
  body_hash       bytea NOT NULL,
  -- What was answered, for whoever asks again.
  answer          jsonb NOT NULL,
  at              timestamptz NOT NULL,
  CONSTRAINT case_step_names_proposal CHECK ((step IN ('approved', 'withdrawn')) = (proposal_id IS NOT NULL)),
  -- A proposal ends once.
  CONSTRAINT case_step_ends_proposal UNIQUE (proposal_id)
);
COMMENT ON TABLE case_step IS 'Who proposed, approved, withdrew and made decisions about cases, append-only.';
CREATE INDEX case_step_case ON case_step (case_id, at, id);
CREATE INDEX case_step_idempotency_key ON case_step (idempotency_key, at) WHERE idempotency_key IS NOT NULL;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON case_step
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
GRANT SELECT, INSERT ON case_step TO pixgate_app;
