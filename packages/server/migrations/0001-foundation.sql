-- The foundation: operations, their moves, the ledger, notifications, cases, and the tables of the modules.
-- Money is integer centavos (bigint). Instants are written with millisecond precision.
-- No foreign keys on what the engine writes: they cost more than half of a batch, and `verify` finds orphans.

CREATE TABLE allowed_move (
  kind        text NOT NULL,
  from_status text,
  to_status   text NOT NULL
);
COMMENT ON TABLE allowed_move IS
  'The state machines, as the guard below reads them; filled from the rules at every migration.';

CREATE TABLE operation (
  id              uuid PRIMARY KEY,
  kind            text NOT NULL CHECK (kind IN ('cash_in', 'cash_out', 'refund_in')),
  external_id     text NOT NULL,
  status          text NOT NULL,
  version         integer NOT NULL,
  value_cents     bigint NOT NULL CHECK (value_cents > 0),
  fee_cents       bigint NOT NULL CHECK (fee_cents >= 0),
  correlation_id  text NOT NULL,
  body_hash       bytea NOT NULL,
  -- The client's Idempotency-Key with its scope, and the day it counts for: a key is used once in 24 hours.
  idempotency_key text,
  idempotency_day integer,
  expires_at      timestamptz,
  -- When work is due on this operation: asking the partner, expiring. A claim moves it to the end of its lease.
  due_at          timestamptz,
  transaction_id  text,
  end_to_end_id   text,
  -- What the client asked for, written once. Names and documents live here and in facts, nowhere else.
  detail          jsonb NOT NULL,
  -- What became known since: the moves' facts, merged.
  facts           jsonb NOT NULL,
  created_at      timestamptz NOT NULL,
  updated_at      timestamptz NOT NULL,
  CONSTRAINT operation_external_id_key UNIQUE (kind, external_id)
) WITH (fillfactor = 80);

