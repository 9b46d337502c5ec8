import { APPLICATION_ROLE, type Queries, statement } from './database.ts'

/**
 * Rights of a server's login beyond its work. A thief of the login must not be able to do more than the server: not
 * rewrite history, define objects or gain further rights.
 */

/** A right that a server must not have, with the role that grants it: the login itself, or a role it is a member of. */
interface Power {
  readonly role: string
  /** A key of {@link SAYS}, or the name of a predefined role of PostgreSQL. */
  readonly kind: string
  /** An example: a table or a column. */
  readonly of: string | null
}

/**
 * Predefined roles that reach beyond our tables: files and programs of the machine, every table, and subscriptions,
 * which write as a table's owner.
 */
const PREDEFINED = [
  'pg_read_server_files',
  'pg_write_server_files',
  'pg_execute_server_program',
  'pg_write_all_data',
  'pg_create_subscription',
]

// PUBLIC may create temporary tables until a migration revokes it: a fault only where that migration ran without the
// right to. Any membership counts: SET, inheritance, or ADMIN, which allows granting oneself the rest.
const selectPowers = statement<[predefined: readonly string[]], Power>(
  'login.powers',
  `WITH place AS (
     SELECT coalesce((SELECT relnamespace FROM pg_class WHERE oid = to_regclass('schema_migration')),
                     to_regnamespace(current_schema()::text)) AS schema
   ),
   reachable AS (
     SELECT oid, rolname AS role, rolsuper, rolcreaterole, rolbypassrls, rolreplication
       FROM pg_roles WHERE pg_has_role(session_user, oid, 'MEMBER')
   ),
   tables AS (
     SELECT c.oid, c.relname, c.relowner FROM pg_class c JOIN place ON c.relnamespace = place.schema
      WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S')
   ),
   app AS (SELECT to_regrole('${APPLICATION_ROLE}')::oid AS oid),
   power (role, kind, of) AS (
     SELECT role, 'superuser', NULL FROM reachable WHERE rolsuper
     UNION ALL SELECT role, 'createrole', NULL FROM reachable WHERE rolcreaterole
     UNION ALL SELECT role, 'bypassrls', NULL FROM reachable WHERE rolbypassrls
     UNION ALL SELECT role, 'replication', NULL FROM reachable WHERE rolreplication
     UNION ALL SELECT role, role::text, NULL FROM reachable WHERE role = ANY ($1)
     UNION ALL SELECT role, 'database owner', NULL
                 FROM reachable r JOIN pg_database d ON d.datdba = r.oid WHERE d.datname = current_database()
     UNION ALL SELECT role, 'schema owner', NULL
                 FROM reachable r JOIN pg_namespace n ON n.nspowner = r.oid JOIN place ON n.oid = place.schema
                WHERE r.role <> 'pg_database_owner'
     UNION ALL SELECT role, 'table owner', min(t.relname)
                 FROM reachable r JOIN tables t ON t.relowner = r.oid GROUP BY role
     UNION ALL SELECT role, 'function owner', min(p.proname)
                 FROM reachable r JOIN pg_proc p ON p.proowner = r.oid JOIN place ON p.pronamespace = place.schema
                GROUP BY role
     UNION ALL SELECT role, 'creates', NULL
                 FROM reachable r CROSS JOIN place WHERE has_schema_privilege(r.oid, place.schema, 'CREATE')
     UNION ALL SELECT role, 'creates schemas', NULL
                 FROM reachable r WHERE has_database_privilege(r.oid, current_database(), 'CREATE')
     UNION ALL SELECT role, 'temporary', NULL
                 FROM reachable r WHERE has_database_privilege(r.oid, current_database(), 'TEMPORARY')
                  AND to_regclass('audit_of_credential') IS NOT NULL
                  AND (role = session_user OR NOT has_database_privilege(session_user, current_database(), 'TEMPORARY'))
     UNION ALL SELECT role, 'disables triggers', NULL
                 FROM reachable r WHERE has_parameter_privilege(r.oid, 'session_replication_role', 'SET')
     UNION ALL SELECT role, 'table right', min(privilege || ' on ' || t.relname)
                 FROM reachable r CROSS JOIN app CROSS JOIN tables t
                      CROSS JOIN unnest(ARRAY['DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER']) privilege
                WHERE has_table_privilege(r.oid, t.oid, privilege) AND NOT has_table_privilege(app.oid, t.oid, privilege)
                GROUP BY role
     UNION ALL SELECT role, 'column right', min(privilege || ' on ' || t.relname || '.' || a.attname)
                 FROM reachable r CROSS JOIN app CROSS JOIN tables t
                      JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
                      CROSS JOIN unnest(ARRAY['INSERT', 'UPDATE']) privilege
                WHERE has_column_privilege(r.oid, t.oid, a.attnum, privilege)
                  AND NOT has_column_privilege(app.oid, t.oid, a.attnum, privilege)
                GROUP BY role
   )
   SELECT role::text, kind, of::text AS of FROM power ORDER BY role, kind`,
)

