-- Every receiver has a lane: what is known of how it answers, and whether anything may be sent to it now. The row changes
-- with its state and with failures; while a receiver is well, nothing is written.
-- @source rules#webhooks.12
CREATE TABLE lane (
  subscription_id uuid PRIMARY KEY REFERENCES subscription,
  -- Counts the changes of state: what was decided of an earlier one is not written over a later one.
  version         integer NOT NULL DEFAULT 0,
  state           text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'degraded', 'paused')),
  reason          text,
  since           timestamptz NOT NULL,
  -- Failures since the last success, and the first of them.
  failures        integer NOT NULL DEFAULT 0,
  failing_since   timestamptz,
  -- While degraded: probes that failed and succeeded in a row, and when the next one is due.
  failed_probes   integer NOT NULL DEFAULT 0,
  good_probes     integer NOT NULL DEFAULT 0,
  probe_at        timestamptz,
  -- The receiver asked for this long.
  held_until      timestamptz,
  -- After a pause: since when what was held is sent at a rising pace, and how much of it was.
  drain_since     timestamptz,
  drained         integer NOT NULL DEFAULT 0,
  -- Its receiver was removed, and nothing is pending for it any more.
  is_over         boolean NOT NULL DEFAULT false,
  CONSTRAINT lane_reason CHECK ((state = 'active') = (reason IS NULL)),
  CONSTRAINT lane_probe CHECK ((state = 'degraded') = (probe_at IS NOT NULL))
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);

-- Of those that are over there may be many.
CREATE INDEX lane_in_use ON lane (subscription_id) WHERE NOT is_over;

-- Whoever registers a receiver, also a process of the version before, makes its lane.
CREATE FUNCTION make_lane() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO lane (subscription_id, since) VALUES (NEW.id, NEW.created_at);
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION make_lane() FROM PUBLIC;
CREATE TRIGGER make_lane AFTER INSERT ON subscription FOR EACH ROW EXECUTE FUNCTION make_lane();

-- What is removed and has nothing pending needs none.
INSERT INTO lane (subscription_id, since)
SELECT s.id, s.created_at
  FROM subscription s
 WHERE s.deleted_at IS NULL;

-- First attempts are looked for apart from those that follow: neither waits behind a backlog of the other. Running processes
-- go on sending by the old index while the new one is built.
CREATE INDEX delivery_next ON delivery (subscription_id, least(attempts, 1), next_attempt_at) WHERE state = 'PENDING';
DROP INDEX delivery_due;
ALTER INDEX delivery_next RENAME TO delivery_due;

GRANT SELECT, INSERT ON lane TO pixgate_app;
GRANT UPDATE (version, state, reason, since, failures, failing_since, failed_probes, good_probes, probe_at, held_until,
  drain_since, drained, is_over) ON lane TO pixgate_app;
