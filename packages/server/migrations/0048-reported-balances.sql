-- What the bank itself told it had, held against what its list of movements comes to: a list alone does not say that it is whole.

CREATE TABLE reported_balance (
  -- The instant at which a day is over. Each balance is of the first reading after it, and of the first one that the list explains.
  day_end        timestamptz NOT NULL,
  -- Whether the list comes to what was told.
  is_listed      boolean NOT NULL,
  -- What was told, less what the list has since the day's end.
  cents          bigint NOT NULL,
  -- What was told beyond what the list comes to; below zero: the list has more.
  unlisted_cents bigint NOT NULL,
  reported_at        timestamptz NOT NULL,
  PRIMARY KEY (day_end, is_listed),
  CHECK (is_listed = (unlisted_cents = 0))
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON reported_balance
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
GRANT SELECT, INSERT ON reported_balance TO pixgate_app;

-- Days that are closed by now stay as they were closed, unless money is missing by the statement: then nobody knows since when.
INSERT INTO reported_balance (day_end, is_listed, cents, unlisted_cents, reported_at)
SELECT DISTINCT ON (c.day) (c.day + 1)::timestamp AT TIME ZONE 'America/Sao_Paulo', true,
       (c.content::jsonb #>> '{bank,closingCents}')::bigint, 0, c.made_at
  FROM daily_close c, bank_shortfall b
 WHERE c.content::jsonb #>> '{bank,source}' = 'statement'
   AND b.name = 'statement' AND b.short_since IS NULL AND b.accepted_cents = 0
 ORDER BY c.day, c.version DESC;
