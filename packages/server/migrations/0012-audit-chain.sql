-- Each row of the audit trail has a place, and a hash over itself and the row before: whoever changes, removes, inserts or
-- moves one has to rewrite all that follow, and every head that was signed or noted elsewhere says so.

ALTER TABLE audit ADD COLUMN actor_name text;

CREATE TABLE audit_chain (
  -- From 1, without a gap.
  seq      bigint PRIMARY KEY,
  audit_id uuid NOT NULL UNIQUE,
  hash     bytea NOT NULL CHECK (octet_length(hash) = 32)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_chain
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- The last of them, which whoever adds one locks.
CREATE TABLE audit_head (
  is_head boolean PRIMARY KEY DEFAULT true CHECK (is_head),
  seq     bigint NOT NULL,
  hash    bytea NOT NULL
);
INSERT INTO audit_head (seq, hash) VALUES (0, decode(repeat('00', 32), 'hex'));

-- Heads, signed with a key that the database never sees.
CREATE TABLE audit_anchor (
  seq    bigint NOT NULL,
  hash   bytea NOT NULL,
  at     timestamptz NOT NULL,
  key_id text NOT NULL,
  mac    bytea NOT NULL,
  PRIMARY KEY (seq, mac)
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_anchor
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- The length of a text in bytes, in four, and its bytes; -1 for none: no two rows are the same bytes.
CREATE FUNCTION audit_field(value text) RETURNS bytea LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, pg_temp
  AS $$ SELECT coalesce(int4send(octet_length(convert_to(value, 'UTF8'))) || convert_to(value, 'UTF8'), '\xffffffff') $$;

CREATE FUNCTION audit_hash(before bytea, place bigint, entry public.audit) RETURNS bytea LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, pg_temp
  AS $$
  SELECT sha256(before || int8send(place)
    || public.audit_field(entry.id::text)
    || public.audit_field(((extract(epoch FROM entry.at) * 1000000)::bigint)::text)
    || public.audit_field(entry.actor) || public.audit_field(entry.actor_name) || public.audit_field(entry.action)
    || public.audit_field(entry.subject) || public.audit_field(entry.address) || public.audit_field(entry.facts::text))
$$;

-- As the owner, so that nobody who adds rows may choose their places or hashes.
CREATE FUNCTION chain_audit() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = pg_catalog, pg_temp
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
REVOKE EXECUTE ON FUNCTION chain_audit() FROM PUBLIC;

-- What is there already, in the order in which it was written. Nobody adds a row meanwhile.
LOCK TABLE audit IN SHARE ROW EXCLUSIVE MODE;
DO $$
DECLARE
  entry public.audit;
  head public.audit_head;
BEGIN
  SELECT * INTO STRICT head FROM public.audit_head;
  FOR entry IN SELECT * FROM public.audit ORDER BY at, id LOOP
    head.seq := head.seq + 1;
    head.hash := public.audit_hash(head.hash, head.seq, entry);
    INSERT INTO public.audit_chain (seq, audit_id, hash) VALUES (head.seq, entry.id, head.hash);
  END LOOP;
  UPDATE public.audit_head SET seq = head.seq, hash = head.hash;
END $$;

-- At the commit, when a transaction has every other lock that it will ever want: whoever holds the head waits for nobody, so
-- that no two wait for each other, in whatever order they do the rest. A process of the version before needs not know.
CREATE CONSTRAINT TRIGGER chained AFTER INSERT ON audit DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION chain_audit();

-- When somebody was let in last from an address, and with which limits a process started last.
CREATE INDEX audit_login ON audit (actor, address, at) WHERE action = 'operator.logged_in';
CREATE INDEX audit_limits ON audit (at, id) WHERE action = 'limits.configured';

GRANT SELECT ON audit_chain, audit_head, audit_anchor TO pixgate_app;
GRANT INSERT ON audit_anchor TO pixgate_app;
