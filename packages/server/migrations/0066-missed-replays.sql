-- How far an order to send what a receiver missed has come: the feed is looked through from one place to the next, some at a time,
-- and what is found is written with how far it was looked. So nothing is looked at twice by one order, whoever stopped where.
-- @source rules#webhooks.24
CREATE TABLE missed_replay (
  replay_id       uuid PRIMARY KEY REFERENCES replay,
  subscription_id uuid NOT NULL REFERENCES subscription,
  -- What was made in this time is looked for: from the first instant on, before the second, which is no later than when the receiver
  -- was registered.
  since           timestamptz NOT NULL,
  until           timestamptz NOT NULL,
  -- What of that time has a place in the feed up to this one was dealt with; it is never missed again, not even when its delivery
  -- was erased.
  position        bigint NOT NULL CHECK (position >= 0),
  found           integer NOT NULL DEFAULT 0,
  -- When it is looked on; null where that is over.
  due_at          timestamptz
) WITH (fillfactor = 50);
CREATE INDEX missed_replay_due ON missed_replay (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX missed_replay_of ON missed_replay (subscription_id);

CREATE FUNCTION refuse_looking_back() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'an order looks on, never back' USING ERRCODE = 'integrity_constraint_violation';
END $$;
REVOKE EXECUTE ON FUNCTION refuse_looking_back() FROM PUBLIC;
CREATE TRIGGER position_kept BEFORE UPDATE ON missed_replay
  FOR EACH ROW WHEN (NEW.position < OLD.position OR OLD.due_at IS NULL) EXECUTE FUNCTION refuse_looking_back();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON missed_replay
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

GRANT SELECT, INSERT ON missed_replay TO pixgate_app;
GRANT UPDATE (position, found, due_at) ON missed_replay TO pixgate_app;
