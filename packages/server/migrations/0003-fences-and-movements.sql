-- What became of a statement whose answer was lost is told by a row, not by a clock; and every movement of money at the
-- bank belongs to one operation.

-- Fences. A statement of the engine writes its id as committed, or is refused by the id that was abandoned meanwhile.

CREATE TABLE batch (
  -- UUIDv7: sorted by time, so that old rows are found by the primary key.
  id      uuid PRIMARY KEY,
  outcome text NOT NULL CHECK (outcome IN ('committed', 'abandoned'))
);
COMMENT ON TABLE batch IS
  'The outcome of each statement of the engine, kept for seven days: a delayed one that was given up can only fail on its key.';
GRANT SELECT, INSERT ON batch TO pixgate_app;

-- Waits for a transaction that has written the id and is still open. It writes in either case, so that what it tells has
-- reached the standby that commits wait for.
CREATE FUNCTION abandon_batch(abandoned uuid) RETURNS text LANGUAGE sql SECURITY DEFINER SET search_path = public AS $$
  INSERT INTO batch (id, outcome) VALUES (abandoned, 'abandoned')
  ON CONFLICT (id) DO UPDATE SET outcome = batch.outcome
  RETURNING outcome
$$;

-- The server may delete nothing else, and these not a day too early.
CREATE FUNCTION forget_batches() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public AS $$
  WITH forgotten AS (
    DELETE FROM batch
     WHERE id < (lpad(to_hex(floor(extract(epoch FROM clock_timestamp() - interval '7 days') * 1000)::bigint), 12, '0')
                 || repeat('0', 20))::uuid
    RETURNING 1
  )
  SELECT count(*) FROM forgotten
$$;
REVOKE EXECUTE ON FUNCTION abandon_batch(uuid), forget_batches() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION abandon_batch(uuid), forget_batches() TO pixgate_app;

DROP INDEX move_batch;

-- An Idempotency-Key is used once in 24 hours: two uses at the same moment fall on one day, or on one day that begins at
-- noon. Rows of the version before have the first of the two only.

ALTER TABLE operation ADD COLUMN idempotency_noon_day integer;
CREATE UNIQUE INDEX operation_idempotency_key_noon ON operation (idempotency_key, idempotency_noon_day)
  WHERE idempotency_key IS NOT NULL;

-- Movements. In: payments of charges by their end-to-end id, returns of payouts by their return id. Out: payouts by their
-- end-to-end id, refunds and returns of the bank by their return id. Who pays a charge of its own has one end-to-end id in
-- both directions.

CREATE TABLE movement (
  direction    text NOT NULL CHECK (direction IN ('in', 'out')),
  id           text NOT NULL CHECK (id <> ''),
  operation_id uuid NOT NULL,
  value_cents  bigint NOT NULL CHECK (value_cents > 0),
  PRIMARY KEY (direction, id)
);
COMMENT ON TABLE movement IS 'Money that moved at the bank, and the one operation on which it was booked. Append-only.';
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON movement
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
GRANT SELECT, INSERT ON movement TO pixgate_app;

-- What was booked before, the first booking of each movement; the others are cases.

CREATE TEMPORARY TABLE booked ON COMMIT DROP AS
  SELECT CASE WHEN journal IN ('cash_in_paid', 'arrived_unattributed', 'cash_out_returned') THEN 'in' ELSE 'out' END
           AS direction,
         reference AS id, operation_id, abs(amount_cents) AS value_cents, journal, at,
         row_number() OVER (
           PARTITION BY journal IN ('cash_in_paid', 'arrived_unattributed', 'cash_out_returned'), reference
           ORDER BY version
         ) AS place
    FROM entry
   WHERE account_id = (SELECT id FROM account WHERE code = 'settlement')
     AND journal IN ('cash_in_paid', 'arrived_unattributed', 'cash_out_returned', 'cash_out_confirmed',
                     'refund_in_confirmed', 'left_after_release', 'left_unattributed', 'taken_by_bank');
INSERT INTO movement (direction, id, operation_id, value_cents)
  SELECT direction, id, operation_id, value_cents FROM booked WHERE place = 1;
INSERT INTO "case" (id, operation_id, kind, reference, facts, opened_at)
  SELECT gen_random_uuid(), b.operation_id, 'movement_elsewhere', b.id,
         jsonb_build_object('direction', b.direction, 'valueCents', b.value_cents, 'journal', b.journal,
                            'bookedOn', m.operation_id),
         clock_timestamp()
    FROM booked b JOIN movement m ON m.direction = b.direction AND m.id = b.id
   WHERE b.place > 1
ON CONFLICT DO NOTHING;

-- What the bank said when a move opened a case; the case keeps only what the first one said.
ALTER TABLE move ADD COLUMN evidence jsonb;
