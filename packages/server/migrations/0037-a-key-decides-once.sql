-- One Idempotency-Key of the desk is one request, also where two arrive at the same moment, about two cases.

ALTER TABLE case_step ADD COLUMN idempotency_day integer, ADD COLUMN idempotency_noon_day integer;
COMMENT ON COLUMN case_step.idempotency_day IS
  'The day of UTC on which its key was used, and in the other column the day that begins at noon: two uses at the same moment share one of them, two that are 24 hours apart share none.';

-- A process of the version before writes no days.
CREATE FUNCTION days_of_case_step() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  NEW.idempotency_day := floor(extract(epoch FROM NEW.at) / 86400);
  NEW.idempotency_noon_day := floor((extract(epoch FROM NEW.at) - 43200) / 86400);
  RETURN NEW;
END $$;
REVOKE EXECUTE ON FUNCTION days_of_case_step() FROM PUBLIC;
CREATE TRIGGER days_known BEFORE INSERT ON case_step FOR EACH ROW
  WHEN (NEW.idempotency_key IS NOT NULL) EXECUTE FUNCTION days_of_case_step();

-- Steps that were kept before have no day: whatever they had in common stays.
CREATE UNIQUE INDEX case_step_key_once ON case_step (idempotency_key, idempotency_day);
CREATE UNIQUE INDEX case_step_key_once_noon ON case_step (idempotency_key, idempotency_noon_day);
