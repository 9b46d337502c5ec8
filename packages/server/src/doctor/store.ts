import { APPLICATION_ROLE, type Queries, statement } from '../platform/db/database.ts'

/** All SQL of the doctor. */

/** What a database says of itself. */
export interface AboutDatabase {
  readonly version: string
  /** Its time, epoch milliseconds. */
  readonly now: number
  readonly isReadOnly: boolean
}

const selectAbout = statement<[], AboutDatabase>(
  'doctor.about',
  `SELECT current_setting('server_version') AS version,
          (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
          pg_is_in_recovery() OR current_setting('default_transaction_read_only')::boolean AS "isReadOnly"`,
)

/** Asks it. */
export async function readAbout(queries: Queries): Promise<AboutDatabase> {
  const [about] = await queries.rows(selectAbout, [])
  if (about === undefined) throw new Error('the database says nothing of itself')
  return about
}

/** What our user may do there that a start does. */
export interface Permissions {
  readonly user: string
  readonly mayCreateTables: boolean
  /** Also where there are none yet. */
  readonly mayWriteTables: boolean
  /** Also where there are none yet. */
  readonly ownsTables: boolean
  readonly mayCreateRoles: boolean
  /** Whether there is the role that the service works as. */
  readonly isRoleThere: boolean
  readonly maySetRole: boolean
  readonly mayGrantRole: boolean
}

/** What PostgreSQL calls the right to work as another role; before version 16 it comes with membership. */
const TO_SET = `CASE WHEN current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END`

/** Before version 16 who creates roles grants any. */
const GRANTS_ANY = `current_setting('server_version_num')::integer < 160000 AND rolcreaterole`

const selectPermissions = statement<[], Permissions>(
  'doctor.permissions',
  `SELECT rolname AS "user",
          coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS "mayCreateTables",
          moves.oid IS NULL OR has_table_privilege(moves.oid, 'SELECT') AND has_table_privilege(moves.oid, 'INSERT')
            AS "mayWriteTables",
          moves.oid IS NULL OR pg_has_role(moves.relowner, 'USAGE') AS "ownsTables",
          rolsuper OR rolcreaterole AS "mayCreateRoles",
          app IS NOT NULL AS "isRoleThere",
          app IS NOT NULL AND pg_has_role(app, ${TO_SET}) AS "maySetRole",
          app IS NOT NULL AND (pg_has_role(app, 'MEMBER WITH ADMIN OPTION') OR ${GRANTS_ANY}) AS "mayGrantRole"
     FROM pg_roles
          CROSS JOIN to_regrole('${APPLICATION_ROLE}') AS app
          LEFT JOIN pg_class AS moves ON moves.oid = to_regclass('allowed_move')
    WHERE rolname = current_user`,
)

/** Asks it what we may do, ourselves or as whom our login works. @source rules#rotation.3 */
export async function readPermissions(queries: Queries): Promise<Permissions> {
  const [permissions] = await queries.rows(selectPermissions, [])
  if (permissions === undefined) throw new Error('the database does not know who we are')
  return permissions
}
