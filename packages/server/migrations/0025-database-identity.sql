-- Which database this is. Restored from a backup or from a dump, or promoted from a standby, it is another one, and what was
-- committed last may not be in it.
-- @source rules#restored.1

CREATE TABLE database_identity (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  -- NULL: not known, or not to be found out here.
  cluster   text,
  tables    text,
  timeline  text,
  noted_at  timestamptz
);
COMMENT ON TABLE database_identity IS 'Which database this was when a process looked last: another one has lost its last commits, perhaps.';
INSERT INTO database_identity DEFAULT VALUES;
GRANT SELECT, UPDATE (cluster, tables, timeline, noted_at) ON database_identity TO pixgate_app;
