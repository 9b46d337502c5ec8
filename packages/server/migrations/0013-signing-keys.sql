-- A signing key is made as the next one and published, then signs as the current one, is published as the previous one
-- while receivers may still have what it signed, and is retired. A process of the version before reads and makes current keys
-- only, as before.
-- @source rules#signing-keys.1

ALTER TABLE signing_key DROP CONSTRAINT signing_key_state_check;
ALTER TABLE signing_key ADD CONSTRAINT signing_key_state_check
  CHECK (state IN ('next', 'current', 'previous', 'retired'));
CREATE UNIQUE INDEX signing_key_one_published ON signing_key (state) WHERE state IN ('next', 'previous');

-- Since when it is what it is; created_at is since when it is published.
ALTER TABLE signing_key ADD COLUMN promoted_at timestamptz, ADD COLUMN replaced_at timestamptz,
  ADD COLUMN retired_at timestamptz;
UPDATE signing_key SET promoted_at = created_at WHERE state = 'current';

-- What signs no more has no private half.
ALTER TABLE signing_key ALTER COLUMN private_key DROP NOT NULL;
UPDATE signing_key SET private_key = NULL WHERE state = 'retired';
ALTER TABLE signing_key ADD CONSTRAINT signing_key_can_sign
  CHECK ((private_key IS NOT NULL) = (state IN ('next', 'current')));

-- A key that signed, or was given up, never signs again: its private half is erased by whoever says so.
CREATE FUNCTION keep_life_of_signing_key() RETURNS trigger LANGUAGE plpgsql AS $$
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

GRANT UPDATE (state, promoted_at, replaced_at, retired_at) ON signing_key TO pixgate_app;

-- The only way in which the server may change a private half: from what it has read to what it has sealed anew, which begins
-- with the present format.
CREATE FUNCTION reseal_signing_key(key_id text, before bytea, after bytea) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = '' AS $$
BEGIN
  UPDATE public.signing_key SET private_key = after
   WHERE id = key_id AND private_key = before AND substring(after FROM 1 FOR 4) = '\x50584702'::bytea;
  RETURN FOUND;
END $$;
REVOKE ALL ON FUNCTION reseal_signing_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION reseal_signing_key TO pixgate_app;
