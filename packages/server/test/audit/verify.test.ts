import assert from 'node:assert/strict'
import test from 'node:test'
import { anchorKey } from '../../src/audit/chain.ts'
import { administer } from '../support/database.ts'
import { as, serverLogin } from '../support/logins.ts'
import { faultsOf, KEY, RECHAIN, rowId, trailOf } from './fixture.ts'

test('[audit.1] each row has the next place, and a hash that a program computes as the database does', async (t) => {
  const { add, head, verify, insider } = await trailOf(t, 5)
  const { verified, faults } = await verify()
  assert.deepEqual([verified.seq, faults], [5n, []])
  assert.deepEqual(verified, await head())
  await add(1)
  const { rows } = await insider.query('SELECT seq::int, audit_id FROM audit_chain ORDER BY seq')
  assert.deepEqual(
    rows,
    [1, 2, 3, 4, 5, 6].map((seq) => ({ seq, audit_id: rowId(seq) })),
  )
})

test('[audit.2] a trail without a row is right, and so is one of many pages', async (t) => {
  const { verify, insider } = await trailOf(t, 0)
  assert.deepEqual([(await verify()).verified.seq, faultsOf(await verify())], [0n, []])
  await insider.query(`INSERT INTO audit (id, at, actor, action, subject, address, facts)
    SELECT gen_random_uuid(), now(), 'a' || n, 'b', 'c', 'd', jsonb_build_object('n', n) FROM generate_series(1, 2500) n`)
  const { verified, faults } = await verify()
  assert.deepEqual([verified.seq, faults], [2_500n, []])
})

/** What somebody does who may switch triggers off, and what the chain alone says of it. */
const TAMPERINGS: readonly (readonly [what: string, sql: string, says: RegExp])[] = [
  ...['actor', 'actor_name', 'action', 'subject', 'address'].map(
    (column) =>
      [`another ${column}`, `UPDATE audit SET ${column} = 'x' WHERE id = '${rowId(4)}'`, /^4 was changed/] as const,
  ),
  ['no name', `UPDATE audit SET actor_name = NULL WHERE id = '${rowId(4)}'`, /^4 was changed/],
  ['other facts', `UPDATE audit SET facts = facts || '{"valueCents": 5}' WHERE id = '${rowId(4)}'`, /^4 was changed/],
  ['another microsecond', `UPDATE audit SET at = at + '1 microsecond' WHERE id = '${rowId(4)}'`, /^4 was changed/],
  [
    'a text moved to the next column',
    `UPDATE audit SET actor = 'adm', actor_name = 'in' || actor_name WHERE id = '${rowId(4)}'`,
    /^4 was changed/,
  ],
  ['a row deleted', `DELETE FROM audit WHERE id = '${rowId(4)}'`, /^4 is missing: \S+4 is not in the table$/],
  [
    'a row deleted with its place',
    `DELETE FROM audit WHERE id = '${rowId(4)}'; DELETE FROM audit_chain WHERE seq = 4`,
    /^4 is missing$/,
  ],
  [
    'the first row deleted with its place',
    `DELETE FROM audit WHERE id = '${rowId(1)}'; DELETE FROM audit_chain WHERE seq = 1`,
    /^1 is missing$/,
  ],
  [
    'what follows moved up',
    `DELETE FROM audit WHERE id = '${rowId(4)}'; DELETE FROM audit_chain WHERE seq = 4; UPDATE audit_chain SET seq = -seq WHERE seq > 4; UPDATE audit_chain SET seq = -seq - 1 WHERE seq < 0`,
    /^4 was changed, or what stands before it was: \S+5, 2026-11-21T12:00:00\.005Z, adjustment\.ordered$/,
  ],
  [
    'a row inserted past the chain',
    `INSERT INTO audit (id, at, actor, action, subject, address, facts, actor_name) SELECT '${rowId(98)}', at, actor, action, subject, address, facts, actor_name FROM audit WHERE id = '${rowId(4)}'`,
    /^a row \S+98 has no place in the trail/,
  ],
  [
    'a row inserted in the middle, with a hash',
    `INSERT INTO audit (id, at, actor, action, subject, address, facts, actor_name) SELECT '${rowId(98)}', at, actor, action, subject, address, facts, actor_name FROM audit WHERE id = '${rowId(4)}'; UPDATE audit_chain SET seq = -seq WHERE seq > 4; UPDATE audit_chain SET seq = 1 - seq WHERE seq < 0; INSERT INTO audit_chain SELECT 5, a.id, audit_hash(c.hash, 5, a) FROM audit a, audit_chain c WHERE a.id = '${rowId(98)}' AND c.seq = 4; UPDATE audit_head SET seq = 9`,
    /^6 was changed/,
  ],
  [
    'two rows swapped',
    `UPDATE audit_chain SET audit_id = CASE seq WHEN 4 THEN '${rowId(5)}'::uuid ELSE '${rowId(4)}' END WHERE seq IN (4, 5)`,
    /^4 was changed/,
  ],
  [
    'a row changed with its hash',
    `UPDATE audit SET actor = 'x' WHERE id = '${rowId(4)}'; UPDATE audit_chain c SET hash = audit_hash(b.hash, 4, a) FROM audit_chain b, audit a WHERE c.seq = 4 AND b.seq = 3 AND a.id = '${rowId(4)}'`,
    /^5 was changed, or what stands before it was/,
  ],
  [
    'the last rows removed',
    `DELETE FROM audit_chain WHERE seq > 6; DELETE FROM audit WHERE id > '${rowId(6)}'`,
    /^7 is missing: the head of the trail is at 8$/,
  ],
  ['the head moved', 'UPDATE audit_head SET seq = 7', /^9 is missing: the head of the trail is at 7$/],
  ['the head removed', 'DELETE FROM audit_head', /^9 is missing: the head of the trail is at no place$/],
  ['the places removed', 'TRUNCATE audit_chain', /^1 is missing: the head of the trail is at 8$/],
]