const selectLogin = statement<[], { readonly user: string; readonly isMember: boolean }>(
  'login.is_member',
  `SELECT session_user::text AS "user",
          coalesce(pg_has_role(session_user, to_regrole('${APPLICATION_ROLE}')::oid,
                               CASE WHEN current_setting('server_version_num')::integer >= 160000
                                    THEN 'SET' ELSE 'MEMBER' END), false) AS "isMember"`,
)

const setRole = statement<[role: string]>('login.work_as', `SELECT set_config('role', $1, true)`)

export async function workAsApplication(queries: Queries): Promise<void> {
  await queries.rows(setRole, [APPLICATION_ROLE])
}

/** Continues a transaction as the login, which owns its sessions. */
export async function workAsLogin(queries: Queries): Promise<void> {
  await queries.rows(setRole, ['none'])
}

/**
 * Reasons why a server should not use this login, one sentence each. Empty when the login can do no more than the
 * server's role and may take that role.
 * @source rules#database.10
 */
export async function loginFaults(queries: Queries): Promise<string[]> {
  const [login] = await queries.rows(selectLogin, [])
  if (login === undefined) throw new Error('the login is missing in pg_roles')
  return judgeLogin(login, await queries.rows(selectPowers, [PREDEFINED]))
}

const SAYS: Readonly<Record<string, string>> = {
  superuser: 'is a superuser',
  createrole: 'may create roles, and grant them',
  bypassrls: 'bypasses row security',
  replication: 'may copy the whole cluster (REPLICATION)',
  'database owner': 'owns the database',
  'schema owner': 'owns the schema',
  'table owner': 'owns tables',
  'function owner': 'owns functions',
  creates: 'may create objects in the schema',
  'creates schemas': 'may create schemas in the database',
  temporary:
    'may make temporary tables, as everybody may after a restore from a dump until `pixgate migrate` ran (REVOKE TEMPORARY ON DATABASE … FROM PUBLIC)',
  'disables triggers': 'may switch triggers off (session_replication_role)',
  'table right': `may do what ${APPLICATION_ROLE} may not`,
  'column right': `may do what ${APPLICATION_ROLE} may not`,
}

/** These kinds imply the others. */
const WHOLE = ['superuser', 'database owner', 'schema owner', 'table owner', 'function owner']
const FOLLOWS = ['creates', 'creates schemas', 'temporary', 'disables triggers', 'table right', 'column right']

function judgeLogin({ user, isMember }: { user: string; isMember: boolean }, powers: readonly Power[]): string[] {
  const own = `DATABASE_URL: the user "${user}"`
  const faults = mostTelling(user, powers).map(({ role, kind, of }) => {
    const what = SAYS[kind] ?? `is a member of ${kind}`
    const through = role === user || SAYS[kind] === undefined ? '' : ` as a member of "${role}"`
    return `${own} ${what}${of === null ? '' : ` (${of})`}${through}`
  })
  if (faults.length > 0) return [...faults, ADVICE]
  return isMember ? [] : [`${own} may not work as ${APPLICATION_ROLE}: GRANT ${APPLICATION_ROLE} TO "${user}"`]
}

const ADVICE = `DATABASE_URL needs a login of its own in production, which is a member of ${APPLICATION_ROLE} and of nothing else: CREATE ROLE pixgate_server LOGIN PASSWORD '…' IN ROLE ${APPLICATION_ROLE}`

/**
 * Keeps the most telling rights: a superuser is a member of every role, and an owner may do everything with its
 * objects.
 */
function mostTelling(user: string, powers: readonly Power[]): readonly Power[] {
  const superuser = powers.filter(({ role, kind }) => role === user && kind === 'superuser')
  if (superuser.length > 0) return superuser
  const isOwner = powers.some(({ kind }) => WHOLE.includes(kind))
  return isOwner ? powers.filter(({ kind }) => !FOLLOWS.includes(kind)) : powers
}
