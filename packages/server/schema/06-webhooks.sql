-- Notifications, the feed of events, endpoints with their secrets, and deliveries with their attempts. Alerts to people at the end.

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

-- The end of the feed: one row. Places are 1, 2, 3 without a gap. They are given under the lock of this row, so a place is committed
-- before the next one is given: a reader of n+1 reads n.
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

-- ECDSA P-256 keys that sign notifications. A key is published, signs from `signs_from` on, is published on until `retires_at`, and is
-- gone. Its state follows from these times: see signing.ts.
-- @source rules#signing-keys.1
CREATE TABLE signing_key (
  id           text PRIMARY KEY,
  public_pem   text NOT NULL,
  -- PKCS #8, sealed with the configured encryption key. NULL once the key can sign no more.
  private_key  bytea,
  published_at timestamptz NOT NULL,
  -- NULL: it does not sign yet.
  signs_from   timestamptz,
  -- Set when another key signs in its place: published until then. NULL: no end is set.
  retires_at   timestamptz,
  -- Withdrawn at once: it leaked.
  revoked_at   timestamptz,
  CONSTRAINT signing_key_can_sign CHECK ((private_key IS NOT NULL) = (retires_at IS NULL AND revoked_at IS NULL))
);
GRANT SELECT, INSERT, UPDATE (signs_from, retires_at, revoked_at) ON signing_key TO pixgate_app;
-- One key that signs, and one that will.
CREATE UNIQUE INDEX signing_key_one_signs ON signing_key ((signs_from IS NULL)) WHERE private_key IS NOT NULL;

-- A key that has an end never signs again: setting the end erases the private half. No key goes back.
CREATE FUNCTION keep_life_of_signing_key() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF OLD.signs_from IS NOT NULL AND NEW.signs_from IS DISTINCT FROM OLD.signs_from
     OR OLD.retires_at IS NOT NULL AND (NEW.retires_at IS NULL OR NEW.retires_at > OLD.retires_at)
     OR OLD.revoked_at IS NOT NULL AND NEW.revoked_at IS DISTINCT FROM OLD.revoked_at
     OR NEW.signs_from IS DISTINCT FROM OLD.signs_from AND OLD.private_key IS NULL THEN
    RAISE EXCEPTION 'a signing key does not go back' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF NEW.retires_at IS NOT NULL OR NEW.revoked_at IS NOT NULL THEN
    NEW.private_key := NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER life_kept BEFORE UPDATE OF signs_from, retires_at, revoked_at ON signing_key FOR EACH ROW
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

-- An endpoint of the merchant: where notifications go, which, and whether anything may be sent there now. While an endpoint is well,
-- nothing of its row is written.
-- @source rules#webhooks.12
CREATE TABLE endpoint (
  id            uuid PRIMARY KEY,
  url           text NOT NULL,
  events        text[] NOT NULL,
  -- `inside`: an admin registered it. It may lead to PIXGATE_WEBHOOK_ALLOWED_NETWORKS, and no excerpt of its answers is kept. Never
  -- changed.
  -- @source rules#webhooks.26
  reach         text NOT NULL DEFAULT 'public' CHECK (reach IN ('public', 'inside')),
  created_at    timestamptz NOT NULL,
  deleted_at    timestamptz,
  -- `active`; `degraded`: the circuit breaker is open, and one probe is sent at a time; `paused`.
  state         text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'degraded', 'paused')),
  reason        text,
  since         timestamptz NOT NULL,
  -- Failed attempts since the last success, and the first of them.
  failures      integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  -- Probes in a row that failed, and when the next one may be sent. A claim of a probe moves it to the end of its lease.
  failed_probes integer NOT NULL DEFAULT 0,
  probe_at      timestamptz,
  -- The endpoint asked for this long by Retry-After.
  held_until    timestamptz,
  CONSTRAINT endpoint_reason CHECK ((state = 'active') = (reason IS NULL)),
  CONSTRAINT endpoint_probe CHECK ((state = 'degraded') = (probe_at IS NOT NULL))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
GRANT SELECT, INSERT ON endpoint TO pixgate_app;
GRANT UPDATE (deleted_at, state, reason, since, failures, failing_since, failed_probes, probe_at, held_until)
  ON endpoint TO pixgate_app;
-- One endpoint for the same events; and the endpoints that are there.
CREATE UNIQUE INDEX endpoint_once ON endpoint (url, events) WHERE deleted_at IS NULL;

