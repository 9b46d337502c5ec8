-- Notifications, the feed of events, endpoints with their secrets, and deliveries with their attempts.

-- A message for the merchant about an operation.
CREATE TABLE notification (
  id            uuid PRIMARY KEY,
  operation_id  uuid NOT NULL,
  event_type    text NOT NULL,
  status        text NOT NULL,
  reference     text NOT NULL,
  -- The exact bytes that every attempt signs and sends. Empty once they are erased.
  body          bytea NOT NULL,
  created_at    timestamptz NOT NULL,
  -- Time at which its deliveries were made.
  fanned_out_at timestamptz,
  -- Its place in the feed, given when it is fanned out.
  position      bigint CHECK (position > 0),
  -- Time at which body was erased, and the SHA-256 that it had.
  erased_at     timestamptz,
  body_sha256   bytea,
  CONSTRAINT notification_once UNIQUE (operation_id, event_type, status, reference)
);
GRANT SELECT, INSERT, UPDATE (fanned_out_at, position) ON notification TO pixgate_app;
-- Notifications without deliveries, the oldest first.
CREATE INDEX notification_to_fan_out ON notification (created_at) WHERE fanned_out_at IS NULL;
-- Pages of the feed.
CREATE UNIQUE INDEX notification_position ON notification (position) WHERE position IS NOT NULL;
-- The last erased place: the feed can be read from the next one.
CREATE INDEX notification_erased ON notification (position) WHERE erased_at IS NOT NULL AND position IS NOT NULL;

