import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { reportDrifts, type Verified } from '../../../src/cases/drifts.ts'
import { testDatabase } from '../../support/database.ts'
import { testEngine } from '../../support/engine.ts'
import { cases } from '../../support/evidence.ts'
import { caseWorld as world } from '../fixture.ts'

/** Faults of the books are cases. */

async function caseWorld(t: TestContext) {
  const { url, database } = await testDatabase(t)
  const { engine } = testEngine(t, url)
  const report = (verification: Verified) => reportDrifts({ engine, database }, verification)
  const found = (...examples: string[]): Promise<void> => report(verified(examples, examples.length))
  return { found, report, cases: () => cases(database) }
}

function verified(examples: readonly string[], count: number): Verified {
  const drift = { name: 'journal-sums', meaning: 'The entries of every journal sum to zero.', count, examples }
  return { drifts: count === 0 ? [] : [drift] }
}

test('[cases.60] each fault is a case, once, which closes by itself when it is gone, and opens when it is back', async (t) => {
  const { found, cases } = await caseWorld(t)
  await found('a', 'b')
  await found('a', 'b')
  assert.deepEqual(await cases(), ['ledger_drift', 'ledger_drift'])
  await found()
  assert.deepEqual(await cases(), ['ledger_drift (closed)', 'ledger_drift (closed)'])
  await found('a')
  assert.equal((await cases()).filter((kind) => kind === 'ledger_drift').length, 1)
})

test('[cases.60] a fault that an operator closed as explained opens no case again', async (t) => {
  const { database, service, read, decide, say } = await world(t)
  const report = (verification: Verified) => reportDrifts({ engine: service.engine, database }, verification)
  await report(verified(['a'], 1))
  const [{ id }] = (await read('?kind=ledger_drift')).data
  const { body } = await decide(id, 'close')
  assert.equal((await say(id, body.proposalId, true)).body.outcome, 'approved')
  await report(verified(['a'], 1))
  assert.deepEqual(await cases(database), ['ledger_drift (closed)'])
})

test('[cases.60] a fault that is not told for want of room keeps its case', async (t) => {
  const { report, cases } = await caseWorld(t)
  await report(verified(['a'], 1))
  await report(verified(['b'], 2))
  assert.deepEqual(await cases(), ['ledger_drift', 'ledger_drift'])
})
