-- What was set aside never shadows what the partner tells later; waits are no failures.

-- How often applying it failed, and how often it was parked: each has its own limit, and a wait counts for neither.
ALTER TABLE inbox ADD COLUMN failures integer NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN parkings integer NOT NULL DEFAULT 0;
GRANT UPDATE (failures, parkings) ON inbox TO pixgate_app;

-- An event that is set aside (in quarantine, or given up with a case) gives up its key, which the same event told rightly
-- may then hold. The key changes here, not in a new index that leaves such rows out: a process of the version before names
-- the predicate of inbox_once in its ON CONFLICT, could not insert without that very index, and quarantines as well.
-- The new key is its own for ever, as it has the row's id, tells the old one, and is a list like every key.
CREATE FUNCTION free_inbox_key() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.dedupe_key := jsonb_build_array('set aside', OLD.id, OLD.dedupe_key)::text;
  RETURN NEW;
END $$;
CREATE TRIGGER set_aside BEFORE UPDATE ON inbox FOR EACH ROW
  WHEN (OLD.processed_at IS NULL AND NEW.processed_at IS NOT NULL
        AND (NEW.state IN ('QUARANTINED', 'PARKED') OR NEW.outcome = 'CASE_OPENED'))
  EXECUTE FUNCTION free_inbox_key();

ALTER TABLE inbox DISABLE TRIGGER evidence_kept;
UPDATE inbox SET dedupe_key = jsonb_build_array('set aside', id, dedupe_key)::text
 WHERE processed_at IS NOT NULL AND (state IN ('QUARANTINED', 'PARKED') OR outcome = 'CASE_OPENED');
ALTER TABLE inbox ENABLE TRIGGER evidence_kept;
