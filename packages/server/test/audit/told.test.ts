import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import pg from 'pg'
import { verifyAudit } from '../../src/audit/chain.ts'
import { withSnapshot } from '../../src/platform/db/snapshot.ts'
import { testDatabase } from '../support/database.ts'
import { as, serverLogin } from '../support/logins.ts'

/** A database, and whoever has stolen the login of a server, or the owner's. */
async function stolen(t: TestContext) {
  const { url } = await testDatabase(t)
  const connect = async (connectionString: string) => {
    const client = new pg.Client({ connectionString })
    // The database goes before it does.
    client.on('error', () => undefined)
    await client.connect()
    t.after(() => client.end())
    return client
  }
  const [thief, owner] = [await connect(as(url, await serverLogin(t))), await connect(url)]
  const faults = () =>
    withSnapshot({ url, name: 'pixgate test' }, async (queries) => {
      const verification = await verifyAudit(queries, { keys: [] })
      return verification.faults.map(({ what }) => what)
    })
  return { thief, owner, faults }
}

const operator = (id: string, role = 'admin') =>
  `INSERT INTO credential (kind, id, name, role, hash, display, created_at)
   VALUES ('operator', '${id}', 'Ana', '${role}', convert_to('${id}', 'UTF8'), 'abcdefgh', now())`

const key = (id: string, scopes = '{read}') =>
  `INSERT INTO credential (kind, id, hash, display, created_at, scopes, cap_day_cents)
   VALUES ('api_key', '${id}', convert_to('${id}', 'UTF8'), 'abcdefgh', now(), '${scopes}', 500)`

const audit = (action: string, subject: string, facts: object) =>
  `INSERT INTO audit (id, at, actor, action, subject, address, facts)
   VALUES (gen_random_uuid(), now(), 'admin', '${action}', '${subject}', '203.0.113.7', '${JSON.stringify(facts)}')`

const OPERATOR_FACTS = { name: 'Ana', role: 'admin', display: 'abcdefgh' }
const KEY_FACTS = { name: null, display: 'abcdefgh', scopes: ['read'], cidrs: null, caps: { dayCents: 500 } }
const UNTOLD = /is made or deactivated with a row of the audit trail, or not at all/

test('[audit.9] an operator or an API key without its row in the audit trail is not committed, whoever makes it', async (t) => {
  const { thief, owner } = await stolen(t)
  for (const client of [thief, owner]) {
    await assert.rejects(client.query(operator(randomUUID())), UNTOLD)
    await assert.rejects(client.query(key(randomUUID())), UNTOLD)
  }
  const [ana, shop] = [randomUUID(), randomUUID()]
  await thief.query(`BEGIN; ${operator(ana)}; ${audit('operator.created', ana, OPERATOR_FACTS)}; COMMIT`)
  await thief.query(`BEGIN; ${key(shop)}; ${audit('api_key.generated', shop.toUpperCase(), KEY_FACTS)}; COMMIT`)
})

test('[audit.9] the row tells what was made: a role, a scope or a cap that it does not name is not committed', async (t) => {
  const { thief } = await stolen(t)
  const [one, other] = [randomUUID(), randomUUID()]
  const viewer = { ...OPERATOR_FACTS, role: 'viewer' }
  const capNames = ['paymentCents', 'hourCents', 'dayCents', 'nightCents', 'newRecipientCents']
  const capped = capNames.map((name) => {
    const id = randomUUID()
    return `${key(id)}; ${audit('api_key.generated', id, { ...KEY_FACTS, caps: { dayCents: 500, [name]: 1 } })}`
  })
  for (const sql of [
    `${operator(one)}; ${audit('operator.created', one, viewer)}`,
    `${key(other, '{read,payout}')}; ${audit('api_key.generated', other, KEY_FACTS)}`,
    ...capped,
  ]) {
    await assert.rejects(thief.query(`BEGIN; ${sql}; COMMIT`), UNTOLD)
    await thief.query('ROLLBACK')
  }
})