CREATE UNIQUE INDEX operation_idempotency_key ON operation (idempotency_key, idempotency_day)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX operation_due ON operation (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX operation_list ON operation (kind, created_at DESC, id DESC);
CREATE INDEX operation_list_by_status ON operation (kind, status, created_at DESC, id DESC);
CREATE INDEX operation_transaction_id ON operation (transaction_id) WHERE transaction_id IS NOT NULL;
CREATE INDEX operation_end_to_end_id ON operation (end_to_end_id) WHERE end_to_end_id IS NOT NULL;

CREATE TABLE move (
  operation_id uuid NOT NULL,
  version      integer NOT NULL,
  kind         text NOT NULL,
  trigger      text NOT NULL,
  from_status  text,
  to_status    text NOT NULL,
  facts        jsonb NOT NULL,
  -- The statement that wrote it: how a commit whose answer was lost is found again.
  batch_id     uuid NOT NULL,
  at           timestamptz NOT NULL,
  PRIMARY KEY (operation_id, version)
);
CREATE INDEX move_batch ON move (batch_id);
COMMENT ON TABLE move IS 'An operation''s timeline, append-only; operation is its projection.';

CREATE TABLE account (
  id            smallint PRIMARY KEY,
  code          text NOT NULL UNIQUE,
  public_id     uuid NOT NULL DEFAULT gen_random_uuid(),
  currency      text NOT NULL DEFAULT 'BRL',
  version       bigint NOT NULL DEFAULT 0,
  balance_cents bigint NOT NULL DEFAULT 0,
  CONSTRAINT account_not_negative CHECK (code NOT IN ('available', 'reserved') OR balance_cents >= 0),
  CONSTRAINT account_not_positive CHECK (code <> 'receivable' OR balance_cents <= 0)
) WITH (fillfactor = 50);

INSERT INTO account (id, code) VALUES
  (1, 'available'), (2, 'reserved'), (3, 'settlement'), (4, 'fees'),
  (5, 'suspense_in'), (6, 'suspense_out'), (7, 'receivable'), (8, 'partner_fees');

CREATE TABLE entry (
  account_id          smallint NOT NULL,
  version             bigint NOT NULL,
  amount_cents        bigint NOT NULL CHECK (amount_cents <> 0),
  balance_after_cents bigint NOT NULL,
  operation_id        uuid NOT NULL,
  journal             text NOT NULL,
  -- What tells journals of one kind and operation apart: an end-to-end id, a return id, or nothing.
  reference           text NOT NULL,
  -- Position of the posting in its journal's template.
  posting             smallint NOT NULL,
  -- The merchant's name for it; only entries of the available account have one.
  shown               text,
  at                  timestamptz NOT NULL,
  PRIMARY KEY (account_id, version),
  CONSTRAINT entry_journal_key UNIQUE (operation_id, journal, reference, posting)
);
COMMENT ON TABLE entry IS 'An account''s history, append-only; account is its projection.';

CREATE TABLE notification (
  id            uuid PRIMARY KEY,
  operation_id  uuid NOT NULL,
  event_type    text NOT NULL,
  status        text NOT NULL,
  reference     text NOT NULL,
  -- The exact bytes that are signed and sent, on every attempt.
  body          bytea NOT NULL,
  created_at    timestamptz NOT NULL,
  fanned_out_at timestamptz,
  CONSTRAINT notification_once UNIQUE (operation_id, event_type, status, reference)
);
CREATE INDEX notification_to_fan_out ON notification (created_at) WHERE fanned_out_at IS NULL;

CREATE TABLE "case" (
  id           uuid PRIMARY KEY,
  operation_id uuid,
  kind         text NOT NULL,
  reference    text NOT NULL,
  facts        jsonb NOT NULL,
  opened_at    timestamptz NOT NULL,
  closed_at    timestamptz,
  CONSTRAINT case_once UNIQUE NULLS NOT DISTINCT (operation_id, kind, reference)
);
CREATE INDEX case_open ON "case" (opened_at) WHERE closed_at IS NULL;

-- The database's own guards. Statement triggers with transition tables cost 7 to 9 % of a batch; row triggers 60 %.

CREATE FUNCTION check_moves_allowed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE wrong record;
BEGIN
  SELECT m.kind, m.from_status, m.to_status INTO wrong
    FROM added m
    LEFT JOIN allowed_move a
      ON a.kind = m.kind AND a.from_status IS NOT DISTINCT FROM m.from_status AND a.to_status = m.to_status
   WHERE a.kind IS NULL
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'move not allowed: % from % to %', wrong.kind, coalesce(wrong.from_status, '(none)'), wrong.to_status
      USING ERRCODE = 'check_violation', CONSTRAINT = 'move_allowed';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER move_allowed AFTER INSERT ON move REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION check_moves_allowed();

CREATE FUNCTION check_journals_balance() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE wrong record;
BEGIN
  SELECT e.operation_id, e.journal, sum(e.amount_cents) AS total INTO wrong
    FROM added e
   GROUP BY e.operation_id, e.journal, e.reference
  HAVING sum(e.amount_cents) <> 0
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'journal % of operation % sums to %', wrong.journal, wrong.operation_id, wrong.total
      USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_balances';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER journal_balances AFTER INSERT ON entry REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION check_journals_balance();

CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON move
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entry
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- What the modules read of the engine's tables.

CREATE VIEW cash_in AS
  SELECT id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash, idempotency_key,
         expires_at, due_at, transaction_id, end_to_end_id, detail, facts, created_at, updated_at
    FROM operation WHERE kind = 'cash_in';

CREATE VIEW ledger_entry AS
  SELECT e.version, e.amount_cents, e.balance_after_cents, e.shown AS operation, e.operation_id AS reference_id, e.at,
         a.currency, o.external_id, o.transaction_id,
         coalesce(nullif(e.reference, ''), o.end_to_end_id) AS end_to_end_id, o.detail ->> 'description' AS description
    FROM entry e
    JOIN account a ON a.id = e.account_id AND a.code = 'available'
    LEFT JOIN operation o ON o.id = e.operation_id;

-- API keys and the audit trail.

CREATE TABLE api_key (
  id             uuid PRIMARY KEY,
  hash           bytea NOT NULL UNIQUE,
  -- The first characters after the prefix, to tell keys apart; never enough to use one.
  display        text NOT NULL,
  created_at     timestamptz NOT NULL,
  deactivated_at timestamptz
);

CREATE TABLE audit (
  id      uuid PRIMARY KEY,
  at      timestamptz NOT NULL,
  actor   text NOT NULL,
  action  text NOT NULL,
  subject text NOT NULL,
  address text NOT NULL,
  facts   jsonb NOT NULL
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Events of the partner: committed before they are answered, applied afterwards.

CREATE TABLE inbox (
  id           uuid PRIMARY KEY,
  endpoint     text NOT NULL CHECK (endpoint IN ('cash-in', 'cash-out')),
  dedupe_key   text NOT NULL,
  body         bytea NOT NULL,
  body_hash    bytea NOT NULL,
  state        text NOT NULL CHECK (state IN ('NEW', 'DONE', 'PARKED', 'QUARANTINED', 'CONFLICT')),
  outcome      text,
  operation_id uuid,
  -- Storing it counts as the first: the process that stored it applies it at once.
  attempts     integer NOT NULL DEFAULT 1,
  received_at  timestamptz NOT NULL,
  -- When it is taken up (again); the process that stored it holds it until then.
  due_at       timestamptz,
  processed_at timestamptz
) WITH (fillfactor = 80);
CREATE UNIQUE INDEX inbox_once ON inbox (dedupe_key) WHERE state <> 'CONFLICT';
CREATE UNIQUE INDEX inbox_conflict_once ON inbox (dedupe_key, body_hash) WHERE state = 'CONFLICT';
CREATE INDEX inbox_due ON inbox (due_at) WHERE due_at IS NOT NULL;

CREATE FUNCTION refuse_inbox_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'what the partner said is never changed' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER evidence_kept BEFORE UPDATE OF id, endpoint, dedupe_key, body, body_hash, received_at ON inbox
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_inbox_rewriting();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON inbox
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Notifications to the merchant's servers.

CREATE TABLE signing_key (
  id          text PRIMARY KEY,
  public_pem  text NOT NULL,
  -- PKCS #8, sealed with the configured encryption key.
  private_key bytea NOT NULL,
  state       text NOT NULL CHECK (state IN ('current', 'retired')),
  created_at  timestamptz NOT NULL
);
CREATE UNIQUE INDEX signing_key_one_current ON signing_key (state) WHERE state = 'current';

CREATE TABLE subscription (
  id         uuid PRIMARY KEY,
  url        text NOT NULL,
  events     text[] NOT NULL,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz
);
CREATE UNIQUE INDEX subscription_once ON subscription (url, events) WHERE deleted_at IS NULL;

CREATE TABLE delivery (
  id              uuid PRIMARY KEY,
  notification_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  state           text NOT NULL CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED', 'CANCELLED')),
  attempts        integer NOT NULL DEFAULT 0,
  -- When it is (again) due; a claim moves it to the end of its lease.
  next_attempt_at timestamptz,
  claim_id        uuid,
  last_outcome    text,
  created_at      timestamptz NOT NULL,
  finished_at     timestamptz,
  CONSTRAINT delivery_once UNIQUE (notification_id, subscription_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX delivery_due ON delivery (subscription_id, next_attempt_at) WHERE state = 'PENDING';

CREATE TABLE delivery_attempt (
  delivery_id uuid NOT NULL,
  attempt     integer NOT NULL,
  outcome     text NOT NULL,
  status_code integer,
  started_at  timestamptz NOT NULL,
  ended_at    timestamptz NOT NULL,
  PRIMARY KEY (delivery_id, attempt)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON delivery_attempt
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- The server works as this role. It cannot change a definition, and of what is append-only it can only add and read.

DO $$
BEGIN
  -- Asked first, so that a migration by a role that may not create roles works where an administrator made this one.
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pixgate_app') THEN
    CREATE ROLE pixgate_app NOLOGIN;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL; -- Another database of this cluster was migrated at the same moment.
END $$;
DO $$
BEGIN
  IF NOT pg_has_role(current_user, 'pixgate_app', 'MEMBER') THEN
    EXECUTE format('GRANT pixgate_app TO %I', current_user);
  END IF;
END $$;

GRANT USAGE ON SCHEMA public TO pixgate_app;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO pixgate_app;
GRANT INSERT ON operation, move, entry, notification, "case", api_key, audit, inbox, signing_key, subscription,
  delivery, delivery_attempt TO pixgate_app;
GRANT UPDATE (status, version, due_at, transaction_id, end_to_end_id, facts, updated_at) ON operation TO pixgate_app;
GRANT UPDATE (version, balance_cents) ON account TO pixgate_app;
GRANT UPDATE (fanned_out_at) ON notification TO pixgate_app;
GRANT UPDATE (closed_at) ON "case" TO pixgate_app;
GRANT UPDATE (deactivated_at) ON api_key TO pixgate_app;
GRANT UPDATE (state, outcome, operation_id, attempts, due_at, processed_at) ON inbox TO pixgate_app;
GRANT UPDATE (deleted_at) ON subscription TO pixgate_app;
GRANT UPDATE (state, attempts, next_attempt_at, claim_id, last_outcome, finished_at) ON delivery TO pixgate_app;
