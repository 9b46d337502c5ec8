-- What was read of the bank as JSON may hold what PostgreSQL's JSON does not take: half a surrogate pair, U+0000, a number
-- beyond its decimals, brackets within brackets. Such a callback must not keep anybody from looking at the others.
-- @source failure-modes#DB-45
CREATE FUNCTION json_or_null(body bytea) RETURNS jsonb LANGUAGE plpgsql STABLE STRICT AS $$
BEGIN
  RETURN convert_from(body, 'UTF8')::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN NULL;
END $$;