-- Secrets that an endpoint shares with the service. The newest has no end; the others sign until theirs and are erased then.
-- @source rules#webhook-secrets.1
CREATE TABLE webhook_secret (
  endpoint_id uuid NOT NULL REFERENCES endpoint,
  id          uuid NOT NULL,
  -- Sealed with the configured encryption key. NULL once it is erased.
  secret      bytea,
  created_at  timestamptz NOT NULL,
  -- From then on it does not sign.
  expires_at  timestamptz,
  erased_at   timestamptz,
  PRIMARY KEY (endpoint_id, id),
  CONSTRAINT webhook_secret_erased CHECK ((secret IS NULL) = (erased_at IS NOT NULL)),
  CONSTRAINT webhook_secret_ended CHECK (erased_at IS NULL OR expires_at IS NOT NULL)
);
GRANT SELECT, INSERT, UPDATE (expires_at, erased_at) ON webhook_secret TO pixgate_app;
-- One newest secret of an endpoint.
CREATE UNIQUE INDEX webhook_secret_newest ON webhook_secret (endpoint_id) WHERE expires_at IS NULL;
-- Secrets of an endpoint that sign.
CREATE INDEX webhook_secret_kept ON webhook_secret (endpoint_id) WHERE secret IS NOT NULL;

-- A secret signs no longer than was announced, and an erased one does not come back.
CREATE FUNCTION keep_life_of_webhook_secret() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF NEW.expires_at IS NULL AND OLD.expires_at IS NOT NULL OR NEW.expires_at > OLD.expires_at
     OR OLD.erased_at IS NOT NULL AND NEW.erased_at IS DISTINCT FROM OLD.erased_at THEN
    RAISE EXCEPTION 'a secret of an endpoint signs no longer than was said'
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
CREATE FUNCTION reseal_webhook_secret(of_endpoint uuid, secret_id uuid, before bytea, after bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE webhook_secret SET secret = after
   WHERE endpoint_id = of_endpoint AND id = secret_id AND secret = before
     AND substring(after FROM 1 FOR 4) = '\x50584702'::bytea;
  RETURN FOUND;
END $$;

-- A notification on its way to an endpoint. What became of it (`state`) and whether there is something to send (`due_at`) are two
-- things: a delivery that was delivered may be sent again.
CREATE TABLE delivery (
  id              uuid PRIMARY KEY,
  notification_id uuid NOT NULL,
  endpoint_id     uuid NOT NULL,
  state           text NOT NULL DEFAULT 'PENDING' CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED', 'CANCELLED')),
  -- NULL: nothing is to be sent.
  due_at          timestamptz,
  -- End of the lease of the attempt under way; until then it is not claimed again. It is the claim's token: only a finish that names
  -- it changes the row. In no index, so a claim changes none.
  leased_until    timestamptz,
  -- Attempts that ended.
  attempts        integer NOT NULL DEFAULT 0,
  -- Attempts left of the schedule, and of a resend, which are used first.
  schedule_left   integer NOT NULL DEFAULT 14 CHECK (schedule_left >= 0),
  resend_left     integer NOT NULL DEFAULT 0 CHECK (resend_left >= 0),
  -- A resend was ordered while an attempt was under way: due from then on unless that attempt is taken.
  resend_after    timestamptz,
  -- Time of the first attempt that was taken. Never cleared.
  delivered_at    timestamptz,
  last_outcome    text,
  created_at      timestamptz NOT NULL,
  -- Time at which there was nothing more to send.
  finished_at     timestamptz,
  CONSTRAINT delivery_once UNIQUE (notification_id, endpoint_id),
  CONSTRAINT delivery_delivered CHECK ((state = 'DELIVERED') = (delivered_at IS NOT NULL)),
  CONSTRAINT delivery_pending CHECK (state <> 'PENDING' OR due_at IS NOT NULL),
  CONSTRAINT delivery_cancelled CHECK (state <> 'CANCELLED' OR due_at IS NULL),
  CONSTRAINT delivery_leased CHECK (leased_until IS NULL OR due_at IS NOT NULL),
  CONSTRAINT delivery_resend_after CHECK (resend_after IS NULL OR leased_until IS NOT NULL)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
GRANT SELECT, INSERT ON delivery TO pixgate_app;
GRANT UPDATE (state, due_at, leased_until, attempts, schedule_left, resend_left, resend_after, delivered_at, last_outcome,
  finished_at) ON delivery TO pixgate_app;
-- The queue of an endpoint.
CREATE INDEX delivery_due ON delivery (endpoint_id, due_at) WHERE due_at IS NOT NULL;
-- Pages of deliveries of an endpoint, read backwards.
CREATE INDEX delivery_listed ON delivery (endpoint_id, created_at, id);
-- Failed deliveries of an endpoint since an instant.
CREATE INDEX delivery_failed ON delivery (endpoint_id, created_at) WHERE state = 'FAILED';
-- Deliveries to erase, the oldest first.
CREATE INDEX delivery_to_erase ON delivery (finished_at) WHERE finished_at IS NOT NULL;

-- An attempt of a delivery, and its answer.
-- @source rules#webhooks.17
CREATE TABLE delivery_attempt (
  delivery_id uuid NOT NULL,
  -- From 1.
  attempt     integer NOT NULL,
  endpoint_id uuid NOT NULL,
  outcome     text NOT NULL,
  -- HTTP status. NULL: there was no answer.
  status_code integer,
  -- Error code of the system, of TLS or of the client, where there was no answer.
  code        text,
  -- The beginning of the answer.
  excerpt     text,
  started_at  timestamptz NOT NULL,
  ended_at    timestamptz NOT NULL,
  -- Milliseconds. NULL: this step was not reached, or not needed.
  dns_ms      integer,
  connect_ms  integer,
  tls_ms      integer,
  wait_ms     integer,
  total_ms    integer,
  PRIMARY KEY (delivery_id, attempt)
);
GRANT SELECT, INSERT ON delivery_attempt TO pixgate_app;
-- Recent attempts of an endpoint.
CREATE INDEX delivery_attempt_of_endpoint ON delivery_attempt (endpoint_id, ended_at);

-- Attempts are evidence. Retention takes the excerpt and, in the end, the row.
CREATE TRIGGER append_only BEFORE TRUNCATE ON delivery_attempt
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER attempt_kept BEFORE UPDATE ON delivery_attempt
  FOR EACH STATEMENT WHEN (current_setting('pixgate.erases', true) IS DISTINCT FROM 'yes')
  EXECUTE FUNCTION refuse_rewriting();

-- Alerts to people. One row for each time that something needs a person, while a channel of alerts is configured. Ids and days only: no names,
-- no texts.
-- @source rules#alerts.1
CREATE TABLE alert (
  id         uuid PRIMARY KEY,
  kind       text NOT NULL,
  -- The case, the day of the close, the endpoint with its state, and so on: see alerts.ts.
  subject    text NOT NULL,
  -- Time at which it was noticed.
  at         timestamptz NOT NULL,
  -- Time at which it was found to be over. The same may be alerted again then.
  ended_at   timestamptz,
  -- The message that tells it. NULL: it waits for one.
  message_id uuid
);
GRANT SELECT, INSERT, UPDATE (ended_at, message_id) ON alert TO pixgate_app;
CREATE UNIQUE INDEX alert_open ON alert (kind, subject) WHERE ended_at IS NULL;
-- The last alert about the same.
CREATE INDEX alert_latest ON alert (kind, subject, at);
CREATE INDEX alert_waiting ON alert (kind) WHERE message_id IS NULL;
CREATE INDEX alert_of_message ON alert (message_id, at, id);

-- A message about alerts of one kind, for each channel that it is sent to.
CREATE TABLE alert_message (
  id           uuid NOT NULL,
  -- The kind with the beginning of the SHA-256 of its address: `email 0f3a…`.
  channel      text NOT NULL,
  kind         text NOT NULL,
  made_at      timestamptz NOT NULL,
  -- NULL: it was sent or given up.
  due_at       timestamptz,
  -- End of the lease of the attempt under way. It is the claim's token, as in `delivery`.
  leased_until timestamptz,
  -- Attempts that failed.
  attempts     integer NOT NULL DEFAULT 0,
  sent_at      timestamptz,
  PRIMARY KEY (id, channel),
  CONSTRAINT alert_message_sent CHECK (sent_at IS NULL OR due_at IS NULL)
);
GRANT SELECT, INSERT, UPDATE (due_at, leased_until, attempts, sent_at) ON alert_message TO pixgate_app;
CREATE INDEX alert_message_due ON alert_message (channel, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX alert_message_latest ON alert_message (kind, made_at);

-- Removes what was told long ago. An alert that is not over stays, so that it is not told again.
CREATE FUNCTION forget_alerts() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH messages AS (DELETE FROM alert_message WHERE made_at < clock_timestamp() - interval '90 days'),
  forgotten AS (
    DELETE FROM alert WHERE ended_at IS NOT NULL AND at < clock_timestamp() - interval '90 days' RETURNING 1
  )
  SELECT count(*) FROM forgotten
$$;
