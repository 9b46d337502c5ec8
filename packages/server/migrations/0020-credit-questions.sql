-- What was credited on the word of an event is asked about at the bank.
--
-- A process of the version before knows none of it: what it admits is asked about by those of this version.

ALTER TABLE unverified_credit
  -- When the bank was asked about it last; NULL: not yet.
  ADD COLUMN asked_at timestamptz,
  -- When the bank first said that it does not have it.
  ADD COLUMN denied_at timestamptz,
  -- From when on it is not asked about: the bank has it, a case says that it does not, or the statement decides.
  ADD COLUMN asking_ended_at timestamptz;

-- A bank need not know for ever what was paid before.
UPDATE unverified_credit SET asking_ended_at = transaction_timestamp() WHERE settled_at IS NULL;

-- Those to be asked about: denied once, the largest, those that waited longest.
CREATE INDEX unverified_credit_denied ON unverified_credit (value_cents)
  WHERE settled_at IS NULL AND asking_ended_at IS NULL AND denied_at IS NOT NULL;
CREATE INDEX unverified_credit_largest ON unverified_credit (value_cents)
  WHERE settled_at IS NULL AND asking_ended_at IS NULL AND denied_at IS NULL;
CREATE INDEX unverified_credit_waiting ON unverified_credit ((coalesce(asked_at, admitted_at)))
  WHERE settled_at IS NULL AND asking_ended_at IS NULL AND denied_at IS NULL;

GRANT UPDATE (asked_at, denied_at, asking_ended_at) ON unverified_credit TO pixgate_app;
