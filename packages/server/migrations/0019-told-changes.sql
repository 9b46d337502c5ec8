-- Operators, API keys and what the bank may lack are changed with a row of the audit trail beside them, or not at all: also by
-- whoever has the login of a server, or the owner's. A process of the version before writes those rows already.
-- @source rules#audit.9

CREATE INDEX audit_of_credential ON audit (lower(subject))
  WHERE action IN ('operator.created', 'operator.deactivated', 'api_key.generated', 'api_key.deactivated');
CREATE INDEX audit_all_deactivated ON audit (id) WHERE action = 'api_key.all_deactivated';

-- Whether the trail tells of an operator, and that nothing else was made of them.
CREATE FUNCTION is_told(told operator) RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM audit a
                  WHERE lower(a.subject) = told.id::text AND a.action = 'operator.created'
                    AND a.facts ->> 'name' = told.name AND a.facts ->> 'role' = told.role
                    AND a.facts ->> 'display' = told.display)
     AND (told.deactivated_at IS NULL
          OR EXISTS (SELECT FROM audit a WHERE lower(a.subject) = told.id::text AND a.action = 'operator.deactivated'))
$$;

-- The same of an API key. A row from before there were terms names none.
CREATE FUNCTION is_told(told api_key) RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
  SELECT EXISTS (SELECT FROM audit a
                  WHERE lower(a.subject) = told.id::text AND a.action = 'api_key.generated'
                    AND a.facts ->> 'display' = told.display
                    AND coalesce(a.facts -> 'scopes', '["read", "charge", "payout", "refund", "webhook"]')
                        = to_jsonb(told.scopes)
                    AND coalesce(a.facts -> 'cidrs', 'null') = coalesce(to_jsonb(told.cidrs), 'null')
                    AND coalesce(a.facts #> '{caps,paymentCents}', 'null') = coalesce(to_jsonb(told.cap_payment_cents), 'null')
                    AND coalesce(a.facts #> '{caps,hourCents}', 'null') = coalesce(to_jsonb(told.cap_hour_cents), 'null')
                    AND coalesce(a.facts #> '{caps,dayCents}', 'null') = coalesce(to_jsonb(told.cap_day_cents), 'null')
                    AND coalesce(a.facts #> '{caps,nightCents}', 'null') = coalesce(to_jsonb(told.cap_night_cents), 'null'))
     AND (told.deactivated_at IS NULL
          OR EXISTS (SELECT FROM audit a WHERE lower(a.subject) = told.id::text AND a.action = 'api_key.deactivated')
          OR EXISTS (SELECT FROM audit a
                      WHERE a.action = 'api_key.all_deactivated' AND a.facts -> 'keys' ? told.id::text))
$$;

-- As the owner: at the commit its caller may work as somebody who cannot read the trail.
CREATE FUNCTION refuse_untold() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  -- All keys at once are one row that lists them: to search it for each would take longer than a commit may. That the row was
  -- added with them is enough here; the verification reads the list.
  IF TG_TABLE_NAME = 'api_key' AND TG_OP = 'UPDATE'
     AND EXISTS (SELECT FROM audit a
                  WHERE a.action = 'api_key.all_deactivated' AND a.xmin = pg_current_xact_id()::xid)
    THEN RETURN NULL;
  END IF;
  IF is_told(NEW) THEN RETURN NULL; END IF;
  RAISE EXCEPTION '% % is made or deactivated with a row of the audit trail, or not at all', TG_TABLE_NAME, NEW.id
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE CONSTRAINT TRIGGER told AFTER INSERT OR UPDATE OF deactivated_at ON operator DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION refuse_untold();
CREATE CONSTRAINT TRIGGER told AFTER INSERT OR UPDATE OF deactivated_at ON api_key DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW EXECUTE FUNCTION refuse_untold();

CREATE FUNCTION refuse_reactivation() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'what was deactivated stays so' USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER deactivated_for_ever BEFORE UPDATE OF deactivated_at ON operator FOR EACH ROW
  WHEN (OLD.deactivated_at IS NOT NULL AND NEW.deactivated_at IS DISTINCT FROM OLD.deactivated_at)
  EXECUTE FUNCTION refuse_reactivation();
CREATE TRIGGER deactivated_for_ever BEFORE UPDATE OF deactivated_at ON api_key FOR EACH ROW
  WHEN (OLD.deactivated_at IS NOT NULL AND NEW.deactivated_at IS DISTINCT FROM OLD.deactivated_at)
  EXECUTE FUNCTION refuse_reactivation();

-- What is there and was never told, such as admins that the guide's old statement deactivated, is told now.
INSERT INTO audit (id, at, actor, action, subject, address, facts)
SELECT gen_random_uuid(), clock_timestamp(), 'migration', 'operator.created', o.id::text, '',
       jsonb_build_object('name', o.name, 'role', o.role, 'display', o.display)
  FROM operator o
 WHERE NOT EXISTS (SELECT FROM audit a WHERE lower(a.subject) = o.id::text AND a.action = 'operator.created');
INSERT INTO audit (id, at, actor, action, subject, address, facts)
SELECT gen_random_uuid(), clock_timestamp(), 'migration', 'operator.deactivated', o.id::text, '',
       jsonb_build_object('name', o.name, 'role', o.role)
  FROM operator o WHERE NOT is_told(o) AND o.deactivated_at IS NOT NULL;
INSERT INTO audit (id, at, actor, action, subject, address, facts)
SELECT gen_random_uuid(), clock_timestamp(), 'migration', 'api_key.generated', k.id::text, '',
       jsonb_build_object('display', k.display, 'name', k.name, 'scopes', k.scopes, 'cidrs', k.cidrs,
                          'caps', jsonb_build_object('paymentCents', k.cap_payment_cents, 'hourCents', k.cap_hour_cents,
                                                     'dayCents', k.cap_day_cents, 'nightCents', k.cap_night_cents))
  FROM api_key k
 WHERE NOT EXISTS (SELECT FROM audit a WHERE lower(a.subject) = k.id::text AND a.action = 'api_key.generated');
INSERT INTO audit (id, at, actor, action, subject, address, facts)
SELECT gen_random_uuid(), clock_timestamp(), 'migration', 'api_key.deactivated', k.id::text, '',
       jsonb_build_object('display', k.display)
  FROM api_key k WHERE NOT is_told(k) AND k.deactivated_at IS NOT NULL;
-- They get their places now: a later migration may change the table.
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;

-- Where every admin's token is lost. For whoever owns the database: nobody else may.
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
    UPDATE operator SET deactivated_at = clock_timestamp()
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

-- Cases of the bank's statement begin open: one that is there and closed says that somebody has decided of the difference.
-- @source rules#audit.10
CREATE FUNCTION refuse_closed_case() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'a case of the kind % begins open', NEW.kind USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER begins_open BEFORE INSERT ON "case" FOR EACH ROW
  WHEN (NEW.closed_at IS NOT NULL
        AND NEW.kind IN ('statement_missing', 'statement_unexplained', 'statement_differs', 'statement_short', 'bank_balance_short',
                        'credit_denied'))
  EXECUTE FUNCTION refuse_closed_case();

-- What ends such a difference stands in the trail, whoever ends it. By the database, so that no process can leave it out.
CREATE FUNCTION tell_closed_case() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO audit (id, at, actor, action, subject, address, facts)
  VALUES (gen_random_uuid(), clock_timestamp(), 'database ' || session_user, 'case.closed', NEW.id::text,
          coalesce(host(inet_client_addr()), ''), jsonb_build_object('kind', NEW.kind, 'reference', NEW.reference));
  RETURN NULL;
END $$;
CREATE TRIGGER closing_told AFTER UPDATE OF closed_at ON "case" FOR EACH ROW
  WHEN (OLD.closed_at IS NULL AND NEW.closed_at IS NOT NULL
        AND NEW.kind IN ('statement_missing', 'statement_unexplained', 'statement_differs', 'statement_short', 'bank_balance_short',
                        'credit_denied'))
  EXECUTE FUNCTION tell_closed_case();

CREATE FUNCTION tell_shortfall() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO audit (id, at, actor, action, subject, address, facts)
  VALUES (gen_random_uuid(), clock_timestamp(), 'database ' || session_user, 'bank_shortfall.accepted', NEW.name,
          coalesce(host(inet_client_addr()), ''),
          jsonb_build_object('acceptedCents', NEW.accepted_cents, 'before', OLD.accepted_cents,
                             'baseCents', NEW.base_cents, 'baseBefore', OLD.base_cents));
  RETURN NULL;
END $$;
CREATE TRIGGER told AFTER UPDATE OF accepted_cents, base_cents ON bank_shortfall FOR EACH ROW
  WHEN (NEW.accepted_cents <> OLD.accepted_cents
        OR OLD.base_cents IS NOT NULL AND NEW.base_cents IS DISTINCT FROM OLD.base_cents)
  EXECUTE FUNCTION tell_shortfall();

-- A function may be called by whom it is for. A trigger's is called by nobody; who may make triggers could attach one that
-- runs as the owner to a table of their own.
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
  -- For whoever forgets a session. A server's own ask for less; who has its login can ask for none.
  IF pg_has_role(current_user, (SELECT datdba FROM pg_database WHERE datname = current_database()), 'USAGE') THEN
    EXECUTE format('ALTER DATABASE %I SET idle_in_transaction_session_timeout = ''60s''', current_database());
  END IF;
END $$;
GRANT EXECUTE ON FUNCTION note_movements(bigint[]) TO pixgate_app;
-- These read what their caller may read; whoever verifies needs nothing else.
GRANT EXECUTE ON FUNCTION json_or_null(bytea), is_told(operator), is_told(api_key) TO PUBLIC;
