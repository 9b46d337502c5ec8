import type { TestContext } from 'node:test'
import pg from 'pg'
import { type AnchorKey, type AuditVerification, anchorKey, type Position, verifyAudit } from '../../src/audit/chain.ts'
import { insertAnchor, insertAudit, readHead } from '../../src/audit/trail.ts'
import { withSnapshot } from '../../src/platform/db/snapshot.ts'
import { testDatabase } from '../support/database.ts'

/** A trail of some rows, and whoever has the owner's rights and a grudge. */

export const KEY = anchorKey('encryption-key-of-the-audit-tests-0123456789')

/** The id of a row by its number. */
export const rowId = (row: number) => `0198c0de-7a11-7000-8000-${String(row).padStart(12, '0')}`

/** 2026-11-21T12:00:00Z. */
export const AT = 1_795_262_400_000

/** A trail of a test. */
export async function trailOf(t: TestContext, rows: number) {
  const { url, database } = await testDatabase(t)
  const insider = new pg.Client({ connectionString: url })
  // The database goes before it does.
  insider.on('error', () => undefined)
  await insider.connect()
  t.after(() => insider.end())
  let length = 0
  const add = async (count: number) => {
    for (let added = 0; added < count; added++) {
      length += 1
      const facts = { valueCents: length, reason: length % 2 ? 'Olá, «mundo» \u{1f600}' : '' }
      const name = length % 3 ? { actorName: `Ana ${length}` } : {}
      const row = { id: rowId(length), at: AT + length, actor: 'admin', address: '203.0.113.7', ...name }
      await insertAudit(database, { ...row, action: 'adjustment.ordered', subject: rowId(length), facts })
    }
  }
  await add(rows)
  const head = async (): Promise<Position> => {
    const found = await readHead(database)
    if (found === undefined) throw new Error('the head is missing')
    return found
  }
  return {
    url,
    database,
    insider,
    add,
    head,
    anchor: async (key: AnchorKey = KEY, position?: Position) => {
      const anchored = { ...(position ?? (await head())), at: AT }
      await insertAnchor(database, { ...anchored, keyId: key.id, mac: key.sign(anchored) })
    },
    /** Runs statements with every trigger switched off, as a superuser can. */
    tamper: (sql: string) => insider.query(`BEGIN; SET LOCAL session_replication_role = replica; ${sql}; COMMIT`),
    verify: (heads: readonly Position[] = [], keys: readonly AnchorKey[] = [KEY]): Promise<AuditVerification> =>
      withSnapshot({ url, name: 'pixgate test' }, (queries) => verifyAudit(queries, { keys, heads })),
  }
}

/** Computes the whole chain anew, as the database's own functions allow its owner. */
export const RECHAIN = `
  TRUNCATE audit_chain;
  DO $$
  DECLARE entry audit; place bigint := 0; before bytea := decode(repeat('00', 32), 'hex');
  BEGIN
    FOR entry IN SELECT * FROM audit ORDER BY at, id LOOP
      place := place + 1;
      before := audit_hash(before, place, entry);
      INSERT INTO audit_chain VALUES (place, entry.id, before);
    END LOOP;
    UPDATE audit_head SET seq = place, hash = before;
  END $$`

/** What is wrong, a line for each. */
export function faultsOf({ faults }: Pick<AuditVerification, 'faults'>): string[] {
  return faults.map(({ seq, what }) => `${seq ?? 'a row'} ${what}`)
}
