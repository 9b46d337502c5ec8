-- Most of what a payment writes to PostgreSQL's log are entries of indexes: each move of an operation writes its row anew into all
-- of them.

-- Of processes of the version before 0023 only; since then operation_paid_to tells what a Pix key was paid, and whether it is known.
DROP INDEX operation_recipient;

-- What tells postings apart, in 8 bytes instead of 60: two of one operation that share a hash by chance are refused, one in 2^64.
-- The old one stands until the new one does.
CREATE UNIQUE INDEX entry_once ON entry (operation_id, hashtextextended(journal || ' ' || reference, posting));
ALTER TABLE entry DROP CONSTRAINT entry_journal_key;
ALTER INDEX entry_once RENAME TO entry_journal_key;
COMMENT ON INDEX entry_journal_key IS
  'Each posting of a journal once: a journal is unique by its operation, its kind and its reference.';
