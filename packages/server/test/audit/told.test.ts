import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import test, { type TestContext } from 'node:test'
import pg from 'pg'
import { verifyAudit } from '../../src/audit/verify.ts'
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
  `INSERT INTO operator (id, name, role, hash, display, created_at)
   VALUES ('${id}', 'Ana', '${role}', convert_to('${id}', 'UTF8'), 'abcdefgh', now())`

const key = (id: string, scopes = '{read}') =>
  `INSERT INTO api_key (id, hash, display, created_at, scopes, cap_day_cents)
   VALUES ('${id}', convert_to('${id}', 'UTF8'), 'abcdefgh', now(), '${scopes}', 500)`

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
  const id = randomUUID()
  await thief.query(`BEGIN; ${operator(id)}; ${audit('operator.created', id, OPERATOR_FACTS)}; COMMIT`)
  await thief.query(`BEGIN; ${key(id)}; ${audit('api_key.generated', id.toUpperCase(), KEY_FACTS)}; COMMIT`)
})

test('[audit.9] the row tells what was made: a role, a scope or a cap that it does not name is not committed', async (t) => {
  const { thief } = await stolen(t)
  const [one, other, third] = [randomUUID(), randomUUID(), randomUUID()]
  const viewer = { ...OPERATOR_FACTS, role: 'viewer' }
  const capped = { ...KEY_FACTS, caps: { dayCents: 1 } }
  for (const sql of [
    `${operator(one)}; ${audit('operator.created', one, viewer)}`,
    `${key(other, '{read,payout}')}; ${audit('api_key.generated', other, KEY_FACTS)}`,
    `${key(third)}; ${audit('api_key.generated', third, capped)}`,
  ]) {
    await assert.rejects(thief.query(`BEGIN; ${sql}; COMMIT`), UNTOLD)
    await thief.query('ROLLBACK')
  }
})

test('[audit.9] who is deactivated is told, too, and nobody is active again', async (t) => {
  const { thief } = await stolen(t)
  const id = randomUUID()
  await thief.query(`BEGIN; ${operator(id)}; ${audit('operator.created', id, OPERATOR_FACTS)}; COMMIT`)
  await thief.query(`BEGIN; ${key(id)}; ${audit('api_key.generated', id, KEY_FACTS)}; COMMIT`)
  for (const [table, told] of [
    ['operator', audit('operator.deactivated', id, {})],
    ['api_key', audit('api_key.all_deactivated', 'api_key', { keys: [id] })],
  ] as const) {
    await assert.rejects(thief.query(`UPDATE ${table} SET deactivated_at = now()`), UNTOLD)
    await thief.query(`BEGIN; UPDATE ${table} SET deactivated_at = now(); ${told}; COMMIT`)
    await assert.rejects(thief.query(`UPDATE ${table} SET deactivated_at = NULL`), /stays so/)
    await thief.query(`UPDATE ${table} SET last_used_at = now()`)
  }
})

test('[audit.9] [audit.2] all keys at once are one row with them, and the verification names whom it does not list', async (t) => {
  const { thief, faults } = await stolen(t)
  const [listed, unlisted] = [randomUUID(), randomUUID()]
  const deactivate = 'UPDATE api_key SET deactivated_at = now() WHERE deactivated_at IS NULL'
  const told = audit('api_key.all_deactivated', 'api_key', { keys: [listed] })
  for (const id of [listed, unlisted]) {
    await thief.query(`BEGIN; ${key(id)}; ${audit('api_key.generated', id, KEY_FACTS)}; COMMIT`)
  }
  await thief.query(told)
  await assert.rejects(thief.query(deactivate), UNTOLD, 'a row of before is none')
  await thief.query(`BEGIN; ${deactivate}; ${told}; COMMIT`)
  assert.deepEqual(await faults(), [`api_key ${unlisted} is not as the trail tells, or it tells nothing of it`])
})

