-- What is sent again: each order once, and what is still to be sent of it. It waits beside what is pending and not among it, so
-- that it has no say in what a receiver's lane is or does.
-- @source rules#webhooks.21, rules#webhooks.22, rules#webhooks.23
CREATE TABLE replay (
  id              uuid PRIMARY KEY,
  subscription_id uuid NOT NULL REFERENCES subscription,
  kind            text NOT NULL CHECK (kind IN ('delivery', 'failed', 'missed')),
  deliveries      integer NOT NULL,
  has_more        boolean NOT NULL,
  -- When the last of them is due.
  last_due_at     timestamptz,
  idempotency_key text,
  body_hash       bytea NOT NULL,
  created_at      timestamptz NOT NULL
);
CREATE INDEX replay_by_key ON replay (idempotency_key, created_at) WHERE idempotency_key IS NOT NULL;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON replay
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

CREATE TABLE replay_delivery (
  replay_id       uuid NOT NULL,
  delivery_id     uuid NOT NULL,
  subscription_id uuid NOT NULL,
  state           text NOT NULL CHECK (state IN ('WAITING', 'DELIVERED', 'FAILED', 'CANCELLED')),
  -- Of this replay alone.
  attempts        integer NOT NULL DEFAULT 0,
  -- When it is (again) due; a claim moves it to the end of its lease.
  due_at          timestamptz,
  claim_id        uuid,
  finished_at     timestamptz,
  PRIMARY KEY (replay_id, delivery_id),
  CONSTRAINT replay_delivery_waits CHECK ((state = 'WAITING') = (due_at IS NOT NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
-- A delivery waits in one replay at a time: who orders the same again adds nothing.
CREATE UNIQUE INDEX replay_delivery_once ON replay_delivery (delivery_id) WHERE state = 'WAITING';
CREATE INDEX replay_delivery_due ON replay_delivery (subscription_id, due_at) WHERE state = 'WAITING';

ALTER TABLE delivery_attempt ADD COLUMN replay_id uuid;

-- What failed is looked for by when it was made.
CREATE INDEX delivery_failed ON delivery (subscription_id, created_at) WHERE state = 'FAILED';

GRANT SELECT, INSERT ON replay, replay_delivery TO pixgate_app;
GRANT UPDATE (state, attempts, due_at, claim_id, finished_at) ON replay_delivery TO pixgate_app;
