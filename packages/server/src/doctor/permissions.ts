import { APPLICATION_ROLE } from '../platform/db/database.ts'
import { SCHEMA } from '../platform/db/migrate.ts'
import type { Permissions } from './store.ts'

/**
 * Rights that a start needs and this user lacks, a sentence for each.
 * @param pending the names of what the start would apply
 * @source rules#doctor.2
 */
export function permissionFaults(may: Permissions, pending: readonly string[]): string[] {
  const mayNot = (what: string) => `DATABASE_URL: the user "${may.user}" may not ${what}`
  const faults: string[] = []
  if (!may.mayCreateTables) faults.push(mayNot('create tables in the schema public: it must own the database'))
  if (!may.mayWriteTables) faults.push(mayNot('write to the tables that are there: they must belong to it'))
  else if (!may.ownsTables && pending.length > 0) {
    faults.push(mayNot('change the tables that are there: they must belong to it'))
  }
  const ofRole = roleFault(may, pending)
  return ofRole === undefined ? faults : [...faults, ofRole]
}

/** The schema makes the role and grants it. */
function roleFault(may: Permissions, pending: readonly string[]): string | undefined {
  const grant = `GRANT ${APPLICATION_ROLE} TO "${may.user}"`
  const mayNot = `DATABASE_URL: the user "${may.user}" may not`
  if (may.isRoleThere) {
    const isGranted = may.maySetRole || (may.mayGrantRole && pending.includes(SCHEMA))
    return isGranted ? undefined : `${mayNot} work as ${APPLICATION_ROLE}: ${grant}`
  }
  if (!pending.includes(SCHEMA)) {
    return `the role ${APPLICATION_ROLE} is missing: CREATE ROLE ${APPLICATION_ROLE} NOLOGIN; ${grant}`
  }
  if (may.mayCreateRoles) return undefined
  return `${mayNot} create the role ${APPLICATION_ROLE}, as which the service works: ALTER ROLE "${may.user}" CREATEROLE`
}
