-- A payout knows what operators wrote off of it: what comes back may pay that back. Before, only the books told.
UPDATE operation o
   SET facts = o.facts || jsonb_build_object('lossCents', l.cents)
  FROM (SELECT e.operation_id, -sum(e.amount_cents)::bigint AS cents
          FROM entry e JOIN account a ON a.id = e.account_id AND a.code = 'losses'
         WHERE e.journal IN ('left_written_off', 'arrival_written_off')
         GROUP BY e.operation_id) l
 WHERE o.id = l.operation_id AND o.kind = 'cash_out' AND o.facts -> 'lossCents' IS DISTINCT FROM to_jsonb(l.cents);
