-- What an API key is for, from where and until when, who made it, and when it was used last. A key without any of it may do
-- everything, as every key could before.

ALTER TABLE api_key
  ADD COLUMN name                    text,
  ADD COLUMN scopes                  text[] NOT NULL DEFAULT '{read,charge,payout,refund,webhook}',
  -- NULL: from anywhere.
  ADD COLUMN cidrs                   text[],
  ADD COLUMN expires_at              timestamptz,
  -- What may leave with it at most. NULL: it has no cap of its own.
  ADD COLUMN cap_payment_cents       bigint CHECK (cap_payment_cents > 0),
  ADD COLUMN cap_hour_cents          bigint CHECK (cap_hour_cents > 0),
  ADD COLUMN cap_day_cents           bigint CHECK (cap_day_cents > 0),
  ADD COLUMN cap_night_cents         bigint CHECK (cap_night_cents > 0),
  ADD COLUMN cap_new_recipient_cents bigint CHECK (cap_new_recipient_cents > 0),
  ADD COLUMN last_used_at            timestamptz,
  ADD CHECK (cardinality(scopes) > 0 AND scopes <@ '{read,charge,payout,refund,webhook}');
GRANT UPDATE (last_used_at) ON api_key TO pixgate_app;

-- Who operates the service. A token is shown once; what is kept of it opens nothing.

CREATE TABLE operator (
  id             uuid PRIMARY KEY,
  name           text NOT NULL,
  role           text NOT NULL CHECK (role IN ('viewer', 'operator', 'approver', 'admin')),
  hash           bytea NOT NULL UNIQUE,
  -- The first characters after the prefix, to tell tokens apart; never enough to use one.
  display        text NOT NULL,
  -- NULL: the administrative token.
  created_by     uuid REFERENCES operator (id),
  created_at     timestamptz NOT NULL,
  last_used_at   timestamptz,
  deactivated_at timestamptz
);
GRANT SELECT ON operator TO pixgate_app;
GRANT INSERT (id, name, role, hash, display, created_by, created_at) ON operator TO pixgate_app;
GRANT UPDATE (last_used_at, deactivated_at) ON operator TO pixgate_app;

-- NULL: the administrative token.
ALTER TABLE api_key ADD COLUMN created_by uuid REFERENCES operator (id);
