import assert from 'node:assert/strict'
import test from 'node:test'
import pg from 'pg'
import { loginFaults } from '../../../src/platform/db/login.ts'
import { withSnapshot } from '../../../src/platform/db/snapshot.ts'
import { administer, testDatabase } from '../../support/database.ts'
import { as, type Login, login, serverLogin } from '../../support/logins.ts'

/** What is wrong with a login at a database, without the advice at the end. */
async function faults(url: string, who: Login): Promise<string[]> {
  const found = await withSnapshot({ url: as(url, who), name: 'pixgate test' }, loginFaults)
  const [last = ''] = found.slice(-1)
  assert.equal(found.length === 0 || /a login of its own|GRANT/.test(last), true, last)
  return found.filter((fault) => fault !== last || /GRANT/.test(last)).map((fault) => fault.replaceAll(who.role, 'me'))
}

const nameOf = (url: string) => new URL(url).pathname.slice(1)

const mine = (what: string) => `DATABASE_URL: the user "me" ${what}`

test('[database.10] a login that is a member of the server’s role and of nothing else is taken, also where it inherits nothing', async (t) => {
  const { url } = await testDatabase(t)
  assert.deepEqual(await faults(url, await serverLogin(t)), [])
  assert.deepEqual(await faults(url, await login(t, 'NOINHERIT IN ROLE pixgate_app')), [])
})

test('[database.10] one that may not work as the server’s role is told how it is granted', async (t) => {
  const { url } = await testDatabase(t)
  assert.deepEqual(await faults(url, await login(t, 'IN ROLE pg_read_all_data')), [
    mine('may not work as pixgate_app: GRANT pixgate_app TO "me"'),
  ])
})

const ATTRIBUTES: readonly (readonly [options: string, says: string])[] = [
  ['SUPERUSER', 'is a superuser'],
  ['CREATEROLE IN ROLE pixgate_app', 'may create roles, and grant them'],
  ['BYPASSRLS IN ROLE pixgate_app', 'bypasses row security'],
  ['REPLICATION IN ROLE pixgate_app', 'may copy the whole cluster (REPLICATION)'],
  ...['read_server_files', 'write_server_files', 'execute_server_program', 'write_all_data'].map(
    (name) => [`IN ROLE pixgate_app, pg_${name}`, `is a member of pg_${name}`] as const,
  ),
]

for (const [options, says] of ATTRIBUTES) {
  test(`[database.10] refused: a login ${options}`, async (t) => {
    const { url } = await testDatabase(t)
    const found = await faults(url, await login(t, options))
    assert.ok(found.includes(mine(says)), found.join('\n'))
  })
}

const GRANTS = ['', 'WITH INHERIT FALSE', 'WITH INHERIT FALSE, SET FALSE, ADMIN TRUE']

for (const grant of GRANTS) {
  test(`[database.10] refused: a member of the owner, of a superuser, or of one who may create roles, at one remove, granted ${grant || 'plainly'}`, async (t) => {
    const { url } = await testDatabase(t)
    const between = await login(t, 'NOINHERIT')
    const me = await login(t, 'NOINHERIT IN ROLE pixgate_app')
    await administer(url, `GRANT ${between.role} TO ${me.role} ${grant}`)
    const others = [
      [await login(t, 'SUPERUSER'), 'is a superuser'],
      [await login(t, 'CREATEROLE'), 'may create roles, and grant them'],
    ] as const
    for (const [other, says] of others) {
      await administer(url, `GRANT ${other.role} TO ${between.role} ${grant}`)
      assert.deepEqual(await faults(url, me), [mine(`${says} as a member of "${other.role}"`)])
      await administer(url, `REVOKE ${other.role} FROM ${between.role}`)
    }
    const owner = await login(t)
    await administer(url, `ALTER TABLE audit OWNER TO ${owner.role}`)
    await administer(url, `GRANT ${owner.role} TO ${between.role} ${grant}`)
    assert.deepEqual(await faults(url, me), [mine(`owns tables (audit) as a member of "${owner.role}"`)])
    await administer(url, `REASSIGN OWNED BY ${owner.role} TO CURRENT_USER`)
  })
}

