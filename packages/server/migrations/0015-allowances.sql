-- What left, by whom and when, as far as a cap may ask: the sums of the minutes of an hour, of the quarters of an hour of a
-- day, and of each night.

CREATE TABLE allowance (
  -- 'all', or the id of an API key with caps of its own.
  scope      text NOT NULL,
  span       text NOT NULL CHECK (span IN ('hour', 'day', 'night')),
  -- The minute, the quarter of an hour, or the day of the evening, counted from 1970.
  bucket     integer NOT NULL,
  used_cents bigint NOT NULL CHECK (used_cents >= 0),
  PRIMARY KEY (scope, span, bucket)
) WITH (fillfactor = 50);
COMMENT ON TABLE allowance IS
  'What was sent within caps: payouts and refunds that were not given back. Whoever adds to it holds the locks of the accounts.';
GRANT SELECT, INSERT, UPDATE (used_cents) ON allowance TO pixgate_app;

-- Both look at what is committed when they are called, not at what was when the statement began: so they are volatile.

CREATE FUNCTION allowance_used(wanted_scope text, wanted_span text, since integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT coalesce(sum(used_cents), 0) FROM allowance
           WHERE scope = wanted_scope AND span = wanted_span AND bucket >= since);
END $$;

-- What was paid to a Pix key and not given back.
CREATE FUNCTION paid_to(pix_key text) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT coalesce(sum(value_cents), 0) FROM operation
           WHERE kind = 'cash_out' AND detail #>> '{recipient,pixKey}' = pix_key
             AND status NOT IN ('FAILED', 'RELEASED'));
END $$;
CREATE INDEX operation_recipient ON operation ((detail #>> '{recipient,pixKey}'), created_at) WHERE kind = 'cash_out';

-- Payouts that wait until somebody approves them.
CREATE INDEX operation_awaiting_approval ON operation (id)
  WHERE kind = 'cash_out' AND status = 'RESERVED' AND facts ? 'approval' AND NOT facts ? 'approvedAt';

-- The server may delete nothing else, and these only once no window reaches back to them.
CREATE FUNCTION forget_allowances() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = public AS $$
  WITH forgotten AS (
    DELETE FROM allowance
     WHERE bucket < floor(extract(epoch FROM clock_timestamp() - interval '2 days')
                          / CASE span WHEN 'hour' THEN 60 WHEN 'day' THEN 900 ELSE 86400 END)
    RETURNING 1
  )
  SELECT count(*) FROM forgotten
$$;
REVOKE EXECUTE ON FUNCTION allowance_used(text, text, integer), paid_to(text), forget_allowances() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION allowance_used(text, text, integer), paid_to(text), forget_allowances() TO pixgate_app;

-- What left before: a cap counts it from the first day on.
INSERT INTO allowance (scope, span, bucket, used_cents)
SELECT 'all', s.span, floor(extract(epoch FROM o.created_at) / s.seconds), sum(o.value_cents)
  FROM operation o CROSS JOIN (VALUES ('hour', 60), ('day', 900)) AS s (span, seconds)
 WHERE o.created_at > clock_timestamp() - interval '25 hours'
   AND (o.kind = 'cash_out' AND o.status NOT IN ('FAILED', 'RELEASED')
        OR o.kind = 'refund_in' AND o.status <> 'FAILED' AND o.detail ->> 'origin' = 'MERCHANT')
 GROUP BY s.span, 3;
INSERT INTO allowance (scope, span, bucket, used_cents)
SELECT 'all', 'night', (l.at - interval '6 hours')::date - date '1970-01-01', sum(o.value_cents)
  FROM operation o CROSS JOIN LATERAL (SELECT o.created_at AT TIME ZONE 'America/Sao_Paulo' AS at) l
 WHERE o.created_at > clock_timestamp() - interval '25 hours' AND (l.at::time >= '20:00' OR l.at::time < '06:00')
   AND (o.kind = 'cash_out' AND o.status NOT IN ('FAILED', 'RELEASED')
        OR o.kind = 'refund_in' AND o.status <> 'FAILED' AND o.detail ->> 'origin' = 'MERCHANT')
 GROUP BY 3;
