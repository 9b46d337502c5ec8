-- Every notification has a place in the feed of events: 1, 2, 3 without a gap. Who fans out gives them under the lock of the
-- one row of `feed`, so that what has a place is committed before the next one is given: whoever reads n+1 reads n.
-- @source rules#feed.1
ALTER TABLE notification ADD COLUMN position bigint CHECK (position > 0);

CREATE TABLE feed (
  singleton     boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  -- The place that was given last.
  last_position bigint NOT NULL DEFAULT 0 CHECK (last_position >= 0),
  -- Whether what was fanned out before has no place yet: then what is fanned out now waits behind it.
  is_behind     boolean NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
COMMENT ON TABLE feed IS 'The end of the feed of events. What is before it is in notification.position.';
INSERT INTO feed (is_behind) VALUES (EXISTS (SELECT FROM notification WHERE fanned_out_at IS NOT NULL));

CREATE UNIQUE INDEX notification_position ON notification (position) WHERE position IS NOT NULL;
-- What was fanned out without a place, by a process of the version before: a worker gives it one soon. This is not done here, as
-- nobody could be notified meanwhile. What gets its place while it is fanned out is never in it.
CREATE INDEX notification_to_place ON notification (created_at, id) WHERE position IS NULL AND fanned_out_at IS NOT NULL;
-- The last of them is where the feed can be read from.
CREATE INDEX notification_erased ON notification (position) WHERE erased_at IS NOT NULL AND position IS NOT NULL;

CREATE FUNCTION refuse_another_position() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  RAISE EXCEPTION 'a place in the feed is never changed' USING ERRCODE = 'insufficient_privilege';
END $$;
REVOKE EXECUTE ON FUNCTION refuse_another_position() FROM PUBLIC;
CREATE TRIGGER position_kept BEFORE UPDATE OF position ON notification
  FOR EACH ROW WHEN (OLD.position IS NOT NULL) EXECUTE FUNCTION refuse_another_position();
CREATE TRIGGER position_kept BEFORE UPDATE OF last_position ON feed
  FOR EACH ROW WHEN (NEW.last_position < OLD.last_position) EXECUTE FUNCTION refuse_another_position();
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON feed
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

GRANT SELECT, UPDATE (last_position, is_behind) ON feed TO pixgate_app;
GRANT UPDATE (position) ON notification TO pixgate_app;
