import { StartupError } from '../startup-error.ts'
import { type Queries, statement } from './database.ts'
import { SESSION_SETTINGS } from './session.ts'

interface Settings {
  readonly login: string
  readonly role: string
  /** By name; what nobody knows is missing. */
  readonly settings: Readonly<Record<string, string>>
}

const selectSettings = statement<[names: readonly string[]], Settings>(
  'session.settings',
  `SELECT session_user::text AS login, current_user::text AS role,
          (SELECT coalesce(json_object_agg(n.name, coalesce(s.setting, current_setting(n.name, true))), '{}')
             FROM unnest($1::text[]) AS n (name)
             LEFT JOIN pg_settings s ON s.name = n.name) AS settings`,
)

/**
 * Refuses a database whose sessions are not as connections ask for them: a pooler may drop what is asked for, and then nothing
 * ends a session that was left, or the work is done in another role.
 * @param role as which the work is to be done
 * @throws StartupError with what is otherwise, and what to do
 * @source rules#database.14
 */
export async function assertSession(queries: Queries, role: string): Promise<void> {
  const [found] = await queries.rows(selectSettings, [[...Object.keys(SESSION_SETTINGS), 'statement_timeout']])
  if (found === undefined) throw new Error('a session has settings')
  const faults = sessionFaults(found, role)
  if (faults.length > 0) throw new StartupError(`DATABASE_URL: ${faults.join('\n')}`)
}

/** The judgement of {@link assertSession} on settings already read. */
export function sessionFaults({ login, role, settings }: Settings, wantedRole: string): string[] {
  const wanted = Object.entries(SESSION_SETTINGS).filter(([name, value]) => settings[name] !== value)
  // How long differs between connections: that there is an end must not.
  if (settings.statement_timeout === '0') wanted.push(['statement_timeout', '5000'])
  if (role !== wantedRole) wanted.push(['role', wantedRole])
  if (wanted.length === 0) return []
  const found = wanted.map(([name]) => `${name} is ${name === 'role' ? role : (settings[name] ?? 'unset')}`)
  return [
    `what a connection asks for does not hold (${found.join(', ')}). Connect directly, or give the settings to the login, for whose sessions a pooler cannot drop them:`,
    ...wanted.map(([name, value]) => `  ALTER ROLE "${login}" SET ${name} = '${value}';`),
  ]
}
