-- The role that the server works as, and the guard that append-only tables share.

-- Looks first: an owner that may not create roles works where an administrator made this one.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pixgate_app') THEN
    CREATE ROLE pixgate_app NOLOGIN;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL; -- Another database of this cluster is being prepared at the same moment.
END $$;

-- The owner works as this role too. Since PostgreSQL 16 the creator of a role may grant it without being allowed to SET it.
DO $$
BEGIN
  IF NOT pg_has_role(
    current_user, 'pixgate_app',
    CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END
  ) THEN
    EXECUTE format('GRANT pixgate_app TO %I', current_user);
  END IF;
END $$;

GRANT USAGE ON SCHEMA public TO pixgate_app;
-- The doctor and the start of a server read which schema this is.
GRANT SELECT ON schema_migration TO pixgate_app;

-- Trigger function of append-only tables. It refuses everybody, the owner too.
CREATE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

-- Trigger function of the columns that hold the words of a bank.
CREATE FUNCTION refuse_inbox_rewriting() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'what the partner said is never changed' USING ERRCODE = 'insufficient_privilege';
END $$;
