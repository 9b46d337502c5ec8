-- An approval counts by who holds keys and tokens when it is written, and not when it was asked for: whoever deactivates a key or an
-- operator counts up a control that approvals compare. Payouts do not look at it.
--
-- A process of the version before counts it up too, and approves as before.

INSERT INTO control (name, value) VALUES ('holders', '{}');

CREATE FUNCTION count_holders() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE control SET version = version + 1 WHERE name = 'holders';
  RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION count_holders() FROM PUBLIC;
CREATE TRIGGER holders AFTER UPDATE OF deactivated_at ON operator FOR EACH STATEMENT EXECUTE FUNCTION count_holders();
CREATE TRIGGER holders AFTER UPDATE OF deactivated_at ON api_key FOR EACH STATEMENT EXECUTE FUNCTION count_holders();
