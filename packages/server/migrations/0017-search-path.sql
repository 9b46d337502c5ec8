-- What runs as the owner finds tables of the owner, never one that its caller made: an unnamed temporary schema is looked
-- through before all others.

DO $$
DECLARE ours regprocedure;
BEGIN
  FOR ours IN
    SELECT p.oid::regprocedure FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE n.nspname = 'public' AND p.proowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)
  LOOP
    EXECUTE format('ALTER FUNCTION %s SET search_path = public, pg_temp', ours);
  END LOOP;
  EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC, pixgate_app', current_database());
END $$;