test('[audit.9] an operator has a role and nothing of a key, and a key has scopes and no role', async (t) => {
  const { owner } = await stolen(t)
  const [id, columns] = [randomUUID(), 'kind, id, name, hash, display, created_at, role, scopes']
  for (const row of [
    "'operator', '%', 'Ana', '1', 'a', now(), 'admin', '{read}'",
    "'api_key', '%', 'Ana', '1', 'a', now(), 'admin', '{read}'",
    "'api_key', '%', 'Ana', '1', 'a', now(), NULL, NULL",
    "'operator', '%', NULL, '1', 'a', now(), 'admin', NULL",
  ]) {
    const insert = `INSERT INTO credential (${columns}) VALUES (${row.replace('%', id)})`
    await assert.rejects(owner.query(insert), { code: '23514' }, row)
  }
})

test('[audit.9] a deactivation needs its row too, and is final', async (t) => {
  const { thief } = await stolen(t)
  const [ana, shop] = [randomUUID(), randomUUID()]
  await thief.query(`BEGIN; ${operator(ana)}; ${audit('operator.created', ana, OPERATOR_FACTS)}; COMMIT`)
  await thief.query(`BEGIN; ${key(shop)}; ${audit('api_key.generated', shop, KEY_FACTS)}; COMMIT`)
  for (const [id, told] of [
    [ana, audit('operator.deactivated', ana, {})],
    [shop, audit('api_key.all_deactivated', 'api_key', { keys: [shop] })],
  ] as const) {
    const [update, which] = ['UPDATE credential SET', `WHERE id = '${id}'`]
    await assert.rejects(thief.query(`${update} deactivated_at = now() ${which}`), UNTOLD)
    await thief.query(`BEGIN; ${update} deactivated_at = now() ${which}; ${told}; COMMIT`)
    await assert.rejects(thief.query(`${update} deactivated_at = NULL ${which}`), /stays deactivated/)
    await thief.query(`${update} last_used_at = now() ${which}`)
  }
})

test('[audit.9] [audit.2] all keys at once are one row with them, and the verification names whom it does not list', async (t) => {
  const { thief, faults } = await stolen(t)
  const [listed, unlisted] = [randomUUID(), randomUUID()]
  const deactivate = "UPDATE credential SET deactivated_at = now() WHERE kind = 'api_key' AND deactivated_at IS NULL"
  const told = audit('api_key.all_deactivated', 'api_key', { keys: [listed] })
  for (const id of [listed, unlisted]) {
    await thief.query(`BEGIN; ${key(id)}; ${audit('api_key.generated', id, KEY_FACTS)}; COMMIT`)
  }
  await thief.query(told)
  await assert.rejects(thief.query(deactivate), UNTOLD, 'a row of before is none')
  await thief.query(`BEGIN; ${deactivate}; ${told}; COMMIT`)
  assert.deepEqual(await faults(), [`api_key ${unlisted} does not match the audit trail, or has no row there`])
})

test('[audit.9] [audit.2] the verification names credentials that were added without a row while the guard was off', async (t) => {
  const { owner, faults } = await stolen(t)
  assert.deepEqual(await faults(), [])
  const [admin, apiKey] = [randomUUID(), randomUUID()]
  await owner.query(`BEGIN; SET LOCAL session_replication_role = replica; ${operator(admin)}; ${key(apiKey)}; COMMIT`)
  assert.deepEqual(await faults(), [
    `operator ${admin} does not match the audit trail, or has no row there`,
    `api_key ${apiKey} does not match the audit trail, or has no row there`,
  ])
})

test('[audit.10] a case of the bank’s statement begins open, and who closes it stands in the trail', async (t) => {
  const { thief } = await stolen(t)
  const kinds = ['line_missing', 'unexplained_credit', 'unexplained_debit', 'line_differs']
  const insert = (kind: string, closed: string) =>
    `INSERT INTO "case" (id, operation_id, kind, reference, facts, opened_at, closed_at)
     VALUES (gen_random_uuid(), NULL, '${kind}', 'in E1', '{}', now(), ${closed})`
  for (const kind of kinds) {
    await assert.rejects(thief.query(insert(kind, 'now()')), /begins open/)
    await thief.query(insert(kind, 'NULL'))
  }
  await thief.query('UPDATE "case" SET closed_at = now()')
  const { rows } = await thief.query(
    `SELECT action, facts FROM audit WHERE actor = 'database ' || session_user ORDER BY facts ->> 'kind'`,
  )
  const closed = kinds.toSorted().map((kind) => ({ action: 'case.closed', facts: { kind, reference: 'in E1' } }))
  assert.deepEqual(rows, closed)
})
