import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import test from 'node:test'
import { cashIn, cashOut, refundIn } from '@pixgate/spec'
import pg from 'pg'
import { migrate } from '../../../src/platform/db/migrate.ts'
import { administer } from '../../support/database.ts'
import { emptyDatabase } from '../../support/empty-database.ts'

const MACHINES = [cashIn, cashOut, refundIn]

/** The role that the server works as, and everybody. */
const GRANTEES = `(VALUES ('pixgate_app'::regrole::oid, 'pixgate_app'), (0::oid, 'PUBLIC')) AS grantee (oid, name)`

const OURS = `nspname <> 'information_schema' AND nspname !~ '^pg_'`

/** Every access list there is, with what holds where none was written; a kind, a name, and for columns theirs. */
const ACCESS_LISTS = `
  SELECT 'database' AS kind, ''::text AS name, NULL AS part, coalesce(datacl, acldefault('d', datdba)) AS list
    FROM pg_database WHERE datname = current_database()
  UNION ALL
  SELECT 'schema', nspname, NULL, coalesce(nspacl, acldefault('n', nspowner)) FROM pg_namespace WHERE ${OURS}
  UNION ALL
  SELECT CASE relkind WHEN 'S' THEN 'sequence' WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' ELSE 'view' END, relname, NULL,
         coalesce(relacl, acldefault(CASE relkind WHEN 'S' THEN 's'::"char" ELSE 'r' END, relowner))
    FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
   WHERE ${OURS} AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
  UNION ALL
  SELECT 'table', relname, attname, attacl
    FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
   WHERE ${OURS} AND attnum > 0 AND NOT attisdropped AND attacl IS NOT NULL
  UNION ALL
  SELECT 'function', proname || '(' || pg_get_function_identity_arguments(pg_proc.oid) || ')', NULL,
         coalesce(proacl, acldefault('f', proowner))
    FROM pg_proc JOIN pg_namespace ON pg_namespace.oid = pronamespace WHERE ${OURS}
  UNION ALL
  SELECT 'type', typname, NULL, coalesce(typacl, acldefault('T', typowner))
    FROM pg_type JOIN pg_namespace ON pg_namespace.oid = typnamespace
   WHERE ${OURS} AND typelem = 0 AND (typtype IN ('d', 'e', 'r'))
  UNION ALL
  SELECT 'whatever is made later', concat_ws(' ', nspname, defaclobjtype::text), NULL, defaclacl
    FROM pg_default_acl LEFT JOIN pg_namespace ON pg_namespace.oid = defaclnamespace`

/** As the list has it: a line for each thing, grantee and privilege, the columns of a privilege on columns together. */
const GRANTS = `
  SELECT concat_ws(' ', kind, nullif(access.name, '')) || ': ' || grantee.name || ' ' || privilege_type ||
         coalesce(' (' || string_agg(part, ', ' ORDER BY part COLLATE "C") || ')', '') ||
         CASE WHEN is_grantable THEN ' WITH GRANT OPTION' ELSE '' END AS line
    FROM (${ACCESS_LISTS}) AS access, aclexplode(list) AS entry JOIN ${GRANTEES} ON grantee.oid = entry.grantee
   GROUP BY kind, access.name, grantee.name, privilege_type, is_grantable, part IS NULL`

/** Functions with their owner's rights that everybody may call. */
const OWNERS_RIGHTS_FOR_ALL = `
  SELECT pg_proc.oid::regprocedure::text AS line FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) AS entry
   WHERE pronamespace = 'public'::regnamespace AND prosecdef AND entry.grantee = 0`

async function grantsAt(url: string, sql = GRANTS): Promise<string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<{ line: string }>(sql)).rows.map(({ line }) => line).sort()
  } finally {
    await client.end()
  }
}

async function listed(): Promise<string[]> {
  const text = await readFile(new URL('grants.txt', import.meta.url), 'utf8')
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

test('[database.10] [database.13] the grants of pixgate_app and PUBLIC are those of the list', async (t) => {
  const url = await emptyDatabase(t)
  await migrate(url, MACHINES)
  const [grants, expected] = [await grantsAt(url), await listed()]
  assert.deepEqual(
    { new: grants.filter((line) => !expected.includes(line)), gone: expected.filter((line) => !grants.includes(line)) },
    { new: [], gone: [] },
  )
  assert.deepEqual(await grantsAt(url, OWNERS_RIGHTS_FOR_ALL), [])
})

const NEW_GRANTS: readonly (readonly [sql: string, ...lines: string[]])[] = [
  ['GRANT DELETE ON audit TO pixgate_app', 'table audit: pixgate_app DELETE'],
  ['GRANT UPDATE (actor) ON audit TO pixgate_app', 'table audit: pixgate_app UPDATE (actor)'],
  ['GRANT SELECT ON audit TO PUBLIC', 'table audit: PUBLIC SELECT'],
  ['GRANT INSERT ON audit TO pixgate_app WITH GRANT OPTION', 'table audit: pixgate_app INSERT WITH GRANT OPTION'],
  ['GRANT CREATE ON SCHEMA public TO pixgate_app', 'schema public: pixgate_app CREATE'],
  [
    'CREATE TABLE more (id bigserial); GRANT USAGE ON SEQUENCE more_id_seq TO pixgate_app',
    'sequence more_id_seq: pixgate_app USAGE',
  ],
  [
    `CREATE FUNCTION more (a integer) RETURNS integer LANGUAGE sql AS 'SELECT a'`,
    'function more(a integer): PUBLIC EXECUTE',
  ],
  ['ALTER DEFAULT PRIVILEGES GRANT DELETE ON TABLES TO pixgate_app', 'whatever is made later r: pixgate_app DELETE'],
]

test('[database.13] a grant that is new is seen, of whatever kind, and so is one that is gone', async (t) => {
  const url = await emptyDatabase(t)
  await migrate(url, MACHINES)
  for (const [sql, ...lines] of NEW_GRANTS) {
    const before = await grantsAt(url)
    await administer(url, sql)
    const after = await grantsAt(url)
    assert.deepEqual(
      after.filter((line) => !before.includes(line)),
      lines,
      sql,
    )
  }
  const before = await grantsAt(url)
  await administer(url, 'REVOKE SELECT ON operation FROM pixgate_app')
  const after = await grantsAt(url)
  assert.deepEqual(
    before.filter((line) => !after.includes(line)),
    ['table operation: pixgate_app SELECT'],
  )
})
