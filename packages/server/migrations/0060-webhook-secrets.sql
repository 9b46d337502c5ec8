-- The secrets that a receiver shares with the service. The newest has no end; those before it go on signing until theirs, and are
-- erased then. A process of the version before knows of none, and signs with the signing key alone.
-- @source rules#webhook-secrets.1
CREATE TABLE webhook_secret (
  subscription_id uuid NOT NULL REFERENCES subscription,
  id              uuid NOT NULL,
  -- Sealed; erased when it signs no more.
  secret          bytea,
  created_at      timestamptz NOT NULL,
  -- From then on it signs no more.
  expires_at      timestamptz,
  erased_at       timestamptz,
  PRIMARY KEY (subscription_id, id),
  CONSTRAINT webhook_secret_erased CHECK ((secret IS NULL) = (erased_at IS NOT NULL)),
  CONSTRAINT webhook_secret_ended CHECK (erased_at IS NULL OR expires_at IS NOT NULL)
);
CREATE UNIQUE INDEX webhook_secret_newest ON webhook_secret (subscription_id) WHERE expires_at IS NULL;
CREATE INDEX webhook_secret_kept ON webhook_secret (subscription_id) WHERE secret IS NOT NULL;

-- A secret never signs for longer than was said, and one that was erased is not brought back.
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
REVOKE EXECUTE ON FUNCTION keep_life_of_webhook_secret() FROM PUBLIC;
CREATE TRIGGER life_kept BEFORE UPDATE OF expires_at, erased_at ON webhook_secret FOR EACH ROW
  EXECUTE FUNCTION keep_life_of_webhook_secret();

GRANT SELECT, INSERT ON webhook_secret TO pixgate_app;
GRANT UPDATE (expires_at, erased_at) ON webhook_secret TO pixgate_app;

-- The only way in which the server may change a secret: from what it has read to what it has sealed anew.
CREATE FUNCTION reseal_webhook_secret(of_subscription uuid, secret_id uuid, before bytea, after bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE webhook_secret SET secret = after
   WHERE subscription_id = of_subscription AND id = secret_id AND secret = before
     AND substring(after FROM 1 FOR 4) = '\x50584702'::bytea;
  RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION reseal_webhook_secret FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reseal_webhook_secret TO pixgate_app;
