import pg from 'pg'
import { administer } from './database.ts'

/** What may not be copied, and what stands for it. */
const OWN: Readonly<Record<string, string>> = {
  id: 'gen_random_uuid()',
  external_id: 'gen_random_uuid()::text',
  order_id: 'md5(gen_random_uuid()::text)',
}
const UNIQUE = ['idempotency_key', 'exclusive_key', 'transaction_id', 'end_to_end_id', 'due_at']

/** Copies an operation so many times, past all rules: what a busy year leaves. `changes` are columns, as SQL. */
export async function copyOperation(
  url: string,
  id: string,
  copies: number,
  changes: Readonly<Record<string, string>>,
): Promise<void> {
  const names = await columns(url)
  const values = names.map((name) => changes[name] ?? OWN[name] ?? (UNIQUE.includes(name) ? 'NULL' : name))
  await administer(
    url,
    `SET session_replication_role = replica;
     INSERT INTO operation (${names.join(', ')}) SELECT ${values.join(', ')} FROM operation, generate_series(1, ${copies})
      WHERE id = '${id}';
     ANALYZE operation`,
  )
}

async function columns(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client
    .query(
      `SELECT column_name FROM information_schema.columns WHERE table_name = 'operation' AND is_generated = 'NEVER'`,
    )
    .finally(() => client.end())
  return rows.map(({ column_name }) => column_name)
}

/** How many operations a statement reads. */
export async function operationsRead(url: string, sql: string): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('BEGIN')
    await client.query(sql)
    const of = `'operation'::regclass`
    const { rows } = await client.query(
      `SELECT (pg_stat_get_xact_tuples_fetched(${of}) + pg_stat_get_xact_tuples_returned(${of}))::integer AS read`,
    )
    return rows[0].read
  } finally {
    await client.end()
  }
}
