-- Credentials (operators and API keys), the audit trail with its chain and signed heads, and the identity of this database.

-- The token of a person who operates the service, or a key of the merchant's servers. It is shown once; the hash opens nothing.
CREATE TABLE credential (
  id                      uuid PRIMARY KEY,
  kind                    text NOT NULL CHECK (kind IN ('operator', 'api_key')),
  name                    text,
  -- SHA-256 of the token or key. NULL: an operator of the sandbox, who has none and logs in by a link.
  hash                    bytea UNIQUE,
  -- The first characters after the prefix, to tell credentials apart. They are never enough to use one.
  display                 text NOT NULL,
  -- The operator who created it. NULL: the administrative token.
  created_by              uuid REFERENCES credential (id),
  created_at              timestamptz NOT NULL,
  last_used_at            timestamptz,
  deactivated_at          timestamptz,
  -- Of an operator.
  role                    text CHECK (role IN ('viewer', 'operator', 'approver', 'admin')),
  -- Of an API key.
  scopes                  text[] CHECK (cardinality(scopes) > 0 AND scopes <@ '{read,charge,payout,refund,webhook}'),
  -- Networks that the key may be used from. NULL: any.
  cidrs                   text[],
  -- NULL: never.
  expires_at              timestamptz,
  -- Caps on payouts and refunds of the key, centavos. NULL: it has no cap of its own.
  cap_payment_cents       bigint CHECK (cap_payment_cents > 0),
  cap_hour_cents          bigint CHECK (cap_hour_cents > 0),
  cap_day_cents           bigint CHECK (cap_day_cents > 0),
  cap_night_cents         bigint CHECK (cap_night_cents > 0),
  cap_new_recipient_cents bigint CHECK (cap_new_recipient_cents > 0),
  -- An operator has a role and nothing of a key; a key has scopes and no role.
  CHECK (CASE kind
    WHEN 'api_key' THEN role IS NULL AND scopes IS NOT NULL AND hash IS NOT NULL
    ELSE role IS NOT NULL AND name IS NOT NULL
         AND num_nonnulls(scopes, cidrs, expires_at, cap_payment_cents, cap_hour_cents, cap_day_cents, cap_night_cents,
                          cap_new_recipient_cents) = 0
  END)
);
GRANT SELECT ON credential TO pixgate_app;
GRANT INSERT (id, kind, name, hash, display, created_by, created_at, role, scopes, cidrs, expires_at, cap_payment_cents,
              cap_hour_cents, cap_day_cents, cap_night_cents, cap_new_recipient_cents) ON credential TO pixgate_app;
GRANT UPDATE (last_used_at, deactivated_at) ON credential TO pixgate_app;

CREATE FUNCTION refuse_reactivation() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'a deactivated credential stays deactivated' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER deactivated_for_ever BEFORE UPDATE OF deactivated_at ON credential FOR EACH ROW
  WHEN (OLD.deactivated_at IS NOT NULL AND NEW.deactivated_at IS DISTINCT FROM OLD.deactivated_at)
  EXECUTE FUNCTION refuse_reactivation();

-- A deactivation changes the control `holders`, which approvals compare: an approval counts by the keys and tokens that are active
-- when it is written.
CREATE FUNCTION count_holders() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE control SET version = version + 1 WHERE name = 'holders';
  RETURN NULL;
END $$;
CREATE TRIGGER holders AFTER UPDATE OF deactivated_at ON credential FOR EACH STATEMENT EXECUTE FUNCTION count_holders();

-- Sessions of the web console. The cookie is shown once; the hash opens nothing.
-- @source rules#console.4
CREATE TABLE session (
  id          uuid PRIMARY KEY,
  operator_id uuid NOT NULL REFERENCES credential (id),
  -- SHA-256 of the cookie.
  hash        bytea NOT NULL UNIQUE,
  address     text NOT NULL,
  user_agent  text,
  created_at  timestamptz NOT NULL,
  -- Last activity, to the minute.
  active_at   timestamptz NOT NULL,
  -- Twelve hours after its beginning, or the time of its end.
  ends_at     timestamptz NOT NULL
);
GRANT SELECT, INSERT, UPDATE (active_at, ends_at) ON session TO pixgate_app;
CREATE INDEX session_ends_at ON session (ends_at);

