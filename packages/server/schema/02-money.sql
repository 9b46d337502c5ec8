-- Operations and their moves, the ledger, movements at the bank, and the rows that decisions compare.
--
-- Amounts are integer centavos. Instants have millisecond precision. Tables that the engine writes have no foreign keys: they
-- cost more than half of a batch, and verify-ledger finds orphans.

-- The state machines, for the guard of `move`. `migrate` adds the moves that are missing; moves are only ever added.
CREATE TABLE allowed_move (
  kind        text NOT NULL,
  -- NULL: the move creates the operation.
  from_status text,
  to_status   text NOT NULL
);
GRANT SELECT ON allowed_move TO pixgate_app;

-- The name of this installation: one row, made once and never changed. Every order id is derived from it. A backup contains it, so a
-- restored database derives the same ids, and the bank knows a repeated order again.
CREATE TABLE installation (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  id        uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO installation DEFAULT VALUES;
GRANT SELECT ON installation TO pixgate_app;

-- A charge, a payout, a refund or an adjustment of an operator, as its moves left it.
CREATE TABLE operation (
  -- UUIDv7, the public id. The bank never sees it.
  id                   uuid PRIMARY KEY,
  kind                 text NOT NULL,
  external_id          text NOT NULL,
  -- The id at the bank: txid, idEnvio, id of a return. 32 lower-case hex digits, derived from installation, kind and external_id:
  -- see platform/order-id.ts. NULL: an adjustment, which the bank is not asked for.
  order_id             text,
  status               text NOT NULL,
  -- Number of its moves.
  version              integer NOT NULL,
  value_cents          bigint NOT NULL CHECK (value_cents > 0),
  fee_cents            bigint NOT NULL CHECK (fee_cents >= 0),
  correlation_id       text NOT NULL,
  -- SHA-256 of the request.
  body_hash            bytea NOT NULL,
  -- The client's Idempotency-Key with its scope. It is used once in 24 hours.
  idempotency_key      text,
  -- The day of UTC of its use, and the day that begins at noon. Two uses at the same moment share one of them.
  idempotency_day      integer,
  idempotency_noon_day integer,
  -- The location of a dynamic Pix code, which one open or done payout may hold. NULL where none was paid.
  exclusive_key        text,
  expires_at           timestamptz,
  -- Time of the next work: asking the bank, sending, expiring. A claim moves it to the end of its lease.
  due_at               timestamptz,
  -- The work that is due of a payout or a refund, computed with every move.
  next_step            text CHECK (next_step IN ('send', 'ask', 'release', 'case')),
  -- Time at which that step becomes another one without a move.
  changes_at           timestamptz,
  -- The bank's identifiers.
  transaction_id       text,
  end_to_end_id        text,
  -- JSON object: the request, written once. Names and documents of persons are here and in facts, nowhere else.
  detail               jsonb NOT NULL,
  -- JSON object: the facts of all moves, merged.
  facts                jsonb NOT NULL,
  created_at           timestamptz NOT NULL,
  updated_at           timestamptz NOT NULL,
  -- Time at which detail and facts lost the data of persons.
  erased_at            timestamptz,
  CONSTRAINT operation_kind_check CHECK (kind IN ('cash_in', 'cash_out', 'refund_in', 'adjustment')),
  CONSTRAINT operation_external_id_key UNIQUE (kind, external_id),
  -- The id first: events and statement lines look it up without the kind.
  CONSTRAINT operation_order_id_key UNIQUE (order_id, kind),
  CONSTRAINT operation_order_id_check CHECK ((order_id IS NULL) = (kind = 'adjustment'))
  -- Room for the next rows of an operation on its page. With four moves: 130 bytes less of the log, 1.7 kB of disk instead of 2.3.
) WITH (fillfactor = 60);
GRANT SELECT, INSERT ON operation TO pixgate_app;
GRANT UPDATE (status, version, expires_at, due_at, next_step, changes_at, transaction_id, end_to_end_id, exclusive_key, facts,
              updated_at)
  ON operation TO pixgate_app;

-- The part of a payout that left and has not come back, centavos. Facts: {"returns": {"<return id>": cents}}.
CREATE FUNCTION still_paid(value_cents bigint, facts jsonb) RETURNS bigint
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT facts ? 'returns' THEN
    RETURN value_cents;
  END IF;
  RETURN value_cents - (SELECT coalesce(sum(cents::bigint), 0) FROM jsonb_each_text(facts -> 'returns') AS r (id, cents));
END $$;

-- A name for comparison: lower case, without the accents of Portuguese, at most 100 characters. By its own list, as collations differ.
CREATE FUNCTION plain_name(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN left(lower(translate(name, 'ÁÀÂÃÄáàâãäÉÈÊËéèêëÍÌÎÏíìîïÓÒÔÕÖóòôõöÚÙÛÜúùûüÇçÑñ',
                                    'aaaaaaaaaaeeeeeeeeiiiiiiiioooooooooouuuuuuuuccnn')), 100);

-- The payer of a charge or the recipient of a payout, as the bank reported them, else as requested.
CREATE FUNCTION person_name(detail jsonb, facts jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN plain_name(coalesce(facts ->> 'payerName', facts ->> 'recipientName', detail #>> '{payer,fullName}',
                             detail #>> '{recipient,name}'));

-- The document of the same person without punctuation. Banks mask it with `*`: then the requested one counts.
CREATE FUNCTION person_document(detail jsonb, facts jsonb) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  RETURN left(translate(coalesce(
    CASE WHEN facts ->> 'payerDocument' NOT LIKE '%*%' THEN facts ->> 'payerDocument' END,
    CASE WHEN facts ->> 'recipientDocument' NOT LIKE '%*%' THEN facts ->> 'recipientDocument' END,
    detail #>> '{payer,document}', detail #>> '{recipient,document}', facts ->> 'payerDocument',
    facts ->> 'recipientDocument'), './-', ''), 20);

-- One use of an Idempotency-Key in 24 hours.
CREATE UNIQUE INDEX operation_idempotency_key ON operation (idempotency_key, idempotency_day)
  WHERE idempotency_key IS NOT NULL;
CREATE UNIQUE INDEX operation_idempotency_key_noon ON operation (idempotency_key, idempotency_noon_day)
  WHERE idempotency_key IS NOT NULL;
-- One payout of a dynamic Pix code.
CREATE UNIQUE INDEX operation_exclusive_key ON operation (exclusive_key) WHERE exclusive_key IS NOT NULL;
-- Work that is due, by each kind's worker.
CREATE INDEX operation_due_by_kind ON operation (kind, due_at) WHERE due_at IS NOT NULL;
-- Lists, read backwards. Ascending pages stay full: 76 and 342 bytes an operation instead of 132 and 412. The amount is included for
-- the console, which filters by it within the index.
CREATE INDEX operation_list ON operation (kind, created_at, id) INCLUDE (value_cents);
CREATE INDEX operation_list_by_status ON operation (kind, status, created_at, id) INCLUDE (value_cents);
-- Events and statement entries find their operation.
CREATE INDEX operation_transaction_id ON operation (transaction_id) WHERE transaction_id IS NOT NULL;
CREATE INDEX operation_end_to_end_id ON operation (end_to_end_id) WHERE end_to_end_id IS NOT NULL;
-- Refunds of a charge, listed.
CREATE INDEX operation_refund_of ON operation ((detail ->> 'cashInId'), created_at DESC, id DESC)
  WHERE kind = 'refund_in';
-- Refunds that a return may be, of a payment that has thousands of returns.
CREATE INDEX operation_refund_unsettled ON operation ((detail ->> 'cashInId'))
  WHERE kind = 'refund_in' AND status IN ('PENDING', 'FAILED');
-- Payouts that wait for an approval.
CREATE INDEX operation_awaiting_approval ON operation (id)
  WHERE kind = 'cash_out' AND status = 'RESERVED' AND facts ? 'approval' AND NOT facts ? 'approvedAt';
-- The sum paid to a Pix key: paid_to() reads it behind the locks of the accounts, so it must not grow with what failed or came
-- back. The first condition saves most moves the call.
CREATE INDEX operation_paid_to ON operation ((detail #>> '{recipient,pixKey}'), created_at)
 WHERE kind = 'cash_out' AND status NOT IN ('FAILED', 'RELEASED')
   AND (NOT facts ? 'returns' OR still_paid(value_cents, facts) > 0);
-- Other payouts to a Pix key, which operation_paid_to leaves out: the console finds both.
CREATE INDEX operation_not_paid_to ON operation ((detail #>> '{recipient,pixKey}'), created_at, id)
 WHERE kind = 'cash_out' AND (status IN ('FAILED', 'RELEASED') OR (facts ? 'returns' AND still_paid(value_cents, facts) <= 0));
-- Persons, for the search of the console. Without those of open operations, which the lists have, a payout with a name costs 16 µs
-- more instead of 65.
CREATE INDEX operation_person_name ON operation (person_name(detail, facts) text_pattern_ops, created_at, id)
 WHERE status NOT IN ('PENDING', 'RESERVED', 'DISPATCHED') AND person_name(detail, facts) IS NOT NULL;
CREATE INDEX operation_person_document ON operation (person_document(detail, facts), created_at, id)
 WHERE status NOT IN ('PENDING', 'RESERVED', 'DISPATCHED') AND person_document(detail, facts) IS NOT NULL;
-- Charges by when they were paid.
CREATE INDEX operation_paid_at ON operation (((facts ->> 'paidAt')::numeric))
  WHERE kind = 'cash_in' AND (facts ->> 'paidAt') IS NOT NULL;
-- Adjustments about a movement or a difference.
CREATE INDEX operation_about ON operation ((detail ->> 'about')) WHERE kind = 'adjustment' AND detail ? 'about';

-- The timeline of an operation.
CREATE TABLE move (
  operation_id uuid NOT NULL,
  -- From 1, without a gap.
  version      integer NOT NULL,
  kind         text NOT NULL,
  trigger      text NOT NULL,
  from_status  text,
  to_status    text NOT NULL,
  -- JSON object: facts that this move learned.
  facts        jsonb NOT NULL,
  -- JSON object: the words of the bank with which this move opened a case.
  evidence     jsonb,
  -- The statement that wrote it, see `batch`.
  batch_id     uuid NOT NULL,
  at           timestamptz NOT NULL,
  PRIMARY KEY (operation_id, version)
);
GRANT SELECT, INSERT ON move TO pixgate_app;
-- Moves of the last seconds, for open consoles.
CREATE INDEX move_at ON move USING brin (at) WITH (pages_per_range = 8, autosummarize = on);

-- Only moves of the state machines are written. A statement trigger with a transition table costs 7 to 9 % of a batch, a row
-- trigger 60 %.
CREATE FUNCTION check_moves_allowed() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE wrong record;
BEGIN
  SELECT m.kind, m.from_status, m.to_status INTO wrong
    FROM added m
    LEFT JOIN allowed_move a
      ON a.kind = m.kind AND a.from_status IS NOT DISTINCT FROM m.from_status AND a.to_status = m.to_status
   WHERE a.kind IS NULL
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'move not allowed: % from % to %', wrong.kind, coalesce(wrong.from_status, '(none)'), wrong.to_status
      USING ERRCODE = 'check_violation', CONSTRAINT = 'move_allowed';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER move_allowed AFTER INSERT ON move REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION check_moves_allowed();

-- Moves are only added. The one change is erasing data of persons, see retention.
CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON move
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();
CREATE TRIGGER facts_kept BEFORE UPDATE ON move
  FOR EACH STATEMENT WHEN (current_setting('pixgate.erases', true) IS DISTINCT FROM 'yes')
  EXECUTE FUNCTION refuse_rewriting();

-- Accounts of the ledger, as their entries left them.
CREATE TABLE account (
  id            smallint PRIMARY KEY,
  code          text NOT NULL UNIQUE,
  public_id     uuid NOT NULL DEFAULT gen_random_uuid(),
  currency      text NOT NULL DEFAULT 'BRL',
  -- Number of its entries.
  version       bigint NOT NULL DEFAULT 0,
  balance_cents bigint NOT NULL DEFAULT 0,
  CONSTRAINT account_not_negative CHECK (code NOT IN ('available', 'reserved') OR balance_cents >= 0),
  CONSTRAINT account_not_positive CHECK (code <> 'receivable' OR balance_cents <= 0)
) WITH (fillfactor = 50);
INSERT INTO account (id, code) VALUES
  (1, 'available'), (2, 'reserved'), (3, 'settlement'), (4, 'fees'),
  (5, 'suspense_in'), (6, 'suspense_out'), (7, 'receivable'), (8, 'partner_fees'),
  (9, 'losses');
GRANT SELECT ON account TO pixgate_app;
GRANT UPDATE (version, balance_cents) ON account TO pixgate_app;

-- The history of each account.
CREATE TABLE entry (
  account_id          smallint NOT NULL,
  -- From 1, without a gap.
  version             bigint NOT NULL,
  amount_cents        bigint NOT NULL CHECK (amount_cents <> 0),
  balance_after_cents bigint NOT NULL,
  operation_id        uuid NOT NULL,
  journal             text NOT NULL,
  -- Distinguishes journals of one kind and operation: an end-to-end id, a return id, or nothing.
  reference           text NOT NULL,
  -- Position of the posting in the template of its journal.
  posting             smallint NOT NULL,
  -- The merchant's name for it. Only entries of the available account have one.
  shown               text,
  at                  timestamptz NOT NULL,
  PRIMARY KEY (account_id, version)
);
GRANT SELECT, INSERT ON entry TO pixgate_app;

-- Each posting of a journal once. The hash makes it 8 bytes instead of 60; two postings of one operation share a hash by chance
-- once in 2^64, and are refused then.
CREATE UNIQUE INDEX entry_journal_key ON entry (operation_id, hashtextextended(journal || ' ' || reference, posting));
-- Entries of a day, for the daily close.
CREATE INDEX entry_at ON entry USING brin (at) WITH (autosummarize = on);

-- The postings of a journal sum to zero.
CREATE FUNCTION check_journals_balance() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE wrong record;
BEGIN
  SELECT e.operation_id, e.journal, sum(e.amount_cents) AS total INTO wrong
    FROM added e
   GROUP BY e.operation_id, e.journal, e.reference
  HAVING sum(e.amount_cents) <> 0
   LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'journal % of operation % sums to %', wrong.journal, wrong.operation_id, wrong.total
      USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_balances';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER journal_balances AFTER INSERT ON entry REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION check_journals_balance();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entry
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- Money that moved at the bank, and the one operation on which it was booked. In: payments of charges by their end-to-end id,
-- returns of payouts by their return id. Out: payouts by their end-to-end id, refunds and returns of the bank by their return
-- id. A payer of its own charge has one end-to-end id in both directions.
CREATE TABLE movement (
  direction    text NOT NULL CHECK (direction IN ('in', 'out')),
  id           text NOT NULL CHECK (id <> ''),
  operation_id uuid NOT NULL,
  value_cents  bigint NOT NULL CHECK (value_cents > 0),
  PRIMARY KEY (direction, id)
);
GRANT SELECT, INSERT ON movement TO pixgate_app;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON movement
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_rewriting();

-- The outcome of each statement of the engine, kept for seven days. A statement writes its id as committed, or fails on the key
-- of the id that was abandoned meanwhile: so a commit whose answer was lost is decided by a row, not by a clock.
CREATE TABLE batch (
  -- UUIDv7, sorted by time: old rows are found by the primary key.
  id      uuid PRIMARY KEY,
  outcome text NOT NULL CHECK (outcome IN ('committed', 'abandoned'))
);
GRANT SELECT, INSERT ON batch TO pixgate_app;

-- Waits for an open transaction that has written the id. It writes in either case, so that its answer has reached the standby
-- that commits wait for.
CREATE FUNCTION abandon_batch(abandoned uuid) RETURNS text
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  INSERT INTO batch (id, outcome) VALUES (abandoned, 'abandoned')
  ON CONFLICT (id) DO UPDATE SET outcome = batch.outcome
  RETURNING outcome
$$;

-- Deletes what is older than seven days. The server may delete in no other way.
CREATE FUNCTION forget_batches() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH forgotten AS (
    DELETE FROM batch
     WHERE id < (lpad(to_hex(floor(extract(epoch FROM clock_timestamp() - interval '7 days') * 1000)::bigint), 12, '0')
                 || repeat('0', 20))::uuid
    RETURNING 1
  )
  SELECT count(*) FROM forgotten
$$;

-- Rows that decisions compare and lock besides operations and accounts. JSON object, by name.
CREATE TABLE control (
  name    text PRIMARY KEY,
  version bigint NOT NULL DEFAULT 1,
  value   jsonb NOT NULL
) WITH (fillfactor = 50);
INSERT INTO control (name, value) VALUES
  -- The kill switch of payouts and refunds.
  ('cash_out_switch', '{"enabled": true, "reason": null}'),
  -- Cents sent on a day.
  ('cash_out_day', '{"day": null, "sentCents": 0}'),
  -- Changes with every deactivation of a key or an operator; approvals compare it.
  ('holders', '{}');
GRANT SELECT, UPDATE (version, value) ON control TO pixgate_app;

-- Sums sent within caps: payouts and refunds that were not given back. Writers hold the locks of the accounts.
CREATE TABLE allowance (
  -- 'all', or the id of an API key with caps of its own.
  scope      text NOT NULL,
  span       text NOT NULL CHECK (span IN ('hour', 'day', 'night')),
  -- Counted from 1970: the minute of an hour, the quarter of an hour of a day, the day of the evening of a night.
  bucket     integer NOT NULL,
  used_cents bigint NOT NULL CHECK (used_cents >= 0),
  PRIMARY KEY (scope, span, bucket)
) WITH (fillfactor = 50);
GRANT SELECT, INSERT, UPDATE (used_cents) ON allowance TO pixgate_app;

-- allowance_used() and paid_to() are volatile: they read what is committed when they are called, not when the statement began.
CREATE FUNCTION allowance_used(wanted_scope text, wanted_span text, since integer) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET search_path = public, pg_temp AS $$
BEGIN
  RETURN (SELECT coalesce(sum(used_cents), 0) FROM allowance
           WHERE scope = wanted_scope AND span = wanted_span AND bucket >= since);
END $$;

-- The sum paid to a Pix key and not given back, centavos. Above a thousand payouts it returns more than any cap allows: payouts of
-- a centavo must not make it slow.
CREATE FUNCTION paid_to(pix_key text) RETURNS bigint
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

-- Deletes sums that no window reaches any more. The server may delete in no other way.
CREATE FUNCTION forget_allowances() RETURNS bigint
LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  WITH forgotten AS (
    DELETE FROM allowance
     WHERE bucket < floor(extract(epoch FROM clock_timestamp() - interval '2 days')
                          / CASE span WHEN 'hour' THEN 60 WHEN 'day' THEN 900 ELSE 86400 END)
    RETURNING 1
  )
  SELECT count(*) FROM forgotten
$$;

-- Operations by kind, as the modules read them.
CREATE VIEW cash_in AS
  SELECT id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash, idempotency_key,
         exclusive_key, expires_at, due_at, next_step, changes_at, transaction_id, end_to_end_id, detail, facts, created_at,
         updated_at
    FROM operation WHERE kind = 'cash_in';
CREATE VIEW cash_out AS
  SELECT id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash, idempotency_key,
         exclusive_key, expires_at, due_at, next_step, changes_at, transaction_id, end_to_end_id, detail, facts, created_at,
         updated_at
    FROM operation WHERE kind = 'cash_out';
CREATE VIEW refund_in AS
  SELECT id, kind, external_id, order_id, status, version, value_cents, fee_cents, correlation_id, body_hash, idempotency_key,
         exclusive_key, expires_at, due_at, next_step, changes_at, transaction_id, end_to_end_id, detail, facts, created_at,
         updated_at
    FROM operation WHERE kind = 'refund_in';
GRANT SELECT ON cash_in, cash_out, refund_in TO pixgate_app;

-- The merchant's name for an entry. Payouts and refunds share journals; the kind of the operation tells them apart.
CREATE FUNCTION entry_shown(kind text, shown text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
  SET search_path = public, pg_temp AS $$
  SELECT CASE WHEN kind = 'refund_in' AND shown = 'CASH_OUT_RESERVE' THEN 'REFUND_IN_RESERVE'
              WHEN kind = 'refund_in' AND shown = 'CASH_OUT_RELEASE' THEN 'REFUND_IN_RELEASE'
              ELSE shown END
$$;

-- The merchant's statement: entries of the available account. The reference of a journal is an end-to-end id only where a case
-- attributed one payment among several.
CREATE VIEW ledger_entry AS
  SELECT e.version, e.amount_cents, e.balance_after_cents, entry_shown(o.kind, e.shown) AS operation,
         e.operation_id AS reference_id, e.at, a.currency, o.external_id, o.transaction_id,
         CASE WHEN e.journal = 'arrival_attributed' THEN e.reference ELSE o.end_to_end_id END AS end_to_end_id,
         coalesce(o.detail ->> 'description', o.detail ->> 'reason') AS description
    FROM entry e
    JOIN account a ON a.id = e.account_id AND a.code = 'available'
    LEFT JOIN operation o ON o.id = e.operation_id;
GRANT SELECT ON ledger_entry TO pixgate_app;
