import { type Database, statement } from '../../src/platform/db/database.ts'

const TABLES = 'operation move entry notification audit endpoint credential signing_key "case"'.split(' ')

const selectStored = statement<[], { rows: object; controls: object }>(
  'test.stored',
  `SELECT json_build_object(${TABLES.map((table) => `'${table}', (SELECT count(*) FROM ${table})`).join()}) AS rows,
          (SELECT json_agg(c) FROM control c) AS controls`,
)

/** How many rows each table has to which a request may add, and what the controls say: to see that nothing changed. */
export async function everythingStored(database: Database): Promise<object | undefined> {
  return (await database.rows(selectStored, []))[0]
}
