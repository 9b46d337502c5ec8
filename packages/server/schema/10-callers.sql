-- Callers of functions. PostgreSQL lets everybody call a new one, so everything is revoked first.

-- A trigger's function is called by no role either: a creator of triggers could attach one that runs as the owner to a table of
-- their own. Functions of other owners and of extensions stay as they are.
DO $$
DECLARE ours regprocedure;
BEGIN
  FOR ours IN
    SELECT p.oid::regprocedure FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace AND p.proowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', ours);
  END LOOP;
END $$;

-- The engine, payouts within caps, and indexes that writers of operations keep.
GRANT EXECUTE ON FUNCTION abandon_batch(uuid), forget_batches(), allowance_used(text, text, integer), forget_allowances(),
  paid_to(text), still_paid(bigint, jsonb), plain_name(text), person_name(jsonb, jsonb), person_document(jsonb, jsonb)
  TO pixgate_app;

-- Sessions of the console.
GRANT EXECUTE ON FUNCTION forget_sessions() TO pixgate_app;

-- Alerts to people.
GRANT EXECUTE ON FUNCTION forget_alerts() TO pixgate_app;

-- Rotation of the encryption key.
GRANT EXECUTE ON FUNCTION reseal_signing_key(text, bytea, bytea), reseal_webhook_secret(uuid, uuid, bytea, bytea)
  TO pixgate_app;

-- Retention.
GRANT EXECUTE ON FUNCTION erase_callbacks(integer, integer), erase_notifications(integer, integer),
  erase_deliveries(integer, integer), erase_ended_operations(integer, integer) TO pixgate_app;

-- Readers of the ledger, and programs that verify with nothing but the right to read.
GRANT EXECUTE ON FUNCTION entry_shown(text, text) TO pixgate_app, PUBLIC;
GRANT EXECUTE ON FUNCTION json_or_null(bytea), matches_audit_trail(credential) TO PUBLIC;
