-- What is closed in clearing against other money there is booked: else one of the two that is told otherwise later would leave the other
-- in clearing without a case.

-- What operators booked against the money of a case.
CREATE INDEX operation_against ON operation ((detail ->> 'against')) WHERE kind = 'adjustment' AND detail ? 'against';

-- Before, two cases were closed against each other and nothing was booked: both are open again, to be closed with a booking.
UPDATE "case" c SET closed_at = NULL
 WHERE c.operation_id IS NULL AND c.kind = 'in_clearing' AND c.closed_at IS NOT NULL
   AND (SELECT coalesce(sum(e.amount_cents), 0) FROM operation o JOIN entry e ON e.operation_id = o.id
         WHERE o.kind = 'adjustment' AND o.detail ? 'about' AND o.detail ->> 'about' = c.reference
           AND e.account_id = (SELECT id FROM account WHERE code = 'clearing')) <> 0;
