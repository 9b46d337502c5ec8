-- What is set aside again of a refund, after money had left nevertheless, and is free again was called as of a payout. The journals
-- are those of both: what an entry is called to the merchant says the kind of its operation.

CREATE FUNCTION entry_shown(kind text, shown text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  SET search_path = public, pg_temp AS $$
  SELECT CASE WHEN kind = 'refund_in' AND shown = 'CASH_OUT_RESERVE' THEN 'REFUND_IN_RESERVE'
              WHEN kind = 'refund_in' AND shown = 'CASH_OUT_RELEASE' THEN 'REFUND_IN_RELEASE'
              ELSE shown END
$$;
REVOKE EXECUTE ON FUNCTION entry_shown(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION entry_shown(text, text) TO pixgate_app;

CREATE OR REPLACE VIEW ledger_entry AS
  SELECT e.version, e.amount_cents, e.balance_after_cents, entry_shown(o.kind, e.shown) AS operation,
         e.operation_id AS reference_id, e.at, a.currency, o.external_id, o.transaction_id,
         CASE WHEN e.journal = 'arrival_attributed' THEN e.reference ELSE o.end_to_end_id END AS end_to_end_id,
         coalesce(o.detail ->> 'description', o.detail ->> 'reason') AS description
    FROM entry e
    JOIN account a ON a.id = e.account_id AND a.code = 'available'
    LEFT JOIN operation o ON o.id = e.operation_id;
