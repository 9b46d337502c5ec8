import assert from 'node:assert/strict'
import test from 'node:test'
import { openHolder } from '../support/waiting-backends.ts'
import { assertWritten, everyTable, writing } from '../support/written.ts'
import { caseWorld } from './fixture.ts'

/** A dry run is the statement of the decision, rolled back. */

test('[cases.34] [engine.23] a dry run leaves no row in any table, and tells what is then written', async (t) => {
  const pix = await caseWorld(t)
  const { id } = await pix.paidTwice('10.00')
  for (const decision of ['return_to_payer', 'write_off']) {
    const stored = await everyTable(pix.database)
    const given = { dryRun: true, ...(decision === 'return_to_payer' && { amountCents: 1000 }) }
    const dry = await pix.decide(id, decision, given, { ...pix.ana, 'idempotency-key': 'dry' })
    assert.deepEqual([dry.status, dry.body.outcome], [200, 'dry_run'])
    assert.deepEqual(await everyTable(pix.database), stored, decision)
    if (decision !== 'write_off') continue
    const { answer, written } = await writing(pix.database, () => pix.decide(id, decision))
    assert.deepEqual(answer.body.effects, dry.body.effects)
    assertWritten(dry.body.effects, written)
  }
})

test('[cases.34] [cases.39] of what takes two people a dry run tells the same as the approval then does', async (t) => {
  const pix = await caseWorld(t, { PIXGATE_DESK_APPROVAL_FROM_CENTS: '0' })
  const { id } = await pix.paidTwice('10.00')
  const dry = await pix.decide(id, 'write_off', { dryRun: true })
  assert.deepEqual([dry.body.outcome, dry.body.needsSecondPerson], ['dry_run', true])
  const { body: proposed } = await pix.decide(id, 'write_off')
  assert.deepEqual(proposed.effects, dry.body.effects)
  const { written } = await writing(pix.database, () => pix.say(id, proposed.proposalId, true))
  assertWritten(dry.body.effects, written)
})

test('[engine.23] a dry run that cannot have its rows for 2 s is refused, and frees what payouts wait for', async (t) => {
  const pix = await caseWorld(t)
  const { id } = await pix.paidTwice('10.00')
  const holder = await openHolder(pix.databaseUrl)
  // Controls are locked last: what waits for this one holds the accounts.
  await holder.hold(`SELECT FROM control WHERE name = 'holders' FOR UPDATE`)
  const dry = pix.decide(id, 'write_off', { dryRun: true })
  await holder.waiting(1)
  const paid = pix.cashOut({ value: 1 })
  const { status, body } = await dry
  assert.deepEqual([status, body.code], [503, 'overloaded'])
  assert.equal(typeof (await paid).id, 'string', 'it was made while the row is still held')
  await holder.release()
  assert.equal((await pix.decide(id, 'write_off', { dryRun: true })).status, 200)
  await pix.assertBooksAgree()
})

test('[engine.23] payouts are made beside dry runs, and each dry run tells the same', async (t) => {
  const pix = await caseWorld(t)
  const { id } = await pix.paidTwice('10.00')
  const all = await Promise.all(
    [1, 2, 3, 4, 5].map(async () => ({
      dry: await pix.decide(id, 'write_off', { dryRun: true }),
      payout: await pix.cashOut({ value: 0.5 }),
    })),
  )
  for (const { dry, payout } of all) {
    assert.deepEqual([dry.status, dry.body.effects], [200, all[0]?.dry.body.effects])
    assert.equal(typeof payout.id, 'string')
  }
  await pix.assertBooksAgree()
})