-- Removes sessions that ended long ago. The audit trail keeps their beginnings and ends.
CREATE FUNCTION forget_sessions() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH forgotten AS (DELETE FROM session WHERE ends_at < clock_timestamp() - interval '30 days' RETURNING 1)
  SELECT count(*) FROM forgotten
$$;

-- The audit trail.
CREATE TABLE audit (
  id         uuid PRIMARY KEY,
  at         timestamptz NOT NULL,
  actor      text NOT NULL,
  actor_name text,
  action     text NOT NULL,
  subject    text NOT NULL,
  -- Network address of the actor. Empty: none.
  address    text NOT NULL,
  -- JSON object.
  facts      jsonb NOT NULL
);
GRANT SELECT, INSERT ON audit TO pixgate_app;
-- Pages of the trail.
CREATE INDEX audit_listed ON audit (at, id);
-- The last login of an actor from an address.
CREATE INDEX audit_login ON audit (actor, address, at) WHERE action = 'operator.logged_in';
-- The limits with which a process started last.
CREATE INDEX audit_limits ON audit (at, id) WHERE action = 'limits.configured';
-- Rows about a credential, for matches_audit_trail().
CREATE INDEX audit_of_credential ON audit (lower(subject))
  WHERE action IN ('operator.created', 'operator.deactivated', 'api_key.generated', 'api_key.deactivated');
CREATE INDEX audit_all_deactivated ON audit (id) WHERE action = 'api_key.all_deactivated';
-- Differences for which the trip wire has suspended payouts.
CREATE INDEX audit_trip ON audit USING gin ((facts -> 'cases')) WHERE actor = 'trip-wire';
-- The hashes of the daily closes.
CREATE INDEX audit_day_closed ON audit (subject) WHERE action = 'day.closed';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- The place of each row of the trail, and a hash over the row and the hash before. A row that is changed, removed, inserted or
-- moved changes all later hashes, and contradicts every head that was signed or noted elsewhere.
CREATE TABLE audit_chain (
  -- From 1, without a gap.
  seq      bigint PRIMARY KEY,
  audit_id uuid NOT NULL UNIQUE,
  hash     bytea NOT NULL CHECK (octet_length(hash) = 32)
);
GRANT SELECT ON audit_chain TO pixgate_app;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_chain
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- The last place and hash: one row, which a writer of the chain locks.
CREATE TABLE audit_head (
  is_head boolean PRIMARY KEY DEFAULT true CHECK (is_head),
  seq     bigint NOT NULL,
  hash    bytea NOT NULL
);
INSERT INTO audit_head (seq, hash) VALUES (0, decode(repeat('00', 32), 'hex'));
GRANT SELECT ON audit_head TO pixgate_app;

-- A text as bytes with its length in four bytes before, -1 for NULL: no two rows have the same bytes.
CREATE FUNCTION audit_field(value text) RETURNS bytea LANGUAGE sql IMMUTABLE
  SET search_path = public, pg_temp
  AS $$ SELECT coalesce(int4send(octet_length(convert_to(value, 'UTF8'))) || convert_to(value, 'UTF8'), '\xffffffff') $$;

CREATE FUNCTION audit_hash(before bytea, place bigint, entry public.audit) RETURNS bytea LANGUAGE sql IMMUTABLE
  SET search_path = public, pg_temp
  AS $$
  SELECT sha256(before || int8send(place)
    || public.audit_field(entry.id::text)
    || public.audit_field(((extract(epoch FROM entry.at) * 1000000)::bigint)::text)
    || public.audit_field(entry.actor) || public.audit_field(entry.actor_name) || public.audit_field(entry.action)
    || public.audit_field(entry.subject) || public.audit_field(entry.address) || public.audit_field(entry.facts::text))
