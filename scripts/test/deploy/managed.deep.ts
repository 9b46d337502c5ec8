import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { startEmbeddedPostgres } from '../../../packages/sandbox/src/postgres/embedded-postgres.ts'
import { administer } from '../../../packages/server/test/support/database.ts'
import { as } from '../../../packages/server/test/support/logins.ts'
import { blocksOf } from './guide.ts'
import { migrateAs, onto, served, succeeds } from './programs.ts'
import { postgresPrograms, startSystemPostgres } from './system-postgres.ts'

/** The guide's lines for a managed PostgreSQL, whose administrator is no superuser. */
const [recipe = ''] = blocksOf('Managed PostgreSQL', 'sql', 'docs/guides/high-availability.md')

const ADMINISTRATOR = { role: 'cloud_admin', password: 'Nf6hWs1CjG3vZq5TbM8e' }

const PASSWORDS = { owner: 'Qm7vXz2LpT9sWk4RbN8y', server: 'Hd5gJc3ZtV6nKx1FqS0w' }

async function embedded(t: TestContext): Promise<string> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'pixgate-managed-'))
  chmodSync(dataDirectory, 0o711)
  const postgres = await startEmbeddedPostgres({ dataDirectory })
  t.after(async () => {
    await postgres.stop()
    rmSync(dataDirectory, { recursive: true })
  })
  return postgres.url
}

/** @returns nothing where this machine has none */
async function ofTheMachine(t: TestContext): Promise<string | undefined> {
  const programs = postgresPrograms()
  return programs && (await startSystemPostgres(t, programs)).url
}

for (const [what, start] of Object.entries({ 'PostgreSQL 18': embedded, 'the machine’s PostgreSQL': ofTheMachine })) {
  test(`[database.1] [database.10] with an administrator that may only create roles and databases, ${what} is set up, migrated and served`, {
    timeout: 180_000,
  }, async (t) => {
    const superuser = await start(t)
    if (superuser === undefined) return t.skip('no PostgreSQL 15 or newer is installed (PG_BINDIR)')
    const { role, password } = ADMINISTRATOR
    await administer(superuser, `CREATE ROLE ${role} LOGIN CREATEROLE CREATEDB PASSWORD '${password}'`)
    const administrator = as(superuser, ADMINISTRATOR)
    const chosen = recipe.replace('choose-one', PASSWORDS.owner).replace('choose-another', PASSWORDS.server)
    const statements = chosen.split(';').filter((text) => text.trim() !== '')
    assert.equal(statements.length, 5)
    for (const statement of statements) await administer(administrator, statement)
    const live = onto(superuser, 'pixgate_live')
    await succeeds(migrateAs(as(live, { role: 'pixgate_owner', password: PASSWORDS.owner })))
    await served(as(live, { role: 'pixgate_server', password: PASSWORDS.server }))
  })
}
