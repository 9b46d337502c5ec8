import { withConnection } from './database.ts'

/** Oldest version that supports the schema's SQL. */
const OLDEST_VERSION = 150_000

/** Settings without which a commit may be lost, with their accepted values. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  fsync: ['on'],
  full_page_writes: ['on'],
  synchronous_commit: ['on', 'remote_apply'],
}

/**
 * Checks the database's durability settings and version.
 * @returns one sentence per fault
 * @source rules#database.1
 */
export async function checkDatabase(url: string): Promise<string[]> {
  const names = ['server_version_num', ...Object.keys(REQUIRED)]
  const { rows } = await withConnection({ connectionString: url, application_name: 'pixgate self-check' }, (client) =>
    client.query<{ name: string; setting: string }>('SELECT name, setting FROM pg_settings WHERE name = ANY($1)', [
      names,
    ]),
  )
  return databaseFaults(new Map(rows.map(({ name, setting }) => [name, setting])))
}

export function databaseFaults(settings: ReadonlyMap<string, string>): string[] {
  const faults = Object.entries(REQUIRED)
    .filter(([name, accepted]) => !accepted.includes(settings.get(name) ?? ''))
    .map(
      ([name, accepted]) =>
        `PostgreSQL runs with ${name} = ${settings.get(name)}; a committed payment could be lost. Set it to ${accepted.join(' or ')}.`,
    )
  const version = Number(settings.get('server_version_num'))
  if (!(version >= OLDEST_VERSION)) faults.unshift(`PostgreSQL ${version} is too old; Pixgate needs 15 or newer.`)
  return faults
}