test('[audit.9] [audit.2] where somebody switched that off, the verification names who stands there untold', async (t) => {
  const { owner, faults } = await stolen(t)
  assert.deepEqual(await faults(), [])
  const [admin, apiKey] = [randomUUID(), randomUUID()]
  await owner.query(`BEGIN; SET LOCAL session_replication_role = replica; ${operator(admin)}; ${key(apiKey)}; COMMIT`)
  assert.deepEqual(await faults(), [
    `operator ${admin} is not as the trail tells, or it tells nothing of it`,
    `api_key ${apiKey} is not as the trail tells, or it tells nothing of it`,
  ])
})

test('[audit.10] a case of the bank’s statement begins open, and who closes it stands in the trail', async (t) => {
  const { thief } = await stolen(t)
  const kinds = [
    'statement_missing',
    'statement_unexplained',
    'statement_differs',
    'statement_short',
    'statement_unaccounted',
    'bank_balance_short',
    'credit_denied',
  ]
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

test('[audit.10] what the bank may lack is changed with a row in the trail', async (t) => {
  const { thief } = await stolen(t)
  await thief.query('UPDATE bank_shortfall SET base_cents = 700')
  await thief.query("UPDATE bank_shortfall SET accepted_cents = 9000 WHERE name = 'balance'")
  await thief.query("UPDATE bank_shortfall SET base_cents = -1 WHERE name = 'statement'")
  const { rows } = await thief.query(`SELECT action, subject, facts FROM audit ORDER BY at`)
  assert.deepEqual(rows, [
    {
      action: 'bank_shortfall.accepted',
      subject: 'balance',
      facts: { acceptedCents: 9000, before: 0, baseCents: 700, baseBefore: 700 },
    },
    {
      action: 'bank_shortfall.accepted',
      subject: 'statement',
      facts: { acceptedCents: 0, before: 0, baseCents: -1, baseBefore: 700 },
    },
  ])
})

test('[audit.10] what is expected of a balance beside lists is changed with a row in the trail where no look changes it so', async (t) => {
  const { thief, owner } = await stolen(t)
  await owner.query(
    `INSERT INTO statement_entry (direction, id, kind, end_to_end_id, reference, value_cents, occurred_at, seen_at)
     VALUES ('in', 'E1', 'PAYMENT_RECEIVED', 'E1', 'reference', 100, '2030-01-15T12:00Z', '2030-01-15T12:01Z'),
            ('in', 'E2', 'PAYMENT_RECEIVED', 'E2', 'reference', 500, '2030-01-15T11:00Z', '2030-01-15T11:01Z')`,
  )
  const set = async (change: string) => {
    await thief.query(`UPDATE listed_expectation SET ${change}`)
    const { rows } = await owner.query(
      `SELECT facts FROM audit WHERE action = 'bank_shortfall.expected' AND subject = 'balance' ORDER BY at`,
    )
    return rows.length
  }
  await set(
    `rising_cents = 900, rising_at = now(), received_until = '2030-01-15T11:30Z', listed_until = '2030-01-15T11:30Z'`,
  )
  await set('base_cents = 900, base_at = now()')
  assert.equal(await set('base_cents = 700, rising_cents = 800'), 0, 'what came in, as a tariff and as listed late')
  assert.equal(await set('base_cents = 800'), 0, 'what had risen')
  assert.equal(await set('base_cents = 599'), 1, 'less by more than came in')
  assert.equal(await set('base_cents = 801'), 2, 'more than had risen')
  assert.equal(await set(`received_until = '2030-01-15T11:29Z'`), 3, 'what came in counts once more')
  assert.equal(await set(`listed_until = '2030-01-15T11:29Z'`), 4, 'what was listed counts once more')
  assert.equal(await set('received_until = NULL'), 5)
  assert.equal(await set('base_cents = NULL, base_at = NULL'), 6, 'nothing is expected')
  await assert.rejects(set('base_listed_cents = 1'), /check/)
  await assert.rejects(set('rising_listed_cents = 1'), /check/)
})