$$;

-- Runs as the owner, so that no writer of rows chooses places or hashes.
CREATE FUNCTION chain_audit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp
  AS $$
DECLARE
  head public.audit_head;
BEGIN
  IF TG_RELID <> 'public.audit'::regclass THEN
    RAISE EXCEPTION 'only rows of the audit trail are chained' USING ERRCODE = 'insufficient_privilege';
  END IF;
  SELECT * INTO STRICT head FROM public.audit_head FOR UPDATE;
  head.seq := head.seq + 1;
  head.hash := public.audit_hash(head.hash, head.seq, NEW);
  INSERT INTO public.audit_chain (seq, audit_id, hash) VALUES (head.seq, NEW.id, head.hash);
  UPDATE public.audit_head SET seq = head.seq, hash = head.hash;
  RETURN NULL;
END $$;
-- Deferred to the commit, when a transaction holds all its other locks: the holder of the head waits for no other lock, so no two
-- transactions wait for each other.
CREATE CONSTRAINT TRIGGER chained AFTER INSERT ON audit DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION chain_audit();

-- Heads, signed with a key that the database never sees.
CREATE TABLE audit_anchor (
  seq    bigint NOT NULL,
  hash   bytea NOT NULL,
  at     timestamptz NOT NULL,
  key_id text NOT NULL,
  mac    bytea NOT NULL,
  PRIMARY KEY (seq, mac)
);
GRANT SELECT, INSERT ON audit_anchor TO pixgate_app;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_anchor
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- A signed head is one of the trail. A false one would accuse the trail of having been rewritten, for good.
-- @source rules#audit.3
CREATE FUNCTION refuse_strange_anchor() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM audit_chain c WHERE c.seq = NEW.seq AND c.hash = NEW.hash) THEN
    RAISE EXCEPTION 'the audit trail has no such head' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER is_head BEFORE INSERT ON audit_anchor FOR EACH ROW EXECUTE FUNCTION refuse_strange_anchor();

