-- Money and events without a home: where an operator books what the bank has and nobody explains yet, and what is known of it.

-- By whichever of the migrations that need it comes first.
INSERT INTO account (id, code) VALUES (9, 'losses'), (10, 'clearing') ON CONFLICT DO NOTHING;

-- Moved by every decision about a case of no operation: whoever decides on what another has changed meanwhile is refused.
INSERT INTO control (name, value, version) VALUES ('loose_cases', '{}', 1);

-- What operators booked about a movement or a difference.
CREATE INDEX operation_about ON operation ((detail ->> 'about')) WHERE kind = 'adjustment' AND detail ? 'about';

-- The operation that an operator names for an event that names none, or several.
ALTER TABLE inbox_event ADD COLUMN attributed_to uuid;
GRANT UPDATE (attributed_to) ON inbox_event TO pixgate_app;

-- Those that close when the event that they are about is applied later.
CREATE INDEX case_event_open ON "case" (reference)
  WHERE operation_id IS NULL AND closed_at IS NULL
    AND kind IN ('unmatched_event', 'disputed_event', 'quarantined_event');
