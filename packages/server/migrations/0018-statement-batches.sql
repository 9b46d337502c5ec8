-- What the statement has and our books have not is looked at in batches: the largest first, and cases in turn.

CREATE INDEX statement_entry_unreported ON statement_entry (direction, value_cents, id, kind)
  WHERE settled_at IS NULL AND reported_at IS NULL;
CREATE INDEX statement_entry_reported ON statement_entry (direction, id, kind)
  WHERE settled_at IS NULL AND reported_at IS NOT NULL;

-- What the bank gave back of a payment.
CREATE INDEX statement_entry_taken_back ON statement_entry (end_to_end_id) WHERE kind = 'PAYMENT_TAKEN_BACK';

-- The refunds that a return may be, of a payment that has thousands of returns.
CREATE INDEX operation_refund_unsettled ON operation ((detail ->> 'cashInId'))
  WHERE kind = 'refund_in' AND status IN ('PENDING', 'FAILED');