-- Credentials are changed with a row of the trail in the same transaction, or not at all: also with the login of a server or of the
-- owner. matches_audit_trail() compares a credential with the trail; a property that a row of the trail does not name is NULL.
-- @source rules#audit.9
CREATE FUNCTION matches_audit_trail(checked credential) RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM audit a
                  WHERE lower(a.subject) = checked.id::text
                    AND a.action IN ('operator.created', 'operator.deactivated', 'api_key.generated', 'api_key.deactivated')
                    AND a.action = CASE checked.kind WHEN 'operator' THEN 'operator.created' ELSE 'api_key.generated' END
                    AND a.facts ->> 'display' = checked.display
                    AND a.facts ->> 'name' IS NOT DISTINCT FROM checked.name
                    AND a.facts ->> 'role' IS NOT DISTINCT FROM checked.role
                    AND coalesce(a.facts -> 'scopes', 'null') = coalesce(to_jsonb(checked.scopes), 'null')
                    AND coalesce(a.facts -> 'cidrs', 'null') = coalesce(to_jsonb(checked.cidrs), 'null')
                    AND coalesce(a.facts #> '{caps,paymentCents}', 'null') = coalesce(to_jsonb(checked.cap_payment_cents), 'null')
                    AND coalesce(a.facts #> '{caps,hourCents}', 'null') = coalesce(to_jsonb(checked.cap_hour_cents), 'null')
                    AND coalesce(a.facts #> '{caps,dayCents}', 'null') = coalesce(to_jsonb(checked.cap_day_cents), 'null')
                    AND coalesce(a.facts #> '{caps,nightCents}', 'null') = coalesce(to_jsonb(checked.cap_night_cents), 'null')
                    AND coalesce(a.facts #> '{caps,newRecipientCents}', 'null')
                        = coalesce(to_jsonb(checked.cap_new_recipient_cents), 'null'))
     AND (checked.deactivated_at IS NULL
          OR EXISTS (SELECT FROM audit a
                      WHERE lower(a.subject) = checked.id::text
                        AND a.action IN ('operator.created', 'operator.deactivated', 'api_key.generated', 'api_key.deactivated')
                        AND a.action = checked.kind || '.deactivated')
          OR (checked.kind = 'api_key'
              AND EXISTS (SELECT FROM audit a
                           WHERE a.action = 'api_key.all_deactivated' AND a.facts -> 'keys' ? checked.id::text)))
$$;

-- Runs as the owner: at the commit its caller may work as a role that cannot read the trail.
CREATE FUNCTION refuse_unaudited() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  -- All keys at once are one row that lists them. Searching it for each key would take longer than a commit may; that the row was
  -- added in this transaction is enough here, and the verification reads the list.
  IF NEW.kind = 'api_key' AND TG_OP = 'UPDATE'
     AND EXISTS (SELECT FROM audit a
                  WHERE a.action = 'api_key.all_deactivated' AND a.xmin = pg_current_xact_id()::xid)
    THEN RETURN NULL;
  END IF;
  IF matches_audit_trail(NEW) THEN RETURN NULL; END IF;
  RAISE EXCEPTION '% % is made or deactivated with a row of the audit trail, or not at all', NEW.kind, NEW.id
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE CONSTRAINT TRIGGER audited AFTER INSERT OR UPDATE OF deactivated_at ON credential DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION refuse_unaudited();

-- A row of the trip wire is true only where payouts are suspended by it at the commit: it decides for which differences payouts
-- were suspended, and the login of a server could write it beforehand.
-- @source rules#trip-wire.5
CREATE FUNCTION refuse_false_trip() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM control
                  WHERE name = 'cash_out_switch' AND value ->> 'enabled' = 'false' AND value ->> 'by' = 'trip-wire') THEN
    RAISE EXCEPTION 'the trip wire has suspended nothing' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER trip_is_true AFTER INSERT ON audit DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.actor = 'trip-wire') EXECUTE FUNCTION refuse_false_trip();

-- Deactivates every admin where all their tokens are lost. Only the owner of the database may call it.
-- @source rules#operators.9
CREATE FUNCTION deactivate_all_admins(by_whom text, reason text) RETURNS integer
  LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
  deactivated integer;
BEGIN
  IF coalesce(btrim(by_whom), '') = '' OR coalesce(btrim(reason), '') = '' THEN
    RAISE EXCEPTION 'say who you are and why: SELECT deactivate_all_admins(''Ana Souza'', ''both tokens are lost'')'
      USING ERRCODE = 'invalid_parameter_value';
  END IF;
  WITH lost AS (
    UPDATE credential SET deactivated_at = clock_timestamp()
     WHERE role = 'admin' AND deactivated_at IS NULL
    RETURNING id, name, role, deactivated_at
  )
  INSERT INTO audit (id, at, actor, actor_name, action, subject, address, facts)
  SELECT gen_random_uuid(), deactivated_at, 'database ' || session_user, by_whom, 'operator.deactivated', id::text,
         coalesce(host(inet_client_addr()), ''), jsonb_build_object('name', name, 'role', role, 'reason', reason)
    FROM lost;
  GET DIAGNOSTICS deactivated = ROW_COUNT;
  RETURN deactivated;
END $$;

-- The identity of this database when a process looked last: one row. Restored from a backup or a dump, or promoted from a standby,
-- it is another database and may lack the last commits.
-- @source rules#restored.1
CREATE TABLE database_identity (
  singleton   boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  -- NULL: not known, or not to be found out here.
  cluster     text,
  tables      text,
  timeline    text,
  noted_at    timestamptz,
  -- Time at which a restore was noted last: orders made soon after it are queried at the bank before they are sent.
  restored_at timestamptz
);
INSERT INTO database_identity DEFAULT VALUES;
GRANT SELECT, UPDATE (cluster, tables, timeline, noted_at, restored_at) ON database_identity TO pixgate_app;
