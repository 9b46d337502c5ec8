-- Most of what a payment writes to PostgreSQL's log are entries of indexes: each move of an operation writes its row anew into all
-- of them.

-- What tells postings apart, in 8 bytes instead of 60: two of one operation that share a hash by chance are refused, one in 2^64.
-- It takes the old one's place in 0071, once all that is built has been built: what is dropped keeps even readers waiting until the
-- end.
CREATE UNIQUE INDEX entry_once ON entry (operation_id, hashtextextended(journal || ' ' || reference, posting));
