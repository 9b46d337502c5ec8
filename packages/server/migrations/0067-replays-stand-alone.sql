-- An order refuses to be truncated by itself, with or without what it looks for: a reference would refuse it first, in words of its own.
-- Nothing removes an order.
ALTER TABLE missed_replay DROP CONSTRAINT missed_replay_replay_id_fkey;