for (const [what, sql, says] of TAMPERINGS) {
  test(`[audit.2] found by the chain: ${what}`, async (t) => {
    const { tamper, verify } = await trailOf(t, 8)
    // Two rows share an id only while they are exchanged.
    await tamper(
      sql.includes('CASE seq') ? `ALTER TABLE audit_chain DROP CONSTRAINT audit_chain_audit_id_key; ${sql}` : sql,
    )
    const [first = ''] = faultsOf(await verify([], []))
    assert.match(first, says)
  })
}

/** What the chain alone does not show: all of it is consistent afterwards. */
const REWRITES: readonly (readonly [what: string, sql: string, says: RegExp])[] = [
  [
    'a row changed and everything chained anew',
    `UPDATE audit SET actor = 'x' WHERE id = '${rowId(2)}'; ${RECHAIN}`,
    /^6 has another hash than was signed at 2026-11-21T12:00:00\.000Z: the trail was rewritten$/,
  ],
  [
    'the last rows removed, with the head',
    `DELETE FROM audit WHERE id > '${rowId(5)}'; ${RECHAIN}`,
    /^6 is missing: it was signed at 2026-11-21T12:00:00\.000Z$/,
  ],
  ['everything removed', `DELETE FROM audit; ${RECHAIN}`, /^6 is missing: it was signed/],
]

for (const [what, sql, says] of REWRITES) {
  test(`[audit.3] found by an anchor and by a head noted elsewhere, not by the chain: ${what}`, async (t) => {
    const { add, anchor, head, tamper, verify } = await trailOf(t, 6)
    await anchor()
    const noted = await head()
    await add(2)
    await tamper(sql)
    const [first = '', ...others] = faultsOf(await verify())
    assert.match(first, says)
    assert.deepEqual(others, [])
    // Whoever rewrites the trail and removes the anchors, too, has still not rewritten what was noted elsewhere.
    await tamper('DELETE FROM audit_anchor')
    assert.deepEqual(faultsOf(await verify()), [])
    assert.match(
      faultsOf(await verify([noted])).join(),
      /^6 (?:is missing: a head was noted there|has another hash than the head that was noted: the trail was rewritten)$/,
    )
  })
}