-- The end of the feed: one row. Places are 1, 2, 3 without a gap. They are given under the lock of this row, so that every place is
-- committed before the next one is given: a reader of n+1 reads n.
-- @source rules#feed.1
CREATE TABLE feed (
  singleton     boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  -- The place that was given last.
  last_position bigint NOT NULL DEFAULT 0 CHECK (last_position >= 0)
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
INSERT INTO feed DEFAULT VALUES;
GRANT SELECT, UPDATE (last_position) ON feed TO pixgate_app;

-- A reader remembers its place, so none is changed or given twice.
CREATE FUNCTION refuse_another_position() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'a place in the feed is never changed' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER position_kept BEFORE UPDATE OF position ON notification
  FOR EACH ROW WHEN (OLD.position IS NOT NULL) EXECUTE FUNCTION refuse_another_position();
CREATE TRIGGER position_kept BEFORE UPDATE OF last_position ON feed
  FOR EACH ROW WHEN (NEW.last_position < OLD.last_position) EXECUTE FUNCTION refuse_another_position();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON feed
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Ed25519 keys that sign deliveries. Each is published as the next one, signs as the current one, is published as the previous one
-- while receivers may still have deliveries that it signed, and is retired.
-- @source rules#signing-keys.1
CREATE TABLE signing_key (
  id          text PRIMARY KEY,
  public_pem  text NOT NULL,
  -- PKCS #8, sealed with the configured encryption key. NULL once it signs no more.
  private_key bytea,
  state       text NOT NULL,
  -- Time at which it was published, promoted, replaced and retired.
  created_at  timestamptz NOT NULL,
  promoted_at timestamptz,
  replaced_at timestamptz,
  retired_at  timestamptz,
  CONSTRAINT signing_key_state_check CHECK (state IN ('next', 'current', 'previous', 'retired')),
  CONSTRAINT signing_key_can_sign CHECK ((private_key IS NOT NULL) = (state IN ('next', 'current')))
);
GRANT SELECT, INSERT, UPDATE (state, promoted_at, replaced_at, retired_at) ON signing_key TO pixgate_app;
-- One key of each published state.
CREATE UNIQUE INDEX signing_key_one_current ON signing_key (state) WHERE state = 'current';
CREATE UNIQUE INDEX signing_key_one_published ON signing_key (state) WHERE state IN ('next', 'previous');

-- A key that was replaced or given up never signs again: the change of its state erases the private half.
CREATE FUNCTION keep_life_of_signing_key() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF (OLD.state, NEW.state) NOT IN (('next', 'current'), ('next', 'retired'), ('current', 'previous'),
                                    ('previous', 'retired')) THEN
    RAISE EXCEPTION 'a signing key does not go from % to %', OLD.state, NEW.state
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.state IN ('previous', 'retired') THEN
    NEW.private_key := NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER life_kept BEFORE UPDATE OF state ON signing_key FOR EACH ROW
  EXECUTE FUNCTION keep_life_of_signing_key();

-- Replaces a sealed private half by the same one under another encryption key. The server may change it in no other way: it names
-- the value that it has read, and the new one begins with the format of sealed values.
CREATE FUNCTION reseal_signing_key(key_id text, before bytea, after bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE public.signing_key SET private_key = after
   WHERE id = key_id AND private_key = before AND substring(after FROM 1 FOR 4) = '\x50584702'::bytea;
  RETURN FOUND;
END $$;

-- An endpoint of the merchant, with the events that it receives.
CREATE TABLE subscription (
  id         uuid PRIMARY KEY,
  url        text NOT NULL,
  events     text[] NOT NULL,
  created_at timestamptz NOT NULL,
  deleted_at timestamptz
);
GRANT SELECT, INSERT, UPDATE (deleted_at) ON subscription TO pixgate_app;
-- One endpoint for the same events.
CREATE UNIQUE INDEX subscription_once ON subscription (url, events) WHERE deleted_at IS NULL;

-- Secrets that an endpoint shares with the service. The newest has no end; the others sign until theirs and are erased then.
-- @source rules#webhook-secrets.1
CREATE TABLE webhook_secret (
  subscription_id uuid NOT NULL REFERENCES subscription,
  id              uuid NOT NULL,
  -- Sealed with the configured encryption key. NULL once it is erased.
  secret          bytea,
  created_at      timestamptz NOT NULL,
  -- From then on it does not sign.
  expires_at      timestamptz,
  erased_at       timestamptz,
  PRIMARY KEY (subscription_id, id),
  CONSTRAINT webhook_secret_erased CHECK ((secret IS NULL) = (erased_at IS NOT NULL)),
  CONSTRAINT webhook_secret_ended CHECK (erased_at IS NULL OR expires_at IS NOT NULL)
);
GRANT SELECT, INSERT, UPDATE (expires_at, erased_at) ON webhook_secret TO pixgate_app;
-- One newest secret of an endpoint.
CREATE UNIQUE INDEX webhook_secret_newest ON webhook_secret (subscription_id) WHERE expires_at IS NULL;
-- Secrets of an endpoint that sign.
CREATE INDEX webhook_secret_kept ON webhook_secret (subscription_id) WHERE secret IS NOT NULL;

-- A secret signs no longer than was announced, and an erased one does not come back.
CREATE FUNCTION keep_life_of_webhook_secret() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF NEW.expires_at IS NULL AND OLD.expires_at IS NOT NULL OR NEW.expires_at > OLD.expires_at
     OR OLD.erased_at IS NOT NULL AND NEW.erased_at IS DISTINCT FROM OLD.erased_at THEN
    RAISE EXCEPTION 'a secret of a receiver signs no longer than was said'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.erased_at IS NOT NULL THEN
    NEW.secret := NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER life_kept BEFORE UPDATE OF expires_at, erased_at ON webhook_secret FOR EACH ROW
  EXECUTE FUNCTION keep_life_of_webhook_secret();

-- Replaces a sealed secret by the same one under another encryption key, as reseal_signing_key() does.
CREATE FUNCTION reseal_webhook_secret(of_subscription uuid, secret_id uuid, before bytea, after bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE webhook_secret SET secret = after
   WHERE subscription_id = of_subscription AND id = secret_id AND secret = before
     AND substring(after FROM 1 FOR 4) = '\x50584702'::bytea;
  RETURN FOUND;
END $$;

-- The lane of an endpoint: its health, and whether anything may be sent to it now. The row changes with its state and with
-- failures; while an endpoint is well, nothing is written.
-- @source rules#webhooks.12
CREATE TABLE lane (
  subscription_id uuid PRIMARY KEY REFERENCES subscription,
  -- Counts changes of state: a decision about an earlier state is not written over a later one.
  version         integer NOT NULL DEFAULT 0,
  state           text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'degraded', 'paused')),
  reason          text,
  since           timestamptz NOT NULL,
  -- Failures since the last success, and the first of them.
  failures        integer NOT NULL DEFAULT 0,
  failing_since   timestamptz,
  -- While degraded: probes that failed and succeeded in a row, and when the next one is due.
  failed_probes   integer NOT NULL DEFAULT 0,
  good_probes     integer NOT NULL DEFAULT 0,
  probe_at        timestamptz,
  -- The receiver asked for this long.
  held_until      timestamptz,
  -- After a pause: since when held deliveries are sent at a rising pace, and how many were.
  drain_since     timestamptz,
  drained         integer NOT NULL DEFAULT 0,
  -- Its endpoint was removed, and nothing is pending for it.
  is_over         boolean NOT NULL DEFAULT false,
  CONSTRAINT lane_reason CHECK ((state = 'active') = (reason IS NULL)),
  CONSTRAINT lane_probe CHECK ((state = 'degraded') = (probe_at IS NOT NULL))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
GRANT SELECT, INSERT ON lane TO pixgate_app;
GRANT UPDATE (version, state, reason, since, failures, failing_since, failed_probes, good_probes, probe_at, held_until,
  drain_since, drained, is_over) ON lane TO pixgate_app;
-- Lanes in use; there may be many that are over.
CREATE INDEX lane_in_use ON lane (subscription_id) WHERE NOT is_over;

-- A new endpoint gets its lane.
CREATE FUNCTION make_lane() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO lane (subscription_id, since) VALUES (NEW.id, NEW.created_at);
  RETURN NULL;
END $$;
CREATE TRIGGER make_lane AFTER INSERT ON subscription FOR EACH ROW EXECUTE FUNCTION make_lane();

-- A notification on its way to an endpoint.
CREATE TABLE delivery (
  id              uuid PRIMARY KEY,
  notification_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  state           text NOT NULL CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED', 'CANCELLED')),
  attempts        integer NOT NULL DEFAULT 0,
  -- Time at which it is (again) due. A claim moves it to the end of its lease.
  next_attempt_at timestamptz,
  claim_id        uuid,
  last_outcome    text,
  created_at      timestamptz NOT NULL,
  finished_at     timestamptz,
  CONSTRAINT delivery_once UNIQUE (notification_id, subscription_id)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
GRANT SELECT, INSERT, UPDATE (state, attempts, next_attempt_at, claim_id, last_outcome, finished_at) ON delivery TO pixgate_app;
-- Deliveries that are due of an endpoint, first attempts apart from others: neither waits behind a backlog of the other.
CREATE INDEX delivery_due ON delivery (subscription_id, least(attempts, 1), next_attempt_at) WHERE state = 'PENDING';
-- Pages of deliveries of an endpoint, read backwards.
CREATE INDEX delivery_listed ON delivery (subscription_id, created_at, id);
-- Failed deliveries of an endpoint since an instant.
CREATE INDEX delivery_failed ON delivery (subscription_id, created_at) WHERE state = 'FAILED';
-- Deliveries to erase, the oldest first.
CREATE INDEX delivery_to_erase ON delivery (finished_at) WHERE finished_at IS NOT NULL;

-- An attempt of a delivery, and its answer.
-- @source rules#webhooks.17
CREATE TABLE delivery_attempt (
  delivery_id     uuid NOT NULL,
  -- From 1.
  attempt         integer NOT NULL,
  subscription_id uuid NOT NULL,
  -- The replay that made it. NULL: none.
  replay_id       uuid,
  outcome         text NOT NULL,
  -- HTTP status. NULL: there was no answer.
  status_code     integer,
  -- Error code of the system, of TLS or of the client, where there was no answer.
  code            text,
  -- The beginning of the answer.
  excerpt         text,
  started_at      timestamptz NOT NULL,
  ended_at        timestamptz NOT NULL,
  -- Milliseconds. NULL: this step was not reached, or not needed.
  dns_ms          integer,
  connect_ms      integer,
  tls_ms          integer,
  wait_ms         integer,
  total_ms        integer,
  PRIMARY KEY (delivery_id, attempt)
);
GRANT SELECT, INSERT ON delivery_attempt TO pixgate_app;
-- Recent attempts of an endpoint.
CREATE INDEX delivery_attempt_of_receiver ON delivery_attempt (subscription_id, ended_at);

-- Attempts are evidence. Retention takes the excerpt and, in the end, the row.
CREATE TRIGGER append_only BEFORE TRUNCATE ON delivery_attempt
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER attempt_kept BEFORE UPDATE ON delivery_attempt
  FOR EACH STATEMENT WHEN (current_setting('pixgate.erases', true) IS DISTINCT FROM 'yes')
  EXECUTE FUNCTION refuse_rewriting();

-- An order to send deliveries again.
-- @source rules#webhooks.21, rules#webhooks.22, rules#webhooks.23
CREATE TABLE replay (
  id              uuid PRIMARY KEY,
  subscription_id uuid NOT NULL REFERENCES subscription,
  kind            text NOT NULL CHECK (kind IN ('delivery', 'failed', 'missed')),
  -- Their number, and whether the order left some out.
  deliveries      integer NOT NULL,
  has_more        boolean NOT NULL,
  -- Time at which the last of them is due.
  last_due_at     timestamptz,
  idempotency_key text,
  -- SHA-256 of the request.
  body_hash       bytea NOT NULL,
  created_at      timestamptz NOT NULL
);
GRANT SELECT, INSERT ON replay TO pixgate_app;
-- The order of a repeated request.
CREATE INDEX replay_by_key ON replay (idempotency_key, created_at) WHERE idempotency_key IS NOT NULL;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON replay
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- A delivery that is sent again. It waits beside pending deliveries, so that it has no influence on the lane.
CREATE TABLE replay_delivery (
  replay_id       uuid NOT NULL,
  delivery_id     uuid NOT NULL,
  subscription_id uuid NOT NULL,
  state           text NOT NULL CHECK (state IN ('WAITING', 'DELIVERED', 'FAILED', 'CANCELLED')),
  -- Of this replay alone.
  attempts        integer NOT NULL DEFAULT 0,
  -- Time at which it is (again) due. A claim moves it to the end of its lease.
  due_at          timestamptz,
  claim_id        uuid,
  finished_at     timestamptz,
  PRIMARY KEY (replay_id, delivery_id),
  CONSTRAINT replay_delivery_waits CHECK ((state = 'WAITING') = (due_at IS NOT NULL))
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
GRANT SELECT, INSERT, UPDATE (state, attempts, due_at, claim_id, finished_at) ON replay_delivery TO pixgate_app;
-- A delivery waits in one replay at a time.
CREATE UNIQUE INDEX replay_delivery_once ON replay_delivery (delivery_id) WHERE state = 'WAITING';
-- Replays that are due of an endpoint.
CREATE INDEX replay_delivery_due ON replay_delivery (subscription_id, due_at) WHERE state = 'WAITING';
-- Replays of a delivery.
CREATE INDEX replay_delivery_of ON replay_delivery (delivery_id);
CREATE TRIGGER append_only BEFORE TRUNCATE ON replay_delivery
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Progress of an order to send what an endpoint missed: the feed is looked through from place to place, and what is found is
-- written with the place that was reached. No order looks at a place twice. It has no foreign key to `replay`, which would refuse
-- TRUNCATE in words of its own.
-- @source rules#webhooks.24
CREATE TABLE missed_replay (
  replay_id       uuid PRIMARY KEY,
  subscription_id uuid NOT NULL REFERENCES subscription,
  -- Notifications of this time: from the first instant, before the second, which is no later than the endpoint was registered.
  since           timestamptz NOT NULL,
  until           timestamptz NOT NULL,
  -- The last place in the feed that was looked at.
  position        bigint NOT NULL CHECK (position >= 0),
  found           integer NOT NULL DEFAULT 0,
  -- Time at which the search goes on. NULL: it is over.
  due_at          timestamptz
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE (position, found, due_at) ON missed_replay TO pixgate_app;
-- Orders that are due; orders of an endpoint.
CREATE INDEX missed_replay_due ON missed_replay (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX missed_replay_of ON missed_replay (subscription_id);

CREATE FUNCTION refuse_looking_back() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'an order looks on, never back' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER position_kept BEFORE UPDATE ON missed_replay
  FOR EACH ROW WHEN (NEW.position < OLD.position OR OLD.due_at IS NULL) EXECUTE FUNCTION refuse_looking_back();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON missed_replay
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
