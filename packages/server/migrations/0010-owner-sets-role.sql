-- Since PostgreSQL 16 who creates a role may grant it and yet not work as it. The first migration took the one for the
-- other, so that an owner who is no superuser could migrate and not start.

DO $$
BEGIN
  IF NOT pg_has_role(
    current_user, 'pixgate_app',
    CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END
  ) THEN
    EXECUTE format('GRANT pixgate_app TO %I', current_user);
  END IF;
END $$;
