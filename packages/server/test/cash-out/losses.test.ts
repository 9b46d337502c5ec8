import assert from 'node:assert/strict'
import test from 'node:test'
import { administer, openTestDatabase } from '../support/database.ts'
import { databaseAt, migrateBy } from '../support/migrations.ts'

const idOf = (ordinal: number) => `0198c0de-7a11-7000-8000-00000000000${ordinal}`

function operation(ordinal: number, kind: string, name: string, facts: object): string {
  return `INSERT INTO operation (id, kind, external_id, status, version, value_cents, fee_cents, correlation_id, body_hash, detail, facts, created_at, updated_at)
          VALUES ('${idOf(ordinal)}', '${kind}', '${name}', 'CONFIRMED', 1, 3000, 0, 'x', '', '{}', '${JSON.stringify(facts)}', now(), now());`
}

/** @param cents on the account of losses: negative is a loss */
function writtenOff(version: number, ordinal: number, journal: string, cents: number): string {
  const rest = (posting: number) => `0, '${idOf(ordinal)}', '${journal}', 'reference ${version}', ${posting}, now()`
  return `INSERT INTO entry (account_id, version, amount_cents, balance_after_cents, operation_id, journal, reference, posting, at)
          VALUES (9, ${version}, ${cents}, ${rest(1)}), (5, ${version}, ${-cents}, ${rest(0)});`
}

test('[cash-out.reversal.2] [desk.9] what was written off of a payout before it told so is known after the migration', async (t) => {
  const url = await databaseAt(t, 51)
  await administer(
    url,
    `SET session_replication_role = replica;
     ${operation(1, 'cash_out', 'lost', { movements: { E1: 3000 } })}
     ${operation(2, 'cash_out', 'lost in part', {})}
     ${operation(3, 'cash_out', 'lost again since', { lossCents: 500 })}
     ${operation(4, 'cash_out', 'told', { lossCents: 700 })}
     ${operation(5, 'cash_out', 'never', {})}
     ${operation(6, 'refund_in', 'of a refund', {})}
     ${writtenOff(1, 1, 'left_written_off', -2900)}
     ${writtenOff(2, 2, 'left_written_off', -2900)} ${writtenOff(3, 2, 'arrival_written_off', 1000)}
     ${writtenOff(4, 3, 'left_written_off', -2900)} ${writtenOff(5, 3, 'left_written_off', -500)}
     ${writtenOff(6, 4, 'left_written_off', -700)} ${writtenOff(7, 6, 'left_written_off', -100)}`,
  )
  await migrateBy(url, 53, 53)
  const database = openTestDatabase(url)
  t.after(() => database.close())
  const text = 'SELECT external_id, facts FROM operation'
  const rows = await database.rows<readonly [], { external_id: string; facts: object }>({ name: '', text }, [])
  const facts = Object.fromEntries(rows.map((row) => [row.external_id, row.facts]))
  assert.deepEqual(facts, {
    lost: { movements: { E1: 3000 }, lossCents: 2900 },
    'lost again since': { lossCents: 3400 },
    'lost in part': { lossCents: 1900 },
    never: {},
    'of a refund': {},
    told: { lossCents: 700 },
  })
})
