import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import pg from 'pg'
import { insertAudit } from '../../src/audit/trail.ts'
import { OPERATOR, operatedProcess } from '../controls/fixture.ts'
import { administer } from '../support/database.ts'
import { as, serverLogin } from '../support/logins.ts'
import { openHolder } from '../support/waiting-backends.ts'
import { AT, faultsOf, rowId, trailOf } from './fixture.ts'

/** A session of whoever stole the server's login. */
async function thief(t: TestContext, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: as(url, await serverLogin(t)) })
  client.on('error', () => undefined)
  await client.connect()
  t.after(() => client.end())
  return client
}

test('[audit.1] the server’s login chooses no place and no hash, and moves the head by a row alone', async (t) => {
  const { url, verify } = await trailOf(t, 3)
  const client = await thief(t, url)
  const forbidden = [
    "INSERT INTO audit_chain VALUES (4, gen_random_uuid(), decode(repeat('00', 32), 'hex'))",
    'UPDATE audit_chain SET hash = hash',
    'DELETE FROM audit_chain',
    'UPDATE audit_head SET seq = 9',
    'SELECT * FROM audit_head FOR UPDATE',
    'DELETE FROM audit_anchor',
    'UPDATE audit_anchor SET mac = mac',
    'ALTER TABLE audit DISABLE TRIGGER chained',
    'CREATE TEMP TABLE mine (LIKE audit); CREATE TRIGGER mine AFTER INSERT ON mine FOR EACH ROW EXECUTE FUNCTION chain_audit()',
    'SELECT chain_audit()',
  ]
  for (const sql of forbidden) {
    await assert.rejects(client.query(sql), /permission denied|must be owner|can only be called as triggers/, sql)
  }
  const again = `INSERT INTO audit (id, at, actor, action, subject, address, facts)
    SELECT id, at, actor, action, subject, address, facts FROM audit ON CONFLICT DO NOTHING`
  assert.equal((await client.query(again)).rowCount, 0)
  await administer(url, `GRANT TEMPORARY ON DATABASE ${new URL(url).pathname.slice(1)} TO PUBLIC`)
  await client.query('CREATE TEMP TABLE audit_head AS SELECT 40 AS seq; CREATE TEMP TABLE audit_chain (a integer)')
  await client.query(`INSERT INTO public.audit (id, at, actor, action, subject, address, facts)
    VALUES (gen_random_uuid(), now(), 'x', 'x', 'x', 'x', '{}')`)
  const { verified, faults } = await verify()
  assert.deepEqual([verified.seq, faults], [4n, []])
})

test('[audit.1] a transaction that is rolled back leaves no gap', async (t) => {
  const { database, add, verify } = await trailOf(t, 1)
  const row = { id: rowId(77), at: AT, ...OPERATOR, action: 'x', subject: 'x', facts: {} }
  const failing = database.transaction(async (queries) => {
    await insertAudit(queries, row)
    throw new Error('no')
  })
  await assert.rejects(failing, /no/)
  await add(1)
  const { verified, faults } = await verify()
  assert.deepEqual([verified.seq, faults], [2n, []])
})

test('[audit.1] two processes that add rows by the engine and by transactions of their own never wait in a circle', async (t) => {
  const { url, verify } = await trailOf(t, 0)
  const processes = [operatedProcess(t, url), operatedProcess(t, url)]
  const rounds = 20
  const work = processes.flatMap((process) =>
    Array.from({ length: rounds }, (_, round) => [
      process.switchCashOuts(false, `round ${round}`),
      process.adjust(100n),
    ]).flat(),
  )
  await Promise.all(work)
  const { verified, faults } = await verify()
  assert.deepEqual([verified.seq, faults], [BigInt(processes.length * rounds * 2), []])
})

test('[audit.1] whoever adds a row first and wants a lock afterwards waits for nobody who does it the other way round', async (t) => {
  const { url, verify } = await trailOf(t, 0)
  const [one, other] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })]
  for (const client of [one, other]) {
    client.on('error', () => undefined)
    await client.connect()
    t.after(() => client.end())
    await client.query('BEGIN')
  }
  const insert = `INSERT INTO audit (id, at, actor, action, subject, address, facts)
    VALUES (gen_random_uuid(), now(), 'x', 'x', 'x', 'x', '{}')`
  const lock = "SELECT FROM control WHERE name = 'cash_out_switch' FOR UPDATE"
  await one.query(insert)
  await other.query(lock)
  await other.query(insert)
  const waiting = one.query(lock)
  const watcher = await openHolder(url)
  await watcher.hold('SELECT')
  await watcher.waiting(1)
  await watcher.release()
  await other.query('COMMIT')
  await waiting
  await one.query('COMMIT')
  assert.deepEqual(faultsOf(await verify()), [])
})