test('[database.10] refused: whoever owns the database, its schema, a table or a function of ours', async (t) => {
  const { url } = await testDatabase(t)
  const me = await serverLogin(t)
  const name = nameOf(url)
  const owned: readonly (readonly [what: string, says: string])[] = [
    [`DATABASE ${name}`, 'owns the database'],
    ['SCHEMA public', 'owns the schema'],
    ['TABLE operation', 'owns tables (operation)'],
    ['FUNCTION refuse_rewriting()', 'owns functions (refuse_rewriting)'],
  ]
  for (const [what, says] of owned) {
    await administer(url, `ALTER ${what} OWNER TO ${me.role}`)
    assert.deepEqual(await faults(url, me), [mine(says)], what)
    await administer(url, `ALTER ${what} OWNER TO CURRENT_USER`)
  }
  assert.deepEqual(await faults(url, me), [])
})

const TEMPORARY =
  'may make temporary tables, as everybody may after a restore from a dump until `pixgate migrate` ran (REVOKE TEMPORARY ON DATABASE … FROM PUBLIC)'

const RIGHTS: readonly (readonly [right: string, says: string])[] = [
  ['DELETE ON audit', 'may do what pixgate_app may not (DELETE on audit)'],
  ['TRIGGER ON entry', 'may do what pixgate_app may not (TRIGGER on entry)'],
  ['UPDATE ON move', 'may do what pixgate_app may not (UPDATE on move.at)'],
  ['UPDATE (value_cents) ON operation', 'may do what pixgate_app may not (UPDATE on operation.value_cents)'],
  ['CREATE ON SCHEMA public', 'may create objects in the schema'],
  ['CREATE ON DATABASE', 'may create schemas in the database'],
  ['TEMPORARY ON DATABASE', TEMPORARY],
  ['SET ON PARAMETER session_replication_role', 'may switch triggers off (session_replication_role)'],
]

for (const [right, says] of RIGHTS) {
  test(`[database.10] refused: a login that was granted ${right}`, async (t) => {
    const { url } = await testDatabase(t)
    const me = await serverLogin(t)
    const whole = right.replace(/DATABASE$/, `DATABASE ${nameOf(url)}`)
    await administer(url, `GRANT ${whole} TO ${me.role}`)
    assert.deepEqual(await faults(url, me), [mine(says)])
    await administer(url, `REVOKE ${whole} FROM ${me.role}`)
    assert.deepEqual(await faults(url, me), [])
  })
}

test('[database.10] refused: a login at a database in which everybody may make temporary tables', async (t) => {
  const { url } = await testDatabase(t)
  await administer(url, `GRANT TEMPORARY ON DATABASE ${nameOf(url)} TO PUBLIC`)
  assert.deepEqual(await faults(url, await serverLogin(t)), [mine(TEMPORARY)])
})

test('[database.10] the server’s login can neither become the owner nor rewrite, define or switch off anything', async (t) => {
  const { url } = await testDatabase(t)
  const client = new pg.Client({ connectionString: as(url, await serverLogin(t)) })
  // The database goes before it does.
  client.on('error', () => undefined)
  await client.connect()
  t.after(() => client.end())
  const owner = new URL(url).username
  // Grants nothing, with a warning.
  await client.query('GRANT DELETE ON audit TO CURRENT_USER')
  const forbidden = [
    `SET ROLE ${owner}`,
    `SET SESSION AUTHORIZATION ${owner}`,
    `GRANT ${owner} TO CURRENT_USER`,
    'DELETE FROM audit',
    'UPDATE entry SET amount_cents = 1',
    'ALTER TABLE audit DISABLE TRIGGER ALL',
    'SET session_replication_role = replica',
    'CREATE TABLE public.mine ()',
    'CREATE OR REPLACE FUNCTION refuse_rewriting() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$',
    "COPY audit TO PROGRAM 'cat'",
  ]
  for (const sql of forbidden) {
    await assert.rejects(client.query(sql), /permission denied|must be owner|must have|no privileges were granted/, sql)
  }
})