test('[audit.3] what was added after the last anchor and removed again is found by a head noted elsewhere alone', async (t) => {
  const { add, anchor, head, tamper, verify } = await trailOf(t, 6)
  await anchor()
  await add(2)
  const noted = await head()
  await tamper(`DELETE FROM audit WHERE id > '${rowId(6)}'; ${RECHAIN}`)
  assert.deepEqual(faultsOf(await verify()), [])
  assert.deepEqual(faultsOf(await verify([noted])), ['8 is missing: a head was noted there'])
})

test('[audit.3] an anchor that was not made with the key is false; one of another key proves nothing', async (t) => {
  const { anchor, verify, insider, add, tamper } = await trailOf(t, 3)
  await anchor()
  await insider.query("INSERT INTO audit_anchor SELECT seq, hash, at, key_id, '\\x00' FROM audit_anchor")
  assert.partialDeepStrictEqual(await verify(), { anchors: 2, unproven: 0, forged: 1, faults: [] })
  const { anchors, unproven, faults } = await verify([], [])
  assert.deepEqual([anchors, unproven, faults], [2, 2, []])
  const other = anchorKey('another-encryption-key-0123456789abcdef')
  assert.notEqual(other.id, KEY.id)
  await add(1)
  await anchor(other)
  assert.equal((await verify([], [KEY, other])).unproven, 0)
  // That its hash is none of the trail's is told besides.
  const strange = `INSERT INTO audit_anchor SELECT seq, sha256('x'), at, key_id, sha256('y') FROM audit_anchor WHERE key_id = '${other.id}'`
  await tamper(strange)
  assert.partialDeepStrictEqual(await verify(), { unproven: 2, contradicting: 1, forged: 1, faults: [] })
})

test('[audit.3] anchors that somebody made up hide no real contradiction, of which each is told', async (t) => {
  const { anchor, verify, tamper, add } = await trailOf(t, 3)
  await anchor()
  await add(1)
  await anchor()
  await tamper(
    `INSERT INTO audit_anchor VALUES (1, sha256('x'), now(), 'nobodys', sha256('y')), (0, sha256('x'), now(), '${KEY.id}', sha256('z'))`,
  )
  assert.deepEqual(faultsOf(await verify()), [])
  await tamper(`DELETE FROM audit WHERE id > '${rowId(2)}'; ${RECHAIN}`)
  const faults = faultsOf(await verify())
  assert.deepEqual(
    faults.map((fault) => fault.slice(0, 25)),
    ['3 is missing: it was sign', '4 is missing: it was sign'],
  )
})

test('[audit.3] with the login of a server no head can be added that is none of the trail', async (t) => {
  const { url, verify } = await trailOf(t, 3)
  const stolen = as(url, await serverLogin(t))
  const add = (seq: number) =>
    administer(stolen, `INSERT INTO audit_anchor VALUES (${seq}, sha256('x'), now(), 'nobodys', sha256('y'))`)
  for (const seq of [0, 2, 9]) await assert.rejects(add(seq), /the audit trail has no such head/)
  assert.equal((await verify()).anchors, 0)
})

test('[audit.3] a signature is one of its place, its hash and its time', () => {
  const anchored = { seq: 3n, hash: Buffer.alloc(32, 7), at: 1 }
  const made = [anchored, { ...anchored, seq: 4n }, { ...anchored, hash: Buffer.alloc(32, 8) }, { ...anchored, at: 2 }]
  assert.equal(new Set(made.map((each) => KEY.sign(each).toString('hex'))).size, 4)
})
