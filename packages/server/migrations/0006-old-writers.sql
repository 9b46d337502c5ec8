-- A process of a version whose migrations end before 0003 knows neither movements nor the day that begins at noon, and may
-- run beside one of this version while the service is upgraded: the database notes both for it. All of this goes in a later
-- release, when no such process can be left.
-- @source failure-modes#DB-40, failure-modes#DB-41

-- What the settlement account, whose id is 3, says of movements: as in 0003.
CREATE VIEW booked_movement AS
  SELECT version,
         CASE WHEN journal IN ('cash_in_paid', 'arrived_unattributed', 'cash_out_returned') THEN 'in' ELSE 'out' END
           AS direction,
         reference AS id, operation_id, abs(amount_cents) AS value_cents, journal
    FROM entry
   WHERE account_id = 3
     AND journal IN ('cash_in_paid', 'arrived_unattributed', 'cash_out_returned', 'cash_out_confirmed',
                     'refund_in_confirmed', 'left_after_release', 'left_unattributed', 'taken_by_bank');
GRANT SELECT ON booked_movement TO pixgate_app;

-- Notes the movements of these entries of the settlement account. A movement that another operation has stays there; the
-- second booking is a case, as its writer knew no better.
CREATE FUNCTION note_movements(versions bigint[]) RETURNS void LANGUAGE sql AS $$
  INSERT INTO movement (direction, id, operation_id, value_cents)
  SELECT direction, id, operation_id, value_cents FROM booked_movement WHERE version = ANY (versions) ORDER BY version
  ON CONFLICT DO NOTHING;

  INSERT INTO "case" (id, operation_id, kind, reference, facts, opened_at)
  SELECT gen_random_uuid(), b.operation_id, 'movement_elsewhere', b.id,
         jsonb_build_object('direction', b.direction, 'valueCents', b.value_cents, 'journal', b.journal,
                            'bookedOn', m.operation_id),
         clock_timestamp()
    FROM booked_movement b JOIN movement m ON m.direction = b.direction AND m.id = b.id
   WHERE b.version = ANY (versions) AND b.operation_id <> m.operation_id
  ON CONFLICT DO NOTHING;
$$;

CREATE FUNCTION note_movements_of_old_writer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_movements(ARRAY(SELECT version FROM added WHERE account_id = 3));
  RETURN NULL;
END $$;
-- A process that notes its movements itself says so when it connects. Where that was lost on the way (a pooler), this finds
-- everything noted. For each statement, not for each row: asking costs the others next to nothing then.
CREATE TRIGGER movements_noted AFTER INSERT ON entry REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT WHEN (current_setting('pixgate.notes_movements', true) IS DISTINCT FROM 'yes')
  EXECUTE FUNCTION note_movements_of_old_writer();

-- What such a process booked since 0003. Where 0003 ran just now nobody has booked anything since; the trigger's lock keeps
-- everybody from it meanwhile.
DO $$
BEGIN
  IF EXISTS (SELECT FROM schema_migration WHERE version = 3 AND applied_at < transaction_timestamp()) THEN
    PERFORM note_movements(ARRAY(
      SELECT version FROM booked_movement b
       WHERE NOT EXISTS (SELECT FROM movement m
                          WHERE m.direction = b.direction AND m.id = b.id AND m.operation_id = b.operation_id)));
  END IF;
END $$;

-- A key that a process of either version is given at the same moment, around midnight UTC, is used once.
CREATE FUNCTION note_noon_day() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.idempotency_noon_day := floor((extract(epoch FROM NEW.created_at) - 43200) / 86400);
  RETURN NEW;
END $$;
CREATE TRIGGER noon_day_noted BEFORE INSERT ON operation FOR EACH ROW
  WHEN (NEW.idempotency_key IS NOT NULL AND NEW.idempotency_noon_day IS NULL)
  EXECUTE FUNCTION note_noon_day();
