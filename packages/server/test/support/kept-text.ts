import pg from 'pg'

/** Every column of every table in which one of these texts stands, as `table.column`: whatever the code thinks of it. */
export async function columnsWith(databaseUrl: string, ...texts: readonly string[]): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ table: string; column: string; type: string }>(
      `SELECT c.relname AS table, a.attname AS column, format_type(a.atttypid, NULL) AS type
         FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace ORDER BY 1, 2`,
    )
    const found: string[] = []
    for (const { table, column, type } of rows) {
      const holds =
        type === 'bytea' ? `position(convert_to(t, 'UTF8') IN "${column}") > 0` : `position(t IN "${column}"::text) > 0`
      const held = `SELECT FROM "${table}" WHERE EXISTS (SELECT FROM unnest($1::text[]) t WHERE ${holds}) LIMIT 1`
      if ((await client.query(held, [texts])).rowCount) found.push(`${table}.${column}`)
    }
    return found
  } finally {
    await client.end()
  }
}
