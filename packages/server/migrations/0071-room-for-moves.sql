-- The moves of a payment follow each other within a second: where a page has room for the next row of an operation, the log says what
-- changed instead of all of it, and what the row was before makes room for the one after next. Measured with four moves: 130 bytes of
-- the log less, and 1.7 kB on the disk instead of 2.3 before anybody vacuums.
ALTER TABLE operation SET (fillfactor = 60);

-- Upwards, as time goes: pages that only grow at their end are split there and stay full. The lists read them backwards. Downwards each
-- split left two halves: 132 and 412 bytes an operation instead of 76 and 342, and 120 bytes of the log more.
CREATE INDEX operation_list_upwards ON operation (kind, created_at, id);
CREATE INDEX operation_list_by_status_upwards ON operation (kind, status, created_at, id);

ALTER TABLE entry DROP CONSTRAINT entry_journal_key;
ALTER INDEX entry_once RENAME TO entry_journal_key;
COMMENT ON INDEX entry_journal_key IS
  'Each posting of a journal once: a journal is unique by its operation, its kind and its reference.';
-- Of processes of the version before 0023 only; since then operation_paid_to tells what a Pix key was paid, and whether it is known.
DROP INDEX operation_recipient;
DROP INDEX operation_list;
ALTER INDEX operation_list_upwards RENAME TO operation_list;
DROP INDEX operation_list_by_status;
ALTER INDEX operation_list_by_status_upwards RENAME TO operation_list_by_status;
