-- What a Pix key has been paid is asked behind the accounts' locks: what it costs must not grow with what failed or came back.

-- What has left of a payout and has not come back.
CREATE FUNCTION still_paid(value_cents bigint, facts jsonb) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT facts ? 'returns' THEN
    RETURN value_cents;
  END IF;
  RETURN value_cents - (SELECT coalesce(sum(cents::bigint), 0) FROM jsonb_each_text(facts -> 'returns') AS r (id, cents));
END $$;
-- Of the index, which is kept by whoever writes.
REVOKE EXECUTE ON FUNCTION still_paid(bigint, jsonb) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION still_paid(bigint, jsonb) TO pixgate_app;

-- The one before it, operation_recipient, serves processes of the version before, which ask about a known key by it. Each move of
-- a payout asks for its condition: the function is called for what came back alone.
CREATE INDEX operation_paid_to ON operation ((detail #>> '{recipient,pixKey}'), created_at)
 WHERE kind = 'cash_out' AND status NOT IN ('FAILED', 'RELEASED')
   AND (NOT facts ? 'returns' OR still_paid(value_cents, facts) > 0);

-- As before, of a thousand payouts at most: beyond them it is more than any cap allows, so that nobody makes it slow with
-- payouts of a centavo.
CREATE OR REPLACE FUNCTION paid_to(pix_key text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS $$
DECLARE
  payouts bigint;
  paid bigint;
BEGIN
  SELECT count(*), coalesce(sum(cents), 0) INTO payouts, paid
    FROM (SELECT CASE WHEN facts ? 'returns' THEN still_paid(value_cents, facts) ELSE value_cents END AS cents
            FROM operation
           WHERE kind = 'cash_out' AND detail #>> '{recipient,pixKey}' = pix_key
             AND status NOT IN ('FAILED', 'RELEASED')
             AND (NOT facts ? 'returns' OR still_paid(value_cents, facts) > 0)
           LIMIT 1001) o;
  RETURN CASE WHEN payouts > 1000 THEN greatest(paid, 1000000000000) ELSE paid END;
END $$;
